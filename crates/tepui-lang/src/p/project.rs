//! Project files of P: which sources belong together.

use roxmltree::{Document, Node};

use crate::diagnostic::Diagnostic;
use crate::source::Source;

/// What a project file says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProjectFile {
    /// What the project is called.
    pub name: String,
    /// Files and folders with sources, relative to the project file.
    pub files: Vec<String>,
    /// Other project files.
    pub includes: Vec<String>,
    /// What it says besides and what is not used: where output goes, foreign code.
    pub unused: Vec<String>,
}

/// Reads a project file.
pub fn read_project(source: &Source) -> Result<ProjectFile, Diagnostic> {
    let document = Document::parse(&source.text).map_err(|error| {
        let place = error.pos();
        let start = offset(&source.text, place.row as usize, place.col as usize);
        Diagnostic::error(0, start..start, format!("this is no project file: {error}"), "here")
    })?;
    let root = document.root_element();
    if !root.has_tag_name("Project") {
        let message = "a project file begins with `<Project>`";
        return Err(Diagnostic::error(0, root.range(), message, "something else"));
    }
    let mut project = ProjectFile::default();
    for node in root.children().filter(Node::is_element) {
        let text = || node.text().unwrap_or_default().trim().to_owned();
        match node.tag_name().name() {
            "ProjectName" => project.name = text(),
            "IncludeProject" => project.includes.push(text()),
            "InputFiles" => {
                let files = node.children().filter(|inner| inner.has_tag_name("PFile"));
                project.files.extend(files.map(|file| file.text().unwrap_or_default().trim().to_owned()));
            }
            other => project.unused.push(other.to_owned()),
        }
    }
    project.files.retain(|file| !file.is_empty());
    project.includes.retain(|include| !include.is_empty());
    Ok(project)
}

/// The byte at a line and a column, both from 1.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let rest = text.get(start..).unwrap_or_default();
    start + rest.chars().take(column.saturating_sub(1)).map(char::len_utf8).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(text: &str) -> Result<ProjectFile, Diagnostic> {
        read_project(&Source::new("x.pproj", text.as_bytes()))
    }

    #[test]
    fn files_and_includes_are_found() {
        let text = "<!-- c -->\r\n<Project><ProjectName> A </ProjectName><InputFiles><PFile>./a.p</PFile>\
            <PFile>\n./b/</PFile></InputFiles><OutputDir>x</OutputDir><IncludeProject>../c.pproj</IncludeProject></Project>";
        let expected = ProjectFile {
            name: "A".to_owned(),
            files: vec!["./a.p".to_owned(), "./b/".to_owned()],
            includes: vec!["../c.pproj".to_owned()],
            unused: vec!["OutputDir".to_owned()],
        };
        assert_eq!(project(text), Ok(expected));
    }

    #[test]
    fn what_is_no_project_is_refused_with_its_place() {
        for text in ["", "Project", "<Project>", "<Other/>", "<Project></Projekt>", "\u{0}", "<Project>é</Other>"] {
            let error = project(text).unwrap_err();
            assert!(text.get(error.span.clone()).is_some() || error.span.start >= text.len(), "{text}: {error:?}");
        }
    }
}

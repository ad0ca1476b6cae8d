//! Diagnostics with their place in the source.

use std::borrow::Cow;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use tepui_lang::diagnostic::{Diagnostic, Severity};
use tepui_lang::source::Source;

use crate::{visible, visible_lines};

/// All diagnostics, one after the other, each with file, line, column, snippet and hint. A source may be absent,
/// where a diagnostic says that it is.
pub fn render(diagnostics: &[Diagnostic], sources: &[Option<&Source>]) -> String {
    let sources: Vec<_> = sources.iter().map(|source| source.map(Shown::new)).collect();
    let one = |diagnostic: &Diagnostic| render_one(diagnostic, sources.get(diagnostic.source).and_then(Option::as_ref));
    diagnostics.iter().map(|diagnostic| one(diagnostic) + "\n").collect()
}

/// A source as readers see it.
struct Shown<'a> {
    source: &'a Source,
    text: Cow<'a, str>,
}

impl<'a> Shown<'a> {
    fn new(source: &'a Source) -> Self {
        Self { source, text: visible_lines(&source.text) }
    }

    /// Where the byte at an offset of the source is: a picture takes more bytes than what it stands for. What is between
    /// the two characters of a line's end is before them.
    fn place(&self, offset: usize) -> usize {
        if matches!(self.text, Cow::Borrowed(_)) {
            return offset;
        }
        let before = self.source.text.get(..offset).unwrap_or(&self.source.text);
        let inside = before.ends_with('\r') && self.source.text[before.len()..].starts_with('\n');
        visible_lines(if inside { &before[..before.len() - 1] } else { before }).len()
    }
}

fn render_one(diagnostic: &Diagnostic, source: Option<&Shown<'_>>) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let hint = diagnostic.hint.as_deref().map(visible_lines);
    let mut group =
        level.primary_title(visible_lines(&diagnostic.message)).elements(Vec::<annotate_snippets::Message<'_>>::new());
    if let Some(shown) = source {
        let span = shown.place(diagnostic.span.start)..shown.place(diagnostic.span.end);
        let annotation = AnnotationKind::Primary.span(span).label(visible_lines(&diagnostic.label));
        let path = visible(&shown.source.name);
        group = group.element(Snippet::source(shown.text.as_ref()).path(path).annotation(annotation));
    }
    if let Some(hint) = hint {
        group = group.element(Level::HELP.message(hint));
    }
    Renderer::styled().decor_style(DecorStyle::Ascii).render(&[group])
}

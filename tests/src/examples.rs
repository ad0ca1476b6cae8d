//! The files of `examples/`, with the expectations that their headers state.
//!
//! A header is the comment at the top of a file, whatever starts a comment there (`#` or `//`). Lines of the form
//! `KEY: VALUE` with one of these keys are read, all other lines are prose:
//!
//! ```text
//! expect: PROPERTY safe|unsafe|unknown[, N contexts|, N delays][; threads NAME * N, ...][; unknown to ENGINE, ...][; any number of threads]
//! cutoff: N
//! views: N
//! depth: N
//! options: --deadlock
//! ```
//!
//! The property `*` stands for all that are not named. `examples/README.md` says what they mean.

use std::path::{Path, PathBuf};

use tepui::{Error, Input, Problem, Reading};
use tepui_core::Status;

/// What a header states about one property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expectation {
    /// The name of the property.
    pub property: String,
    /// The answer.
    pub status: Status,
    /// The smallest number of contexts of a violation, where the header gives it.
    pub contexts: Option<u32>,
    /// The fewest delays of tasks in a violation, where the header gives it.
    pub delays: Option<u32>,
    /// The numbers of threads that the expectation is about, where they are not those of the text.
    pub threads: Vec<(String, u32)>,
    /// The engines that do not find the answer.
    pub unknown_to: Vec<String>,
    /// Whether it is about any number of threads: then most engines do not find a proof.
    pub any: bool,
}

impl Expectation {
    /// The answer that an engine must give.
    pub fn of_engine(&self, engine: &str) -> Status {
        // Random executions prove nothing.
        let proves = engine == tepui::AUTO.name || engine == tepui::COVERABILITY.name;
        let unproved = self.status == Status::Safe && (engine == tepui::WALK.name || self.any && !proves);
        // Violations are found with few threads, and by others.
        let unseen = self.status == Status::Unsafe && self.any && engine == tepui::COVERABILITY.name;
        if unproved || unseen || self.unknown_to.iter().any(|name| name == engine) {
            Status::Unknown
        } else {
            self.status
        }
    }

    fn read(value: &str) -> Result<Self, String> {
        let mut parts = value.split(';').map(str::trim);
        let claim = parts.next().unwrap_or_default();
        let (answer, contexts, delays) = match claim.split_once(',') {
            Some((answer, number)) if number.contains("delay") => {
                (answer, None, Some(counted(number.trim(), "delay")?))
            }
            Some((answer, number)) => (answer, Some(counted(number.trim(), "context")?), None),
            None => (claim, None, None),
        };
        let Some((property, status)) = answer.split_once(' ') else { return Err(format!("`{claim}` has no answer")) };
        let status = status_of(status.trim())?;
        let (property, threads, unknown_to) = (property.to_owned(), vec![], vec![]);
        let mut read = Self { property, status, contexts, delays, threads, unknown_to, any: false };
        for part in parts {
            match part.split_once(' ') {
                Some(("threads", list)) => read.threads = list.split(',').map(thread).collect::<Result<_, _>>()?,
                Some(("unknown", list)) => read.unknown_to = engines(list)?,
                Some(("any", "number of threads")) => read.any = true,
                _ => return Err(format!("`{part}` cannot be read")),
            }
        }
        match (contexts.is_some() || delays.is_some()) && status != Status::Unsafe {
            true => Err(format!("`{claim}`: only a violation has a number of contexts or delays")),
            false => Ok(read),
        }
    }
}

fn status_of(word: &str) -> Result<Status, String> {
    let all = [Status::Safe, Status::Unsafe, Status::Unknown];
    all.into_iter().find(|status| status.word() == word).ok_or_else(|| format!("`{word}` is no answer"))
}

/// `N contexts`, or `1 context`; or the same of something else.
fn counted(text: &str, what: &str) -> Result<u32, String> {
    let count = text.strip_suffix(&format!(" {what}s")).or_else(|| text.strip_suffix(&format!(" {what}")));
    number(count.ok_or_else(|| format!("`{text}` is no number of {what}s"))?)
}

/// `NAME * N`.
fn thread(text: &str) -> Result<(String, u32), String> {
    let (name, count) = text.split_once('*').ok_or_else(|| format!("`{text}` is no number of threads"))?;
    Ok((name.trim().to_owned(), number(count)?))
}

/// `to ENGINE, ENGINE`.
fn engines(list: &str) -> Result<Vec<String>, String> {
    let list = list.strip_prefix("to ").ok_or_else(|| format!("`unknown {list}` lacks `to`"))?;
    let known = |name: &str| match tepui::engine(name.trim()) {
        Some(facts) => Ok(facts.name.to_owned()),
        None => Err(format!("`{name}` is no engine")),
    };
    list.split(',').map(known).collect()
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| format!("`{}` is not a number", text.trim()))
}

/// What a header states.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Header {
    /// The answers, in the order of the lines.
    pub expected: Vec<Expectation>,
    /// The smallest number of contexts that shows every view.
    pub cutoff: Option<u32>,
    /// The number of views.
    pub views: Option<u64>,
    /// The depth of the views of a proof, where it is not 1.
    pub depth: Option<u32>,
    /// How the file is read: `--deadlock` is the only option.
    pub reading: Reading,
}

impl Header {
    /// Reads the header of a text.
    pub fn of(text: &str) -> Result<Self, String> {
        let mut header = Self::default();
        let comment = |line: &'_ str| -> Option<String> {
            line.strip_prefix("//").or_else(|| line.strip_prefix('#')).map(|line| line.trim().to_owned())
        };
        for line in text.lines().map_while(comment) {
            let Some((key, value)) = line.split_once(':') else { continue };
            match key {
                "expect" => header.expected.push(Expectation::read(value.trim())?),
                "cutoff" => header.cutoff = Some(number(value)?),
                "views" => header.views = Some(number(value)?),
                "depth" => header.depth = Some(number(value)?),
                "options" if value.trim() == "--deadlock" => header.reading.deadlock = true,
                "options" => return Err(format!("`{line}` cannot be read")),
                _ => {}
            }
        }
        match () {
            () if header.expected.is_empty() => Err("the header lacks `expect:`".to_owned()),
            () if header.cutoff.is_some() != header.views.is_some() => {
                Err("`cutoff:` and `views:` belong together".to_owned())
            }
            () => Ok(header),
        }
    }

    /// The header for each choice of numbers of threads, with the choice.
    fn by_threads(&self) -> Vec<(Vec<(String, u32)>, Self)> {
        let mut found: Vec<(Vec<(String, u32)>, Self)> = Vec::new();
        for one in &self.expected {
            match found.iter_mut().find(|(threads, _)| *threads == one.threads) {
                Some((_, header)) => header.expected.push(one.clone()),
                None => found.push((one.threads.clone(), Self { expected: vec![one.clone()], ..self.clone() })),
            }
        }
        found
    }
}

/// A file of `examples/`, with the numbers of threads that some of its expectations are about.
pub struct Example {
    /// The name of the file, and the numbers of threads where they are not those of the file.
    pub name: String,
    /// The name of the file.
    pub file: String,
    /// The text, with those numbers of threads.
    pub text: String,
    /// What must be found out about it.
    pub header: Header,
}

impl Example {
    /// The problem, as its header wants it to be read.
    pub fn problem(&self) -> Problem {
        self.read_as(&self.header.reading).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    /// The problem, read in another way.
    pub fn read_as(&self, reading: &Reading) -> Result<Problem, Error> {
        Problem::read(&Input::new(self.file.as_str(), &self.text), reading)
    }

    /// The same with every property named.
    fn with_all_named(mut self) -> Self {
        let expected = &mut self.header.expected;
        if let Some(rest) = expected.iter().position(|one| one.property == "*").map(|at| expected.remove(at)) {
            let asked = self.problem().asked();
            let expected = &mut self.header.expected;
            let others = asked.into_iter().filter(|name| expected.iter().all(|one| one.property != *name));
            let others: Vec<_> = others.map(|property| Expectation { property, ..rest.clone() }).collect();
            expected.extend(others);
        }
        self
    }

    /// What the file holds, for each choice of numbers of threads.
    fn all(path: &Path) -> Result<Vec<Self>, String> {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
        let one = |(threads, header): (Vec<(String, u32)>, Header)| {
            let label: String = threads.iter().map(|(name, count)| format!(", {name} * {count}")).collect();
            let text =
                threads.iter().try_fold(text.clone(), |text, (name, count)| with_threads(&text, name, *count))?;
            let example = Self { name: format!("{file}{label}"), file: file.clone(), text, header };
            Ok(example.with_all_named())
        };
        Header::of(&text)?.by_threads().into_iter().map(one).collect()
    }
}

/// The text with another number of threads of a name: that behind the `*` of `thread NAME`.
fn with_threads(text: &str, name: &str, count: u32) -> Result<String, String> {
    let place = text.find(&format!("thread {name}")).and_then(|from| Some(from + text[from..].find('*')? + 1));
    let place = place.ok_or_else(|| format!("there is no `thread {name} * ...`"))?;
    let rest = text[place..].trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    Ok(format!("{} {count}{rest}", &text[..place]))
}

/// All files of `examples/` whose extension is that of a language, in the order of their names.
pub fn examples() -> Vec<Example> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let readable = |path: &PathBuf| {
        let extension = path.extension().unwrap_or_default();
        tepui::languages().any(|language| extension == language.extension)
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(readable).collect();
    paths.sort();
    let read = |path: &PathBuf| Example::all(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    paths.iter().flat_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read() {
        let text = "# text: more\n# expect: p unsafe, 4 contexts; unknown to delays, closure\n#\n# cutoff: 5\n\
                    # views: 8\n# depth: 2\n\n# expect: q safe";
        let header = Header::of(text).unwrap();
        let [p] = header.expected.as_slice() else { panic!("{header:?}") };
        assert_eq!((p.property.as_str(), p.status, p.contexts), ("p", Status::Unsafe, Some(4)));
        assert_eq!(["delays", "auto"].map(|engine| p.of_engine(engine)), [Status::Unknown, Status::Unsafe]);
        assert_eq!((header.cutoff, header.views, header.depth), (Some(5), Some(8), Some(2)));
        assert!(!header.reading.deadlock && Header::of("// expect: p safe\n// options: --deadlock").is_ok());
    }

    #[test]
    fn what_cannot_be_read_in_a_header_is_noticed() {
        for bad in [
            "",
            "text\n# expect: p safe",
            "# cutoff: 1\n# views: 1",
            "# expect: p safe\n# cutoff: 1",
            "# expect: p",
            "# expect: p perhaps",
            "# expect: p unsafe, many contexts",
            "# expect: p unsafe 4",
            "# expect: p safe, 4 contexts",
            "# expect: p safe; unknown to nobody",
            "# expect: p safe; unknown delays",
            "# expect: p safe; threads worker",
            "# expect: p safe\n# options: --views",
        ] {
            assert!(Header::of(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn expectations_are_grouped_by_numbers_of_threads() {
        let header = Header::of(
            "// expect: p safe; threads a * 1, b * 2\n// expect: q safe; threads a * 1, b * 2\n\
             // expect: p unsafe; threads a * 2, b * 2",
        );
        let found = header.unwrap().by_threads();
        let sizes: Vec<_> = found.iter().map(|(threads, header)| (threads[0].1, header.expected.len())).collect();
        assert_eq!(sizes, [(1, 2), (2, 1)]);
        let text = "thread b(); thread a() * 7; thread a() * 8;";
        assert_eq!(with_threads(text, "a", 12).unwrap(), "thread b(); thread a() * 12; thread a() * 8;");
        assert!(with_threads(text, "c", 1).is_err());
    }
}

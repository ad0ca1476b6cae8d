//! The numeric form of the tool CUBA.
//!
//! A `.pds` file gives the number of shared states, then each thread as a line `PDA lo hi` and its rules. Symbols are
//! arbitrary numbers, equal ones in different threads unrelated; `lo` and `hi` bind nobody. The initial state, the
//! targets and the matching pairs come in files of their own. Files of this form are written by hand and by scripts,
//! so they are read line by line and every line is judged for itself.

use crate::diagnostic::{Diagnostic, Sink, quote};
use crate::pushdown::assemble::{Block, Draft, MOST_THREADS};
use crate::pushdown::names::{Form, SharedNames};
use crate::pushdown::{INIT, MAIN, Parsed, TARGETS, conclude, syntax};
use crate::source::Source;
use crate::token::{Fallible, Kind, Line, Lines, Token};

/// The texts that make up a model.
#[derive(Clone, Copy, Debug)]
pub struct CubaInput<'a> {
    /// Shared states, threads and rules.
    pub pds: &'a Source,
    /// The initial state. There is no model without one.
    pub init: Option<&'a Source>,
    /// The targets, one on each line.
    pub targets: Option<&'a Source>,
    /// The matching pairs.
    pub matching: Option<&'a Source>,
}

/// Reads a model in the numeric form. On failure there is at least one error. In diagnostics source 0 is `pds`, 1
/// `init`, 2 `targets` and 3 `matching`.
pub fn read_cuba(input: CubaInput<'_>) -> Result<Parsed, Vec<Diagnostic>> {
    let mut sink = Sink::default();
    let system = System::read(input.pds, &mut sink);
    if input.init.is_none() {
        sink.push(no_init(input.pds));
    }
    let draft = Draft {
        form: Form::Numerals,
        shared: system.shared,
        blocks: system.blocks,
        counted: true,
        init: input.init.and_then(|source| syntax::state_file(source, INIT, &mut sink)),
        properties: input.targets.map_or_else(Vec::new, |source| syntax::property_file(source, TARGETS, &mut sink)),
        warn_unused: false,
    };
    conclude(&draft, input.matching, sink)
}

fn no_init(pds: &Source) -> Diagnostic {
    let stem = pds.name.strip_suffix(".pds").unwrap_or(&pds.name);
    let error = Diagnostic::error(MAIN, 0..0, "no initial state", "");
    error.hint(format!("write it to `{stem}.init`, or name its file with `--init`"))
}

/// The content of a `.pds` file as far as it could be read.
#[derive(Default)]
struct System<'a> {
    shared: Option<SharedNames>,
    blocks: Vec<Block<'a>>,
    /// Whether a rule outside all threads, or a thread too many, has been reported: once is enough.
    lost: bool,
    crowded: bool,
}

impl<'a> System<'a> {
    fn read(source: &'a Source, sink: &mut Sink) -> Self {
        let mut system = Self::default();
        let mut lines = Lines::new(source, MAIN);
        let Some(first) = lines.next(sink) else {
            let error = Diagnostic::error(MAIN, 0..0, "the file is empty", "");
            sink.push(error.hint("the first line gives the number of shared states"));
            return system;
        };
        system.opening(first, sink);
        while let Some(line) = lines.next(sink) {
            system.line(line, sink);
        }
        if system.blocks.is_empty() && !system.lost {
            let end = source.text.len();
            let error = Diagnostic::error(MAIN, end..end, "no thread", "");
            sink.push(error.hint("a thread starts with a line `PDA`, its rules follow"));
        }
        system
    }

    /// The first line: the number of shared states, unless that was forgotten.
    fn opening(&mut self, mut line: Line<'a>, sink: &mut Sink) {
        if line.first().is_word("PDA") || line.has(Kind::Arrow) {
            let error =
                line.first().error("the number of shared states is missing", "expected a number alone on its line");
            sink.push(error.hint("the first line gives the number of shared states, such as `4`"));
            self.line(line, sink);
        } else if !line.broken {
            self.shared = sink.take(count(&mut line)).map(SharedNames::numbers);
        }
    }

    fn line(&mut self, mut line: Line<'a>, sink: &mut Sink) {
        if line.eat_word("PDA").is_some() {
            self.thread(&mut line, sink);
        } else if self.blocks.is_empty() {
            self.outside(&line, sink);
        } else if !line.broken {
            let rule = sink.take(rule(&mut line));
            if let Some(block) = self.blocks.last_mut() {
                block.rules.extend(rule);
            }
        }
    }

    fn outside(&mut self, line: &Line<'a>, sink: &mut Sink) {
        if !std::mem::replace(&mut self.lost, true) {
            let error = line.first().error("a rule before the first thread", "which thread is meant?");
            sink.push(error.hint("a thread starts with a line `PDA`, its rules follow"));
        }
    }

    fn thread(&mut self, line: &mut Line<'a>, sink: &mut Sink) {
        let place = line.last();
        let range = if line.broken { None } else { sink.take(range(line)).flatten() };
        if self.blocks.len() < MOST_THREADS as usize {
            let threads = vec![format!("T{}", self.blocks.len() + 1)];
            self.blocks.push(Block { threads, place, stack: None, range, rules: Vec::new() });
        } else if !std::mem::replace(&mut self.crowded, true) {
            sink.push(place.error(format!("more than {MOST_THREADS} threads"), "one too many"));
        }
    }
}

fn count(line: &mut Line<'_>) -> Fallible<u32> {
    let word = line.expect(Kind::Word, "the number of shared states")?;
    let count = word.number()?;
    line.end()?;
    match count {
        0 => Err(word.error("a model needs a shared state", "at least 1")),
        count => Ok(count),
    }
}

/// The rest of a `PDA` line.
fn range(line: &mut Line<'_>) -> Fallible<Option<(u32, u32)>> {
    if line.peek().is_none() {
        return Ok(None);
    }
    let least = line.expect(Kind::Word, "the least symbol")?.number()?;
    let largest = line.expect(Kind::Word, "the largest symbol")?.number()?;
    line.end().map(|()| Some((least, largest)))
}

fn rule<'a>(line: &mut Line<'a>) -> Fallible<syntax::RuleText<'a>> {
    let first = line.first();
    let wordy = |token: &Token<'_>| token.kind != Kind::Word || token.text.starts_with(|c: char| !c.is_ascii_digit());
    if wordy(&first) && !line.has(Kind::Arrow) {
        let message = format!("expected a rule or `PDA`, found {}", quote(first.text));
        return Err(first.error(message, "unexpected").hint("a rule is written `q a -> p b`"));
    }
    syntax::rule(line)
}

//! The grammar that both forms share: rules, states and patterns, as they stand in the text.
//!
//! A rule is `q a -> p w`, where `w` is `-`, one symbol or two. A state is `q | w1, w2, ...` with a stack for each
//! thread, from bottom to top and joined by dots, `-` for the empty one; a pattern is the same with `*` for "anything",
//! and patterns are joined by `or`. An entry may be repeated, `w * n`, and stays one entry here: nothing is unfolded
//! before its count has been compared with the number of threads. Which names exist is not this file's business.

use std::ops::Range;

use crate::diagnostic::{Diagnostic, Sink, quote};
use crate::source::Source;
use crate::token::{Fallible, Kind, Line, Lines, Token};

/// A rule in words; `None` is `-`.
#[derive(Clone, Debug)]
pub(super) struct RuleText<'a> {
    pub(super) line: u32,
    pub(super) from: Token<'a>,
    pub(super) top: Option<Token<'a>>,
    pub(super) to: Token<'a>,
    pub(super) right: Right<'a>,
    pub(super) span: Range<usize>,
}

/// What a rule leaves in place of the top.
#[derive(Clone, Copy, Debug)]
pub(super) enum Right<'a> {
    Nothing,
    One(Token<'a>),
    Two { top: Token<'a>, below: Token<'a> },
}

impl<'a> RuleText<'a> {
    /// The symbols of the rule in the order of the text.
    pub(super) fn symbols(&self) -> impl Iterator<Item = Token<'a>> + use<'a> {
        let (first, second) = match self.right {
            Right::Nothing => (None, None),
            Right::One(symbol) => (Some(symbol), None),
            Right::Two { top, below } => (Some(top), Some(below)),
        };
        self.top.into_iter().chain(first).chain(second)
    }
}

/// Reads the whole line as a rule.
pub(super) fn rule<'a>(line: &mut Line<'a>) -> Fallible<RuleText<'a>> {
    let from = one_shared(line)?;
    let top = word_or_dash(line, "the top of the stack")?;
    line.expect(Kind::Arrow, "`->`")?;
    let to = one_shared(line)?;
    let right = right(line, from, top, to)?;
    line.end().map_err(|error| match right {
        Right::Two { .. } => error.hint("a rule leaves at most two symbols: push more with a second rule"),
        Right::Nothing | Right::One(_) => error,
    })?;
    Ok(RuleText { line: line.number, from, top, to, right, span: from.up_to(&line.last()) })
}

fn one_shared<'a>(line: &mut Line<'a>) -> Fallible<Token<'a>> {
    let star = line.peek().is_some_and(|token| token.kind == Kind::Star);
    let hint = star.then(|| "a rule names one shared state: write one rule for each".to_owned());
    line.expect(Kind::Word, "a shared state").map_err(|error| error.hint_if(hint))
}

fn word_or_dash<'a>(line: &mut Line<'a>, what: &str) -> Fallible<Option<Token<'a>>> {
    match line.eat(Kind::Dash) {
        Some(_) => Ok(None),
        None => line.expect(Kind::Word, what).map(Some),
    }
}

fn right<'a>(line: &mut Line<'a>, from: Token<'_>, top: Option<Token<'_>>, to: Token<'_>) -> Fallible<Right<'a>> {
    if line.peek().is_none() {
        return Err(no_right(line, from, top, to));
    }
    let Some(first) = word_or_dash(line, "a symbol or `-`")? else {
        return Ok(Right::Nothing);
    };
    let Some(second) = line.peek().filter(|token| matches!(token.kind, Kind::Word | Kind::Dash)) else {
        return Ok(Right::One(first));
    };
    line.advance();
    if second.kind == Kind::Dash {
        let error = second.error("`-` beneath a symbol", "nothing to push here");
        return Err(error.hint(format!("without `-` the rule replaces the top by {}", quote(first.text))));
    }
    if top.is_none() {
        let error = second.error("two symbols on the empty stack", "one too many");
        return Err(error.hint("a rule on the empty stack pushes one symbol: `q - -> p b`"));
    }
    Ok(Right::Two { top: first, below: second })
}

fn no_right(line: &Line<'_>, from: Token<'_>, top: Option<Token<'_>>, to: Token<'_>) -> Diagnostic {
    let bare = |token: Token<'_>| quote(token.text).trim_matches('`').to_owned();
    let (what, top) = match top {
        Some(top) => ("a pop", bare(top)),
        None => ("a change of the shared state alone", "-".to_owned()),
    };
    let error = line.missing("the rule has no right-hand symbol", "expected a symbol or `-`");
    error.hint(format!("{what} is written `{} {top} -> {} -`", bare(from), bare(to)))
}

/// A state or a pattern in words.
#[derive(Clone, Debug)]
pub(super) struct StateText<'a> {
    /// The word or the `*`.
    pub(super) shared: Token<'a>,
    pub(super) entries: Vec<Entry<'a>>,
    pub(super) span: Range<usize>,
}

impl StateText<'_> {
    /// How many threads the entries speak of.
    pub(super) fn count(&self) -> u64 {
        self.entries.iter().map(|entry| u64::from(entry.count)).sum()
    }
}

/// What is said of one thread, or of several neighbours.
#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    /// The stack from bottom to top; `None` for `*`.
    pub(super) stack: Option<Vec<Token<'a>>>,
    pub(super) count: u32,
    /// The first token, for messages.
    pub(super) place: Token<'a>,
}

impl Entry<'_> {
    /// What it takes to write the entry out for each of its threads.
    pub(super) fn size(&self) -> u64 {
        let letters: usize = self.stack.iter().flatten().map(|symbol| symbol.text.len() + 1).sum();
        u64::from(self.count).saturating_mul(letters as u64 + 1)
    }
}

/// Several patterns and, if it has one, their name.
#[derive(Clone, Debug)]
pub(super) struct PropertyText<'a> {
    pub(super) name: Option<(String, Range<usize>)>,
    pub(super) never: Vec<StateText<'a>>,
    /// The first token, for messages.
    pub(super) place: Token<'a>,
}

/// Reads the rest of the line as patterns joined by `or`.
pub(super) fn patterns<'a>(line: &mut Line<'a>) -> Fallible<Vec<StateText<'a>>> {
    let mut found = vec![pattern(line)?];
    while line.eat_word("or").is_some() {
        found.push(pattern(line)?);
    }
    line.end().map(|()| found)
}

/// Reads the rest of the line as one state, without any `*` that leaves something open.
pub(super) fn state<'a>(line: &mut Line<'a>) -> Fallible<StateText<'a>> {
    let state = pattern(line)?;
    line.end()?;
    let open = state.entries.iter().find(|entry| entry.stack.is_none()).map(|entry| entry.place);
    match Some(state.shared).filter(|shared| shared.kind == Kind::Star).or(open) {
        None => Ok(state),
        Some(star) => {
            let error = star.error("an initial state leaves nothing open", "`*` is for properties");
            Err(error.hint("the empty stack is written `-`"))
        }
    }
}

fn pattern<'a>(line: &mut Line<'a>) -> Fallible<StateText<'a>> {
    let shared = match line.eat(Kind::Star) {
        Some(star) => star,
        None => line.expect(Kind::Word, "a shared state")?,
    };
    line.expect(Kind::Bar, "`|` after the shared state")?;
    let mut entries = vec![entry(line)?];
    while line.eat(Kind::Comma).is_some() {
        entries.push(entry(line)?);
    }
    Ok(StateText { shared, entries, span: shared.up_to(&line.last()) })
}

fn entry<'a>(line: &mut Line<'a>) -> Fallible<Entry<'a>> {
    let place = line.peek().ok_or_else(|| line.expected("a stack"))?;
    let stack = match line.eat(Kind::Star) {
        Some(_) => None,
        None => Some(stack(line)?),
    };
    let count = match line.eat(Kind::Star) {
        Some(_) => positive(line.expect(Kind::Word, "a number of threads")?)?,
        None => 1,
    };
    Ok(Entry { stack, count, place })
}

fn stack<'a>(line: &mut Line<'a>) -> Fallible<Vec<Token<'a>>> {
    if line.eat(Kind::Dash).is_some() {
        return Ok(Vec::new());
    }
    let mut symbols = vec![line.expect(Kind::Word, "a stack")?];
    while line.eat(Kind::Dot).is_some() {
        symbols.push(line.expect(Kind::Word, "a symbol after `.`")?);
    }
    Ok(symbols)
}

/// The number that a word spells, which must not be 0.
pub(super) fn positive(word: Token<'_>) -> Fallible<u32> {
    match word.number()? {
        0 => Err(word.error("repeated 0 times", "at least 1")),
        count => Ok(count),
    }
}

/// Reads a source that holds one state and nothing else.
pub(super) fn state_file<'a>(source: &'a Source, index: usize, sink: &mut Sink) -> Option<StateText<'a>> {
    let mut lines = Lines::new(source, index);
    let Some(mut line) = lines.next(sink) else {
        let error = Diagnostic::error(index, 0..0, "no initial state", "the file holds nothing");
        sink.push(error.hint("a state is written `q|w1,w2,...`, with a stack for each thread"));
        return None;
    };
    let found = if line.broken { None } else { sink.take(state(&mut line)) };
    if let Some(next) = lines.next(sink) {
        let first = next.first();
        sink.push(first.error("stray text after the initial state", "only one state may be given"));
    }
    found
}

/// Reads a source that holds a property on each line.
pub(super) fn property_file<'a>(source: &'a Source, index: usize, sink: &mut Sink) -> Vec<PropertyText<'a>> {
    let mut lines = Lines::new(source, index);
    let mut found = Vec::new();
    while let Some(mut line) = lines.next(sink) {
        let place = line.first();
        let never = if line.broken { None } else { sink.take(patterns(&mut line)) };
        found.extend(never.map(|never| PropertyText { name: None, never, place }));
    }
    if found.is_empty() && !sink.has_errors() {
        sink.push(Diagnostic::warning(index, 0..0, "no target", "the file holds nothing"));
    }
    name_targets(&mut found);
    found
}

fn name_targets(properties: &mut [PropertyText<'_>]) {
    let single = properties.len() == 1;
    for (position, property) in (1..).zip(properties) {
        let name = if single { "target".to_owned() } else { format!("target-{position}") };
        property.name = Some((name, property.place.span()));
    }
}

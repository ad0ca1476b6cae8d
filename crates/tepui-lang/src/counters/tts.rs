//! Thread transition systems, the form of the tool BFC: threads with a local state each, and a shared state.
//!
//! ```text
//! 2 3            # shared states 0 and 1, local states 0 to 2
//! 0 0 -> 1 1     # a thread in 0 goes to 1, the shared state from 0 to 1
//! 1 1 +> 1 0     # a thread in 1 stays, and another one begins in 0
//! ```
//!
//! What must not be covered stands in a file of its own, one pattern on each line: a shared state, and local states of different
//! threads (`1|2,2`). At the start the shared state is 0, and threads are in local state 0: one, or any number from one on.

use tepui_model::counters::{Count, Net, Pattern, Property, Step};
use tepui_model::pushdown::Names;

use super::lexer::{Fallible, Mark, Tokens};
use super::{MAIN, MOST, Parsed, TARGET};
use crate::diagnostic::Diagnostic;
use crate::source::Source;

/// How many threads there are at the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AtStart {
    /// One.
    One,
    /// One or more.
    #[default]
    Any,
}

/// Reads a model and what must not be covered. In diagnostics source 0 is the model, and 2 the other text.
pub fn read_tts(source: &Source, target: Option<&Source>, at_start: AtStart) -> Result<Parsed, Vec<Diagnostic>> {
    let read = model(&mut Tokens::new(source, MAIN), at_start).and_then(|mut net| {
        if let Some(target) = target {
            net.properties = vec![targets(&mut Tokens::new(target, TARGET), &net)?];
        }
        Ok(net)
    });
    read.map(|net| Parsed { net, warnings: Vec::new() }).map_err(|error| vec![error])
}

fn model(tokens: &mut Tokens<'_>, at_start: AtStart) -> Fallible<Net> {
    if tokens.peek().is_none() {
        let error = tokens.error(0..0, "the file is empty", "");
        return Err(error.hint("the first line gives the numbers of shared and local states"));
    }
    let shared = size(tokens, "the number of shared states")?;
    let places = size(tokens, "the number of local states")?;
    let mut counts = vec![Count::default(); places as usize];
    counts[0] = Count { least: 1, or_more: at_start == AtStart::Any };
    let mut steps = Vec::new();
    while let Some(first) = tokens.peek() {
        let from = below(tokens, shared, "a shared state")?;
        let place = below(tokens, places, "a local state")?;
        let starts = tokens.accept(Mark::Starts);
        if !starts {
            tokens.expect(Mark::Arrow, "`->` or `+>`")?;
        }
        let to = below(tokens, shared, "a shared state")?;
        let new = below(tokens, places, "a local state")?;
        if let Some(more) = tokens.peek().filter(|more| more.line == first.line) {
            let error = tokens.error(more.span(), "a rule has more than it should", "after the rule");
            return Err(error.hint("transfers behind a rule are not supported"));
        }
        let mut put = vec![(new, 1)];
        if starts {
            put = if new == place { vec![(new, 2)] } else { vec![(new.min(place), 1), (new.max(place), 1)] };
        }
        steps.push(Step { from, to, taken: vec![(place, 1)], put, moves: Vec::new(), others: None, line: first.line });
    }
    let (shared, places) = (Names::Numbers(shared), Names::Numbers(places));
    Ok(Net { shared, places, start: 0, counts, steps, properties: Vec::new() })
}

fn targets(tokens: &mut Tokens<'_>, net: &Net) -> Fallible<Property> {
    let mut never = Vec::new();
    while tokens.peek().is_some() || never.is_empty() {
        let shared = below(tokens, net.shared.count(), "a shared state")?;
        let mut places = Vec::new();
        if tokens.accept(Mark::Bar) {
            loop {
                places.push(below(tokens, net.places.count(), "a local state")?);
                if !tokens.accept(Mark::Comma) {
                    break;
                }
            }
        }
        places.sort_unstable();
        let counts = places.chunk_by(|one, other| one == other).map(|all| (all[0], all.len() as u32)).collect();
        never.push(Pattern { shared, counts });
    }
    Ok(Property { name: "target".to_owned(), never })
}

fn size(tokens: &mut Tokens<'_>, what: &str) -> Fallible<u32> {
    let place = tokens.peek().map_or(0..0, |token| token.span());
    match tokens.number(what)? {
        0 => Err(tokens.error(place, "there must be one at least", "here")),
        number => Ok(number.min(MOST)),
    }
}

fn below(tokens: &mut Tokens<'_>, count: u32, what: &str) -> Fallible<u32> {
    let place = tokens.peek().map_or(0..0, |token| token.span());
    let number = tokens.number(what)?;
    match number < count {
        true => Ok(number),
        false => {
            Err(tokens.error(place, format!("there is no such state: {what} is a number below {count}"), "too large"))
        }
    }
}

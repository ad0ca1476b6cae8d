//! Reading matching pairs: a section for each thread, and in it which symbol may surface after which was popped.
//!
//! A section opens with a line whose first word starts with `P`; every other line is a pair. Where symbols are words
//! such a line can also be a pair, so there a line of two entries is always a pair. A pair with a symbol that its
//! thread does not have says nothing about the thread and is left out.

use std::collections::HashMap;

use tepui_model::pushdown::{Symbol, Thread};

use crate::diagnostic::{Diagnostic, Sink, quote};
use crate::pushdown::Matching;
use crate::pushdown::names::Form;
use crate::source::Source;
use crate::token::{Fallible, Kind, Line, Lines, Token};

/// Two symbols in words; `None` for the empty stack.
type Pair<'a> = (Token<'a>, Option<Token<'a>>);

/// Reads the sections. Without threads, since there is no model, only their syntax is judged.
pub(super) fn read(source: &Source, index: usize, form: Form, threads: Option<&[Thread]>, sink: &mut Sink) -> Matching {
    let sections = sections(source, index, form, sink);
    let Some(threads) = threads else {
        return Matching(Vec::new());
    };
    if sections.len() != threads.len() {
        let message = format!("expected {} sections, found {}", threads.len(), sections.len());
        let error = Diagnostic::error(index, 0..0, message, "one section for each thread");
        sink.push(error.hint("a section opens with a line `PDA`, even if it holds no pair"));
        return Matching(Vec::new());
    }
    Matching(threads.iter().zip(&sections).map(|(thread, pairs)| resolve(thread, pairs, form, sink)).collect())
}

fn sections<'a>(source: &'a Source, index: usize, form: Form, sink: &mut Sink) -> Vec<Vec<Pair<'a>>> {
    let mut lines = Lines::new(source, index);
    let mut sections: Vec<Vec<Pair<'_>>> = Vec::new();
    let mut lost = false;
    while let Some(mut line) = lines.next(sink) {
        if opens(&line, form) {
            sections.push(Vec::new());
            continue;
        }
        let read = if line.broken { None } else { sink.take(pair(&mut line)) };
        match sections.last_mut() {
            Some(section) => section.extend(read),
            None if !std::mem::replace(&mut lost, true) => sink.push(homeless(&line)),
            None => {}
        }
    }
    sections
}

fn opens(line: &Line<'_>, form: Form) -> bool {
    let pair = form == Form::Words && line.rest().len() == 2;
    line.first().kind == Kind::Word && line.first().text.starts_with('P') && !pair
}

fn homeless(line: &Line<'_>) -> Diagnostic {
    let error = line.first().error("a pair before the first section", "which thread is meant?");
    error.hint("open the section of the first thread with a line `PDA`")
}

fn pair<'a>(line: &mut Line<'a>) -> Fallible<Pair<'a>> {
    let popped = line.expect(Kind::Word, "a symbol or `PDA`")?;
    let surfaces = match line.eat(Kind::Dash) {
        Some(_) => None,
        None => Some(line.expect(Kind::Word, "the symbol that may surface")?),
    };
    line.end().map(|()| (popped, surfaces))
}

fn resolve(thread: &Thread, pairs: &[Pair<'_>], form: Form, sink: &mut Sink) -> Vec<(Symbol, Symbol)> {
    let numbers: HashMap<&str, u32> = thread.symbols.iter().map(String::as_str).zip(1..).collect();
    let mut find = |word: Token<'_>| {
        let key = sink.take(form.key(word))?;
        let found = numbers.get(key).copied().map(Symbol);
        if found.is_none() {
            let message = format!("thread {} has no symbol {}", quote(&thread.name), quote(word.text));
            sink.push(word.warning(message, "the pair is left out"));
        }
        found
    };
    // Both words are looked up, so that both are judged.
    let mut symbols = |&(popped, surfaces): &Pair<'_>| (find(popped), surfaces.and_then(&mut find));
    pairs.iter().map(&mut symbols).filter_map(|(popped, surfaces)| popped.zip(surfaces)).collect()
}

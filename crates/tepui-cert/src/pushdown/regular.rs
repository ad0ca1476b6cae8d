//! Proofs by regular sets of stacks.
//!
//! For each thread there is a list of *languages*: deterministic automata that read stacks from the top, with the marker
//! 0 at the end. A row is a shared state with a language for each thread, and stands for all states with this shared
//! state whose stacks are in the languages. The claim: every reachable state is in some row. It is proved by induction
//! over steps: a step changes the top of one stack, so what it makes of a row must be part of another row.
//!
//! Threads that are interchangeable form groups, as in [`Lemma`](super::Lemma)s: the first thread of a group lists the
//! languages of all, and a row stands for all that arise by permuting languages within groups.

use std::fmt::Write as _;

use tepui_model::pushdown::Symbol;

use super::Rows;
use super::certificate::{read_leader, read_rows, write_rows};
use crate::text::{Lines, Unreadable};

/// Rows of regular sets that no step leaves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Regular {
    /// The languages of each thread.
    pub threads: Vec<RegularThread>,
    /// The rows: a shared state, then for each thread the index of a language in its own list or that of its leader.
    pub rows: Rows,
}

/// One thread's languages.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RegularThread {
    /// An earlier thread with which this one is interchangeable, and which is like no other itself.
    pub like: Option<usize>,
    /// The languages.
    pub languages: Vec<Language>,
}

/// A deterministic automaton; its first state is the start.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Language {
    /// For each state what it can read, with the state after it; none after the marker, which ends every word.
    pub states: Vec<Vec<(Symbol, Option<u32>)>>,
}

impl Regular {
    pub(crate) fn write(&self, out: &mut String) {
        let _ = writeln!(out, "regular threads {}", self.threads.len());
        for (number, thread) in self.threads.iter().enumerate() {
            if let Some(leader) = thread.like {
                let _ = writeln!(out, "thread {} like {}", number + 1, leader.saturating_add(1));
                continue;
            }
            let _ = writeln!(out, "thread {}", number + 1);
            thread.languages.iter().for_each(|language| language.write(out));
        }
        let _ = writeln!(out, "rows {}", self.rows.len());
        write_rows(out, &self.rows.sorted());
    }

    pub(crate) fn read(lines: &mut Lines<'_>, head: &str) -> Result<Self, Unreadable> {
        let count = head.strip_prefix("threads").ok_or_else(|| lines.error("expected `regular threads N`"))?;
        let count = lines.number::<u16>(count)?;
        let mut threads: Vec<RegularThread> = Vec::new();
        for _ in 0..count {
            threads.push(RegularThread::read(lines, &threads)?);
        }
        let Some(last) = threads.last() else { return Err(lines.error("a proof speaks of at least one thread")) };
        let languages = last.like.map_or(last, |leader| &threads[leader]).languages.len();
        let rows = lines.expect("rows")?;
        let rows = lines.number(rows)?;
        let rows = read_rows(lines, threads.len() + 1, rows, languages)?;
        Ok(Self { threads, rows })
    }
}

impl RegularThread {
    fn read(lines: &mut Lines<'_>, earlier: &[Self]) -> Result<Self, Unreadable> {
        let head = lines.expect("thread")?;
        let (found, rest) = head.split_once(char::is_whitespace).unwrap_or((head, ""));
        if lines.number::<usize>(found)? != earlier.len() + 1 {
            return Err(lines.error(format!("expected thread {}", earlier.len() + 1)));
        }
        if !rest.is_empty() {
            let leads = |leader: usize| earlier.get(leader).is_some_and(|thread| thread.like.is_none());
            return Ok(Self { like: Some(read_leader(lines, rest, leads)?), languages: Vec::new() });
        }
        let mut languages = Vec::new();
        while let Some(count) = lines.accept("language") {
            let count = lines.number::<usize>(count)?;
            languages.push(Language::read(lines, count)?);
        }
        Ok(Self { like: None, languages })
    }
}

impl Language {
    fn write(&self, out: &mut String) {
        let _ = writeln!(out, "language {}", self.states.len());
        for edges in &self.states {
            let edge = |(symbol, to): &(Symbol, Option<u32>)| match to {
                Some(to) => format!(" {}>{to}", symbol.0),
                None => format!(" {}", symbol.0),
            };
            let _ = writeln!(out, ":{}", edges.iter().map(edge).collect::<String>());
        }
    }

    fn read(lines: &mut Lines<'_>, count: usize) -> Result<Self, Unreadable> {
        let mut states = Vec::new();
        while states.len() < count {
            let line = lines.next_line().ok_or_else(|| lines.error("the text ends among the states of a language"))?;
            let edges = line.strip_prefix(':').ok_or_else(|| lines.error("expected `: SYMBOL>STATE ...`"))?;
            let edge = |text: &str| match text.split_once('>') {
                Some((symbol, to)) => Ok((Symbol(lines.number(symbol)?), Some(lines.number(to)?))),
                None => Ok((Symbol(lines.number(text)?), None)),
            };
            states.push(edges.split_ascii_whitespace().map(edge).collect::<Result<_, _>>()?);
        }
        Ok(Self { states })
    }
}

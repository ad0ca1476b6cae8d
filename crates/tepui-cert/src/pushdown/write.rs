//! How certificates of pushdown proofs are written.

use std::fmt::Write as _;

use tepui_model::pushdown::Symbol;

use super::certificate::{Certificate, HEAD};
use super::lemma::{Lemma, LemmaThread};
use super::regular::{Language, Regular};
use super::rows::Rows;
use crate::write::{sealed, write_property};

impl Certificate {
    /// The text form.
    pub fn to_text(&self) -> String {
        let mut out = format!("{HEAD}\nmodel {}\n", self.model);
        self.properties.iter().for_each(|property| write_property(&mut out, property));
        self.lemmas.iter().for_each(|lemma| lemma.write(&mut out));
        self.regular.iter().for_each(|regular| regular.write(&mut out));
        sealed(&out)
    }
}

impl Lemma {
    pub(crate) fn write(&self, out: &mut String) {
        let _ = writeln!(out, "lemma depth {} threads {}", self.depth, self.threads.len());
        self.threads.iter().enumerate().for_each(|(number, thread)| thread.write(number, out));
        let _ = writeln!(out, "views {}", self.views.len());
        write_rows(out, &self.views.sorted());
        for explored in &self.explored {
            let threads: String = explored.threads.iter().map(|thread| format!("{} ", thread + 1)).collect();
            let _ = write!(out, "explored {threads}:");
            write_ranges(out, &explored.views);
            out.push('\n');
        }
    }
}

impl LemmaThread {
    pub(crate) fn write(&self, number: usize, out: &mut String) {
        if let Some(leader) = self.like {
            let _ = writeln!(out, "thread {} like {}", number + 1, leader.saturating_add(1));
            return;
        }
        let words: Vec<_> = self.words.iter().map(|word| word_text(word)).collect();
        let _ = writeln!(out, "thread {}\nwords {}", number + 1, words.join(" "));
        for (word, below) in &self.below {
            let below: Vec<_> = below.iter().map(|symbol| symbol.0.to_string()).collect();
            let _ = writeln!(out, "below {} : {}", word_text(word), below.join(" "));
        }
    }
}

/// Numbers in ascending order, where neighbours share a range.
fn write_ranges(out: &mut String, numbers: &[usize]) {
    for range in numbers.chunk_by(|one, next| one + 1 == *next) {
        let _ = match range {
            [one] => write!(out, " {one}"),
            [first, .., last] => write!(out, " {first}-{last}"),
            [] => Ok(()),
        };
    }
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
}

fn word_text(word: &[Symbol]) -> String {
    word.iter().map(|symbol| symbol.0.to_string()).collect::<Vec<_>>().join(".")
}

/// Rows that differ in the last cell only share a line, and neighbouring last cells share a range.
fn write_rows(out: &mut String, rows: &Rows) {
    let last = rows.width() - 1;
    let mut row = 0;
    while row < rows.len() {
        let prefix = rows.get(row);
        for cell in &prefix[..last] {
            let _ = write!(out, "{cell} ");
        }
        out.push(':');
        let follows = |row: usize| {
            let next = (row < rows.len()).then(|| rows.get(row))?;
            (next[..last] == prefix[..last]).then(|| next[last])
        };
        while let Some(first) = follows(row) {
            let mut end = first;
            row += 1;
            while end.checked_add(1).is_some_and(|after| follows(row) == Some(after)) {
                end += 1;
                row += 1;
            }
            let _ = if end > first { write!(out, " {first}-{end}") } else { write!(out, " {first}") };
        }
        out.push('\n');
    }
}

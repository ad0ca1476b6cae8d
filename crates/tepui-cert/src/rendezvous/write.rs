//! How certificates about threads that meet are written.

use std::fmt::Write as _;

use super::languages::{Automaton, Direction, Languages};
use super::views::{Frame, Views};
use crate::write::{sealed, values_text};

impl Languages {
    /// The text form.
    pub fn to_text(&self) -> String {
        let mut out = format!("{}\nmodel {}\n", Self::HEAD, self.model);
        for claim in &self.claims {
            let _ = writeln!(out, "property {}\nnever {}", claim.name, claim.never);
            for threads in &claim.targets {
                let _ = writeln!(out, "target threads {}", threads.len());
                for automata in threads {
                    let _ = writeln!(out, "thread automata {}", automata.len());
                    automata.iter().for_each(|automaton| automaton.write(&mut out));
                }
            }
        }
        sealed(&out)
    }
}

impl Automaton {
    fn write(&self, out: &mut String) {
        let direction = match self.direction {
            Direction::Forward => "forward",
            Direction::Backward => "backward",
        };
        let reads = if self.reads_all { "all" } else { "own" };
        let _ = writeln!(out, "automaton {direction} {reads} {}", self.states.len());
        for (accepting, edges) in &self.states {
            out.push_str(if *accepting { "accept" } else { "reject" });
            for (action, to) in edges {
                let _ = write!(out, " {}>{to}", action.0);
            }
            out.push('\n');
        }
    }
}

impl Views {
    /// The text form.
    pub fn to_text(&self) -> String {
        let mut out = format!("{}\nmodel {}\n", Self::HEAD, self.model);
        for claim in &self.claims {
            let _ = writeln!(out, "property {}\nnever {}", claim.name, claim.never);
        }
        let _ = writeln!(out, "threads {}", self.frames.len());
        for frames in &self.frames {
            let _ = writeln!(out, "frames {}", frames.len());
            frames.iter().for_each(|frame| frame.write(&mut out));
        }
        self.lemmas.iter().for_each(|lemma| lemma.write(&mut out));
        sealed(&out)
    }
}

impl Frame {
    fn write(&self, out: &mut String) {
        let control = self.control.map_or("-".to_owned(), |control| control.0.to_string());
        let _ = writeln!(out, "{control} {} {}", self.symbol.0, values_text(&self.nodes));
    }
}

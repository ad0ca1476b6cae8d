//! Certificates of unreachable queries: for each thread an automaton that accepts at least the thread's language.
//!
//! The *language* of a thread with respect to a target is the set of the words of actions with which the thread, alone,
//! gets from its initial local state into its set. A target is reachable iff there is a word that, for every thread,
//! becomes one of its language when the actions that it does not know are left out. So a target is unreachable if for
//! each thread there are automata that accept its whole language, and no word passes the automata of all threads. Both
//! claims are for the checker to verify; nothing in the certificate says why they hold.
//!
//! An automaton is deterministic, reads a word from the front or from the back, and rejects where it has no edge. As a
//! rule it reads the actions that its thread knows, and the others leave it where it is. One that reads *all* actions
//! stands for the language in which the others may occur anywhere.
//!
//! The text form gives actions and threads as numbers of the model, whose digest stands in the head, and each property by
//! its name and the digest of what it forbids. The last line holds the digest of all text above it.

use std::fmt::Write as _;

use tepui_model::Digest;
use tepui_model::rendezvous::Action;

use crate::text::{Lines, Unreadable, check_seal, sealed};

/// A proof that no reachable state violates the properties.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Languages {
    /// The model that the proof is about.
    pub model: Digest,
    /// What is proved, property by property.
    pub claims: Vec<Claim>,
}

/// That no target of a property is reachable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim {
    /// The property's name, for people.
    pub name: String,
    /// What it forbids.
    pub never: Digest,
    /// For each target, and there for each thread, automata that accept its language. No automaton excludes nothing.
    pub targets: Vec<Vec<Vec<Automaton>>>,
}

/// From which end an automaton reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// From the front.
    Forward,
    /// From the back.
    Backward,
}

/// A deterministic automaton; its start is state 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Automaton {
    /// From which end it reads.
    pub direction: Direction,
    /// Whether it reads all actions, not only those that its thread knows.
    pub reads_all: bool,
    /// For each state whether a word may end there, and where actions lead, in ascending order. An automaton without a
    /// state accepts nothing.
    pub states: Vec<(bool, Vec<(Action, u32)>)>,
}

impl Languages {
    /// The first line.
    pub const HEAD: &str = "tepui certificate of languages 1";

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

    /// Reads the text form. What is read has the right shape; whether it is right is for the checker to say.
    pub fn from_text(text: &str) -> Result<Self, Unreadable> {
        let mut lines = Lines::new(text);
        if lines.next_line() != Some(Self::HEAD) {
            return Err(lines.error(format!("this is no certificate: it does not start with `{}`", Self::HEAD)));
        }
        check_seal(text)?;
        let model = lines.expect("model")?;
        let model = model.parse().map_err(|message| lines.error(message))?;
        let mut certificate = Self { model, claims: Vec::new() };
        while let Some(name) = lines.accept("property") {
            let never = lines.expect("never")?;
            let never = never.parse().map_err(|message| lines.error(message))?;
            let mut claim = Claim { name: name.to_owned(), never, targets: Vec::new() };
            while let Some(head) = lines.accept("target") {
                claim.targets.push(read_target(&mut lines, head)?);
            }
            certificate.claims.push(claim);
        }
        lines.end().map(|()| certificate)
    }
}

fn read_target(lines: &mut Lines<'_>, head: &str) -> Result<Vec<Vec<Automaton>>, Unreadable> {
    let count: u16 = read_count(lines, head, "threads")?;
    let mut threads = Vec::new();
    for _ in 0..count {
        let head = lines.expect("thread")?;
        let count: u16 = read_count(lines, head, "automata")?;
        let mut automata = Vec::new();
        for _ in 0..count {
            automata.push(Automaton::read(lines)?);
        }
        threads.push(automata);
    }
    Ok(threads)
}

fn read_count<T: std::str::FromStr>(lines: &Lines<'_>, head: &str, what: &str) -> Result<T, Unreadable> {
    let fields: Vec<_> = head.split_whitespace().collect();
    match *fields.as_slice() {
        [word, count] if word == what => lines.number(count),
        _ => Err(lines.error(format!("expected `{what} N`"))),
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

    fn read(lines: &mut Lines<'_>) -> Result<Self, Unreadable> {
        let head = lines.expect("automaton")?;
        let fields: Vec<_> = head.split_whitespace().collect();
        let (direction, reads_all, count) = match *fields.as_slice() {
            [direction @ ("forward" | "backward"), reads @ ("own" | "all"), count] => {
                let direction = if direction == "forward" { Direction::Forward } else { Direction::Backward };
                (direction, reads == "all", lines.number::<u32>(count)?)
            }
            _ => return Err(lines.error("an automaton starts with `automaton forward|backward own|all N`")),
        };
        let mut states = Vec::new();
        for _ in 0..count {
            let (accepting, edges) = match lines.accept("accept") {
                Some(edges) => (true, edges),
                None => (false, lines.expect("reject")?),
            };
            let edges = edges.split_ascii_whitespace().map(|edge| read_edge(lines, edge, count));
            let edges: Vec<_> = edges.collect::<Result<_, _>>()?;
            if !edges.is_sorted_by(|one, other| one.0 < other.0) {
                return Err(lines.error("the edges of a state are in ascending order of their actions, one for each"));
            }
            states.push((accepting, edges));
        }
        Ok(Self { direction, reads_all, states })
    }
}

fn read_edge(lines: &Lines<'_>, text: &str, states: u32) -> Result<(Action, u32), Unreadable> {
    let (action, to) = text.split_once('>').ok_or_else(|| lines.error("an edge has the form `A>S`"))?;
    let to = lines.number(to)?;
    match to < states {
        true => Ok((Action(lines.number(action)?), to)),
        false => Err(lines.error(format!("an edge leads to state {to} of {states}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Languages {
        let automaton = Automaton {
            direction: Direction::Forward,
            reads_all: false,
            states: vec![(false, vec![(Action(0), 1), (Action(3), 0)]), (true, Vec::new())],
        };
        let backward = Automaton { direction: Direction::Backward, reads_all: true, states: Vec::new() };
        let targets = vec![vec![vec![automaton.clone(), backward], Vec::new()], vec![vec![automaton], Vec::new()]];
        let claim = Claim { name: "p q".to_owned(), never: Digest::of(b"p"), targets };
        let nothing = Claim { name: "x".to_owned(), never: Digest::of(b""), targets: Vec::new() };
        Languages { model: Digest::of(b"m"), claims: vec![claim, nothing] }
    }

    #[test]
    fn printing_and_reading_agree() {
        let certificate = sample();
        let text = certificate.to_text();
        assert_eq!(Languages::from_text(&text), Ok(certificate));
        assert!(text.contains("automaton forward own 2\nreject 0>1 3>0\naccept\n"), "{text}");
    }

    #[test]
    fn every_changed_byte_and_every_truncation_is_noticed() {
        let text = sample().to_text();
        for cut in 0..text.len() - 1 {
            assert!(Languages::from_text(&text[..cut]).is_err(), "cut at {cut}");
        }
        for at in 0..text.len() - 1 {
            let mut bytes = text.as_bytes().to_vec();
            bytes[at] = if bytes[at] == b'7' { b'8' } else { b'7' };
            assert!(Languages::from_text(&String::from_utf8(bytes).unwrap()).is_err(), "changed at {at}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let text = sample().to_text();
        let body = &text[..text.rfind("end ").unwrap()];
        for (from, to, says) in [
            ("0>1 3>0", "3>0 0>1", "ascending"),
            ("0>1 3>0", "0>1 0>0", "ascending"),
            ("0>1 3>0", "0>2", "state 2 of 2"),
            ("0>1 3>0", "0", "form `A>S`"),
            ("0>1 3>0", "x>1", "not a number"),
            ("forward own 2", "forward own 99999999", "expected `reject`"),
            ("forward own 2", "sideways own 2", "starts with"),
            ("forward own 2", "forward 2", "starts with"),
            ("target threads 2", "target 2", "expected `threads N`"),
            ("target threads 2", "target threads 9", "expected `thread`"),
            ("thread automata 2", "thread automata 9", "expected `automaton`"),
        ] {
            assert!(body.contains(from), "{from}");
            let error = Languages::from_text(&sealed(&body.replacen(from, to, 1))).unwrap_err();
            assert!(error.message.contains(says), "{from} -> {to}: {error}");
        }
    }
}

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

use tepui_model::Digest;
use tepui_model::rendezvous::Action;

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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::sealed;

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

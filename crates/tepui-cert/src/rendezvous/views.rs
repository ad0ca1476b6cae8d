//! Certificates about threads that meet: inductive sets of views.
//!
//! A view shows the topmost symbols of each stack and the control state of each thread; there is no shared state, so the
//! first cell of every row is 0. The symbols of a thread are [`Frame`]s: the one on top of a stack holds the control state,
//! and each of them knows where the automata of the queries are that have read what lies beneath it (see
//! `tepui_model::rendezvous::Observers`), so that the top alone tells whether the whole stack is meant. The lowest frame
//! of each stack is the *floor*, which is no symbol of the model: it holds the control state when the stack is empty.
//!
//! Lemmas are those of [pushdown proofs](crate::pushdown) over the numbers of these frames: the n-th frame of a thread is
//! its symbol n, and 0 is the end of a stack. How threads move, alone or together, the checker takes from the model.

use tepui_model::Digest;
use tepui_model::pushdown::Symbol;
use tepui_model::rendezvous::{Control, Nodes};

use crate::pushdown::Lemma;

/// A proof about threads that meet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Views {
    /// The model.
    pub model: Digest,
    /// What is proved. The automata that frames speak of are those of these properties, in this order.
    pub claims: Vec<Forbidden>,
    /// The frames of each thread.
    pub frames: Vec<Vec<Frame>>,
    /// The lemmas, each relative to those before it.
    pub lemmas: Vec<Lemma>,
}

/// A property that is proved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Forbidden {
    /// Its name, for people.
    pub name: String,
    /// What it forbids.
    pub never: Digest,
}

/// What lies on a stack.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Frame {
    /// The control state, if the frame is on top.
    pub control: Option<Control>,
    /// The symbol; `BOTTOM` is the floor.
    pub symbol: Symbol,
    /// Where the automata are beneath it.
    pub nodes: Nodes,
}

impl Views {
    /// The first line.
    pub const HEAD: &str = "tepui certificate of threads that meet 1";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pushdown::{LemmaThread, Rows};
    use crate::write::sealed;

    fn sample() -> Views {
        let frame = |control: Option<u32>, symbol: u32, nodes: &[Option<u32>]| Frame {
            control: control.map(Control),
            symbol: Symbol(symbol),
            nodes: nodes.to_vec(),
        };
        let frames = vec![frame(Some(1), 0, &[]), frame(None, 2, &[None, Some(3)])];
        let part =
            LemmaThread { like: None, words: vec![vec![Symbol(1)]], below: vec![(vec![Symbol(1)], vec![Symbol(0)])] };
        let lemma = Lemma { depth: 1, threads: vec![part], views: Rows::of(2, &[[0, 0]]), explored: Vec::new() };
        let claim = Forbidden { name: "p q".to_owned(), never: Digest::of(b"p") };
        Views { model: Digest::of(b"m"), claims: vec![claim], frames: vec![frames], lemmas: vec![lemma] }
    }

    #[test]
    fn printing_and_reading_agree() {
        let text = sample().to_text();
        assert_eq!(Views::from_text(&text), Ok(sample()));
        assert!(text.contains("frames 2\n1 0 : \n- 2 : - 3\n"), "{text}");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let text = sample().to_text();
        let body = &text[..text.rfind("end ").unwrap()];
        for (from, to, says) in [
            ("threads 1\nframes", "threads 2\nframes", "expected `frames`"),
            ("frames 2", "frames 3", "CONTROL"),
            ("1 0 :", "1 :", "CONTROL"),
            ("1 0 :", "1 0", "CONTROL"),
            ("- 2 : - 3", "- 2 : - x", "not a number"),
        ] {
            assert!(body.contains(from), "{from}");
            let error = Views::from_text(&sealed(&body.replacen(from, to, 1))).unwrap_err();
            assert!(error.message.contains(says), "{from} -> {to}: {error}");
        }
    }
}

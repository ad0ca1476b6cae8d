//! What a file says, name by name resolved.

use rustc_hash::FxHashMap;

use crate::diagnostic::{Diagnostic, Severity, Sink, quote};
use crate::rendezvous::handshakes::Label;
use crate::suggestion::suggestion;

use super::terms::{Constant, Node, TermId, Terms};
use super::token::{Fallible, Token};

/// Declared names with their numbers, in the order of their declaration.
#[derive(Default, Debug)]
pub(super) struct Names<'a> {
    pub(super) tokens: Vec<Token<'a>>,
    index: FxHashMap<&'a str, usize>,
}

impl<'a> Names<'a> {
    /// Declares a name; `what` says of what.
    pub(super) fn declare(&mut self, token: Token<'a>, what: &str, sink: &mut Sink) {
        if self.index.contains_key(token.text) {
            sink.push(token.error(format!("{what} {} is declared twice", quote(token.text)), "again here"));
            return;
        }
        self.index.insert(token.text, self.tokens.len());
        self.tokens.push(token);
    }

    pub(super) fn get(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    pub(super) fn name(&self, number: usize) -> &'a str {
        self.tokens.get(number).map_or("?", |token| token.text)
    }

    /// The number of a name that must be declared.
    pub(super) fn find(&self, token: Token<'_>, what: &str, sink: &Sink) -> Fallible<usize> {
        self.get(token.text).ok_or_else(|| self.unknown(token, what, &[], sink))
    }

    /// The complaint about a name that is not declared; it may have been meant as one of `others`, too.
    pub(super) fn unknown(&self, token: Token<'_>, what: &str, others: &[&str], sink: &Sink) -> Diagnostic {
        let names = self.tokens.iter().map(|token| token.text).chain(others.iter().copied());
        let hint = suggestion(token.text, names, sink.is_full(Severity::Error));
        token.error(format!("unknown {what} {}", quote(token.text)), "not declared").hint_if(hint)
    }
}

/// A whole file.
#[derive(Default, Debug)]
pub(super) struct File<'a> {
    pub(super) constants: Names<'a>,
    pub(super) actions: Names<'a>,
    pub(super) rules: Vec<RuleText>,
    pub(super) init: Option<Language<'a>>,
    pub(super) bad: Option<Language<'a>>,
    pub(super) terms: Terms,
}

/// A rule on words.
#[derive(Clone, Debug)]
pub(super) struct RuleText {
    pub(super) top: Constant,
    /// The constant under the top that the rule replaces as well.
    pub(super) below: Option<Constant>,
    /// What comes instead, top first.
    pub(super) right: Vec<Constant>,
    pub(super) label: Label,
    pub(super) line: u32,
}

/// A term and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct TermText<'a> {
    pub(super) term: TermId,
    pub(super) first: Token<'a>,
    pub(super) last: Token<'a>,
    /// The first `par` in it.
    pub(super) par: Option<Token<'a>>,
    /// The first `par` below a `seq` in it.
    pub(super) nested: Option<Token<'a>>,
}

/// A set of terms under a name.
#[derive(Debug)]
pub(super) struct Language<'a> {
    pub(super) name: Token<'a>,
    pub(super) body: Body<'a>,
}

/// The two ways to give a set of terms.
#[derive(Debug)]
pub(super) enum Body<'a> {
    Set(Vec<TermText<'a>>),
    Automaton(Automaton<'a>),
}

/// An automaton that reads terms from the leaves to the root.
#[derive(Default, Debug)]
pub(super) struct Automaton<'a> {
    pub(super) states: Names<'a>,
    pub(super) accepting: Vec<usize>,
    pub(super) transitions: Vec<Transition>,
}

/// What is read, over states, and the state that it may lead to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transition {
    pub(super) node: Node<usize>,
    pub(super) to: usize,
}

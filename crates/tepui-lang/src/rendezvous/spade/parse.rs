//! From tokens to what a file says: operators, actions and rules.
//!
//! The sections come in a fixed order, so that each name is known when it is used. After an error reading goes on with
//! the next line.

use crate::diagnostic::{Diagnostic, Sink, quote};
use crate::rendezvous::handshakes::Label;
use crate::source::Source;
use crate::suggestion::suggestion;

use super::syntax::{File, RuleText, TermText};
use super::terms::{Constant, Node, TermId};
use super::token::{Fallible, Kind, Token, tokens};

/// The words that open a section.
const SECTIONS: [&str; 5] = ["Ops", "Acts", "SPAD", "Set", "Automaton"];

/// The operators that every file must declare, with their arities.
const OPERATORS: [(&str, &str); 3] = [("seq", "2"), ("par", "2"), ("idle", "0")];

/// Reads a file as far as it can be read.
pub(super) fn file<'a>(source: &'a Source, sink: &mut Sink) -> File<'a> {
    let tokens = tokens(source, sink);
    let mut parser = Parser { tokens, at: 0, sink, file: File::default() };
    if parser.section("Ops") {
        parser.operators();
        if parser.section("Acts") {
            parser.actions();
        }
        if parser.section("SPAD") {
            parser.statements(Parser::rule);
        }
        parser.languages();
    }
    parser.file
}

/// The state of reading.
pub(super) struct Parser<'a, 's> {
    tokens: Vec<Token<'a>>,
    at: usize,
    pub(super) sink: &'s mut Sink,
    pub(super) file: File<'a>,
}

impl<'a> Parser<'a, '_> {
    pub(super) fn now(&self) -> Token<'a> {
        self.tokens.get(self.at).or(self.tokens.last()).copied().unwrap_or(NOWHERE)
    }

    pub(super) fn next(&self) -> Token<'a> {
        self.tokens.get(self.at + 1).or(self.tokens.last()).copied().unwrap_or(NOWHERE)
    }

    pub(super) fn last(&self) -> Token<'a> {
        self.at.checked_sub(1).and_then(|last| self.tokens.get(last)).copied().unwrap_or(self.now())
    }

    pub(super) fn advance(&mut self) -> Token<'a> {
        let token = self.now();
        self.at += usize::from(token.kind != Kind::End);
        token
    }

    pub(super) fn eat(&mut self, kind: Kind) -> Option<Token<'a>> {
        (self.now().kind == kind && kind != Kind::End).then(|| self.advance())
    }

    pub(super) fn eat_word(&mut self, text: &str) -> Option<Token<'a>> {
        self.now().is_word(text).then(|| self.advance())
    }

    /// The next token, which must be of a kind; `what` names it in the message.
    pub(super) fn expect(&mut self, kind: Kind, what: &str) -> Fallible<Token<'a>> {
        self.eat(kind).ok_or_else(|| self.expected(what))
    }

    /// The complaint that something else was to come here.
    pub(super) fn expected(&self, what: &str) -> Diagnostic {
        let token = self.now();
        match token.kind {
            Kind::End => token.error(format!("expected {what}"), "the text ends here"),
            _ => token.error(format!("expected {what}, found {}", quote(token.text)), "unexpected"),
        }
    }

    /// Whether a section begins here, or the text ends.
    pub(super) fn at_section(&self) -> bool {
        let token = self.now();
        token.kind == Kind::End || SECTIONS.iter().any(|section| token.is_word(section))
    }

    /// Reads statements up to the next section; one that is in error costs the rest of its line.
    pub(super) fn statements(&mut self, mut statement: impl FnMut(&mut Self) -> Fallible<()>) {
        while !self.at_section() {
            let before = self.at;
            if let Err(error) = statement(self) {
                self.sink.push(error);
                self.at = self.at.max(before + 1);
                while !self.at_section() && self.now().line == self.last().line {
                    self.advance();
                }
            }
        }
    }

    /// The word that opens a section; whether it is there.
    fn section(&mut self, name: &str) -> bool {
        let found = self.eat_word(name).is_some();
        if !found {
            let hint = suggestion(self.now().text, [name].into_iter(), false);
            let order = "the sections are `Ops`, `Acts`, `SPAD`, and `Set` or `Automaton` for `init` and `bad`";
            let error = self.expected(&format!("the section `{name}`"));
            self.sink.push(error.hint(hint.unwrap_or_else(|| order.to_owned())));
        }
        found
    }

    fn operators(&mut self) {
        let opening = self.last();
        let mut found = Vec::new();
        self.statements(|parser| parser.operator(&mut found));
        for (name, arity) in OPERATORS.iter().filter(|(name, _)| !found.contains(name)) {
            self.sink.push(opening.error(format!("the operator `{name}:{arity}` is not declared"), "in this section"));
        }
    }

    fn operator(&mut self, found: &mut Vec<&'static str>) -> Fallible<()> {
        let name = self.expect(Kind::Word, "an operator such as `name:0`")?;
        let required = OPERATORS.iter().find(|(operator, _)| name.text == *operator);
        match required {
            Some((operator, _)) => found.push(operator),
            None => self.file.constants.declare(name, "operator", self.sink),
        }
        if let Err(error) = self.arity(name, required.map_or("0", |required| required.1)) {
            self.sink.push(error);
        }
        Ok(())
    }

    /// The arity of an operator, which can only be the one that is needed.
    fn arity(&mut self, name: Token<'a>, needed: &str) -> Fallible<()> {
        self.expect(Kind::Colon, "`:` and the number of arguments")?;
        let arity = self.expect(Kind::Word, "the number of arguments")?;
        if arity.text == needed {
            return Ok(());
        }
        if !arity.text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(arity.error(format!("expected a number of arguments, found {}", quote(arity.text)), ""));
        }
        if OPERATORS.iter().any(|(operator, _)| name.text == *operator) {
            let message = format!("`{0}` must be declared as `{0}:{needed}`", name.text);
            return Err(arity.error(message, "another arity"));
        }
        let what = format!("the operator {} with arguments", quote(name.text));
        Err(arity.unsupported(&what, "only `seq` and `par` may have arguments, all others are constants"))
    }

    fn actions(&mut self) {
        self.statements(|parser| {
            if parser.now().kind == Kind::Arrow {
                return Err(parser.expected("the name of an action").hint("rules stand in the section `SPAD`"));
            }
            match parser.eat(Kind::Word) {
                Some(name) => parser.file.actions.declare(name, "action", parser.sink),
                None => {
                    let error = parser.expected("the name of an action");
                    parser.sink.push(error);
                    parser.advance();
                }
            }
            Ok(())
        });
    }

    fn rule(&mut self) -> Fallible<()> {
        let left = self.term()?;
        let sides = self.left_side(&left);
        self.expect(Kind::Arrow, "`->`")?;
        let right = self.term()?;
        if let Some(par) = right.par {
            let hint = "only files whose rules start no processes are sets of threads";
            let what = "a rule that creates processes";
            self.sink.push(par.unsupported(what, "`par` on the right of a rule").hint(hint));
        }
        self.expect(Kind::Colon, "`:` and a label")?;
        let label = self.label()?;
        let (top, below) = sides?;
        let right = self.file.terms.word(right.term).unwrap_or_default();
        self.file.rules.push(RuleText { top, below, right, label, line: left.first.line });
        Ok(())
    }

    /// The constants that a rule replaces.
    fn left_side(&self, left: &TermText<'a>) -> Fallible<(Constant, Option<Constant>)> {
        let refuse = |what: &str, label: &str| {
            let error = left.first.unsupported(what, label).hint("the left side is `x` or `seq(x, y)`");
            Err(Diagnostic { span: left.first.up_to(&left.last), ..error })
        };
        let node = |term: TermId| self.file.terms.node(term);
        match node(left.term) {
            Node::Constant(constant) => return Ok((constant, None)),
            Node::Seq(first, second) => {
                if let (Node::Constant(top), Node::Constant(below)) = (node(first), node(second)) {
                    return Ok((top, Some(below)));
                }
            }
            Node::Idle | Node::Par(..) => {}
        }
        match left.par {
            Some(_) => refuse("`par` on the left of a rule", "a rule of several processes"),
            None if self.file.terms.word(left.term).is_some_and(|word| word.len() > 2) => {
                refuse("a rule that replaces more than two constants", "too many on the left")
            }
            None => refuse("`idle` on the left of a rule", "replaces nothing"),
        }
    }

    fn label(&mut self) -> Fallible<Label> {
        let name = self.expect(Kind::Word, "a label: `Tau`, `action!` or `action?`")?;
        let label: fn(usize) -> Label = match self.now().kind {
            Kind::Send => Label::Send,
            Kind::Receive => Label::Receive,
            _ if name.text == "Tau" => return Ok(Label::Internal),
            _ => {
                let hint = suggestion(name.text, ["Tau"].into_iter(), false);
                return Err(self.expected("`!` or `?` after the action").hint_if(hint));
            }
        };
        self.advance();
        self.file.actions.find(name, "action", self.sink).map(label)
    }
}

/// Stands for a token where there is none; there always is one.
const NOWHERE: Token<'static> = Token { kind: Kind::End, text: "", start: 0, line: 1 };

//! From tokens to what a file says: terms.

use crate::diagnostic::quote;
use crate::suggestion::suggestion;

use super::parse::Parser;
use super::syntax::TermText;
use super::terms::{Node, TermId};
use super::token::{Fallible, Kind, Token};

impl<'a> Parser<'a, '_> {
    /// A term; how deep it is nested does not matter.
    pub(super) fn term(&mut self) -> Fallible<TermText<'a>> {
        let first = self.now();
        let (mut par, mut nested) = (None, None);
        let mut open: Vec<(Token<'a>, Option<TermId>)> = Vec::new();
        let mut sequences = 0_usize;
        loop {
            if let Some(operator) = self.operator_opens()? {
                if operator.text == "par" {
                    par = par.or(Some(operator));
                    nested = nested.or((sequences > 0).then_some(operator));
                }
                sequences += usize::from(operator.text == "seq");
                open.push((operator, None));
                continue;
            }
            let mut term = self.constant()?;
            loop {
                let Some((operator, before)) = open.pop() else {
                    return Ok(TermText { term, first, last: self.last(), par, nested });
                };
                let Some(before) = before else {
                    self.expect(Kind::Comma, "`,` and the second term")?;
                    open.push((operator, Some(term)));
                    break;
                };
                self.expect(Kind::Close, "`)`")?;
                sequences -= usize::from(operator.text == "seq");
                let make = if operator.text == "seq" { Node::Seq } else { Node::Par };
                term = self.file.terms.add(make(before, term));
            }
        }
    }

    /// An operator and the parenthesis behind it, if they come next.
    fn operator_opens(&mut self) -> Fallible<Option<Token<'a>>> {
        let operator = self.now();
        if operator.kind != Kind::Word || self.next().kind != Kind::Open {
            return Ok(None);
        }
        if !["seq", "par"].contains(&operator.text) {
            let message = format!("{} is not an operator with arguments", quote(operator.text));
            let hint = suggestion(operator.text, ["seq", "par"].into_iter(), false);
            return Err(operator.error(message, "expected `seq` or `par`").hint_if(hint));
        }
        self.advance();
        self.advance();
        Ok(Some(operator))
    }

    fn constant(&mut self) -> Fallible<TermId> {
        let token = self.expect(Kind::Word, "a term")?;
        self.leaf(token).map(|node| self.file.terms.add(node))
    }

    /// What a word means that has no arguments.
    pub(super) fn leaf<T>(&self, token: Token<'a>) -> Fallible<Node<T>> {
        match token.text {
            "idle" => Ok(Node::Idle),
            "seq" | "par" => {
                Err(token.error(format!("`{}` needs two arguments", token.text), "expected `(` behind it"))
            }
            _ => match self.file.constants.get(token.text) {
                Some(constant) => Ok(Node::Constant(constant)),
                None => Err(self.file.constants.unknown(token, "constant", &["idle"], self.sink)),
            },
        }
    }
}

//! The grammar of expressions.

use tepui_model::program::Operator;

use super::parse::{DEEPEST, Fallible, Parser, is_keyword};
use super::syntax::{Expression, Operation};
use super::token::Kind;
use crate::diagnostic::Diagnostic;

/// How many operators a statement may have: what follows walks along them.
const MOST_OPERATORS: usize = 4_000;

impl Parser<'_, '_> {
    /// Loosest first: `? :`, `=>`, `|`, `^`, `&`, `=` and `!=`, `!`.
    pub(super) fn expression(&mut self) -> Fallible<Expression> {
        self.depth += 1;
        let found = if self.depth > DEEPEST { Err(self.too_deep()) } else { self.choice() };
        self.depth -= 1;
        found
    }

    fn choice(&mut self) -> Fallible<Expression> {
        let condition = self.binary(0)?;
        if !self.take(Kind::Question) {
            return Ok(condition);
        }
        let then = self.expression()?;
        self.expect(Kind::Colon, "`:` and the other value")?;
        let otherwise = self.expression()?;
        let span = condition.span.start..otherwise.span.end;
        Ok(Expression { span, operation: Operation::Choice(condition.into(), then.into(), otherwise.into()) })
    }

    fn binary(&mut self, level: usize) -> Fallible<Expression> {
        const LEVELS: &[&[(Kind, Operator)]] = &[
            &[(Kind::Implies, Operator::Implies)],
            &[(Kind::Or, Operator::Or)],
            &[(Kind::Xor, Operator::Xor)],
            &[(Kind::And, Operator::And)],
            &[(Kind::Equal, Operator::Equal), (Kind::Unequal, Operator::Unequal)],
        ];
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(&(_, operator)) = operators.iter().find(|(kind, _)| *kind == self.now().kind) {
            let token = self.next();
            self.operators += 1;
            if self.operators > MOST_OPERATORS {
                let message = format!("more than {MOST_OPERATORS} operators in one statement");
                return Err(Diagnostic::error(0, token.span(), message, "too many"));
            }
            // `a => b => c` is `a => (b => c)`.
            let right = match operator {
                Operator::Implies if self.depth < DEEPEST => {
                    self.depth += 1;
                    let right = self.binary(level);
                    self.depth -= 1;
                    right?
                }
                Operator::Implies => return Err(self.too_deep()),
                _ => self.binary(level + 1)?,
            };
            let span = left.span.start..right.span.end;
            left = Expression { span, operation: Operation::Binary(operator, left.into(), right.into()) };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Fallible<Expression> {
        let token = self.now();
        let simple = |operation| Ok(Expression { span: token.span(), operation });
        match (token.kind, token.text) {
            (Kind::Not, _) => {
                self.next();
                self.depth += 1;
                let operand = if self.depth > DEEPEST { Err(self.too_deep()) } else { self.unary() };
                self.depth -= 1;
                let operand = operand?;
                Ok(Expression { span: token.start..operand.span.end, operation: Operation::Not(operand.into()) })
            }
            (Kind::Open, _) => {
                self.next();
                let inner = self.expression()?;
                let end = self.expect(Kind::Close, "`)`")?.span().end;
                Ok(Expression { span: token.start..end, ..inner })
            }
            (Kind::Star, _) => {
                self.next();
                simple(Operation::Any)
            }
            (Kind::Number, "0" | "1") | (Kind::Word, "true" | "false") => {
                self.next();
                simple(Operation::Truth(matches!(token.text, "1" | "true")))
            }
            (Kind::Number, _) => Err(Diagnostic::error(0, token.span(), "this is no Boolean value", "0 or 1")
                .hint("values of other kinds have names: `enum Color { red, green }`")),
            (Kind::Word, "T" | "F") if !self.dialect.has_braces() => {
                self.next();
                simple(Operation::Truth(token.text == "T"))
            }
            (Kind::Word, "schoose") => {
                self.next();
                self.expect(Kind::OpenBracket, "`[`")?;
                let positive = self.expression()?;
                self.expect(Kind::Comma, "`,`")?;
                let negative = self.expression()?;
                let end = self.expect(Kind::CloseBracket, "`]`")?.span().end;
                let operation = Operation::Choose(positive.into(), negative.into());
                Ok(Expression { span: token.start..end, operation })
            }
            (Kind::Prime, _) => {
                self.next();
                let name = self.name("a variable")?;
                Ok(Expression { span: token.start..name.span.end, operation: Operation::New(name.text) })
            }
            (Kind::Word, _) if self.tokens[self.at + 1].kind == Kind::Open && !is_keyword(token.text, self.dialect) => {
                Err(Diagnostic::error(0, token.span(), "a call inside an expression", "called here")
                    .hint("calls are statements of their own: `x := f(y);`"))
            }
            (Kind::Word, _) => {
                let name = self.name("a value")?;
                simple(Operation::Name(name.text))
            }
            _ => Err(self.unexpected("a value")),
        }
    }
}

//! Reading: expressions. An operator that binds looser stands in a later row of the table.

use std::rc::Rc;

use super::lexer::Token;
use super::parser::{Parser, Read};
use super::tree::{Expr, ExprId, Name, Operator};
use super::values::Value;

/// The operators between two operands, from the tightest row to the loosest. Casts are a row of their own.
const ROWS: [&[(&str, Operator)]; 7] = [
    &[("*", Operator::Times), ("/", Operator::Over), ("%", Operator::Rest)],
    &[("+", Operator::Plus), ("-", Operator::Minus)],
    &[],
    &[
        ("<", Operator::Less),
        ("<=", Operator::LessEqual),
        (">", Operator::Greater),
        (">=", Operator::GreaterEqual),
        ("in", Operator::In),
    ],
    &[("==", Operator::Equal), ("!=", Operator::Unequal)],
    &[("&&", Operator::And)],
    &[("||", Operator::Or)],
];

/// The row of `as` and `to`.
const CASTS: usize = 2;

impl Parser {
    pub(super) fn made_expr(&mut self, expr: Expr) -> ExprId {
        self.program.exprs.push(expr);
        self.program.exprs.len() - 1
    }

    pub(super) fn expression(&mut self) -> Read<ExprId> {
        self.row(ROWS.len())
    }

    /// An expression with the operators of the first rows.
    fn row(&mut self, rows: usize) -> Read<ExprId> {
        if rows == 0 {
            return self.unary();
        }
        let mut left = self.row(rows - 1)?;
        loop {
            if rows - 1 == CASTS {
                let Some(next) = self.cast(left)? else { return Ok(left) };
                left = next;
                continue;
            }
            let Some(operator) = self.operator(rows - 1) else { return Ok(left) };
            let right = self.row(rows - 1)?;
            self.neighbours(rows - 1, left, right);
            left = self.made_expr(Expr::Binary(operator, left, right));
        }
    }

    fn operator(&mut self, row: usize) -> Option<Operator> {
        let (name, operator) = *ROWS[row].iter().find(|(name, _)| self.is_sign(name) || self.is_word(name))?;
        self.next();
        self.uses(&format!("operator {name}"));
        Some(operator)
    }

    /// Counts which rows stand beside each other without brackets: only there precedence matters.
    fn neighbours(&mut self, row: usize, left: ExprId, right: ExprId) {
        for (side, operand) in [("left", left), ("right", right)] {
            if self.bracketed.contains(&operand) {
                continue;
            }
            let inner = match &self.program.exprs[operand] {
                Expr::Binary(operator, ..) => ROWS.iter().position(|row| row.iter().any(|(_, one)| one == operator)),
                Expr::Cast(..) | Expr::Convert(..) => Some(CASTS),
                _ => None,
            };
            if let Some(inner) = inner {
                self.uses(&format!("row {inner} {side} in row {row}"));
            }
        }
    }

    fn cast(&mut self, left: ExprId) -> Read<Option<ExprId>> {
        let check = self.is_word("as");
        if !self.word("as") && !self.word("to") {
            return Ok(None);
        }
        self.uses(if check { "as" } else { "to" });
        let of = self.a_type()?;
        Ok(Some(self.made_expr(if check { Expr::Cast(left, of) } else { Expr::Convert(left, of) })))
    }

    fn unary(&mut self) -> Read<ExprId> {
        if self.sign("-") {
            self.uses("- before an operand");
            let inner = self.unary()?;
            return Ok(self.made_expr(Expr::Negative(inner)));
        }
        if self.sign("!") {
            self.uses("!");
            let inner = self.unary()?;
            return Ok(self.made_expr(Expr::Not(inner)));
        }
        self.expression_place()
    }

    /// A primary with fields and indices behind it.
    pub(super) fn expression_place(&mut self) -> Read<ExprId> {
        let mut expr = self.primary()?;
        loop {
            if self.sign("[") {
                self.uses("index");
                let index = self.expression()?;
                self.want("]")?;
                expr = self.made_expr(Expr::Index(expr, index));
            } else if self.sign(".") {
                expr = if let Token::Digits(_) = self.peek() {
                    self.uses("position");
                    let position = self.number()?;
                    self.made_expr(Expr::Position(expr, position))
                } else {
                    self.uses("field");
                    let name = self.name()?;
                    self.made_expr(Expr::Field(expr, name))
                };
            } else {
                return Ok(expr);
            }
        }
    }

    fn primary(&mut self) -> Read<ExprId> {
        match self.peek().clone() {
            Token::Digits(_) => self.literal(),
            Token::Text(text) => {
                self.next();
                self.uses("literal string");
                Ok(self.made_expr(Expr::Constant(Value::Text(Rc::from(text)))))
            }
            Token::Sign(".") => self.literal(),
            Token::Sign("(") => self.brackets(),
            Token::Sign(sign @ ("$" | "$$")) => {
                self.next();
                self.uses(sign);
                Ok(self.made_expr(Expr::Either(sign == "$$")))
            }
            Token::Word(word) => self.word_primary(&word),
            _ => self.fail("an expression"),
        }
    }

    /// A number, with or without a point.
    fn literal(&mut self) -> Read<ExprId> {
        let whole = if let Token::Digits(_) = self.peek() { self.digits()? } else { String::new() };
        if self.is_sign(".") && matches!(self.ahead(1), Token::Digits(_)) {
            self.next();
            self.uses(if whole.is_empty() { "literal float without a whole part" } else { "literal float" });
            let text = format!("{whole}.{}", self.digits()?);
            let number: f64 = text.parse().map_err(|_| text)?;
            return Ok(self.made_expr(Expr::Constant(Value::Float(number.to_bits()))));
        }
        self.uses("literal int");
        let number: i32 = whole.parse().map_err(|_| format!("{whole} is too large"))?;
        Ok(self.made_expr(Expr::Constant(Value::Int(number.into()))))
    }

    /// A tuple, or an expression in brackets.
    fn brackets(&mut self) -> Read<ExprId> {
        self.want("(")?;
        if matches!((self.peek(), self.ahead(1)), (Token::Word(_), Token::Sign("="))) {
            return self.named_tuple();
        }
        let first = self.expression()?;
        if self.sign(")") {
            self.uses("brackets");
            self.bracketed.insert(first);
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.sign(",") {
            if !self.is_sign(")") {
                parts.push(self.expression()?);
            }
        }
        self.uses(if parts.len() > 1 { "tuple" } else { "tuple of one" });
        self.want(")")?;
        Ok(self.made_expr(Expr::Tuple(parts)))
    }

    fn named_tuple(&mut self) -> Read<ExprId> {
        let (mut names, mut parts): (Vec<Name>, Vec<ExprId>) = (Vec::new(), Vec::new());
        while !self.sign(")") {
            names.push(self.name()?);
            self.want("=")?;
            parts.push(self.expression()?);
            if !self.sign(",") && !self.is_sign(")") {
                return self.fail(")");
            }
        }
        self.uses(if parts.len() > 1 { "named tuple" } else { "named tuple of one" });
        Ok(self.made_expr(Expr::Named(names.into(), parts)))
    }

    fn word_primary(&mut self, word: &str) -> Read<ExprId> {
        let called = matches!(self.ahead(1), Token::Sign("("));
        let constant = match word {
            "true" => Some(Expr::Constant(Value::Bool(true))),
            "false" => Some(Expr::Constant(Value::Bool(false))),
            "this" => Some(Expr::This),
            _ => None,
        };
        if let Some(constant) = constant {
            self.uses(word);
            self.next();
            return Ok(self.made_expr(constant));
        }
        match word {
            "new" => {
                self.next();
                let name = self.name()?;
                let arguments = self.bracketed_list()?;
                self.uses(["new without argument", "new with one", "new with several"][arguments.len().min(2)]);
                Ok(self.made_expr(Expr::New(name, arguments)))
            }
            "default" if called => {
                self.uses("default");
                self.next();
                self.want("(")?;
                let of = self.a_type()?;
                self.want(")")?;
                Ok(self.made_expr(Expr::Default(of)))
            }
            "float" if called => self.scaled(),
            "format" if called => self.format(),
            "choose" | "sizeof" | "keys" | "values" if called => self.built_in(word),
            _ => self.named(called),
        }
    }

    fn named(&mut self, called: bool) -> Read<ExprId> {
        let name = self.name()?;
        if called {
            let arguments = self.bracketed_list()?;
            self.uses(["call without argument", "call with one", "call with several"][arguments.len().min(2)]);
            return Ok(self.made_expr(Expr::Call(name, arguments)));
        }
        self.special(name, "expression");
        Ok(self.made_expr(Expr::Name(name)))
    }

    fn bracketed_list(&mut self) -> Read<Vec<ExprId>> {
        self.want("(")?;
        let mut all = Vec::new();
        while !self.sign(")") {
            all.push(self.expression()?);
            if !self.sign(",") && !self.is_sign(")") {
                return self.fail(")");
            }
        }
        Ok(all)
    }

    /// `float(a, b)`: a times ten to the power of b.
    fn scaled(&mut self) -> Read<ExprId> {
        self.uses("literal float( , )");
        self.next();
        self.want("(")?;
        let whole = self.digits()?;
        self.want(",")?;
        let text = format!("{whole}e{}", self.digits()?);
        self.want(")")?;
        let number: f64 = text.parse().map_err(|_| text)?;
        Ok(self.made_expr(Expr::Constant(Value::Float(number.to_bits()))))
    }

    fn format(&mut self) -> Read<ExprId> {
        self.next();
        self.want("(")?;
        let Token::Text(text) = self.next() else { return self.fail("a string") };
        let mut arguments = Vec::new();
        while self.sign(",") {
            arguments.push(self.expression()?);
        }
        self.uses(if arguments.is_empty() { "format of nothing" } else { "format of values" });
        self.want(")")?;
        Ok(self.made_expr(Expr::Format(text, arguments)))
    }

    fn built_in(&mut self, word: &str) -> Read<ExprId> {
        self.next();
        let arguments = self.bracketed_list()?;
        let expr = match (word, arguments.as_slice()) {
            ("choose", []) => {
                self.uses("choose()");
                return Ok(self.made_expr(Expr::Either(false)));
            }
            ("choose", [one]) => Expr::Choose(*one),
            ("sizeof", [one]) => Expr::Size(*one),
            ("keys", [one]) => Expr::Keys(*one),
            ("values", [one]) => Expr::Values(*one),
            _ => return self.fail("one argument"),
        };
        self.uses(word);
        self.program.ordered |= matches!(word, "keys" | "values");
        Ok(self.made_expr(expr))
    }
}

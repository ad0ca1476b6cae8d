//! Expressions, in the two grammars that the dialects have for them.

use super::Dialect;
use super::lexer::Token;
use super::parser::{Parsed, Parser};
use super::tree::{Expression, Operator};

/// Operators that bind equally tight, and whether they group to the right.
pub(super) struct Level(&'static [&'static str], bool);

/// The grammar of Tepui and Getafix, from loose to tight.
const FIRST: &[Level] = &[
    Level(&["=>"], true),
    Level(&["|", "||"], false),
    Level(&["^"], false),
    Level(&["&", "&&"], false),
    Level(&["=", "==", "!="], false),
];

/// The grammar of SATABS and Boppo.
const SECOND: &[Level] = &[
    Level(&["=>", "=", "==", "!="], true),
    Level(&["^"], false),
    Level(&["|", "||"], false),
    Level(&["&", "&&"], false),
];

/// The grammar of a dialect, and the other one.
fn grammars(dialect: Dialect) -> [&'static [Level]; 2] {
    match dialect {
        Dialect::Tepui | Dialect::Getafix => [FIRST, SECOND],
        Dialect::Satabs | Dialect::Boppo => [SECOND, FIRST],
    }
}

/// The operator of a sign, and the sign without synonyms.
fn operator(sign: &str) -> (Operator, &'static str) {
    match sign {
        "&" | "&&" => (Operator::And, "&"),
        "|" | "||" => (Operator::Or, "|"),
        "^" => (Operator::Xor, "^"),
        "=" | "==" => (Operator::Equal, "="),
        "!=" => (Operator::Unequal, "!="),
        _ => (Operator::Implies, "=>"),
    }
}

impl Parser {
    /// An expression as the dialect reads it. It is also read as the other grammar has it, to see whether that differs.
    pub(super) fn expression(&mut self) -> Parsed<Expression> {
        let start = self.place;
        let [own, other] = grammars(self.dialect);
        let expression = self.choice(own)?;
        let end = std::mem::replace(&mut self.place, start);
        self.quiet = true;
        let elsewhere = self.choice(other);
        self.quiet = false;
        self.ambiguous |= !self.dialect.braces() && elsewhere.as_ref() != Ok(&expression);
        self.place = end;
        Ok(expression)
    }

    /// Expressions between commas.
    pub(super) fn expressions(&mut self) -> Parsed<Vec<Expression>> {
        let mut list = vec![self.expression()?];
        while self.takes(",") {
            list.push(self.expression()?);
        }
        Ok(list)
    }

    /// A condition: an expression, of which it is counted whether it begins with a bracket.
    pub(super) fn condition(&mut self) -> Parsed<Expression> {
        let bracket = *self.token() == Token::Sign("(");
        self.count(if bracket { "condition in brackets" } else { "condition without brackets" });
        self.expression()
    }

    /// `c ? a : b`, the loosest, on its own level of brackets.
    fn choice(&mut self, levels: &'static [Level]) -> Parsed<Expression> {
        let outer = self.operator.take();
        let condition = self.level(levels, levels)?;
        let expression = if *self.token() == Token::Sign("?") {
            self.neighbour("?");
            self.place += 1;
            self.count("?:");
            let one = self.choice(levels)?;
            self.expect(":")?;
            self.operator = Some(":");
            let other = self.otherwise(levels)?;
            Expression::Choice(Box::new([condition, one, other]))
        } else {
            condition
        };
        self.operator = outer;
        Ok(expression)
    }

    /// What follows the colon, which may be another choice.
    fn otherwise(&mut self, levels: &'static [Level]) -> Parsed<Expression> {
        let condition = self.level(levels, levels)?;
        if *self.token() != Token::Sign("?") {
            return Ok(condition);
        }
        self.neighbour("?");
        self.place += 1;
        let one = self.choice(levels)?;
        self.expect(":")?;
        self.operator = Some(":");
        let other = self.otherwise(levels)?;
        Ok(Expression::Choice(Box::new([condition, one, other])))
    }

    /// Operands of the first of some levels, which are of the levels after it.
    fn level(&mut self, levels: &'static [Level], all: &'static [Level]) -> Parsed<Expression> {
        let Some((Level(signs, right), tighter)) = levels.split_first() else { return self.operand(all) };
        let mut left = self.level(tighter, all)?;
        loop {
            let sign = match self.token() {
                Token::Sign(sign) if signs.contains(sign) => *sign,
                _ => return Ok(left),
            };
            let (operator, plain) = operator(sign);
            self.count(sign);
            self.neighbour(plain);
            self.place += 1;
            let other = self.level(if *right { levels } else { tighter }, all)?;
            left = Expression::Binary(operator, Box::new(left), Box::new(other));
        }
    }

    /// Counts an operator beside the one that came before it.
    fn neighbour(&mut self, operator: &'static str) {
        if let Some(before) = self.operator.replace(operator) {
            self.count(&format!("{before} before {operator}"));
        }
    }

    fn operand(&mut self, levels: &'static [Level]) -> Parsed<Expression> {
        let token = self.token().clone();
        self.place += 1;
        match token {
            Token::Sign("!") => {
                self.count("!");
                self.operator = Some("!");
                Ok(Expression::Not(Box::new(self.operand(levels)?)))
            }
            Token::Sign("(") => {
                self.count("brackets");
                let inner = self.choice(levels)?;
                self.expect(")")?;
                Ok(inner)
            }
            Token::Sign("*") => {
                self.count("*");
                Ok(Expression::Any)
            }
            Token::Sign("'") => {
                self.count("'x");
                Ok(Expression::New(self.name()?))
            }
            Token::Number(number) if number == "0" || number == "1" => {
                self.count(&format!("constant {number}"));
                Ok(Expression::Constant(number == "1"))
            }
            Token::Word(word) => self.word_operand(&word, levels),
            _ => self.error("an expression"),
        }
    }

    fn word_operand(&mut self, word: &str, levels: &'static [Level]) -> Parsed<Expression> {
        let words = !self.dialect.braces();
        match word {
            "true" | "false" => {
                self.count(&format!("constant {word}"));
                Ok(Expression::Constant(word == "true"))
            }
            "T" | "F" if words => {
                self.count(&format!("constant {word}"));
                Ok(Expression::Constant(word == "T"))
            }
            "schoose" => {
                self.count("schoose");
                self.expect("[")?;
                let positive = self.choice(levels)?;
                self.expect(",")?;
                let negative = self.choice(levels)?;
                self.expect("]")?;
                Ok(Expression::Schoose(Box::new([positive, negative])))
            }
            _ => {
                self.place -= 1;
                self.count("variable");
                Ok(Expression::Name(self.name()?))
            }
        }
    }
}

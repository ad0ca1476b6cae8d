//! Expressions, in the two grammars that the dialects have for them.

use super::Dialect;
use super::lexer::Token;
use super::parser::{Parsed, Parser};
use super::tree::{Expression, Operator, Part, Place};

/// Operators that bind equally tight, and whether they group to the right.
pub(super) struct Level(&'static [&'static str], bool);

/// The grammar of Tepui, from loose to tight.
const OWN: &[Level] = &[
    Level(&["=>"], true),
    Level(&["|", "||"], false),
    Level(&["^"], false),
    Level(&["&", "&&"], false),
    Level(&["=", "==", "!=", "<", "<=", ">", ">="], false),
    Level(&["+", "-"], false),
    Level(&["*", "/", "%"], false),
];

/// The grammar of Getafix, which is the same without numbers.
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
        Dialect::Tepui => [OWN, SECOND],
        Dialect::Getafix => [FIRST, SECOND],
        Dialect::Satabs | Dialect::Boppo => [SECOND, FIRST],
    }
}

/// The operator of a sign, and the sign that stands for all of its level, or for its synonyms.
fn operator(sign: &str) -> (Operator, &'static str) {
    match sign {
        "<" => (Operator::Less, "<"),
        "<=" => (Operator::AtMost, "<"),
        ">" => (Operator::Greater, "<"),
        ">=" => (Operator::AtLeast, "<"),
        "+" => (Operator::Plus, "+"),
        "-" => (Operator::Minus, "+"),
        "*" => (Operator::Times, "*"),
        "/" => (Operator::Divide, "*"),
        "%" => (Operator::Modulo, "*"),
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
        if self.dialect.braces() {
            return Ok(expression);
        }
        let end = std::mem::replace(&mut self.place, start);
        self.quiet = true;
        let elsewhere = self.choice(other);
        self.quiet = false;
        self.ambiguous |= elsewhere.as_ref() != Ok(&expression);
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
            self.count(if sign == "*" { "product" } else { sign });
            self.neighbour(plain);
            self.place += 1;
            let other = self.level(if *right { levels } else { tighter }, all)?;
            left = Expression::binary(operator, left, other);
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
            Token::Sign("-") if self.dialect.braces() => {
                self.count("- before an operand");
                self.operator = Some("minus");
                Ok(Expression::Negative(Box::new(self.operand(levels)?)))
            }
            Token::Sign("'") => {
                self.count("'x");
                let place = self.counted_place(levels)?;
                if !place.parts.is_empty() {
                    self.count("'a[i]");
                }
                Ok(Expression::New(place))
            }
            Token::Number(number) => self.number_operand(&number),
            Token::Word(word) => self.word_operand(&word, levels),
            _ => self.error("an expression"),
        }
    }

    fn number_operand(&mut self, number: &str) -> Parsed<Expression> {
        let bit = number == "0" || number == "1";
        self.count(&if bit { format!("constant {number}") } else { "number".to_owned() });
        match self.dialect.braces() {
            true => match number.parse() {
                Ok(number) if number <= 1 << 31 => Ok(Expression::Number(number)),
                _ => Err(format!("{number} is too much")),
            },
            false if bit => Ok(Expression::Truth(number == "1")),
            false => self.error("an expression"),
        }
    }

    /// A place.
    pub(super) fn target(&mut self) -> Parsed<Place> {
        let [own, _] = grammars(self.dialect);
        self.place_within(own)
    }

    /// A place in an expression; what it looks like is counted.
    fn counted_place(&mut self, levels: &'static [Level]) -> Parsed<Place> {
        let place = self.place_within(levels)?;
        match place.parts[..] {
            [] => self.count("variable"),
            [Part::Element(_)] => self.count("element"),
            [Part::Field(_)] => self.count("field"),
            [Part::Element(_), Part::Element(_)] => self.count("element of an element"),
            [Part::Element(_), Part::Field(_), ..] => self.count("field of an element"),
            [Part::Field(_), Part::Element(_), ..] => self.count("element of a field"),
            [Part::Field(_), Part::Field(_), ..] => self.count("field of a field"),
            [Part::Element(_), Part::Element(_), ..] => {}
        }
        Ok(place)
    }

    fn place_within(&mut self, levels: &'static [Level]) -> Parsed<Place> {
        let mut place = Place::whole(&self.name()?);
        while self.dialect.braces() {
            if self.takes("[") {
                place.parts.push(Part::Element(self.choice(levels)?));
                self.expect("]")?;
            } else if self.takes(".") {
                place.parts.push(Part::Field(self.name()?));
            } else {
                break;
            }
        }
        Ok(place)
    }

    fn word_operand(&mut self, word: &str, levels: &'static [Level]) -> Parsed<Expression> {
        let words = !self.dialect.braces();
        match word {
            "true" | "false" => {
                self.count(&format!("constant {word}"));
                Ok(Expression::Truth(word == "true"))
            }
            "T" | "F" if words => {
                self.count(&format!("constant {word}"));
                Ok(Expression::Truth(word == "T"))
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
                Ok(Expression::Old(self.counted_place(levels)?))
            }
        }
    }
}

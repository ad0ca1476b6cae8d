//! Expressions, by the precedence of their operators.

use tepui_model::queue::Binary;

use super::*;
use crate::p::syntax::Form;

/// The operators that join two expressions, the loosest first; casts stand between sums and comparisons.
const LEVELS: &[&[(&str, Binary)]] = &[
    &[("||", Binary::Or)],
    &[("&&", Binary::And)],
    &[("==", Binary::Equal), ("!=", Binary::Unequal)],
    &[("<", Binary::Less), ("<=", Binary::AtMost), (">", Binary::Greater), (">=", Binary::AtLeast), ("in", Binary::In)],
    &[],
    &[("+", Binary::Plus), ("-", Binary::Minus)],
    &[("*", Binary::Times), ("/", Binary::Divide), ("%", Binary::Modulo)],
];

/// The level of casts.
const CASTS: usize = 4;

impl Parser<'_, '_> {
    pub(super) fn expression(&mut self) -> Fallible<Expression> {
        self.nested(|parser| parser.level(0))
    }

    fn level(&mut self, level: usize) -> Fallible<Expression> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.level(level + 1)?;
        // A long chain is deep as a tree.
        let mut chain = 0;
        loop {
            chain += 1;
            if chain > DEEPEST {
                return Err(self.now().place.error(format!("more than {DEEPEST} operators in a row"), "too many"));
            }
            let token = self.now();
            if level == CASTS && (token.is("as") || token.is("to")) {
                self.next();
                let kind = self.type_()?;
                let (place, inner) = (left.place.to(kind.place), Box::new(left));
                let form = if token.text == "as" { Form::Cast(inner, kind) } else { Form::Convert(inner, kind) };
                left = Expression { place, form };
                continue;
            }
            let Some((_, operator)) = operators.iter().find(|(text, _)| *text == token.text) else { return Ok(left) };
            self.next();
            let right = self.level(level + 1)?;
            let place = left.place.to(right.place);
            left = Expression { place, form: Form::Binary(*operator, Box::new(left), Box::new(right)) };
        }
    }

    fn unary(&mut self) -> Fallible<Expression> {
        let token = self.now();
        let negates = match token.kind {
            Kind::Not => Form::Not,
            Kind::Minus => Form::Minus,
            _ => return self.postfix(),
        };
        self.next();
        let inner = self.nested(Self::unary)?;
        Ok(Expression { place: token.place.to(inner.place), form: negates(Box::new(inner)) })
    }

    /// A primary with fields and indices.
    fn postfix(&mut self) -> Fallible<Expression> {
        let mut left = self.primary()?;
        let mut chain = 0;
        loop {
            chain += 1;
            if chain > DEEPEST {
                return Err(self.now().place.error(format!("more than {DEEPEST} fields and indices"), "too many"));
            }
            let place = left.place;
            let form = match self.now().kind {
                Kind::Dot if self.peek().kind == Kind::Number => {
                    self.next();
                    let item = self.integer("the number of an item")?;
                    Form::Item(Box::new(left), item as usize)
                }
                Kind::Dot => {
                    self.next();
                    Form::Field(Box::new(left), self.name("a field")?)
                }
                Kind::OpenBracket => {
                    self.next();
                    let index = self.expression()?;
                    self.expect(Kind::CloseBracket, "`]`")?;
                    Form::Index(Box::new(left), Box::new(index))
                }
                _ => return Ok(left),
            };
            left = Expression { place: place.to(self.before().place), form };
        }
    }

    fn primary(&mut self) -> Fallible<Expression> {
        let token = self.now();
        let form = match token.kind {
            Kind::Number | Kind::Dot => self.number()?,
            Kind::Text => Form::Text(unquoted(self.next().text)),
            Kind::Dollar => self.either(false),
            Kind::Dollars => self.either(true),
            Kind::Open => return self.parentheses(),
            Kind::Word => self.worded()?,
            _ => return Err(self.unexpected("an expression")),
        };
        Ok(Expression { place: token.place.to(self.before().place), form })
    }

    fn either(&mut self, fair: bool) -> Form {
        self.next();
        Form::Either { fair }
    }

    /// An integer, or a float: `1.5` or `.5`.
    fn number(&mut self) -> Fallible<Form> {
        let whole = match self.now().kind {
            Kind::Dot => 0,
            _ => self.integer("a number")?,
        };
        if self.now().kind != Kind::Dot || self.peek().kind != Kind::Number {
            return match self.before().kind {
                Kind::Number => Ok(Form::Int(whole)),
                _ => Err(self.unexpected("an expression")),
            };
        }
        self.next();
        let digits = self.next().text;
        Ok(Form::Float(format!("{whole}.{digits}").parse().unwrap_or(0.0)))
    }

    /// What begins with a word.
    fn worded(&mut self) -> Fallible<Form> {
        let token = self.now();
        let form = match token.text {
            "true" => Form::Bool(true),
            "false" => Form::Bool(false),
            "null" => Form::Null,
            "this" => Form::This,
            "halt" => Form::Name("halt".to_owned()),
            "keys" => return self.applied(Form::Keys),
            "values" => return self.applied(Form::Values),
            "sizeof" => return self.applied(Form::Size),
            "default" => {
                self.next();
                self.expect(Kind::Open, "`(` and a type")?;
                let kind = self.type_()?;
                self.expect(Kind::Close, "`)`")?;
                return Ok(Form::Default(kind));
            }
            "float" => return self.fraction(),
            "format" => return self.format(),
            "new" => {
                self.next();
                let machine = self.name("a machine")?;
                return Ok(Form::New(machine, self.arguments()?));
            }
            "choose" if self.peek().kind == Kind::Open => return self.choice(),
            _ => {
                let name = self.name("an expression")?;
                return match self.now().kind {
                    Kind::Open => Ok(Form::Call(name, self.arguments()?)),
                    _ => Ok(Form::Name(name.text)),
                };
            }
        };
        self.next();
        Ok(form)
    }

    fn applied(&mut self, form: fn(Box<Expression>) -> Form) -> Fallible<Form> {
        self.next();
        self.expect(Kind::Open, "`(`")?;
        let inner = self.expression()?;
        self.expect(Kind::Close, "`)`")?;
        Ok(form(Box::new(inner)))
    }

    /// `float(1, 3)` is 1000: a number, and a power of ten.
    fn fraction(&mut self) -> Fallible<Form> {
        self.next();
        self.expect(Kind::Open, "`(` and two numbers")?;
        let base = self.integer("a number")?;
        self.expect(Kind::Comma, "`,` and an exponent")?;
        let exponent = self.integer("an exponent")?;
        self.expect(Kind::Close, "`)`")?;
        Ok(Form::Float(format!("{base}e{exponent}").parse().unwrap_or(0.0)))
    }

    fn format(&mut self) -> Fallible<Form> {
        let token = self.next();
        self.particular(false, "`format`", token.place);
        self.expect(Kind::Open, "`(` and a text")?;
        let text = self.expect(Kind::Text, "a text")?;
        let name = Name { text: unquoted(text.text), place: text.place };
        let mut values = Vec::new();
        if self.take(Kind::Comma) {
            values = self.expressions_before(Kind::Close)?;
        }
        self.expect(Kind::Close, "`,` or `)`")?;
        Ok(Form::Format(name, values))
    }

    fn choice(&mut self) -> Fallible<Form> {
        let token = self.next();
        self.particular(false, "`choose`", token.place);
        self.expect(Kind::Open, "`(`")?;
        let among = if self.now().kind == Kind::Close { None } else { Some(Box::new(self.expression()?)) };
        self.expect(Kind::Close, "`)`")?;
        Ok(Form::Choose(among))
    }

    /// `(a, b)`.
    pub(super) fn arguments(&mut self) -> Fallible<Vec<Expression>> {
        self.expect(Kind::Open, "`(` and the arguments")?;
        let arguments = self.expressions_before(Kind::Close)?;
        self.expect(Kind::Close, "`,` or `)`")?;
        Ok(arguments)
    }

    /// Expressions up to a mark, which stays; there may be none, and a comma may come last.
    pub(super) fn expressions_before(&mut self, end: Kind) -> Fallible<Vec<Expression>> {
        let mut expressions = Vec::new();
        while self.now().kind != end {
            expressions.push(self.expression()?);
            if !self.take(Kind::Comma) {
                break;
            }
        }
        Ok(expressions)
    }

    /// An expression in parentheses, a tuple, or one with names.
    fn parentheses(&mut self) -> Fallible<Expression> {
        let first = self.next().place;
        let form = if self.now().kind == Kind::Word && self.peek().kind == Kind::Becomes {
            let mut fields = Vec::new();
            while self.now().kind != Kind::Close {
                let name = self.name("the name of a field")?;
                self.expect(Kind::Becomes, "`=` and its value")?;
                fields.push((name, self.expression()?));
                if !self.take(Kind::Comma) {
                    break;
                }
            }
            Form::Record(fields)
        } else {
            let inner = self.expression()?;
            if self.now().kind != Kind::Comma {
                self.expect(Kind::Close, "`)`")?;
                return Ok(Expression { place: first.to(self.before().place), ..inner });
            }
            self.next();
            let mut values = vec![inner];
            values.extend(self.expressions_before(Kind::Close)?);
            Form::Tuple(values)
        };
        self.expect(Kind::Close, "`,` or `)`")?;
        Ok(Expression { place: first.to(self.before().place), form })
    }
}

/// A text without its quotes and with what its escapes mean.
fn unquoted(text: &str) -> String {
    let mut plain = String::new();
    let inner = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        plain.push(match character {
            '\\' => match characters.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some(other) => other,
                None => break,
            },
            other => other,
        });
    }
    plain
}

//! The grammar of expressions.

use tepui_model::program::Operator;

use super::Dialect;
use super::parse::{DEEPEST, Fallible, Parser, is_keyword};
use super::syntax::{Expression, Operation};
use super::token::Kind;
use crate::diagnostic::Diagnostic;

/// How many operators a statement may have: what follows walks along them.
const MOST_OPERATORS: usize = 4_000;

/// Which operators bind tighter. Tools for programs with `begin` and `end` disagree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Grammar {
    /// That of Tepui and of Getafix.
    EqualityTightest,
    /// That of SATABS and Boppo.
    EqualityLoosest,
}

/// Operators that bind equally tight, and whether they group to the right.
type Level = (&'static [(Kind, Operator)], bool);

impl Grammar {
    /// How expressions of a dialect may be read: in both ways, if the dialect has `begin` and `end` and was not chosen.
    pub(super) fn of(dialect: Dialect, chosen: bool) -> &'static [Self] {
        match dialect {
            Dialect::Tepui | Dialect::Getafix => &[Self::EqualityTightest],
            Dialect::Satabs | Dialect::Boppo if chosen => &[Self::EqualityLoosest],
            Dialect::Satabs | Dialect::Boppo => &[Self::EqualityLoosest, Self::EqualityTightest],
        }
    }

    /// Loosest first; above all stands `? :`, below all `!`.
    fn levels(self) -> &'static [Level] {
        match self {
            Self::EqualityTightest => &[
                (&[(Kind::Implies, Operator::Implies)], true),
                (&[(Kind::Or, Operator::Or)], false),
                (&[(Kind::Xor, Operator::Xor)], false),
                (&[(Kind::And, Operator::And)], false),
                (
                    &[
                        (Kind::Equal, Operator::Equal),
                        (Kind::Unequal, Operator::Unequal),
                        (Kind::Less, Operator::Less),
                        (Kind::AtMost, Operator::AtMost),
                        (Kind::Greater, Operator::Greater),
                        (Kind::AtLeast, Operator::AtLeast),
                    ],
                    false,
                ),
                (&[(Kind::Plus, Operator::Add), (Kind::Minus, Operator::Subtract)], false),
                (
                    &[
                        (Kind::Star, Operator::Multiply),
                        (Kind::Slash, Operator::Divide),
                        (Kind::Percent, Operator::Modulo),
                    ],
                    false,
                ),
            ],
            Self::EqualityLoosest => &[
                (
                    &[
                        (Kind::Implies, Operator::Implies),
                        (Kind::Equal, Operator::Equal),
                        (Kind::Unequal, Operator::Unequal),
                    ],
                    true,
                ),
                (&[(Kind::Xor, Operator::Xor)], false),
                (&[(Kind::Or, Operator::Or)], false),
                (&[(Kind::And, Operator::And)], false),
            ],
        }
    }
}

impl Parser<'_, '_> {
    /// An expression. Where it may be read in two ways, they must mean the same.
    pub(super) fn expression(&mut self) -> Fallible<Expression> {
        let &[grammar, ref others @ ..] = self.grammars else { return self.nested() };
        if self.grammar.is_some() {
            return self.nested();
        }
        let (start, operators) = (self.at, self.operators);
        let found = self.read_as(grammar)?;
        for &other in others {
            (self.at, self.operators) = (start, operators);
            let second = self.read_as(other)?;
            if !means_the_same(&found, &second) {
                return Err(ambiguous(&found, &second));
            }
        }
        Ok(found)
    }

    fn read_as(&mut self, grammar: Grammar) -> Fallible<Expression> {
        self.grammar = Some(grammar);
        let found = self.nested();
        self.grammar = None;
        found
    }

    /// An expression inside another one, or the whole of it.
    fn nested(&mut self) -> Fallible<Expression> {
        self.depth += 1;
        let found = if self.depth > DEEPEST { Err(self.too_deep()) } else { self.choice() };
        self.depth -= 1;
        found
    }

    /// A number that does not compare anything: a bound of a range.
    pub(super) fn arithmetic(&mut self) -> Fallible<Expression> {
        let levels = Grammar::EqualityTightest.levels();
        self.depth += 1;
        let found = if self.depth > DEEPEST { Err(self.too_deep()) } else { self.binary(&levels[levels.len() - 2..]) };
        self.depth -= 1;
        found
    }

    fn choice(&mut self) -> Fallible<Expression> {
        let levels = self.grammar.unwrap_or(Grammar::EqualityTightest).levels();
        let condition = self.binary(levels)?;
        if !self.take(Kind::Question) {
            return Ok(condition);
        }
        let then = self.expression()?;
        self.expect(Kind::Colon, "`:` and the other value")?;
        let otherwise = self.expression()?;
        let span = condition.span.start..otherwise.span.end;
        Ok(Expression { span, operation: Operation::Choice(condition.into(), then.into(), otherwise.into()) })
    }

    /// Operands of the tighter levels, joined by operators of the first one.
    fn binary(&mut self, levels: &[Level]) -> Fallible<Expression> {
        let [(operators, to_the_right), tighter @ ..] = levels else { return self.unary() };
        let mut operands = vec![self.binary(tighter)?];
        let mut joints = Vec::new();
        while let Some(&(_, operator)) = operators.iter().find(|(kind, _)| *kind == self.now().kind) {
            let token = self.next();
            self.operators += 1;
            if self.operators > MOST_OPERATORS {
                let message = format!("more than {MOST_OPERATORS} operators in one statement");
                return Err(Diagnostic::error(0, token.span(), message, "too many"));
            }
            if !self.dialect.has_braces() && !is_logical(operator) {
                return Err(numbers_elsewhere(token.span()));
            }
            joints.push(operator);
            operands.push(self.binary(tighter)?);
        }
        if joints.iter().filter(|&&joint| is_order(joint)).count() > 1 {
            let span = operands[0].span.start..self.tokens[self.at - 1].span().end;
            let error = Diagnostic::error(0, span, "comparisons cannot be chained", "two comparisons");
            return Err(error.hint("write `a < b & b < c`"));
        }
        let join = |operator: Operator, left: Expression, right: Expression| {
            let span = left.span.start..right.span.end;
            Expression { span, operation: Operation::Binary(operator, left.into(), right.into()) }
        };
        let (mut operands, mut joints) = (operands.into_iter(), joints.into_iter());
        let found = match to_the_right {
            true => {
                let last = operands.next_back();
                let pairs = operands.rev().zip(joints.rev());
                last.map(|last| pairs.fold(last, |right, (left, operator)| join(operator, left, right)))
            }
            false => {
                let first = operands.next();
                let pairs = joints.by_ref().zip(operands);
                first.map(|first| pairs.fold(first, |left, (operator, right)| join(operator, left, right)))
            }
        };
        found.ok_or_else(|| self.unexpected("a value"))
    }

    pub(super) fn unary(&mut self) -> Fallible<Expression> {
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
            (Kind::Minus, _) if self.dialect.has_braces() => {
                self.next();
                self.depth += 1;
                let operand = if self.depth > DEEPEST { Err(self.too_deep()) } else { self.unary() };
                self.depth -= 1;
                let operand = operand?;
                Ok(Expression { span: token.start..operand.span.end, operation: Operation::Negate(operand.into()) })
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
            // The grammar of Getafix has both.
            (Kind::Question, _) if !self.dialect.has_braces() => {
                self.next();
                simple(Operation::Any)
            }
            (Kind::Word, "true" | "false") => {
                self.next();
                simple(Operation::Truth(token.text == "true"))
            }
            (Kind::Number, _) if self.dialect.has_braces() => {
                self.next();
                let number = token.text.parse().ok().filter(|&number| number <= 1_i64 << 31);
                let message = "numbers go up to 2147483648";
                number.map_or_else(
                    || Err(Diagnostic::error(0, token.span(), message, "too large")),
                    |number| simple(Operation::Number(number)),
                )
            }
            (Kind::Number, "0" | "1") => {
                self.next();
                simple(Operation::Truth(token.text == "1"))
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
                if self.now().kind == Kind::Comma {
                    return Err(self.unsupported(token, "`schoose` with three values"));
                }
                let end = self.expect(Kind::CloseBracket, "`]`")?.span().end;
                let operation = Operation::Choose(positive.into(), negative.into());
                Ok(Expression { span: token.start..end, operation })
            }
            (Kind::Prime, _) => {
                self.next();
                let path = self.path("a variable")?;
                Ok(Expression { span: token.start..path.span.end, operation: Operation::New(path) })
            }
            (Kind::Word, _) if self.tokens[self.at + 1].kind == Kind::Open && !is_keyword(token.text, self.dialect) => {
                Err(Diagnostic::error(0, token.span(), "a call inside an expression", "called here")
                    .hint("calls are statements of their own: `x := f(y);`"))
            }
            (Kind::Word, _) => {
                let path = self.path("a value")?;
                Ok(Expression { span: path.span.clone(), operation: Operation::Place(path) })
            }
            _ => Err(self.unexpected("a value")),
        }
    }
}

/// How an operator is written.
pub(super) fn sign(operator: Operator) -> &'static str {
    match operator {
        Operator::And => "&",
        Operator::Or => "|",
        Operator::Xor => "^",
        Operator::Implies => "=>",
        Operator::Equal => "=",
        Operator::Unequal => "!=",
        Operator::Less => "<",
        Operator::AtMost => "<=",
        Operator::Greater => ">",
        Operator::AtLeast => ">=",
        Operator::Add => "+",
        Operator::Subtract => "-",
        Operator::Multiply => "*",
        Operator::Divide => "/",
        Operator::Modulo => "%",
    }
}

/// Whether an operator puts numbers in an order.
pub(super) fn is_order(operator: Operator) -> bool {
    matches!(operator, Operator::Less | Operator::AtMost | Operator::Greater | Operator::AtLeast)
}

/// Whether an operator is one of Booleans, or one of all values.
fn is_logical(operator: Operator) -> bool {
    use Operator::{And, Equal, Implies, Or, Unequal, Xor};
    matches!(operator, And | Or | Xor | Implies | Equal | Unequal)
}

/// The error about numbers in a dialect that has none.
fn numbers_elsewhere(span: std::ops::Range<usize>) -> Diagnostic {
    let error = Diagnostic::error(0, span, "there are no numbers in this dialect", "numbers would be needed");
    error.hint("Tepui's own dialect, with braces, has numbers and arrays")
}

/// How many values are tried at once to find out whether two expressions mean the same.
const MOST_LEAVES: usize = 12;

/// Whether two readings of one text have the same value, whatever the values of what they are made of. Both have the same
/// leaves in the same order, and each is evaluated once.
fn means_the_same(one: &Expression, other: &Expression) -> bool {
    let parts = match (&one.operation, &other.operation) {
        (Operation::Not(one), Operation::Not(other)) => means_the_same(one, other),
        (Operation::Binary(operator, left, right), Operation::Binary(same, first, second)) if operator == same => {
            means_the_same(left, first) && means_the_same(right, second)
        }
        (Operation::Choose(left, right), Operation::Choose(first, second)) => {
            means_the_same(left, first) && means_the_same(right, second)
        }
        (Operation::Choice(one, then, otherwise), Operation::Choice(other, first, second)) => {
            means_the_same(one, other) && means_the_same(then, first) && means_the_same(otherwise, second)
        }
        _ => one.span == other.span && is_leaf(one) && is_leaf(other),
    };
    let leaves = count_leaves(one);
    parts
        || (leaves <= MOST_LEAVES
            && leaves == count_leaves(other)
            && (0..1_u32 << leaves).all(|values| {
                let bits = || (0..leaves).map(move |leaf| values >> leaf & 1 == 1);
                evaluate(one, &mut bits()) == evaluate(other, &mut bits())
            }))
}

fn is_leaf(expression: &Expression) -> bool {
    !matches!(
        expression.operation,
        Operation::Not(_) | Operation::Binary(..) | Operation::Choice(..) | Operation::Choose(..)
    )
}

fn count_leaves(expression: &Expression) -> usize {
    match &expression.operation {
        Operation::Not(operand) => count_leaves(operand),
        Operation::Binary(_, left, right) => count_leaves(left) + count_leaves(right),
        // The value of `schoose` is one more unknown.
        Operation::Choose(left, right) => count_leaves(left) + count_leaves(right) + 1,
        Operation::Choice(condition, then, otherwise) => {
            count_leaves(condition) + count_leaves(then) + count_leaves(otherwise)
        }
        Operation::Negate(operand) => count_leaves(operand),
        Operation::Truth(_) | Operation::Number(_) | Operation::Any | Operation::Place(_) | Operation::New(_) => 1,
    }
}

/// The value of an expression whose leaves have values, from left to right.
fn evaluate(expression: &Expression, leaves: &mut impl Iterator<Item = bool>) -> bool {
    match &expression.operation {
        Operation::Not(operand) => !evaluate(operand, leaves),
        Operation::Binary(operator, left, right) => {
            let (left, right) = (evaluate(left, leaves), evaluate(right, leaves));
            match operator {
                Operator::And => left & right,
                Operator::Or => left | right,
                Operator::Implies => !left | right,
                Operator::Xor | Operator::Unequal => left != right,
                // Numbers are read in one way only.
                _ => left == right,
            }
        }
        Operation::Choose(positive, negative) => {
            let (positive, negative) = (evaluate(positive, leaves), evaluate(negative, leaves));
            let any = leaves.next().unwrap_or_default();
            positive | (!negative & any)
        }
        Operation::Choice(condition, then, otherwise) => {
            let (condition, then) = (evaluate(condition, leaves), evaluate(then, leaves));
            let otherwise = evaluate(otherwise, leaves);
            if condition { then } else { otherwise }
        }
        Operation::Negate(operand) => evaluate(operand, leaves),
        Operation::Truth(_) | Operation::Number(_) | Operation::Any | Operation::Place(_) | Operation::New(_) => {
            leaves.next().unwrap_or_default()
        }
    }
}

/// The error about an expression that SATABS and Boppo read in one way and Getafix in another.
fn ambiguous(one: &Expression, other: &Expression) -> Diagnostic {
    let message = "without brackets this means different things to different tools";
    let shown = |expression: &Expression| {
        let text = bracketed(expression, true);
        if text.chars().count() > 60 { text.chars().take(60).chain(['…']).collect() } else { text }
    };
    let label = format!("`{}` to SATABS and Boppo, `{}` to Getafix", shown(one), shown(other));
    Diagnostic::error(0, one.span.clone(), message, label)
        .hint("write brackets, or say which is meant: `--dialect boppo` or `--dialect getafix`")
}

/// An expression with all its brackets.
fn bracketed(expression: &Expression, outermost: bool) -> String {
    let inner = |expression: &Expression| bracketed(expression, false);
    let text = match &expression.operation {
        Operation::Truth(value) => return u32::from(*value).to_string(),
        Operation::Any => return "*".to_owned(),
        Operation::Number(number) => return number.to_string(),
        Operation::Place(path) => return path.name.text.clone(),
        Operation::New(path) => return format!("'{}", path.name.text),
        Operation::Negate(operand) => return format!("-{}", inner(operand)),
        Operation::Not(operand) => return format!("!{}", inner(operand)),
        Operation::Choose(positive, negative) => {
            return format!("schoose[{}, {}]", bracketed(positive, true), bracketed(negative, true));
        }
        Operation::Binary(operator, left, right) => {
            let mark = sign(*operator);
            format!("{} {mark} {}", inner(left), inner(right))
        }
        Operation::Choice(condition, then, otherwise) => {
            format!("{} ? {} : {}", inner(condition), inner(then), inner(otherwise))
        }
    };
    if outermost { text } else { format!("({text})") }
}

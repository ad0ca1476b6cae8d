//! Expressions: names become variables or constants, and kinds have to fit.
//!
//! Each expression is found together with its *interval*, from the lowest to the highest number that it may be. What may
//! leave 64 bits is refused here, so nothing overflows later.

use super::places::read;
use super::syntax::Path;
use super::*;

/// What an expression is: ranges are all of one sort.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Sort {
    Bool,
    Enumeration(usize),
    Number,
    Record(usize),
    Array(Dimension, Box<Self>),
}

impl Sort {
    /// The sort of something.
    pub(super) fn of(shape: &Shape) -> Self {
        match shape {
            Shape::Scalar(Kind::Bool) => Self::Bool,
            Shape::Scalar(Kind::Enumeration(number)) => Self::Enumeration(*number),
            Shape::Scalar(Kind::Range(..)) => Self::Number,
            Shape::Record(number) => Self::Record(*number),
            Shape::Array(dimension, element) => Self::Array(*dimension, Box::new(Self::of(element))),
        }
    }

    fn is_whole(&self) -> bool {
        matches!(self, Self::Record(_) | Self::Array(..))
    }
}

/// From the lowest to the highest number.
type Interval = (i64, i64);

/// The largest number that may be computed.
const LARGEST: i64 = 1 << 62;

impl Resolver<'_, '_> {
    pub(super) fn boolean(&mut self, expression: &syntax::Expression, scope: &Scope) -> Option<Expression> {
        self.scalar(expression, &Sort::Bool, None, scope).map(|(expression, _)| expression)
    }

    /// A value that is stored in something: one expression for each part.
    pub(super) fn value(
        &mut self,
        expression: &syntax::Expression,
        shape: &Shape,
        scope: &Scope,
    ) -> Option<Vec<Expression>> {
        let Shape::Scalar(kind) = shape else { return self.whole(expression, shape, scope) };
        let (found, interval) = self.scalar(expression, &Sort::of(shape), Some(*kind), scope)?;
        self.require_possible(&expression.span, interval, *kind)?;
        Some(vec![found])
    }

    /// A value that is always out of range is a mistake.
    pub(super) fn require_possible(&mut self, span: &Range<usize>, (low, high): Interval, kind: Kind) -> Option<()> {
        let (lowest, highest) = self.program.range(kind);
        if high < lowest || low > highest {
            self.error(span, "this value is always out of range", format!("{lowest} to {highest}"));
            return None;
        }
        Some(())
    }

    /// A whole array or record: one expression for each part.
    fn whole(&mut self, expression: &syntax::Expression, shape: &Shape, scope: &Scope) -> Option<Vec<Expression>> {
        match &expression.operation {
            Operation::Any => {
                let kinds = places::parts(&self.program, shape);
                Some(kinds.into_iter().map(|(_, kind)| Expression::Any(kind)).collect())
            }
            Operation::Place(path) => self.whole_place(path, shape, false, scope),
            Operation::New(path) => {
                self.require_constraint(&expression.span, scope)?;
                self.whole_place(path, shape, true, scope)
            }
            Operation::Choice(condition, then, otherwise) => {
                self.forbid_any(condition);
                let condition = self.boolean(condition, scope);
                let then = self.whole(then, shape, scope);
                let otherwise = self.whole(otherwise, shape, scope);
                let condition = condition?;
                let choice = |(then, otherwise): (Expression, Expression)| {
                    Expression::Choice(Box::new(condition.clone()), Box::new(then), Box::new(otherwise))
                };
                Some(then?.into_iter().zip(otherwise?).map(choice).collect())
            }
            _ => {
                self.mismatch(&expression.span, &Sort::of(shape), "a single value", None);
                None
            }
        }
    }

    fn whole_place(&mut self, path: &Path, shape: &Shape, new: bool, scope: &Scope) -> Option<Vec<Expression>> {
        let placed = self.placed(path, scope)?;
        let (found, wanted) = (Sort::of(&placed.shape), Sort::of(shape));
        if found != wanted {
            let found = self.sort_name(&found);
            self.mismatch(&path.span, &wanted, &found, None);
            return None;
        }
        path.steps.iter().for_each(|step| {
            if let syntax::Access::Index(index) = step {
                self.forbid_any(index);
            }
        });
        Some(placed.parts(&self.program).into_iter().map(|(place, _)| read(place, new)).collect())
    }

    /// What is used twice must have one value.
    pub(super) fn forbid_any(&mut self, expression: &syntax::Expression) {
        if mentions_any(expression) {
            let message = "`*` in a value that is used twice";
            self.sink.push(
                Diagnostic::error(0, expression.span.clone(), message, "it would be chosen anew each time")
                    .hint("store it in a variable first"),
            );
        }
    }

    fn require_constraint(&mut self, span: &Range<usize>, scope: &Scope) -> Option<()> {
        if !scope.constraint {
            self.error(span, "new values are known in a constraint only", "outside of `constrain`");
            return None;
        }
        Some(())
    }

    /// A single value of a sort. Where any number will do, it is one of `any`.
    pub(super) fn scalar(
        &mut self,
        expression: &syntax::Expression,
        wanted: &Sort,
        any: Option<Kind>,
        scope: &Scope,
    ) -> Option<(Expression, Interval)> {
        let span = &expression.span;
        let (found, sort, interval) = match &expression.operation {
            Operation::Truth(value) => truth(*value),
            Operation::Number(number @ (0 | 1)) if *wanted != Sort::Number => truth(*number == 1),
            Operation::Number(number) => (Expression::Number(*number), Sort::Number, (*number, *number)),
            Operation::Any => self.any(span, wanted, any)?,
            Operation::Place(path) => self.named(path, wanted, scope)?,
            Operation::New(path) => {
                self.require_constraint(span, scope)?;
                let (place, kind) = self.scalar_place(path, scope)?;
                (read(place, true), Sort::of(&Shape::Scalar(kind)), self.program.range(kind))
            }
            Operation::Not(operand) => (Expression::Not(Box::new(self.boolean(operand, scope)?)), Sort::Bool, (0, 1)),
            Operation::Negate(operand) => {
                let (operand, (low, high)) = self.scalar(operand, &Sort::Number, None, scope)?;
                let found = match operand {
                    Expression::Number(number) => Expression::Number(-number),
                    operand => Expression::Negate(Box::new(operand)),
                };
                (found, Sort::Number, (high.saturating_neg(), low.saturating_neg()))
            }
            Operation::Binary(operator, left, right) => self.binary(*operator, left, right, span, scope)?,
            Operation::Choice(condition, then, otherwise) => {
                let sort = if wanted.is_whole() { Sort::Bool } else { wanted.clone() };
                let condition = self.boolean(condition, scope);
                let then = self.scalar(then, &sort, any, scope);
                let otherwise = self.scalar(otherwise, &sort, any, scope);
                let (condition, (then, one), (otherwise, other)) = (condition?, then?, otherwise?);
                let interval = (one.0.min(other.0), one.1.max(other.1));
                (Expression::Choice(Box::new(condition), Box::new(then), Box::new(otherwise)), sort, interval)
            }
            Operation::Choose(positive, negative) => {
                let (positive, negative) = (self.boolean(positive, scope), self.boolean(negative, scope));
                (Expression::Choose(Box::new(positive?), Box::new(negative?)), Sort::Bool, (0, 1))
            }
        };
        if sort != *wanted {
            let text = self.sort_name(&sort);
            self.mismatch(span, wanted, &text, hint(wanted, &sort));
            return None;
        }
        if interval.0 < -LARGEST || interval.1 > LARGEST {
            self.error(span, "this may be beyond 2^62", "too large to be computed");
            return None;
        }
        Some((found, interval))
    }

    fn any(&mut self, span: &Range<usize>, wanted: &Sort, any: Option<Kind>) -> Option<(Expression, Sort, Interval)> {
        let kind = match wanted {
            Sort::Enumeration(number) => Kind::Enumeration(*number),
            Sort::Number => {
                let Some(kind) = any.filter(|&kind| self.program.values(kind) <= 1 << 16) else {
                    let hint = "store it in a variable first: `x := *;`".to_owned();
                    self.error_with_hint(span, "nobody knows of what range this is", "any number", Some(hint));
                    return None;
                };
                kind
            }
            _ => Kind::Bool,
        };
        let sort = if wanted.is_whole() { Sort::Bool } else { wanted.clone() };
        Some((Expression::Any(kind), sort, self.program.range(kind)))
    }

    /// A place, a constant, or a value of an enumeration.
    fn named(&mut self, path: &Path, wanted: &Sort, scope: &Scope) -> Option<(Expression, Sort, Interval)> {
        let name = &path.name.text;
        if self.find(name, scope).is_some() || !path.steps.is_empty() {
            let placed = self.placed(path, scope)?;
            let sort = Sort::of(&placed.shape);
            if sort.is_whole() {
                let text = self.sort_name(&sort);
                self.mismatch(&path.span, wanted, &text, None);
                return None;
            }
            let (place, kind) = placed.parts(&self.program).pop()?;
            return Some((read(place, false), sort, self.program.range(kind)));
        }
        if let Some(&number) = self.constants.get(name) {
            return Some((Expression::Number(number), Sort::Number, (number, number)));
        }
        let values = (0..).zip(&self.program.enumerations).filter_map(|(number, enumeration)| {
            let value = enumeration.values.iter().position(|value| value == name)?;
            Some((number, value as u32))
        });
        let values: Vec<_> = values.collect();
        let fits = |(number, _): &&(usize, u32)| Sort::Enumeration(*number) == *wanted;
        if let Some(&(number, value)) = values.iter().find(fits).or(values.first()) {
            let found = Expression::Value(value, Kind::Enumeration(number));
            return Some((found, Sort::Enumeration(number), (i64::from(value), i64::from(value))));
        }
        self.placed(path, scope).map(|_| truth(false)) // It is not there, and that is said.
    }

    fn binary(
        &mut self,
        operator: Operator,
        left: &syntax::Expression,
        right: &syntax::Expression,
        span: &Range<usize>,
        scope: &Scope,
    ) -> Option<(Expression, Sort, Interval)> {
        use Operator::{Add, And, AtLeast, AtMost, Divide, Equal, Greater, Implies, Less, Modulo, Multiply, Or};
        use Operator::{Subtract, Unequal, Xor};
        match operator {
            And | Or | Xor | Implies => {
                let (left, right) = (self.boolean(left, scope), self.boolean(right, scope));
                Some((Expression::Binary(operator, Box::new(left?), Box::new(right?)), Sort::Bool, (0, 1)))
            }
            Equal | Unequal => self.equality(operator == Equal, left, right, scope),
            Less | AtMost | Greater | AtLeast => {
                let left = self.scalar(left, &Sort::Number, None, scope);
                let right = self.scalar(right, &Sort::Number, None, scope);
                Some((compared(operator, left?.0, right?.0), Sort::Bool, (0, 1)))
            }
            Add | Subtract | Multiply | Divide | Modulo => {
                let written = right;
                let left = self.scalar(left, &Sort::Number, None, scope);
                let right = self.scalar(right, &Sort::Number, None, scope);
                let ((left, _), (right, _)) = (left?, right?);
                let divides = matches!(operator, Divide | Modulo);
                if divides && !matches!(right, Expression::Number(1..)) {
                    self.error(&written.span, "the divisor must be a constant above 0", "this is not");
                    return None;
                }
                Some(self.computed(operator, left, right, span, scope))
            }
        }
    }

    /// What arithmetic makes of two numbers.
    fn computed(
        &mut self,
        operator: Operator,
        left: Expression,
        right: Expression,
        span: &Range<usize>,
        scope: &Scope,
    ) -> (Expression, Sort, Interval) {
        let constant = matches!((&left, &right), (Expression::Number(_), Expression::Number(_)));
        let found = Expression::Binary(operator, Box::new(left), Box::new(right));
        let interval = self.program.interval(scope.procedure, &found);
        if interval.0 < -LARGEST || interval.1 > LARGEST {
            self.error(span, "this may be beyond 2^62", "too large to be computed");
            return (Expression::Number(0), Sort::Number, (0, 0));
        }
        let found = if constant { Expression::Number(interval.0) } else { found };
        (found, Sort::Number, interval)
    }

    fn equality(
        &mut self,
        equal: bool,
        left: &syntax::Expression,
        right: &syntax::Expression,
        scope: &Scope,
    ) -> Option<(Expression, Sort, Interval)> {
        let sort = self.sort_of(left, scope).or_else(|| self.sort_of(right, scope)).unwrap_or(Sort::Bool);
        let operator = if equal { Operator::Equal } else { Operator::Unequal };
        if !sort.is_whole() {
            let (of_left, of_right) = (self.kind_of_place(left, scope), self.kind_of_place(right, scope));
            let left = self.scalar(left, &sort, of_right, scope);
            let right = self.scalar(right, &sort, of_left, scope);
            return Some((compared(operator, left?.0, right?.0), Sort::Bool, (0, 1)));
        }
        let shape = [left, right].into_iter().find_map(|side| self.shape_of_place(side, scope));
        let shape = shape.unwrap_or(Shape::Scalar(Kind::Bool));
        let (left, right) = (self.whole(left, &shape, scope), self.whole(right, &shape, scope));
        let pairs = left?.into_iter().zip(right?);
        let same = |(one, other)| Expression::Binary(Operator::Equal, Box::new(one), Box::new(other));
        let both = |one, other| Expression::Binary(Operator::And, Box::new(one), Box::new(other));
        let all = pairs.map(same).reduce(both)?;
        Some((if equal { all } else { Expression::Not(Box::new(all)) }, Sort::Bool, (0, 1)))
    }

    /// The kind of a place that is one value, if the expression is one; says nothing.
    fn kind_of_place(&self, expression: &syntax::Expression, scope: &Scope) -> Option<Kind> {
        match self.shape_of_place(expression, scope)? {
            Shape::Scalar(kind) => Some(kind),
            _ => None,
        }
    }

    /// What an expression is made of, if it is a place or a choice of places; says nothing.
    pub(super) fn shape_of_place(&self, expression: &syntax::Expression, scope: &Scope) -> Option<Shape> {
        match &expression.operation {
            Operation::Place(path) | Operation::New(path) => self.shape_of_path(path, scope),
            Operation::Choice(_, then, otherwise) => {
                self.shape_of_place(then, scope).or_else(|| self.shape_of_place(otherwise, scope))
            }
            _ => None,
        }
    }

    /// The sort of an expression, where it is certain; says nothing.
    pub(super) fn sort_of(&self, expression: &syntax::Expression, scope: &Scope) -> Option<Sort> {
        match &expression.operation {
            Operation::Any | Operation::Number(0 | 1) => None,
            Operation::Number(_) | Operation::Negate(_) => Some(Sort::Number),
            Operation::Place(path) | Operation::New(path) => {
                if let Some(shape) = self.shape_of_path(path, scope) {
                    return Some(Sort::of(&shape));
                }
                if self.constants.contains_key(&path.name.text) {
                    return Some(Sort::Number);
                }
                let mut homes = (0..).zip(&self.program.enumerations);
                let home = homes.find(|(_, enumeration)| enumeration.values.contains(&path.name.text));
                home.map(|(number, _)| Sort::Enumeration(number))
            }
            Operation::Choice(_, then, otherwise) => {
                self.sort_of(then, scope).or_else(|| self.sort_of(otherwise, scope))
            }
            Operation::Binary(operator, ..) if is_arithmetic(*operator) => Some(Sort::Number),
            _ => Some(Sort::Bool),
        }
    }

    fn mismatch(&mut self, span: &Range<usize>, wanted: &Sort, found: &str, hint: Option<&str>) {
        let message = format!("expected {}, found {found}", self.sort_name(wanted));
        self.error_with_hint(span, &message, "of another kind", hint.map(str::to_owned));
    }

    pub(super) fn sort_name(&self, sort: &Sort) -> String {
        match sort {
            Sort::Bool => "a Boolean value".to_owned(),
            Sort::Number => "a number".to_owned(),
            Sort::Enumeration(number) => {
                let name = &self.program.enumerations[*number].name;
                format!("a value of {}", quote(name.strip_suffix('$').unwrap_or(name)))
            }
            Sort::Record(number) => format!("the record {}", quote(&self.program.records[*number].name)),
            Sort::Array(Dimension::Count(count), element) => {
                format!("an array [{count}], each element {}", self.sort_name(element))
            }
            Sort::Array(Dimension::Enumeration(number), element) => {
                let name = &self.program.enumerations[*number].name;
                format!(
                    "an array [{}], each element {}",
                    name.strip_suffix('$').unwrap_or(name),
                    self.sort_name(element)
                )
            }
        }
    }
}

fn truth(value: bool) -> (Expression, Sort, Interval) {
    let code = u32::from(value);
    (Expression::Value(code, Kind::Bool), Sort::Bool, (i64::from(code), i64::from(code)))
}

fn is_arithmetic(operator: Operator) -> bool {
    use Operator::{Add, Divide, Modulo, Multiply, Subtract};
    matches!(operator, Add | Subtract | Multiply | Divide | Modulo)
}

/// A comparison; of two constants, what is true of them.
fn compared(operator: Operator, left: Expression, right: Expression) -> Expression {
    if let (Expression::Number(left), Expression::Number(right)) = (&left, &right) {
        let holds = match operator {
            Operator::Equal => left == right,
            Operator::Unequal => left != right,
            Operator::Less => left < right,
            Operator::AtMost => left <= right,
            Operator::Greater => left > right,
            _ => left >= right,
        };
        return Expression::Value(u32::from(holds), Kind::Bool);
    }
    Expression::Binary(operator, Box::new(left), Box::new(right))
}

/// What to write instead.
fn hint(wanted: &Sort, found: &Sort) -> Option<&'static str> {
    match (wanted, found) {
        (Sort::Bool, Sort::Number) => Some("a number is no truth value: write `n != 0`"),
        (Sort::Number, Sort::Bool) => Some("a truth value is no number: write `ok ? 1 : 0`"),
        _ => None,
    }
}

fn mentions_any(expression: &syntax::Expression) -> bool {
    match &expression.operation {
        Operation::Any | Operation::Choose(..) => true,
        Operation::Truth(_) | Operation::Number(_) => false,
        Operation::Place(path) | Operation::New(path) => path.steps.iter().any(|step| match step {
            syntax::Access::Index(index) => mentions_any(index),
            syntax::Access::Field(_) => false,
        }),
        Operation::Not(operand) | Operation::Negate(operand) => mentions_any(operand),
        Operation::Binary(_, left, right) => mentions_any(left) || mentions_any(right),
        Operation::Choice(condition, then, otherwise) => {
            [condition, then, otherwise].into_iter().any(|part| mentions_any(part))
        }
    }
}

//! Expressions and places: names are looked up, and each expression gets a kind, with the numbers that it can be.
//!
//! `0` and `1` are numbers or truth values, and `*` is anything: what they are follows from where they stand, so that
//! it is guessed first what an expression is without that.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use super::definitions::{Names, Resolved};
use super::kinds::{Interval, Kind, Value};
use super::program::{self, Path, Place, Slot, Term};
use super::tree::{self, Expression, Operator, Part, Procedure, Tree};

/// What an expression is, before it is known where it stands.
enum Guess {
    /// `*`.
    Anything,
    /// `0` or `1`.
    Bit,
    Known(Kind),
}

/// An expression with its kind.
pub(super) struct Known {
    pub(super) term: Term,
    pub(super) kind: Kind,
}

/// A variable that can be seen.
#[derive(Clone)]
pub(super) struct Visible {
    pub(super) name: String,
    pub(super) slot: Slot,
    pub(super) kind: Kind,
    /// Whether it may be assigned: that of a loop may not.
    pub(super) assigned: bool,
}

/// What names mean in a procedure.
pub(super) struct Scope<'a> {
    pub(super) names: &'a Names,
    pub(super) tree: &'a Tree,
    pub(super) procedure: &'a Procedure,
    /// What can be seen: what comes later hides what comes before.
    pub(super) visible: Vec<Visible>,
    /// How many variables a frame has, and what those may be at first that are not declared.
    pub(super) locals: usize,
    pub(super) hidden: Vec<Vec<Value>>,
    pub(super) labels: BTreeMap<String, Path>,
    /// How many assertions there are on each line.
    pub(super) asserts: BTreeMap<usize, usize>,
    /// What procedures return, as far as that is known: nothing of a procedure without `return`.
    pub(super) returned: &'a [Vec<Option<Kind>>],
    /// What this one returns.
    pub(super) returns: Vec<Option<Kind>>,
    /// The number and the line of the statement at hand; none in `enforce`.
    pub(super) statement: Cell<Option<(usize, usize)>>,
    /// The statements, with their lines, whose values may be out of range, and those whose indices may be outside.
    pub(super) ranges: RefCell<BTreeSet<(usize, usize)>>,
    pub(super) indices: RefCell<BTreeSet<(usize, usize)>>,
    /// What was found that is counted.
    pub(super) counts: RefCell<Vec<&'static str>>,
}

impl Scope<'_> {
    pub(super) fn count(&self, production: &'static str) {
        self.counts.borrow_mut().push(production);
    }

    /// Counts something that is done with a whole array or record.
    pub(super) fn count_whole(&self, kind: &Kind, array: &'static str, record: &'static str) {
        match kind {
            Kind::Array(..) => self.count(array),
            Kind::Record(..) => self.count(record),
            _ => {}
        }
    }

    pub(super) fn variable(&self, name: &str) -> Option<&Visible> {
        self.visible.iter().rev().find(|variable| variable.name == name)
    }

    /// What a place is, whatever its indices are.
    fn place_kind(&self, place: &tree::Place) -> Option<Kind> {
        let mut kind = self.variable(&place.name)?.kind.clone();
        for part in &place.parts {
            kind = match (kind, part) {
                (Kind::Array(_, element), Part::Element(_)) => *element,
                (Kind::Record(_, fields), Part::Field(name)) => fields.into_iter().find(|(field, _)| field == name)?.1,
                _ => return None,
            };
        }
        Some(kind)
    }

    fn guess(&self, expression: &Expression) -> Guess {
        match expression {
            Expression::Any => Guess::Anything,
            Expression::Number(0 | 1) => Guess::Bit,
            Expression::Number(_) | Expression::Negative(_) => Guess::Known(Kind::number()),
            Expression::Binary(operator, ..) if operator.computes() => Guess::Known(Kind::number()),
            Expression::Old(place) | Expression::New(place) => {
                let constant = self.names.constant(&place.name).map(|_| Kind::number());
                let value = self.names.value(&place.name).map(|(kind, _)| kind.clone());
                match self.variable(&place.name) {
                    Some(_) => self.place_kind(place).map_or(Guess::Anything, Guess::Known),
                    None => constant.or(value).map_or(Guess::Anything, Guess::Known),
                }
            }
            Expression::Choice(parts) => self.guess_both(&parts[1], &parts[2]),
            _ => Guess::Known(Kind::Boolean),
        }
    }

    /// What two expressions are that must be of the same kind.
    fn guess_both(&self, one: &Expression, other: &Expression) -> Guess {
        match (self.guess(one), self.guess(other)) {
            (Guess::Known(kind), _) | (_, Guess::Known(kind)) => Guess::Known(kind),
            (Guess::Bit, _) | (_, Guess::Bit) => Guess::Bit,
            (Guess::Anything, Guess::Anything) => Guess::Anything,
        }
    }

    pub(super) fn truth(&self, expression: &Expression) -> Resolved<Term> {
        Ok(self.term(expression, &Kind::Boolean)?.term)
    }

    /// An expression where `*` may stand alone: it is any value of the kind.
    pub(super) fn whole(&self, expression: &Expression, kind: &Kind) -> Resolved<Known> {
        if *expression != Expression::Any {
            return self.term(expression, kind);
        }
        self.count_whole(kind, "any value of an array", "any value of a record");
        if kind.interval().is_some() {
            self.count("any number");
        }
        Ok(Known { term: Term::Any(kind.all()?), kind: kind.clone() })
    }

    /// An expression that has to be of a kind.
    pub(super) fn term(&self, expression: &Expression, kind: &Kind) -> Resolved<Known> {
        let fits = match self.guess(expression) {
            Guess::Anything => true,
            Guess::Bit => matches!(kind, Kind::Boolean | Kind::Number(_)),
            Guess::Known(own) => own.same(kind),
        };
        if !fits {
            return Err(format!("{expression:?} is not {kind:?}"));
        }
        match expression {
            Expression::Any if matches!(kind, Kind::Boolean | Kind::Enumeration(..)) => self.whole(expression, kind),
            Expression::Any => Err("nobody knows what `*` is".to_owned()),
            Expression::Truth(truth) => Ok(constant(i64::from(*truth), kind)),
            Expression::Number(number) => Ok(constant(*number, kind)),
            Expression::Old(place) if self.variable(&place.name).is_none() => self.named(place),
            Expression::Old(place) => {
                let place = self.place(place)?;
                Ok(Known { kind: place.kind.clone(), term: Term::Old(place) })
            }
            Expression::New(place) => {
                let place = self.place(place)?;
                Ok(Known { kind: place.kind.clone(), term: Term::New(place) })
            }
            Expression::Not(inner) => boolean(Term::Not(Box::new(self.truth(inner)?))),
            Expression::Negative(inner) => {
                let inner = self.term(inner, &Kind::number())?;
                let interval = Interval::only(0).minus(interval(&inner.kind))?;
                Ok(Known { term: Term::Negative(Box::new(inner.term)), kind: Kind::Number(interval) })
            }
            Expression::Binary(operator, left, right) => self.binary(*operator, left, right),
            Expression::Choice(parts) => self.choice(parts, kind),
            Expression::Schoose(parts) => {
                boolean(Term::Schoose(Box::new([self.truth(&parts[0])?, self.truth(&parts[1])?])))
            }
        }
    }

    /// A name that is not that of a variable.
    fn named(&self, place: &tree::Place) -> Resolved<Known> {
        let name = &place.name;
        match (self.names.constant(name), self.names.value(name), place.parts.is_empty()) {
            (Some(number), _, true) => {
                self.count("a constant in an expression");
                Ok(constant(number, &Kind::number()))
            }
            (None, Some((kind, number)), true) => Ok(constant(*number, kind)),
            _ => Err(format!("no variable is called {name}")),
        }
    }

    fn choice(&self, parts: &[Expression; 3], kind: &Kind) -> Resolved<Known> {
        let [condition, yes, no] = parts;
        if kind.whole() && condition.has_any() {
            return Err("`*` decides about something with parts".to_owned());
        }
        let condition = self.truth(condition)?;
        let (yes, no) = (self.term(yes, kind)?, self.term(no, kind)?);
        self.count_whole(kind, "choice between arrays", "choice between records");
        let kind = yes.kind.hull(&no.kind);
        Ok(Known { term: Term::Choice(Box::new([condition, yes.term, no.term])), kind })
    }

    fn binary(&self, operator: Operator, left: &Expression, right: &Expression) -> Resolved<Known> {
        let (one, other) = self.sides(operator, left, right)?;
        let kind = match operator.computes() {
            true => Kind::Number(computed(operator, &one, &other)?),
            false => Kind::Boolean,
        };
        Ok(Known { term: Term::Binary(operator, Box::new(one.term), Box::new(other.term)), kind })
    }

    /// Both sides of an operator. Where `*` is one side of a comparison, it is any value that the other side can be.
    fn sides(&self, operator: Operator, left: &Expression, right: &Expression) -> Resolved<(Known, Known)> {
        if !operator.compares() {
            let kind = if operator.wants_numbers() { Kind::number() } else { Kind::Boolean };
            return Ok((self.term(left, &kind)?, self.term(right, &kind)?));
        }
        let kind = match self.guess_both(left, right) {
            Guess::Known(kind) => kind,
            Guess::Bit | Guess::Anything => Kind::Boolean,
        };
        self.count_whole(&kind, "comparison of arrays", "comparison of records");
        match (left, right) {
            (Expression::Any, _) => {
                let right = self.term(right, &kind)?;
                Ok((self.whole(left, &right.kind)?, right))
            }
            (_, Expression::Any) => {
                let left = self.term(left, &kind)?;
                let right = self.whole(right, &left.kind)?;
                Ok((left, right))
            }
            _ => Ok((self.term(left, &kind)?, self.term(right, &kind)?)),
        }
    }

    /// A place that is read.
    pub(super) fn place(&self, place: &tree::Place) -> Resolved<Place> {
        let name = &place.name;
        let Visible { slot, kind, .. } =
            self.variable(name).cloned().ok_or_else(|| format!("no variable is called {name}"))?;
        let mut found = Place { slot, parts: Vec::new(), kind };
        for part in &place.parts {
            let (part, kind) = match (part, found.kind) {
                (Part::Element(index), Kind::Array(dimension, element)) => {
                    (program::Part::Element(self.index(index, &dimension)?, dimension.size), *element)
                }
                (Part::Field(name), Kind::Record(_, fields)) => {
                    let number = fields.iter().position(|(field, _)| field == name);
                    let number = number.ok_or_else(|| format!("there is no field {name}"))?;
                    (program::Part::Field(number), fields[number].1.clone())
                }
                (part, kind) => return Err(format!("{name}: {kind:?} has no {part:?}")),
            };
            found.parts.push(part);
            found.kind = kind;
        }
        match found.kind.whole() && place.has_any() {
            true => Err(format!("{name}: `*` decides about something with parts")),
            false => Ok(found),
        }
    }

    fn index(&self, index: &Expression, dimension: &super::kinds::Dimension) -> Resolved<Term> {
        if *index == Expression::Any {
            return Err("an index is not `*`".to_owned());
        }
        if let Some(name) = &dimension.enumeration {
            self.count("index of an enumeration");
            return Ok(self.term(index, &Kind::Enumeration(name.clone(), dimension.size))?.term);
        }
        let index = self.term(index, &Kind::number())?;
        let (possible, bounds) = (interval(&index.kind), Interval { low: 0, high: dimension.size as i64 - 1 });
        if possible.apart(bounds) {
            return Err("an index is always outside".to_owned());
        }
        if !possible.inside(bounds) {
            self.count("index in doubt");
            let statement = self.statement.get().ok_or("an index in doubt is enforced")?;
            self.indices.borrow_mut().insert(statement);
        }
        Ok(index.term)
    }

    /// A place that is written.
    pub(super) fn target(&self, place: &tree::Place) -> Resolved<Place> {
        let found = self.place(place)?;
        let assigned = self.variable(&place.name).is_some_and(|variable| variable.assigned);
        match assigned && found.kind != Kind::Condition {
            true => Ok(found),
            false => Err(format!("{} is not to be assigned", place.name)),
        }
    }

    /// A place of a kind that is written.
    pub(super) fn target_of(&self, place: &tree::Place, kind: &Kind) -> Resolved<Place> {
        let found = self.target(place)?;
        if found.kind.same(kind) { Ok(found) } else { Err(format!("{} is not {kind:?}", place.name)) }
    }

    /// Notes whether a value fits the place that it is stored in.
    pub(super) fn store(&self, value: &Kind, place: &Kind) -> Resolved<()> {
        if value.never_inside(place) {
            return Err(format!("{value:?} is always out of range of {place:?}"));
        }
        if let (false, Some(statement)) = (value.inside(place), self.statement.get()) {
            self.count("range in doubt");
            self.ranges.borrow_mut().insert(statement);
        }
        Ok(())
    }

    /// An expression that is stored in a place.
    pub(super) fn stored(&self, expression: &Expression, place: &Kind) -> Resolved<Term> {
        let known = self.whole(expression, place)?;
        self.store(&known.kind, place)?;
        Ok(known.term)
    }
}

fn boolean(term: Term) -> Resolved<Known> {
    Ok(Known { term, kind: Kind::Boolean })
}

/// A constant; if it is a number, it is only this one.
fn constant(number: i64, kind: &Kind) -> Known {
    let kind = if kind.interval().is_some() { Kind::Number(Interval::only(number)) } else { kind.clone() };
    Known { term: Term::Constant(Value::Number(number)), kind }
}

/// The numbers that something can be that is a number.
fn interval(kind: &Kind) -> Interval {
    kind.interval().unwrap_or(Interval::only(0))
}

fn computed(operator: Operator, left: &Known, right: &Known) -> Resolved<Interval> {
    let (one, other) = (interval(&left.kind), interval(&right.kind));
    match operator {
        Operator::Plus => one.plus(other),
        Operator::Minus => one.minus(other),
        Operator::Times => one.times(other),
        _ if !is_constant(&right.term) || other.low <= 0 => Err("a divisor must be a constant above 0".to_owned()),
        Operator::Divide => Ok(one.divided(other.low)),
        _ => Ok(one.modulo(other.low)),
    }
}

/// Whether an expression has nothing but numbers in it.
fn is_constant(term: &Term) -> bool {
    match term {
        Term::Constant(_) => true,
        Term::Negative(inner) => is_constant(inner),
        Term::Binary(_, left, right) => is_constant(left) && is_constant(right),
        _ => false,
    }
}

//! Expressions over fields of rows.

use tepui_model::program::Operator;

use super::layout::Field;

/// A variable: where it lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Var {
    /// Whether it is a shared one.
    pub shared: bool,
    /// Where it lies in the shared row or in the frame.
    pub field: Field,
}

impl Var {
    /// Whether it has no value yet.
    #[inline]
    pub fn is_unset(self, shared: &[u64], frame: &[u64]) -> bool {
        self.field.code(if self.shared { shared } else { frame }) == self.field.unset
    }
}

/// A variable, or an element of an array.
#[derive(Clone, Debug)]
pub enum Target {
    /// A variable.
    Variable(Var),
    /// An element.
    Element(Box<Element>),
}

/// An element of an array, whose indices are computed.
#[derive(Clone, Debug)]
pub struct Element {
    /// All variables from the one that it is if all indices are 0. Some of them may not be kept.
    pub variables: Vec<Option<Var>>,
    /// What leads to it.
    pub indices: Vec<Index>,
    /// How many values it takes, and the lowest one, where it is not kept.
    pub any: (i64, u32),
}

/// What threads sleep on.
#[derive(Clone, Debug, Default)]
pub struct Condition {
    /// The number that it has if all indices are 0; 0, if it has no name.
    pub first: u32,
    /// What leads to it.
    pub indices: Vec<Index>,
}

/// An index.
#[derive(Clone, Debug)]
pub struct Index {
    /// Its value.
    pub value: Term,
    /// From 0 it must be below this.
    pub count: u32,
    /// How far it is from one element to the next.
    pub stride: usize,
}

/// An expression.
#[derive(Clone, Debug)]
pub enum Term {
    /// A value.
    Value(i64),
    /// One of so many values, from a lowest one.
    Any(i64, u32),
    /// The value of a variable.
    Read(Var),
    /// In a constraint, its new value.
    New(Var),
    /// The value of an element.
    Element(Box<Element>),
    /// In a constraint, its new value.
    NewElement(Box<Element>),
    /// The other truth value.
    Not(Box<Self>),
    /// The number with the other sign.
    Negate(Box<Self>),
    /// The right operand is looked at if the left one is 1.
    And(Box<[Self; 2]>),
    /// The right operand is looked at if the left one is 0.
    Or(Box<[Self; 2]>),
    /// The right operand is looked at if the left one is 1.
    Implies(Box<[Self; 2]>),
    /// Whether values are equal.
    Equal(Box<[Self; 2]>),
    /// Whether they are not.
    Unequal(Box<[Self; 2]>),
    /// Two numbers, compared or added and so on.
    Numbers(Operator, Box<[Self; 2]>),
    /// The second if the first is 1, else the third.
    Choice(Box<[Self; 3]>),
    /// 1 if the first is 1, else 0 if the second is 1, else any.
    Choose(Box<[Self; 2]>),
}

impl Term {
    /// The expressions that it is made of.
    fn parts(&self) -> Vec<&Self> {
        match self {
            Self::Value(_) | Self::Any(..) | Self::Read(_) | Self::New(_) => Vec::new(),
            Self::Element(element) | Self::NewElement(element) => {
                element.indices.iter().map(|index| &index.value).collect()
            }
            Self::Not(operand) | Self::Negate(operand) => vec![operand],
            Self::And(operands) | Self::Or(operands) | Self::Implies(operands) => operands.iter().collect(),
            Self::Equal(operands) | Self::Unequal(operands) => operands.iter().collect(),
            Self::Numbers(_, operands) | Self::Choose(operands) => operands.iter().collect(),
            Self::Choice(parts) => parts.iter().collect(),
        }
    }

    /// Whether there may be several values.
    pub(super) fn chooses(&self) -> bool {
        let own = match self {
            Self::Any(_, ways) => *ways > 1,
            Self::Read(variable) | Self::New(variable) => variable.field.may_be_unset(),
            Self::Element(element) | Self::NewElement(element) => element.chooses(),
            Self::Choose(_) => true,
            _ => false,
        };
        own || self.parts().into_iter().any(Self::chooses)
    }

    /// Adds the variables that it may read before they have a value.
    pub(super) fn opens(&self, found: &mut Vec<Var>) {
        let mut open = |variable: &Var| {
            if variable.field.may_be_unset() && !found.contains(variable) {
                found.push(*variable);
            }
        };
        match self {
            Self::Read(variable) | Self::New(variable) => open(variable),
            Self::Element(element) | Self::NewElement(element) => element.variables.iter().flatten().for_each(open),
            _ => {}
        }
        self.parts().into_iter().for_each(|part| part.opens(found));
    }

    /// At most how many ways there are to evaluate it, apart from variables that have no value yet.
    pub(super) fn ways(&self) -> u64 {
        match self {
            Self::Any(_, ways) => u64::from(*ways),
            Self::Choice(parts) => parts[0].ways().saturating_mul(parts[1].ways().max(parts[2].ways())),
            _ => {
                let own = match self {
                    Self::Choose(_) => 2,
                    Self::Element(element) | Self::NewElement(element) => element.ways(),
                    _ => 1,
                };
                self.parts().into_iter().fold(own, |ways: u64, part| ways.saturating_mul(part.ways()))
            }
        }
    }

    /// Whether it may have both truth values, whatever the variables are.
    pub(super) fn is_any(&self) -> bool {
        matches!(self, Self::Any(0, 2))
    }
}

impl Element {
    fn chooses(&self) -> bool {
        self.ways() > 1 || self.variables.iter().flatten().any(|variable| variable.field.may_be_unset())
    }

    /// How many ways there are to read it, apart from its indices.
    fn ways(&self) -> u64 {
        if self.variables.iter().all(Option::is_some) { 1 } else { u64::from(self.any.1) }
    }
}

impl Target {
    /// The expressions that lead to it.
    pub(super) fn terms(&self) -> impl Iterator<Item = &Term> {
        let indices = if let Self::Element(element) = self { &element.indices[..] } else { &[] };
        indices.iter().map(|index| &index.value)
    }

    /// The lowest value that it takes, and how many.
    pub(super) fn range(&self) -> (i64, u32) {
        match self {
            Self::Variable(variable) => (variable.field.low, variable.field.values),
            Self::Element(element) => element.any,
        }
    }

    /// Its value.
    pub(super) fn read(&self) -> Term {
        match self {
            Self::Variable(variable) => Term::Read(*variable),
            Self::Element(element) => Term::Element(element.clone()),
        }
    }
}

//! Expressions over fields of rows.

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

/// An expression.
#[derive(Clone, Debug)]
pub enum Term {
    /// A value.
    Value(u64),
    /// One of so many values.
    Any(u32),
    /// The value of a variable.
    Read(Var),
    /// In a constraint, its new value.
    New(Var),
    /// The other truth value.
    Not(Box<Self>),
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
    /// The second if the first is 1, else the third.
    Choice(Box<[Self; 3]>),
    /// 1 if the first is 1, else 0 if the second is 1, else any.
    Choose(Box<[Self; 2]>),
}

impl Term {
    /// Whether there may be several values.
    pub(super) fn chooses(&self) -> bool {
        match self {
            Self::Value(_) => false,
            Self::Any(ways) => *ways > 1,
            Self::Read(variable) | Self::New(variable) => variable.field.may_be_unset(),
            Self::Not(operand) => operand.chooses(),
            Self::And(operands) | Self::Or(operands) | Self::Implies(operands) => operands.iter().any(Self::chooses),
            Self::Equal(operands) | Self::Unequal(operands) => operands.iter().any(Self::chooses),
            Self::Choice(parts) => parts.iter().any(Self::chooses),
            Self::Choose(_) => true,
        }
    }

    /// Adds the variables that it may read before they have a value.
    pub(super) fn opens(&self, found: &mut Vec<Var>) {
        let mut all = |parts: &[Self]| parts.iter().for_each(|part| part.opens(found));
        match self {
            Self::Value(_) | Self::Any(_) => {}
            Self::Read(variable) | Self::New(variable) => {
                if variable.field.may_be_unset() && !found.contains(variable) {
                    found.push(*variable);
                }
            }
            Self::Not(operand) => operand.opens(found),
            Self::And(parts) | Self::Or(parts) | Self::Implies(parts) => all(&**parts),
            Self::Equal(parts) | Self::Unequal(parts) | Self::Choose(parts) => all(&**parts),
            Self::Choice(parts) => all(&**parts),
        }
    }

    /// At most how many ways there are to evaluate it, apart from variables that have no value yet.
    pub(super) fn ways(&self) -> u64 {
        let all = |parts: &[Self]| parts.iter().fold(1, |ways: u64, part| ways.saturating_mul(part.ways()));
        match self {
            Self::Value(_) | Self::Read(_) | Self::New(_) => 1,
            Self::Any(ways) => u64::from(*ways),
            Self::Not(operand) => operand.ways(),
            Self::And(operands) | Self::Or(operands) | Self::Implies(operands) => all(&**operands),
            Self::Equal(operands) | Self::Unequal(operands) => all(&**operands),
            Self::Choice(parts) => parts[0].ways().saturating_mul(parts[1].ways().max(parts[2].ways())),
            Self::Choose(operands) => all(&**operands).saturating_mul(2),
        }
    }

    /// Whether it may have both truth values, whatever the variables are.
    pub(super) fn is_any(&self) -> bool {
        matches!(self, Self::Any(2))
    }
}

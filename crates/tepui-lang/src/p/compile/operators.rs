//! Operators with two operands.

use tepui_model::queue::Binary;

use super::body::Body;
use crate::p::syntax::{Operator, Place};
use crate::p::types::Type;

impl Body<'_, '_, '_> {
    /// The type of what an operator makes of two operands; complains if they do not fit.
    pub(super) fn operated(&mut self, operator: Operator, left: &Type, right: &Type, place: Place) -> (Type, Binary) {
        let names = self.compiler.names;
        let same = left == right || *left == Type::Wrong || *right == Type::Wrong;
        let numbers = same && left.is_numeric() && right.is_numeric();
        let ordered = numbers || same && *left == Type::Text;
        let number = if *left == Type::Wrong { right.clone() } else { left.clone() };
        let (fits, kind, binary) = match operator {
            Operator::Times => (numbers, number, Binary::Times),
            Operator::Divide => (numbers, number, Binary::Divide),
            Operator::Modulo => (numbers, number, Binary::Modulo),
            Operator::Plus => (ordered, number, Binary::Plus),
            Operator::Minus => (numbers, number, Binary::Minus),
            Operator::Less => (ordered, Type::Bool, Binary::Less),
            Operator::AtMost => (ordered, Type::Bool, Binary::AtMost),
            Operator::Greater => (ordered, Type::Bool, Binary::Greater),
            Operator::AtLeast => (ordered, Type::Bool, Binary::AtLeast),
            Operator::Equal => (left.is_comparable(right, names), Type::Bool, Binary::Equal),
            Operator::Unequal => (left.is_comparable(right, names), Type::Bool, Binary::Unequal),
            Operator::In => {
                let element = match right {
                    Type::Seq(element) | Type::Set(element) => Some(&**element),
                    Type::Map(key, _) => Some(&**key),
                    _ => None,
                };
                let fits = *right == Type::Wrong || element.is_some_and(|element| element.is_comparable(left, names));
                (fits, Type::Bool, Binary::In)
            }
            Operator::And => (true, Type::Bool, Binary::And),
            Operator::Or => (true, Type::Bool, Binary::Or),
        };
        if !fits {
            let message = format!("this operator is not for {} and {}", names.shown(left), names.shown(right));
            self.compiler.error(place, message, "types that do not fit");
        }
        (kind, binary)
    }
}

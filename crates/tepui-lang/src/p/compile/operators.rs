//! Operators with two operands.

use tepui_model::queue::Binary;

use super::body::Body;
use crate::p::syntax::Place;
use crate::p::types::Type;

impl Body<'_, '_, '_> {
    /// The type of what an operator makes of two operands; complains if they do not fit.
    pub(super) fn operated(&mut self, operator: Binary, left: &Type, right: &Type, place: Place) -> Type {
        let names = self.compiler.names;
        let same = left == right || *left == Type::Wrong || *right == Type::Wrong;
        let numbers = same && left.is_numeric() && right.is_numeric();
        let ordered = numbers || same && *left == Type::Text;
        let number = if *left == Type::Wrong { right.clone() } else { left.clone() };
        let (fits, kind) = match operator {
            Binary::Times => (numbers, number),
            Binary::Divide => (numbers, number),
            Binary::Modulo => (numbers, number),
            Binary::Plus => (ordered, number),
            Binary::Minus => (numbers, number),
            Binary::Less => (ordered, Type::Bool),
            Binary::AtMost => (ordered, Type::Bool),
            Binary::Greater => (ordered, Type::Bool),
            Binary::AtLeast => (ordered, Type::Bool),
            Binary::Equal => (left.is_comparable(right, names), Type::Bool),
            Binary::Unequal => (left.is_comparable(right, names), Type::Bool),
            Binary::In => {
                let element = match right {
                    Type::Seq(element) | Type::Set(element) => Some(&**element),
                    Type::Map(key, _) => Some(&**key),
                    _ => None,
                };
                let fits = *right == Type::Wrong || element.is_some_and(|element| element.is_comparable(left, names));
                (fits, Type::Bool)
            }
            Binary::And => (true, Type::Bool),
            Binary::Or => (true, Type::Bool),
        };
        if !fits {
            let message = format!("this operator is not for {} and {}", names.shown(left), names.shown(right));
            self.compiler.error(place, message, "types that do not fit");
        }
        kind
    }
}

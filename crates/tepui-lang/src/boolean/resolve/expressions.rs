//! Expressions: names become variables or constants, and kinds have to fit.

use super::*;

impl Resolver<'_, '_> {
    pub(super) fn boolean(&mut self, expression: &syntax::Expression, scope: &Scope) -> Option<Expression> {
        self.expression(expression, Some(Kind::Bool), scope).map(|(expression, _)| expression)
    }

    /// An expression of the kind that is wanted, if one is.
    pub(super) fn expression(
        &mut self,
        expression: &syntax::Expression,
        wanted: Option<Kind>,
        scope: &Scope,
    ) -> Option<(Expression, Kind)> {
        let (found, kind) = match &expression.operation {
            Operation::Truth(value) => (Expression::Value(u32::from(*value), Kind::Bool), Kind::Bool),
            Operation::Any => {
                let kind = wanted.unwrap_or(Kind::Bool);
                (Expression::Any(kind), kind)
            }
            Operation::Name(name) => self.named(name, &expression.span, wanted, scope)?,
            Operation::New(name) => {
                let name = Name { text: name.clone(), span: expression.span.clone() };
                if !scope.constraint {
                    self.error(&name.span, "new values are known in a constraint only", "outside of `constrain`");
                    return None;
                }
                let (slot, kind) = self.slot(&name, scope)?;
                (Expression::New(slot), kind)
            }
            Operation::Not(operand) => (Expression::Not(Box::new(self.boolean(operand, scope)?)), Kind::Bool),
            Operation::Binary(operator, left, right) => {
                let kind = match operator {
                    Operator::Equal | Operator::Unequal => {
                        self.kind_of(left, scope).or_else(|| self.kind_of(right, scope)).unwrap_or(Kind::Bool)
                    }
                    _ => Kind::Bool,
                };
                let left = self.expression(left, Some(kind), scope);
                let right = self.expression(right, Some(kind), scope);
                (Expression::Binary(*operator, Box::new(left?.0), Box::new(right?.0)), Kind::Bool)
            }
            Operation::Choice(condition, then, otherwise) => {
                let kind = wanted.or_else(|| self.kind_of(then, scope)).or_else(|| self.kind_of(otherwise, scope));
                let kind = kind.unwrap_or(Kind::Bool);
                let condition = self.boolean(condition, scope);
                let then = self.expression(then, Some(kind), scope);
                let otherwise = self.expression(otherwise, Some(kind), scope);
                (Expression::Choice(Box::new(condition?), Box::new(then?.0), Box::new(otherwise?.0)), kind)
            }
            Operation::Choose(positive, negative) => {
                let (positive, negative) = (self.boolean(positive, scope), self.boolean(negative, scope));
                (Expression::Choose(Box::new(positive?), Box::new(negative?)), Kind::Bool)
            }
        };
        if let Some(wanted) = wanted.filter(|&wanted| wanted != kind) {
            let message = format!("expected {}, found {}", self.kind_name(wanted), self.kind_name(kind));
            self.error(&expression.span, message, "of another kind");
            return None;
        }
        Some((found, kind))
    }

    /// A variable, or a value of an enumeration.
    pub(super) fn named(
        &mut self,
        name: &str,
        span: &Range<usize>,
        wanted: Option<Kind>,
        scope: &Scope,
    ) -> Option<(Expression, Kind)> {
        if let Some((slot, kind)) = self.lookup(name, scope) {
            return Some((Expression::Read(slot), kind));
        }
        let values = (0..).zip(&self.program.enumerations).filter_map(|(number, enumeration)| {
            let value = enumeration.values.iter().position(|value| value == name)?;
            Some((Kind::Enumeration(number), value as u32))
        });
        let values: Vec<_> = values.collect();
        let fitting = values.iter().find(|(kind, _)| Some(*kind) == wanted).or(values.first());
        if let Some(&(kind, value)) = fitting {
            return Some((Expression::Value(value, kind), kind));
        }
        let hint = self.similar_variable(name, scope);
        self.error_with_hint(span, &format!("no variable is called {}", quote(name)), "not declared", hint);
        None
    }

    /// The kind of an expression, where it is certain; says nothing.
    pub(super) fn kind_of(&self, expression: &syntax::Expression, scope: &Scope) -> Option<Kind> {
        match &expression.operation {
            Operation::Any => None,
            Operation::Name(name) | Operation::New(name) => {
                self.lookup(name, scope).map(|(_, kind)| kind).or_else(|| {
                    let mut homes = (0..).zip(&self.program.enumerations);
                    let home = homes.find(|(_, enumeration)| enumeration.values.contains(name));
                    home.map(|(number, _)| Kind::Enumeration(number))
                })
            }
            Operation::Choice(_, then, otherwise) => {
                self.kind_of(then, scope).or_else(|| self.kind_of(otherwise, scope))
            }
            _ => Some(Kind::Bool),
        }
    }

    pub(super) fn kind_name(&self, kind: Kind) -> String {
        match kind {
            Kind::Bool => "a Boolean value".to_owned(),
            Kind::Enumeration(number) => {
                let name = &self.program.enumerations[number].name;
                match name.strip_suffix('$') {
                    Some(variable) => format!("a value of {}", quote(variable)),
                    None => format!("a value of {}", quote(name)),
                }
            }
        }
    }
}

//! Expressions: in brackets, and without brackets in every combination of operators.

use super::{Kind, LIGHTS, Variable, Writer};

/// Each operator as often as the others, with its synonym or without.
const OPERATORS: [&str; 12] = ["&", "&&", "|", "||", "^", "^", "=", "==", "!=", "!=", "=>", "=>"];

impl Writer<'_> {
    /// The variables of a kind that can be seen: a local one hides a shared one.
    pub(super) fn variables(&self, kind: Kind) -> Vec<String> {
        let local = |name: &str| self.now.locals.iter().any(|local| local.name == name);
        let shared = self.shared.iter().filter(|variable| !local(&variable.name) && self.may_mention(&variable.name));
        let of_kind = shared.chain(&self.now.locals).filter(|variable: &&Variable| variable.kind == kind);
        of_kind.map(|variable| variable.name.clone()).collect()
    }

    /// One of them.
    pub(super) fn variable(&mut self, kind: Kind) -> Option<String> {
        let variables = self.variables(kind);
        (!variables.is_empty()).then(|| variables[self.rng.usize(..variables.len())].clone())
    }

    /// An expression of a kind.
    pub(super) fn value(&mut self, kind: Kind) -> String {
        match kind {
            Kind::Boolean => self.boolean(),
            Kind::Colour | Kind::Light => self.one_of(kind, 1),
            Kind::Data(shape) => self.shaped(&self.data.shapes[shape].clone()),
        }
    }

    pub(super) fn boolean(&mut self) -> String {
        let bracketed = self.rng.usize(..3) < self.bracketed;
        match self.rng.usize(..8) {
            0..=2 => self.operand(0),
            3 => self.operand(1),
            _ if bracketed => self.operand(2),
            _ => self.chain(),
        }
    }

    /// A constant or a variable, which is not any value.
    pub(super) fn known(&mut self) -> String {
        match self.variable(Kind::Boolean) {
            Some(variable) if !self.one_in(4) => variable,
            _ => self.constant().to_owned(),
        }
    }

    pub(super) fn constant(&mut self) -> &'static str {
        let constants: &[&str] =
            if self.braces() { &["0", "1", "false", "true"] } else { &["0", "1", "T", "F", "T", "F", "false", "true"] };
        self.pick(constants)
    }

    /// Operators without brackets, in any order.
    pub(super) fn chain(&mut self) -> String {
        let mut text = self.operand(1);
        let mut comparable = true;
        for _ in 0..self.rng.usize(1..=4) {
            if self.one_in(8) {
                let compared = if self.rich && self.one_in(2) { self.comparison() } else { None };
                let (yes, no) = (self.operand(1), compared.unwrap_or_else(|| self.operand(1)));
                text = format!("{text} ? {yes} : {no}");
                continue;
            }
            let operator = self.pick(&OPERATORS);
            comparable = !matches!(operator, "=" | "==" | "!=") && comparable;
            let often = if self.rich { 2 } else { 3 };
            let compared = if comparable && self.one_in(often) { self.comparison() } else { None };
            let next = compared.unwrap_or_else(|| self.operand(1));
            text = format!("{text} {operator} {next}");
        }
        text
    }

    /// Two values of an enumeration, if there is one, or two numbers.
    fn comparison(&mut self) -> Option<String> {
        if self.rich && !self.one_in(3) {
            return Some(self.number_comparison());
        }
        let light = !self.variables(Kind::Light).is_empty();
        let kind = match (light, self.colours.is_empty()) {
            (true, empty) if empty || self.one_in(2) => Kind::Light,
            (_, true) => return None,
            _ => Kind::Colour,
        };
        let operator = self.pick(&["=", "==", "!="]);
        let (one, other) = (self.one_of(kind, 0), self.one_of(kind, 0));
        Some(format!("{one} {operator} {other}"))
    }

    /// A value of an enumeration.
    pub(super) fn value_of(&mut self, kind: Kind) -> String {
        match kind {
            Kind::Light => self.pick(&LIGHTS).to_owned(),
            _ => self.colours[self.rng.usize(..self.colours.len())].clone(),
        }
    }

    fn one_of(&mut self, kind: Kind, depth: usize) -> String {
        let variable = self.variable(kind);
        match (self.rng.usize(..6), variable) {
            (0, _) if depth > 0 => "*".to_owned(),
            (1, _) if depth > 0 => {
                let (condition, yes, no) = (self.operand(1), self.one_of(kind, 0), self.one_of(kind, 0));
                format!("({condition} ? {yes} : {no})")
            }
            (0..=3, Some(variable)) => variable,
            _ => self.value_of(kind),
        }
    }

    /// Something that stands beside an operator.
    fn operand(&mut self, depth: usize) -> String {
        if self.rich && self.one_in(5) {
            return self.data_truth();
        }
        match self.rng.usize(..if depth == 0 { 11 } else { 14 }) {
            0 => "*".to_owned(),
            1 => self.constant().to_owned(),
            2..=6 => self.known(),
            7 => format!("!{}", self.known()),
            8 => match self.comparison() {
                Some(comparison) => format!("({comparison})"),
                None => format!("!{}", self.known()),
            },
            9 => format!("!{}", self.known()),
            10 if self.one_in(3) => {
                let (positive, negative) = (self.boolean_within(depth), self.boolean_within(depth));
                format!("schoose[{positive}, {negative}]")
            }
            10 => self.known(),
            11 => {
                let parts = [self.boolean_within(depth), self.boolean_within(depth), self.boolean_within(depth)];
                format!("({} ? {} : {})", parts[0], parts[1], parts[2])
            }
            _ => {
                let (one, operator, other) =
                    (self.boolean_within(depth), self.pick(&OPERATORS), self.boolean_within(depth));
                format!("({one} {operator} {other})")
            }
        }
    }

    fn boolean_within(&mut self, depth: usize) -> String {
        self.operand(depth.saturating_sub(1))
    }

    /// What an assignment must satisfy, with new values of its targets.
    pub(super) fn constraint(&mut self, targets: &[String]) -> String {
        let target = targets[self.rng.usize(..targets.len())].clone();
        let (operator, other) = (self.pick(&["&", "|", "=", "!=", "=>", "^"]), self.known());
        match self.rng.usize(..4) {
            0 => format!("!'{target} {operator} {other}"),
            1 => format!("({other} {operator} '{target})"),
            2 => format!("'{target}"),
            _ => format!("'{target} {operator} {target}"),
        }
    }

    /// A condition with brackets or without.
    pub(super) fn condition(&mut self) -> String {
        let condition = self.boolean();
        if self.one_in(3) { condition } else { format!("({condition})") }
    }
}

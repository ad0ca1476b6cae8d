//! Random expressions of a type. Brackets are left out wherever precedence allows it, as a rule.

use super::types::Ty;
use super::writer::Writer;

/// An expression, and the row of its loosest operator: 0 for none.
pub(super) type Written = (String, u8);

const UNARY: u8 = 1;
const TIMES: u8 = 2;
const PLUS: u8 = 3;
const CAST: u8 = 4;
const LESS: u8 = 5;
const EQUAL: u8 = 6;
const AND: u8 = 7;
const OR: u8 = 8;

impl Writer<'_> {
    pub(super) fn expr(&mut self, of: &Ty, depth: usize) -> String {
        self.written(of, depth).0
    }

    /// An expression that stands where operators up to a row may stand without brackets.
    fn operand(&mut self, of: &Ty, depth: usize, row: u8) -> String {
        let (text, own) = self.written(of, depth);
        if own > row || own > 0 && self.rng.u8(..8) == 0 { format!("({text})") } else { text }
    }

    fn between(&mut self, of: &Ty, depth: usize, row: u8, signs: &[&str]) -> Written {
        let sign = signs[self.rng.usize(..signs.len())];
        let left = self.operand(of, depth - 1, row);
        let right = self.operand(of, depth - 1, row - 1);
        (format!("{left} {sign} {right}"), row)
    }

    pub(super) fn written(&mut self, of: &Ty, depth: usize) -> Written {
        if (self.rng.u8(..6) < 2 || depth == 0)
            && let Some(name) = self.variable(of)
        {
            return (name, 0);
        }
        if depth > 0
            && self.rng.u8(..7) == 0
            && let Some(written) = self.derived(of, depth)
        {
            return written;
        }
        match of {
            Ty::Bool => self.truth(depth),
            Ty::Int => self.number(depth),
            Ty::Float => self.float(depth),
            Ty::Text => self.text(depth),
            Ty::Event => (self.unit_event(), 0),
            Ty::Machine => self.machine(),
            Ty::Any | Ty::Data => self.anything(of, depth),
            Ty::Color => (self.pick(&["RED", "GREEN", "BLUE"]).to_owned(), 0),
            Ty::Level => (self.pick(&["LOW", "HIGH"]).to_owned(), 0),
            Ty::Pair | Ty::Tuple(_) | Ty::Named(_) => self.tuple(of, depth),
            Ty::Seq(_) | Ty::Set(_) | Ty::Map(..) => (format!("default({of})"), 0),
        }
    }

    /// Something inside of a variable, what a function returns, or a choice.
    fn derived(&mut self, of: &Ty, depth: usize) -> Option<Written> {
        match self.rng.u8(..6) {
            0 | 1 => self.part(of).map(|text| (text, 0)),
            2 | 3 => self.call(of, depth - 1).map(|text| (text, 0)),
            4 if !self.spec && !self.old => {
                let of = self.collection_of(of)?;
                self.risk().then(|| (format!("choose({of})"), 0))
            }
            5 => {
                let element = self.element(of)?;
                self.risk().then_some((element, 0))
            }
            _ => None,
        }
    }

    /// Whether something is done that may go wrong.
    pub(super) fn risk(&mut self) -> bool {
        self.rng.u8(..4) == 0
    }

    /// A field or a position of a variable.
    fn part(&mut self, of: &Ty) -> Option<String> {
        let parts = |(name, whole): &(String, Ty)| {
            let mut all = Vec::new();
            for (part, inner) in whole.parts() {
                all.extend((inner == *of).then(|| format!("{name}.{part}")));
                let deeper = inner.parts().into_iter().filter(|(_, inner)| inner == of);
                all.extend(deeper.map(|(deep, _)| format!("{name}.{part}.{deep}")));
            }
            all
        };
        let all: Vec<String> = self.scope().iter().flat_map(parts).collect();
        self.any_of(&all)
    }

    /// A variable that is a collection of something.
    fn collection_of(&mut self, of: &Ty) -> Option<String> {
        let has = |whole: &Ty| match whole {
            Ty::Seq(inner) | Ty::Set(inner) | Ty::Map(inner, _) => **inner == *of,
            _ => false,
        };
        let all: Vec<String> =
            self.scope().iter().filter(|(_, whole)| has(whole)).map(|(name, _)| name.clone()).collect();
        self.any_of(&all)
    }

    /// An element of a variable.
    fn element(&mut self, of: &Ty) -> Option<String> {
        let (at, listed) = (self.rng.u8(..2), self.rng.bool());
        let elements = |(name, whole): &(String, Ty)| match whole {
            Ty::Map(_, inner) if **inner == *of && listed => Some(format!("values({name})[{at}]")),
            Ty::Seq(inner) | Ty::Set(inner) if **inner == *of => Some(format!("{name}[{at}]")),
            Ty::Map(key, inner) if **inner == *of && **key == Ty::Int => Some(format!("{name}[{at}]")),
            Ty::Map(key, inner) if **inner == *of && **key == Ty::Color => Some(format!("{name}[RED]")),
            Ty::Map(key, _) if **key == *of => Some(format!("keys({name})[{at}]")),
            _ => None,
        };
        let all: Vec<String> = self.scope().iter().filter_map(elements).collect();
        self.any_of(&all)
    }

    /// A call of a function with a result.
    pub(super) fn call(&mut self, of: &Ty, depth: usize) -> Option<String> {
        let all: Vec<usize> =
            (0..self.functions.len()).filter(|at| self.functions[*at].result.as_ref() == Some(of)).collect();
        let function = self.functions[*all.get(self.rng.usize(..all.len().max(1)))?].clone();
        let arguments: Vec<_> = function.parameters.iter().map(|of| self.expr(of, depth)).collect();
        Some(format!("{}({})", function.name, arguments.join(", ")))
    }

    fn truth(&mut self, depth: usize) -> Written {
        if depth == 0 {
            return (self.pick(&["true", "false"]).to_owned(), 0);
        }
        match self.rng.u8(..13) {
            0 | 1 => self.between(&Ty::Int, depth, LESS, &["<", "<=", ">", ">="]),
            2 => self.between(&Ty::Float, depth, LESS, &["<", "<=", ">", ">="]),
            3 | 4 => {
                let of = self.compared();
                match self.variable(&of).filter(|_| matches!(of, Ty::Any | Ty::Data)) {
                    Some(name) => (format!("{name} == {}", self.operand(&of, depth - 1, LESS)), EQUAL),
                    None => self.between(&of, depth, EQUAL, &["==", "!="]),
                }
            }
            5 => self.between(&Ty::Bool, depth, EQUAL, &["==", "!="]),
            6 => self.between(&Ty::Bool, depth, AND, &["&&"]),
            7 => self.between(&Ty::Bool, depth, OR, &["||"]),
            8 => (format!("!{}", self.operand(&Ty::Bool, depth - 1, UNARY)), UNARY),
            9 => self.within(depth),
            10 | 11 if !self.spec => {
                let choices = if self.old { &["$", "$$"][..] } else { &["$", "$$", "choose()"] };
                (self.pick(choices).to_owned(), 0)
            }
            _ => (self.pick(&["true", "false"]).to_owned(), 0),
        }
    }

    /// A type whose values are compared.
    fn compared(&mut self) -> Ty {
        let all: Vec<Ty> = self.scope().iter().map(|(_, of)| of.clone()).filter(|of| !matches!(of, Ty::Bool)).collect();
        if all.is_empty() { Ty::Int } else { all[self.rng.usize(..all.len())].clone() }
    }

    fn within(&mut self, depth: usize) -> Written {
        let collections = |(name, of): &(String, Ty)| match of {
            Ty::Seq(inner) | Ty::Set(inner) | Ty::Map(inner, _) => Some((name.clone(), (**inner).clone())),
            _ => None,
        };
        let all: Vec<_> = self.scope().iter().filter_map(collections).collect();
        match all.get(self.rng.usize(..all.len().max(1))) {
            Some((name, inner)) => (format!("{} in {name}", self.operand(inner, depth - 1, LESS)), LESS),
            None => ("true".to_owned(), 0),
        }
    }

    fn number(&mut self, depth: usize) -> Written {
        let literal = self.rng.u8(..4).to_string();
        if depth == 0 {
            return (literal, 0);
        }
        match self.rng.u8(..15) {
            12 => (format!("({},).0", self.expr(&Ty::Int, depth - 1)), 0),
            13 => (format!("(p = {}, q = {literal}).p", self.expr(&Ty::Int, depth - 1)), 0),
            14 if self.rng.bool() => ("2147483647 * 2147483647 * 4".to_owned(), TIMES),
            0 | 1 => self.between(&Ty::Int, depth, PLUS, &["+", "-"]),
            2 => self.between(&Ty::Int, depth, TIMES, &["*"]),
            3 => {
                let left = self.operand(&Ty::Int, depth - 1, TIMES);
                let sign = self.pick(&["/", "%"]);
                let divisor = if self.risk() { self.operand(&Ty::Int, 0, 0) } else { "2".to_owned() };
                (format!("{left} {sign} {divisor}"), TIMES)
            }
            4 => (format!("-{}", self.operand(&Ty::Int, depth - 1, UNARY)), UNARY),
            5 => {
                let of = [Ty::Color, Ty::Level, Ty::Float][self.rng.usize(..3)].clone();
                (format!("{} to int", self.operand(&of, depth - 1, CAST)), CAST)
            }
            6 if !self.spec && !self.old => (format!("choose({})", self.rng.u8(..3)), 0),
            7 | 8 => {
                let all: Vec<_> =
                    self.scope().iter().filter(|(_, of)| of.collects()).map(|(name, _)| name.clone()).collect();
                self.any_of(&all).map_or((literal, 0), |name| (format!("sizeof({name})"), 0))
            }
            9 => self.cast(&Ty::Int, depth),
            _ => (literal, 0),
        }
    }

    /// A value that is taken for anything, and back again.
    fn cast(&mut self, of: &Ty, depth: usize) -> Written {
        match self.variable(&Ty::Any) {
            Some(name) if self.risk() => (format!("{name} as {of}"), CAST),
            _ => (format!("{} as any as {of}", self.operand(of, depth - 1, CAST)), CAST),
        }
    }

    fn float(&mut self, depth: usize) -> Written {
        match self.rng.u8(..9) {
            0 if depth > 0 => self.between(&Ty::Float, depth, PLUS, &["+", "-"]),
            1 if depth > 0 => self.between(&Ty::Float, depth, TIMES, &["*", "/"]),
            2 | 3 if depth > 0 => (format!("{} to float", self.operand(&Ty::Int, depth - 1, CAST)), CAST),
            4 => ("float(2, 1)".to_owned(), 0),
            5 => (".5".to_owned(), 0),
            6 if depth > 0 => (format!("-{}", self.operand(&Ty::Float, depth - 1, UNARY)), UNARY),
            _ => (self.pick(&["1.5", "2.0", "0.25"]).to_owned(), 0),
        }
    }

    fn text(&mut self, depth: usize) -> Written {
        match self.rng.u8(..6) {
            0 if depth > 0 => self.between(&Ty::Text, depth, PLUS, &["+"]),
            1 if depth > 0 && !self.old => (format!("format(\"x{{0}}\", {})", self.expr(&Ty::Int, depth - 1)), 0),
            2 if depth > 0 && !self.old => {
                let (one, two) = (self.expr(&Ty::Text, depth - 1), self.expr(&Ty::Int, depth - 1));
                (format!("format(\"{{1}}-{{0}}\", {one}, {two})"), 0)
            }
            3 if !self.old => ("format(\"plain\")".to_owned(), 0),
            _ => (self.pick(&["\"\"", "\"a\"", "\"x1\"", "\"q\\\"t\""]).to_owned(), 0),
        }
    }

    fn machine(&mut self) -> Written {
        if let Some(name) = self.variable(&Ty::Machine).filter(|_| self.rng.bool()) {
            return (name, 0);
        }
        (if self.spec || self.risk() { "null" } else { "this" }.to_owned(), 0)
    }

    fn anything(&mut self, of: &Ty, depth: usize) -> Written {
        if self.rng.u8(..5) == 0 {
            return ("null".to_owned(), 0);
        }
        let all: Vec<Ty> = self.scope().iter().map(|(_, inner)| inner.clone()).collect();
        let inner = if all.is_empty() || self.rng.bool() { Ty::Int } else { all[self.rng.usize(..all.len())].clone() };
        let plain = !matches!(inner, Ty::Any | Ty::Data) && (*of == Ty::Any || !inner.has_machine());
        self.written(if plain { &inner } else { &Ty::Int }, depth.saturating_sub(1))
    }

    fn tuple(&mut self, of: &Ty, depth: usize) -> Written {
        if depth == 0 {
            return (format!("default({of})"), 0);
        }
        let parts = of.parts().into_iter().map(|(name, inner)| {
            let value = self.bounded(&inner, depth - 1);
            if matches!(of, Ty::Tuple(_)) { value } else { format!("{name} = {value}") }
        });
        let parts: Vec<_> = parts.collect();
        (format!("({})", parts.join(", ")), 0)
    }

    /// A value that does not grow: it may be kept or sent.
    pub(super) fn bounded(&mut self, of: &Ty, depth: usize) -> String {
        match of {
            Ty::Int => match self.rng.u8(..3) {
                0 => self.rng.u8(..3).to_string(),
                1 => self.variable(&Ty::Int).map_or_else(|| "1".to_owned(), |name| format!("{name} % 3")),
                _ => format!("({}) % 3", self.expr(&Ty::Int, depth)),
            },
            Ty::Float => self.pick(&["1.5", "2.0", ".5", "1 to float"]).to_owned(),
            Ty::Text => self.pick(&["\"\"", "\"a\"", "\"x1\""]).to_owned(),
            Ty::Any | Ty::Data => {
                let inner = [Ty::Int, Ty::Bool, Ty::Color, Ty::Pair, Ty::Text][self.rng.usize(..5)].clone();
                self.bounded(&inner, depth)
            }
            _ => self.expr(of, depth),
        }
    }
}

//! Random statements: what may be written where, and with which names.

use std::fmt::Write as _;

use fastrand::Rng;

use super::rich::{ANNOUNCING_CIRCLES, ASSUMPTIONS_OF_SPECS};
use super::types::{self, Ty};

/// A function that can be called.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) parameters: Vec<Ty>,
    pub(super) result: Option<Ty>,
    /// Whether it may leave the state.
    pub(super) leaves: bool,
}

/// What is known where something is written.
pub(super) struct Writer<'a> {
    pub(super) rng: &'a mut Rng,
    pub(super) old: bool,
    /// Specs may not do everything.
    pub(super) spec: bool,
    pub(super) events: Vec<(&'static str, Option<Ty>)>,
    pub(super) functions: Vec<Function>,
    /// The machines that can be created, with what they want.
    pub(super) kinds: Vec<(String, Option<Ty>)>,
    pub(super) states: Vec<&'static str>,
    /// Variables of the machine.
    pub(super) own: Vec<(String, Ty)>,
    pub(super) locals: Vec<(String, Ty)>,
    /// Counters of loops, which nobody else changes.
    pub(super) counters: usize,
    /// Whether a spec listens.
    pub(super) attached: bool,
    /// Those that are in use.
    pub(super) busy: Vec<String>,
}

/// What may be done in a block.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) leaves: bool,
    pub(super) loops: bool,
    pub(super) result: Option<Ty>,
    /// Whether a result is wanted at its end.
    pub(super) ends: bool,
    pub(super) depth: usize,
}

impl Writer<'_> {
    pub(super) fn pick<'b>(&mut self, all: &[&'b str]) -> &'b str {
        all[self.rng.usize(..all.len())]
    }

    pub(super) fn any_of(&mut self, all: &[String]) -> Option<String> {
        if all.is_empty() { None } else { Some(all[self.rng.usize(..all.len())].clone()) }
    }

    /// Variables that can be read. A local one hides one of the machine.
    pub(super) fn scope(&self) -> Vec<(String, Ty)> {
        let hidden = |name: &String| self.locals.iter().any(|(local, _)| local == name);
        let own = self.own.iter().filter(|(name, _)| !hidden(name));
        self.locals.iter().chain(own).cloned().collect()
    }

    pub(super) fn variable(&mut self, of: &Ty) -> Option<String> {
        let all: Vec<_> = self.scope().into_iter().filter(|(_, own)| own == of).map(|(name, _)| name).collect();
        self.any_of(&all)
    }

    /// A variable that may be changed.
    fn target(&mut self, wanted: impl Fn(&Ty) -> bool) -> Option<(String, Ty)> {
        let free = |(name, of): &(String, Ty)| wanted(of) && !name.starts_with("i_") && !name.starts_with("p_");
        let all: Vec<_> = self.scope().into_iter().filter(free).collect();
        if all.is_empty() { None } else { Some(all[self.rng.usize(..all.len())].clone()) }
    }

    pub(super) fn unit_event(&mut self) -> String {
        let all: Vec<_> = self.events.iter().filter(|(_, of)| of.is_none()).map(|(name, _)| *name).collect();
        self.pick(&all).to_owned()
    }

    /// An event with a payload that fits, as it is sent.
    fn letter(&mut self) -> String {
        let (name, of) = self.events[self.rng.usize(..self.events.len())].clone();
        match of {
            None => name.to_owned(),
            Some(Ty::Tuple(parts)) if self.rng.bool() => {
                let parts: Vec<_> = parts.iter().map(|of| self.bounded(of, 1)).collect();
                format!("{name}, {}", parts.join(", "))
            }
            Some(of) => format!("{name}, {}", self.bounded(&of, 2)),
        }
    }

    /// Statements between braces, with local variables.
    pub(super) fn body(&mut self, place: &Place) -> String {
        self.body_after("", place)
    }

    /// Statements between braces, after some others.
    pub(super) fn body_after(&mut self, first: &str, place: &Place) -> String {
        let before = self.locals.len();
        let mut text = String::from("{ ");
        for number in 0..self.rng.usize(..3) {
            let of = types::random(self.rng, self.old);
            let name = format!("l_{}", self.locals.len() + number);
            let _ = write!(text, "var {name}: {of}; ");
            self.locals.push((name, of));
        }
        let counter = format!("i_{}", self.counters);
        self.counters += 1;
        let _ = write!(text, "var {counter}: int; ");
        self.locals.push((counter, Ty::Int));
        text.push_str(first);
        text.push_str(&self.statements(place));
        if let Some(result) = place.result.as_ref().filter(|_| place.ends) {
            let _ = write!(text, "return {}; ", self.bounded(result, 2));
        }
        self.locals.truncate(before);
        text + "}"
    }

    fn statements(&mut self, place: &Place) -> String {
        let mut text = String::new();
        let many = if place.depth > 1 { 1..5 } else { 0..3 };
        for _ in 0..self.rng.usize(many) {
            let (line, ends) = self.statement(place);
            let _ = write!(text, "{line} ");
            if ends {
                break;
            }
        }
        text
    }

    /// A block in braces, or a statement without them.
    fn block(&mut self, place: &Place) -> String {
        let inner = Place { depth: place.depth.saturating_sub(1), ..place.clone() };
        if self.rng.u8(..4) == 0 {
            return self.statement(&inner).0;
        }
        format!("{{ {}}}", self.statements(&inner))
    }

    /// A statement, and whether nothing comes after it.
    fn statement(&mut self, place: &Place) -> (String, bool) {
        if place.leaves && self.rng.u8(..9) == 0 {
            return (self.leave(), true);
        }
        if place.loops && self.rng.u8(..5) == 0 {
            return (self.pick(&["break;", "continue;"]).to_owned(), true);
        }
        if self.rng.u8(..12) == 0 && !place.loops {
            if let Some(result) = &place.result {
                return (format!("if ({}) {{ return {}; }}", self.expr(&Ty::Bool, 2), self.bounded(result, 1)), false);
            }
            return ("return;".to_owned(), true);
        }
        let text = match self.rng.u8(..36) {
            30..=35 if !self.spec => self.send(),
            0..=5 if !self.spec => self.send(),
            6..=11 => self.assign(),
            12..=14 => self.collect(),
            15..=17 if place.depth > 0 => self.branch(place),
            18 if place.depth > 0 => self.repeat(place),
            19 if place.depth > 0 => self.each(place).unwrap_or_else(|| self.assign()),
            20 if place.depth > 0 && !self.spec => self.receive(place),
            21 => format!("assert {}{};", self.expr(&Ty::Bool, 3), self.pick(&["", "", ", \"wrong\""])),
            22 => self.careful(),
            23 => self.call_statement(place).unwrap_or_else(|| self.assign()),
            24 | 29 if !self.spec && ANNOUNCING_CIRCLES => format!("announce {};", self.letter()),
            24 | 29 if !self.spec => format!("if (told < 2) {{ told = told + 1; announce {}; }}", self.letter()),
            25 => self.print(),
            26 => self.pick(&[";", "{ }"]).to_owned(),
            27 if !self.old && (ASSUMPTIONS_OF_SPECS || !self.spec) && self.rng.bool() => {
                format!("assume {}{};", self.expr(&Ty::Bool, 2), self.pick(&["", ", \"so\""]))
            }
            28 if !self.spec && place.depth > 0 && self.rng.u8(..3) == 0 => self.create(),
            _ => self.assign(),
        };
        (text, false)
    }

    fn print(&mut self) -> String {
        let message = if self.old { "\"here\"".to_owned() } else { self.expr(&Ty::Text, 2) };
        format!("print {message};")
    }

    fn leave(&mut self) -> String {
        let state = self.states[self.rng.usize(..self.states.len())];
        match self.rng.u8(..10) {
            0..=3 => {
                let letter = if self.spec { self.heard() } else { self.letter() };
                format!("raise {letter};")
            }
            4 if !self.spec => "raise halt;".to_owned(),
            5 if self.old && !self.spec => "pop;".to_owned(),
            7 if !self.spec => {
                let (one, two) = (self.bounded(&Ty::Int, 1), self.expr(&Ty::Bool, 1));
                self.pick(&["goto Double, {};", "goto Double, ({});"]).replace("{}", &format!("{one}, {two}"))
            }
            6 if !self.spec => {
                let value = self.bounded(&Ty::Int, 1);
                format!("goto Numbered, {value};")
            }
            _ => format!("goto {state};"),
        }
    }

    /// An event that a spec raises.
    fn heard(&mut self) -> String {
        self.letter()
    }

    fn send(&mut self) -> String {
        let to_peer = ["peer", "peer", "this"][self.rng.usize(..3)].to_owned();
        let target = match self.rng.u8(..12) {
            0 => self.expr(&Ty::Machine, 1),
            1 if self.rng.u8(..4) == 0 && !self.kinds.is_empty() => {
                let (name, wants) = self.kinds[self.rng.usize(..self.kinds.len())].clone();
                format!("new {name}({})", self.argument(wants.as_ref()))
            }
            _ if self.own.iter().all(|(name, _)| name != "peer") => "this".to_owned(),
            _ => to_peer,
        };
        let letter = match self.rng.u8(..14) {
            0 => "halt".to_owned(),
            1 => self.expr(&Ty::Event, 1),
            _ => self.letter(),
        };
        let send = format!("send {target}, {letter};");
        if target.starts_with("new") {
            return format!("if (told < 2) {{ told = told + 1; {send} }}");
        }
        if target == "peer" && !self.risk() { format!("if (peer != null) {send}") } else { send }
    }

    fn create(&mut self) -> String {
        let Some((name, wants)) = self.kinds.get(self.rng.usize(..self.kinds.len().max(1))).cloned() else {
            return self.assign();
        };
        let argument = self.argument(wants.as_ref());
        let made = format!("new {name}({argument});");
        if self.own.iter().any(|(name, _)| name == "peer") && self.rng.bool() {
            return format!("if (peer == null && told < 2) {{ told = told + 1; peer = {made} }}");
        }
        format!("if (told < 2) {{ told = told + 1; {made} }}")
    }

    /// What a new machine is given.
    pub(super) fn argument(&mut self, wants: Option<&Ty>) -> String {
        match wants {
            None => String::new(),
            Some(Ty::Tuple(parts)) if self.rng.bool() => {
                let parts: Vec<_> = parts.iter().map(|of| self.given(of)).collect();
                parts.join(", ")
            }
            Some(Ty::Tuple(parts)) => {
                let parts: Vec<_> = parts.iter().map(|of| self.given(of)).collect();
                format!("({})", parts.join(", "))
            }
            Some(of) => self.given(of),
        }
    }

    fn given(&mut self, of: &Ty) -> String {
        match of {
            Ty::Machine => "this".to_owned(),
            Ty::Named(parts) => {
                let parts: Vec<_> = parts.iter().map(|(name, of)| format!("{name} = {}", self.given(of))).collect();
                format!("({}{})", parts.join(", "), if parts.len() == 1 { "," } else { "" })
            }
            _ => self.bounded(of, 1),
        }
    }

    fn assign(&mut self) -> String {
        let Some((name, of)) = self.target(|_| true) else { return ";".to_owned() };
        let parts = of.parts();
        if !parts.is_empty() && self.rng.bool() {
            let (part, inner) = parts[self.rng.usize(..parts.len())].clone();
            return format!("{name}.{part} = {};", self.bounded(&inner, 2));
        }
        let at = self.bounded(&Ty::Int, 1);
        match &of {
            Ty::Seq(inner) if self.rng.bool() && self.risk() => format!("{name}[0] = {};", self.bounded(inner, 2)),
            Ty::Seq(inner) if **inner == Ty::Pair && self.rng.bool() => {
                format!("if (sizeof({name}) > 0) {name}[0].x = {at};")
            }
            Ty::Map(key, inner) if self.rng.bool() => {
                let key = self.bounded(key, 1);
                format!("{name}[{key}] = {};", self.bounded(inner, 2))
            }
            _ => format!("{name} = {};", self.bounded(&of, 3)),
        }
    }

    /// Something that would go wrong if it were not asked for before.
    fn careful(&mut self) -> String {
        let Some((name, of)) = self.target(Ty::collects) else { return self.careful_cast() };
        let Some((other, Ty::Int)) = self.target(|of| *of == Ty::Int) else { return ";".to_owned() };
        match &of {
            Ty::Seq(inner) if **inner == Ty::Int => format!("if (sizeof({name}) > 0) {{ {other} = {name}[0] % 3; }}"),
            Ty::Seq(inner) if **inner == Ty::Pair => {
                format!("if (sizeof({name}) > 0) {{ {other} = {name}[0].x % 3; }}")
            }
            Ty::Map(key, inner) if **key == Ty::Color && **inner == Ty::Int => {
                format!("if (BLUE in {name}) {{ {other} = {name}[BLUE] % 3; }}")
            }
            Ty::Map(key, _) if **key == Ty::Int => {
                format!("if (sizeof({name}) > 0) {{ {other} = keys({name})[0] % 3; }}")
            }
            Ty::Set(inner) if **inner == Ty::Int => format!("if (sizeof({name}) > 0) {{ {other} = {name}[0] % 3; }}"),
            _ => format!("{other} = sizeof({name});"),
        }
    }

    fn careful_cast(&mut self) -> String {
        let Some((name, _)) = self.target(|of| matches!(of, Ty::Any | Ty::Data)) else { return self.assign() };
        let of = [Ty::Int, Ty::Bool, Ty::Pair, Ty::Color, Ty::Seq(Box::new(Ty::Int))][self.rng.usize(..5)].clone();
        let value = self.bounded(&of, 1);
        let test = match of {
            Ty::Bool => format!("{name} as bool"),
            Ty::Pair => format!("({name} as Pair).b"),
            Ty::Seq(_) => format!("sizeof({name} as seq[int]) > 0"),
            _ => format!("{name} as {of} == {}", self.bounded(&of, 1)),
        };
        format!("{name} = {value}; if ({test}) {{ {} }}", self.assign())
    }

    /// An insertion or a removal.
    fn collect(&mut self) -> String {
        let Some((name, of)) = self.target(Ty::collects) else { return self.assign() };
        if let Ty::Map(_, inner) = &of
            && inner.collects()
        {
            return self.collect_inside(&name);
        }
        let removes = self.rng.u8(..3) == 0;
        let (change, asks) = match &of {
            Ty::Seq(_) if removes => (format!("{name} -= {};", self.rng.u8(..2)), format!("sizeof({name}) > 1")),
            Ty::Seq(inner) => {
                // It must not grow without end.
                let at =
                    ["0", "1", &format!("sizeof({name})"), &format!("sizeof({name})")][self.rng.usize(..4)].to_owned();
                return format!("if (sizeof({name}) < 2) {{ {name} += ({at}, {}); }}", self.bounded(inner, 1));
            }
            Ty::Set(inner) if removes => (format!("{name} -= {};", self.item(inner)), "true".to_owned()),
            Ty::Set(inner) => (format!("{name} += ({});", self.item(inner)), "true".to_owned()),
            Ty::Map(key, _) if removes => (format!("{name} -= {};", self.bounded(key, 1)), "true".to_owned()),
            Ty::Map(key, inner) => {
                let (key, inner) = (self.bounded(key, 0), self.bounded(inner, 1));
                (format!("{name} += ({key}, {inner});"), format!("!({key} in {name})"))
            }
            _ => return self.assign(),
        };
        if self.risk() { change } else { format!("if ({asks}) {{ {change} }}") }
    }

    /// A change of a sequence in a map.
    fn collect_inside(&mut self, name: &str) -> String {
        let key = self.rng.u8(..2);
        let change = match self.rng.u8(..5) {
            0 => return format!("{name}[{key}] = default(seq[int]);"),
            1 | 2 => {
                format!("if (sizeof({name}[{key}]) < 2) {{ {name}[{key}] += (0, {}); }}", self.bounded(&Ty::Int, 1))
            }
            3 => format!("{name}[{key}][0] = {};", self.bounded(&Ty::Int, 1)),
            _ => format!("{name}[{key}] -= 0;"),
        };
        if self.risk() { change } else { format!("if ({key} in {name}) {{ {change} }}") }
    }

    fn item(&mut self, of: &Ty) -> String {
        let item = self.bounded(of, 1);
        if item.starts_with('(') { format!("({item})") } else { item }
    }

    fn branch(&mut self, place: &Place) -> String {
        let condition = self.expr(&Ty::Bool, 3);
        let yes = self.block(place);
        if self.rng.bool() {
            return format!("if ({condition}) {{ {yes} }}");
        }
        format!("if ({condition}) {{ {yes} }} else {}", self.block(place))
    }

    fn repeat(&mut self, place: &Place) -> String {
        let inner = Place { loops: true, depth: place.depth - 1, ..place.clone() };
        if !self.spec && self.rng.u8(..4) == 0 {
            let choice = self.pick(&["$$", "$$", "$"]);
            return format!("while ({choice}) {{ {}}}", self.statements(&inner));
        }
        let free = |(name, _): &&(String, Ty)| name.starts_with("i_") && !self.busy.contains(name);
        let Some((counter, _)) = self.locals.iter().rfind(free).cloned() else { return self.assign() };
        self.busy.push(counter.clone());
        let body = self.statements(&inner);
        self.busy.pop();
        format!("{counter} = 0; while ({counter} < {}) {{ {counter} = {counter} + 1; {body}}}", self.rng.u8(1..4))
    }

    fn each(&mut self, place: &Place) -> Option<String> {
        let inner = Place { loops: true, depth: place.depth - 1, ..place.clone() };
        let elements = |(name, of): &(String, Ty)| match of {
            Ty::Seq(inner) | Ty::Set(inner) | Ty::Map(inner, _) => Some((name.clone(), (**inner).clone())),
            _ => None,
        };
        let all: Vec<_> = self.scope().iter().filter_map(elements).filter(|_| !self.old).collect();
        let (name, of) = all.get(self.rng.usize(..all.len().max(1)))?.clone();
        let variable = self.target(|other| *other == of)?.0;
        Some(format!("foreach ({variable} in {name}) {{ {}}}", self.statements(&inner)))
    }

    fn receive(&mut self, place: &Place) -> String {
        // What it jumps to would be outside of the case.
        let inner = Place { loops: false, ends: false, depth: place.depth - 1, ..place.clone() };
        let mut cases = String::new();
        let first = self.rng.usize(..self.events.len());
        for number in 0..self.rng.usize(1..3) {
            let (name, of) = self.events[(first + number) % self.events.len()].clone();
            let before = self.locals.len();
            let head = match of {
                Some(of) if self.rng.bool() => {
                    let parameter = format!("p_{}", self.locals.len());
                    self.locals.push((parameter.clone(), of.clone()));
                    format!("({parameter}: {of}) ")
                }
                _ => String::new(),
            };
            let body = if self.rng.bool() { self.body(&inner) } else { "{ }".to_owned() };
            self.locals.truncate(before);
            let _ = write!(cases, "case {name}: {head}{body} ");
        }
        if first > 1 && self.events.len() == 5 && self.rng.u8(..3) == 0 && !cases.contains("case eA") {
            cases.push_str("case eA, eB: { } ");
        }
        match self.rng.u8(..8) {
            0..=2 => cases.push_str("case null: { } "),
            3 => cases.push_str("case halt: { raise halt; } "),
            _ => {}
        }
        if !inner.leaves {
            cases = cases.replace("case halt: { raise halt; } ", "case halt: { } ");
        }
        format!("receive {{ {cases}}}")
    }

    /// A call whose value is not wanted.
    fn call_statement(&mut self, place: &Place) -> Option<String> {
        let fits = |function: &Function| function.result.is_none() && (place.leaves || !function.leaves);
        let all: Vec<_> = self.functions.iter().filter(|function| fits(function)).cloned().collect();
        let function = all.get(self.rng.usize(..all.len().max(1)))?.clone();
        let arguments: Vec<_> = function.parameters.iter().map(|of| self.bounded(of, 1)).collect();
        Some(format!("{}({});", function.name, arguments.join(", ")))
    }
}

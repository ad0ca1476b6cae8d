//! Random programs that have everything the language has. They are well-typed by construction, and small.

use std::fmt::Write as _;

use fastrand::Rng;

use super::types::{self, DECLARED, Ty};
use super::writer::{Function, Place, Writer};

/// A program and its dialect.
#[derive(Clone, Debug)]
pub struct Rich {
    /// The text.
    pub text: String,
    /// Whether it is in the old dialect.
    pub old: bool,
}

/// Tepui says *unknown* where a step pushes states for ever, or calls, or makes a sequence longer.
const ENDLESS_GROWTH: bool = false;

/// Tepui says *unknown* where a step announces something again and again that a spec observes.
pub(super) const ANNOUNCING_CIRCLES: bool = false;

/// Tepui does not know what to say where an assumption fails before anything else happens.
pub(super) const ASSUMPTIONS_OF_SPECS: bool = false;

/// Tepui does not ask what an interface may get.
const NARROW_INTERFACES: bool = false;

/// Names, most of which are words elsewhere.
const WORDS: [&str; 14] = [
    "w",
    "sent",
    "is",
    "pure",
    "invariant",
    "axiom",
    "targets",
    "inflight",
    "using",
    "requires",
    "safe",
    "push",
    "pop",
    "prove",
];

const STATES: [&str; 2] = ["Other", "Third"];

/// Writes a program.
pub fn write(rng: &mut Rng) -> Rich {
    let old = rng.u8(..4) == 0;
    let mut events = vec![("eA", None), ("eB", None)];
    for name in ["eP", "eQ", "eR"] {
        events.push((name, Some(types::random(rng, old))));
    }
    let mut text = String::from(if rng.bool() { "// A program.\n" } else { "/* A program. */\n" });
    text.push_str(DECLARED);
    declare_events(rng, old, &events, &mut text);
    let others = rng.usize(1..3);
    let kinds: Vec<_> = (1..=others).map(|number| (format!("M{number}"), wants(rng))).collect();
    let attached = rng.bool();
    let mut writer = Writer {
        rng,
        old,
        spec: false,
        events,
        functions: Vec::new(),
        kinds,
        states: STATES.to_vec(),
        own: Vec::new(),
        locals: Vec::new(),
        counters: 0,
        busy: Vec::new(),
        attached,
    };
    let spec = writer.attached;
    let globals = writer.globals(&mut text);
    let interface = writer.rng.u8(..4) == 0;
    if interface {
        writer.interface(&mut text);
    }
    writer.main(&globals, &mut text);
    for number in 0..others {
        writer.other(number, &globals, &mut text);
    }
    if spec {
        writer.spec(&globals, &mut text);
    }
    writer.test(spec, interface, &mut text);
    Rich { text, old }
}

/// What a machine is given when it starts.
fn wants(rng: &mut Rng) -> Option<Ty> {
    match rng.u8(..5) {
        0 => None,
        1 => Some(Ty::Tuple(vec![Ty::Machine, Ty::Int])),
        2 => Some(Ty::Named(vec![("boss", Ty::Machine), ("n", Ty::Int)])),
        3 => Some(Ty::Named(vec![("boss", Ty::Machine)])),
        _ => Some(Ty::Machine),
    }
}

fn declare_events(rng: &mut Rng, old: bool, events: &[(&'static str, Option<Ty>)], text: &mut String) {
    for (name, of) in events {
        let bound = match rng.u8(..8) {
            0 if old => " assume 1",
            1 if old => " assert 1",
            2 if old => " assume 2",
            _ => "",
        };
        let of = of.as_ref().map_or(String::new(), |of| format!(": {of}"));
        let _ = writeln!(text, "event {name}{bound}{of};");
    }
    if rng.u8(..4) == 0 {
        text.push_str("eventset Some = { eA, eB, eP };\n");
    }
}

impl Writer<'_> {
    fn place(&mut self, leaves: bool) -> Place {
        Place { leaves, loops: false, result: None, ends: false, depth: 2 }
    }

    /// An interface for the first machine.
    fn interface(&mut self, text: &mut String) {
        let all = self.events.iter().map(|(name, _)| *name).skip(usize::from(NARROW_INTERFACES));
        let all: Vec<_> = all.collect();
        let wants = self.kinds[0].1.as_ref().map_or(String::new(), ToString::to_string);
        let _ = writeln!(text, "interface Face({wants}) receives {}, halt;", all.join(", "));
        self.kinds[0].0 = "Face".to_owned();
    }

    /// Functions that all machines have.
    fn globals(&mut self, text: &mut String) -> Vec<Function> {
        let mut all = Vec::new();
        for name in ["Mix", "Pass"] {
            let result = [Ty::Int, Ty::Bool, Ty::Pair, Ty::Color][self.rng.usize(..4)].clone();
            self.spec = true;
            let function = self.function(name, Some(result), false, text);
            self.spec = false;
            all.push(function);
        }
        let _ = writeln!(
            text,
            "fun Tell(m: machine, b: bool) {{ if (b && m != null) {{ send m, {}; }} }}",
            self.unit_event()
        );
        if self.rng.u8(..3) == 0 {
            // Written elsewhere, which may return anything.
            for (name, parameter, result) in [("Asked", Ty::Int, Ty::Bool), ("Drawn", Ty::Color, Ty::Color)] {
                let _ = writeln!(text, "fun {name}(a: {parameter}): {result};");
                let (name, parameters) = (name.to_owned(), vec![parameter]);
                all.push(Function { name, parameters, result: Some(result), leaves: false });
            }
            let _ = writeln!(text, "fun Shown(b: bool);");
            let (name, parameters) = ("Shown".to_owned(), vec![Ty::Bool]);
            all.push(Function { name, parameters, result: None, leaves: false });
        }
        let parameters = vec![Ty::Machine, Ty::Bool];
        let _ = writeln!(text, "fun Fall(k: int): int {{ if (k <= 0) {{ return 0; }} return Fall(k - 1) + 1; }}");
        let fall =
            Function { name: "Fall".to_owned(), parameters: vec![Ty::Color], result: Some(Ty::Int), leaves: false };
        all.push(Function { name: "Near".to_owned(), ..fall });
        let _ = writeln!(text, "fun Near(c: Color): int {{ return Fall(c to int); }}");
        all.push(Function { name: "Tell".to_owned(), parameters, result: None, leaves: false });
        all
    }

    /// A function with some parameters.
    fn function(&mut self, name: &str, result: Option<Ty>, leaves: bool, text: &mut String) -> Function {
        let count = self.rng.usize(..3);
        let parameters: Vec<Ty> = (0..count).map(|_| types::random(self.rng, self.old)).collect();
        let named: Vec<_> =
            parameters.iter().enumerate().map(|(number, of)| (format!("a_{number}"), of.clone())).collect();
        let list: Vec<_> = named.iter().map(|(name, of)| format!("{name}: {of}")).collect();
        self.locals = named;
        let place = Place { leaves, loops: false, result: result.clone(), ends: true, depth: 2 };
        let body = self.body(&place);
        self.locals.clear();
        let returns = result.as_ref().map_or(String::new(), |of| format!(": {of}"));
        let _ = writeln!(text, "  fun {name}({}){returns} {body}", list.join(", "));
        Function { name: name.to_owned(), parameters, result, leaves }
    }

    /// The functions of a machine.
    fn local_functions(&mut self, globals: &[Function], text: &mut String) {
        self.functions = globals.iter().filter(|function| !self.spec || function.name != "Tell").cloned().collect();
        let counted = self.variable(&Ty::Int);
        if let Some(counted) = counted {
            let _ = writeln!(text, "  fun Inc(): int {{ {counted} = ({counted} + 1) % 3; return {counted}; }}");
            self.functions.push(Function {
                name: "Inc".to_owned(),
                parameters: Vec::new(),
                result: Some(Ty::Int),
                leaves: false,
            });
        }
        let truth = self.function("Ask", Some(Ty::Bool), false, text);
        let leaves = self.rng.bool();
        let act = self.function("Act", None, leaves, text);
        self.functions.extend([truth, act]);
    }

    fn variables(&mut self, text: &mut String) {
        self.own = vec![("n".to_owned(), Ty::Int), ("v".to_owned(), types::random(self.rng, self.old))];
        if self.rng.bool() {
            let word = WORDS[self.rng.usize(..WORDS.len())];
            let name = if self.old && matches!(word, "push" | "pop") { "w" } else { word };
            self.own.push((name.to_owned(), types::random(self.rng, self.old)));
        }
        for (name, of) in &self.own {
            let _ = writeln!(text, "  var {name}: {of};");
        }
        if !self.spec {
            self.own.push(("peer".to_owned(), Ty::Machine));
            text.push_str("  var peer, spare: machine; var told: int;\n");
        }
    }

    fn permissions(&mut self) -> String {
        let all: Vec<_> = self.events.iter().map(|(name, _)| *name).collect();
        let most = if self.rng.u8(..3) == 0 { &all[1..] } else { &all[..] };
        // An interface has no more events than its machine.
        let asks = self.kinds.iter().all(|(name, _)| name != "Face");
        let receives =
            if self.rng.u8(..8) == 0 && asks { format!(" receives {}, halt;", most.join(", ")) } else { String::new() };
        let sends = if self.rng.u8(..8) == 0 { format!(" sends {}, halt;", most.join(", ")) } else { String::new() };
        receives + &sends
    }

    fn bound(&mut self) -> &'static str {
        match self.rng.u8(..16) {
            0 if self.old => " assume 2",
            1 if self.old => " assert 2",
            _ => "",
        }
    }

    fn main(&mut self, globals: &[Function], text: &mut String) {
        let (bound, permissions) = (self.bound(), self.permissions());
        let _ = writeln!(text, "machine Main{bound}{permissions} {{");
        self.variables(text);
        self.local_functions(globals, text);
        let mut first = String::new();
        for (name, wants) in self.kinds.clone() {
            let argument = self.argument(wants.as_ref());
            let _ = write!(first, "peer = new {name}({argument}); ");
        }
        let place = self.place(true);
        let _ = writeln!(text, "  start state Init {{ entry {}", self.body_after(&first, &place));
        self.handlers(text);
        text.push_str("  }\n");
        self.rest_of_states(text);
    }

    fn other(&mut self, number: usize, globals: &[Function], text: &mut String) {
        let wants = self.kinds[number].1.clone();
        let (bound, permissions) = (self.bound(), self.permissions());
        let kinds = std::mem::take(&mut self.kinds);
        self.kinds = kinds[number + 1..].to_vec();
        let _ = writeln!(text, "machine M{}{bound}{permissions} {{", number + 1);
        self.variables(text);
        self.local_functions(globals, text);
        let head = match &wants {
            None => String::new(),
            Some(of) => format!("(start_with: {of})"),
        };
        let first = match &wants {
            Some(Ty::Machine) => "peer = start_with; ",
            Some(Ty::Tuple(_)) => "peer = start_with.0; n = start_with.1; ",
            Some(Ty::Named(_)) => "peer = start_with.boss; ",
            _ => "",
        };
        let place = self.place(true);
        let _ = writeln!(text, "  start state Init {{ entry {head} {}", self.body_after(first, &place));
        self.handlers(text);
        text.push_str("  }\n");
        self.rest_of_states(text);
        self.kinds = kinds;
    }

    /// The other states of a machine, and its end.
    fn rest_of_states(&mut self, text: &mut String) {
        for name in STATES {
            let _ = write!(text, "  state {name} {{ ");
            if self.rng.bool() {
                let place = self.place(true);
                let _ = write!(text, "entry {} ", self.body(&place));
            } else if self.rng.u8(..3) == 0 {
                text.push_str("entry Begin; ");
            }
            text.push('\n');
            self.handlers(text);
            text.push_str("  }\n");
        }
        if self.old {
            // Its entry does not push again, so that steps end.
            let place = self.place(false);
            self.state_after("Pushed", None, "", &place, text);
        }
        let place = self.place(true);
        self.state_after("Numbered", Some(Ty::Int), "n = p_0; ", &place, text);
        self.state_after("Double", Some(Ty::Tuple(vec![Ty::Int, Ty::Bool])), "", &place, text);
        self.named_handlers(text);
        text.push_str("}\n");
    }

    /// A state whose entry begins with something.
    fn state_after(&mut self, name: &str, of: Option<Ty>, first: &str, place: &Place, text: &mut String) {
        let head = of.as_ref().map_or(String::new(), |of| format!("(p_0: {of}) "));
        self.locals = of.map(|of| ("p_0".to_owned(), of)).into_iter().collect();
        let _ = writeln!(text, "  state {name} {{ entry {head}{}", self.body_after(first, place));
        self.locals.clear();
        self.handlers(text);
        text.push_str("  }\n");
    }

    /// Functions that handle events.
    fn named_handlers(&mut self, text: &mut String) {
        let (leaving, staying) = (self.place(true), self.place(false));
        for (name, of) in self.events.clone() {
            if let Some(of) = of {
                self.locals = vec![("p_0".to_owned(), of.clone())];
                let _ = writeln!(text, "  fun On{name}(p_0: {of}) {}", self.body(&leaving));
                let _ = writeln!(text, "  fun With{name}(p_0: {of}) {}", self.body(&staying));
                self.locals.clear();
            }
        }
        let _ = writeln!(text, "  fun Begin() {}", self.body(&leaving));
        let _ = writeln!(text, "  fun End() {}", self.body(&staying));
    }

    /// What a state does with events; as a rule with all of them.
    fn handlers(&mut self, text: &mut String) {
        let mut events = self.events.clone();
        if self.rng.u8(..6) == 0 {
            let (one, two) = (events.remove(0).0, events.remove(0).0);
            let what = self.pick(&["ignore {};", "on {} do Begin;", "on {} goto Other;", "defer {};"]);
            let what = if self.spec { "ignore {};" } else { what };
            let _ = writeln!(text, "    {}", what.replace("{}", &format!("{one}, {two}")));
        }
        for (name, of) in events {
            let handler = self.handler(name, of.as_ref());
            let _ = writeln!(text, "    {handler}");
        }
        if self.spec {
            return;
        }
        if self.rng.u8(..7) == 0 {
            let place = self.place(false);
            let body = if self.rng.bool() { self.body(&place) } else { "End;".to_owned() };
            let _ = writeln!(text, "    exit {body}");
        }
        let special = match self.rng.u8(..14) {
            0 => "on null do { n = (n + 1) % 3; if (n == 0) { raise halt; } }",
            1 => "on null goto Other;",
            2 => "on halt do { n = 2; }",
            3 => "on halt goto Third;",
            4 => "ignore halt;",
            5 => "defer halt;",
            _ => "",
        };
        let _ = writeln!(text, "    {special}");
    }

    fn handler(&mut self, name: &str, of: Option<&Ty>) -> String {
        let state = self.pick(&STATES);
        let number = of == Some(&Ty::Int);
        match self.rng.u8(..16) {
            0 | 1 => format!("ignore {name};"),
            2 | 3 if !self.spec => format!("defer {name};"),
            4 | 5 => format!("on {name} goto {state};"),
            6 => {
                let (head, body) = self.handled(of, false);
                format!("on {name} goto {state} with {head}{body}")
            }
            7 if !self.spec && of.is_some() && self.rng.bool() => format!("on {name} goto {state} with With{name};"),
            7 if !self.spec => format!("on {name} goto {state} with End;"),
            8 if !self.spec && of.is_some() && self.rng.bool() => format!("on {name} do On{name};"),
            8 if !self.spec => format!("on {name} do Begin;"),
            9 if number && !self.spec => format!("on {name} goto Numbered;"),
            9 if self.old && !self.spec => format!("on {name} push {};", if ENDLESS_GROWTH { state } else { "Pushed" }),
            10 if self.rng.u8(..3) == 0 => String::new(),
            _ => {
                let (head, body) = self.handled(of, true);
                format!("on {name} do {head}{body}")
            }
        }
    }

    /// A function written where an event is handled.
    fn handled(&mut self, of: Option<&Ty>, leaves: bool) -> (String, String) {
        let place = self.place(leaves);
        let Some(of) = of.filter(|_| self.rng.u8(..3) > 0) else { return (String::new(), self.body(&place)) };
        self.locals = vec![("p_0".to_owned(), of.clone())];
        let body = self.body(&place);
        self.locals.clear();
        (format!("(p_0: {of}) "), body)
    }

    fn spec(&mut self, globals: &[Function], text: &mut String) {
        self.spec = true;
        let all: Vec<_> = self.events.iter().map(|(name, _)| *name).collect();
        let _ = writeln!(text, "spec S observes {} {{", all.join(", "));
        self.variables(text);
        self.local_functions(globals, text);
        for (number, name) in ["Init", "Other", "Third"].into_iter().enumerate() {
            let start = if number == 0 { "start " } else { "" };
            let temperature = self.pick(&["", "", "hot ", "cold "]);
            let _ = writeln!(text, "  {start}{temperature}state {name} {{");
            if self.rng.u8(..3) == 0 {
                let place = self.place(true);
                let _ = writeln!(text, "    entry {}", self.body(&place));
            }
            self.handlers(text);
            text.push_str("  }\n");
        }
        text.push_str("}\n");
        self.spec = false;
        if !self.old && self.rng.u8(..4) == 0 {
            text.push_str("scenario Story observes eA, eB { start state One { on eA goto Two; ignore eB; } ");
            text.push_str("hot state Two { on eB goto One; ignore eA; } }\n");
        }
    }

    fn test(&mut self, spec: bool, interface: bool, text: &mut String) {
        let count = self.kinds.len();
        let own = |number: usize| match (number, interface, self.old) {
            (1, true, true) => "Face -> M1".to_owned(),
            (1, true, false) => "M1 -> Face".to_owned(),
            _ => format!("M{number}"),
        };
        let others: Vec<_> = (1..=count).map(own).collect();
        let others = others.join(", ");
        if self.old {
            let _ = writeln!(text, "test t: main Main in {{ Main, {others} }};");
            return;
        }
        let attach = if spec { "assert S in " } else { "" };
        let word = if self.rng.u8(..4) == 0 { "implementation" } else { "test" };
        let module = match self.rng.u8(..4) {
            0 => format!("({attach}{{ Main, {others} }})"),
            1 => {
                let _ = writeln!(text, "module rest = {{ {others} }};");
                let _ = writeln!(text, "module all = union {{ Main }}, rest;");
                format!("{attach}all")
            }
            2 => format!("{attach}(compose {{ Main }}, {{ {others} }})"),
            _ => format!("{attach}{{ Main, {others} }}"),
        };
        let _ = writeln!(text, "{word} t [main=Main]: {module};");
    }
}

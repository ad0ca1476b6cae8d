//! Declarations and procedures.

use super::{Kind, Now, Signature, Variable, Writer};
use crate::second::Dialect;

impl Writer<'_> {
    pub(super) fn program(&mut self) {
        if self.braces() && self.one_in(3) {
            self.enumeration();
        }
        self.shared_variables();
        let most = if self.dialect == Dialect::Satabs { 1 } else { 3 };
        for number in 0..self.rng.usize(usize::from(most > 1)..=most) {
            let signature = self.signature(number);
            self.procedures.push(signature);
        }
        let main_first = self.one_in(4);
        if main_first {
            self.main();
        }
        for number in 0..self.procedures.len() {
            self.procedure(number);
        }
        if matches!(self.dialect, Dialect::Satabs | Dialect::Boppo) && self.one_in(5) {
            self.unused();
        }
        if !main_first {
            self.main();
        }
    }

    fn enumeration(&mut self) {
        self.colours = ["red", "green", "blue"][..self.rng.usize(2..=3)].iter().map(|&name| name.to_owned()).collect();
        if self.one_in(5) {
            self.colours[1] = self.name("green".to_owned());
        }
        let line = format!("enum Colour {{ {} }}", self.colours.join(", "));
        self.put(&line);
    }

    fn shared_variables(&mut self) {
        for number in 0..[1, 2, 2, 3][self.rng.usize(..4)] {
            let name = self.name(format!("s{number}"));
            self.shared.push(Variable { name, kind: Kind::Boolean });
        }
        let mut colours = Vec::new();
        if !self.colours.is_empty() && self.one_in(2) {
            colours.push(Variable { name: self.name("c".to_owned()), kind: Kind::Colour });
        }
        let variables = self.shared.clone();
        self.declare(&variables);
        self.declare(&colours);
        self.shared.extend(colours);
        if self.braces() && self.one_in(3) {
            let name = self.name("l".to_owned());
            self.put(&format!("lock {name};"));
            self.shared.push(Variable { name, kind: Kind::Boolean });
        }
    }

    /// Declares variables of one kind, together or one by one.
    fn declare(&mut self, variables: &[Variable]) {
        let together = self.one_in(2);
        let lines: Vec<&[Variable]> =
            if together { variables.chunks(variables.len().max(1)).collect() } else { variables.chunks(1).collect() };
        for line in lines {
            let suffix = |kind| if kind == Kind::Colour { ": Colour" } else { "" };
            let names: Vec<_> =
                line.iter().map(|variable| format!("{}{}", variable.name, suffix(variable.kind))).collect();
            let values = if self.braces() { self.initial_values(line) } else { String::new() };
            self.put(&format!("decl {}{values};", names.join(", ")));
        }
    }

    fn initial_values(&mut self, variables: &[Variable]) -> String {
        let count = match self.rng.usize(..4) {
            0 => return String::new(),
            1 => 1,
            _ => variables.len(),
        };
        let values: Vec<_> = variables[..count].iter().map(|variable| self.initial_value(variable.kind)).collect();
        format!(" := {}", values.join(", "))
    }

    fn initial_value(&mut self, kind: Kind) -> String {
        match kind {
            _ if self.one_in(6) => "*".to_owned(),
            Kind::Boolean => self.constant().to_owned(),
            Kind::Colour => self.colours[self.rng.usize(..self.colours.len())].clone(),
        }
    }

    fn kind(&mut self) -> Kind {
        if !self.colours.is_empty() && self.one_in(3) { Kind::Colour } else { Kind::Boolean }
    }

    fn signature(&mut self, number: usize) -> Signature {
        let name = self.name(format!("p{number}"));
        let parameters = (0..[0, 0, 1, 1, 2][self.rng.usize(..5)]).map(|_| self.kind()).collect();
        let results = match self.rng.usize(..6) {
            0 | 1 => vec![self.kind()],
            2 => vec![Kind::Boolean; [1, 2, 2][self.rng.usize(..3)]],
            _ => Vec::new(),
        };
        Signature { name, parameters, results }
    }

    fn procedure(&mut self, number: usize) {
        let Signature { name, parameters, results } = self.procedures[number].clone();
        let left = self.rng.usize(2..=6);
        self.now = Now { number, results: results.clone(), left, ..Now::default() };
        for (index, &kind) in parameters.iter().enumerate() {
            let name = self.local_name(format!("x{index}"));
            self.now.locals.push(Variable { name, kind });
        }
        let head = self.now.locals.iter().map(|variable| match variable.kind {
            Kind::Boolean => variable.name.clone(),
            Kind::Colour => format!("{}: Colour", variable.name),
        });
        let head: Vec<_> = head.collect();
        let kind = match results[..] {
            [] => "void",
            [Kind::Colour] => "Colour",
            [Kind::Boolean] if !self.one_in(3) => "bool",
            [_] => "bool<1>",
            _ => "bool<2>",
        };
        let begin = if self.braces() { "{" } else { "begin" };
        self.put(&format!("{kind} {name}({}) {begin}", head.join(", ")));
        self.declarations();
        self.body();
    }

    /// A name of a local variable, which may be that of a shared one.
    fn local_name(&mut self, usual: String) -> String {
        let hidden = self.shared[self.rng.usize(..self.shared.len())].name.clone();
        let name = if self.one_in(5) { hidden } else { self.name(usual.clone()) };
        if self.now.locals.iter().any(|local| local.name == name) { usual } else { name }
    }

    /// What stands at the beginning of a procedure.
    fn declarations(&mut self) {
        for number in 0..[0, 0, 1, 1, 2][self.rng.usize(..5)] {
            let name = self.local_name(format!("y{number}"));
            let kind = self.kind();
            self.now.locals.push(Variable { name, kind });
        }
        let parameters = self.procedures.get(self.now.number).map_or(0, |signature| signature.parameters.len());
        let locals = self.now.locals[parameters..].to_vec();
        let enforced = self.one_in(6).then(|| self.boolean());
        let before = self.one_in(2);
        if let (Some(condition), true) = (&enforced, before) {
            self.put(&format!("enforce {condition};"));
        }
        if let ([only], true) = (locals.as_slice(), self.braces() && self.one_in(6))
            && only.kind == Kind::Boolean
        {
            self.put(&format!("lock {};", only.name));
        } else if locals.iter().all(|local| local.kind == Kind::Boolean) {
            self.declare(&locals);
        } else {
            locals.iter().for_each(|local| self.declare(std::slice::from_ref(local)));
        }
        if let (Some(condition), false) = (&enforced, before) {
            self.put(&format!("enforce {condition};"));
        }
    }

    /// Statements and the end of a procedure.
    fn body(&mut self) {
        let empty = self.now.results.is_empty() && self.one_in(15);
        while self.now.left > 0 && !empty {
            self.statement(2);
        }
        if !self.now.results.is_empty() {
            self.labels();
            self.put_return();
        } else if self.one_in(4) {
            self.labels();
        }
        self.end_procedure();
    }

    fn end_procedure(&mut self) {
        self.write_jumps();
        let end = if self.braces() { "}" } else { "end" };
        self.put(&format!("\n{end}"));
    }

    /// A procedure that is never executed.
    fn unused(&mut self) {
        self.now = Now { number: 0, ..Now::default() };
        self.put("void unused() begin");
        self.put("assert(F);");
        self.end_procedure();
    }

    /// Where all begins; for Getafix, one of the threads and what runs before them.
    fn main(&mut self) {
        if self.dialect == Dialect::Getafix {
            return self.getafix_main();
        }
        let number = self.procedures.len();
        self.now = Now { number, left: self.rng.usize(1..=3), ..Now::default() };
        let begin = if self.braces() { "{" } else { "begin" };
        self.put(&format!("void main() {begin}"));
        if self.one_in(3) {
            self.declarations();
        }
        if !self.braces() && !self.one_in(4) {
            self.set_all();
        }
        if self.one_in(3) {
            self.statement(1);
        }
        self.started();
        if self.one_in(2) {
            self.body();
        } else {
            self.end_procedure();
        }
    }

    fn getafix_main(&mut self) {
        let number = self.procedures.len();
        if self.one_in(3) {
            self.now = Now { number, left: self.rng.usize(1..=3), ..Now::default() };
            self.put("void main() begin");
            self.declarations();
            self.body();
        }
        if !self.one_in(3) {
            self.now = Now::default();
            self.put("void init() begin");
            self.set_all();
            self.end_procedure();
        }
    }

    /// Gives all shared variables values.
    fn set_all(&mut self) {
        let shared = self.shared.clone();
        let hidden = |name: &str| self.now.locals.iter().any(|local| local.name == name);
        let shared: Vec<_> = shared.into_iter().filter(|variable| !hidden(&variable.name)).collect();
        if shared.is_empty() {
            return;
        }
        let names: Vec<_> = shared.iter().map(|variable| variable.name.clone()).collect();
        let values: Vec<_> = shared.iter().map(|variable| self.initial_value(variable.kind)).collect();
        self.labels();
        self.put(&format!("{} := {};", names.join(", "), values.join(", ")));
    }

    /// The threads that the others are about.
    fn started(&mut self) {
        if self.procedures.is_empty() {
            return;
        }
        for _ in 0..self.rng.usize(1..=2) {
            let number = self.rng.usize(..self.procedures.len());
            self.labels();
            self.put_start(number);
        }
    }
}

//! Declarations and procedures.

use super::{Kind, LIGHTS, Now, Signature, Variable, Writer};
use crate::second::Dialect;

impl Writer<'_> {
    pub(super) fn program(&mut self) {
        if self.braces() && self.one_in(3) {
            self.enumeration();
        }
        if self.rich {
            self.put_definitions();
        }
        if self.tasks && !self.one_in(3) {
            let order = self.pick(&["bag", "bag", "fifo", "lifo"]);
            self.put(&format!("tasks {order};"));
        }
        self.shared_variables();
        let most = if self.dialect == Dialect::Satabs { 1 } else { 3 };
        for number in 0..self.rng.usize(usize::from(most > 1)..=most) {
            let signature = self.signature(number);
            self.procedures.push(signature);
        }
        if let Some((_, owner)) = &mut self.private {
            let most = self.procedures.len();
            *owner = if most > 0 { self.rng.usize(..most) } else { 0 };
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
        if !self.colours.is_empty() && self.one_in(2) {
            for number in 0..self.rng.usize(1..=2) {
                let name = self.name(format!("c{number}"));
                self.shared.push(Variable { name, kind: Kind::Colour });
            }
        }
        if self.light && self.one_in(2) {
            self.light = false;
            let name = self.name("d".to_owned());
            self.shared.push(Variable { name, kind: Kind::Light });
        }
        if self.rich {
            for number in 0..self.rng.usize(1..=2) {
                let (name, kind) = (self.name(format!("d{number}")), self.data_kind(false));
                self.shared.push(Variable { name, kind });
            }
        }
        if self.one_in(2) {
            self.shared.push(Variable { name: "own".to_owned(), kind: Kind::Boolean });
            self.private = Some(("own".to_owned(), 0));
        }
        let mut variables = self.shared.clone();
        self.rng.shuffle(&mut variables);
        self.declare(&variables);
        if self.braces() && self.one_in(3) {
            self.put("decl raised;");
            self.raised = true;
        }
        if self.braces() && self.one_in(3) {
            let name = self.name("l".to_owned());
            self.put(&format!("lock {name};"));
            self.shared.push(Variable { name, kind: Kind::Boolean });
        }
        if self.rich {
            self.put_waiting();
        }
    }

    /// Declares variables, together or one by one.
    fn declare(&mut self, variables: &[Variable]) {
        let together = self.one_in(2);
        let lines: Vec<&[Variable]> =
            if together { variables.chunks(variables.len().max(1)).collect() } else { variables.chunks(1).collect() };
        for line in lines {
            // A value is for the variables since the last one that has a colon, but the last one of all.
            let (mut names, mut group) = (Vec::new(), 0);
            for (index, variable) in line.iter().enumerate() {
                let same = line.get(index + 1).is_none_or(|next| next.kind == variable.kind);
                let written = !same || index + 1 == line.len() || self.one_in(2);
                let suffix = if written { self.suffix(variable.kind, !same) } else { self.dimensions(variable.kind) };
                group = if !suffix.contains(':') || index + 1 == line.len() { group } else { index + 1 };
                names.push(format!("{}{suffix}", variable.name));
            }
            let values = if self.braces() { self.initial_values(&line[group..]) } else { String::new() };
            if self.rich && group == 1 && values.is_empty() && !self.valueless(line[0].kind) {
                // A value of the first, and further variables after it.
                names[0] += &format!(" := {}", self.initial_value(line[0].kind));
            }
            self.put(&format!("decl {}{values};", names.join(", ")));
        }
    }

    /// What follows a variable in a declaration.
    fn suffix(&mut self, kind: Kind, needed: bool) -> String {
        match kind {
            Kind::Colour => ": Colour".to_owned(),
            Kind::Light => format!(": enum {{ {} }}", LIGHTS.join(", ")),
            Kind::Boolean if self.braces() && (needed || self.one_in(8)) => ": bool".to_owned(),
            Kind::Boolean => String::new(),
            Kind::Data(shape) => self.shape_suffix(&self.data.shapes[shape].clone(), true),
        }
    }

    /// What follows a variable of a kind that a later one has, too: an array needs its own dimensions.
    fn dimensions(&mut self, kind: Kind) -> String {
        let suffix = if matches!(kind, Kind::Data(_)) { self.suffix(kind, true) } else { String::new() };
        suffix.split(':').next().unwrap_or_default().to_owned()
    }

    fn initial_values(&mut self, variables: &[Variable]) -> String {
        let count = match self.rng.usize(..4) {
            _ if variables.iter().any(|variable| self.valueless(variable.kind)) => return String::new(),
            0 => return String::new(),
            1 => 1,
            _ => variables.len(),
        };
        let values: Vec<_> = variables[..count].iter().map(|variable| self.initial_value(variable.kind)).collect();
        format!(" := {}", values.join(", "))
    }

    fn initial_value(&mut self, kind: Kind) -> String {
        match kind {
            Kind::Data(shape) if !self.few(&self.data.shapes[shape].clone()) => {
                self.initial_shape(&self.data.shapes[shape].clone())
            }
            _ if self.one_in(6) => "*".to_owned(),
            Kind::Boolean => self.constant().to_owned(),
            Kind::Colour | Kind::Light => self.value_of(kind),
            Kind::Data(shape) => self.initial_shape(&self.data.shapes[shape].clone()),
        }
    }

    fn kind(&mut self) -> Kind {
        if self.rich && self.one_in(3) {
            return self.data_kind(false);
        }
        if !self.colours.is_empty() && self.one_in(3) { Kind::Colour } else { Kind::Boolean }
    }

    fn signature(&mut self, number: usize) -> Signature {
        let mut name = self.name(format!("p{number}"));
        if self.braces() && !self.rich && self.one_in(12) {
            // Where there is such a procedure, the operation is not to be had.
            name = ["cas", "release", "arrive"][number].to_owned();
        }
        let parameters = (0..[0, 0, 1, 1, 2][self.rng.usize(..5)]).map(|_| self.kind()).collect();
        let results = match self.rng.usize(..6) {
            0 | 1 if self.rich => (0..self.rng.usize(1..=2)).map(|_| self.result_kind()).collect(),
            0 | 1 => vec![self.kind()],
            2 => vec![Kind::Boolean; [1, 2, 2, 2][self.rng.usize(..4)]],
            _ => Vec::new(),
        };
        Signature { name, parameters, results }
    }

    /// What a result is, where there are numbers.
    fn result_kind(&mut self) -> Kind {
        if self.one_in(3) { Kind::Boolean } else { self.data_kind(true) }
    }

    /// The results as they stand before the name of a procedure.
    fn written_results(&mut self, results: &[Kind]) -> String {
        let data = |kind: &Kind| matches!(kind, Kind::Data(_));
        match results {
            [] => "void".to_owned(),
            [Kind::Colour] => "Colour".to_owned(),
            [Kind::Boolean] if !self.one_in(3) => "bool".to_owned(),
            [Kind::Boolean] => "bool<1>".to_owned(),
            [Kind::Data(shape)] => self.shape_name(&self.data.shapes[*shape].clone()),
            several if several.iter().any(data) => {
                let names: Vec<_> = several
                    .iter()
                    .map(|kind| match kind {
                        Kind::Data(shape) => self.shape_name(&self.data.shapes[*shape].clone()),
                        _ => "bool".to_owned(),
                    })
                    .collect();
                format!("({})", names.join(", "))
            }
            _ => "bool<2>".to_owned(),
        }
    }

    fn procedure(&mut self, number: usize) {
        let Signature { name, parameters, results } = self.procedures[number].clone();
        let left = self.rng.usize(2..=6);
        self.now = Now { number, results: results.clone(), left, ..Now::default() };
        for (index, &kind) in parameters.iter().enumerate() {
            let name = self.local_name(format!("x{index}"));
            self.now.locals.push(Variable { name, kind });
        }
        let mut head = Vec::new();
        for (index, variable) in self.now.locals.clone().into_iter().enumerate() {
            let same = self.now.locals.get(index + 1).is_none_or(|next| next.kind == variable.kind);
            head.push(format!("{}{}", variable.name, self.suffix(variable.kind, !same)));
        }
        let kind = self.written_results(&results);
        let begin = if self.braces() { "{" } else { "begin" };
        self.put(&format!("{kind} {name}({}) {begin}", head.join(", ")));
        self.declarations();
        self.body();
    }

    /// A name of a local variable, which may be that of a shared one.
    fn local_name(&mut self, usual: String) -> String {
        let hidden = self.shared[self.rng.usize(..self.shared.len())].name.clone();
        let name = if self.one_in(5) && self.private.as_ref().is_none_or(|(private, _)| *private != hidden) {
            hidden
        } else {
            self.name(usual.clone())
        };
        if self.now.locals.iter().any(|local| local.name == name) { usual } else { name }
    }

    /// What stands at the beginning of a procedure.
    fn declarations(&mut self) {
        for number in 0..[0, 0, 1, 1, 2][self.rng.usize(..5)] {
            let name = self.local_name(format!("y{number}"));
            let light = self.light && self.one_in(2);
            self.light &= !light;
            let kind = if light { Kind::Light } else { self.kind() };
            self.now.locals.push(Variable { name, kind });
        }
        let parameters = self.procedures.get(self.now.number).map_or(0, |signature| signature.parameters.len());
        let locals = self.now.locals[parameters..].to_vec();
        let enforced = self.one_in(6).then(|| self.enforced());
        let before = self.one_in(2);
        if let (Some(condition), true) = (&enforced, before) {
            self.put(&format!("enforce {condition};"));
        }
        self.declare(&locals);
        if self.one_in(4) {
            self.put("decl told;");
            self.now.told = true;
        }
        if self.now.results.first() == Some(&Kind::Boolean) && self.one_in(2) {
            self.put("decl out;");
            self.now.returned = Some("out".to_owned());
        }
        if let (Some(condition), false) = (&enforced, before) {
            self.put(&format!("enforce {condition};"));
        }
        self.now.start = self.text.len();
    }

    /// Statements and the end of a procedure.
    fn body(&mut self) {
        let empty = self.now.results.is_empty() && self.one_in(15);
        let owns = self.put_own();
        while self.now.left > 0 && !empty {
            self.statement(2);
        }
        if owns {
            let (not, other) = (self.pick(&["", "!"]), self.known());
            self.put(&format!("assert({not}own | {other});"));
        }
        self.put_told();
        if !self.now.results.is_empty() {
            self.labels();
            self.put_return();
        } else if self.one_in(4) {
            self.labels();
        }
        self.end_procedure();
    }

    /// Mentions the variable that only this procedure mentions, if there is one.
    fn put_own(&mut self) -> bool {
        let owns = self.private.as_ref().is_some_and(|(_, owner)| *owner == self.now.number);
        if owns {
            let value = self.boolean();
            self.put(&format!("own := {value};"));
        }
        owns
    }

    fn end_procedure(&mut self) {
        self.write_jumps();
        let end = if self.braces() { "}" } else { "end" };
        self.end_block(&format!("\n{end}"));
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
            // A loop would be as if it was written out.
            self.now.alone = true;
            self.statement(1);
            self.now.alone = false;
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
            if self.one_in(4) {
                self.put("void start() begin main(); end");
            }
        }
        if self.one_in(3) {
            return;
        }
        self.now = Now { number, ..Now::default() };
        self.put("void init() begin");
        if self.one_in(6) {
            self.declarations();
        }
        self.set_all();
        let init = match self.rng.usize(..12) {
            0 => "if * then end_thread; fi;",
            1 => "if * then init(); fi;",
            2 | 3 => {
                self.statement(1);
                ""
            }
            _ => "",
        };
        self.put(init);
        self.end_procedure();
    }

    /// Gives all shared variables values.
    fn set_all(&mut self) {
        let shared = self.shared.clone();
        let hidden = |name: &str| self.now.locals.iter().any(|local| local.name == name);
        let seen = |name: &str| !hidden(name) && self.may_mention(name);
        let shared: Vec<_> = shared.into_iter().filter(|variable| seen(&variable.name)).collect();
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
        if self.rich && self.one_in(3) {
            return self.put_starting_loop();
        }
        for _ in 0..[1, 2, 2][self.rng.usize(..3)] {
            let number = self.rng.usize(..self.procedures.len());
            self.labels();
            self.put_start(number);
        }
    }
}

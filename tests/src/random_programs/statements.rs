//! Statements.

use super::{Kind, Signature, Writer};

/// Names of properties.
const NAMES: [&str; 3] = ["no lost update", "mutual exclusion", "a: {b} // c"];

impl Writer<'_> {
    /// A statement with its labels.
    pub(super) fn statement(&mut self, depth: usize) {
        self.now.left = self.now.left.saturating_sub(1);
        let depth = if self.now.left == 0 { 0 } else { depth };
        if self.one_in(20) {
            self.labels();
            self.put(";");
        }
        self.labels();
        match self.rng.usize(..if depth == 0 { 20 } else { 34 }) {
            0 | 1 => self.put_jump(false),
            2 | 4 if self.tasks => {
                self.labels();
                self.put("yield;");
            }
            2 if self.starts > 0 => {
                self.starts -= 1;
                self.labels();
                if self.one_in(3) { self.put_start_here() } else { self.put_jump(true) }
            }
            3 if self.starts > 0 && !self.procedures.is_empty() => {
                self.starts -= 1;
                let number = self.rng.usize(..self.procedures.len());
                self.labels();
                self.put_start(number);
            }
            4 => self.section(),
            5..20 => self.simple(),
            20..26 => self.put_if(depth - 1),
            26..28 if self.rich && !self.now.alone => self.put_for(depth - 1),
            26..29 => self.put_while(depth - 1),
            29..33 if self.braces() && !self.tasks => self.atomic(depth - 1),
            33 => self.recursion(),
            _ => self.simple(),
        }
    }

    /// Statements, at times none.
    pub(super) fn block(&mut self, depth: usize) {
        if self.one_in(12) {
            return;
        }
        for _ in 0..self.rng.usize(1..=2) {
            self.statement(depth);
        }
        if self.one_in(8) {
            self.labels();
        }
    }

    /// A statement that has no blocks, or a few that belong together.
    pub(super) fn simple(&mut self) {
        if self.rich && !self.one_in(3) {
            return self.data_statement();
        }
        match self.rng.usize(..24) {
            12 | 18 | 21 if self.sleeping => {
                let sleep = if self.braces() { "sleep;" } else { "wait;" };
                let word = self.pick(&[sleep, "broadcast;"]);
                self.labels();
                self.put(word);
            }
            0..=5 => self.assignment(),
            6 => self.several(),
            7 => self.constrained(),
            8..=10 => self.put_call(),
            11 if self.one_in(2) => self.put_return(),
            11 | 12 => self.put("skip;"),
            13..=16 => self.assertion(),
            17 | 18 => {
                let word = if self.braces() && self.one_in(2) { "wait" } else { "assume" };
                let condition = self.condition();
                self.put(&format!("{word}{};", spaced(&condition)));
            }
            19 | 20 if self.braces() => {
                let Some(name) = self.lockable() else { return self.put("skip;") };
                match self.pick(&["lock", "unlock", "unlock", "guarded", "guarded"]) {
                    "guarded" if !self.now.only => self.put_guarded(&name),
                    "guarded" => self.put(&format!("lock({name});")),
                    word => self.put(&format!("{word}({name});")),
                }
            }
            22 => {
                let end = if self.braces() { "exit;" } else { "end_thread;" };
                let end = if self.tasks || self.one_in(2) { end } else { "broadcast;" };
                self.put(end);
            }
            23 => {
                self.labels();
                let mut names = self.targets(2);
                if self.one_in(2) {
                    let kind = self.some_kind();
                    names = self.variable(kind).into_iter().collect();
                }
                self.put(&if names.is_empty() { "skip;".to_owned() } else { format!("dead {};", names.join(", ")) });
            }
            _ => self.assignment(),
        }
    }

    /// The same, where there must not be another one.
    fn only(&mut self) {
        self.now.only = true;
        self.simple();
        self.now.only = false;
    }

    /// A variable that can be locked: a shared one.
    fn lockable(&mut self) -> Option<String> {
        let (seen, shared) = (self.variables(Kind::Boolean), self.shared.clone());
        let hidden = |name: &String| self.now.locals.iter().any(|local| local.name == *name);
        let names: Vec<_> = shared.iter().map(|variable| &variable.name).filter(|name| seen.contains(name)).collect();
        let names: Vec<_> = names.into_iter().filter(|name| !hidden(name)).collect();
        (!names.is_empty()).then(|| names[self.rng.usize(..names.len())].clone())
    }

    fn assignment(&mut self) {
        let kind = self.some_kind();
        let (kind, name) = match self.variable(kind) {
            Some(name) => (kind, Some(name)),
            None => (Kind::Boolean, self.variable(Kind::Boolean)),
        };
        let Some(name) = name else { return self.put("skip;") };
        let value = self.value(kind);
        self.put(&format!("{name} := {value};"));
    }

    fn some_kind(&mut self) -> Kind {
        match self.rng.usize(..8) {
            0 | 1 => Kind::Colour,
            2 => Kind::Light,
            _ => Kind::Boolean,
        }
    }

    /// Different variables of a kind.
    fn targets(&mut self, most: usize) -> Vec<String> {
        let mut names = self.variables(Kind::Boolean);
        self.rng.shuffle(&mut names);
        names.truncate(most);
        names
    }

    fn several(&mut self) {
        let targets = self.targets(2);
        if targets.is_empty() {
            return self.put("skip;");
        }
        let values: Vec<_> = targets.iter().map(|_| self.boolean()).collect();
        self.put(&format!("{} := {};", targets.join(", "), values.join(", ")));
    }

    fn constrained(&mut self) {
        let most = self.rng.usize(1..=2);
        let targets = self.targets(most);
        if targets.is_empty() {
            return self.put("skip;");
        }
        let values = targets.iter().map(|_| if self.one_in(2) { "*".to_owned() } else { self.boolean() });
        let values = values.collect::<Vec<_>>().join(", ");
        let constraint = self.constraint(&targets);
        self.put(&format!("{} := {values} constrain {constraint};", targets.join(", ")));
    }

    fn assertion(&mut self) {
        let condition = match self.rng.usize(..3) {
            0 => self.condition(),
            1 => format!("({} | {} | {})", self.known(), self.known(), self.known()),
            _ => format!("({} => {})", self.known(), self.known()),
        };
        let name = match self.braces() && self.one_in(4) {
            true => format!(" \"{}\"", self.pick(&NAMES)),
            false => String::new(),
        };
        self.put(&format!("assert{}{name};", spaced(&condition)));
    }

    fn arguments(&mut self, signature: &Signature) -> String {
        let arguments: Vec<_> = signature.parameters.iter().map(|&kind| self.value(kind)).collect();
        arguments.join(", ")
    }

    /// A call of a procedure that comes before this one, so that there is an end to it.
    fn put_call(&mut self) {
        if self.now.number == 0 || self.procedures.is_empty() {
            return self.assignment();
        }
        let number = self.rng.usize(..self.now.number);
        let signature = self.procedures[number].clone();
        let arguments = self.arguments(&signature);
        if !self.now.only && self.one_in(5) {
            return self.put_joined(&format!("{}({arguments});", signature.name));
        }
        let targets = self.results(&signature);
        if signature.results.len() > 1 {
            (0..2).for_each(|_| self.labels());
        }
        if targets.is_empty() && self.one_in(5) && self.async_call() {
            self.put_async_label();
        }
        self.put(&format!("{}{}({arguments});", stored(&targets), signature.name));
        self.look_at_results(&targets);
    }

    /// Whether a call may be made to start a thread.
    fn async_call(&mut self) -> bool {
        let may = self.braces() || self.starts > 0;
        self.starts = self.starts.saturating_sub(usize::from(may && !self.braces()));
        may
    }

    /// Where the results of a call go, if anywhere.
    fn results(&mut self, signature: &Signature) -> Vec<String> {
        if self.one_in(5) {
            return Vec::new();
        }
        let mut targets: Vec<String> = Vec::new();
        for &kind in &signature.results {
            let variable = self.variable(kind).filter(|name| !targets.contains(name) && !name.is_empty());
            let unwanted = self.one_in(4);
            targets.push(variable.filter(|_| !unwanted).unwrap_or("_".to_owned()));
        }
        targets
    }

    /// A call of this procedure in which the first parameter is 0, where it is 1.
    fn recursion(&mut self) {
        let Some(signature) = self.procedures.get(self.now.number).cloned() else { return self.simple() };
        if signature.parameters.first() != Some(&Kind::Boolean) {
            return self.simple();
        }
        let parameter = self.now.locals[0].name.clone();
        let others: Vec<_> = signature.parameters[1..].iter().map(|&kind| format!(", {}", self.value(kind))).collect();
        let targets = self.results(&signature);
        let (then, end) = if self.braces() { ("{", "}") } else { ("then", "fi;") };
        let first = if self.one_in(5) { "*" } else { "0" };
        self.put(&format!("if ({parameter}) {then}"));
        self.labels();
        self.put(&format!("{}{}({first}{});", stored(&targets), signature.name, others.concat()));
        self.end_block(end);
    }

    pub(super) fn put_return(&mut self) {
        let results = self.now.results.clone();
        let returned = self.put_returned();
        let mut values: Vec<_> = results.iter().map(|&kind| self.value(kind)).collect();
        values.iter_mut().zip(returned).for_each(|(value, returned)| *value = returned);
        let space = if values.is_empty() { "" } else { " " };
        self.put(&format!("return{space}{};", values.join(", ")));
    }

    /// Starts a thread.
    pub(super) fn put_start(&mut self, number: usize) {
        let signature = self.procedures[number].clone();
        let arguments = self.arguments(&signature);
        let name = &signature.name;
        if self.braces() {
            let count = if self.one_in(4) { self.thread_count() } else { String::new() };
            let word = if self.tasks { "post" } else { "thread" };
            self.put(&format!("{word} {name}({arguments}){count};"));
        } else if self.one_in(2) {
            self.put_async_label();
            self.put(&format!("{name}({arguments});"));
        } else {
            self.put(&format!("start_thread {name}({arguments});"));
        }
    }

    /// How many threads are started.
    fn thread_count(&mut self) -> String {
        match (self.data.constant, self.rng.usize(..3)) {
            (Some(2), 0) => " * N".to_owned(),
            (Some(_), 0) => " * (N - 1)".to_owned(),
            (Some(2), 1) => " * (N / 2)".to_owned(),
            _ if self.one_in(3) => " * any".to_owned(),
            _ => format!(" * {}", self.rng.usize(1..=2)),
        }
    }

    fn put_if(&mut self, depth: usize) {
        let condition = self.condition();
        self.put(&format!("if{}{}", spaced(&condition), if self.braces() { "" } else { " then" }));
        if !self.braces() {
            self.block(depth);
            while self.one_in(4) {
                let condition = self.condition();
                self.end_block(&format!("elsif{} then", spaced(&condition)));
                self.block(depth);
            }
            if self.one_in(2) {
                self.end_block("else");
                self.block(depth);
            }
            return self.end_block("fi;");
        }
        self.braces_or_one(depth);
        match self.rng.usize(..4) {
            0 => {
                self.put("else");
                self.braces_or_one(depth);
            }
            1 => {
                self.text.push_str("else ");
                self.put_if(depth);
            }
            _ => {}
        }
    }

    fn put_while(&mut self, depth: usize) {
        let condition = self.condition();
        self.put(&format!("while{}{}", spaced(&condition), if self.braces() { "" } else { " do" }));
        if self.braces() {
            return self.braces_or_one(depth);
        }
        self.block(depth);
        self.end_block("od;");
    }

    /// A block in braces, or one statement.
    pub(super) fn braces_or_one(&mut self, depth: usize) {
        if self.one_in(4) {
            self.labels();
            return if self.one_in(6) { self.put(";") } else { self.only() };
        }
        self.put("{");
        self.block(depth);
        self.put("}");
    }

    /// An atomic block, which may begin with others.
    fn atomic(&mut self, depth: usize) {
        self.now.blocks += 1;
        self.now.around.push(self.now.blocks);
        self.put("atomic");
        if self.one_in(5) {
            self.labels();
            if self.one_in(4) { self.put(";") } else { self.only() }
        } else if self.one_in(6) {
            self.put("{");
            self.labels();
            self.put("}");
        } else {
            self.put("{");
            // Labels at the beginning of blocks that begin with each other are asked for.
            let (deeper, inside) = (self.one_in(3), self.now.around.len() > 1);
            if deeper || (inside && self.one_in(2)) {
                let before = self.known.len();
                self.labels();
                self.favoured.extend_from_slice(&self.known[before..]);
            }
            if deeper {
                self.atomic(depth);
            }
            self.block(depth);
            self.put("}");
        }
        self.now.around.pop();
    }

    /// A section that is not a block; at times only its beginning or its end.
    fn section(&mut self) {
        let (begins, ends) = (!self.one_in(6), !self.one_in(6));
        if begins {
            self.put("atomic_begin;");
            self.labels();
            self.simple();
        }
        if ends {
            self.labels();
            self.put("atomic_end;");
        }
        if !begins && !ends {
            self.put("skip;");
        }
    }
}

/// The beginning of a call whose results go to some variables.
fn stored(targets: &[String]) -> String {
    if targets.is_empty() { String::new() } else { format!("{} := ", targets.join(", ")) }
}

/// A condition, with a space before it if it has no brackets.
fn spaced(condition: &str) -> String {
    if condition.starts_with('(') { condition.to_owned() } else { format!(" {condition}") }
}

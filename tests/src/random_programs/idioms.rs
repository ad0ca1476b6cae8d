//! What programs are written for: without these, a mistake that matters only to locks, results or what is enforced would
//! show in one program of a thousand.

use super::{Kind, Writer};

impl Writer<'_> {
    /// Something that depends on a result that a call has just stored.
    pub(super) fn look_at_results(&mut self, targets: &[String]) {
        let booleans = self.variables(Kind::Boolean);
        let results: Vec<_> = targets.iter().filter(|name| booleans.contains(name)).cloned().collect();
        if self.now.only || results.is_empty() || self.one_in(2) {
            return;
        }
        let result = &results[self.rng.usize(..results.len())];
        let not = self.pick(&["", "!"]);
        let other = self.known();
        let condition = self.pick(&["{}", "{} | {other}", "{} = {other}"]);
        let condition = condition.replace("{}", &format!("{not}{result}")).replace("{other}", &other);
        let word = self.pick(&["assert", "assert", "assume"]);
        self.put(&format!("{word}({condition});"));
    }

    /// A variable that nobody reads but the end of the procedure, which returns it.
    pub(super) fn put_returned(&mut self) -> Option<String> {
        let name = self.now.returned.clone().filter(|_| !self.now.only)?;
        let value = self.boolean();
        self.put(&format!("{name} := {value};"));
        Some(name)
    }

    /// A variable that is written once, and read once, beside another one.
    pub(super) fn put_told(&mut self) {
        if !std::mem::take(&mut self.now.told) {
            return;
        }
        if self.raised && self.one_in(2) {
            return self.put_raised();
        }
        let value = self.boolean();
        self.put(&format!("told := {value};"));
        if self.one_in(2) {
            self.statement(1);
        }
        let (other, operator) = (self.known(), self.pick(&["|", "|", "&", "=>", "="]));
        let not = self.pick(&["", "!"]);
        self.put(&format!("assert(({other}) {operator} {not}told);"));
    }

    /// A variable that is read only under another one, which is false at first and becomes true.
    fn put_raised(&mut self) {
        let value = self.constant();
        self.put(&format!("told := {value};"));
        self.put("raised := 1;");
        let condition = self.pick(&["raised => told", "!raised | told", "raised & told"]);
        let condition = condition.replace("told", &format!("(told = {value})"));
        self.put(&format!("assert({condition});"));
    }

    /// A call that comes back to where another way goes on with something that nobody else sees.
    pub(super) fn put_joined(&mut self, call: &str) {
        let (then, end) = if self.braces() { ("{", "}") } else { ("then", "fi;") };
        let condition = self.known();
        self.put(&format!("if ({condition}) {then}"));
        self.put(call);
        self.end_block(end);
        let own: Vec<_> = self.now.locals.iter().filter(|local| local.kind == Kind::Boolean).cloned().collect();
        match own.is_empty() || self.one_in(3) {
            true => self.put("skip;"),
            false => {
                let (name, value) = (own[self.rng.usize(..own.len())].name.clone(), self.constant());
                self.put(&format!("{name} := {value};"));
            }
        }
    }

    /// A section that a lock guards, and of which somebody might see the middle.
    pub(super) fn put_guarded(&mut self, lock: &str) {
        self.put(&format!("lock({lock});"));
        match self.variable(Kind::Boolean).filter(|name| name != lock) {
            Some(name) => {
                let before = self.constant();
                let after = self.constant();
                self.put(&format!("{name} := {before};"));
                self.labels();
                self.put(&format!("{name} := {after};"));
                self.labels();
                self.put(&format!("assert({name} = {after});"));
            }
            None => self.simple(),
        }
        self.put(&format!("unlock({lock});"));
    }

    /// What a procedure enforces: as a rule something that others can change.
    pub(super) fn enforced(&mut self) -> String {
        self.enforces = true;
        let shared = self.shared[self.rng.usize(..self.shared.len())].clone();
        let hidden = self.now.locals.iter().any(|local| local.name == shared.name) || !self.may_mention(&shared.name);
        match shared.kind == Kind::Boolean && !hidden && !self.one_in(3) {
            true => format!("{}{}", self.pick(&["", "", "!"]), shared.name),
            false => {
                self.now.certain = true;
                let condition = self.boolean();
                self.now.certain = false;
                condition
            }
        }
    }
}

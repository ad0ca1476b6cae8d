//! Programs in Tepui's dialect, with brackets everywhere: procedures, recursion, threads, locks, atomic sections, jumps.

use fastrand::Rng;

struct Writer<'r> {
    rng: &'r mut Rng,
    shared: usize,
    procedures: usize,
    /// Of the procedure at hand.
    locals: usize,
    results: bool,
    labels: usize,
    text: String,
    starts: usize,
    /// Whether all threads are there from the start, and all values are known then.
    fixed: bool,
}

/// A program. It has a lock `l`, shared variables `s0`, `s1`, ... and procedures `p0`, `p1`, ..., which `main` starts.
/// Procedures with an even number take a parameter, every third returns a value.
pub fn program(rng: &mut Rng) -> String {
    write(rng, false)
}

/// One whose threads, two or three, are there from the start, with known values; none of them sleeps.
pub fn fixed_program(rng: &mut Rng) -> String {
    write(rng, true)
}

fn write(rng: &mut Rng, fixed: bool) -> String {
    let (shared, procedures) = (rng.usize(1..=3), rng.usize(1..=3));
    let mut writer =
        Writer { rng, shared, procedures, locals: 0, results: false, labels: 0, text: String::new(), starts: 0, fixed };
    for number in 0..shared {
        let init = writer.init();
        writer.line(&format!("decl s{number} := {init};"));
    }
    writer.line("lock l;");
    for number in 0..procedures {
        writer.procedure(number);
    }
    writer.main();
    writer.text
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn pick(&mut self, choices: &[&str]) -> String {
        choices[self.rng.usize(..choices.len())].to_owned()
    }

    fn init(&mut self) -> String {
        if self.fixed { self.pick(&["0", "1"]) } else { self.pick(&["0", "1", "*"]) }
    }

    fn procedure(&mut self, number: usize) {
        self.locals = 1 + self.rng.usize(..2);
        (self.results, self.labels) = (returns(number), 0);
        let (kind, parameter) = (if self.results { "bool" } else { "void" }, takes(number));
        self.line(&format!("{kind} p{number}({}) {{", if parameter { "x0" } else { "" }));
        for local in usize::from(parameter)..self.locals {
            let init = self.init();
            self.line(&format!("decl x{local} := {init};"));
        }
        self.block(2, false);
        match self.results {
            true => {
                let value = self.expression(1);
                self.line(&format!("return {value};"));
            }
            false => self.line("last: skip;"),
        }
        self.line("}");
    }

    fn main(&mut self) {
        (self.locals, self.results, self.labels) = (0, false, 0);
        self.line("void main() {");
        if self.fixed {
            for _ in 0..self.rng.usize(2..=3) {
                let number = self.rng.usize(..self.procedures);
                let argument = if takes(number) { self.pick(&["0", "1"]) } else { String::new() };
                self.line(&format!("thread p{number}({argument});"));
            }
            self.line("}");
            return;
        }
        if self.rng.bool() {
            self.block(1, false);
        }
        for _ in 0..self.rng.usize(1..=2) {
            let call = self.call();
            self.line(&format!("thread {call};"));
        }
        if self.rng.bool() {
            self.block(1, false);
        }
        self.line("}");
    }

    fn block(&mut self, depth: usize, atomic: bool) {
        for _ in 0..self.rng.usize(1..=3) {
            self.statement(depth, atomic);
        }
    }

    fn call(&mut self) -> String {
        let number = self.rng.usize(..self.procedures);
        let argument = if takes(number) { self.expression(1) } else { String::new() };
        format!("p{number}({argument})")
    }

    fn variable(&mut self) -> String {
        match self.rng.usize(..self.shared + self.locals) {
            number if number < self.shared => format!("s{number}"),
            number => format!("x{}", number - self.shared),
        }
    }

    fn expression(&mut self, depth: usize) -> String {
        match self.rng.usize(..if depth == 0 { 5 } else { 10 }) {
            0 => "*".to_owned(),
            1 => self.pick(&["0", "1"]),
            2..=4 => self.variable(),
            5 => format!("!{}", self.expression(0)),
            6 => format!("schoose[{}, {}]", self.expression(0), self.expression(0)),
            7 => format!("({} ? {} : {})", self.expression(0), self.expression(0), self.expression(0)),
            _ => {
                let operator = self.pick(&["&", "|", "^", "=", "!=", "=>"]);
                format!("({} {operator} {})", self.expression(depth - 1), self.expression(depth - 1))
            }
        }
    }

    fn statement(&mut self, depth: usize, atomic: bool) {
        let condition = self.expression(1);
        match self.rng.usize(..if depth == 0 { 16 } else { 22 }) {
            0..=4 => {
                let (target, value) = (self.variable(), self.expression(1));
                self.line(&format!("{target} := {value};"));
            }
            5 => {
                let value = self.expression(1);
                self.line(&format!("s0, l := {value}, l constrain {condition} | 's0;"));
            }
            6 | 7 => self.line(&format!("assert({condition});")),
            8 => self.line(&format!("assume({condition});")),
            9 => self.line("lock(l);"),
            10 => self.line("unlock(l);"),
            11 | 12 => {
                let number = self.rng.usize(..self.procedures);
                let argument = if takes(number) { self.expression(1) } else { String::new() };
                let target = if returns(number) { format!("{} := ", self.variable()) } else { String::new() };
                self.line(&format!("{target}p{number}({argument});"));
            }
            13 if self.results => self.line(&format!("return {condition};")),
            13 => self.line("return;"),
            14 => {
                let sections = ["atomic_begin;", "atomic_begin;", "atomic_end;"];
                let others = ["skip;", if self.fixed { "skip;" } else { "sleep;" }, "broadcast;", "dead s0;", "exit;"];
                let odd = if self.rng.bool() { self.pick(&sections) } else { self.pick(&others) };
                self.line(&odd);
            }
            15 if self.starts < 1 && !self.fixed => {
                self.starts += 1;
                let call = self.call();
                self.line(&format!("thread {call};"));
            }
            15 => self.line("skip;"),
            16..=18 => {
                self.line(&format!("if ({condition}) {{"));
                self.block(depth - 1, atomic);
                if self.rng.bool() {
                    self.line("} else {");
                    self.block(depth - 1, atomic);
                }
                self.line("}");
            }
            19 => {
                self.line(&format!("while ({condition}) {{"));
                self.block(depth - 1, atomic);
                self.line("}");
            }
            20 => {
                self.line("atomic {");
                self.block(depth - 1, true);
                self.line("}");
            }
            _ if atomic => self.line("skip;"),
            _ => {
                let label = self.labels;
                self.labels += 1;
                self.line(&format!("L{label}:"));
                self.block(depth - 1, atomic);
                self.line(&format!("if ({condition}) {{ goto L{label}; }}"));
            }
        }
    }
}

fn takes(procedure: usize) -> bool {
    procedure.is_multiple_of(2)
}

fn returns(procedure: usize) -> bool {
    procedure % 3 == 2
}

//! Programs whose threads touch different things, so that some of them can wait while others are explored.

use std::fmt::Write as _;

use fastrand::Rng;

/// A program, and what to ask besides its assertions.
#[derive(Clone, Debug)]
pub struct Apart {
    /// What it says.
    pub text: String,
    /// Labels to ask for.
    pub labels: Vec<String>,
    /// Whether to ask for deadlocks.
    pub deadlock: bool,
}

/// Writes a small program of Tepui's dialect in which variables belong to some of the threads.
pub fn apart(rng: &mut Rng) -> Apart {
    let threads = rng.usize(2..=4);
    let variables = rng.usize(2..=5);
    // Every other program gives most variables to one thread.
    let most = if rng.bool() { 1 } else { 2 };
    let owners = (0..variables).map(|_| {
        let all = rng.usize(..8) == 0;
        let count = if all { threads } else { rng.usize(1..=most) };
        (0..count).map(|number| if all { number } else { rng.usize(..threads) }).collect()
    });
    let owners = owners.collect();
    let (calls, creates, sleeps) = (rng.usize(..3) == 0, rng.usize(..8) == 0, rng.usize(..4) == 0);
    let (deadlock, text) = (rng.usize(..3) == 0, String::new());
    let mut writer = Writer {
        rng,
        owners,
        thread: 0,
        depth: 0,
        calls,
        returns: false,
        creates,
        sleeps,
        labels: Vec::new(),
        unread: Vec::new(),
        text,
    };
    writer.program(threads);
    let Writer { rng, mut labels, text, .. } = writer;
    rng.shuffle(&mut labels);
    labels.truncate(rng.usize(..=1));
    Apart { text, labels, deadlock }
}

struct Writer<'r> {
    rng: &'r mut Rng,
    /// For each variable the threads that touch it.
    owners: Vec<Vec<usize>>,
    thread: usize,
    depth: usize,
    calls: bool,
    /// Whether a procedure with a result is being written.
    returns: bool,
    creates: bool,
    sleeps: bool,
    labels: Vec<String>,
    /// Variables that are only written.
    unread: Vec<usize>,
    text: String,
}

impl Writer<'_> {
    fn one_in(&mut self, count: usize) -> bool {
        self.rng.usize(..count) == 0
    }

    fn put(&mut self, line: &str) {
        let _ = writeln!(self.text, "{}{line}", "  ".repeat(self.depth));
    }

    fn program(&mut self, threads: usize) {
        for number in 0..self.owners.len() {
            let kind = ["", ": 0..2", ""][self.rng.usize(..3)];
            let start = [":= 0", ":= 1", ":= *", ""][self.rng.usize(..4)];
            if self.one_in(6) {
                self.unread.push(number);
            }
            self.put(&format!("decl v{number}{kind} {start};"));
        }
        self.put("decl a[3]: 0..2; lock l0, l1, k[3]; condition c, d[2];");
        if self.calls {
            self.put("bool f(x) { if (x) { return !x; } v0 := 1; return *; }");
        }
        let alike = self.one_in(3);
        for thread in 0..threads {
            self.thread = thread;
            self.procedure();
        }
        for thread in 0..threads - usize::from(alike) {
            (self.thread, self.depth) = (thread, 0);
            self.put(&format!("void t{thread}(p: 0..2) {{"));
            self.depth = 1;
            self.put("decl x; decl y: 0..2;");
            let body = self.rng.usize(..6);
            if body == 0 {
                self.block(3);
            } else {
                if self.one_in(2) {
                    self.statement(0);
                }
                let head = ["while (1) {", "while (1) {", "while (*) {", "for z in 0..1 {"][self.rng.usize(..4)];
                self.put(head);
                self.nested(3);
                self.put("}");
            }
            self.depth = 0;
            self.put("}");
        }
        self.put("void main() {");
        self.depth = 1;
        for thread in 0..threads {
            let thread = if alike && thread + 1 == threads { thread - 1 } else { thread };
            let argument = if alike && thread + 2 == threads { 0 } else { thread % 3 };
            self.put(&format!("thread t{thread}({argument});"));
        }
        self.depth = 0;
        self.put("}");
    }

    /// A procedure that belongs to the thread, and may call itself.
    fn procedure(&mut self) {
        if !self.calls {
            return;
        }
        let thread = self.thread;
        self.put(&format!("bool g{thread}(p: 0..2) {{"));
        (self.depth, self.returns) = (1, true);
        self.put("decl x; decl y: 0..2;");
        if self.one_in(8) {
            let (variable, number) = (self.own().unwrap_or(0), self.rng.usize(..2));
            self.put(&format!("enforce v{variable} = {number};"));
        }
        self.statement(2);
        if self.one_in(2) {
            let condition = self.condition();
            self.put(&format!("if ({condition}) {{ x := g{thread}(p); }}"));
        }
        if self.one_in(2) {
            self.statement(2);
        }
        let result = ["x", "!x", "*", "p = 0"][self.rng.usize(..4)];
        self.put(&format!("return {result};"));
        (self.depth, self.returns) = (0, false);
        self.put("}");
    }

    fn nested(&mut self, most: usize) {
        self.depth += 1;
        self.block(most);
        self.depth -= 1;
    }

    fn block(&mut self, most: usize) {
        for _ in 0..self.rng.usize(1..=most) {
            self.statement(self.depth);
        }
    }

    /// A variable of the thread.
    fn own(&mut self) -> Option<usize> {
        let own: Vec<_> = (0..self.owners.len()).filter(|&number| self.owners[number].contains(&self.thread)).collect();
        (!own.is_empty()).then(|| own[self.rng.usize(..own.len())])
    }

    fn element(&mut self) -> String {
        let index = ["p", "p", "p", "(p + 1) % 3", "y", "0"][self.rng.usize(..6)];
        format!("a[{index}]")
    }

    fn read(&mut self) -> String {
        let own = self.own().filter(|own| !self.unread.contains(own)).map(|own| format!("v{own}"));
        match self.rng.usize(..8) {
            0 => "x".to_owned(),
            1 => "y".to_owned(),
            2 => self.element(),
            _ => own.unwrap_or_else(|| "y".to_owned()),
        }
    }

    fn condition(&mut self) -> String {
        let (one, other) = (self.read(), self.read());
        let number = self.rng.usize(..2);
        match self.rng.usize(..6) {
            0 => format!("{one} = {number} | {other} != {number}"),
            1 => format!("{one} != {number} & {other} = 0"),
            2 => "*".to_owned(),
            _ => format!("{one} = {number}"),
        }
    }

    fn assign(&mut self) -> String {
        let target = match self.rng.usize(..7) {
            0 => "x".to_owned(),
            1 => "y".to_owned(),
            2 => self.element(),
            _ => self.own().map_or_else(|| "y".to_owned(), |own| format!("v{own}")),
        };
        // What is Boolean and what is not, nobody keeps apart here: a value is stored in any case.
        let (value, condition) = (self.read(), self.condition());
        match self.rng.usize(..8) {
            0 => format!("if (*) {{ {target} := 0; }} else {{ {target} := 1; }}"),
            1 => format!("if ({condition}) {{ {target} := 1; }}"),
            2 => format!("if ({value} = 1) {{ {target} := 0; }} else {{ {target} := 1; }}"),
            3 => format!("if ({value} != 0) {{ {target} := 1; }}"),
            _ => format!("{target} := {};", self.rng.usize(..2)),
        }
    }

    fn statement(&mut self, depth: usize) {
        let deep = depth >= 3;
        match self.rng.usize(..22) {
            0..=6 => {
                let text = self.assign();
                self.put(&text);
            }
            7 | 8 => {
                let condition = self.condition();
                let word = ["wait", "assume"][self.rng.usize(..2)];
                self.put(&format!("{word}({condition});"));
            }
            9 => {
                let condition = self.condition();
                self.put(&format!("assert({condition});"));
            }
            10 | 11 if !deep => {
                let condition = self.condition();
                self.put(&format!("if ({condition}) {{"));
                self.nested(2);
                self.put("} else {");
                self.nested(2);
                self.put("}");
            }
            12 if !deep => {
                let condition = self.condition();
                self.put(&format!("while ({condition}) {{"));
                self.nested(2);
                self.put("}");
            }
            13 | 14 if !deep => {
                self.put("atomic {");
                self.nested(3);
                self.put("}");
            }
            15 | 16 => self.locked(),
            17 => {
                let label = format!("L{}_{}", self.thread, self.labels.len());
                self.put(&format!("{label}: skip;"));
                self.labels.push(label);
            }
            18 if self.sleeps => self.sleeping(),
            18 | 19 if self.calls => self.call(),
            20 if self.creates && self.thread > 0 && self.one_in(2) => {
                let (other, argument) = (self.rng.usize(..self.thread), self.rng.usize(..3));
                self.put(&format!("thread t{other}({argument});"));
            }
            21 if self.one_in(3) => {
                let end = if self.returns { "return *;" } else { "return;" };
                let end = [end, "exit;"][self.rng.usize(..2)];
                self.put(end);
            }
            20 if self.one_in(3) => {
                self.put("atomic_begin;");
                self.statement(depth);
                self.put("atomic_end;");
            }
            _ => {
                let text = self.assign();
                self.put(&text);
            }
        }
    }

    fn call(&mut self) {
        let (condition, thread) = (self.condition(), self.thread);
        let target = self.own().map_or_else(|| "x".to_owned(), |own| format!("v{own}"));
        let target = if self.one_in(2) { "x".to_owned() } else { target };
        let text = match self.rng.usize(..6) {
            0 => format!("x := f({condition}); if (x) {{ {target} := 1; }}"),
            1 => format!("x := g{thread}(0);"),
            2 => format!("g{thread}(y);"),
            _ => format!("x := g{thread}(p); if (x) {{ {target} := 0; }}"),
        };
        self.put(&text);
    }

    fn locked(&mut self) {
        let lock = ["l0", "l1", "k[p]", "k[p]", "k[(p + 1) % 3]"][self.rng.usize(..5)];
        self.put(&format!("lock({lock});"));
        let text = self.assign();
        self.put(&text);
        if !self.one_in(6) {
            self.put(&format!("unlock({lock});"));
        }
    }

    fn sleeping(&mut self) {
        let condition = ["c", "d[0]", "d[y]"][self.rng.usize(..2)];
        let text = match self.rng.usize(..5) {
            0 => format!("lock(l0); wait({condition}, l0); unlock(l0);"),
            1 => format!("signal({condition});"),
            2 => format!("broadcast({condition});"),
            3 => "sleep;".to_owned(),
            _ => "broadcast;".to_owned(),
        };
        self.put(&text);
    }
}

//! Random programs with tasks in which the order of dispatch matters: values of a small range that tasks change in different
//! ways, arguments that read shared variables, posts in loops and in recursion, and calls that yield.

use std::fmt::Write as _;

use fastrand::Rng;

/// What a program may have.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Whether tasks yield.
    pub yields: bool,
    /// Whether tasks wait.
    pub waits: bool,
    /// Whether a procedure calls itself.
    pub recursion: bool,
    /// Whether something is asserted.
    pub asserts: bool,
    /// Whether tasks are posted in loops without end.
    pub endless: bool,
    /// How many numbers the shared variable takes; two, if it is a Boolean.
    pub values: u32,
}

/// A program with up to three kinds of tasks.
pub fn tasks(rng: &mut Rng, shape: Shape) -> String {
    let tasks = rng.usize(1..=3);
    let mut text = match shape.values {
        2 => "decl g;\n".to_owned(),
        values => format!("decl g: 0..{};\ndecl h;\n", values - 1),
    };
    let mut writer = Writer { rng, shape, tasks, task: 0, posts: 0, in_helper: false };
    for task in 0..tasks {
        (writer.task, writer.posts) = (task, 0);
        let body = writer.block(2, 3);
        let _ = writeln!(text, "void t{task}(a) {{ {body}}}");
    }
    writer.in_helper = true;
    (writer.task, writer.posts) = (tasks, 0);
    let helper = writer.block(1, 2);
    let again = if shape.recursion && !helper.contains("yield") && !helper.contains("wait") && writer.rng.bool() {
        "if (*) { help(); } "
    } else {
        ""
    };
    let _ = writeln!(text, "void help() {{ {again}{helper}}}");
    (writer.task, writer.posts, writer.in_helper) = (0, 0, false);
    let mut main = String::new();
    for _ in 0..writer.rng.usize(1..=3) {
        let task = writer.rng.usize(..tasks);
        let argument = writer.test();
        let _ = write!(main, "post t{task}({argument}); ");
        if writer.rng.usize(..3) == 0 {
            main += &writer.change();
        }
    }
    if writer.rng.usize(..3) == 0 {
        main += "help(); ";
    }
    let _ = writeln!(text, "void main() {{ {main}}}");
    text
}

struct Writer<'r> {
    rng: &'r mut Rng,
    shape: Shape,
    tasks: usize,
    /// The number of the task at hand: it posts those behind it, so that there is an end.
    task: usize,
    posts: usize,
    in_helper: bool,
}

impl Writer<'_> {
    fn block(&mut self, depth: usize, most: usize) -> String {
        (0..self.rng.usize(1..=most)).map(|_| self.statement(depth)).collect()
    }

    fn constant(&mut self) -> u32 {
        self.rng.u32(..self.shape.values)
    }

    fn test(&mut self) -> String {
        let constant = self.constant();
        match (self.shape.values, self.rng.usize(..5)) {
            (2, 0 | 1) => "g".to_owned(),
            (2, _) => "!g".to_owned(),
            (_, 0..=2) => format!("g = {constant}"),
            (_, 3) => "h".to_owned(),
            _ => "!h".to_owned(),
        }
    }

    fn change(&mut self) -> String {
        let values = self.shape.values;
        let (one, other) = (self.constant(), self.constant());
        match (values, self.rng.usize(..4)) {
            (2, 0) => "g := !g; ".to_owned(),
            (2, 1) => "g := *; ".to_owned(),
            (2, _) => format!("g := {one}; "),
            (_, 0 | 1) => format!("g := (g * {one} + {other}) % {values}; "),
            (_, 2) => format!("h := g = {one}; "),
            _ => format!("g := {one}; "),
        }
    }

    fn statement(&mut self, depth: usize) -> String {
        match self.rng.usize(..14) {
            0 | 1 if self.shape.yields => "yield; ".to_owned(),
            2 if self.shape.waits => format!("wait({}); ", self.test()),
            3..=5 if self.shape.asserts => {
                let (one, other) = (self.test(), self.test());
                format!("assert({one} | {other}); ")
            }
            6 | 7 if self.posts < 2 && self.task + 1 < self.tasks => {
                self.posts += 1;
                let (task, argument) = (self.rng.usize(self.task + 1..self.tasks), self.test());
                format!("post t{task}({argument}); ")
            }
            8 if self.shape.endless && self.posts < 2 => {
                self.posts += 1;
                let (task, argument) = (self.rng.usize(..self.tasks), self.test());
                format!("while (*) {{ post t{task}({argument}); }} ")
            }
            9 if !self.in_helper => "help(); ".to_owned(),
            10 | 11 if depth > 0 => {
                let test = if self.in_helper || self.rng.bool() { self.test() } else { "a".to_owned() };
                let (yes, no) = (self.block(depth - 1, 2), self.block(depth - 1, 1));
                format!("if ({test}) {{ {yes}}} else {{ {no}}} ")
            }
            _ => self.change(),
        }
    }
}

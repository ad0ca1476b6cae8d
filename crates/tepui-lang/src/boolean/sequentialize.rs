//! From tasks to one thread: a sequential program that fails exactly if the asynchronous one fails with at most K delays, depth first.
//!
//! A post becomes a call, made at once. The posted task runs on the values that it *will* find, which are guessed, and the
//! guess is checked when whoever runs before it ends or yields. There is one *round* more with each delay. For each round there
//! is what all that has run so far in it leaves behind: at first a guess, which must be what the round before has left behind in the
//! end.
//!
//! In each round tasks are simulated in the order in which the scheduler `dfs` runs them: preorder of the tree of posts, where the
//! rest of a task that yields is its last child. A violation is looked for in one round, which is guessed. Later rounds are left
//! out, and its own from where it is past; everything before is simulated to its end, so that all guesses are checked. That a
//! task in the round of the violation may be left out by choice matters: one that is posted by the task that fails comes
//! after the violation, and its own failure would hide it.
//!
//! The guess and the round of the task that runs are shared variables. Whoever posts keeps its own ones meanwhile; a procedure that
//! is called and yields hands both back.

use std::fmt::Write as _;

use tepui_model::program::{Action, Expression, Goal, Kind, Order, Place, Program, Shape, Slot};

use super::print::Printer;

mod back;
mod rounds;

/// What is to be found out of the sequential program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// Whether something fails.
    Violations,
    /// The values of the shared variables when nothing is left to do.
    Values,
}

/// How a program becomes sequential.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sequential {
    /// The most delays.
    pub delays: u32,
    /// What for.
    pub purpose: Purpose,
    /// Mistakes to make, for comparison.
    pub mistake: Option<Mistake>,
}

/// Ways in which it has been published, and is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mistake {
    /// The arguments of a post are evaluated after the shared values have been exchanged.
    LateArguments,
    /// A procedure that is called does not hand its round back.
    RoundByValue,
}

/// A sequential program.
#[derive(Clone, Debug)]
pub struct Sequentialized {
    /// Its text.
    pub text: String,
    /// With what all new names begin.
    prefix: String,
    /// What lines mean for the way back.
    marks: Vec<(usize, Mark)>,
}

/// What happens at a line of the sequential program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mark {
    /// A task is posted. It is decided whether it is simulated.
    Post,
    /// Its simulation begins.
    Begin,
    /// Its simulation has ended.
    End,
    /// A task yields.
    Yield,
    /// The task goes on after it has yielded.
    Resume,
}

/// The sequential program of an asynchronous one; or why there is none. The name is that of the asynchronous one.
pub fn sequentialize(program: &Program, name: &str, sequential: Sequential) -> Result<Sequentialized, String> {
    match program.order {
        Some(Order::Bag) => {}
        Some(order) => return Err(format!("with `tasks {}` there is nothing to delay", order.name())),
        None => return Err("the program has no tasks".to_owned()),
    }
    if let Some(procedure) = program.procedures.iter().find(|procedure| procedure.enforced.is_some()) {
        return Err(format!("`{}` enforces something, which is not supported", procedure.name));
    }
    let mut prefix = "seq_".to_owned();
    while super::print::names(program).iter().any(|name| name.starts_with(&prefix)) {
        prefix.insert(3, '_');
    }
    let mut printer = Printer::of(program);
    printer.rename_main(&format!("{prefix}main"));
    let mut writer = Writer {
        program,
        printer,
        sequential,
        prefix,
        written: written(program),
        text: String::new(),
        lines: (0, 1),
        marks: Vec::new(),
        depth: 0,
    };
    writer.program(name)?;
    Ok(Sequentialized { text: writer.text, prefix: writer.prefix, marks: writer.marks })
}

/// The shared variables that tasks write. The others need no copies.
fn written(program: &Program) -> Vec<usize> {
    let mut written = vec![false; program.shared.len()];
    for statement in program.procedures.iter().flat_map(|procedure| &procedure.statements) {
        let dead: &[Slot] = if let Action::Dead(slots) = &statement.action { slots } else { &[] };
        let targets = statement.action.targets().iter().flat_map(Place::slots);
        for slot in targets.chain(dead.iter().copied()) {
            if let Slot::Shared(number) = slot {
                written[number] = true;
            }
        }
    }
    (0..written.len()).filter(|&number| written[number]).collect()
}

struct Writer<'p> {
    program: &'p Program,
    printer: Printer<'p>,
    sequential: Sequential,
    /// With what all new names begin.
    prefix: String,
    /// The shared variables that have copies.
    written: Vec<usize>,
    text: String,
    /// How much of the text has been looked at, and the number of the line there.
    lines: (usize, usize),
    marks: Vec<(usize, Mark)>,
    depth: usize,
}

type Written = Result<(), String>;

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{:indent$}{line}", "", indent = 2 * self.depth);
    }

    /// The next line means something.
    fn mark(&mut self, mark: Mark) {
        let (seen, line) = self.lines;
        self.lines = (self.text.len(), line + self.text[seen..].matches('\n').count());
        self.marks.push((self.lines.1, mark));
    }

    /// A new name.
    fn own(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// The name of a copy of a shared variable.
    fn copy(&self, what: &str, number: usize) -> String {
        let name = &self.program.shared[number].name;
        let plain: String = name.chars().map(|mark| if mark.is_ascii_alphanumeric() { mark } else { '_' }).collect();
        let unique = if plain == *name { plain } else { format!("{plain}{number}") };
        format!("{}{what}_{unique}", self.prefix)
    }

    fn shared(&self, number: usize) -> String {
        self.printer.shared(number)
    }

    fn of_kind(&self, kind: Kind) -> String {
        self.printer.of_kind(&Shape::Scalar(kind))
    }

    fn is_for_violations(&self) -> bool {
        self.sequential.purpose == Purpose::Violations
    }

    /// Assigns to each copy of a kind what another copy, or the variable itself, holds.
    fn assign(&mut self, to: &dyn Fn(&Self, usize) -> String, from: &dyn Fn(&Self, usize) -> String) {
        for number in self.written.clone() {
            let line = format!("{} := {};", to(self, number), from(self, number));
            self.line(&line);
        }
    }

    /// That two copies are the same.
    fn same(&self, one: &dyn Fn(&Self, usize) -> String, other: &dyn Fn(&Self, usize) -> String) -> String {
        let equal = |&number: &usize| format!("{} = {}", one(self, number), other(self, number));
        let all: Vec<_> = self.written.iter().map(equal).collect();
        if all.is_empty() { "1".to_owned() } else { all.join(" & ") }
    }

    fn program(&mut self, name: &str) -> Written {
        let most = self.sequential.delays;
        self.head(name);
        let heads = self.printer.heads();
        self.text.push_str(&heads);
        for number in self.written.clone() {
            let kind = self.of_kind(self.program.shared[number].kind);
            let guess = self.copy("guess", number);
            self.line(&format!("decl {guess}{kind};"));
            for round in 0..=most {
                let next = self.copy(&format!("next{round}"), number);
                self.line(&format!("decl {next}{kind} := *;"));
            }
        }
        let [left, k, round] = ["left", "k", "round"].map(|name| self.own(name));
        self.line(&format!("decl {left}: 0..{most} := {most};"));
        self.line(&format!("decl {k}: 0..{most};"));
        if self.is_for_violations() {
            let [past, stop, hit] = ["past", "stop", "hit"].map(|name| self.own(name));
            self.line(&format!("decl {round}: 0..{most} := *;"));
            self.line(&format!("decl {past}, {stop};"));
            self.line(&format!("decl {hit}: 0..{};", self.program.properties(false).len()));
        }
        for number in 0..self.program.procedures.len() {
            self.procedure(number)?;
        }
        self.main();
        Ok(())
    }

    fn head(&mut self, name: &str) {
        let most = self.sequential.delays;
        let delays = if most == 1 { "1 delay".to_owned() } else { format!("{most} delays") };
        let name: String = name.chars().map(|mark| if mark.is_control() { ' ' } else { mark }).collect();
        self.line(&format!("// The sequential program of {name}, for at most {delays} of the scheduler dfs."));
        self.line("// A property is violated here if and only if it is violated there, with at most so many delays.");
        self.line("// Behind statements stand the lines that they come from.");
    }

    fn procedure(&mut self, number: usize) -> Written {
        let procedure = &self.program.procedures[number];
        self.printer.enter(number);
        let posts = procedure.statements.iter().any(|one| matches!(one.action, Action::Start { .. }));
        let head = self.printer.procedure_head(procedure);
        self.text.push_str(&head);
        self.depth = 1;
        if posts {
            for number in self.written.clone() {
                let kind = self.of_kind(self.program.shared[number].kind);
                let (kept, mine) = (self.copy("kept", number), self.copy("mine", number));
                self.line(&format!("decl {kept}, {mine}{kind};"));
            }
            let [later, mine] = ["later", "mine"].map(|name| self.own(name));
            self.line(&format!("decl {later}, {mine}: 0..{};", self.sequential.delays));
        }
        self.arguments_of_posts(number)?;
        if posts || self.program.yielding()[number] {
            let go = self.own("go");
            self.line(&format!("decl {go};"));
        }
        if self.sequential.mistake == Some(Mistake::RoundByValue) {
            let before = self.own("before");
            self.line(&format!("decl {before}: 0..{};", self.sequential.delays));
        }
        self.block(number, &procedure.body)?;
        self.depth = 0;
        self.line("}");
        Ok(())
    }

    /// Variables for the arguments of tasks that a procedure posts.
    fn arguments_of_posts(&mut self, number: usize) -> Written {
        let statements = &self.program.procedures[number].statements;
        let posted =
            |action: &Action| if let Action::Start { procedure, .. } = action { Some(*procedure) } else { None };
        let mut called: Vec<_> = statements.iter().filter_map(|statement| posted(&statement.action)).collect();
        called.sort_unstable();
        called.dedup();
        for task in called {
            let procedure = &self.program.procedures[task];
            for (index, declared) in procedure.declared.iter().enumerate() {
                if declared.first >= procedure.parameters {
                    break;
                }
                let Shape::Scalar(kind) = declared.shape else {
                    return Err(format!("`{}` takes an array or a record, which is not supported", procedure.name));
                };
                let (name, kind) = (self.argument(task, index), self.of_kind(kind));
                self.line(&format!("decl {name}{kind};"));
            }
        }
        Ok(())
    }

    fn argument(&self, task: usize, index: usize) -> String {
        format!("{}argument{index}_{task}", self.prefix)
    }

    fn block(&mut self, procedure: usize, block: &[usize]) -> Written {
        block.iter().try_for_each(|&position| self.statement(procedure, position))
    }

    fn inner(&mut self, procedure: usize, block: &[usize]) -> Written {
        self.depth += 1;
        self.block(procedure, block)?;
        self.depth -= 1;
        Ok(())
    }

    fn statement(&mut self, number: usize, position: usize) -> Written {
        let procedure = &self.program.procedures[number];
        let statement = &procedure.statements[position];
        for label in &statement.labels {
            let label = self.printer.name(label);
            self.line(&format!("{label}:"));
        }
        if self.is_for_violations() {
            self.reached(number, position)?;
            self.doubts(number, position)?;
        }
        let from = format!("  // line {}", statement.line);
        let condition = |condition: &Expression| self.printer.expression(condition);
        match &statement.action {
            Action::If(test, then, otherwise) => {
                let test = condition(test);
                self.line(&format!("if ({test}) {{{from}"));
                self.inner(number, then)?;
                self.line("} else {");
                self.inner(number, otherwise)?;
                self.line("}");
            }
            Action::While(test, body) => {
                let test = condition(test);
                self.line(&format!("while ({test}) {{{from}"));
                self.inner(number, body)?;
                self.line("}");
            }
            Action::For(variable, body) => {
                let head = self.printer.for_head(procedure, *variable);
                self.line(&format!("{head} {{{from}"));
                self.inner(number, body.split_last().map_or(&[], |(_, body)| body))?;
                self.line("}");
            }
            Action::Atomic(body) => self.block(number, body)?,
            Action::Assert(test) => {
                let test = condition(test);
                match self.is_for_violations() {
                    true => {
                        self.line(&format!("if (!({test})) {{{from}"));
                        self.violation(number, Goal::Failure(number, position))?;
                        self.line("}");
                    }
                    false => self.line(&format!("assume({test});{from}")),
                }
            }
            Action::Start { procedure: task, arguments, count } => {
                for _ in 0..*count {
                    self.post(*task, arguments, &from);
                }
            }
            Action::Yield => self.yields(number, &from)?,
            Action::Wait(test) => {
                let test = condition(test);
                self.wait(number, &test, &from)?;
            }
            Action::Lock(place) => {
                let place = self.printer.place(place);
                self.wait(number, &format!("!{place}"), &from)?;
                self.line(&format!("{place} := 1;"));
            }
            Action::Acquire(place) => {
                let text = self.printer.place(place);
                self.wait(number, &format!("{text} > 0"), &from)?;
                let (low, high) = self.program.kind_of(number, place).map_or((0, 0), |kind| self.program.range(kind));
                let size = high - low + 1;
                // One less, in a form that cannot leave the range.
                self.line(&format!("{text} := {low} + ({text} - 1 - {low} + {size}) % {size};"));
            }
            Action::Call { .. } => {
                let by_value = self.sequential.mistake == Some(Mistake::RoundByValue);
                let [before, k] = ["before", "k"].map(|name| self.own(name));
                if by_value {
                    self.line(&format!("{before} := {k};"));
                }
                let call = self.printer.simple(procedure, &statement.action);
                self.line(&format!("{call};{from}"));
                if by_value {
                    self.line(&format!("{k} := {before};"));
                }
                if self.is_for_violations() {
                    let stop = self.own("stop");
                    self.line(&format!("if ({stop}) {{"));
                    self.leave(number)?;
                    self.line("}");
                }
            }
            Action::EndThread if self.is_for_violations() => {
                self.assume_guess();
                self.stop(number)?;
            }
            Action::EndThread => return Err("`exit` is not supported where values are wanted".to_owned()),
            Action::Next(..) => {}
            action => {
                let text = self.printer.simple(procedure, action);
                self.line(&format!("{text};{from}"));
            }
        }
        Ok(())
    }

    /// A label that must not be reached.
    fn reached(&mut self, number: usize, position: usize) -> Written {
        let goal = Goal::Reached(number, position);
        if self.property(goal).is_some() {
            self.line("if (1) {");
            self.violation(number, goal)?;
            self.line("}");
        }
        Ok(())
    }

    /// What may be out of range, or outside of its array, is a violation like any other.
    fn doubts(&mut self, number: usize, position: usize) -> Written {
        if !self.program.is_doubtful(number, position) {
            return Ok(());
        }
        let line = self.program.procedures[number].statements[position].line;
        let refused = |what: &str| Err(format!("line {line}: {what} is not supported"));
        let Action::Assign { targets, values, constraint: None } =
            &self.program.procedures[number].statements[position].action
        else {
            return refused("a statement, other than an assignment, that may leave a range or an array");
        };
        let (mut indices, mut any) = (Vec::new(), false);
        for value in values {
            value.parts(&mut |part| any |= matches!(part, Expression::Any(_) | Expression::Choose(..)));
            value.elements(&mut |element| indices.extend(element.indices.clone()));
        }
        for target in targets {
            if let Place::Element(element) = target {
                indices.extend(element.indices.clone());
            }
        }
        if any {
            return refused("`*` in an assignment that may leave a range or an array");
        }
        for index in &indices {
            let (text, last) = (self.printer.expression(&index.value), index.count - 1);
            self.line(&format!("if (({text}) < 0 | ({text}) > {last}) {{"));
            self.violation(number, Goal::Index(number, position))?;
            self.line("}");
        }
        for (target, value) in targets.iter().zip(values) {
            let Some(kind @ Kind::Range(..)) = self.program.kind_of(number, target) else { continue };
            let ((low, high), text) = (self.program.range(kind), self.printer.expression(value));
            self.line(&format!("if (({text}) < {low} | ({text}) > {high}) {{"));
            self.violation(number, Goal::Range(number, position))?;
            self.line("}");
        }
        Ok(())
    }

    /// The number of a property, from 1.
    fn property(&self, goal: Goal) -> Option<usize> {
        self.program.properties(false).iter().position(|property| property.never.contains(&goal)).map(|at| at + 1)
    }

    /// The violation is here, if this is its round.
    fn violation(&mut self, procedure: usize, goal: Goal) -> Written {
        let [k, round, hit, past] = ["k", "round", "hit", "past"].map(|name| self.own(name));
        let number = self.property(goal).unwrap_or(0);
        self.depth += 1;
        self.line(&format!("assume({k} = {round} & {hit} = 0);"));
        self.line(&format!("{hit} := {number};"));
        self.line(&format!("{past} := 1;"));
        self.depth -= 1;
        self.stop(procedure)
    }

    /// The task ends here; all its frames are left.
    fn stop(&mut self, procedure: usize) -> Written {
        let stop = self.own("stop");
        self.depth += 1;
        self.line(&format!("{stop} := 1;"));
        self.depth -= 1;
        self.leave(procedure)
    }

    /// Leaves the procedure; nobody looks at its results.
    fn leave(&mut self, procedure: usize) -> Written {
        let procedure = &self.program.procedures[procedure];
        let first = |shape: &Shape| match shape {
            Shape::Scalar(kind) => Ok(self.printer.value(*kind, 0)),
            _ => Err(format!("`{}` returns an array or a record, which is not supported", procedure.name)),
        };
        let results = procedure.returned.iter().map(first).collect::<Result<Vec<_>, _>>()?;
        let space = if results.is_empty() { "" } else { " " };
        let line = format!("  return{space}{};", results.join(", "));
        self.line(&line);
        Ok(())
    }

    /// The beginning and the end.
    fn main(&mut self) {
        let most = self.sequential.delays;
        let next = |round: u32| move |own: &Self, number: usize| own.copy(&format!("next{round}"), number);
        let first = |round: u32| move |own: &Self, number: usize| own.copy(&format!("first{round}"), number);
        self.line("\nvoid main() {");
        self.depth = 1;
        for round in 1..=most {
            for number in self.written.clone() {
                let (name, kind) = (first(round)(self, number), self.of_kind(self.program.shared[number].kind));
                self.line(&format!("decl {name}{kind};"));
            }
        }
        for round in 1..=most {
            self.assign(&first(round), &next(round));
        }
        self.assign(&|own, number| own.copy("guess", number), &next(0));
        let [main, stop, round, hit] = ["main", "stop", "round", "hit"].map(|name| self.own(name));
        self.line(&format!("{main}();"));
        if self.is_for_violations() {
            self.line(&format!("if (!{stop}) {{"));
        }
        self.assume_guess();
        if self.is_for_violations() {
            self.line("}");
        }
        for before in 0..most {
            let same = self.same(&next(before), &first(before + 1));
            match self.is_for_violations() {
                true => self.line(&format!("if ({before} < {round}) {{ assume({same}); }}")),
                false => self.line(&format!("assume({same});")),
            }
        }
        if self.is_for_violations() {
            for (number, property) in self.program.properties(false).iter().enumerate() {
                let name = property.name.replace('@', " at line ");
                self.line(&format!("assert({hit} != {}) \"{name}\";", number + 1));
            }
        } else {
            self.assign(&|own, number| own.shared(number), &next(most));
            let done = self.own("done");
            self.line(&format!("{done}: skip;"));
        }
        self.depth = 0;
        self.line("}");
    }
}

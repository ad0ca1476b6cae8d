//! Executions of programs, in the terms of their source.

use tepui_core::story::{Mark, Message, Move, Situation, Step as Told, Story, Unit, Values};
use tepui_core::text::cut;
use tepui_lang::boolean::print_head;
use tepui_lang::source::Source;
use tepui_model::program::run::{State, Step};
use tepui_model::program::step::{Frame, Runner, Stage, Value};
use tepui_model::program::{Action, Goal, Program, Variable};

/// Tells an execution in the terms of the source.
pub(super) fn tell(program: &Program, source: &Source, start: &State, steps: &[(usize, Step)]) -> Story {
    let last = steps.last().map_or(start, |(_, step)| &step.after);
    let teller = Teller { program, source, names: names(program, start, steps), runner: Runner::new(program) };
    // What nobody reads may have any value.
    let shared = program.shared.iter().zip(start.shared.iter()).filter(|(_, value)| **value != Value::Unset);
    let values = shared.map(|(variable, &value)| teller.valued(variable, value));
    let values = values.chain((0..start.threads.len()).flat_map(|thread| teller.arguments(thread, start))).collect();
    let mut before = start;
    // Where the procedures that a thread is in have called the next one.
    let mut calls: Vec<Vec<usize>> = Vec::new();
    let mut told = Vec::new();
    for (thread, step) in steps {
        calls.resize(calls.len().max(thread + 1), Vec::new());
        let waiting = step.after.threads[*thread].len().saturating_sub(1);
        if waiting > calls[*thread].len() {
            calls[*thread].push(step.at.1);
        }
        calls[*thread].truncate(waiting);
        told.push(teller.step(*thread, step, before, &calls[*thread]));
        before = &step.after;
    }
    let fails = told.last().is_some_and(|step: &Told| step.violation().is_some());
    let end = if fails { Vec::new() } else { teller.end(last) };
    let start = Situation::Values(values);
    Story { actors: teller.names, text: "statement", unit: Unit::Contexts, start, steps: told, end }.with_contexts()
}

/// Threads are named after the procedure that they run.
fn names(program: &Program, start: &State, steps: &[(usize, Step)]) -> Vec<String> {
    let mut first: Vec<Option<usize>> = Vec::new();
    let states = std::iter::once(start).chain(steps.iter().map(|(_, step)| &step.after));
    for state in states {
        first.resize(first.len().max(state.threads.len()), None);
        for (thread, found) in state.threads.iter().zip(&mut first) {
            *found = found.or(thread.first().map(|frame| frame.procedure));
        }
    }
    let plain: Vec<_> = first.into_iter().map(|procedure| procedure.unwrap_or(program.main)).collect();
    let name = |(thread, procedure): (usize, &usize)| {
        let text = &program.procedures[*procedure].name;
        let alike = |others: &[usize]| others.iter().filter(|other| *other == procedure).count();
        if alike(&plain) == 1 { text.clone() } else { format!("{text}#{}", alike(&plain[..=thread])) }
    };
    plain.iter().enumerate().map(name).collect()
}

/// Whom a thread has woken.
fn woken(from: usize, before: &State, after: &State) -> Vec<Message> {
    let sleeps = |thread: &Vec<Frame>| thread.last().is_some_and(|top| matches!(top.stage, Stage::Asleep(_)));
    let both = before.threads.iter().zip(&after.threads).enumerate();
    let woken = both.filter(|(to, (before, after))| *to != from && sleeps(before) && !sleeps(after));
    woken.map(|(to, _)| Message { from, to, text: "wake up".to_owned() }).collect()
}

struct Teller<'a> {
    program: &'a Program,
    source: &'a Source,
    names: Vec<String>,
    runner: Runner<'a>,
}

impl Teller<'_> {
    fn valued(&self, variable: &Variable, value: Value) -> (String, String) {
        let value = value.known().map_or("*".to_owned(), |value| self.program.value_name(variable.kind, value));
        (variable.name.clone(), value)
    }

    fn step(&self, thread: usize, step: &Step, before: &State, calls: &[usize]) -> Told {
        let (line, column) = self.place(step.at);
        let frames = &step.after.threads[thread];
        let places = calls.iter().copied().chain(frames.last().map(|top| top.position));
        let text = match before.threads[thread].last().map(|top| top.stage) {
            Some(Stage::Posted) => "begins".to_owned(),
            Some(Stage::Yielded) => "goes on".to_owned(),
            _ => self.statement(step.at),
        };
        let own = Move {
            actor: thread,
            text,
            procedure: Some(self.program.procedures[step.at.0].name.clone()),
            file: None,
            line,
            column: Some(column),
        };
        let violates = |failure: Goal| match failure {
            Goal::Range(..) => Mark::Violation("the value is out of range"),
            Goal::Index(..) => Mark::Violation("the index is outside of the array"),
            _ => Mark::Violation("the assertion fails"),
        };
        let dispatched = before.threads[thread].last().is_some_and(|top| top.stage.is_pending());
        let idle = (dispatched || self.moves_only(step.at)).then_some(Mark::Idle);
        let changed = self.changed(thread, before, &step.after);
        Told {
            stack: frames.iter().zip(places).map(|(frame, position)| self.frame(frame, position)).collect(),
            branch: frames.last().and_then(|frame| self.branch(step.at, frame)),
            marks: step.failed.map(violates).into_iter().chain(idle).collect(),
            messages: woken(thread, before, &step.after),
            ..Told::new(vec![own], Situation::Values(changed))
        }
    }

    fn branch(&self, (procedure, position): (usize, usize), after: &Frame) -> Option<bool> {
        let next = self.runner.following(procedure, position);
        let first = |block: &[usize], otherwise: usize| block.first().copied().unwrap_or(otherwise);
        let (yes, no) = match &self.program.procedures[procedure].statements.get(position)?.action {
            Action::If(_, then, otherwise) => (first(then, next), first(otherwise, next)),
            Action::While(_, body) => (first(body, position), next),
            _ => return None,
        };
        (yes != no).then_some(after.position == yes)
    }

    fn moves_only(&self, (procedure, position): (usize, usize)) -> bool {
        let statement = self.program.procedures[procedure].statements.get(position);
        matches!(statement.map(|statement| &statement.action), Some(Action::Skip | Action::Goto(_)))
    }

    fn frame(&self, frame: &Frame, position: usize) -> (String, usize) {
        (self.program.procedures[frame.procedure].name.clone(), self.place((frame.procedure, position)).0)
    }

    /// Line and column of a statement; of the procedure's last one for its end.
    fn place(&self, (procedure, position): (usize, usize)) -> (usize, usize) {
        let procedure = &self.program.procedures[procedure];
        match procedure.statements.get(position).or(procedure.statements.last()) {
            Some(statement) => self.source.position(statement.text.0 as usize),
            None => (procedure.line as usize, 1),
        }
    }

    fn statement(&self, (procedure, position): (usize, usize)) -> String {
        let Some(statement) = self.program.procedures[procedure].statements.get(position) else {
            return "end".to_owned();
        };
        let text = self.source.text.get(statement.text.0 as usize..statement.text.1 as usize).unwrap_or_default();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let has_blocks = matches!(
            statement.action,
            Action::If(..) | Action::While(..) | Action::For(..) | Action::Next(..) | Action::Atomic(_)
        );
        match has_blocks || text.is_empty() {
            true => print_head(self.program, procedure, position),
            false => text.trim_end_matches(';').to_owned(),
        }
    }

    fn changed(&self, thread: usize, before: &State, after: &State) -> Values {
        let mut changed = Vec::new();
        for (number, variable) in self.program.shared.iter().enumerate() {
            if before.shared[number] != after.shared[number] {
                changed.push(self.valued(variable, after.shared[number]));
            }
        }
        let started = before.threads.len()..after.threads.len();
        changed.extend(started.flat_map(|thread| self.arguments(thread, after)));
        let (old, new) = (&before.threads[thread], &after.threads[thread]);
        let Some(frame) = new.last() else { return changed };
        let procedure = &self.program.procedures[frame.procedure];
        let known = old.get(new.len() - 1).filter(|_| old.len() >= new.len());
        for (number, variable) in procedure.locals.iter().enumerate() {
            let value = frame.locals[number];
            let shown = known.map_or(number < procedure.parameters, |known| known.locals[number] != value);
            if shown {
                changed.push(self.valued(variable, value));
            }
        }
        changed
    }

    /// What a thread was started with, where somebody reads it.
    fn arguments(&self, thread: usize, state: &State) -> Values {
        let Some(frame) = state.threads[thread].first() else { return Vec::new() };
        let procedure = &self.program.procedures[frame.procedure];
        let parameters = procedure.locals.iter().zip(&frame.locals).take(procedure.parameters);
        let known = parameters.filter(|(_, value)| value.known().is_some());
        let named = |(name, value)| (format!("{}.{name}", self.names[thread]), value);
        known.map(|(variable, &value)| named(self.valued(variable, value))).collect()
    }

    /// Where threads stand that have not ended.
    fn end(&self, state: &State) -> Vec<String> {
        let runner = &self.runner;
        let stuck = runner.stuck(state);
        let mut end = Vec::new();
        for &label in &runner.reached(state) {
            end.push(format!("label {} is reached", self.program.unreachable[label].label));
        }
        if stuck.is_none() {
            return end;
        }
        for (number, thread) in state.threads.iter().enumerate() {
            let Some(frame) = thread.last() else { continue };
            let position = runner.first_of(frame.procedure, frame.position);
            let line = self.place((frame.procedure, position)).0;
            let statement = cut(&self.statement((frame.procedure, position)));
            let name = &self.names[number];
            end.push(match state.uninterrupted(runner).filter(|&holder| holder != number) {
                Some(holder) => format!("{name} waits at line {line}: {} is in an atomic section", self.names[holder]),
                None if matches!(frame.stage, Stage::Asleep(_)) => {
                    format!("{name} sleeps before line {line}: {statement}")
                }
                None => format!("{name} is blocked at line {line}: {statement}"),
            });
        }
        end
    }
}

//! What a machine does by itself, up to something that others notice.
//!
//! Of an expression, first what has effects is done, from left to right: calls, new machines, choices. Then the rest
//! reads variables. All expressions of a statement are treated as one.

use std::rc::Rc;

use super::pure::{Change, Reader, change};
use super::state::{Agenda, Frame, Item, Machine, Whole};
use super::tree::{Expr, ExprId, Name, Operator, Program, StmtId, What};
use super::values::{Value, Wrong};

/// Why a machine does not go on by itself.
#[derive(Debug)]
pub(super) enum Stop {
    /// It is about to take an event, or has halted.
    Rests,
    /// A choice, and for `$$` the place where it stands.
    Choice(Vec<Value>, Option<ExprId>),
    Send(Value, Value, Value),
    Announce(Value, Value),
    New(Name, Value),
    /// It may have been here before.
    Mark,
    Wrong(Wrong),
    /// An assumption does not hold.
    Left,
}

/// The most that can be chosen from.
const CHOICES: usize = 10_000;

/// Several values make a tuple, none are nothing.
pub(super) fn packed(mut values: Vec<Value>) -> Value {
    match values.len() {
        0 => Value::Null,
        1 => values.remove(0),
        _ => Value::Tuple(Rc::new(values)),
    }
}

pub(super) struct Runner<'a> {
    pub(super) program: &'a Program,
    pub(super) machine: &'a mut Machine,
    pub(super) this: usize,
}

impl Runner<'_> {
    /// Goes on until something stops the machine.
    pub(super) fn run(&mut self) -> Stop {
        loop {
            match self.advance() {
                Ok(None) => {}
                Ok(Some(stop)) => return stop,
                Err(wrong) => return Stop::Wrong(wrong),
            }
        }
    }

    fn advance(&mut self) -> Result<Option<Stop>, Wrong> {
        let Some(frame) = self.machine.frames.last_mut() else {
            let Some(next) = self.machine.agenda.pop() else { return Ok(Some(Stop::Rests)) };
            return self.attend(next);
        };
        match frame.items.pop() {
            None => {
                self.machine.frames.pop();
                self.deliver(Value::Null);
                Ok(None)
            }
            Some(Item::Rest(block, at)) => self.rest(block, at),
            Some(Item::Again(stmt)) => {
                self.begin(stmt);
                Ok(Some(Stop::Mark))
            }
            Some(Item::Each(stmt, items, at)) => self.each(stmt, items, at),
            Some(Item::EndCase(locals)) => {
                frame.locals.truncate(locals);
                Ok(None)
            }
            Some(Item::Wait(stmt)) => {
                frame.items.push(Item::Wait(stmt));
                Ok(Some(Stop::Rests))
            }
            Some(Item::Evaluate(whole, next, done)) => self.evaluate(whole, next, done),
        }
    }

    fn push(&mut self, item: Item) {
        if let Some(frame) = self.machine.frames.last_mut() {
            frame.items.push(item);
        }
    }

    fn begin(&mut self, stmt: StmtId) {
        self.push(Item::Evaluate(Whole::Stmt(stmt), 0, Vec::new()));
    }

    fn rest(&mut self, block: usize, at: usize) -> Result<Option<Stop>, Wrong> {
        if let Some(stmt) = self.program.blocks[block].get(at) {
            self.push(Item::Rest(block, at + 1));
            self.begin(*stmt);
        }
        Ok(None)
    }

    fn each(&mut self, stmt: StmtId, items: Rc<Vec<Value>>, at: usize) -> Result<Option<Stop>, Wrong> {
        let What::Foreach(variable, body) = self.program.stmts[stmt].what else { return Ok(None) };
        if let Some(item) = items.get(at).cloned() {
            let place = super::tree::Place { variable, way: Vec::new() };
            change(self.program, self.machine, &place, &Change::Assign, vec![item])?;
            self.push(Item::Each(stmt, items, at + 1));
            self.push(Item::Rest(body, 0));
        }
        Ok(None)
    }

    /// Gives a value to the evaluation that waits for it, if one does.
    pub(super) fn deliver(&mut self, value: Value) {
        let Some(frame) = self.machine.frames.last_mut() else { return };
        if let Some(Item::Evaluate(whole, next, done)) = frame.items.last_mut() {
            let effects = effects(self.program, *whole);
            done.push((effects[*next], value));
            *next += 1;
        }
    }

    fn evaluate(&mut self, whole: Whole, next: usize, done: Vec<(ExprId, Value)>) -> Result<Option<Stop>, Wrong> {
        let effects = effects(self.program, whole);
        if let Some(effect) = effects.get(next) {
            let (program, this) = (self.program, self.this);
            let stop = {
                let reader = Reader { program, machine: self.machine, this, done: &done };
                self.effect(*effect, &reader)?
            };
            self.push(Item::Evaluate(whole, next, done));
            return Ok(self.perform(stop));
        }
        let reader = Reader { program: self.program, machine: self.machine, this: self.this, done: &done };
        match whole {
            Whole::Expr(expr) => {
                let value = reader.value(expr)?;
                self.deliver(value);
                Ok(None)
            }
            Whole::Stmt(stmt) => {
                let values = reader.values(&self.program.stmts[stmt].exprs)?;
                self.finish(stmt, values)
            }
        }
    }

    fn effect(&self, effect: ExprId, reader: &Reader<'_>) -> Result<Effect, Wrong> {
        match &self.program.exprs[effect] {
            Expr::Either(fair) => {
                let both = vec![Value::Bool(false), Value::Bool(true)];
                Ok(Effect::Stops(Stop::Choice(both, fair.then_some(effect))))
            }
            Expr::Choose(inner) => Ok(Effect::Stops(Stop::Choice(choices(&reader.value(*inner)?)?, None))),
            Expr::Call(name, arguments) => Ok(Effect::Calls(*name, reader.values(arguments)?)),
            Expr::New(name, arguments) => Ok(Effect::Stops(Stop::New(*name, packed(reader.values(arguments)?)))),
            Expr::Binary(operator, left, right) => {
                let decided = *operator == Operator::Or;
                let left = reader.truth(*left)?;
                Ok(if left == decided { Effect::Is(Value::Bool(left)) } else { Effect::Evaluates(*right) })
            }
            _ => unreachable!("it has no effect"),
        }
    }

    fn perform(&mut self, effect: Effect) -> Option<Stop> {
        match effect {
            Effect::Stops(stop) => Some(stop),
            Effect::Is(value) => {
                self.deliver(value);
                None
            }
            Effect::Evaluates(expr) => {
                self.push(Item::Evaluate(Whole::Expr(expr), 0, Vec::new()));
                None
            }
            Effect::Calls(name, _) if self.program.foreign.contains_key(&name) => {
                match self.program.foreign[&name].as_ref().map(|result| self.program.all_of(result)) {
                    Some(Ok(values)) => Some(Stop::Choice(values, None)),
                    Some(Err(wrong)) => Some(Stop::Wrong(wrong)),
                    None => {
                        self.deliver(Value::Null);
                        None
                    }
                }
            }
            Effect::Calls(name, arguments) => {
                let own = self.program.kinds[self.machine.kind].functions.get(&name);
                let function = own.or_else(|| self.program.globals.get(&name));
                let Some(function) = function else { return Some(Stop::Wrong("no such function")) };
                self.call(*function, arguments);
                Some(Stop::Mark)
            }
        }
    }

    pub(super) fn call(&mut self, function: usize, arguments: Vec<Value>) {
        let of = &self.program.functions[function];
        let locals = of.parameters.iter().copied().zip(arguments).collect();
        self.machine.frames.push(Frame { function, locals, items: vec![Item::Rest(of.body, 0)] });
    }

    /// What a statement does with the values of its expressions.
    fn finish(&mut self, stmt: StmtId, mut values: Vec<Value>) -> Result<Option<Stop>, Wrong> {
        let truth = |values: &[Value]| match values {
            [Value::Bool(value), ..] => Ok(*value),
            _ => Err("null"),
        };
        let program = self.program;
        match &program.stmts[stmt].what {
            What::Assign(place) => change(program, self.machine, place, &Change::Assign, values)?,
            What::Insert(place) => change(program, self.machine, place, &Change::Insert, values)?,
            What::Add(place) => change(program, self.machine, place, &Change::Add, values)?,
            What::Remove(place) => change(program, self.machine, place, &Change::Remove, values)?,
            What::If(yes, no) => {
                let block = if truth(&values)? { Some(*yes) } else { *no };
                block.into_iter().for_each(|block| self.push(Item::Rest(block, 0)));
            }
            What::While(body) => {
                if truth(&values)? {
                    self.push(Item::Again(stmt));
                    self.push(Item::Rest(*body, 0));
                }
            }
            What::Foreach(..) => self.push(Item::Each(stmt, elements(&values[0])?, 0)),
            What::Assert if !truth(&values)? => return Err("assert"),
            What::Assume if !truth(&values)? => return Ok(Some(Stop::Left)),
            What::Send => {
                let payload = packed(values.split_off(2));
                let event = values.pop().unwrap_or(Value::Null);
                return Ok(Some(Stop::Send(values.remove(0), event, payload)));
            }
            What::Announce => {
                let payload = packed(values.split_off(1));
                return Ok(Some(Stop::Announce(values.remove(0), payload)));
            }
            _ => return self.finish_jump(stmt, values),
        }
        Ok(None)
    }

    /// Statements about what is done next.
    fn finish_jump(&mut self, stmt: StmtId, mut values: Vec<Value>) -> Result<Option<Stop>, Wrong> {
        match &self.program.stmts[stmt].what {
            What::Declare(names, of) => self.declare(names, &self.program.default_of(of)),
            What::Block(block) => self.push(Item::Rest(*block, 0)),
            What::Break => self.leave(true),
            What::Continue => self.leave(false),
            What::Return => {
                self.machine.frames.pop();
                self.deliver(packed(values));
            }
            What::Raise => {
                let payload = packed(values.split_off(1));
                let Value::Event(event) = values[0] else { return Err("null-event") };
                self.machine.instead(vec![Agenda::Handle(event, payload)]);
            }
            What::Goto(state) => self.machine.instead(vec![Agenda::Enter(*state, packed(values)), Agenda::Exit]),
            What::Pop => self.machine.instead(vec![Agenda::Pop { asked: true }, Agenda::Exit]),
            What::Receive(_) => self.push(Item::Wait(stmt)),
            _ => {}
        }
        Ok(None)
    }

    /// New local variables; those of a loop begin anew each time.
    fn declare(&mut self, names: &[Name], value: &Value) {
        let Some(frame) = self.machine.frames.last_mut() else { return };
        let ends =
            frame.items.iter().filter_map(|item| if let Item::EndCase(locals) = item { Some(*locals) } else { None });
        let base = ends.max().unwrap_or(0);
        for name in names {
            match frame.locals[base..].iter_mut().find(|(local, _)| local == name) {
                Some((_, local)) => *local = value.clone(),
                None => frame.locals.push((*name, value.clone())),
            }
        }
    }

    /// Goes back to the innermost loop, or behind it.
    fn leave(&mut self, behind: bool) {
        let Some(frame) = self.machine.frames.last_mut() else { return };
        while let Some(item) = frame.items.pop() {
            match item {
                Item::EndCase(locals) => frame.locals.truncate(locals),
                Item::Again(_) | Item::Each(..) => {
                    frame.items.extend((!behind).then_some(item));
                    return;
                }
                _ => {}
            }
        }
    }

    /// Follows what does nothing: ends of blocks, jumps, and returns without a value. Who is at a `receive` waits there.
    pub(super) fn settle(&mut self) {
        loop {
            let Some(frame) = self.machine.frames.last() else { return };
            let nothing = match frame.items.last() {
                None | Some(Item::EndCase(_)) => true,
                Some(Item::Rest(block, at)) => {
                    self.program.blocks[*block].get(*at).is_none_or(|stmt| self.jumps(*stmt))
                }
                Some(Item::Evaluate(Whole::Stmt(stmt), next, _)) => {
                    let stmt = &self.program.stmts[*stmt];
                    let done = *next == stmt.effects.len() && matches!(stmt.what, What::Do);
                    done || self.jumps_now(stmt)
                }
                _ => false,
            };
            if !nothing || self.advance().is_err() {
                return;
            }
        }
    }

    fn jumps(&self, stmt: StmtId) -> bool {
        self.jumps_now(&self.program.stmts[stmt])
    }

    fn jumps_now(&self, stmt: &super::tree::Stmt) -> bool {
        match stmt.what {
            What::Break | What::Continue | What::Block(_) | What::Receive(_) => true,
            What::Return => stmt.exprs.is_empty(),
            What::Do => stmt.effects.iter().all(|&effect| self.is_idle(effect)),
            _ => false,
        }
    }

    /// Whether a foreign function is called that returns nothing, with what needs no work.
    fn is_idle(&self, effect: ExprId) -> bool {
        let plain = |one: &ExprId| {
            matches!(self.program.exprs[*one], Expr::Constant(_) | Expr::Default(_) | Expr::Name(_) | Expr::This)
        };
        let Expr::Call(name, arguments) = &self.program.exprs[effect] else { return false };
        self.program.foreign.get(name).is_some_and(Option::is_none) && arguments.iter().all(plain)
    }
}

enum Effect {
    Stops(Stop),
    Is(Value),
    Evaluates(ExprId),
    Calls(Name, Vec<Value>),
}

fn effects(program: &Program, whole: Whole) -> Vec<ExprId> {
    match whole {
        Whole::Stmt(stmt) => program.stmts[stmt].effects.clone(),
        Whole::Expr(expr) => {
            let mut found = Vec::new();
            program.effects(expr, &mut found);
            found
        }
    }
}

/// What `foreach` goes through.
fn elements(collection: &Value) -> Result<Rc<Vec<Value>>, Wrong> {
    match collection {
        Value::Seq(items) | Value::Set(items) => Ok(items.clone()),
        Value::Map(items) => Ok(Rc::new(items.iter().map(|(key, _)| key.clone()).collect())),
        _ => Err("null"),
    }
}

/// What can be chosen.
fn choices(from: &Value) -> Result<Vec<Value>, Wrong> {
    let all = match from {
        Value::Int(0) => return Ok(vec![Value::Int(0)]),
        Value::Int(below) if (1..=CHOICES as i64).contains(below) => (0..*below).map(Value::Int).collect(),
        Value::Int(_) => return Err("choose"),
        other => elements(other)?.to_vec(),
    };
    if all.is_empty() || all.len() > CHOICES { Err("choose") } else { Ok(all) }
}

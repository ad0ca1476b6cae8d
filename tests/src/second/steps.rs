//! Statements: what they do, when all names are known.

use super::definitions::Resolved;
use super::kinds::{Interval, Kind, Value};
use super::program::{self, Path, Slot, Step, Term};
use super::terms::{Scope, Visible};
use super::tree::{self, Action, Block, Expression, Operation, Operator, Part, Place};

/// No place is assigned twice at a time: neither the same one, nor one and a part of it.
fn once<'a>(targets: impl IntoIterator<Item = &'a Place>) -> Resolved<()> {
    let targets: Vec<_> = targets.into_iter().collect();
    for (index, one) in targets.iter().enumerate() {
        if targets[..index].iter().any(|other| overlap(one, other)) {
            return Err(format!("{} is assigned twice at a time", one.name));
        }
    }
    Ok(())
}

/// Whether two places may be the same, or one part of the other: elements are apart if their indices are different constants.
fn overlap(one: &Place, other: &Place) -> bool {
    let same = |(one, other): (&Part, &Part)| match (one, other) {
        (Part::Element(Expression::Number(one)), Part::Element(Expression::Number(other))) => one == other,
        (Part::Element(_), Part::Element(_)) => true,
        (one, other) => one == other,
    };
    one.name == other.name && one.parts.iter().zip(&other.parts).all(same)
}

impl Scope<'_> {
    pub(super) fn block(&mut self, block: &Block, asserts: &mut Vec<String>) -> Resolved<program::Block> {
        let mut statements = Vec::new();
        for statement in &block.statements {
            let (labels, number) = (statement.labels.clone(), statement.number);
            self.statement.set(Some((number, statement.line)));
            let step = self.step(statement, asserts).map_err(|why| format!("line {}: {why}", statement.line))?;
            statements.push(program::Statement { labels, number, step });
        }
        Ok(program::Block { statements, last: block.last.clone() })
    }

    /// The expressions of a statement come before its blocks, so that doubts are about the statement itself.
    fn step(&mut self, statement: &tree::Statement, asserts: &mut Vec<String>) -> Resolved<Step> {
        Ok(match &statement.action {
            Action::Change { targets, values, constraint } => self.change(targets, values, constraint.as_ref())?,
            Action::Operate { operation, target, place, operands } => {
                self.operate(*operation, target.as_ref(), place, operands)?
            }
            Action::Call { targets, callee, arguments } => self.call(targets, callee, arguments)?,
            Action::Return(values) => self.returning(values)?,
            Action::If(condition, yes, no) => {
                let condition = self.truth(condition)?;
                Step::If(condition, Box::new([self.block(yes, asserts)?, self.block(no, asserts)?]))
            }
            Action::While(condition, block) => Step::While(self.truth(condition)?, self.block(block, asserts)?),
            Action::For { variable, over, body } => self.for_loop(variable, over, body, asserts)?,
            Action::Goto(labels) => Step::Goto(labels.iter().map(|label| self.path(label)).collect::<Resolved<_>>()?),
            Action::Assert(condition, name) => {
                let name = name.clone().unwrap_or_else(|| self.assert_name(statement.line));
                asserts.push(name.clone());
                Step::Assert(self.truth(condition)?, name)
            }
            Action::Atomic(block) => Step::Atomic(self.block(block, asserts)?),
            Action::AtomicBegin => Step::AtomicBegin,
            Action::AtomicEnd => Step::AtomicEnd,
            Action::Sleep(on) => Step::Sleep(on.as_ref().map(|(on, lock)| self.sleep(on, lock)).transpose()?),
            Action::Broadcast(on) => Step::Broadcast(on.as_ref().map(|on| self.condition(on)).transpose()?),
            Action::Signal(on) => Step::Signal(self.condition(on)?),
            Action::Arrive(barrier) => self.arrive(barrier, statement.number)?,
            Action::Pass(barrier) => self.pass(barrier, statement.number)?,
            Action::Yield => Step::Yield,
            Action::Wait(condition) => Step::Wait(self.truth(condition)?),
            Action::Start { callee, arguments, count, .. } => {
                let (callee, arguments) = self.passed(callee, arguments)?;
                let count = usize::try_from(self.names.number(count)?).map_err(|_| "fewer than no threads")?;
                Step::Start { callee, arguments, count }
            }
            Action::StartAt(label) => Step::StartAt(self.path(label)?),
            Action::Exit => Step::Exit,
        })
    }

    fn change(&self, targets: &[Place], values: &[Expression], constraint: Option<&Expression>) -> Resolved<Step> {
        once(targets)?;
        let targets = targets.iter().map(|target| self.target(target)).collect::<Resolved<Vec<_>>>()?;
        for target in &targets {
            self.count_whole(&target.kind, "assignment of an array", "assignment of a record");
        }
        let values = values.iter().zip(&targets).map(|(value, target)| self.stored(value, &target.kind));
        let values = values.collect::<Resolved<_>>()?;
        let constraint = constraint.map(|constraint| self.truth(constraint)).transpose()?;
        Ok(Step::Change { targets, values, constraint })
    }

    fn operate(
        &self,
        operation: Operation,
        target: Option<&Place>,
        written: &Place,
        operands: &[Expression],
    ) -> Resolved<Step> {
        once(target.into_iter().chain([written]))?;
        let place = match operation {
            Operation::Lock | Operation::Unlock => self.target_of(written, &Kind::Boolean)?,
            Operation::Acquire | Operation::FetchAdd => self.target_of(written, &Kind::number())?,
            Operation::Cas => self.target(written)?,
        };
        let result = if operation == Operation::Cas { Kind::Boolean } else { place.kind.clone() };
        let target = target.map(|target| self.target_of(target, &result)).transpose()?;
        target.iter().try_for_each(|target| self.store(&result, &target.kind))?;
        let operands = match operation {
            Operation::Lock | Operation::Unlock => Vec::new(),
            Operation::Acquire => {
                self.store_less(&place.kind)?;
                Vec::new()
            }
            Operation::FetchAdd => vec![self.added(&operands[0], &place.kind)?],
            Operation::Cas if written.has_any() || operands[0].has_any() => {
                return Err("`*` in what `cas` uses twice".to_owned());
            }
            Operation::Cas => {
                self.count_whole(&place.kind, "cas of an array", "cas of a record");
                vec![self.term(&operands[0], &place.kind)?.term, self.stored(&operands[1], &place.kind)?]
            }
        };
        Ok(Step::Operate { operation, target, place, operands })
    }

    /// What is added to a number.
    fn added(&self, operand: &Expression, place: &Kind) -> Resolved<Term> {
        let operand = self.term(operand, &Kind::number())?;
        if let (Some(one), Some(other)) = (place.interval(), operand.kind.interval()) {
            self.store(&Kind::Number(one.plus(other)?), place)?;
        }
        Ok(operand.term)
    }

    /// One less than a number above 0 is stored where it was.
    fn store_less(&self, place: &Kind) -> Resolved<()> {
        match place.interval() {
            Some(Interval { low, high }) if high > 0 => {
                self.store(&Kind::Number(Interval { low: low.max(1) - 1, high: high - 1 }), place)
            }
            _ => Ok(()),
        }
    }

    fn condition(&self, place: &Place) -> Resolved<program::Place> {
        let found = self.place(place)?;
        if found.kind == Kind::Condition { Ok(found) } else { Err(format!("{} is no condition", place.name)) }
    }

    fn sleep(&self, on: &Place, lock: &Place) -> Resolved<(program::Place, program::Place)> {
        if lock.has_any() {
            return Err("`*` in a lock that is used twice".to_owned());
        }
        Ok((self.condition(on)?, self.target_of(lock, &Kind::Boolean)?))
    }

    /// How many threads meet at a barrier.
    fn meeting(&self, barrier: &Place) -> Resolved<i64> {
        let found = self.target(barrier)?;
        match &found.kind {
            Kind::Record(name, _) if barrier.has_any() => Err(format!("`*` in {name} that is used twice")),
            Kind::Record(name, fields) if name.starts_with("barrier ") => {
                Ok(fields[0].1.interval().map_or(1, |count| count.high + 1))
            }
            _ => Err(format!("{} is no barrier", barrier.name)),
        }
    }

    /// A variable that is not declared. Where it begins, it is the first value of its kind.
    fn hide(&mut self, name: &str, kind: Kind, assigned: bool) -> usize {
        let slot = self.locals + self.hidden.len();
        self.hidden.push(vec![kind.first()]);
        self.visible.push(Visible { name: name.to_owned(), slot: Slot::Local(slot), kind, assigned });
        slot
    }

    /// `p, b.count, b.phase := b.phase, (b.count + 1) % N, b.count = N - 1 ? !b.phase : b.phase;`
    fn arrive(&mut self, barrier: &Place, number: usize) -> Resolved<Step> {
        let threads = self.meeting(barrier)?;
        // No name has a space.
        let remembered = format!("p {number}");
        self.hide(&remembered, Kind::Boolean, true);
        let (count, phase) = (barrier.field("count"), barrier.field("phase"));
        let (old_count, old_phase) = (Expression::Old(count.clone()), Expression::Old(phase.clone()));
        let next = Expression::binary(Operator::Plus, old_count.clone(), Expression::Number(1));
        let next = Expression::binary(Operator::Modulo, next, Expression::Number(threads));
        let last = Expression::binary(Operator::Equal, old_count, Expression::Number(threads - 1));
        let opened = Expression::Not(Box::new(old_phase.clone()));
        let flipped = Expression::Choice(Box::new([last, opened, old_phase.clone()]));
        self.change(&[Place::whole(&remembered), count, phase], &[old_phase, next, flipped], None)
    }

    /// `wait(b.phase != p);`, after which nobody needs `p`.
    fn pass(&self, barrier: &Place, number: usize) -> Resolved<Step> {
        let remembered = Place::whole(&format!("p {number}"));
        let phase = Expression::Old(barrier.field("phase"));
        let open = Expression::binary(Operator::Unequal, phase, Expression::Old(remembered.clone()));
        self.change(&[remembered], &[Expression::Truth(false)], Some(&open))
    }

    fn for_loop(&mut self, name: &str, over: &tree::Kind, body: &Block, asserts: &mut Vec<String>) -> Resolved<Step> {
        if self.variable(name).is_some() {
            return Err(format!("another variable is called {name}"));
        }
        let kind = match over {
            tree::Kind::Range(low, high) => Kind::Number(self.names.bounds(low, high)?),
            _ => self.names.kind(over)?,
        };
        let (kind, values): (Kind, Vec<Value>) = match kind {
            Kind::Number(Interval { low, high }) if low > high => {
                self.count("for over nothing");
                (Kind::Number(Interval::only(low)), Vec::new())
            }
            Kind::Number(_) | Kind::Enumeration(..) => (kind.clone(), kind.all()?),
            _ => return Err(format!("{name} takes neither numbers nor values of an enumeration")),
        };
        let before = self.visible.len();
        let slot = self.hide(name, kind, false);
        let body = self.block(body, asserts)?;
        self.visible.truncate(before);
        Ok(Step::For(slot, values, body))
    }

    fn path(&self, label: &str) -> Resolved<Path> {
        self.labels.get(label).cloned().ok_or_else(|| format!("no label is called {label}"))
    }

    /// `procedure@line`, with a number where there are several on the line.
    fn assert_name(&mut self, line: usize) -> String {
        let before = self.asserts.entry(line).or_default();
        *before += 1;
        let procedure = &self.procedure.name;
        if *before == 1 { format!("{procedure}@{line}") } else { format!("{procedure}@{line}.{before}") }
    }

    fn returning(&mut self, values: &[Expression]) -> Resolved<Step> {
        let results = &self.procedure.results;
        if values.len() != results.len() {
            return Err("another number of results is wanted".to_owned());
        }
        let mut terms = Vec::new();
        for (number, (value, kind)) in values.iter().zip(results).enumerate() {
            let known = self.whole(value, &self.names.kind(kind)?)?;
            self.count_whole(&known.kind, "return of an array", "return of a record");
            let before = self.returns[number].take();
            self.returns[number] = Some(before.map_or(known.kind.clone(), |before| before.hull(&known.kind)));
            terms.push(known.term);
        }
        Ok(Step::Return(terms))
    }

    /// The number of a procedure, and the arguments that it takes.
    fn passed(&self, callee: &str, arguments: &[Expression]) -> Resolved<(usize, Vec<Term>)> {
        let number = self.tree.procedures.iter().position(|procedure| procedure.name == callee);
        let number = number.ok_or_else(|| format!("no procedure is called {callee}"))?;
        let parameters = &self.tree.procedures[number].parameters;
        if parameters.len() != arguments.len() {
            return Err(format!("{callee} takes another number of arguments"));
        }
        let mut terms = Vec::new();
        for (argument, parameter) in arguments.iter().zip(parameters) {
            let kind = self.names.variable(parameter)?;
            self.count_whole(&kind, "argument that is an array", "argument that is a record");
            terms.push(self.stored(argument, &kind)?);
        }
        Ok((number, terms))
    }

    fn call(&self, targets: &[Option<Place>], callee: &str, arguments: &[Expression]) -> Resolved<Step> {
        let (callee, arguments) = self.passed(callee, arguments)?;
        let results = &self.tree.procedures[callee].results;
        once(targets.iter().flatten())?;
        // A call without targets wants none of the results.
        if targets.is_empty() {
            return Ok(Step::Call { targets: vec![None; results.len()], callee, arguments });
        }
        if results.len() != targets.len() {
            return Err(format!("{} returns another number of results", self.tree.procedures[callee].name));
        }
        let mut places = Vec::new();
        for (number, (target, result)) in targets.iter().zip(results).enumerate() {
            let Some(target) = target else {
                places.push(None);
                continue;
            };
            let place = self.target_of(target, &self.names.kind(result)?)?;
            // Before all procedures are known, it is not known what they return.
            if let Some(returned) = self.returned.get(callee).and_then(|returned| returned[number].as_ref()) {
                self.store(returned, &place.kind)?;
            }
            places.push(Some(place));
        }
        Ok(Step::Call { targets: places, callee, arguments })
    }
}

//! From statements of the program to what is executed.

use tepui_model::program::{self, Action, Expression, Kind, Operator, Place, Procedure, Slot};

use super::Unsupported;
use super::code::{Code, Op, Store};
use super::layout::Layout;
use super::terms::{Condition, Element, Index, Target, Term, Var};

/// The most ways to execute a statement.
const MOST_WAYS: u64 = 1 << 18;

/// Makes the statements of a procedure ready.
#[derive(Clone, Copy)]
pub(super) struct Compiler<'a> {
    pub(super) code: &'a Code,
    pub(super) number: usize,
    /// Where the thread stands.
    pub(super) position: usize,
    pub(super) procedure: &'a Procedure,
    pub(super) layout: &'a Layout,
}

impl Compiler<'_> {
    /// The statement to execute at a position: an atomic block is entered with its first one, if it has one.
    pub(super) fn first_of(&self, mut position: usize) -> usize {
        while let Some(Action::Atomic(block)) = self.procedure.statements.get(position).map(|s| &s.action)
            && let Some(&first) = block.first()
        {
            position = first;
        }
        position
    }

    /// What is done at a position, and whether there may be several ways.
    pub(super) fn op(&self, position: usize, next: usize) -> Result<(Op, bool), Unsupported> {
        let Some(statement) = self.procedure.statements.get(position) else {
            return Ok((Op::Return(Vec::new()), false));
        };
        let first = |block: &[usize], otherwise: usize| block.first().copied().unwrap_or(otherwise);
        let op = match &statement.action {
            Action::Skip | Action::Atomic(_) => Op::Skip, // An atomic block is empty here.
            Action::Goto(targets) => Op::Goto(targets.clone()),
            Action::Assign { targets, values, constraint } => {
                let doubtful = constraint.is_some() || self.code.program.is_doubtful(self.number, position);
                let stores = targets.iter().zip(values).map(|(target, value)| Store {
                    target: self.target(target),
                    value: if doubtful { self.term(value) } else { self.stored(target, value, next) },
                });
                Op::Assign(stores.collect(), constraint.as_ref().map(|constraint| self.term(constraint)))
            }
            Action::Assume(condition) | Action::Wait(condition) => Op::Assume(self.term(condition)),
            Action::Assert(condition) => Op::Assert(self.term(condition)),
            Action::If(condition, then, otherwise) => {
                Op::Branch(self.term(condition), first(then, next), first(otherwise, next))
            }
            Action::While(condition, body) => Op::Branch(self.term(condition), first(body, position), next),
            Action::AtomicBegin => Op::Insist(true),
            Action::AtomicEnd => Op::Insist(false),
            Action::For(variable, body) => Op::Loop(self.variable(Slot::Local(*variable)), first(body, next)),
            Action::Next(variable, body) => Op::Next(self.variable(Slot::Local(*variable)), *body),
            Action::Lock(place) => self.take(place, false),
            Action::Acquire(place) => self.take(place, true),
            Action::Unlock(place) => {
                Op::Assign(vec![Store { target: self.target(place), value: Term::Value(0) }], None)
            }
            Action::Call { targets, procedure, arguments } => Op::Call {
                targets: targets.iter().map(|target| self.target(target)).collect(),
                procedure: *procedure,
                arguments: self.arguments(position, *procedure, arguments),
            },
            Action::Return(values) => Op::Return(self.results(position, values)),
            Action::Start { procedure, arguments, count } => {
                let arguments = self.arguments(position, *procedure, arguments);
                Op::Start { procedure: *procedure, arguments, count: *count }
            }
            Action::StartAt(to) => {
                let kept = &self.code.kept.at[self.number];
                let both =
                    (0..self.procedure.locals.len()).filter(|&own| kept[*to].contains(own) && kept[next].contains(own));
                Op::StartAt(*to, both.map(|own| Term::Read(self.variable(Slot::Local(own)))).collect())
            }
            Action::EndThread => Op::EndThread,
            // Tasks are looked at elsewhere.
            Action::Yield => Op::Skip,
            Action::Sleep => Op::Sleep(Condition::default(), None),
            Action::SleepOn(condition, lock) => Op::Sleep(self.condition(condition), self.target(lock)),
            Action::Broadcast => Op::Wake(Condition::default(), true),
            Action::Wake { condition, all } => Op::Wake(self.condition(condition), *all),
            Action::Dead(slots) => {
                let stores = slots.iter().map(|&slot| Store {
                    target: Some(Target::Variable(self.variable(slot))),
                    value: self.stored(&Place::Variable(slot), &Expression::Any(self.kind(slot)), next),
                });
                Op::Assign(stores.collect(), None)
            }
        };
        let (chooses, ways) = op.ways();
        match ways > MOST_WAYS {
            true => Err(Unsupported(format!("line {} can be executed in more than {MOST_WAYS} ways", statement.line))),
            false => Ok((op, chooses)),
        }
    }

    fn kind(&self, slot: Slot) -> Kind {
        match slot {
            Slot::Shared(number) => self.code.program.shared[number].kind,
            Slot::Local(number) => self.procedure.locals[number].kind,
        }
    }

    pub(super) fn variable(&self, slot: Slot) -> Var {
        match slot {
            Slot::Shared(number) => Var { shared: true, field: self.code.shared.fields[number] },
            Slot::Local(number) => Var { shared: false, field: self.layout.fields[number] },
        }
    }

    /// Where a value goes.
    fn target(&self, place: &Place) -> Option<Target> {
        match place {
            Place::Nowhere => None,
            Place::Variable(slot) => Some(Target::Variable(self.variable(*slot))),
            Place::Element(element) => Some(Target::Element(Box::new(self.element(element, |_| true)))),
        }
    }

    /// A lock or a semaphore is taken.
    fn take(&self, place: &Place, semaphore: bool) -> Op {
        self.target(place).map_or(Op::Skip, |target| Op::Take(target, semaphore))
    }

    fn element(&self, element: &program::Element, kept: impl Fn(Slot) -> bool) -> Element {
        let last: usize = element.indices.iter().map(|index| (index.count as usize - 1) * index.stride).sum();
        let variable = |distance: usize| {
            let slot = element.first.after(distance);
            kept(slot).then(|| self.variable(slot))
        };
        Element {
            // In between there may be other fields of a record, which no index leads to.
            variables: (0..=last).map(variable).collect(),
            indices: self.indices(&element.indices),
            any: (element.kind.lowest(), self.code.program.values(element.kind)),
        }
    }

    fn indices(&self, indices: &[program::Index]) -> Vec<Index> {
        let index =
            |index: &program::Index| Index { value: self.term(&index.value), count: index.count, stride: index.stride };
        indices.iter().map(index).collect()
    }

    fn condition(&self, condition: &program::Condition) -> Condition {
        Condition { first: condition.first, indices: self.indices(&condition.indices) }
    }

    /// A value that is stored. Where it is not kept it is not even looked at.
    fn stored(&self, target: &Place, value: &Expression, next: usize) -> Term {
        let kept = target.slots().into_iter().any(|slot| self.keeps(self.number, next, slot));
        let lowest = || self.code.program.kind_of(self.number, target).map_or(0, Kind::lowest);
        if kept { self.term(value) } else { Term::Value(lowest()) }
    }

    /// The values of parameters, as far as they are kept, or if something is in doubt.
    fn arguments(&self, position: usize, called: usize, arguments: &[Expression]) -> Vec<Term> {
        let procedure = &self.code.program.procedures[called];
        let doubtful = self.code.program.is_doubtful(self.number, position);
        let entry = procedure.body.first().copied().unwrap_or(procedure.statements.len());
        let term = |(number, argument): (usize, &Expression)| match doubtful
            || self.keeps(called, entry, Slot::Local(number))
        {
            true => self.term(argument),
            false => Term::Value(procedure.locals[number].kind.lowest()),
        };
        arguments.iter().enumerate().map(term).collect()
    }

    /// The results, as far as they matter, or if something is in doubt.
    fn results(&self, position: usize, values: &[Expression]) -> Vec<Term> {
        let doubtful = self.code.program.is_doubtful(self.number, position);
        let matters = self.code.kept.results[self.number].iter().map(|matters| *matters || doubtful);
        let kinds = self.procedure.results.iter().map(|kind| kind.lowest());
        // What is read is given a value, if it has none, whatever becomes of the result.
        let term = |(value, (matters, lowest))| match matters || self.reads_kept(value) {
            true => self.term(value),
            false => Term::Value(lowest),
        };
        values.iter().zip(matters.zip(kinds)).map(term).collect()
    }

    fn keeps(&self, procedure: usize, position: usize, slot: Slot) -> bool {
        match slot {
            Slot::Shared(number) => self.code.kept.shared.contains(number),
            Slot::Local(number) => self.code.kept.at[procedure][position].contains(number),
        }
    }

    /// The value of a variable; where it is not kept, it may be any.
    fn read(&self, slot: Slot) -> Term {
        match self.keeps(self.number, self.position, slot) {
            true => Term::Read(self.variable(slot)),
            false => self.any(self.kind(slot)),
        }
    }

    fn any(&self, kind: Kind) -> Term {
        Term::Any(kind.lowest(), self.code.program.values(kind))
    }

    /// The value of an element; where it is not kept, it may be any.
    fn read_element(&self, element: &program::Element) -> Term {
        let kept = |slot: Slot| self.keeps(self.number, self.position, slot);
        match element.slots().into_iter().any(kept) || element.indices.iter().any(|index| self.may_miss(index)) {
            true => Term::Element(Box::new(self.element(element, kept))),
            false => self.any(element.kind),
        }
    }

    fn may_miss(&self, index: &program::Index) -> bool {
        self.code.program.may_miss(self.number, index)
    }

    fn binary(&self, operator: Operator, operands: Box<[Term; 2]>) -> Term {
        let constant = operands.iter().all(Term::is_any);
        let logical = matches!(
            operator,
            Operator::And | Operator::Or | Operator::Xor | Operator::Implies | Operator::Equal | Operator::Unequal
        );
        match operator {
            // What has any truth value in each way has any truth value.
            _ if constant && logical => Term::Any(0, 2),
            Operator::And => Term::And(operands),
            Operator::Or => Term::Or(operands),
            Operator::Implies => Term::Implies(operands),
            Operator::Equal => Term::Equal(operands),
            Operator::Xor | Operator::Unequal => Term::Unequal(operands),
            operator => Term::Numbers(operator, operands),
        }
    }

    /// Whether an expression reads a variable whose value is kept.
    fn reads_kept(&self, expression: &Expression) -> bool {
        let mut found = false;
        expression.slots(&mut |slot| found |= self.keeps(self.number, self.position, slot));
        found
    }

    pub(super) fn term(&self, expression: &Expression) -> Term {
        let two = |left: &Expression, right: &Expression| Box::new([self.term(left), self.term(right)]);
        if let Some(number) = self.code.kept.folded(expression).filter(|_| !self.reads_kept(expression)) {
            return Term::Value(number);
        }
        match expression {
            Expression::Value(code, kind) => Term::Value(kind.lowest() + i64::from(*code)),
            Expression::Number(number) => Term::Value(*number),
            Expression::Any(kind) => self.any(*kind),
            Expression::Read(slot) => self.read(*slot),
            Expression::New(slot) => Term::New(self.variable(*slot)),
            Expression::Element(element) => self.read_element(element),
            Expression::NewElement(element) => Term::NewElement(Box::new(self.element(element, |_| true))),
            Expression::Not(operand) => match self.term(operand) {
                any if any.is_any() => any,
                operand => Term::Not(Box::new(operand)),
            },
            Expression::Negate(operand) => Term::Negate(Box::new(self.term(operand))),
            Expression::Binary(operator, left, right) => self.binary(*operator, two(left, right)),
            Expression::Choice(condition, then, otherwise) => {
                Term::Choice(Box::new([self.term(condition), self.term(then), self.term(otherwise)]))
            }
            Expression::Choose(positive, negative) => Term::Choose(two(positive, negative)),
        }
    }
}

//! From statements of the program to what is executed.

use tepui_model::program::{Action, Expression, Kind, Operator, Procedure, Slot};

use super::Unsupported;
use super::code::{Code, Op, Store};
use super::layout::Layout;
use super::terms::{Term, Var};

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
        let terms = |expressions: &[Expression]| expressions.iter().map(|e| self.term(e)).collect::<Vec<_>>();
        let op = match &statement.action {
            Action::Skip | Action::Atomic(_) => Op::Skip, // An atomic block is empty here.
            Action::Goto(targets) => Op::Goto(targets.clone()),
            Action::Assign { targets, values, constraint } => {
                let stores = targets.iter().zip(values).map(|(target, value)| Store {
                    target: target.map(|slot| self.variable(slot)),
                    value: match constraint {
                        None => self.stored(*target, value, next),
                        Some(_) => self.term(value),
                    },
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
            Action::Lock(slot) => Op::Lock(self.variable(*slot)),
            Action::Unlock(slot) => {
                Op::Assign(vec![Store { target: Some(self.variable(*slot)), value: Term::Value(0) }], None)
            }
            Action::Call { targets, procedure, arguments } => Op::Call {
                targets: targets.iter().map(|target| target.map(|slot| self.variable(slot))).collect(),
                procedure: *procedure,
                arguments: self.arguments(*procedure, arguments),
            },
            Action::Return(values) => Op::Return(terms(values)),
            Action::Start { procedure, arguments, count } => {
                Op::Start { procedure: *procedure, arguments: self.arguments(*procedure, arguments), count: *count }
            }
            Action::StartAt(to) => Op::StartAt(*to),
            Action::EndThread => Op::EndThread,
            Action::Sleep => Op::Sleep,
            Action::Broadcast => Op::Broadcast,
            Action::Dead(slots) => {
                let stores = slots.iter().map(|&slot| Store {
                    target: Some(self.variable(slot)),
                    value: self.stored(Some(slot), &Expression::Any(self.kind(slot)), next),
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

    /// A value that is stored. Where it is not kept it is not even looked at.
    fn stored(&self, target: Option<Slot>, value: &Expression, next: usize) -> Term {
        let kept = target.is_some_and(|slot| self.keeps(self.number, next, slot));
        if kept { self.term(value) } else { Term::Value(0) }
    }

    /// The values of parameters, as far as they are kept.
    fn arguments(&self, called: usize, arguments: &[Expression]) -> Vec<Term> {
        let procedure = &self.code.program.procedures[called];
        let entry = procedure.body.first().copied().unwrap_or(procedure.statements.len());
        let term = |(number, argument): (usize, &Expression)| match self.keeps(called, entry, Slot::Local(number)) {
            true => self.term(argument),
            false => Term::Value(0),
        };
        arguments.iter().enumerate().map(term).collect()
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
            false => Term::Any(self.code.program.values(self.kind(slot))),
        }
    }

    pub(super) fn term(&self, expression: &Expression) -> Term {
        let two = |left: &Expression, right: &Expression| Box::new([self.term(left), self.term(right)]);
        match expression {
            Expression::Value(value, _) => Term::Value(u64::from(*value)),
            Expression::Any(kind) => Term::Any(self.code.program.values(*kind)),
            Expression::Read(slot) => self.read(*slot),
            Expression::New(slot) => Term::New(self.variable(*slot)),
            Expression::Not(operand) => match self.term(operand) {
                any if any.is_any() => any,
                operand => Term::Not(Box::new(operand)),
            },
            Expression::Binary(operator, left, right) => {
                let operands = two(left, right);
                let constant = operands.iter().all(|operand| matches!(operand, Term::Any(2)));
                match operator {
                    // What has any value in each way has any value.
                    _ if constant => Term::Any(2),
                    Operator::And => Term::And(operands),
                    Operator::Or => Term::Or(operands),
                    Operator::Implies => Term::Implies(operands),
                    Operator::Equal => Term::Equal(operands),
                    Operator::Xor | Operator::Unequal => Term::Unequal(operands),
                }
            }
            Expression::Choice(condition, then, otherwise) => {
                Term::Choice(Box::new([self.term(condition), self.term(then), self.term(otherwise)]))
            }
            Expression::Choose(positive, negative) => Term::Choose(two(positive, negative)),
        }
    }
}

//! Which variables matter, and where.
//!
//! *Constants.* A shared variable that starts with a value and is never given another one is a constant: reading it
//! is no use of it, and what it decides in an expression is decided for good. (A constant that is stored costs nothing:
//! only values that occur are compiled. So there is no need to rewrite the program.)
//!
//! *Relevance.* A variable matters if it is read where control depends on it: in a condition, a lock, a constraint; or
//! if its value goes to a variable that matters. The values of others are forgotten. No step depends on them, so the
//! same steps are possible with and without them.
//!
//! *Liveness.* A local variable is live at a position if some way from there reads it before it is written. The
//! values of others are forgotten, too: nobody else can see local variables, and the thread does not look any more.

use tepui_model::program::flow::Flow;
use tepui_model::program::{Action, Expression, Operator, Place, Procedure, Program, Slot};

/// Which values are kept; those of other variables are forgotten.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The shared variables.
    pub shared: Variables,
    /// For each procedure and position, with the end, the local ones.
    pub at: Vec<Vec<Variables>>,
    /// For each procedure and position of a call: while the call lasts.
    pub during: Vec<Vec<Variables>>,
}

/// A set of variables, by their numbers.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Variables(Vec<u64>);

impl Variables {
    /// The first so many.
    fn first(count: usize) -> Self {
        (0..count).collect()
    }

    /// Whether a variable is among them.
    pub fn contains(&self, number: usize) -> bool {
        self.0.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// All of them, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        let bits = |(index, &word): (usize, &u64)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |b| index * 64 + b)
        };
        self.0.iter().enumerate().flat_map(bits)
    }

    fn insert(&mut self, number: usize) {
        self.0.resize(self.0.len().max(number / 64 + 1), 0);
        self.0[number / 64] |= 1 << (number % 64);
    }

    /// Adds others; says whether that changed anything.
    fn add(&mut self, others: &Self) -> bool {
        self.0.resize(self.0.len().max(others.0.len()), 0);
        let mut changed = false;
        for (word, other) in self.0.iter_mut().zip(&others.0) {
            changed |= *other & !*word != 0;
            *word |= other;
        }
        changed
    }

    fn without(mut self, others: &Self) -> Self {
        self.0.iter_mut().zip(&others.0).for_each(|(word, other)| *word &= !other);
        self
    }

    fn only(mut self, others: &Self) -> Self {
        self.0.truncate(others.0.len());
        self.0.iter_mut().zip(&others.0).for_each(|(word, other)| *word &= other);
        self
    }
}

impl FromIterator<usize> for Variables {
    fn from_iter<T: IntoIterator<Item = usize>>(numbers: T) -> Self {
        let mut found = Self::default();
        numbers.into_iter().for_each(|number| found.insert(number));
        found
    }
}

impl Kept {
    /// Everything.
    pub fn all(program: &Program) -> Self {
        let each =
            |procedure: &Procedure| vec![Variables::first(procedure.locals.len()); procedure.statements.len() + 1];
        let at: Vec<_> = program.procedures.iter().map(each).collect();
        Self { shared: Variables::first(program.shared.len()), during: at.clone(), at }
    }

    /// What matters; dead values, too, if they are to be kept.
    pub fn what_matters(program: &Program, flows: &[Flow], keep_dead: bool) -> Self {
        let constants = constants(program);
        let relevant = Relevant::of(program, &constants);
        let mut kept = Self::all(program);
        // To keep a constant costs nothing, and what was folded is still evaluated.
        // Where dead values are kept, they are right, so that what they come from matters, too.
        let matters = |&number: &usize| keep_dead || relevant.shared[number] || constants[number].is_some();
        kept.shared = (0..program.shared.len()).filter(matters).collect();
        for (number, procedure) in program.procedures.iter().enumerate() {
            let matters: Variables = (0..procedure.locals.len()).filter(|&l| relevant.locals[number][l]).collect();
            if keep_dead {
                continue;
            }
            let live = live(procedure, &flows[number], &constants);
            for (position, statement) in procedure.statements.iter().enumerate() {
                if let Action::Call { targets, .. } = &statement.action {
                    let after = live[flows[number].next[position]].clone();
                    kept.during[number][position] = after.without(&locals_of(targets)).only(&matters);
                }
            }
            kept.at[number] = live.into_iter().map(|live| live.only(&matters)).collect();
        }
        kept
    }
}

type Constants = Vec<Option<u32>>;

/// The shared variables that never change.
fn constants(program: &Program) -> Constants {
    let mut constants: Constants = program.shared.iter().map(|variable| variable.init).collect();
    let mut refute = |place: &Place, value: Option<u32>| {
        if let Some(Slot::Shared(number)) = place
            && constants[*number] != value
        {
            constants[*number] = None;
        }
    };
    for statement in program.procedures.iter().flat_map(|procedure| &procedure.statements) {
        match &statement.action {
            Action::Assign { targets, values, .. } => {
                for (target, value) in targets.iter().zip(values) {
                    refute(target, if let Expression::Value(value, _) = value { Some(*value) } else { None });
                }
            }
            Action::Call { targets, .. } => targets.iter().for_each(|target| refute(target, None)),
            Action::Lock(slot) => refute(&Some(*slot), Some(1)),
            Action::Unlock(slot) => refute(&Some(*slot), Some(0)),
            Action::Dead(slots) => slots.iter().for_each(|&slot| refute(&Some(slot), None)),
            _ => {}
        }
    }
    constants
}

/// The value of an expression, if it is always the same.
fn folded(expression: &Expression, constants: &Constants) -> Option<u32> {
    let fold = |expression: &Expression| folded(expression, constants);
    match expression {
        Expression::Value(value, _) => Some(*value),
        Expression::Read(Slot::Shared(number)) => constants[*number],
        Expression::Not(operand) => fold(operand).map(|value| 1 - value),
        Expression::Binary(operator, left, right) => match (operator, fold(left), fold(right)) {
            (Operator::And, Some(0), _) | (Operator::And, _, Some(0)) => Some(0),
            (Operator::Or, Some(1), _) | (Operator::Or, _, Some(1)) => Some(1),
            (Operator::Implies, Some(0), _) | (Operator::Implies, _, Some(1)) => Some(1),
            (Operator::And, Some(1), value) | (Operator::And, value, Some(1)) => value,
            (Operator::Or, Some(0), value) | (Operator::Or, value, Some(0)) => value,
            (Operator::Implies, Some(1), value) => value,
            (Operator::Xor | Operator::Unequal, Some(left), Some(right)) => Some(u32::from(left != right)),
            (Operator::Equal, Some(left), Some(right)) => Some(u32::from(left == right)),
            _ => None,
        },
        Expression::Choice(condition, then, otherwise) => fold(if fold(condition)? == 1 { then } else { otherwise }),
        _ => None,
    }
}

/// Calls back for each variable whose value an expression may depend on.
fn reads(expression: &Expression, constants: &Constants, found: &mut impl FnMut(Slot)) {
    if folded(expression, constants).is_some() {
        return;
    }
    match expression {
        Expression::Value(..) | Expression::Any(_) => {}
        Expression::Read(slot) | Expression::New(slot) => found(*slot),
        Expression::Not(operand) => reads(operand, constants, found),
        Expression::Binary(_, left, right) | Expression::Choose(left, right) => {
            reads(left, constants, found);
            reads(right, constants, found);
        }
        Expression::Choice(condition, then, otherwise) => {
            let known = folded(condition, constants);
            reads(condition, constants, found);
            if known != Some(0) {
                reads(then, constants, found);
            }
            if known != Some(1) {
                reads(otherwise, constants, found);
            }
        }
    }
}

/// For each variable, whether it matters.
struct Relevant {
    shared: Vec<bool>,
    locals: Vec<Vec<bool>>,
    /// For each procedure its results.
    results: Vec<Vec<bool>>,
    changed: bool,
}

impl Relevant {
    fn of(program: &Program, constants: &Constants) -> Self {
        let each = |count: fn(&Procedure) -> usize| -> Vec<Vec<bool>> {
            program.procedures.iter().map(|procedure| vec![false; count(procedure)]).collect()
        };
        let mut relevant = Self {
            shared: vec![false; program.shared.len()],
            locals: each(|procedure| procedure.locals.len()),
            results: each(|procedure| procedure.results.len()),
            changed: true,
        };
        while std::mem::take(&mut relevant.changed) {
            for (number, procedure) in program.procedures.iter().enumerate() {
                procedure.enforced.iter().for_each(|condition| relevant.need(number, condition, constants));
                for statement in &procedure.statements {
                    relevant.statement(number, &statement.action, constants);
                }
            }
        }
        relevant
    }

    fn statement(&mut self, procedure: usize, action: &Action, constants: &Constants) {
        match action {
            Action::Assume(condition)
            | Action::Wait(condition)
            | Action::Assert(condition)
            | Action::If(condition, ..)
            | Action::While(condition, _) => self.need(procedure, condition, constants),
            Action::Lock(slot) => self.mark(procedure, *slot),
            Action::Assign { targets, values, constraint } => {
                constraint.iter().for_each(|constraint| self.need(procedure, constraint, constants));
                for (target, value) in targets.iter().zip(values) {
                    if target.is_some_and(|slot| self.matters(procedure, slot)) {
                        self.need(procedure, value, constants);
                    }
                }
            }
            Action::Call { targets, procedure: called, arguments } => {
                for (result, target) in targets.iter().enumerate() {
                    if target.is_some_and(|slot| self.matters(procedure, slot)) && !self.results[*called][result] {
                        (self.results[*called][result], self.changed) = (true, true);
                    }
                }
                self.pass(procedure, *called, arguments, constants);
            }
            Action::Start { procedure: started, arguments, .. } => {
                self.pass(procedure, *started, arguments, constants);
            }
            Action::Return(values) => {
                for (result, value) in values.iter().enumerate() {
                    if self.results[procedure][result] {
                        self.need(procedure, value, constants);
                    }
                }
            }
            _ => {}
        }
    }

    fn pass(&mut self, from: usize, to: usize, arguments: &[Expression], constants: &Constants) {
        for (parameter, argument) in arguments.iter().enumerate() {
            if self.locals[to][parameter] {
                self.need(from, argument, constants);
            }
        }
    }

    fn need(&mut self, procedure: usize, expression: &Expression, constants: &Constants) {
        reads(expression, constants, &mut |slot| self.mark(procedure, slot));
    }

    fn mark(&mut self, procedure: usize, slot: Slot) {
        let mark = match slot {
            Slot::Shared(number) => &mut self.shared[number],
            Slot::Local(number) => &mut self.locals[procedure][number],
        };
        self.changed |= !std::mem::replace(mark, true);
    }

    fn matters(&self, procedure: usize, slot: Slot) -> bool {
        match slot {
            Slot::Shared(number) => self.shared[number],
            Slot::Local(number) => self.locals[procedure][number],
        }
    }
}

fn locals_of(targets: &[Place]) -> Variables {
    let local = |target: &Place| if let Some(Slot::Local(number)) = target { Some(*number) } else { None };
    targets.iter().filter_map(local).collect()
}

/// For each position, and the end, which local variables are live there.
fn live(procedure: &Procedure, flow: &Flow, constants: &Constants) -> Vec<Variables> {
    let read = |expressions: &[&Expression]| {
        let mut slots = Vec::new();
        expressions.iter().for_each(|expression| reads(expression, constants, &mut |slot| slots.push(Some(slot))));
        locals_of(&slots)
    };
    let all = |expressions: &[Expression]| read(&expressions.iter().collect::<Vec<_>>());
    let none = Variables::default;
    let always = procedure.enforced.as_ref().map_or(none(), |condition| read(&[condition]));
    let (mut uses, mut defines) = (Vec::new(), Vec::new());
    for statement in &procedure.statements {
        let (used, defined) = match &statement.action {
            Action::Assume(condition)
            | Action::Wait(condition)
            | Action::Assert(condition)
            | Action::If(condition, ..)
            | Action::While(condition, _) => (read(&[condition]), none()),
            Action::Assign { targets, values, constraint } => {
                (read(&values.iter().chain(constraint).collect::<Vec<_>>()), locals_of(targets))
            }
            Action::Call { targets, arguments, .. } => (all(arguments), locals_of(targets)),
            Action::Return(values) => (all(values), none()),
            Action::Start { arguments, .. } => (all(arguments), none()),
            Action::Lock(slot) => (locals_of(&[Some(*slot)]), none()),
            Action::Unlock(slot) => (none(), locals_of(&[Some(*slot)])),
            Action::Dead(slots) => (none(), locals_of(&slots.iter().map(|&slot| Some(slot)).collect::<Vec<_>>())),
            _ => (none(), none()),
        };
        uses.push(used);
        defines.push(defined);
    }
    let mut live = vec![always.clone(); procedure.statements.len() + 1];
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for position in (0..procedure.statements.len()).rev() {
            let mut after = none();
            flow.successors(procedure, position).into_iter().for_each(|next| _ = after.add(&live[next]));
            let mut before = after.without(&defines[position]);
            before.add(&uses[position]);
            changed |= live[position].add(&before);
        }
    }
    live
}

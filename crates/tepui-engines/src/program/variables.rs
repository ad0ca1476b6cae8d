//! Which variables matter, and where.
//!
//! *Constants.* A shared variable that starts with a value and is never given another one is a constant: reading it
//! is no use of it, and what it decides in an expression is decided for good. (A constant that is stored costs nothing:
//! only values that occur are compiled. So there is no need to rewrite the program.)
//!
//! *Relevance.* A variable matters if it is read where control depends on it: in a condition, a lock, a constraint, an
//! index, a statement that may store a value out of range; or if its value goes to a variable that matters. The values of others are forgotten. No step depends on them, so the
//! same steps are possible with and without them.
//!
//! *Liveness.* A local variable is live at a position if some way from there reads it before it is written. The
//! values of others are forgotten, too: nobody else can see local variables, and the thread does not look any more.

use tepui_model::program::flow::Flow;
use tepui_model::program::step::{Frame, Keep, Stage, Value};
use tepui_model::program::{Action, Expression, Operator, Place, Procedure, Program, Slot, Variable};

/// Which values are kept; those of other variables are forgotten.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The shared variables.
    pub shared: Variables,
    /// For each procedure and position, with the end, the local ones.
    pub at: Vec<Vec<Variables>>,
    /// For each procedure and position of a call: while the call lasts.
    pub during: Vec<Vec<Variables>>,
    /// For each procedure, whether its results matter.
    pub results: Vec<Vec<bool>>,
    constants: Constants,
}

impl Keep for Kept {
    fn wants(&self, procedure: usize, position: usize, slot: Slot) -> bool {
        match slot {
            Slot::Shared(number) => self.shared.contains(number),
            Slot::Local(number) => self.at[procedure][position].contains(number),
        }
    }

    fn forget(&self, frame: &mut Frame) {
        let kept = match frame.stage {
            Stage::Storing => &self.during[frame.procedure][frame.position],
            _ => &self.at[frame.procedure][frame.position],
        };
        for (number, value) in frame.locals.iter_mut().enumerate() {
            if !kept.contains(number) {
                *value = Value::Forgotten;
            }
        }
    }
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
        let results = program.procedures.iter().map(|procedure| vec![true; procedure.results.len()]).collect();
        let constants = vec![None; program.shared.len()];
        Self { shared: Variables::first(program.shared.len()), during: at.clone(), at, results, constants }
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
                    let mut during = after.without(&locals_of(targets));
                    // Where results go is found out when they are there.
                    during.add(&indices_of(targets, &constants));
                    kept.during[number][position] = during.only(&matters);
                }
            }
            kept.at[number] = live.into_iter().map(|live| live.only(&matters)).collect();
        }
        kept.results = if keep_dead { kept.results } else { relevant.results };
        Self { constants, ..kept }
    }

    /// The value of an expression, if it is always the same.
    pub fn folded(&self, expression: &Expression) -> Option<i64> {
        folded(expression, &self.constants)
    }
}

type Constants = Vec<Option<i64>>;

/// The values of the shared variables that never change.
fn constants(program: &Program) -> Constants {
    let mut constants: Vec<Option<u32>> = program.shared.iter().map(|variable| variable.init).collect();
    let mut refute = |place: &Place, value: Option<i64>| {
        for slot in place.slots() {
            if let Slot::Shared(number) = slot
                && constants[number].map(i64::from) != value.map(|value| value - program.shared[number].kind.lowest())
            {
                constants[number] = None;
            }
        }
    };
    for statement in program.procedures.iter().flat_map(|procedure| &procedure.statements) {
        match &statement.action {
            Action::Assign { targets, values, .. } => {
                for (target, value) in targets.iter().zip(values) {
                    let constant = match value {
                        Expression::Value(code, kind) => Some(kind.lowest() + i64::from(*code)),
                        Expression::Number(number) => Some(*number),
                        _ => None,
                    };
                    refute(target, constant);
                }
            }
            Action::Call { targets, .. } => targets.iter().for_each(|target| refute(target, None)),
            Action::Lock(place) => refute(place, Some(1)),
            Action::Unlock(place) | Action::SleepOn(_, place) => refute(place, Some(0)),
            Action::Acquire(place) => refute(place, None),
            Action::Dead(slots) => slots.iter().for_each(|&slot| refute(&Place::Variable(slot), None)),
            _ => {}
        }
    }
    let value = |(constant, variable): (Option<u32>, &Variable)| Some(variable.kind.lowest() + i64::from(constant?));
    constants.into_iter().zip(&program.shared).map(value).collect()
}

/// The value of an expression, if it is always the same.
fn folded(expression: &Expression, constants: &Constants) -> Option<i64> {
    look(expression, constants, &mut Vec::new()).value
}

/// Calls back for each variable whose value an expression may depend on.
fn reads(expression: &Expression, constants: &Constants, found: &mut dyn FnMut(Slot)) {
    let mut slots = Vec::new();
    look(expression, constants, &mut slots);
    slots.into_iter().for_each(found);
}

/// What is known of an expression.
#[derive(Clone, Copy)]
struct Folded {
    /// Its value, if it is always the same.
    value: Option<i64>,
    /// Whether there is an element in it: it may have no value, because the index may be outside.
    elements: bool,
}

/// Looks at an expression once, from the inside, and adds the variables that it may depend on.
fn look(expression: &Expression, constants: &Constants, found: &mut Vec<Slot>) -> Folded {
    let before = found.len();
    let mut look = |expression: &Expression| look(expression, constants, found);
    let (value, elements) = match expression {
        Expression::Value(code, kind) => (Some(kind.lowest() + i64::from(*code)), false),
        Expression::Number(number) => (Some(*number), false),
        Expression::Any(_) => (None, false),
        Expression::Read(slot) => {
            found.push(*slot);
            (if let Slot::Shared(number) = slot { constants[*number] } else { None }, false)
        }
        Expression::New(slot) => {
            found.push(*slot);
            (None, false)
        }
        Expression::Element(element) | Expression::NewElement(element) => {
            element.indices.iter().for_each(|index| _ = look(&index.value));
            found.extend(element.slots());
            (None, true)
        }
        Expression::Not(operand) => {
            let operand = look(operand);
            (operand.value.map(|value| 1 - value), operand.elements)
        }
        Expression::Negate(operand) => (None, look(operand).elements),
        Expression::Choose(left, right) => (None, look(left).elements | look(right).elements),
        Expression::Binary(operator, left, right) => {
            let (left, right) = (look(left), look(right));
            (of_both(*operator, left.value, right.value), left.elements | right.elements)
        }
        Expression::Choice(condition, then, otherwise) => {
            let known = look(condition);
            let [then, otherwise] = [(then, 0), (otherwise, 1)].map(|(branch, never)| {
                let (before, branch) = (found.len(), self::look(branch, constants, found));
                if known.value == Some(never) {
                    found.truncate(before);
                }
                branch
            });
            let value = known.value.and_then(|known| if known == 1 { then.value } else { otherwise.value });
            (value, known.elements | then.elements | otherwise.elements)
        }
    };
    // What consists of parts has the value for certain only if all of them have one.
    let whole = !elements || !matches!(expression, Expression::Binary(..) | Expression::Choice(..));
    let value = value.filter(|_| whole);
    if value.is_some() {
        found.truncate(before);
    }
    Folded { value, elements }
}

/// The value of two operands, of each of which one may be known.
fn of_both(operator: Operator, left: Option<i64>, right: Option<i64>) -> Option<i64> {
    match (operator, left, right) {
        (Operator::And, Some(0), _) | (Operator::And, _, Some(0)) => Some(0),
        (Operator::Or, Some(1), _) | (Operator::Or, _, Some(1)) => Some(1),
        (Operator::Implies, Some(0), _) | (Operator::Implies, _, Some(1)) => Some(1),
        (Operator::And, Some(1), value) | (Operator::And, value, Some(1)) => value,
        (Operator::Or, Some(0), value) | (Operator::Or, value, Some(0)) => value,
        (Operator::Implies, Some(1), value) => value,
        (Operator::Xor | Operator::Unequal, Some(left), Some(right)) => Some(i64::from(left != right)),
        (Operator::Equal, Some(left), Some(right)) => Some(i64::from(left == right)),
        _ => None,
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
        let doubtful = |number: usize, procedure: &Procedure| -> Vec<bool> {
            (0..procedure.statements.len()).map(|position| program.is_doubtful(number, position)).collect()
        };
        let doubtful: Vec<_> =
            program.procedures.iter().enumerate().map(|(number, own)| doubtful(number, own)).collect();
        while std::mem::take(&mut relevant.changed) {
            for (number, procedure) in program.procedures.iter().enumerate() {
                procedure.enforced.iter().for_each(|condition| relevant.need(number, condition, constants));
                for (position, statement) in procedure.statements.iter().enumerate() {
                    relevant.statement(number, &statement.action, constants);
                    relevant.required(number, &statement.action, doubtful[number][position], constants);
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
            Action::Lock(place) | Action::Acquire(place) => {
                place.slots().into_iter().for_each(|slot| self.mark(procedure, slot));
            }
            Action::Next(variable, _) => self.mark(procedure, Slot::Local(*variable)),
            Action::Assign { targets, values, constraint } => {
                constraint.iter().for_each(|constraint| self.need(procedure, constraint, constants));
                for (target, value) in targets.iter().zip(values) {
                    if self.matters_somewhere(procedure, target) {
                        self.need(procedure, value, constants);
                    }
                }
            }
            Action::Call { targets, procedure: called, arguments } => {
                for (result, target) in targets.iter().enumerate() {
                    if self.matters_somewhere(procedure, target) && !self.results[*called][result] {
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

    /// What a statement needs whatever becomes of what it stores: indices, and everything where a value may be out of
    /// range.
    fn required(&mut self, procedure: usize, action: &Action, doubtful: bool, constants: &Constants) {
        let mut all = Vec::new();
        action.expressions(&mut |expression| all.push(expression));
        let sleeps = matches!(action, Action::SleepOn(..) | Action::Wake { .. });
        for expression in all {
            if doubtful || sleeps {
                self.need(procedure, expression, constants);
            }
            expression.elements(&mut |element| {
                element.indices.iter().for_each(|index| self.need(procedure, &index.value, constants));
            });
        }
        for target in action.targets() {
            target.indices(&mut |index| self.need(procedure, index, constants));
        }
        if let Action::Call { procedure: called, targets, .. } = action
            && doubtful
        {
            for (result, _) in targets.iter().enumerate().filter(|(_, target)| target.is_somewhere()) {
                self.changed |= !std::mem::replace(&mut self.results[*called][result], true);
            }
        }
    }

    fn matters_somewhere(&self, procedure: usize, place: &Place) -> bool {
        place.slots().into_iter().any(|slot| self.matters(procedure, slot))
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

/// The local variables that lead to some places.
fn indices_of(targets: &[Place], constants: &Constants) -> Variables {
    let mut found = Variables::default();
    let mut local = |slot: Slot| {
        if let Slot::Local(number) = slot {
            found.insert(number);
        }
    };
    targets.iter().for_each(|target| target.indices(&mut |index| reads(index, constants, &mut local)));
    found
}

/// The local variables that are given values for sure: not elements whose index is not a constant.
fn locals_of(targets: &[Place]) -> Variables {
    let local = |target: &Place| match target {
        Place::Variable(Slot::Local(number)) => Some(*number),
        _ => None,
    };
    targets.iter().filter_map(local).collect()
}

/// For each position, and the end, which local variables are live there.
fn live(procedure: &Procedure, flow: &Flow, constants: &Constants) -> Vec<Variables> {
    let read = |expressions: &[&Expression]| {
        let mut slots = Vec::new();
        let mut local = |slot: Slot| {
            if let Slot::Local(number) = slot {
                slots.push(number);
            }
        };
        expressions.iter().for_each(|expression| reads(expression, constants, &mut local));
        slots.into_iter().collect::<Variables>()
    };
    let none = Variables::default;
    let always = procedure.enforced.as_ref().map_or(none(), |condition| read(&[condition]));
    let (mut uses, mut defines) = (Vec::new(), Vec::new());
    for statement in &procedure.statements {
        let mut expressions = Vec::new();
        statement.action.expressions(&mut |expression| expressions.push(expression));
        let mut used = read(&expressions);
        let defined = match &statement.action {
            Action::Assign { targets, .. } | Action::Call { targets, .. } => locals_of(targets),
            Action::Lock(place) | Action::Acquire(place) => {
                used.add(&locals_of(std::slice::from_ref(place)));
                none()
            }
            Action::Unlock(place) | Action::SleepOn(_, place) => locals_of(std::slice::from_ref(place)),
            Action::Dead(slots) => locals_of(&slots.iter().map(|&slot| Place::Variable(slot)).collect::<Vec<_>>()),
            Action::For(variable, _) => [*variable].into_iter().collect(),
            Action::Next(variable, _) => {
                used.insert(*variable);
                none()
            }
            _ => none(),
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

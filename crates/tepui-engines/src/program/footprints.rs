//! What threads touch, and which of them can wait while others are explored.
//!
//! Threads have in common: shared variables, the places for threads that are started, and the conditions that they sleep on;
//! all of these are *things*. A footprint says which of them are read and which are written. It is worked out for each
//! position of a procedure: for the step that a thread takes there, which goes on until others may interrupt it; and for all
//! that the thread may ever do from there on.
//!
//! Parameters that are never assigned have one value in a frame, and are replaced by it: so `fork[(i + 1) % N]` is one
//! thing. A procedure with such values is a *context*. All that may happen in a context and in those that it leads to is
//! one graph; what positions may lead to is collected from the last of its components to the first.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use tepui_model::program::flow::Flow;
use tepui_model::program::step::{Frame, Stage};
use tepui_model::program::{Action, Condition, Expression, Index, Place, Program, Slot};

use super::variables::Variables;
use crate::components::components;
use crate::interner::Interner;

/// The numbers of parameters that never change.
type Known = Vec<Option<i64>>;

/// What is read and what is written.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Footprint {
    reads: Vec<u64>,
    writes: Vec<u64>,
}

impl Footprint {
    fn none(things: usize) -> Self {
        let words = vec![0; things.div_ceil(64)];
        Self { reads: words.clone(), writes: words }
    }

    fn read(&mut self, thing: usize) {
        self.reads[thing / 64] |= 1 << (thing % 64);
    }

    fn write(&mut self, thing: usize) {
        self.writes[thing / 64] |= 1 << (thing % 64);
    }

    /// Adds what another one has.
    pub(super) fn add(&mut self, other: &Self) {
        self.reads.iter_mut().zip(&other.reads).for_each(|(word, more)| *word |= more);
        self.writes.iter_mut().zip(&other.writes).for_each(|(word, more)| *word |= more);
    }

    /// Whether one of two writes what the other touches. To read a thing that has no value yet is to write it.
    pub(super) fn collides(&self, other: &Self, unset: &[u64]) -> bool {
        (0..self.reads.len()).any(|word| {
            let unset = unset.get(word).copied().unwrap_or(0);
            let [(reads, writes), (their_reads, their_writes)] =
                [self, other].map(|footprint| (footprint.reads[word], footprint.writes[word]));
            (writes | reads & unset) & (their_reads | their_writes) != 0
                || (their_writes | their_reads & unset) & (reads | writes) != 0
        })
    }
}

/// The numbers of two footprints: what a thread does next, and what it may ever do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Touched {
    /// Until it may be interrupted.
    pub(super) next: u32,
    /// From now on.
    pub(super) ever: u32,
}

/// What happens in a context, for each position.
#[derive(Clone, Debug)]
struct Positions {
    /// Found out where it is asked for: nobody stands inside of an atomic section.
    next: Vec<Option<Next>>,
    ever: Vec<u32>,
}

/// What a step at a position touches.
#[derive(Clone, Copy, Debug)]
enum Next {
    /// This.
    Known(u32),
    /// All that the thread may ever do.
    Ever,
}

/// The footprints of a program.
#[derive(Debug)]
pub(super) struct Footprints {
    program: Arc<Program>,
    flows: Vec<Flow>,
    /// The shared variables whose values are kept: others may have any value.
    kept: Variables,
    /// For each procedure and parameter whether it is never assigned.
    constant: Vec<Vec<bool>>,
    /// For each procedure the calls of it: procedures and positions.
    calls: Vec<Vec<(usize, usize)>>,
    contexts: FxHashMap<(usize, Known), Positions>,
    pool: Interner<Footprint>,
}

impl Footprints {
    /// No contexts yet.
    pub(super) fn new(program: &Arc<Program>, kept: Variables) -> Self {
        let mut calls = vec![Vec::new(); program.procedures.len()];
        for (number, procedure) in program.procedures.iter().enumerate() {
            for (position, statement) in procedure.statements.iter().enumerate() {
                if let Action::Call { procedure: called, .. } = &statement.action {
                    calls[*called].push((number, position));
                }
            }
        }
        let flows = program.procedures.iter().map(Flow::of).collect();
        let constant = (0..program.procedures.len()).map(|number| constant(program, number)).collect();
        let program = Arc::clone(program);
        Self { program, flows, kept, constant, calls, contexts: FxHashMap::default(), pool: Interner::default() }
    }

    /// Shared variables come first, then the places, then the conditions.
    fn places(&self) -> usize {
        self.program.shared.len()
    }

    fn things(&self) -> usize {
        let last = self.program.conditions.iter().map(|list| {
            list.first as usize + list.dimensions.iter().map(|&one| self.program.count(one) as usize).product::<usize>()
        });
        self.places() + 1 + last.max().unwrap_or(1)
    }

    /// A footprint.
    pub(super) fn get(&self, number: u32) -> &Footprint {
        &self.pool[number]
    }

    /// How many footprints there are.
    pub(super) fn count(&self) -> usize {
        self.pool.len()
    }

    /// The number of a footprint.
    pub(super) fn intern(&mut self, footprint: Footprint) -> u32 {
        self.pool.intern(footprint)
    }

    /// The number of what two have together.
    pub(super) fn joined(&mut self, one: u32, other: u32) -> u32 {
        let mut all = self.get(one).clone();
        all.add(self.get(other));
        self.intern(all)
    }

    /// What a thread touches that has ended, or has not begun.
    pub(super) fn of_nobody(&mut self) -> Touched {
        let (mut next, ever) = (Footprint::none(self.things()), Footprint::none(self.things()));
        next.read(self.places());
        Touched { next: self.intern(next), ever: self.intern(ever) }
    }

    /// What a frame touches if it is on top; what lies below it comes to what it may ever do.
    pub(super) fn of_frame(&mut self, frame: &Frame, below: u32) -> Touched {
        let locals = self.program.procedures[frame.procedure].locals.iter().zip(&frame.locals);
        let known: Known = self.constant[frame.procedure]
            .iter()
            .zip(locals)
            .map(|(constant, (variable, value))| {
                value.known().filter(|_| *constant).map(|code| variable.kind.lowest() + i64::from(code))
            })
            .collect();
        let position = match frame.stage {
            Stage::Storing => self.flows[frame.procedure].next[frame.position],
            Stage::Running | Stage::Asleep(_) | Stage::Waiting | Stage::Posted | Stage::Yielded => frame.position,
        };
        let context = self.context(frame.procedure, known);
        let positions = &self.contexts[&context];
        let (next, mut ever) = (positions.next[position], self.get(positions.ever[position]).clone());
        let next = next.unwrap_or_else(|| {
            let next = self.next(&context, position);
            self.contexts.entry(context).and_modify(|positions| positions.next[position] = Some(next));
            next
        });
        ever.add(self.get(below));
        if let Stage::Asleep(condition) = frame.stage {
            let mut asleep = Footprint::none(self.things());
            asleep.read(self.places() + 1 + condition as usize);
            ever.add(&asleep);
            return Touched { next: self.intern(asleep), ever: self.intern(ever) };
        }
        let ever = self.intern(ever);
        match next {
            Next::Known(next) => Touched { next, ever },
            Next::Ever => Touched { next: ever, ever },
        }
    }

    /// A context for a procedure and values, which is worked out if it is new.
    fn context(&mut self, procedure: usize, known: Known) -> (usize, Known) {
        let context = (procedure, known);
        if self.contexts.contains_key(&context) {
            return context;
        }
        let mut new: Vec<(usize, Known)> = vec![context.clone()];
        let mut starts = FxHashMap::default();
        let (mut points, mut own, mut edges) = (Vec::new(), Vec::new(), Vec::new());
        // All contexts that are not known come into one graph, position after position.
        let mut number = 0;
        while number < new.len() {
            let (procedure, known) = new[number].clone();
            starts.insert(new[number].clone(), points.len());
            for position in 0..=self.program.procedures[procedure].statements.len() {
                let entered = self.entered(procedure, position);
                let is_new = |entered: &&_| !self.contexts.contains_key(*entered) && !new.contains(*entered);
                let unknown = entered.as_ref().filter(is_new).cloned();
                new.extend(unknown);
                own.push(self.statement(procedure, position, &known));
                points.push((number, position, entered));
            }
            number += 1;
        }
        for (number, position, entered) in points {
            let (procedure, start) = (new[number].0, starts[&new[number]]);
            let after = self.flows[procedure].successors(&self.program.procedures[procedure], position);
            let mut to: Vec<_> = after.into_iter().map(|position| start + position).collect();
            if let Some(entered) = entered {
                let first = self.entry(entered.0);
                match self.contexts.get(&entered) {
                    Some(known) => own[start + position].add(self.get(known.ever[first])),
                    None => to.push(starts[&entered] + first),
                }
            }
            edges.push(to);
        }
        let ever = collected(&own, &edges);
        let ever: Vec<_> = ever.into_iter().map(|footprint| self.intern(footprint)).collect();
        for (context, start) in &starts {
            let (start, count) = (*start, self.program.procedures[context.0].statements.len() + 1);
            let positions = Positions { next: vec![None; count], ever: ever[start..start + count].to_vec() };
            self.contexts.insert(context.clone(), positions);
        }
        context
    }

    fn entry(&self, procedure: usize) -> usize {
        let called = &self.program.procedures[procedure];
        called.body.first().copied().unwrap_or(called.statements.len())
    }

    fn action(&self, procedure: usize, position: usize) -> Option<&Action> {
        self.program.procedures[procedure].statements.get(position).map(|statement| &statement.action)
    }

    /// The context of the procedure that a statement calls or starts; nothing is known of its parameters.
    fn entered(&self, procedure: usize, position: usize) -> Option<(usize, Known)> {
        let (Action::Call { procedure: to, .. } | Action::Start { procedure: to, .. }) =
            self.action(procedure, position)?
        else {
            return None;
        };
        Some((*to, Vec::new()))
    }

    fn interval(&self, procedure: usize, known: &Known, expression: &Expression) -> (i64, i64) {
        self.program.interval_given(procedure, expression, &|number| known.get(number).copied().flatten())
    }

    /// What a step at a position touches.
    fn next(&mut self, (procedure, known): &(usize, Known), position: usize) -> Next {
        let statements = &self.program.procedures[*procedure].statements;
        let mut first = position;
        while let Some(Action::Atomic(block)) = statements.get(first).map(|statement| &statement.action)
            && let Some(&inner) = block.first()
        {
            first = inner;
        }
        let is_inside = |position: usize| self.flows[*procedure].atomic.get(position).copied().flatten().is_some();
        let mut found = Footprint::none(self.things());
        let (mut open, mut seen) = (vec![first], FxHashSet::default());
        while let Some(position) = open.pop() {
            if !seen.insert(position) {
                continue;
            }
            found.add(&self.statement(*procedure, position, known));
            if self.action(*procedure, position) == Some(&Action::AtomicBegin) {
                return Next::Ever;
            }
            if is_inside(position) {
                if self.entered(*procedure, position).is_some() {
                    return Next::Ever;
                }
                let after = self.flows[*procedure].successors(&self.program.procedures[*procedure], position);
                open.extend(after.into_iter().filter(|&next| is_inside(next)));
            }
        }
        Next::Known(self.intern(found))
    }

    /// What a statement touches.
    fn statement(&self, procedure: usize, position: usize, known: &Known) -> Footprint {
        let mut found = Footprint::none(self.things());
        let enforced = self.program.procedures[procedure].enforced.as_ref();
        enforced.into_iter().for_each(|condition| self.reads(procedure, condition, known, &mut found));
        let Some(action) = self.action(procedure, position) else {
            self.returns(procedure, &mut found);
            return found;
        };
        action.expressions(&mut |expression| self.reads(procedure, expression, known, &mut found));
        if !matches!(action, Action::Call { .. }) {
            action.targets().iter().for_each(|target| self.writes(procedure, target, known, &mut found));
        }
        let place = self.places();
        let conditions = |condition: &Condition| {
            let bounds = |index: &Index| self.interval(procedure, known, &index.value);
            condition.numbers_within(&bounds).into_iter().map(move |number| place + 1 + number as usize)
        };
        match action {
            Action::Return(_) => self.returns(procedure, &mut found),
            Action::EndThread => found.read(place),
            Action::Start { .. } | Action::StartAt(_) => found.write(place),
            Action::Call { procedure: called, .. } => {
                let enforced = self.program.procedures[*called].enforced.as_ref();
                enforced.into_iter().for_each(|condition| self.reads(*called, condition, &Vec::new(), &mut found));
            }
            Action::Sleep => found.read(place + 1),
            Action::Broadcast => found.write(place + 1),
            Action::SleepOn(condition, _) => conditions(condition).for_each(|thing| found.read(thing)),
            Action::Wake { condition, .. } => conditions(condition).for_each(|thing| found.write(thing)),
            Action::Dead(slots) => {
                slots.iter().for_each(|&slot| self.writes(procedure, &Place::Variable(slot), known, &mut found));
            }
            _ => {}
        }
        found
    }

    /// The end of a procedure: its results are stored by whoever has called it; or its thread ends.
    fn returns(&self, procedure: usize, found: &mut Footprint) {
        found.read(self.places());
        for &(caller, position) in &self.calls[procedure] {
            if let Some(action) = self.action(caller, position) {
                for target in action.targets() {
                    target.indices(&mut |index| self.reads(caller, index, &Vec::new(), found));
                    self.writes(caller, target, &Vec::new(), found);
                }
            }
            let enforced = self.program.procedures[caller].enforced.as_ref();
            enforced.into_iter().for_each(|condition| self.reads(caller, condition, &Vec::new(), found));
        }
    }

    fn reads(&self, procedure: usize, expression: &Expression, known: &Known, found: &mut Footprint) {
        let bounds = |index: &Index| self.interval(procedure, known, &index.value);
        expression.parts(&mut |part| match part {
            Expression::Read(slot) | Expression::New(slot) => {
                self.shared(vec![*slot]).for_each(|number| found.read(number));
            }
            Expression::Element(element) | Expression::NewElement(element) => {
                self.shared(element.slots_within(&bounds)).for_each(|number| found.read(number));
            }
            _ => {}
        });
    }

    fn writes(&self, procedure: usize, place: &Place, known: &Known, found: &mut Footprint) {
        let bounds = |index: &Index| self.interval(procedure, known, &index.value);
        let slots = match place {
            Place::Element(element) => element.slots_within(&bounds),
            Place::Nowhere | Place::Variable(_) => place.slots().into_vec(),
        };
        self.shared(slots).for_each(|number| found.write(number));
    }

    /// Those of some variables that are shared and kept.
    fn shared(&self, slots: Vec<Slot>) -> impl Iterator<Item = usize> {
        let kept = |slot: Slot| match slot {
            Slot::Shared(number) if self.kept.contains(number) => Some(number),
            Slot::Shared(_) | Slot::Local(_) => None,
        };
        slots.into_iter().filter_map(kept)
    }
}

/// For each parameter of a procedure whether it is never assigned.
fn constant(program: &Program, procedure: usize) -> Vec<bool> {
    let procedure = &program.procedures[procedure];
    let mut assigned = Vec::new();
    for statement in &procedure.statements {
        assigned.extend(statement.action.targets().iter().flat_map(Place::slots));
        match &statement.action {
            Action::Dead(slots) => assigned.extend(slots),
            Action::For(variable, _) => assigned.push(Slot::Local(*variable)),
            _ => {}
        }
    }
    (0..procedure.parameters).map(|number| !assigned.contains(&Slot::Local(number))).collect()
}

/// What nodes of a graph have and what they lead to.
fn collected(own: &[Footprint], edges: &[Vec<usize>]) -> Vec<Footprint> {
    let component = components(edges);
    let count = component.iter().max().map_or(0, |last| last + 1);
    let mut members = vec![Vec::new(); count];
    component.iter().enumerate().for_each(|(node, &number)| members[number].push(node));
    let mut found: Vec<Footprint> = Vec::with_capacity(count);
    // A component has a greater number than those that it leads to.
    for members in &members {
        let mut all = own[members[0]].clone();
        for &node in members {
            all.add(&own[node]);
            edges[node].iter().filter_map(|&to| found.get(component[to])).for_each(|more| all.add(more));
        }
        found.push(all);
    }
    component.into_iter().map(|number| found[number].clone()).collect()
}

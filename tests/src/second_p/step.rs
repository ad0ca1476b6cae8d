//! Steps: an event is taken if the machine needs one, and it runs until just after a send or a new machine, or until it
//! needs the next event. All choices on the way are tried.
//!
//! What happens within a step is a graph: at each choice, and at places where a machine may have been before, it is
//! noted where the machine and the specs stand. A circle in this graph never ends, if each `$$` on it may fall both
//! ways without leaving it; circles on which one may not are cut there.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use super::run::{Runner, Stop};
use super::setup::Setup;
use super::state::{Agenda, Letter, Machine, State};
use super::transitions::take;
use super::tree::{Bound, ExprId, Name};
use super::values::{Value, Wrong};

/// What a step leads to.
#[derive(Debug)]
pub(super) enum Outcome {
    Next(State),
    Wrong(Wrong),
    /// A queue would be too long.
    Refused,
    /// An assumption does not hold.
    Left,
    /// It does not end, and does not come back either.
    Unknown,
}

/// How many places are passed before it is noted where a machine stands.
const UNNOTED: usize = 20;

/// The most places that are noted in a step.
const NOTED: usize = 500;

/// How a step goes on.
struct Branch {
    state: State,
    from: Option<usize>,
    /// How a fair choice fell.
    fell: Option<(ExprId, bool)>,
    passed: usize,
}

#[derive(Default)]
struct Graph {
    known: HashMap<(Rc<Machine>, Vec<Rc<Machine>>), usize>,
    edges: Vec<Edge>,
}

#[derive(Clone)]
struct Edge {
    from: usize,
    to: usize,
    fell: Option<(ExprId, bool)>,
}

impl Graph {
    /// Notes a place. The number is new the first time.
    fn note(&mut self, branch: &Branch, index: usize) -> (usize, bool) {
        let next = self.known.len();
        let key = (branch.state.machines[index].clone(), branch.state.specs.clone());
        let to = *self.known.entry(key).or_insert(next);
        self.edges.extend(branch.from.map(|from| Edge { from, to, fell: branch.fell }));
        (to, to == next)
    }
}

impl Setup<'_> {
    /// All that a step of a machine can lead to.
    pub(super) fn steps(&self, state: &State, index: usize, longest: usize) -> Vec<Outcome> {
        let mut state = state.clone();
        let machine = Rc::make_mut(&mut state.machines[index]);
        if machine.halted {
            return Vec::new();
        }
        if let Some(letter) = machine.announced.take() {
            return self.append(state, index, letter, longest).into_iter().collect();
        }
        if machine.about_to_take() && !take(self.program, machine) {
            return Vec::new();
        }
        let (mut found, mut graph) = (Vec::new(), Graph::default());
        let mut open = vec![Branch { state, from: None, fell: None, passed: 0 }];
        while let Some(branch) = open.pop() {
            if graph.known.len() > NOTED {
                return vec![Outcome::Unknown];
            }
            found.extend(self.follow(branch, index, longest, &mut graph, &mut open));
        }
        if goes_on(&graph.edges) {
            found.push(Outcome::Wrong("diverges"));
        }
        found
    }

    /// Runs a branch to where it ends, is noted, or parts.
    fn follow(
        &self,
        mut branch: Branch,
        index: usize,
        longest: usize,
        graph: &mut Graph,
        open: &mut Vec<Branch>,
    ) -> Option<Outcome> {
        let machine = Rc::make_mut(&mut branch.state.machines[index]);
        match (Runner { program: self.program, machine, this: index }).run() {
            Stop::Rests => Some(Outcome::Next(branch.state)),
            Stop::Left => None,
            Stop::Wrong(wrong) => Some(Outcome::Wrong(wrong)),
            Stop::Mark => {
                branch.passed += 1;
                if branch.passed > UNNOTED {
                    let (at, new) = graph.note(&branch, index);
                    if !new {
                        return None;
                    }
                    (branch.from, branch.fell) = (Some(at), None);
                }
                open.push(branch);
                None
            }
            Stop::Choice(values, fair) => {
                let (at, new) = graph.note(&branch, index);
                let values = values.into_iter().filter(|_| new);
                open.extend(values.map(|value| self.chosen(&branch, index, at, (value, fair))));
                None
            }
            Stop::Announce(event, payload) => {
                let Value::Event(event) = event else { return Some(Outcome::Wrong("null-event")) };
                match self.tell(&mut branch.state, index, event, &payload) {
                    Ok(_) => open.push(branch),
                    Err(outcome) => return Some(outcome),
                }
                None
            }
            Stop::Send(target, event, payload) => self.send(branch.state, index, (target, event, payload), longest),
            Stop::New(name, argument) => Some(self.create(branch.state, index, name, argument)),
        }
    }

    /// How a branch goes on with a value.
    fn chosen(&self, branch: &Branch, index: usize, at: usize, (value, fair): (Value, Option<ExprId>)) -> Branch {
        let mut state = branch.state.clone();
        let fell = fair.zip(Some(value == Value::Bool(true)));
        let machine = Rc::make_mut(&mut state.machines[index]);
        Runner { program: self.program, machine, this: index }.deliver(value);
        Branch { state, from: Some(at), fell, passed: branch.passed }
    }

    fn create(&self, mut state: State, index: usize, name: Name, argument: Value) -> Outcome {
        let Some(kind) = self.bindings.get(&name) else { return Outcome::Wrong("no such machine") };
        let number = state.machines.len();
        state.machines.push(Rc::new(self.made(*kind, argument)));
        let machine = Rc::make_mut(&mut state.machines[index]);
        let mut runner = Runner { program: self.program, machine, this: index };
        runner.deliver(Value::Machine(number, name));
        runner.settle();
        Outcome::Next(state)
    }

    /// A machine before its first step. Where there is nothing to do on entry, it is there already.
    pub(super) fn made(&self, kind: usize, argument: Value) -> Machine {
        let of = &self.program.kinds[kind];
        let enters = of.states[&of.start].entry.is_some();
        let value = |(name, of): &(Name, _)| (*name, self.program.default_of(of));
        Machine {
            kind,
            states: if enters { Vec::new() } else { vec![of.start] },
            agenda: enters.then_some(Agenda::Push(of.start, argument)).into_iter().collect(),
            frames: Vec::new(),
            variables: of.variables.iter().map(value).collect(),
            queue: Default::default(),
            announced: None,
            halted: false,
        }
    }

    fn send(
        &self,
        mut state: State,
        index: usize,
        (target, event, payload): (Value, Value, Value),
        longest: usize,
    ) -> Option<Outcome> {
        let Value::Event(event) = event else { return Some(Outcome::Wrong("null-event")) };
        let Value::Machine(target, called) = target else { return Some(Outcome::Wrong("null-target")) };
        let (own, other) = (&state.machines[index], &state.machines[target]);
        let may_send = self.program.kinds[own.kind].sends.as_ref().is_none_or(|sends| sends.contains(&event));
        let receives = self.program.interfaces.get(&called).or(self.program.kinds[other.kind].receives.as_ref());
        if !may_send || receives.is_some_and(|receives| !receives.contains(&event)) {
            return Some(Outcome::Wrong("permission"));
        }
        let letter = Letter { target, event, payload };
        match self.tell(&mut state, index, event, &letter.payload) {
            Err(outcome) => Some(outcome),
            Ok(true) if self.split => {
                Rc::make_mut(&mut state.machines[index]).announced = Some(letter);
                Some(Outcome::Next(state))
            }
            Ok(_) => self.append(state, index, letter, longest),
        }
    }

    /// Puts a letter into a queue.
    fn append(&self, mut state: State, index: usize, letter: Letter, longest: usize) -> Option<Outcome> {
        let machine = Rc::make_mut(&mut state.machines[index]);
        Runner { program: self.program, machine, this: index }.settle();
        let Letter { target, event, payload } = letter;
        let target = Rc::make_mut(&mut state.machines[target]);
        if target.halted {
            return Some(Outcome::Next(state));
        }
        if target.queue.len() >= longest {
            return Some(Outcome::Refused);
        }
        target.queue.push_back((event, payload));
        let of_event = self.program.bounds.get(&event).copied();
        let of_machine = self.program.kinds[target.kind].bound;
        let count = target.queue.iter().filter(|(other, _)| *other == event).count();
        for (bound, many, wrong) in
            [(of_event, count, "event-bound"), (of_machine, target.queue.len(), "machine-bound")]
        {
            match bound {
                Some(Bound::Assume(most)) if many > most => return None,
                Some(Bound::Assert(most)) if many > most => return Some(Outcome::Wrong(wrong)),
                _ => {}
            }
        }
        Some(Outcome::Next(state))
    }

    /// Tells the specs of an event; whether one listens.
    fn tell(&self, state: &mut State, index: usize, event: Name, payload: &Value) -> Result<bool, Outcome> {
        let sender = state.machines[index].kind;
        let mut heard = false;
        for (spec, (kind, hears)) in state.specs.iter_mut().zip(&self.specs) {
            if hears.contains(&sender) && self.program.kinds[*kind].observes.contains(&event) {
                heard = true;
                let spec = Rc::make_mut(spec);
                spec.agenda.push(Agenda::Handle(event, payload.clone()));
                self.complete(spec)?;
            }
        }
        Ok(heard)
    }

    /// Runs a spec to its end.
    pub(super) fn complete(&self, spec: &mut Machine) -> Result<(), Outcome> {
        let (mut passed, mut seen) = (0, BTreeMap::new());
        loop {
            match (Runner { program: self.program, machine: spec, this: usize::MAX }).run() {
                Stop::Rests => return Ok(()),
                Stop::Wrong(wrong) => return Err(Outcome::Wrong(wrong)),
                Stop::Left => return Err(Outcome::Left),
                Stop::Mark => {
                    passed += 1;
                    if passed > UNNOTED && seen.insert(format!("{spec:?}"), ()).is_some() {
                        return Err(Outcome::Wrong("diverges"));
                    }
                    if passed > NOTED {
                        return Err(Outcome::Unknown);
                    }
                }
                other => unreachable!("a spec does not do {other:?}"),
            }
        }
    }
}

/// Whether there is a circle on which every fair choice may fall both ways.
fn goes_on(edges: &[Edge]) -> bool {
    let mut sets = vec![edges.to_vec()];
    while let Some(edges) = sets.pop() {
        for inside in circles(&edges) {
            let falls = |site: ExprId, way: bool| inside.iter().any(|edge| edge.fell == Some((site, way)));
            let one_way = |edge: &Edge| edge.fell.is_some_and(|(site, way)| !falls(site, !way));
            if !inside.iter().any(one_way) {
                return true;
            }
            sets.push(inside.iter().filter(|edge| !one_way(edge)).cloned().collect());
        }
    }
    false
}

/// The edges of each strongly connected part that has some.
fn circles(edges: &[Edge]) -> Vec<Vec<Edge>> {
    let mut next: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for edge in edges {
        next.entry(edge.from).or_default().insert(edge.to);
    }
    // Places without a way out, or with none that leads on, are on no circle.
    loop {
        let live: BTreeSet<usize> = next.keys().copied().collect();
        let before: usize = next.values().map(BTreeSet::len).sum();
        next.values_mut().for_each(|to| to.retain(|place| live.contains(place)));
        next.retain(|_, to| !to.is_empty());
        if next.values().map(BTreeSet::len).sum::<usize>() == before {
            break;
        }
    }
    let (mut left, mut found): (BTreeSet<usize>, Vec<_>) = (next.keys().copied().collect(), Vec::new());
    while let Some(first) = left.pop_first() {
        let ahead = reached(&next, first);
        let own: BTreeSet<usize> = ahead.into_iter().filter(|place| reached(&next, *place).contains(&first)).collect();
        left.retain(|place| !own.contains(place));
        let inside = |edge: &&Edge| own.contains(&edge.from) && own.contains(&edge.to);
        let inside: Vec<_> = edges.iter().filter(inside).cloned().collect();
        found.extend((!inside.is_empty()).then_some(inside));
    }
    found
}

/// The places that one leads to, by one edge or more.
fn reached(next: &BTreeMap<usize, BTreeSet<usize>>, from: usize) -> BTreeSet<usize> {
    let (mut found, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(place) = open.pop() {
        for to in next.get(&place).into_iter().flatten() {
            if found.insert(*to) {
                open.push(*to);
            }
        }
    }
    found
}

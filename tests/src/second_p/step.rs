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

impl Branch {
    fn noted(&self, index: usize) -> Noted {
        (self.state.machines[index].clone(), self.state.specs.clone())
    }
}

/// A machine, and the specs as they are meanwhile.
type Noted = (Rc<Machine>, Vec<Rc<Machine>>);

#[derive(Default)]
struct Graph {
    known: HashMap<Noted, usize>,
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
    fn note(&mut self, place: Noted, from: Option<usize>, fell: Option<(ExprId, bool)>) -> (usize, bool) {
        let next = self.known.len();
        let to = *self.known.entry(place).or_insert(next);
        self.edges.extend(from.map(|from| Edge { from, to, fell }));
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
    ) -> Vec<Outcome> {
        let machine = Rc::make_mut(&mut branch.state.machines[index]);
        match (Runner { program: self.program, machine, this: index }).run() {
            Stop::Rests => vec![Outcome::Next(branch.state)],
            Stop::Left => Vec::new(),
            Stop::Wrong(wrong) => vec![Outcome::Wrong(wrong)],
            Stop::Mark => {
                branch.passed += 1;
                if branch.passed > UNNOTED {
                    let (at, new) = graph.note(branch.noted(index), branch.from, branch.fell);
                    if !new {
                        return Vec::new();
                    }
                    (branch.from, branch.fell) = (Some(at), None);
                }
                open.push(branch);
                Vec::new()
            }
            Stop::Choice(values, fair) => {
                let (at, new) = graph.note(branch.noted(index), branch.from, branch.fell);
                let values = values.into_iter().filter(|_| new);
                open.extend(values.map(|value| self.chosen(&branch, index, at, (value, fair))));
                Vec::new()
            }
            Stop::Announce(event, payload) => {
                let Value::Event(event) = event else { return vec![Outcome::Wrong("null-event")] };
                let Branch { state, from, fell, passed } = branch;
                let Told { states, ended, .. } = self.tell(state, index, event, &payload);
                open.extend(states.into_iter().map(|state| Branch { state, from, fell, passed }));
                ended
            }
            Stop::Send(target, event, payload) => self.send(branch.state, index, (target, event, payload), longest),
            Stop::New(name, argument) => vec![self.create(branch.state, index, name, argument)],
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
        state: State,
        index: usize,
        (target, event, payload): (Value, Value, Value),
        longest: usize,
    ) -> Vec<Outcome> {
        let Value::Event(event) = event else { return vec![Outcome::Wrong("null-event")] };
        let Value::Machine(target, called) = target else { return vec![Outcome::Wrong("null-target")] };
        let (own, other) = (&state.machines[index], &state.machines[target]);
        let may_send = self.program.kinds[own.kind].sends.as_ref().is_none_or(|sends| sends.contains(&event));
        let receives = self.program.interfaces.get(&called).or(self.program.kinds[other.kind].receives.as_ref());
        if !may_send || receives.is_some_and(|receives| !receives.contains(&event)) {
            return vec![Outcome::Wrong("permission")];
        }
        let letter = Letter { target, event, payload };
        let Told { heard, states, ended } = self.tell(state, index, event, &letter.payload);
        let goes_on = |mut state: State| {
            if heard && self.split {
                Rc::make_mut(&mut state.machines[index]).announced = Some(letter.clone());
                return Some(Outcome::Next(state));
            }
            self.append(state, index, letter.clone(), longest)
        };
        ended.into_iter().chain(states.into_iter().filter_map(goes_on)).collect()
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

    /// Tells the specs of an event.
    fn tell(&self, state: State, index: usize, event: Name, payload: &Value) -> Told {
        let sender = state.machines[index].kind;
        let mut told = Told { heard: false, states: vec![state], ended: Vec::new() };
        for (number, (kind, hears)) in self.specs.iter().enumerate() {
            if hears.contains(&sender) && self.program.kinds[*kind].observes.contains(&event) {
                told.heard = true;
                for state in std::mem::take(&mut told.states) {
                    let mut spec = Machine::clone(&state.specs[number]);
                    spec.agenda.push(Agenda::Handle(event, payload.clone()));
                    let (specs, ended) = self.complete(spec);
                    told.ended.extend(ended);
                    for spec in specs {
                        let mut state = state.clone();
                        state.specs[number] = Rc::new(spec);
                        told.states.push(state);
                    }
                }
            }
        }
        told
    }

    /// Runs a spec to its end, in every way: where it gets to, and what ends it.
    pub(super) fn complete(&self, spec: Machine) -> (Vec<Machine>, Vec<Outcome>) {
        let (mut gets, mut ended) = (Vec::new(), Vec::new());
        let (mut open, mut graph) = (vec![(spec, None, 0)], Graph::default());
        while let Some((mut spec, from, passed)) = open.pop() {
            let stop = Runner { program: self.program, machine: &mut spec, this: usize::MAX }.run();
            let notes = matches!(stop, Stop::Choice(..)) || matches!(stop, Stop::Mark) && passed >= UNNOTED;
            let from = match notes.then(|| graph.note((Rc::new(spec.clone()), Vec::new()), from, None)) {
                Some((_, false)) => continue,
                Some((at, true)) => Some(at),
                None => from,
            };
            if graph.known.len() > NOTED {
                return (Vec::new(), vec![Outcome::Unknown]);
            }
            match stop {
                Stop::Rests => gets.push(spec),
                Stop::Wrong(wrong) => ended.push(Outcome::Wrong(wrong)),
                Stop::Left => ended.push(Outcome::Left),
                Stop::Mark => open.push((spec, from, passed + 1)),
                Stop::Choice(values, _) => open.extend(values.into_iter().map(|value| {
                    let mut spec = spec.clone();
                    Runner { program: self.program, machine: &mut spec, this: usize::MAX }.deliver(value);
                    (spec, from, passed)
                })),
                other => unreachable!("a spec does not do {other:?}"),
            }
        }
        if goes_on(&graph.edges) {
            ended.push(Outcome::Wrong("diverges"));
        }
        (gets, ended)
    }
}

/// What becomes of a state when specs are told something.
struct Told {
    /// Whether one listens.
    heard: bool,
    states: Vec<State>,
    ended: Vec<Outcome>,
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

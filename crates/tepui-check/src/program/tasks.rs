//! Programs with tasks: what is reached between two dispatches, and what may be pending when there is one.
//!
//! A certificate lists entries: a shared state and a stack, with which a task is dispatched, or a procedure called. Each has
//! nodes, which are reached before the task ends or yields, or the procedure returns, and with each node what may have been
//! posted on the way. And it lists markings: what may be pending when nobody runs, for a shared state.
//!
//! **Why this is sound.** Claim: whenever nobody runs, what is pending is *within* a marking of the shared state; and whenever
//! a task runs, its stack is a sequence of nodes, each but the last at a call whose entry the next one belongs to, the first one
//! belongs to an entry at which a task was taken from a marking, and what was posted since is within the sum of what is listed with
//! these nodes. Proof by induction over steps. A task that is dispatched is pending, so a marking has it, and its entry is
//! listed with what its first step leads to. A step of the interpreter leads to a node of the same entry, or to a new entry if it
//! is a call; a procedure that returns, ends the task or yields in the midst of it leads its caller to a node with both
//! sums. When the task ends or yields, what is left of the marking and what was posted is within a marking.
//!
//! Where tasks are *counted*, within means: not more of any. Less is possible, and nothing depends on it, since no step needs
//! that a task is absent. So every order of dispatch is covered, and every one that a program may prescribe. A deadlock needs that
//! tasks are absent: for it, and where the order matters, tasks are *listed*, and within means: the same, in the same order.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use tepui_cert::program::{ANY, Certificate, Marking, Node, Pending, Tasks};
use tepui_model::program::step::{Effect, Frame, Results, Runner, Shared, Stage};
use tepui_model::program::{Action, Goal, Order, Program, Property};
use tepui_model::pushdown::Symbol;

use super::Proof;
use super::tables::Tables;
use crate::{Accepted, Rejected};

/// After how many nodes or markings the caller is asked whether to stop.
const LOOK_EVERY: usize = 64;

/// What an accepted proof about tasks proves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OfTasks {
    /// The properties that hold in every reachable state.
    pub properties: Vec<String>,
    /// How many places there are where a task is dispatched, or a procedure called.
    pub entries: usize,
    /// How many markings there are.
    pub markings: usize,
}

/// Judges a certificate, if the program has tasks, or the certificate is about some.
pub(super) fn judge(
    program: &Program,
    properties: &[Property],
    certificate: &Certificate,
    stop: &dyn Fn() -> bool,
) -> Option<Result<Proof, Rejected>> {
    match (program.order, &certificate.tasks) {
        (None, None) => None,
        (Some(order), Some(own)) => Some(check(program, order, certificate, own, properties, stop)),
        (Some(_), None) => {
            Some(Err(Rejected::new("tasks", "the program has tasks, and the certificate says nothing about any")))
        }
        (None, Some(_)) => {
            Some(Err(Rejected::new("tasks", "the certificate is about tasks, and the program has none")))
        }
    }
}

/// Decides whether what is listed is closed under all that tasks do, and nothing that the properties forbid is among it.
fn check(
    program: &Program,
    order: Order,
    certificate: &Certificate,
    own: &Tasks,
    properties: &[Property],
    stop: &dyn Fn() -> bool,
) -> Result<Proof, Rejected> {
    let tables = Tables::new(program, certificate, stop).map_err(|reason| Rejected::new("tables", reason))?;
    let runner = Runner::new(program);
    let stopped = |place: &str, reason: String| match tables.is_stopped() {
        true => Rejected::stopped(place),
        false => Rejected::new(place, reason),
    };
    let mut checking = Checking::new(&runner, &tables, own, order).map_err(|reason| stopped("tasks", reason))?;
    checking.entries().map_err(|reason| stopped("entries", reason))?;
    checking.markings().map_err(|reason| stopped("markings", reason))?;
    let happens = |goal: &Goal| *goal == Goal::Deadlock && own.counted || checking.happens(goal);
    if let Some(property) = properties.iter().find(|property| property.never.iter().any(happens)) {
        let reason = match property.never.contains(&Goal::Deadlock) && own.counted {
            true => "tasks that are counted say nothing about deadlocks",
            false => "what is listed violates it",
        };
        return Err(Rejected::new(format!("property {}", property.name), reason));
    }
    if tables.is_stopped() {
        return Err(Rejected::stopped("properties"));
    }
    let properties = properties.iter().map(|property| property.name.clone()).collect();
    let accepted = OfTasks { properties, entries: own.entries.len(), markings: own.markings.len() };
    Ok(Proof { accepted: Accepted::Tasks(accepted), unreached: tables.unvisited(&runner) })
}

/// How an entry is left, with what may have been posted since.
struct Exit<'a> {
    shared: Shared,
    way: Way<'a>,
    posted: &'a [Pending],
}

enum Way<'a> {
    Ended,
    Yielded(&'a [Symbol]),
    Returned(Results),
}

/// The markings of a shared state.
#[derive(Default)]
struct Markings<'a> {
    all: Vec<&'a Pending>,
    listed: FxHashSet<&'a Pending>,
    /// For each stack a row of bits: one for each marking, whether it has it.
    having: FxHashMap<u32, Vec<u64>>,
}

impl<'a> Markings<'a> {
    fn add(&mut self, pending: &'a Pending) {
        let (word, bit) = (self.all.len() / 64, self.all.len() % 64);
        for (stack, _) in pending {
            let row = self.having.entry(*stack).or_default();
            row.resize(word + 1, 0);
            row[word] |= 1 << bit;
        }
        self.all.push(pending);
        self.listed.insert(pending);
    }

    /// Whether something is within one of them, which must have each stack at least.
    fn cover(&self, pending: &Pending) -> bool {
        let rows: Option<Vec<_>> = pending.iter().map(|(stack, _)| self.having.get(stack)).collect();
        let Some(rows) = rows else { return false };
        let Some(words) = rows.iter().map(|row| row.len()).min() else { return !self.all.is_empty() };
        (0..words).any(|word| {
            let all = rows.iter().try_fold(u64::MAX, |all, row| Some(all & row[word]).filter(|all| *all != 0));
            let has = |bit: &usize| all.is_some_and(|all| all >> bit & 1 == 1);
            (0..64).filter(has).any(|bit| is_within(pending, self.all[word * 64 + bit]))
        })
    }
}

/// Whether there are at most as many of each stack.
fn is_within(found: &Pending, listed: &Pending) -> bool {
    let mut rest = listed.iter();
    found
        .iter()
        .all(|(stack, count)| rest.find(|own| own.0 >= *stack).is_some_and(|own| own.0 == *stack && own.1 >= *count))
}

struct Checking<'a> {
    runner: &'a Runner<'a>,
    tables: &'a Tables<'a>,
    own: &'a Tasks,
    order: Order,
    stacks: FxHashMap<&'a [Symbol], u32>,
    entries: FxHashMap<(u32, u32), usize>,
    /// For each entry its nodes.
    nodes: Vec<FxHashMap<(u32, u32), usize>>,
    /// For each entry how it is left, if that was asked for.
    exits: RefCell<Vec<Option<Rc<[Exit<'a>]>>>>,
    /// For each shared state the markings.
    markings: FxHashMap<u32, Markings<'a>>,
    /// What was seen to fail, or to happen.
    failed: FxHashSet<Goal>,
    /// The places at which tasks stand that run.
    stood: FxHashSet<(usize, usize)>,
}

type Checked<T = ()> = Result<T, String>;

impl<'a> Checking<'a> {
    fn new(runner: &'a Runner<'a>, tables: &'a Tables<'a>, own: &'a Tasks, order: Order) -> Checked<Self> {
        let known = |stack: u32| (stack as usize) < own.stacks.len();
        let frames = |stack: &Vec<Symbol>| stack.iter().all(|symbol| tables.frame(*symbol).is_some());
        let fits = |pending: &Pending| {
            let counts =
                pending.iter().all(|&(stack, count)| known(stack) && count > 0 && (own.counted || count < ANY));
            counts && (!own.counted || pending.is_sorted_by(|one, other| one.0 < other.0))
        };
        let is_node =
            |node: &Node| node.shared < tables.shared_states() && known(node.stack) && node.posted.iter().all(fits);
        let all = own.stacks.iter().all(frames)
            && own.entries.iter().all(|entry| entry.nodes.iter().all(is_node) && known(entry.stack))
            && own.markings.iter().all(|marking| fits(&marking.pending));
        if !all {
            return Err("what is listed names something that does not exist, or is not in order".to_owned());
        }
        let stacks: FxHashMap<_, _> = own.stacks.iter().map(Vec::as_slice).zip(0..).collect();
        let entries: FxHashMap<_, _> = own.entries.iter().map(|entry| (entry.shared, entry.stack)).zip(0..).collect();
        let points = |nodes: &'a [Node]| nodes.iter().map(|node| (node.shared, node.stack)).zip(0..).collect();
        let nodes: Vec<FxHashMap<_, _>> = own.entries.iter().map(|entry| points(&entry.nodes)).collect();
        let once = stacks.len() == own.stacks.len() && entries.len() == own.entries.len();
        if !once || nodes.iter().zip(&own.entries).any(|(nodes, entry)| nodes.len() != entry.nodes.len()) {
            return Err("a stack, an entry or a node is listed twice".to_owned());
        }
        let mut markings: FxHashMap<u32, Markings<'_>> = FxHashMap::default();
        for marking in &own.markings {
            markings.entry(marking.shared).or_default().add(&marking.pending);
        }
        let exits = RefCell::new(own.entries.iter().map(|_| None).collect());
        let (failed, stood) = (FxHashSet::default(), FxHashSet::default());
        Ok(Self { runner, tables, own, order, stacks, entries, nodes, exits, markings, failed, stood })
    }

    /// Whether something that must not happen was seen.
    fn happens(&self, goal: &Goal) -> bool {
        match *goal {
            Goal::Reached(procedure, position) => self.stood.contains(&(procedure, position)),
            _ => self.failed.contains(goal),
        }
    }

    fn stack(&self, number: u32) -> &'a [Symbol] {
        &self.own.stacks[number as usize]
    }

    fn frame(&self, symbol: Symbol) -> Checked<&'a Frame> {
        self.tables.frame(symbol).ok_or_else(|| "a frame is not listed".to_owned())
    }

    fn symbol(&self, frame: &Frame) -> Checked<Symbol> {
        self.tables.symbol(frame).ok_or_else(|| "a step leads to a frame that is not listed".to_owned())
    }

    fn values(&self, shared: u32) -> Checked<Shared> {
        self.tables.shared(shared).ok_or_else(|| "a shared state is not listed".to_owned())
    }

    /// The number of the stack that has one frame above others.
    fn stack_number(&self, below: &[Symbol], frames: &[Symbol]) -> Checked<u32> {
        let whole = match below {
            [] => Cow::Borrowed(frames),
            _ => Cow::Owned([below, frames].concat()),
        };
        self.stacks.get(&*whole).copied().ok_or_else(|| "a step leads to a stack that is not listed".to_owned())
    }

    fn look(&self, number: usize) -> Checked {
        match number.is_multiple_of(LOOK_EVERY) && self.tables.is_stopped() {
            true => Err("it has not been looked at to its end".to_owned()),
            false => Ok(()),
        }
    }

    /// Every entry is listed with what it leads to.
    fn entries(&mut self) -> Checked {
        let mut number = 0;
        for (entry, listed) in self.own.entries.iter().enumerate() {
            self.begin(entry)?;
            for node in &listed.nodes {
                self.look(number)?;
                self.follow(entry, node)?;
                number += 1;
            }
        }
        Ok(())
    }

    /// What an entry begins with: a procedure that is called, or what a task becomes that is dispatched.
    fn begin(&mut self, entry: usize) -> Checked {
        let (shared, stack) = (self.own.entries[entry].shared, self.stack(self.own.entries[entry].stack));
        let nothing = [Pending::new()];
        let Some((top, below)) = stack.split_last() else { return Err("an entry has no frame".to_owned()) };
        let frame = self.frame(*top)?;
        if !frame.stage.is_pending() {
            return self.require(entry, shared, (below, &[*top]), &nothing);
        }
        for (values, effect) in self.runner.steps(&self.values(shared)?, frame, self.tables) {
            match effect {
                Effect::Become(next) => self.reach(entry, &values, (below, &next), &nothing)?,
                Effect::Fail(failure) => self.fail(failure.at(self.at(frame))),
                _ => return Err("a task is dispatched in a way that it cannot be".to_owned()),
            }
        }
        Ok(())
    }

    /// The statement that a frame executes.
    fn at(&self, frame: &Frame) -> (usize, usize) {
        (frame.procedure, self.runner.first_of(frame.procedure, frame.position))
    }

    fn fail(&mut self, goal: Goal) {
        self.failed.insert(goal);
    }

    /// What a node leads to is listed.
    fn follow(&mut self, entry: usize, node: &'a Node) -> Checked {
        let stack = self.stack(node.stack);
        let Some((top, below)) = stack.split_last() else { return Ok(()) };
        let frame = self.frame(*top)?;
        if frame.stage.is_pending() {
            return Ok(());
        }
        self.tables.visit(frame);
        self.stood.extend(self.runner.stands_at(frame.procedure, frame.position).map(|at| (frame.procedure, at)));
        for (values, effect) in self.runner.steps(&self.values(node.shared)?, frame, self.tables) {
            match effect {
                Effect::Become(next) => self.reach(entry, &values, (below, &next), &node.posted)?,
                Effect::Start { next, started } => {
                    let mut posted = Pending::new();
                    for task in &started {
                        let stack = self.stack_number(&[], &[self.symbol(task)?])?;
                        posted = self.plus(&posted, &[(stack, 1)]);
                    }
                    self.reach(entry, &values, (below, &next), &self.sums(&node.posted, &[posted]))?;
                }
                Effect::Call { caller, callee } => {
                    self.call(entry, below, &values, (&caller, &callee), &node.posted)?;
                }
                Effect::Return(results) => {
                    // If it is the only frame, the entry is left.
                    if let Some((waiting, below)) = below.split_last() {
                        let waiting = self.frame(*waiting)?;
                        self.resume(entry, below, (&values, waiting, &results), &node.posted)?;
                    }
                }
                Effect::End => self.require(entry, self.tables.shared_number(&values), (&[], &[]), &node.posted)?,
                Effect::Fail(failure) => self.fail(failure.at(self.at(frame))),
                Effect::Wake(..) => return Err("tasks are not woken".to_owned()),
            }
        }
        Ok(())
    }

    /// A call leads to all that the procedure leaves behind.
    fn call(
        &mut self,
        entry: usize,
        below: &[Symbol],
        values: &Shared,
        (caller, callee): (&Frame, &Frame),
        posted: &[Pending],
    ) -> Checked {
        let called = self.stack_number(&[], &[self.symbol(callee)?])?;
        let called = self.entries.get(&(self.tables.shared_number(values), called)).copied();
        let called = called.ok_or("a procedure is called whose entry is not listed")?;
        for exit in &*self.left(called)? {
            let posted = self.sums(posted, exit.posted);
            match &exit.way {
                Way::Ended => self.require(entry, self.tables.shared_number(&exit.shared), (&[], &[]), &posted)?,
                Way::Yielded(stack) => {
                    let below = [below, &[self.symbol(caller)?]].concat();
                    self.require(entry, self.tables.shared_number(&exit.shared), (&below, stack), &posted)?;
                }
                Way::Returned(results) => self.resume(entry, below, (&exit.shared, caller, results), &posted)?,
            }
        }
        Ok(())
    }

    /// A procedure has returned to a frame that waits for it.
    fn resume(
        &mut self,
        entry: usize,
        below: &[Symbol],
        (values, waiting, results): (&Shared, &Frame, &Results),
        posted: &[Pending],
    ) -> Checked {
        for stored in self.runner.resume(values, waiting, results, self.tables) {
            match stored {
                Ok((values, next)) => self.reach(entry, &values, (below, &next), posted)?,
                Err(failure) => self.fail(failure.at((waiting.procedure, waiting.position))),
            }
        }
        Ok(())
    }

    /// A frame above others is among the nodes of an entry.
    fn reach(&self, entry: usize, values: &Shared, (below, next): (&[Symbol], &Frame), posted: &[Pending]) -> Checked {
        self.require(entry, self.tables.shared_number(values), (below, &[self.symbol(next)?]), posted)
    }

    /// A stack is among the nodes of an entry, with all that may have been posted.
    fn require(
        &self,
        entry: usize,
        shared: u32,
        (below, frames): (&[Symbol], &[Symbol]),
        posted: &[Pending],
    ) -> Checked {
        let stack = self.stack_number(below, frames)?;
        let node = self.nodes[entry].get(&(shared, stack));
        let node = &self.own.entries[entry].nodes[*node.ok_or("a step leads to a node that is not listed")?];
        match posted.iter().all(|found| node.posted.iter().any(|listed| self.agree(found, listed))) {
            true => Ok(()),
            false => Err("more may have been posted at a node than is listed".to_owned()),
        }
    }

    /// How an entry is left.
    fn left(&self, entry: usize) -> Checked<Rc<[Exit<'a>]>> {
        if let Some(known) = &self.exits.borrow()[entry] {
            return Ok(Rc::clone(known));
        }
        let mut exits = Vec::new();
        for node in &self.own.entries[entry].nodes {
            let (stack, values) = (self.stack(node.stack), self.values(node.shared)?);
            let mut leaves = |shared: Shared, way: Way<'a>| exits.push(Exit { shared, way, posted: &node.posted });
            let Some((top, below)) = stack.split_last() else {
                leaves(Rc::clone(&values), Way::Ended);
                continue;
            };
            let frame = self.frame(*top)?;
            if frame.stage == Stage::Yielded {
                leaves(Rc::clone(&values), Way::Yielded(stack));
            } else if below.is_empty() {
                for (values, effect) in self.runner.steps(&values, frame, self.tables) {
                    if let Effect::Return(results) = effect {
                        leaves(values, Way::Returned(results));
                    }
                }
            }
        }
        let exits: Rc<[_]> = exits.into();
        self.exits.borrow_mut()[entry] = Some(Rc::clone(&exits));
        Ok(exits)
    }

    /// What is pending whenever nobody runs is within a marking.
    fn markings(&mut self) -> Checked {
        let (shared, mains) = self.runner.start(self.tables);
        let shared = self.tables.shared_number(&shared);
        for main in &mains {
            let main = self.stack_number(&[], &[self.symbol(main)?])?;
            self.dispatch((shared, main), &Pending::new(), None)?;
        }
        for (number, marking) in self.own.markings.iter().enumerate() {
            self.look(number)?;
            for at in self.free(marking.shared, &marking.pending)? {
                let (stack, rest) = without(&marking.pending, at);
                self.dispatch((marking.shared, stack), &rest, Some(marking))?;
            }
        }
        Ok(())
    }

    /// Which of the pending tasks may be dispatched.
    fn free(&mut self, shared: u32, pending: &Pending) -> Checked<Vec<usize>> {
        if self.own.counted {
            return Ok((0..pending.len()).collect());
        }
        let (mut free, mut certain) = (Vec::new(), false);
        for at in 0..pending.len() {
            let at = if self.order == Order::Lifo { pending.len() - 1 - at } else { at };
            let (may, must) = self.may_go_on(shared, pending[at].0)?;
            free.extend(may.then_some(at));
            certain |= must;
            if must && self.order != Order::Bag {
                break;
            }
        }
        if !certain && !pending.is_empty() {
            self.fail(Goal::Deadlock);
        }
        Ok(free)
    }

    /// Whether a pending task may go on, and whether it can for certain.
    fn may_go_on(&self, shared: u32, stack: u32) -> Checked<(bool, bool)> {
        let top = self.stack(stack).last().ok_or("nobody is pending")?;
        let (frame, values) = (self.frame(*top)?, self.values(shared)?);
        let may = !self.runner.steps(&values, frame, self.tables).is_empty();
        let again = Frame { stage: Stage::Running, ..frame.clone() };
        let yields = |(_, effect): &(_, Effect)| matches!(effect, Effect::Become(next) if next.stage == Stage::Yielded);
        // What a procedure enforces may depend on values that are not known.
        let doubtful = self.runner.enforces_unknown(&values, frame);
        let may_not = frame.stage == Stage::Yielded
            && self.runner.action(frame.procedure, frame.position).is_some_and(Action::may_block)
            && self.runner.steps(&values, &again, self.tables).iter().any(yields);
        Ok((may, may && !may_not && !doubtful))
    }

    /// When a task is dispatched and ends or yields, what is pending then is within a marking.
    fn dispatch(&self, (shared, stack): (u32, u32), rest: &Pending, from: Option<&Marking>) -> Checked {
        let entry = self.entries.get(&(shared, stack)).copied();
        let entry = entry.ok_or("a task is pending whose entry is not listed")?;
        for exit in &*self.left(entry)? {
            let shared = self.tables.shared_number(&exit.shared);
            let own = match exit.way {
                Way::Ended => None,
                Way::Yielded(stack) => Some((self.stack_number(&[], stack)?, 1)),
                Way::Returned(_) => return Err("a task returns to nobody".to_owned()),
            };
            for posted in exit.posted {
                let pending = self.plus(&self.plus(rest, posted), own.as_slice());
                // Often nothing is posted: then less is pending than before.
                let less = |from: &Marking| from.shared == shared && is_within(&pending, &from.pending);
                if !(self.own.counted && from.is_some_and(less)) {
                    self.require_marking(shared, pending)?;
                }
            }
        }
        Ok(())
    }

    /// Whether what was found is within what is listed. Where tasks are not counted, it is the same.
    fn agree(&self, found: &Pending, listed: &Pending) -> bool {
        if self.own.counted { is_within(found, listed) } else { found == listed }
    }

    fn require_marking(&self, shared: u32, pending: Pending) -> Checked {
        let pending = if self.own.counted || self.order != Order::Bag { pending } else { sorted(pending) };
        let found = self
            .markings
            .get(&shared)
            .is_some_and(|markings| markings.listed.contains(&pending) || self.own.counted && markings.cover(&pending));
        if found { Ok(()) } else { Err("what may be pending is within no marking".to_owned()) }
    }

    fn sums(&self, ones: &[Pending], others: &[Pending]) -> Vec<Pending> {
        ones.iter().flat_map(|one| others.iter().map(|other| self.plus(one, other))).collect()
    }

    /// What is pending, and what is posted after it.
    fn plus(&self, one: &[(u32, u32)], other: &[(u32, u32)]) -> Pending {
        let mut sum = one.to_vec();
        for &(stack, count) in other {
            match self.own.counted {
                true => match sum.binary_search_by_key(&stack, |own| own.0) {
                    Ok(at) => sum[at].1 = sum[at].1.saturating_add(count),
                    Err(at) => sum.insert(at, (stack, count)),
                },
                false => match sum.last_mut().filter(|last| last.0 == stack) {
                    Some(last) => last.1 = last.1.saturating_add(count),
                    None => sum.push((stack, count)),
                },
            }
        }
        sum
    }
}

/// One of those at a place, and what is left without it.
fn without(pending: &Pending, at: usize) -> (u32, Pending) {
    let (stack, mut rest) = (pending[at].0, pending.clone());
    match rest[at].1 {
        ANY => {}
        1 => {
            rest.remove(at);
            if at > 0 && at < rest.len() && rest[at - 1].0 == rest[at].0 {
                rest[at - 1].1 = rest[at - 1].1.saturating_add(rest.remove(at).1);
            }
        }
        _ => rest[at].1 -= 1,
    }
    (stack, rest)
}

fn sorted(mut pending: Pending) -> Pending {
    pending.sort_unstable();
    let same = pending.chunk_by(|one, other| one.0 == other.0);
    same.map(|same| (same[0].0, same.iter().fold(0, |sum: u32, own| sum.saturating_add(own.1)))).collect()
}

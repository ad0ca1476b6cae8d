//! The steps of one thread: a statement, and all that follows it without being seen.
//!
//! A step is computed when it is asked for, from the shared row and the topmost frame. A return is complete only with the
//! frame below, and a start or a broadcast with the other threads: what becomes of these is said by [`Outcome`], and put
//! together by whoever knows the whole state ([`system`](super::system)).
//!
//! Three things belong to a statement: what its procedure enforces holds before it; it is executed, in every way; and what
//! the procedure on top enforces holds after it. Each of them may read variables that have no value yet. If it does in some
//! way, such a variable is given each value first.

use rustc_hash::FxHashSet;

use super::code::{Code, Op};
use super::layout::{Head, Stage};
use super::machine::{Choices, Machine, Outcome};
use super::terms::{Term, Var};

/// After how many statements of an atomic section loops are looked for.
const LONG: usize = 64;

/// The bit of the shared row that says whether a thread must not be interrupted.
const HELD: u64 = 1;

/// After how many ways to execute a statement it is asked whether to stop.
const LOOK_EVERY: u32 = 1 << 12;

/// The shared row and the frame of a point of a section.
type Point = (Vec<u64>, Vec<u64>);

impl Code {
    /// Whether a thread must not be interrupted.
    #[inline]
    pub fn is_held(shared: &[u64]) -> bool {
        shared[0] & HELD != 0
    }

    /// Says in a shared row that threads may be interrupted.
    pub fn release(shared: &mut [u64]) {
        shared[0] &= !HELD;
    }

    /// Whether a thread with a frame on top may move, as far as others are concerned.
    #[inline]
    pub fn has_turn(&self, shared: &[u64], head: Head) -> bool {
        head.stage() == Stage::Running && Self::is_held(shared) == self.is_uninterrupted(head)
    }

    /// Whether a frame returns to another one when it goes on.
    pub fn may_return(&self, head: Head) -> bool {
        head.stage() == Stage::Running && !head.is_root() && matches!(self.instruction(head).action, Op::Return(_))
    }

    /// Whether a frame always has a step when it has its turn.
    pub fn never_blocks(&self, head: Head) -> bool {
        let enforced = |procedure: usize| self.procedures[procedure].enforced.is_some();
        !enforced(head.procedure())
            && match &self.instruction(head).action {
                Op::Assume(_) | Op::Take(..) | Op::Assign(_, Some(_)) => false,
                Op::Goto(targets) => !targets.is_empty(),
                Op::Call { procedure, .. } => !enforced(*procedure),
                // The frame below may refuse what is returned.
                Op::Return(_) => head.is_root() || !(0..self.procedures.len()).any(enforced),
                _ => true,
            }
    }

    /// All steps of a thread whose topmost frame is given. What they lead to stands in the machine when `found` is called;
    /// for a return, the values and the frame that is left.
    #[inline]
    pub fn steps(
        &self,
        shared: &[u64],
        frame: &[u64],
        machine: &mut Machine,
        found: &mut dyn FnMut(&mut Machine, Outcome),
    ) {
        let head = Head(frame[0]);
        if !self.has_turn(shared, head) {
            return;
        }
        if self.instruction(head).plain {
            machine.load(shared, frame);
            let outcome = self.execute(machine);
            if outcome == Outcome::Fails {
                machine.shared.copy_from_slice(shared);
            }
            return self.complete(machine, outcome, found);
        }
        self.ways(shared, frame, machine, &mut |machine, outcome| {
            if outcome == Outcome::Fails {
                // Nothing changes, not even what was read for the first time.
                machine.shared.copy_from_slice(shared);
            }
            self.complete(machine, outcome, found);
        });
    }

    /// All ways to execute the statement at a frame, whoever has the turn, and nothing after it.
    pub fn ways(
        &self,
        shared: &[u64],
        frame: &[u64],
        machine: &mut Machine,
        found: &mut dyn FnMut(&mut Machine, Outcome),
    ) {
        machine.load(shared, frame);
        if self.procedures[machine.head().procedure()].enforced.is_none() {
            return self.executed(machine, found);
        }
        self.enforced(machine, &mut |machine| self.executed(machine, found));
    }

    /// All ways to execute the statement at hand, if what is enforced holds afterwards.
    fn executed(&self, machine: &mut Machine, found: &mut dyn FnMut(&mut Machine, Outcome)) {
        let instruction = self.instruction(machine.head());
        if !instruction.chooses {
            let outcome = self.execute(machine);
            return self.allowed(machine, outcome, found);
        }
        let (shared, frame) = (machine.shared.clone(), machine.frame.clone());
        let outer = std::mem::take(&mut machine.choices);
        if let Some(variable) = self.needed(machine, &shared, &frame) {
            for value in 0..u64::from(variable.field.values) {
                machine.load(&shared, &frame);
                machine.put(variable, value);
                self.executed(machine, found);
                if self.loses_patience(machine) {
                    break;
                }
            }
        } else {
            loop {
                machine.load(&shared, &frame);
                let outcome = self.execute(machine);
                self.allowed(machine, outcome, found);
                if !machine.choices.advance() || self.loses_patience(machine) {
                    break;
                }
            }
        }
        machine.choices = outer;
    }

    /// A variable without a value that the statement at a frame reads in some way.
    fn needed(&self, machine: &mut Machine, shared: &[u64], frame: &[u64]) -> Option<Var> {
        let lacks = |variable: &Var| variable.is_unset(shared, frame);
        if !self.instruction(Head(frame[0])).opens.iter().any(lacks) {
            return None;
        }
        loop {
            machine.load(shared, frame);
            self.execute(machine);
            let more = machine.choices.advance();
            if machine.needs.is_some() || !more {
                machine.choices.clear();
                return machine.needs.take();
            }
        }
    }

    /// Whether to stop, which is asked once in a while. Then steps are missing, and whoever asked for them looks.
    pub(super) fn loses_patience(&self, machine: &mut Machine) -> bool {
        machine.executed += 1;
        machine.stopped |= machine.executed.is_multiple_of(LOOK_EVERY) && self.patience.ends();
        machine.stopped
    }

    fn allowed(&self, machine: &mut Machine, outcome: Outcome, found: &mut dyn FnMut(&mut Machine, Outcome)) {
        match outcome {
            Outcome::Blocked => {}
            Outcome::Goes | Outcome::Calls | Outcome::Starts(_) | Outcome::Wakes(..) => {
                self.enforced(machine, &mut |machine| found(machine, outcome));
            }
            Outcome::Returns | Outcome::Ends | Outcome::Fails => found(machine, outcome),
        }
    }

    /// All ways in which what the procedure at hand enforces may hold.
    #[inline]
    fn enforced(&self, machine: &mut Machine, found: &mut dyn FnMut(&mut Machine)) {
        match &self.procedures[machine.head().procedure()].enforced {
            None => found(machine),
            Some(condition) => enforced(condition, machine, found),
        }
    }

    /// Goes on after a statement.
    fn complete(&self, machine: &mut Machine, outcome: Outcome, found: &mut dyn FnMut(&mut Machine, Outcome)) {
        match outcome {
            Outcome::Blocked => {}
            Outcome::Goes | Outcome::Calls | Outcome::Starts(_) | Outcome::Wakes(..) => {
                self.run_on(machine, &mut |machine| found(machine, outcome));
            }
            Outcome::Ends => {
                self.forget(machine);
                Self::release(&mut machine.shared);
                found(machine, outcome);
            }
            Outcome::Returns | Outcome::Fails => {
                self.forget(machine);
                found(machine, outcome);
            }
        }
    }

    /// What a frame that waits makes of a return: the frame and the shared row at hand are those afterwards. If the results
    /// cannot be stored, the frame fails.
    pub fn returns(
        &self,
        shared: &[u64],
        waiting: &[u64],
        results: (&[i64], bool),
        machine: &mut Machine,
        found: &mut dyn FnMut(&mut Machine),
    ) {
        self.comes_back(shared, waiting, results, true, machine, found);
    }

    /// Whether a frame takes what is returned to it, even if it gets nowhere afterwards.
    pub fn accepts(&self, shared: &[u64], waiting: &[u64], results: (&[i64], bool), machine: &mut Machine) -> bool {
        let mut accepted = false;
        self.comes_back(shared, waiting, results, false, machine, &mut |_| accepted = true);
        accepted
    }

    /// What becomes of a frame when a procedure returns to it; if wanted, after steps that nobody sees.
    fn comes_back(
        &self,
        shared: &[u64],
        waiting: &[u64],
        (values, insists): (&[i64], bool),
        runs_on: bool,
        machine: &mut Machine,
        found: &mut dyn FnMut(&mut Machine),
    ) {
        let head = Head(waiting[0]);
        if head.stage() != Stage::Storing || !self.instruction(head).chooses_at_return {
            machine.load(shared, waiting);
            let outcome = self.resume(machine, values, insists);
            return self.resumed(shared, outcome, runs_on, machine, found);
        }
        let outer = std::mem::take(&mut machine.choices);
        if let Some(variable) = self.needed_at_return(shared, waiting, values, machine) {
            for value in 0..u64::from(variable.field.values) {
                machine.load(shared, waiting);
                machine.put(variable, value);
                let (shared, waiting) = (machine.shared.clone(), machine.frame.clone());
                self.comes_back(&shared, &waiting, (values, insists), runs_on, machine, found);
            }
        } else {
            loop {
                machine.load(shared, waiting);
                let outcome = self.resume(machine, values, insists);
                self.resumed(shared, outcome, runs_on, machine, found);
                if !machine.choices.advance() || self.loses_patience(machine) {
                    break;
                }
            }
        }
        machine.choices = outer;
    }

    /// A variable without a value that is read in some way when results are stored.
    fn needed_at_return(&self, shared: &[u64], waiting: &[u64], values: &[i64], machine: &mut Machine) -> Option<Var> {
        loop {
            machine.load(shared, waiting);
            self.resume(machine, values, false);
            let more = machine.choices.advance();
            if machine.needs.is_some() || !more {
                machine.choices.clear();
                return machine.needs.take();
            }
        }
    }

    /// Goes on after results were stored.
    fn resumed(
        &self,
        shared: &[u64],
        outcome: Outcome,
        runs_on: bool,
        machine: &mut Machine,
        found: &mut dyn FnMut(&mut Machine),
    ) {
        if outcome == Outcome::Fails {
            machine.shared.copy_from_slice(shared);
            self.forget(machine);
            return found(machine);
        }
        let outer = std::mem::take(&mut machine.choices);
        self.enforced(machine, &mut |machine| if runs_on { self.run_on(machine, found) } else { found(machine) });
        machine.choices = outer;
    }

    /// What becomes of the first frame of a thread, or of one that is woken: the shared row does not matter.
    pub fn begin(&self, frame: &[u64], machine: &mut Machine, found: &mut dyn FnMut(&mut Machine)) {
        machine.shared.clear();
        machine.shared.resize(self.shared.words, 0);
        machine.frame.clear();
        machine.frame.extend_from_slice(frame);
        self.run_on(machine, found);
    }

    /// Gives values, in every way, to those variables on which it depends whether a thread is blocked at a frame.
    pub fn settle(&self, shared: &[u64], frame: &[u64], found: &mut dyn FnMut(&[u64], &[u64])) {
        let Some(variable) = self.undecided(shared, frame, None, &mut Machine::default()) else {
            return found(shared, frame);
        };
        let (mut shared, mut frame) = (shared.to_vec(), frame.to_vec());
        for value in 0..u64::from(variable.field.values) {
            variable.field.put(if variable.shared { &mut shared } else { &mut frame }, value);
            self.settle(&shared, &frame, found);
        }
    }

    /// A variable without a value on which it depends whether a thread is blocked, with a frame on top and one below it: of
    /// the shared ones that what is enforced below may read, any. What is enforced on top may read all that it mentions; a
    /// statement reads what its values make it read.
    pub fn undecided(&self, shared: &[u64], top: &[u64], below: Option<&[u64]>, machine: &mut Machine) -> Option<Var> {
        let lacks = |variable: &Var| variable.is_unset(shared, top);
        let instruction = self.instruction(Head(top[0]));
        let enforces = instruction.decisive.len() > instruction.opens.len();
        let on_top = instruction.decisive.iter().copied().filter(|_| enforces).find(lacks);
        let below = || below.into_iter().flat_map(|below| self.enforced_opens(Head(below[0])));
        on_top
            .or_else(|| below().find(|variable| variable.shared && lacks(variable)))
            .or_else(|| self.needed(machine, shared, top))
    }

    /// The variables that what the procedure of a frame enforces may read before they have a value.
    pub fn enforced_opens(&self, head: Head) -> Vec<Var> {
        let mut opens = Vec::new();
        let enforced = self.procedures[head.procedure()].enforced.iter();
        enforced.for_each(|condition| condition.opens(&mut opens));
        opens
    }

    /// The same for what the procedure of a frame enforces.
    pub fn settle_enforced(&self, shared: &[u64], frame: &[u64], found: &mut dyn FnMut(&[u64], &[u64])) {
        settle(&self.enforced_opens(Head(frame[0])), &mut shared.to_vec(), &mut frame.to_vec(), found);
    }

    /// Forgets what is not kept of the shared row.
    #[inline]
    fn forget(&self, machine: &mut Machine) {
        machine.shared.iter_mut().zip(&self.shared_mask).for_each(|(word, mask)| *word &= mask);
    }

    /// The thread at hand goes on by itself, as far as nobody can see that.
    pub fn run_on(&self, machine: &mut Machine, found: &mut dyn FnMut(&mut Machine)) {
        for _ in 0..LONG {
            self.forget(machine);
            self.tidy(&mut machine.frame);
            if !self.goes_on(machine) {
                return self.rest(machine, found);
            }
            if self.instruction(machine.head()).chooses {
                break;
            }
            match self.execute(machine) {
                Outcome::Goes => {}
                // In an atomic section nobody sees that it is blocked; elsewhere there is no such thing.
                _ => return,
            }
        }
        self.run_on_all_ways(machine, found);
    }

    fn rest(&self, machine: &mut Machine, found: &mut dyn FnMut(&mut Machine)) {
        let held = u64::from(self.is_uninterrupted(machine.head()));
        machine.shared[0] = machine.shared[0] & !HELD | held;
        found(machine);
    }

    /// The same where there are several ways, or a way may have no end: in an atomic section nobody sees that, elsewhere
    /// there is none.
    fn run_on_all_ways(&self, machine: &mut Machine, found: &mut dyn FnMut(&mut Machine)) {
        let outer = std::mem::take(&mut machine.choices);
        let mut seen: FxHashSet<Point> = FxHashSet::default();
        self.forget(machine);
        self.tidy(&mut machine.frame);
        let mut open = vec![(machine.shared.clone(), machine.frame.clone())];
        while let Some(point) = open.pop() {
            if !seen.insert(point.clone()) {
                continue;
            }
            if self.loses_patience(machine) {
                break;
            }
            machine.load(&point.0, &point.1);
            if !self.goes_on(machine) {
                self.rest(machine, found);
                continue;
            }
            let first = open.len();
            machine.choices = Choices::default();
            self.executed(machine, &mut |machine, outcome| {
                if outcome == Outcome::Goes {
                    self.forget(machine);
                    self.tidy(&mut machine.frame);
                    open.push((machine.shared.clone(), machine.frame.clone()));
                }
            });
            open[first..].reverse();
        }
        machine.choices = outer;
    }
}

/// All ways in which a condition may hold: if it reads a variable that has no value, each value is tried.
fn enforced(condition: &Term, machine: &mut Machine, found: &mut dyn FnMut(&mut Machine)) {
    let outer = std::mem::take(&mut machine.choices);
    machine.needs = None;
    let mut holds = false;
    loop {
        holds |= machine.value(condition) == 1;
        if machine.needs.is_some() || !machine.choices.advance() {
            break;
        }
    }
    machine.choices = outer;
    match machine.needs.take() {
        Some(variable) => {
            let (shared, frame) = (machine.shared.clone(), machine.frame.clone());
            for value in 0..u64::from(variable.field.values) {
                machine.load(&shared, &frame);
                machine.put(variable, value);
                enforced(condition, machine, found);
            }
        }
        None if holds => found(machine),
        None => {}
    }
}

/// Gives values, in every way, to variables that have none yet.
pub(super) fn settle(
    opens: &[Var],
    shared: &mut Vec<u64>,
    frame: &mut Vec<u64>,
    found: &mut dyn FnMut(&[u64], &[u64]),
) {
    let Some((first, rest)) = opens.split_first() else { return found(shared, frame) };
    let field = first.field;
    if !first.is_unset(shared, frame) {
        return settle(rest, shared, frame, found);
    }
    for value in 0..u64::from(field.values) {
        field.put(if first.shared { shared } else { frame }, value);
        settle(rest, shared, frame, found);
    }
    field.put(if first.shared { shared } else { frame }, field.unset);
}

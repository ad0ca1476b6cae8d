//! Several engines side by side; the first answer counts, and it is the same one every time.
//!
//! Wall clocks are not reproducible, so the race is decided on the clock of work: the conclusive engine with the least
//! [`Budget::work`] wins, ties go to the one that was named first. Conclusive is who has decided every property. When an engine has answered with work w, the others
//! may go on only while they have done less than w themselves: whoever is still running then cannot win any more. With
//! one core the runners take turns, so that no one is ever far ahead: the same engines see the same work, and the
//! same one wins.
//!
//! Where no engine is conclusive, what each of them has found out counts: a property that any of them refuted is
//! refuted. Engines that contradict each other show a defect, and none of their answers is given.

use std::cmp::Reverse;
use std::panic::resume_unwind;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::{Budget, Limit, Outcome, Status};

/// How far ahead a runner may get of the slowest other runner when they take turns.
const TURN: u64 = 1 << 16;

#[derive(Debug)]
struct Course {
    runners: Mutex<Vec<Runner>>,
    moved: Condvar,
    take_turns: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Runner {
    work: u64,
    done: bool,
    answered: bool,
}

/// One participant's place in a race.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    course: Arc<Course>,
    index: usize,
}

impl Lane {
    /// Tells the others how much work was done; waits while it is another's turn, unless the run is stopped.
    pub(crate) fn report(&self, work: u64, stopped: impl Fn() -> bool) -> Result<(), Limit> {
        let mut runners = self.runners();
        runners[self.index].work = work;
        self.course.moved.notify_all();
        loop {
            if self.beaten(&runners) {
                return Err(Limit::Outrun);
            }
            if !self.course.take_turns || !self.far_ahead(&runners) || stopped() {
                return Ok(());
            }
            let waited = self.course.moved.wait_timeout(runners, Duration::from_millis(100));
            runners = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn finish(&self, outcome: &Outcome) {
        self.runners()[self.index] = Runner { work: outcome.work, done: true, answered: outcome.conclusive() };
        self.course.moved.notify_all();
    }

    fn runners(&self) -> MutexGuard<'_, Vec<Runner>> {
        self.course.runners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn beaten(&self, runners: &[Runner]) -> bool {
        let mine = (runners[self.index].work, self.index);
        runners.iter().enumerate().any(|(index, runner)| runner.answered && (runner.work, index) < mine)
    }

    fn far_ahead(&self, runners: &[Runner]) -> bool {
        let others = runners.iter().enumerate().filter(|&(index, runner)| index != self.index && !runner.done);
        let mine = (runners[self.index].work / TURN, self.index);
        others.into_iter().any(|(index, runner)| (runner.work / TURN, index) < mine)
    }
}

/// Someone who runs: given a budget, brings back an outcome.
pub struct Entrant<'a> {
    run: Box<dyn FnOnce(&mut Budget) -> Outcome + Send + 'a>,
    after: u64,
}

impl<'a> Entrant<'a> {
    /// An entrant that starts at once.
    pub fn new(run: impl FnOnce(&mut Budget) -> Outcome + Send + 'a) -> Self {
        Self::after(0, run)
    }

    /// An entrant that starts when the others have done so much work, as if it had done as much itself.
    pub fn after(work: u64, run: impl FnOnce(&mut Budget) -> Outcome + Send + 'a) -> Self {
        Self { run: Box::new(run), after: work }
    }
}

/// Runs all entrants and returns the winner's outcome. Without a conclusive one, the first of those that proved
/// something, or else decided the most properties, speaks, and for the others as well. `cores` is how many may run at the
/// same time.
pub fn race(entrants: Vec<Entrant<'_>>, budget: &Budget, cores: usize) -> Option<Outcome> {
    let start = |entrant: &Entrant<'_>| Runner { work: entrant.after, ..Runner::default() };
    let runners = Mutex::new(entrants.iter().map(start).collect());
    let handicaps = entrants.iter().any(|entrant| entrant.after > 0);
    let take_turns = cores < entrants.len() || handicaps;
    let course = Arc::new(Course { runners, moved: Condvar::new(), take_turns });
    let mut outcomes: Vec<Outcome> = std::thread::scope(|scope| {
        let lanes = (0..).map(|index| Lane { course: Arc::clone(&course), index });
        let handles: Vec<_> =
            (entrants.into_iter().zip(lanes)).map(|(run, lane)| scope.spawn(|| run_in(run, lane, budget))).collect();
        let outcomes = handles.into_iter().map(|handle| handle.join().unwrap_or_else(|panic| resume_unwind(panic)));
        outcomes.collect()
    });
    let index = winner(&outcomes)?;
    let first = outcomes.remove(index);
    Some(outcomes.iter().fold(first, Outcome::joined_by))
}

fn run_in(run: Entrant<'_>, lane: Lane, budget: &Budget) -> Outcome {
    let mut budget = budget.in_lane(lane.clone(), run.after);
    let retire = Retire(lane);
    let outcome = (run.run)(&mut budget);
    retire.0.finish(&outcome);
    outcome
}

/// Takes a runner out of the race however it ends, so that nobody waits for one that panicked.
struct Retire(Lane);

impl Drop for Retire {
    fn drop(&mut self) {
        self.0.runners()[self.0.index].done = true;
        self.0.course.moved.notify_all();
    }
}

fn winner(outcomes: &[Outcome]) -> Option<usize> {
    let decided = |outcome: &Outcome| {
        outcome.properties.iter().filter(|property| property.verdict.status() != Status::Unknown).count()
    };
    let conclusive = outcomes.iter().enumerate().filter(|(_, outcome)| outcome.conclusive());
    let first = conclusive.min_by_key(|&(index, outcome)| (outcome.work, index)).map(|(index, _)| index);
    // One certificate is all that an outcome can hold, so whoever has it has to speak.
    let merits = |&index: &usize| (outcomes[index].evidence().is_some(), decided(&outcomes[index]), Reverse(index));
    first.or_else(|| (0..outcomes.len()).max_by_key(merits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PropertyOutcome, Reason, Stop, Verdict};

    /// An entrant that answers after so much work; a conclusive one has nothing left to decide.
    fn entrant(name: &'static str, work: u64, conclusive: bool) -> Entrant<'static> {
        Entrant::new(move |budget| {
            let mut stop = None;
            while budget.work() < work && stop.is_none() {
                stop = budget.spend(100.min(work - budget.work())).err();
            }
            let unknown = |stop: Stop| PropertyOutcome { name: "p".into(), verdict: Verdict::Unknown(stop.into()) };
            let open = stop.or((!conclusive).then(|| Stop::GaveUp("no idea".to_owned())));
            Outcome {
                engine: name,
                resource: "work",
                stored: ["state", "states"],
                properties: open.into_iter().map(unknown).collect(),
                iterations: Vec::new(),
                cutoff: None,
                state_bytes: 0,
                views: Vec::new(),
                violating: Vec::new(),
                obstacles: Vec::new(),
                remarks: Vec::new(),
                work: budget.work(),
            }
        })
    }

    #[test]
    fn less_work_wins_whatever_the_number_of_cores() {
        for cores in [1, 2, 3] {
            let field = || {
                vec![entrant("long", 5_000_000, true), entrant("short", 3_000_000, true), entrant("lost", 1_000, false)]
            };
            for _ in 0..5 {
                assert_eq!(race(field(), &Budget::unlimited(), cores).unwrap().engine, "short", "{cores} cores");
            }
            let tie = vec![entrant("first", 70_000, true), entrant("second", 70_000, true)];
            assert_eq!(race(tie, &Budget::unlimited(), cores).unwrap().engine, "first");
        }
    }

    #[test]
    fn the_outrun_stop_early() {
        let outcome =
            race(vec![entrant("endless", u64::MAX, true), entrant("short", 50, true)], &Budget::unlimited(), 2);
        assert_eq!(outcome.unwrap().engine, "short");
    }

    #[test]
    fn without_an_answer_the_first_speaks() {
        let outcome = race(vec![entrant("a", 9, false), entrant("b", 5, false)], &Budget::unlimited(), 1).unwrap();
        assert_eq!(outcome.engine, "a");
        assert_eq!(outcome.properties[0].verdict, Verdict::Unknown(Reason::GaveUp("no idea".to_owned())));
    }
}

//! Several engines as one.
//!
//! The members of a portfolio explore side by side, each on a thread of its own, and their rounds are handed out one at a
//! time. Wall clocks are not reproducible, so the order of rounds is decided on the clock of work: of all rounds, the one
//! that was finished with the least [`Budget::work`] comes first, and ties go to the member that was named first. A round
//! waits until no other member can finish one with less. So the driver sees the same rounds in the same order every time,
//! on any number of cores, and the member that answers with the least work wins.
//!
//! With fewer cores than members these take turns, so that none is ever far ahead. A member may join later, as if it had
//! done as much work as the others. A member that gives up leaves the rest alone; what it has found is kept.
//!
//! A member whose round asks for nothing (no test is due, no violation is new) goes on at once; otherwise it waits until
//! the driver has dealt with the round. What a portfolio charges its budget after a round is the sum over its members of
//! the lesser of their own work and that of the round.

use std::collections::VecDeque;
use std::mem;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tepui_cert::Trace;

use crate::{Bound, Budget, Engine, Evidence, Facts, Limit, Notes, Round, Stop};

/// How far ahead a member may get of the slowest other one when they take turns.
const TURN: u64 = 1 << 16;

/// An engine with its budget.
type Explorer = (Box<dyn Engine>, Budget);

/// What members share: who is where, and the rounds that are finished.
#[derive(Debug)]
struct Course {
    lanes: Mutex<Lanes>,
    moved: Condvar,
    take_turns: bool,
}

#[derive(Debug)]
struct Lanes {
    lanes: Vec<State>,
    /// Nobody wants to hear of further rounds.
    cancelled: bool,
}

#[derive(Default)]
struct State {
    work: u64,
    running: bool,
    panicked: bool,
    /// Rounds that have not been handed out, and the work after each.
    rounds: VecDeque<(u64, Result<Round, Stop>)>,
    /// The engine, when it waits.
    back: Option<Explorer>,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("work", &self.work).field("running", &self.running).finish_non_exhaustive()
    }
}

impl Course {
    fn lock(&self) -> MutexGuard<'_, Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something has changed, or for a moment.
    fn wait<'a>(&self, lanes: MutexGuard<'a, Lanes>) -> MutexGuard<'a, Lanes> {
        let waited = self.moved.wait_timeout(lanes, Duration::from_millis(100));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// One member's place.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    course: Arc<Course>,
    index: usize,
}

impl Lane {
    /// Tells the others how much work was done; waits while it is another's turn, unless the run is stopped.
    pub(crate) fn report(&self, work: u64, stopped: impl Fn() -> bool) -> Result<(), Limit> {
        let mut lanes = self.course.lock();
        lanes.lanes[self.index].work = work;
        self.course.moved.notify_all();
        loop {
            if lanes.cancelled {
                return Err(Limit::Outrun);
            }
            if !self.course.take_turns || !self.is_far_ahead(&lanes) || stopped() {
                return Ok(());
            }
            lanes = self.course.wait(lanes);
        }
    }

    fn is_far_ahead(&self, lanes: &Lanes) -> bool {
        let others = lanes.lanes.iter().enumerate().filter(|&(index, lane)| index != self.index && lane.running);
        let mine = (lanes.lanes[self.index].work / TURN, self.index);
        others.into_iter().any(|(index, lane)| (lane.work / TURN, index) < mine)
    }
}

/// Explores bound after bound until a round has to be dealt with.
fn explore(lane: &Lane, orders: &Receiver<Explorer>, limit: Option<&[u32]>) {
    let _leave = Leave(lane);
    let mut violated = Vec::new();
    while let Ok((mut engine, mut budget)) = orders.recv() {
        loop {
            // A bound is work, even if there is nothing to do: a member with endless empty bounds must not starve others.
            let result = budget.spend(1).and_then(|()| engine.explore(&mut budget));
            let before = mem::take(&mut violated);
            if let Ok(round) = &result {
                violated.clone_from(&round.violated);
            }
            let asks = |round: &Round| round.asks() || round.violated != before;
            let waits = result.as_ref().map_or(true, asks) || exceeds(engine.next_bound(), limit);
            let work = budget.work();
            let mut lanes = lane.course.lock();
            let waits = waits || lanes.cancelled;
            let own = &mut lanes.lanes[lane.index];
            (own.work, own.running) = (work, !waits);
            own.rounds.push_back((work, result));
            lane.course.moved.notify_all();
            if waits {
                own.back = Some((engine, budget));
                break;
            }
        }
    }
}

fn exceeds(bound: Option<Bound>, limit: Option<&[u32]>) -> bool {
    bound.zip(limit).is_some_and(|(bound, limit)| bound.exceeds(limit))
}

/// Notes that a member has ended, however it does, so that nobody waits for one that panicked.
struct Leave<'a>(&'a Lane);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        let Lane { course, index } = self.0;
        let state = &mut course.lock().lanes[*index];
        (state.running, state.panicked) = (false, std::thread::panicking());
        course.moved.notify_all();
    }
}

/// An engine that takes part, and when it begins.
pub struct Member {
    engine: Box<dyn Engine>,
    after: u64,
    limit: Option<Vec<u32>>,
}

impl Member {
    /// A member that begins at once.
    pub fn new(engine: impl Engine + 'static) -> Self {
        Self::after(0, engine)
    }

    /// A member that begins when the others have done so much work, as if it had done as much itself.
    pub fn after(work: u64, engine: impl Engine + 'static) -> Self {
        Self { engine: Box::new(engine), after: work, limit: None }
    }

    /// The same, which explores no bound that exceeds a limit.
    #[must_use]
    pub fn within(self, limit: Option<Vec<u32>>) -> Self {
        Self { limit, ..self }
    }
}

/// Several engines as one.
pub struct Portfolio {
    members: Vec<Place>,
    course: Arc<Course>,
    /// Whose round was handed out last.
    turn: usize,
    /// Who speaks for all, when all have stopped.
    speaker: Option<usize>,
    charged: u64,
}

/// A member and what is known of it.
struct Place {
    facts: &'static Facts,
    after: u64,
    limit: Option<Vec<u32>>,
    /// The engine, while it is not exploring.
    idle: Option<Box<dyn Engine>>,
    budget: Option<Budget>,
    worker: Option<(Sender<Explorer>, JoinHandle<()>)>,
    stop: Option<Stop>,
}

impl Portfolio {
    /// Members side by side, as one engine; a single one is that engine itself, whose limit is the driver's business.
    /// `cores` is how many may work at the same time.
    pub fn of(members: Vec<Member>, cores: usize) -> Box<dyn Engine> {
        match <[Member; 1]>::try_from(members) {
            Ok([member]) => member.engine,
            Err(members) => Box::new(Self::new(members, cores)),
        }
    }

    fn new(members: Vec<Member>, cores: usize) -> Self {
        assert!(!members.is_empty(), "a portfolio has members");
        let take_turns = cores < members.len() || members.iter().any(|member| member.after > 0);
        let lanes = members.iter().map(|member| State { work: member.after, ..State::default() }).collect();
        let lanes = Mutex::new(Lanes { lanes, cancelled: false });
        let place = |Member { engine, after, limit }: Member| Place {
            facts: engine.facts(),
            after,
            limit,
            idle: Some(engine),
            budget: None,
            worker: None,
            stop: None,
        };
        Self {
            members: members.into_iter().map(place).collect(),
            course: Arc::new(Course { lanes, moved: Condvar::new(), take_turns }),
            turn: 0,
            speaker: None,
            charged: 0,
        }
    }

    fn is_active(&self) -> bool {
        self.members.iter().any(|member| member.stop.is_none())
    }

    /// Sends every member off that has nothing else to do and whose time has come.
    fn dispatch(&mut self, lanes: &mut Lanes, budget: &Budget) {
        for index in 0..self.members.len() {
            let state = &lanes.lanes[index];
            let member = &self.members[index];
            if member.stop.is_some() || member.idle.is_none() || state.running || !state.rounds.is_empty() {
                continue;
            }
            if member.budget.is_none() && !self.is_due(index, lanes) {
                continue;
            }
            let member = &mut self.members[index];
            let limit = member.limit.clone();
            let Some(engine) = member.idle.take() else { continue };
            if exceeds(engine.next_bound(), limit.as_deref()) {
                member.idle = Some(engine);
                member.stop = Some(Stop::Limit(Limit::Bound));
                continue;
            }
            let lane = Lane { course: Arc::clone(&self.course), index };
            let own = member.budget.take().unwrap_or_else(|| budget.in_lane(lane.clone(), member.after));
            let (orders, _) = member.worker.get_or_insert_with(|| {
                let (orders, received) = channel();
                (orders, std::thread::spawn(move || explore(&lane, &received, limit.as_deref())))
            });
            lanes.lanes[index].running = true;
            let _ = orders.send((engine, own)); // It is received unless the member has panicked, which is seen below.
        }
    }

    /// Whether a member that begins later begins now: all others have done as much.
    fn is_due(&self, index: usize, lanes: &Lanes) -> bool {
        let after = self.members[index].after;
        let mut others = self.members.iter().zip(&lanes.lanes).enumerate();
        after == 0
            || others.all(|(other, (member, lane))| other == index || member.stop.is_some() || lane.work >= after)
    }

    /// The member whose round comes next, if that is certain: nobody else can finish one with less work.
    fn next(&self, lanes: &Lanes) -> Option<usize> {
        let front = |index: usize| lanes.lanes[index].rounds.front().map(|(work, _)| (*work, index));
        let (work, index) = (0..self.members.len()).filter_map(front).min()?;
        let can_be_less = |other: usize| {
            let (member, lane) = (&self.members[other], &lanes.lanes[other]);
            let comes = lane.rounds.is_empty() && (lane.running || (member.stop.is_none() && member.worker.is_none()));
            other != index && comes && (lane.work, other) < (work, index)
        };
        (!(0..self.members.len()).any(can_be_less)).then_some(index)
    }

    /// Waits for the round that comes next; none, if no member explores any more.
    fn wait(&mut self, budget: &Budget) -> Option<(u64, Result<Round, Stop>)> {
        let course = Arc::clone(&self.course);
        let mut lanes = course.lock();
        loop {
            self.dispatch(&mut lanes, budget);
            for (member, lane) in self.members.iter_mut().zip(&mut lanes.lanes) {
                if let Some((engine, budget)) = lane.back.take() {
                    (member.idle, member.budget) = (Some(engine), Some(budget));
                }
            }
            if let Some(index) = self.next(&lanes) {
                self.turn = index;
                let next = lanes.lanes[index].rounds.pop_front();
                let work = next.as_ref().map_or(0, |(work, _)| *work);
                let done = |(member, lane): (&Place, &State)| match member.worker {
                    Some(_) => lane.work.min(work).saturating_sub(member.after),
                    None => 0,
                };
                let total: u64 = self.members.iter().zip(&lanes.lanes).map(done).sum();
                return next.map(|(_, result)| (total, result));
            }
            if let Some(index) = lanes.lanes.iter().position(|lane| lane.panicked) {
                drop(lanes);
                self.rethrow(index);
                return None;
            }
            if !lanes.lanes.iter().any(|lane| lane.running) && !self.is_active() {
                return None;
            }
            lanes = course.wait(lanes);
        }
    }

    fn rethrow(&mut self, index: usize) {
        if let Some((orders, thread)) = self.members[index].worker.take() {
            drop(orders);
            if let Err(panic) = thread.join() {
                resume_unwind(panic);
            }
        }
    }

    /// All have stopped: the first speaks for all of them.
    fn over(&mut self) -> Stop {
        self.speaker = Some(0);
        self.members[0].stop.clone().unwrap_or(Stop::Limit(Limit::Bound))
    }

    /// Lets a member do something with its own budget, if it is not exploring.
    fn with<R>(
        &mut self,
        index: usize,
        budget: &mut Budget,
        job: impl FnOnce(&mut dyn Engine, &mut Budget) -> R,
    ) -> Option<R> {
        let member = &mut self.members[index];
        let (engine, own) = (member.idle.as_mut()?, member.budget.as_mut()?);
        self.course.lock().lanes[index].running = true;
        let result = own.with_grace_of(budget, |own| job(&mut **engine, own));
        self.course.lock().lanes[index].running = false;
        self.course.moved.notify_all();
        Some(result)
    }

    fn speaking(&self) -> &Place {
        &self.members[self.speaker.unwrap_or(self.turn)]
    }
}

fn lost<T>() -> Result<T, Stop> {
    Err(Stop::defect("an engine is asked about a round that it has left behind"))
}

impl Engine for Portfolio {
    fn facts(&self) -> &'static Facts {
        let member = self.speaking();
        member.idle.as_ref().map_or(member.facts, |engine| engine.facts())
    }

    fn next_bound(&self) -> Option<Bound> {
        None
    }

    fn explore(&mut self, budget: &mut Budget) -> Result<Round, Stop> {
        self.speaker = None;
        while let Some((total, result)) = self.wait(budget) {
            // What other members have done since may have been charged already.
            let over = budget.spend(total.saturating_sub(self.charged)).err();
            self.charged = self.charged.max(total);
            let stop = match &result {
                Ok(round) => round.stopped.clone(),
                Err(stop) => Some(stop.clone()),
            };
            if stop.is_some() {
                self.members[self.turn].stop = stop;
            }
            let Ok(mut round) = result else { continue };
            if let Some(over) = over.filter(|_| round.stopped.is_none()) {
                (round.stopped, round.test_due) = (Some(over), false);
                return Ok(round);
            }
            round.goes_on = round.stopped.is_some() && self.is_active();
            if round.stopped.is_some() && !round.goes_on {
                round.stopped = Some(self.over());
            }
            return Ok(round);
        }
        Err(self.over())
    }

    fn converged(&mut self, budget: &mut Budget) -> Result<Option<Evidence>, Stop> {
        let answer = self.with(self.turn, budget, |engine, budget| engine.converged(budget));
        match answer.unwrap_or_else(lost) {
            Err(stop) => {
                self.members[self.turn].stop = Some(stop);
                if self.is_active() { Ok(None) } else { Err(self.over()) }
            }
            answer => answer,
        }
    }

    fn proved(&mut self, budget: &mut Budget) -> Result<Option<(Vec<usize>, Evidence)>, Stop> {
        // Who was on turn, and all that have come to their end before: of these the one that proves most.
        let mut most: Option<(usize, (Vec<usize>, Evidence))> = None;
        for index in 0..self.members.len() {
            if index != self.turn && self.members[index].stop.is_none() {
                continue;
            }
            let proved = self.with(index, budget, |engine, budget| engine.proved(budget));
            let Some(Ok(Some(proved))) = proved else { continue };
            if most.as_ref().is_none_or(|(_, known)| known.0.len() < proved.0.len()) {
                most = Some((index, proved));
            }
        }
        self.speaker = most.as_ref().map(|(index, _)| *index).or(self.speaker);
        Ok(most.map(|(_, proved)| proved))
    }

    fn trace(&mut self, property: usize, budget: &mut Budget) -> Result<(Trace, Option<Bound>), Stop> {
        self.with(self.turn, budget, |engine, budget| engine.trace(property, budget)).unwrap_or_else(lost)
    }

    fn views(&self, violating: bool, budget: &mut Budget) -> Vec<String> {
        self.speaking().idle.as_ref().map(|engine| engine.views(violating, budget)).unwrap_or_default()
    }

    /// What the speaker has to tell; and what stands in the way of the others.
    fn notes(&self) -> Notes {
        let mut notes = self.speaking().idle.as_ref().map(|engine| engine.notes()).unwrap_or_default();
        let speaker = self.speaker.unwrap_or(self.turn);
        let others = self.members.iter().enumerate().filter(|&(index, _)| index != speaker);
        let others = others.filter_map(|(_, member)| member.idle.as_ref().filter(|_| member.stop.is_some()));
        notes.obstacles.extend(others.flat_map(|engine| engine.notes().obstacles));
        notes
    }
}

impl Drop for Portfolio {
    fn drop(&mut self) {
        self.course.lock().cancelled = true;
        self.course.moved.notify_all();
        for member in &mut self.members {
            if let Some((orders, thread)) = member.worker.take() {
                drop(orders);
                let _ = thread.join(); // What went wrong there is no longer of interest.
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Query, Reason, Verdict, drive};

    /// An engine that answers after so much work, a thousand a bound; a conclusive one proves everything.
    struct Plodder {
        facts: &'static Facts,
        work: u64,
        conclusive: bool,
        next: u32,
    }

    static LONG: Facts = Facts::new("long", &["steps"]);
    static SHORT: Facts = Facts::new("short", &["steps"]);
    static LOST: Facts = Facts::new("lost", &["steps"]);

    impl Engine for Plodder {
        fn facts(&self) -> &'static Facts {
            self.facts
        }

        fn next_bound(&self) -> Option<Bound> {
            Some(self.facts.bound(&[self.next]))
        }

        fn explore(&mut self, budget: &mut Budget) -> Result<Round, Stop> {
            let mut round = Round::empty(self.facts, self.facts.bound(&[self.next]));
            self.next += 1;
            let (mut left, most) = (self.work.min(100_000), 100);
            self.work -= left;
            while left > 0 && round.stopped.is_none() {
                let part = left.min(most);
                round.stopped = budget.spend(part).err();
                left -= part;
            }
            round.views = u64::from(self.next);
            if self.work == 0 && round.stopped.is_none() {
                round.test_due = self.conclusive;
                round.stopped = (!self.conclusive).then(|| Stop::GaveUp("no idea".to_owned()));
            }
            Ok(round)
        }

        fn converged(&mut self, _: &mut Budget) -> Result<Option<Evidence>, Stop> {
            let certificate = tepui_cert::pushdown::Certificate {
                model: tepui_model::Digest::of(b""),
                properties: Vec::new(),
                lemmas: Vec::new(),
                regular: None,
            };
            Ok(Some(Evidence::new(certificate, "it is done".to_owned(), "plod")))
        }

        fn trace(&mut self, _: usize, _: &mut Budget) -> Result<(Trace, Option<Bound>), Stop> {
            Err(Stop::GaveUp("there is no violation".to_owned()))
        }

        fn views(&self, _: bool, _: &mut Budget) -> Vec<String> {
            Vec::new()
        }
    }

    fn plodder(facts: &'static Facts, work: u64, conclusive: bool) -> Plodder {
        Plodder { facts, work, conclusive, next: 0 }
    }

    fn query() -> Query {
        Query::new(vec!["p".to_owned()])
    }

    #[test]
    fn less_work_wins_whatever_the_number_of_cores() {
        let mut works = Vec::new();
        for cores in [1, 2, 3] {
            for _ in 0..5 {
                let members = vec![
                    Member::new(plodder(&LONG, 5_000_000, true)),
                    Member::new(plodder(&SHORT, 3_000_000, true)),
                    Member::new(plodder(&LOST, 1_000, false)),
                ];
                let mut budget = Budget::unlimited();
                let outcome = drive(&mut *Portfolio::of(members, cores), &query(), &mut budget);
                assert_eq!((outcome.engine, outcome.iterations.len()), (&SHORT, 30), "{cores} cores");
                works.push(outcome.work);
            }
            let tie = vec![Member::new(plodder(&LONG, 70_000, true)), Member::new(plodder(&SHORT, 70_000, true))];
            assert_eq!(drive(&mut *Portfolio::of(tie, cores), &query(), &mut Budget::unlimited()).engine, &LONG);
        }
        // Each bound is one more.
        assert!(works.iter().all(|&work| work == 2 * 3_000_030 + 1_001), "{works:?}");
    }

    #[test]
    fn who_joins_later_is_credited_with_the_work_of_the_others() {
        for (work, winner) in [(3_000_000, &LONG), (1_000_000, &SHORT)] {
            let members = vec![
                Member::new(plodder(&LONG, 4_000_000, true)),
                Member::after(2_000_000, plodder(&SHORT, work, true)),
            ];
            let outcome = drive(&mut *Portfolio::of(members, 2), &query(), &mut Budget::unlimited());
            assert_eq!(outcome.engine, winner);
            assert_eq!(outcome.work, if winner == &LONG { 6_000_080 } else { 4_000_020 });
        }
    }

    #[test]
    fn the_outrun_stop_early() {
        let members = vec![Member::new(plodder(&LONG, u64::MAX, true)), Member::new(plodder(&SHORT, 50, true))];
        let outcome = drive(&mut *Portfolio::of(members, 2), &query(), &mut Budget::unlimited());
        assert_eq!(outcome.engine, &SHORT);
    }

    #[test]
    fn without_an_answer_the_first_speaks() {
        let members = |limit: Option<Vec<u32>>| {
            let both = [plodder(&LONG, 900_000, false), plodder(&LOST, 5_000, false)];
            both.into_iter().map(|engine| Member::new(engine).within(limit.clone())).collect()
        };
        let outcome = drive(&mut *Portfolio::of(members(None), 1), &query(), &mut Budget::unlimited());
        assert_eq!(outcome.engine, &LONG);
        assert_eq!(outcome.properties[0].verdict, Verdict::Unknown(Reason::GaveUp("no idea".to_owned())));
        let bounded = drive(&mut *Portfolio::of(members(Some(vec![3])), 1), &query(), &mut Budget::unlimited());
        assert_eq!(bounded.properties[0].verdict, Verdict::Unknown(Reason::Limit(Limit::Bound)));
        assert_eq!((bounded.engine, bounded.iterations.len()), (&LONG, 4));
    }

    #[test]
    fn a_limit_on_work_ends_all_of_them() {
        for cores in [1, 2] {
            let members =
                vec![Member::new(plodder(&LONG, u64::MAX, true)), Member::new(plodder(&SHORT, u64::MAX, true))];
            let mut budget = Budget::unlimited().with_work(1_000_000);
            let outcome = drive(&mut *Portfolio::of(members, cores), &query(), &mut budget);
            assert_eq!(outcome.properties[0].verdict, Verdict::Unknown(Reason::Limit(Limit::Work)));
            assert_eq!((outcome.work, outcome.iterations.len()), (1_000_010, 5));
        }
    }
}

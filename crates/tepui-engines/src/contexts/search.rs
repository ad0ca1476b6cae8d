//! The search for `R_k`, level by level, whatever a thread's local state is.
//!
//! `R_k` holds the states reachable with at most k contexts, a context being consecutive steps of one thread. So
//! `R_(k+1)` adds to `R_k` what one thread after the other reaches, alone, from the states that are new in `R_k`.
//!
//! Levels must be exact, and equality of states is not enough for that: a state that two threads reach in the same
//! level can be continued by either of them without a new context. Therefore each state of the level under
//! construction has a bit for each thread that reached it within the level, and each of these threads runs on from
//! it. From a finished level, the threads whose bits are set need not run again: what they reach is there already.
//!
//! A level is found in waves: all threads take a step (or, where locals are sets of stacks, a whole context) from all
//! states at hand, and those that got somewhere for the first time in this level run on in the next wave.
//!
//! Where threads are interchangeable, a bit belongs to a place in the ordered row, the first one among equal locals:
//! a thread with the same local as the one that ran would only repeat, one context later, what that one can do.

use tepui_core::{Budget, Stop};

use crate::bits::Bits;
use crate::explorer::{Explorer, Visitor, WORTH_OBSERVING, add_rows};
use crate::ids::{Id, StateId, ThreadId, Threads, ViewId};
use crate::packed::PackedSet;
use crate::pushdown::compiled::Compiled;
use crate::pushdown::system::Locals;
use crate::pushdown::top_views::TopViews;
use crate::symmetry::Symmetry;
use crate::system::Observed;
use crate::workers::Workers;

/// The most views that are compared with the properties before limits are looked at.
const COUNTED_AT_ONCE: usize = 1 << 14;

/// States whose threads run at the same time; more would only need more memory for their jobs.
const SEEDS_AT_ONCE: usize = 1 << 16;

/// How a state came about: the state before, and the place of the thread whose context it was. Kept for whole
/// contexts only.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// The state before.
    pub parent: StateId,
    /// The place of the thread that ran.
    pub thread: ThreadId,
}

/// A violated property: where it was found first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The level.
    pub level: usize,
    /// The number of the view.
    pub view: ViewId,
}

/// The levels found so far.
pub struct Search<S: Observed> {
    /// The states, in the order in which they were found.
    pub explorer: Explorer<S>,
    /// The views of all states.
    pub views: PackedSet<ViewId>,
    /// How many views there are, permutations of interchangeable threads counted.
    pub view_count: u64,
    /// Links to earlier states, where contexts are whole.
    pub links: Vec<Link>,
    /// For each property, the first violation.
    pub violations: Vec<Option<Violation>>,
    /// How many states there were before each level.
    starts: Vec<usize>,
    reached_by: Bits,
    /// How many states have had their views noted.
    observed: usize,
    /// How many views have been counted, and compared with the properties.
    counted: usize,
}

/// A thread that runs from a state.
type Run = (StateId, ThreadId);

/// What a run reached, and where it came from.
#[derive(Clone, Copy)]
struct Reached {
    state: StateId,
    place: ThreadId,
    from: Run,
}

/// The level under construction.
struct Level {
    reached_by: Bits,
}

impl Visitor for Level {
    type Job = Run;
    type Found = Vec<Reached>;

    fn job(&self, &(state, thread): &Run) -> (StateId, Threads) {
        (state, Threads::one(thread))
    }

    fn grown(&mut self, states: usize) {
        self.reached_by.grow(states);
    }

    fn image(&self, &from: &Run, state: StateId, place: ThreadId, found: &mut Vec<Reached>) {
        if state >= self.reached_by.first() && self.reached_by.set(state, place) {
            found.push(Reached { state, place, from });
        }
    }

    fn done(&self, _: &Run, _: bool, _: &mut Vec<Reached>) {}
}

impl<S: Observed> Search<S> {
    /// A search that has found nothing yet.
    pub fn new(system: S, workers: Workers) -> Self {
        Self {
            views: PackedSet::new(system.view_fields()),
            view_count: 0,
            links: vec![Link { parent: StateId::INITIAL, thread: ThreadId(0) }],
            violations: vec![None; system.properties()],
            starts: Vec::new(),
            reached_by: Bits::new(system.threads(), StateId::INITIAL),
            observed: 0,
            counted: 0,
            explorer: Explorer::new(system, workers),
        }
    }

    /// Finds the next level, the first of which is the initial state.
    pub fn next_level(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        let stopped = self.find_level(budget).and_then(|()| self.observe(budget));
        if stopped.is_err() {
            // A violation may be among what was found last.
            let _ = budget.with_grace(|budget| self.observe(budget));
        }
        stopped
    }

    fn find_level(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        let Some(&start) = self.starts.last() else {
            self.starts.push(0);
            self.explorer.start(budget)?;
            let mut level = Level { reached_by: Bits::new(self.threads(), StateId::INITIAL) };
            level.grown(1);
            self.reached_by = level.reached_by;
            return Ok(());
        };
        let seeds: Vec<_> = self.explorer.states.ids_from(start).collect();
        let first = self.len();
        self.starts.push(first);
        let mut level = Level { reached_by: Bits::new(self.threads(), StateId::new(first as u32)) };
        for seeds in seeds.chunks(SEEDS_AT_ONCE) {
            let mut runs = self.runs_from(seeds);
            while !runs.is_empty() {
                let mut reached = Vec::new();
                let stopped = self.explorer.run(&runs, &mut level, &mut reached, budget);
                runs = self.run_on(reached);
                stopped?;
                if self.len() - self.observed >= WORTH_OBSERVING {
                    self.observe(budget)?;
                }
                budget.progress(self.level() as u32, self.len() as u64, self.view_count);
            }
        }
        self.reached_by = level.reached_by;
        Ok(())
    }

    fn threads(&self) -> usize {
        self.explorer.system.threads()
    }

    /// The number of states.
    pub fn len(&self) -> usize {
        self.explorer.states.len()
    }

    /// Whether there is no state, which is never the case.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of the last level; before the first one it is that as well.
    pub fn level(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// How many levels have been begun.
    pub fn levels(&self) -> usize {
        self.starts.len()
    }

    /// The level of a state.
    pub(crate) fn level_of(&self, state: StateId) -> usize {
        self.starts.partition_point(|&start| start <= state.index()) - 1
    }

    /// The states of a level.
    pub(crate) fn states_of(&self, level: usize) -> impl Iterator<Item = StateId> + use<S> {
        let (start, end) = (self.starts[level], self.starts.get(level + 1).copied().unwrap_or(self.len()));
        self.explorer.states.ids_from(start).take(end - start)
    }

    /// Whether the last level is empty, so that all later ones would be as well.
    pub fn exhausted(&self) -> bool {
        self.starts.last().is_some_and(|&start| start == self.len())
    }

    /// For each property, whether it is violated.
    pub fn violated(&self) -> Vec<bool> {
        self.violations.iter().map(Option::is_some).collect()
    }

    /// Bytes held for states and views.
    pub fn bytes(&self) -> u64 {
        let links = self.links.len() * size_of::<Link>();
        self.explorer.states.bytes() + self.views.bytes() + self.explorer.system.bytes() + links as u64
    }

    /// The threads that may run from states of the last level; those that reached a state there have done so.
    fn runs_from(&self, seeds: &[StateId]) -> Vec<Run> {
        let threads = Threads::all(self.threads());
        let runs = self.explorer.workers.cut(seeds, |seeds| {
            let runs = seeds.iter().flat_map(|&seed| threads.clone().map(move |thread| (seed, thread)));
            runs.filter(|&(seed, thread)| !self.reached_by.has(seed, thread)).collect::<Vec<_>>()
        });
        runs.concat()
    }

    /// The next wave: in the order of the states, which is the same whoever reached them first.
    fn run_on(&mut self, reached: Vec<Vec<Reached>>) -> Vec<Run> {
        if S::SUBSUMES {
            for &Reached { state, from: (parent, thread), .. } in reached.iter().flatten() {
                if state.index() == self.links.len() {
                    self.links.push(Link { parent, thread });
                }
            }
            return Vec::new();
        }
        let workers = &self.explorer.workers;
        let runs = workers.map(reached, |part| part.iter().map(|reached| (reached.state, reached.place)).collect());
        let key = |&(state, thread): &Run| u64::from(state.0) << 16 | u64::from(thread.0);
        workers.sorted(runs, key, |one, other| one == other)
    }

    /// Notes the views of all states, and looks for violations. If it has to stop, it can be asked to go on.
    fn observe(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        let before = self.observed;
        let noted = self.note_views(budget);
        while self.counted < self.views.len() {
            self.count_views();
            budget.pass(COUNTED_AT_ONCE as u64)?;
        }
        noted?;
        budget.spend((self.observed - before) as u64)
    }

    fn note_views(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        self.explorer.system.prepare(budget)?;
        let Explorer { system, states, workers, .. } = &self.explorer;
        let which: Vec<_> = states.ids_from(self.observed).collect();
        if S::SUBSUMES {
            let mut row = vec![0; states.width()];
            for state in which {
                states.get(state, &mut row);
                system.add_views(&row, &mut self.views, budget)?;
                self.observed += 1;
            }
            return Ok(());
        }
        let (noted, stopped) =
            add_rows(states, &which, &mut self.views, workers, budget, |row, view| system.view(row, view));
        self.observed += noted;
        stopped
    }

    /// Counts some of the views that were noted, and compares them with the properties.
    fn count_views(&mut self) {
        let Explorer { system, workers, .. } = &self.explorer;
        let new: Vec<_> = self.views.ids_from(self.counted).take(COUNTED_AT_ONCE).collect();
        let parts = workers.cut(&new, |chunk| {
            let (mut count, mut violations) = (0_u64, self.violations.clone());
            let mut view = vec![0; self.views.width()];
            for &id in chunk {
                self.views.get(id, &mut view);
                count = count.saturating_add(system.orbit(&view));
                if !system.may_violate(&view) {
                    continue;
                }
                for (property, violation) in violations.iter_mut().enumerate() {
                    if violation.is_none() && system.violates(property, &view) {
                        *violation = Some(Violation { level: self.starts.len() - 1, view: id });
                    }
                }
            }
            (count, violations)
        });
        self.counted += new.len();
        for (count, violations) in parts {
            self.view_count = self.view_count.saturating_add(count);
            self.violations.iter_mut().zip(violations).for_each(|(known, new)| *known = known.or(new));
        }
    }
}

impl<L: Locals> Search<TopViews<L>> {
    /// The model.
    pub fn compiled(&self) -> &Compiled {
        &self.explorer.system.system.compiled
    }

    /// The locals.
    pub fn locals(&self) -> &L {
        &self.explorer.system.system.locals
    }

    /// Which threads are interchangeable.
    pub fn symmetry(&self) -> &Symmetry {
        &self.explorer.system.system.symmetry
    }
}

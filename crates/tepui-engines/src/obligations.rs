//! What a proof still owes at one level of views.
//!
//! Let A be the views of the states reached. A is closed if every step from a view of A leads to a view of A, where a step
//! that does not respect views may lead to all that the [`Abstraction`] allows for. Then A holds all views, because the
//! states were reached, and no others, because A is inductive.
//!
//! Steps that respect views lead from equal views to equal views. So if, for each view of A, one state that shows it has
//! been expanded, their results are in A, and nothing has to be done for them. What has to be looked after is what the
//! others may lead to: each such view is an *obligation*, and it is met when a state that shows it is reached; those that
//! are not met yet are counted. What a view owes may depend on facts that are learned later, from other views. So a view is
//! looked at once, and once more for each later fact whose key it watches (`watchers`). Scanning all
//! views again for each fact would be quadratic, and looking at a view only once would be wrong.

use tepui_core::{Budget, Stop};

use crate::abstraction::{Abstraction, Describe};
use crate::explored::Explored;
use crate::explorer::number_rows;
use crate::ids::{DebtId, Id, StateId, ThreadId, ViewId};
use crate::packed::{Batch, PackedSet};
use crate::system::System;
use crate::watchers::Watchers;
use crate::workers::Workers;

/// The obligations of one level.
pub struct Obligations<S: System, A: Abstraction<S>> {
    abstraction: A,
    /// The views reached.
    pub views: PackedSet<ViewId>,
    /// How many of them have been compared with what is owed.
    compared: usize,
    watchers: Watchers,
    /// All views that were ever owed, and for each where it came from.
    owed: PackedSet<DebtId>,
    debts: Vec<Debt<A::Why>>,
    open: usize,
    /// For each view, how many of its obligations are not met; may end before the last view.
    open_by_view: Vec<u32>,
    /// Views that are shown by no state that has been expanded.
    unexpanded: usize,
    /// Which threads are explored at views, where not all are.
    pub(crate) explored: Explored,
    /// Whether some thread may be ignored because others are explored all the time.
    pub(crate) may_ignore: bool,
}

/// How many views are looked up together.
const GROUP: usize = 64;
/// The most views that are looked at before what was found is put into lists.
const VIEWS_AT_ONCE: usize = 1 << 15;

/// An obligation: the view that owes it, and why.
#[derive(Clone, Copy)]
struct Debt<W> {
    view: ViewId,
    why: W,
    met: bool,
}

/// What the views of some chunk of work owe that is not there.
struct Demand<W> {
    batch: Batch,
    /// For each row of the batch, the view that owes it, and why.
    origins: Vec<(ViewId, W)>,
}

impl<W> Default for Demand<W> {
    fn default() -> Self {
        Self { batch: Batch::default(), origins: Vec::new() }
    }
}

/// Views that steps may lead to, one row after the other.
pub struct Targets<W> {
    rows: Vec<u32>,
    /// For each row, the view that owes it, and why.
    origins: Vec<(ViewId, W)>,
    /// Empty, except while the rows are looked up.
    batch: Batch,
    /// The view that is being looked at.
    view: ViewId,
}

impl<W> Targets<W> {
    fn new() -> Self {
        Self { rows: Vec::new(), origins: Vec::new(), batch: Batch::default(), view: ViewId(0) }
    }

    /// Adds a copy of a view, which the caller changes to what is owed.
    #[inline]
    pub fn add(&mut self, view: &[u32], why: W) -> &mut [u32] {
        let start = self.rows.len();
        debug_assert_eq!(start, self.origins.len() * view.len(), "one origin for each row");
        self.rows.extend_from_slice(view);
        self.origins.push((self.view, why));
        &mut self.rows[start..]
    }
}

impl<S: System, A: Abstraction<S>> Obligations<S, A> {
    /// No views yet.
    pub fn new(system: &S, level: usize) -> Self {
        Self::of(system, A::new(system, level))
    }

    /// No views yet, but it is known what they are.
    pub fn of(system: &S, abstraction: A) -> Self {
        let views = PackedSet::new(abstraction.fields(system));
        Self::with_views(system, abstraction, views)
    }

    /// Views of which nothing is known to be owed.
    pub(crate) fn with_views(system: &S, abstraction: A, views: PackedSet<ViewId>) -> Self {
        Self {
            views,
            compared: 0,
            watchers: Watchers::default(),
            owed: PackedSet::new(abstraction.fields(system)),
            debts: Vec::new(),
            open: 0,
            open_by_view: Vec::new(),
            unexpanded: 0,
            explored: Explored::default(),
            may_ignore: system.reduces(),
            abstraction,
        }
    }

    /// The views, what they are and what is explored there, without what is owed.
    pub(crate) fn into_views(self) -> (A, PackedSet<ViewId>, Explored) {
        (self.abstraction, self.views, self.explored)
    }

    /// What views are.
    pub fn abstraction(&self) -> &A {
        &self.abstraction
    }

    /// How many obligations are not met.
    pub fn open(&self) -> usize {
        self.open
    }

    /// Whether the views are closed: every obligation is met, a state of each view has been expanded, and nobody is ignored.
    pub fn closed(&self) -> bool {
        self.is_complete() && !self.may_ignore
    }

    /// Whether the views are closed, unless somebody is ignored.
    pub(crate) fn is_complete(&self) -> bool {
        self.open == 0 && self.unexpanded == 0
    }

    /// Whether a view has obligations that are not met.
    pub fn owes(&self, view: ViewId) -> bool {
        self.open_by_view.get(view.index()).is_some_and(|&open| open > 0)
    }

    /// So many states that show new views will be expanded, one for each.
    pub(crate) fn will_expand(&mut self, count: usize) {
        self.unexpanded += count;
    }

    /// So many states that were the first to show some view have been expanded.
    pub(crate) fn has_expanded(&mut self, count: usize) {
        debug_assert!(count <= self.unexpanded, "a state is the first of its view once");
        self.unexpanded -= count;
    }

    /// Interns what the views of all states need that the system has interned.
    pub fn prepare(&mut self, system: &S, budget: &mut Budget) -> Result<(), Stop> {
        self.abstraction.prepare(system, budget)
    }

    /// Adds the views of states; returns the number of each one's view.
    pub fn add(
        &mut self,
        system: &S,
        states: &PackedSet<StateId>,
        which: &[StateId],
        workers: &Workers,
        budget: &mut Budget,
    ) -> Result<Vec<ViewId>, Stop> {
        self.prepare(system, budget)?;
        let abstraction = &self.abstraction;
        number_rows(states, which, &mut self.views, workers, budget, |row, view| abstraction.view(system, row, view))
    }

    /// Works out what views owe, given by their numbers, each once. It is best asked when a state that shows the view has
    /// been expanded: then most of what its steps may lead to has been reached already.
    pub(crate) fn look_at(
        &mut self,
        views: &[ViewId],
        system: &mut S,
        workers: &Workers,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        // New views can meet obligations that are older than they are. While nothing is open, that costs nothing.
        if self.open > 0 {
            let new: Vec<_> = self.views.ids_from(self.compared).collect();
            for new in new.chunks(VIEWS_AT_ONCE) {
                let met = workers.cut(new, |chunk| self.owed_among(chunk));
                met.into_iter().flatten().for_each(|debt| self.meet(debt));
                budget.pass(new.len() as u64)?;
            }
        }
        self.compared = self.views.len();
        for views in views.chunks(VIEWS_AT_ONCE) {
            self.abstraction.learn(system, &self.views, views, &self.explored, workers, budget)?;
            // The views at hand are looked at under all facts; those before them have to be found again for the new ones.
            loop {
                while let Some(fact) = self.abstraction.next_fact() {
                    self.look_again(fact, system, workers, budget)?;
                }
                self.abstraction.resolve(system, &self.views, views, &self.explored, workers, budget)?;
                match self.abstraction.next_fact() {
                    Some(fact) => self.look_again(fact, system, workers, budget)?,
                    None => break,
                }
            }
            let (known, this) = (&*system, &*self);
            let demands = workers.cut(views, |chunk| {
                let mut demand = this.demands(chunk, known);
                this.owed.seal(&mut demand.batch, workers);
                demand
            });
            budget.spend(views.len() as u64)?;
            self.watchers.add(views.to_vec());
            self.owe(demands, workers);
        }
        Ok(())
    }

    /// Looks again at the views that watch the key of a fact.
    fn look_again(
        &mut self,
        fact: A::Fact,
        system: &mut S,
        workers: &Workers,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let (key, abstraction, explored) = (A::key(fact), &self.abstraction, &self.explored);
        let watches = |id: ViewId, view: &[u32], keys: &mut Vec<_>| {
            abstraction.watches(system, view, explored.at(id.index()), keys);
        };
        let watching = self.watchers.take(key, &self.views, budget, watches)?;
        budget.spend(1)?;
        let mut row = vec![0; self.views.width()];
        for views in watching.chunks(VIEWS_AT_ONCE) {
            self.abstraction.resolve(system, &self.views, views, &self.explored, workers, budget)?;
            let (mut targets, mut demand) = (Targets::new(), Demand::default());
            for &view in views {
                self.views.get(view, &mut row);
                targets.view = view;
                self.abstraction.owed_for(system, fact, &row, self.explored.at(view.index()), &mut targets);
            }
            budget.spend(targets.origins.len() as u64)?;
            self.demand(&mut targets, &mut demand);
            self.owe(vec![demand], workers);
        }
        self.watchers.put_back(key, watching);
        Ok(())
    }

    /// The obligations that some views meet.
    fn owed_among(&self, views: &[ViewId]) -> Vec<DebtId> {
        let (mut row, mut batch) = (vec![0; self.views.width()], Batch::default());
        for &view in views {
            self.views.get(view, &mut row);
            self.owed.pack(&row, &mut batch);
        }
        self.owed.find_all(&batch).flatten().collect()
    }

    /// What some views demand: views that steps from them may lead to and that are not there.
    fn demands(&self, views: &[ViewId], system: &S) -> Demand<A::Why> {
        let (mut row, mut demand, mut targets) = (vec![0; self.views.width()], Demand::default(), Targets::new());
        // Targets are looked up by the group: the accesses to the set overlap, and its rows stay within the caches.
        for group in views.chunks(GROUP) {
            for &view in group {
                self.views.get(view, &mut row);
                targets.view = view;
                self.abstraction.owed(system, &row, self.explored.at(view.index()), &mut targets);
            }
            self.demand(&mut targets, &mut demand);
        }
        demand
    }

    /// The views that a view owes for a thread, as far as they are there.
    pub(crate) fn owed_at(&self, system: &S, view: ViewId, thread: ThreadId) -> Vec<ViewId> {
        let (mut row, mut targets) = (vec![0; self.views.width()], Targets::new());
        self.views.get(view, &mut row);
        self.abstraction.owed(system, &row, Some(&[thread]), &mut targets);
        targets.rows.chunks_exact(row.len()).for_each(|row| self.views.pack(row, &mut targets.batch));
        self.views.find_all(&targets.batch).flatten().collect()
    }

    /// Demands the targets that are not there, and forgets all of them.
    fn demand(&self, targets: &mut Targets<A::Why>, demand: &mut Demand<A::Why>) {
        let rows = targets.rows.chunks_exact(self.views.width());
        rows.clone().for_each(|row| self.views.pack(row, &mut targets.batch));
        for ((row, &origin), number) in rows.zip(&targets.origins).zip(self.views.find_all(&targets.batch)) {
            if number.is_none() {
                self.owed.pack(row, &mut demand.batch);
                demand.origins.push(origin);
            }
        }
        targets.rows.clear();
        targets.origins.clear();
        targets.batch.clear();
    }

    /// Notes views that are not there as owed.
    fn owe(&mut self, demands: Vec<Demand<A::Why>>, workers: &Workers) {
        let (batches, origins): (Vec<_>, Vec<_>) =
            demands.into_iter().map(|demand| (demand.batch, demand.origins)).unzip();
        let numbers = self.owed.insert_all(batches, workers);
        if self.owed.len() > self.debts.len() {
            self.open_by_view.resize(self.views.len(), 0);
        }
        for (debt, (view, why)) in numbers.into_iter().flatten().zip(origins.into_iter().flatten()) {
            // Owed rows are numbered in the order of their origins, so the first origin of each is the one that is kept.
            if debt.index() == self.debts.len() {
                self.debts.push(Debt { view, why, met: false });
                self.open_by_view[view.index()] += 1;
                self.open += 1;
            }
        }
        debug_assert_eq!(self.owed.len(), self.debts.len(), "each owed view has one debt");
        debug_assert!(self.open <= self.debts.len());
    }

    fn meet(&mut self, debt: DebtId) {
        let debt = &mut self.debts[debt.index()];
        if !std::mem::replace(&mut debt.met, true) {
            debug_assert!(self.open_by_view[debt.view.index()] > 0, "an open debt is counted for its view");
            self.open -= 1;
            self.open_by_view[debt.view.index()] -= 1;
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        self.views.bytes()
            + self.owed.bytes()
            + self.abstraction.bytes()
            + (self.watchers.bytes() + self.debts.len() * 16 + self.open_by_view.len() * 4) as u64
            + self.explored.bytes() as u64
    }

    /// Some obligations that are not met, in words.
    pub fn explain(&self, system: &S, most: usize) -> Vec<String>
    where
        A: Describe<S>,
    {
        let mut row = vec![0; self.views.width()];
        let unmet = self.debts.iter().filter(|debt| !debt.met).take(most);
        let explain = |debt: &Debt<A::Why>| {
            self.views.get(debt.view, &mut row);
            self.abstraction.explain(system, &row, debt.why)
        };
        unmet.map(explain).collect()
    }
}

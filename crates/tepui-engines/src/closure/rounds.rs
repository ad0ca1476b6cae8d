//! Rounds of a search in which some threads wait: whether somebody is ignored, and who has to be explored then.
//!
//! Where views are states, it is the states that are looked at, when nothing is left to expand ([`Reduced`]). Otherwise it is
//! the views of a level: that of the stage, when nothing is left to expand, and each at which nothing is owed any more. The
//! first state that was expanded of those that show a view stands for it, and what is explored there is explored at the view.
//!
//! *Nothing is lost.* Let a state be stored that can get to a violation, and let m be a stage with more symbols in view than
//! any stack has on the way. The proof that no violation is hidden (in the checker, for closed sets) moves threads that do
//! not take part in the rest of the way; their stacks may grow out of sight, those of the others do not. So the state that
//! stands for a view takes the place of any other that shows it, and the violation is found by the end of the stage.

use tepui_core::{Budget, Stop};

use super::heeded::{Heeded, Node, alike, first_ignored};
use super::reduced::{Follow, Job, Mark, Reduced};
use super::search::Search;
use crate::abstraction::{Abstraction, Way};
use crate::explorer::Explorer;
use crate::ids::{Id, StateId, ThreadId, ViewId};
use crate::system::System;

/// The states that stand for the views of a level.
#[derive(Default)]
pub(super) struct Representatives {
    /// For each view its state; those without one have not been expanded.
    of_view: Vec<Option<StateId>>,
    /// For each state its view; may end before the last state.
    of_state: Vec<ViewId>,
    /// What was known of the future of threads when sets were last completed.
    futures: usize,
}

impl Representatives {
    fn of(&self, view: ViewId) -> Option<StateId> {
        self.of_view.get(view.index()).copied().flatten()
    }
}

impl<S: System, A: Abstraction<S>> Search<S, A> {
    /// Where only some threads are explored: explores more of them where that has to be, at some level; `over` says whether
    /// nothing is left to expand. Says whether there was something to do, or views are closed that were not.
    pub(super) fn begin_round(&mut self, over: bool, budget: &mut Budget) -> Result<bool, Stop> {
        for index in 0..self.levels.len() {
            let complete = self.levels[index].is_complete();
            let ends = over && index + 1 == self.levels.len();
            if !self.levels[index].may_ignore || !(complete || ends) {
                continue;
            }
            let jobs = match self.exact {
                true => self.reduced.as_mut().map(|reduced| reduced.round(&self.explorer)).unwrap_or_default(),
                false => self.round(index, budget)?,
            };
            budget.pass(self.explorer.states.len() as u64)?;
            if !jobs.is_empty() {
                self.explore_more(&jobs, budget)?;
                return Ok(true);
            }
            if complete {
                self.levels[index].may_ignore = false;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Lets nobody wait any more, where views are states and hardly anybody does.
    pub(super) fn give_up_waiting(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        let futile = self.reduced.as_ref().filter(|reduced| self.exact && reduced.is_futile());
        let Some(jobs) = futile.map(|reduced| reduced.left_out(&self.explorer)) else { return Ok(()) };
        let before = self.explorer.states.len();
        let stopped = self.follow(&jobs, budget);
        self.take_in(before, stopped, budget)?;
        (self.reduced, self.is_reduced) = (None, false);
        self.levels.iter_mut().for_each(|level| level.may_ignore = false);
        Ok(())
    }

    /// Explores threads at states.
    pub(super) fn follow(&mut self, jobs: &[Job], budget: &mut Budget) -> Result<(), Stop> {
        let mut found = Vec::new();
        let stopped = self.explorer.run(jobs, &mut Follow, &mut found, budget);
        if let Some(reduced) = &mut self.reduced {
            reduced.note(&self.explorer, !self.exact, found.into_iter().flatten());
            self.is_reduced |= reduced.waits;
        }
        stopped
    }

    /// Explores more threads at states that have been expanded.
    fn explore_more(&mut self, jobs: &[Job], budget: &mut Budget) -> Result<(), Stop> {
        let before = self.explorer.states.len();
        let stopped = self.follow(jobs, budget);
        self.take_in(before, stopped, budget)?;
        let mut states: Vec<_> = jobs.iter().map(|job| job.0).collect();
        states.sort_unstable();
        states.dedup();
        let levels = if self.exact { 0 } else { self.levels.len() };
        for index in 0..levels {
            let Explorer { system, states: all, workers, .. } = &self.explorer;
            let views = self.levels[index].add(system, all, &states, workers, budget)?;
            let own = views.into_iter().zip(&states);
            let own = own.filter(|&(view, &state)| self.representatives[index].of(view) == Some(state));
            let (views, states): (Vec<_>, Vec<_>) = own.unzip();
            self.represent(index, &views, &states);
            let Explorer { system, workers, .. } = &mut self.explorer;
            self.levels[index].look_at(&views, system, workers, budget)?;
        }
        Ok(())
    }

    /// From now on, states stand for views; what is explored there is explored at the views.
    pub(super) fn represent(&mut self, index: usize, views: &[ViewId], states: &[StateId]) {
        let Some(reduced) = &self.reduced else { return };
        self.representatives.resize_with(self.levels.len(), Representatives::default);
        let (level, known, system) = (&mut self.levels[index], &mut self.representatives[index], &self.explorer.system);
        let mut shown = vec![0; level.views.width()];
        for (&view, &state) in views.iter().zip(states) {
            known.of_view.resize(known.of_view.len().max(view.index() + 1), None);
            known.of_view[view.index()] = Some(state);
            let explored = reduced.explored.at(state.index()).map(|explored| {
                level.views.get(view, &mut shown);
                let row = self.explorer.row(state);
                let mut places: Vec<ThreadId> = Vec::new();
                for &thread in explored {
                    let local = level.abstraction().shown_of(system, &row, thread);
                    let mut alike = alike(system, &thread).iter();
                    places.extend(alike.find(|place| shown[place.field()] == local && !places.contains(place)));
                }
                places.sort_unstable();
                places
            });
            level.explored.set(view.index(), explored);
        }
    }

    /// What has to be explored as well so that nobody is ignored at the views of a level; nothing, if nobody is.
    fn round(&mut self, index: usize, budget: &mut Budget) -> Result<Vec<Job>, Stop> {
        let Explorer { system, states, workers, .. } = &self.explorer;
        let (level, known) = (&mut self.levels[index], &mut self.representatives[index]);
        let new: Vec<_> = states.ids_from(known.of_state.len()).collect();
        known.of_state.extend(level.add(system, states, &new, workers, budget)?);
        let Some(reduced) = &mut self.reduced else { return Ok(Vec::new()) };
        let represented: Vec<_> = level.views.ids().filter_map(|view| Some((view, known.of(view)?))).collect();
        if std::mem::replace(&mut known.futures, system.futures()) != system.futures() {
            let jobs = represented.iter().flat_map(|&(_, state)| reduced.open(&self.explorer, state, None));
            let jobs: Vec<_> = jobs.collect();
            if !jobs.is_empty() {
                return Ok(jobs);
            }
        }
        let jobs = self.ignored(index, &represented);
        let Some(reduced) = &mut self.reduced else { return Ok(Vec::new()) };
        Ok(jobs.into_iter().flat_map(|(state, thread)| reduced.open(&self.explorer, state, Some(thread))).collect())
    }

    /// Who is ignored at views, and where that has to be changed first.
    fn ignored(&self, index: usize, represented: &[(ViewId, StateId)]) -> Vec<Job> {
        let Some(reduced) = &self.reduced else { return Vec::new() };
        let (level, system) = (&self.levels[index], &self.explorer.system);
        let mut number = vec![usize::MAX; level.views.len()];
        represented.iter().enumerate().for_each(|(node, (view, _))| number[view.index()] = node);
        let node = |&(view, state): &(ViewId, StateId)| {
            let mut row = vec![0; level.views.width()];
            level.views.get(view, &mut row);
            Node { row, open: reduced.mark(state) == Mark::Open, explored: level.explored.at(view.index()) }
        };
        let nodes: Vec<_> = represented.iter().map(node).collect();
        let ways = self.ways(index, reduced, (&nodes, represented), &number);
        // The thread of the state that stands for a view that is shown at a place.
        let behind = |node: usize, place: ThreadId| {
            let row = self.explorer.row(represented[node].1);
            let shows = |thread: &&ThreadId| {
                level.abstraction().shown_of(system, &row, **thread) == nodes[node].row[place.field()]
            };
            alike(system, &place).iter().find(shows).copied().unwrap_or(place)
        };
        let can_move = |node: usize, place: ThreadId| {
            system.can_move(&self.explorer.row(represented[node].1), behind(node, place))
        };
        let ignored = Heeded::new(system, &nodes, &ways).ignored(can_move);
        let first = first_ignored(nodes.len(), &ways, ignored);
        first.into_iter().map(|(node, place)| (represented[node].1, behind(node, place))).collect()
    }

    /// Where the steps of the threads explored lead from views, as numbers of nodes.
    fn ways(
        &self,
        index: usize,
        reduced: &Reduced,
        (nodes, represented): (&[Node<'_>], &[(ViewId, StateId)]),
        number: &[usize],
    ) -> Vec<(usize, Vec<usize>)> {
        let (level, system, known) = (&self.levels[index], &self.explorer.system, &self.representatives[index]);
        // For each node what the steps of threads, by the places that show them, lead to.
        let mut steps: Vec<Vec<(ThreadId, usize)>> = vec![Vec::new(); nodes.len()];
        for (&(from, to), &thread) in reduced.edges.iter().zip(&reduced.by) {
            let view = known.of_state[from.index()];
            if known.of(view) == Some(from) {
                let node = number[view.index()];
                let local = level.abstraction().shown_of(system, &self.explorer.row(from), thread);
                let mut places = alike(system, &thread).iter();
                let place = places.find(|place| nodes[node].row[place.field()] == local).copied().unwrap_or(thread);
                steps[node].push((place, number[known.of_state[to.index()].index()]));
            }
        }
        let mut ways = Vec::new();
        for (node, mut steps) in steps.into_iter().enumerate() {
            steps.sort_unstable();
            for steps in steps.chunk_by(|one, next| one.0 == next.0) {
                let place = steps[0].0;
                let to = steps.iter().map(|step| step.1);
                match level.abstraction().way(system, &nodes[node].row, place) {
                    Way::Each => ways.extend(to.filter(|&to| to != usize::MAX).map(|to| (node, vec![to]))),
                    Way::Together => ways.push((node, to.collect())),
                    Way::Owed => {
                        // Where something is owed that is not there, no proof follows, and the search goes on from what is.
                        let owed = level.owed_at(system, represented[node].0, place);
                        ways.push((node, owed.into_iter().map(|view| number[view.index()]).collect()));
                    }
                    Way::Unsure => {}
                }
            }
        }
        ways.retain(|(_, to)| !to.is_empty() && !to.contains(&usize::MAX));
        ways
    }
}

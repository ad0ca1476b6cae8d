//! The trait of a technique, and what it answers with.

use tepui_cert::{Certificate, Trace};

use crate::{Bound, Budget, Stop};

/// What is true of an engine on every model. Each engine has one, and everything that names an engine takes its words
/// from there.
#[derive(PartialEq, Eq, Debug)]
pub struct Facts {
    /// The engine's name on the command line.
    pub name: &'static str,
    /// What its bound limits, as plural nouns.
    pub resources: &'static [&'static str],
    /// Whether the bound limits schedules, so that a smallest one is worth telling. If not, it merely orders the search.
    pub limits_schedules: bool,
    /// Whether a larger bound means a larger model, of which nothing is known at first.
    pub restarts: bool,
    /// What a bound means that was explored to its end, with `{}` for the bound.
    pub explored: &'static str,
    /// What is said where the last bound has been explored that was allowed.
    pub at_limit: &'static str,
}

impl Facts {
    /// An engine whose bound limits schedules.
    pub const fn new(name: &'static str, resources: &'static [&'static str]) -> Self {
        Self {
            name,
            resources,
            limits_schedules: true,
            restarts: false,
            explored: "explored completely up to {}",
            at_limit: "the bound limit was reached",
        }
    }

    /// An engine whose bound orders its search.
    pub const fn unbounded(name: &'static str, resources: &'static [&'static str]) -> Self {
        Self { limits_schedules: false, ..Self::new(name, resources) }
    }

    /// A bound on the engine's resources.
    pub fn bound(&self, amounts: &[u32]) -> Bound {
        Bound::on(self.resources, amounts)
    }
}

/// One technique, working on one model. The driver asks for one bound after the other; the engine knows which is next.
///
/// The protocol: [`explore`](Self::explore) is called again and again, each time for the bound that
/// [`next_bound`](Self::next_bound) announces. From one bound to the next, what is known of the model only ever grows: an
/// engine that reaches views from below has more of them, one that approximates from above excludes more. Whenever a round
/// reports that a property is violated, [`trace`](Self::trace) is called for that property. [`converged`](Self::converged)
/// is called when the round says that a test is due, and at no other time. After a [`Stop`], nothing is called but `trace`,
/// for violations that the interrupted bound had found already, `proved`, and what only tells what is known.
///
/// In debug builds the driver watches that an engine keeps to this (see `contract.rs`).
pub trait Engine: Send {
    /// What is true of the engine on every model; of a portfolio, that of the member who spoke last.
    fn facts(&self) -> &'static Facts;

    /// The bound that the next exploration goes up to; none, if that shows only when it is done.
    fn next_bound(&self) -> Option<Bound>;

    /// Explores up to the next bound and reports what is known then. An error means that nothing was explored.
    fn explore(&mut self, budget: &mut Budget) -> Result<Round, Stop>;

    /// Asked when a round says so: evidence that no larger bound shows anything new, if there is any.
    fn converged(&mut self, budget: &mut Budget) -> Result<Option<Evidence>, Stop>;

    /// Asked when a round says so, and when a run ends with open properties: evidence for some of them, given by their
    /// indices, where a proof of one does not depend on the others.
    fn proved(&mut self, _budget: &mut Budget) -> Result<Option<(Vec<usize>, Evidence)>, Stop> {
        Ok(None)
    }

    /// A trace to a violation of the property with this index, and the smallest bound that shows it, if the bound
    /// is one that schedules can be measured by.
    fn trace(&mut self, property: usize, budget: &mut Budget) -> Result<(Trace, Option<Bound>), Stop>;

    /// All views reached so far, or those that violate a property, in the notation of the model, sorted. If a limit is
    /// reached, some of them.
    fn views(&self, violating: bool, budget: &mut Budget) -> Vec<String>;

    /// What else there is to tell about the run.
    fn notes(&self) -> Notes {
        Notes::default()
    }
}

/// What is known after one bound.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Round {
    /// The engine that made it.
    pub by: &'static Facts,
    /// The bound.
    pub bound: Bound,
    /// States stored, however the engine represents them.
    pub states: u64,
    /// Views reached; permutations of interchangeable threads count.
    pub views: u64,
    /// Images computed.
    pub steps: u64,
    /// Bytes held for the states.
    pub state_bytes: u64,
    /// The properties that a reached view violates, in ascending order.
    pub violated: Vec<usize>,
    /// Whether no later bound can bring a new state.
    pub exhausted: bool,
    /// Whether the convergence test is due: on a plateau, or when the engine sees that it may succeed.
    pub test_due: bool,
    /// Whether the engine can [prove](Engine::proved) some properties now, and goes on with the others.
    pub some_due: bool,
    /// Views that a proof would still have to account for, where the engine counts them.
    pub open: u64,
    /// Why the bound was not explored to its end, if it was not.
    pub stopped: Option<Stop>,
    /// Whether, although this bound was not explored to its end, others are still to come: another engine goes on.
    pub goes_on: bool,
    /// Whether it adds to what the round before said about the same bound, and takes its place.
    pub again: bool,
    /// What the engine takes the threads for at present, where it approximates them from above.
    pub approximations: Vec<Approximation>,
}

impl Round {
    /// Whether the engine has to be asked something before it goes on.
    pub(crate) fn asks(&self) -> bool {
        self.test_due || self.some_due || self.exhausted || self.stopped.is_some()
    }

    /// A round of an engine in which nothing was found.
    pub fn empty(by: &'static Facts, bound: Bound) -> Self {
        Self {
            by,
            bound,
            states: 0,
            views: 0,
            steps: 0,
            state_bytes: 0,
            violated: Vec::new(),
            exhausted: false,
            test_due: false,
            some_due: false,
            open: 0,
            stopped: None,
            goes_on: false,
            again: false,
            approximations: Vec::new(),
        }
    }
}

/// What there is to tell about a run besides its rounds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Notes {
    /// What is stored, in words for one and for many: states, or sets of them.
    pub stored: [&'static str; 2],
    /// What is seen of a state.
    pub view: &'static str,
    /// Whether threads were left to wait where that hides no violation: then there may be more states and views.
    pub reduced: bool,
    /// Whether what is stored covers all states and more: then there may be fewer, and no view is claimed to be reached.
    pub from_above: bool,
    /// What stands in the way of a proof at present, in sentences for people.
    pub obstacles: Vec<String>,
    /// Whatever else people may want to know.
    pub remarks: Vec<String>,
}

impl Default for Notes {
    fn default() -> Self {
        let (stored, view) = (["state", "states"], "view");
        Self { stored, view, reduced: false, from_above: false, obstacles: Vec::new(), remarks: Vec::new() }
    }
}

/// How precisely the threads are known with respect to one query, and what that still allows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Approximation {
    /// The property.
    pub property: String,
    /// Which of its targets, from 1.
    pub target: usize,
    /// For each thread the length from which on its words are no longer exact.
    pub lengths: Vec<u32>,
    /// A word that all threads seem to allow, if there is one.
    pub word: Option<Vec<String>>,
}

/// Why the views reached are all there are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Evidence {
    /// What the independent checker is given.
    pub certificate: Certificate,
    /// The argument, in one sentence for people.
    pub because: String,
    /// One word for the argument, for machines.
    pub kind: &'static str,
    /// The depth of the views that the argument needed, if it is about views.
    pub view_depth: Option<u32>,
    /// Numbers that say more about the argument, for machines.
    pub figures: Vec<(&'static str, u64)>,
}

impl Evidence {
    /// Evidence that is not about views of a depth.
    pub fn new(certificate: impl Into<Certificate>, because: String, kind: &'static str) -> Self {
        Self { certificate: certificate.into(), because, kind, view_depth: None, figures: Vec::new() }
    }
}

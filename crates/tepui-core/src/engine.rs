//! The trait of a technique, and what it answers with.

use serde::Serialize;
use tepui_cert::{Certificate, Trace};

use crate::{Bound, Budget, Stop};

/// One technique, working on one model. The driver asks for one bound after the other; the engine knows which is next.
///
/// The protocol: [`explore`](Self::explore) is called again and again, each time for the bound that
/// [`next_bound`](Self::next_bound) announces. From one bound to the next, what is known of the model only ever grows: an
/// engine that reaches views from below has more of them, one that approximates from above excludes more. Whenever it reports that a
/// property is violated, [`trace`](Self::trace) is called for that property. [`converged`](Self::converged) is called
/// when the round says that a test is due, and at no other time. After a [`Stop`], nothing is called but `trace`, for
/// violations that the interrupted bound had found already, `proved`, and what only tells what is known.
pub trait Engine {
    /// The engine's name on the command line.
    fn name(&self) -> &'static str;

    /// What the bound counts.
    fn resource(&self) -> &'static str;

    /// What is stored, in words for one and for many: states, or sets of them.
    fn stored(&self) -> [&'static str; 2] {
        ["state", "states"]
    }

    /// Whether the bound limits schedules, so that a smallest one is worth telling. If not, it merely orders the search.
    fn limits_schedules(&self) -> bool {
        true
    }

    /// The bound that the next exploration goes up to.
    fn next_bound(&self) -> Bound;

    /// Explores up to the next bound and reports what is known then.
    fn explore(&mut self, budget: &mut Budget) -> Round;

    /// Asked when a round says so: evidence that no larger bound shows anything new, if there is any.
    fn converged(&mut self, budget: &mut Budget) -> Result<Option<Evidence>, Stop>;

    /// Asked when a run ends with open properties: evidence for some of them, given by their indices, where a proof of
    /// one does not depend on the others.
    fn proved(&mut self, _budget: &mut Budget) -> Result<Option<(Vec<usize>, Evidence)>, Stop> {
        Ok(None)
    }

    /// A trace to a violation of the property with this index, and the smallest bound that shows it, if the bound
    /// is one that schedules can be measured by.
    fn trace(&mut self, property: usize, budget: &mut Budget) -> Result<(Trace, Option<Bound>), Stop>;

    /// All views reached so far, or those that violate a property, in the notation of the model, sorted. If a limit is
    /// reached, some of them.
    fn views(&self, violating: bool, budget: &mut Budget) -> Vec<String>;

    /// What stands in the way of a proof at present, in sentences for people.
    fn obstacles(&self) -> Vec<String> {
        Vec::new()
    }

    /// What else there is to say about the run.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What is known after one bound.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Round {
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
    /// Views that a proof would still have to account for, where the engine counts them.
    pub open: u64,
    /// Why the bound was not explored to its end, if it was not.
    pub stopped: Option<Stop>,
    /// What the engine takes the threads for at present, where it approximates them from above.
    pub approximations: Vec<Approximation>,
}

/// How precisely the threads are known with respect to one query, and what that still allows.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
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
}

//! The trait of a technique, and what it answers with.

use tepui_cert::{Certificate, Trace};

use crate::{Budget, Stop};

/// One technique, working on one model. The driver raises the bound; the engine answers for one bound at a time.
///
/// The protocol: [`explore`](Self::explore) is called with the bounds 0, 1, 2, ... in this order. The views it has
/// reached only ever grow. Whenever it reports that a property is violated, [`trace`](Self::trace) is called for that
/// property. [`converged`](Self::converged) is called after a bound that brought no new view, and at no other time.
/// After a [`Stop`], nothing is called but `trace`, for violations that the interrupted bound had found already.
pub trait Engine {
    /// The engine's name on the command line.
    fn name(&self) -> &'static str;

    /// What the bound counts.
    fn resource(&self) -> &'static str;

    /// What is stored, in words for one and for many: states, or sets of them.
    fn stored(&self) -> [&'static str; 2] {
        ["state", "states"]
    }

    /// Explores up to `bound` and reports what is known then.
    fn explore(&mut self, bound: u32, budget: &mut Budget) -> Round;

    /// Asked on a plateau: evidence that no larger bound shows anything new, if there is any.
    fn converged(&mut self, budget: &mut Budget) -> Result<Option<Evidence>, Stop>;

    /// A trace to a violation of the property with this index.
    fn trace(&mut self, property: usize, budget: &mut Budget) -> Result<Trace, Stop>;

    /// All views reached so far, in the notation of the model, sorted.
    fn views(&self) -> Vec<String>;
}

/// What is known after one bound.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Round {
    /// States stored, however the engine represents them.
    pub states: u64,
    /// Views reached.
    pub views: u64,
    /// Images computed.
    pub steps: u64,
    /// Bytes held for the states.
    pub state_bytes: u64,
    /// The properties that a reached view violates, in ascending order.
    pub violated: Vec<usize>,
    /// Whether no later bound can bring a new state.
    pub exhausted: bool,
    /// Why the bound was not explored to its end, if it was not.
    pub stopped: Option<Stop>,
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
    /// The depth of the views that the argument needed.
    pub view_depth: u32,
}

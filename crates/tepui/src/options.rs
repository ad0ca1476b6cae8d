//! How a problem is read and how it is verified.

use tepui_core::{Facts, Query};
use tepui_engines::workers::Cores;
use tepui_lang::source::Source;

use crate::Error;
use crate::kinds::{CallReturn, Dispatcher, Order, QueuePrecision, Refinement, ThreadsAtStart, Walking};

/// Several engines side by side; which they are depends on the kind of the model.
pub static AUTO: Facts =
    Facts { explored: "representatives told apart by {} of each stack", ..Facts::unbounded("auto", &["symbols"]) };

/// The texts that a problem is read from.
#[derive(Clone, Debug)]
pub struct Input {
    /// The model. The extension of its name says in which language it is written.
    pub main: Source,
    /// The initial state, where it is not in the model.
    pub init: Option<Source>,
    /// What must never be reached, where that is not in the model.
    pub target: Option<Source>,
    /// What the user claims may come to light after a pop.
    pub matching: Option<Source>,
    /// Further texts of the same model.
    pub others: Vec<Source>,
}

impl Input {
    /// A model with all that belongs to it in one text.
    pub fn new(name: impl Into<String>, text: impl AsRef<[u8]>) -> Self {
        Self { main: Source::new(name, text.as_ref()), init: None, target: None, matching: None, others: Vec::new() }
    }
}

/// How a text is written. Each language has its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// Boolean programs with braces.
    Tepui,
    /// Boolean programs with begin and end, one procedure, threads that start at labels.
    Satabs,
    /// Boolean programs with begin and end, and procedures with results.
    Boppo,
    /// The same; `init` runs first, then every procedure that nobody calls is a thread.
    Getafix,
    /// P as it was, with bounds on events and stacks of states.
    Old,
    /// P as it is.
    Today,
}

/// When an event that is sent is in the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sending {
    /// At once.
    Atomic,
    /// Others may move in between.
    Split,
}

/// How a text is read, and what is asked about it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reading {
    /// The properties that are asked for: the one with a name, or else all whose names begin with it. All, if none is named.
    pub properties: Vec<String>,
    /// Whether properties are left aside: the question is which views there are.
    pub all_views: bool,
    /// How the text is written, where that cannot be found out.
    pub dialect: Option<Dialect>,
    /// Labels that no thread may reach.
    pub labels: Vec<String>,
    /// Whether deadlocks are asked for.
    pub deadlock: bool,
    /// In which order tasks are dispatched, where that is not as the text says.
    pub order: Option<Order>,
    /// The numbers that integers of a text are.
    pub int_range: Option<(i32, i32)>,
    /// The most threads at the same time, where threads are created.
    pub max_threads: Option<u32>,
    /// Whether every step and every variable is kept, even where no verdict depends on it.
    pub no_reduction: bool,
    /// The tests that are meant: the one with a name, or else all whose names begin with it. All, if none is named.
    pub test_cases: Vec<String>,
    /// When an event that is sent is in the queue, where that is not as the dialect says.
    pub sending: Option<Sending>,
    /// Whether bounds on queues that the text has are left out.
    pub ignore_bounds: bool,
    /// Whether a test that is a sample of its instances stands for all of them.
    pub all_instances: bool,
    /// Whether specs that a test does not attach are attached to it all the same.
    pub attach_specs: bool,
    /// What is claimed of queues, each with where it is said.
    pub claims: Vec<(String, String)>,
    /// Whether claims about queues are assumed instead of proved.
    pub assume_claims: bool,
    /// How many threads there are at the start, where a text leaves that open.
    pub threads_at_start: ThreadsAtStart,
    /// Variables of machines that proofs do without, `MACHINE.VARIABLE`.
    pub forget: Vec<String>,
}

/// The resource of which the smallest amount is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Minimal {
    /// Contexts.
    Contexts,
    /// Rounds and delays.
    Delays,
}

/// How to verify.
#[derive(Clone, Debug)]
pub struct Options {
    /// The engine: one of [`engines`](crate::engines()).
    pub engine: &'static Facts,
    /// The resource of which the smallest amount is wanted, besides an answer. For [`AUTO`] only.
    pub minimal: Option<Minimal>,
    /// The last bound to explore: an amount of each resource, or one for all of them.
    pub bound_limit: Option<Vec<u32>>,
    /// Whether to look for proofs; without, this is bounded exploration, which needs a `bound_limit`.
    pub prove: bool,
    /// Whether to list the views.
    pub list_views: bool,
    /// Whether the first violation ends the run, although other properties are open.
    pub stop_at_first: bool,
    /// Whether certificate and traces go through their text form, the checker and the replayer in the same run.
    pub self_check: bool,
    /// Whether to tell what a proof says about each line.
    pub invariant: bool,
    /// How many symbols of each stack a view shows; only closure and delays know more than one.
    pub view_depth: usize,
    /// The depth at which the generator test cuts stacks, to begin with.
    pub z_depth: usize,
    /// Whether interchangeable threads are treated as such, where that is sound.
    pub symmetry: bool,
    /// Whether threads that do not touch what others touch may wait, in closure of programs.
    pub partial_order: PartialOrder,
    /// Delays: test for closure at every bound.
    pub test_always: bool,
    /// Delays: compute every bound from the initial state.
    pub from_scratch: bool,
    /// How languages of actions are refined.
    pub refinement: Refinement,
    /// What the generator test takes for the frames that a return may come back to, instead of what it derives.
    pub call_return: Option<CallReturn>,
    /// How precisely queues are known, where that is not found out.
    pub queue_precision: Option<QueuePrecision>,
    /// How random executions are made.
    pub walking: Walking,
    /// How tasks are chosen: by schedulers whose delays count, or any.
    pub schedulers: Schedulers,
    /// How many threads work.
    pub cores: Cores,
}

/// How tasks are chosen, in the order of preference.
#[derive(Clone)]
pub struct Schedulers(pub Vec<Dispatcher>);

impl Default for Schedulers {
    fn default() -> Self {
        Self(["rr", "rr-reverse", "dfs"].into_iter().filter_map(Dispatcher::named).collect())
    }
}

impl std::fmt::Debug for Schedulers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(Dispatcher::name)).finish()
    }
}

/// Whether threads may wait where nobody sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PartialOrder {
    /// All threads are explored everywhere.
    Off,
    /// Some wait from the start where no procedure is called. Where procedures are called, a search in which all are explored
    /// begins, since it may need less of the stacks, and one in which some wait joins it.
    #[default]
    Auto,
    /// Some wait from the start, and no other search joins.
    Always,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            engine: &AUTO,
            minimal: None,
            bound_limit: None,
            prove: true,
            list_views: false,
            stop_at_first: false,
            self_check: false,
            invariant: false,
            view_depth: 1,
            z_depth: 1,
            symmetry: true,
            partial_order: PartialOrder::default(),
            test_always: false,
            from_scratch: false,
            refinement: Refinement::default(),
            call_return: None,
            queue_precision: None,
            walking: Walking::default(),
            schedulers: Schedulers::default(),
            cores: Cores::new(std::thread::available_parallelism().map_or(1, usize::from)),
        }
    }
}

impl Options {
    /// The same with another engine.
    #[must_use]
    pub fn with_engine(self, engine: &'static Facts) -> Self {
        Self { engine, ..self }
    }

    /// Refuses what contradicts itself.
    pub(crate) fn require_sense(&self) -> Result<(), Error> {
        let wrong = match &self.bound_limit {
            None if !self.prove => "exploration without proofs needs a limit on the bound",
            Some(limit) if limit.is_empty() => {
                "a limit on the bound has an amount for each resource, or one for all of them"
            }
            _ if self.schedulers.0.is_empty() => "there must be a scheduler whose delays count",
            _ if self.minimal.is_some() && *self.engine != AUTO => {
                "the smallest amount of a resource is told by `auto` only"
            }
            _ => return Ok(()),
        };
        Err(Error::Misuse(wrong.to_owned()))
    }

    /// What is asked of a run about some properties.
    pub(crate) fn query(&self, properties: Vec<String>) -> Query {
        Query {
            properties,
            bound_limit: self.bound_limit.clone(),
            prove: self.prove,
            list_views: self.list_views,
            stop_at_first: self.stop_at_first,
        }
    }
}

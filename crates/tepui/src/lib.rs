//! Tepui proves concurrent programs safe for every schedule, or shows the schedule that breaks them.

mod error;
mod kinds;
mod options;
mod problem;
mod run;
mod table;

pub use tepui_cert::{Certificate, Trace};
pub use tepui_check::{Accepted, Rejected};
pub use tepui_core::{
    About, Budget, Facts, Invariant, Limit, Outcome, PropertyOutcome, Reason, Status, Stopper, Story, Verdict, story,
};
pub use tepui_engines::crew::Cores;
pub use tepui_lang::{diagnostic, source};

pub use error::{Error, Refusal};
pub use kinds::{
    Abstraction, Answer, CLOSURE, CONTEXTS, CallReturn, Checked, DELAYS, Detail, Dialect, EXPLICIT, EngineInfo, Field,
    Language, Policy, Printed, RENDEZVOUS, Refinement, Replayed, STATES, SYMBOLIC, Summary, VIEWS,
};
pub use options::{AUTO, Input, Minimal, Options, Reading};
pub use problem::{Problem, check, read, replay, verify};
pub use table::{applies_to, engine, engines, forms, languages, require_fitting};

//! Tepui proves concurrent programs safe for every schedule, or shows the schedule that breaks them.
//!
//! This library is the facade: choose an engine with [`Options`], call [`verify()`], and [`self_check`] the outcome.
//! The binary adds files, a command line and manners.

mod catalogue;
mod certify;
mod program;
mod rendezvous;
mod selfcheck;
mod verify;

pub use tepui_engines::rendezvous::{Abstraction, Options as Refinement, Policy};
pub use tepui_engines::workers::Cores;

pub use catalogue::{ENGINES, EngineInfo, LANGUAGES, LanguageInfo};
pub use certify::certify;
pub use program::{Compiling, Verified, execution, gets_stuck, verify_program};
pub use rendezvous::{applies_to_rendezvous, verify_rendezvous};
pub use selfcheck::{self_check, self_check_program};
pub use verify::{Choice, Minimal, Options, UnsupportedMatching, verify};

//! Tepui proves concurrent programs safe for every schedule, or shows the schedule that breaks them.
//!
//! A [`Problem`] is a model with what is asked about it. It is read from a text in one of the [`languages`], or built in
//! Rust. [`verify()`] answers with an [`Outcome`]: for each property a [`Verdict`], which is *safe* with a certificate,
//! *unsafe* with a trace, or *unknown* with a [`Reason`]. Nothing here touches files: texts come in and go out.
//!
//! # A model from a file
//!
//! ```
//! let text = std::fs::read_to_string("../../examples/peterson2.bp")?;
//! let problem = tepui::read("peterson2.bp", text)?;
//! let answer = tepui::verify(&problem, &tepui::Options::default(), &tepui::Budget::unlimited())?;
//! assert_eq!(answer.outcome.status(), tepui::Status::Safe);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A model built in Rust
//!
//! ```
//! use tepui::pushdown::{Action, Model, Names, Pattern, Property, Rule, Shared, State, Symbol, Thread};
//! let raise = Rule { from: Shared(0), top: Symbol(1), to: Shared(1), action: Action::Pop, line: 0 };
//! let thread = Thread { name: "t".into(), symbols: vec!["a".into()], rules: vec![raise] };
//! let init = State { shared: Shared(0), stacks: vec![vec![Symbol(1)]] };
//! let raised = Property { name: "low".into(), never: vec![Pattern { shared: Some(Shared(1)), tops: vec![None] }] };
//! let model = Model::new(Names::Numbers(2), vec![thread], init, vec![raised])?;
//! let answer = tepui::verify(&model.into(), &tepui::Options::default(), &tepui::Budget::unlimited())?;
//! assert_eq!(answer.outcome.status(), tepui::Status::Unsafe);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A proof and a trace
//!
//! ```
//! # let text = std::fs::read_to_string("../../examples/lost-update.cpds")?;
//! let problem = tepui::read("lost-update.cpds", text)?;
//! let outcome = tepui::verify(&problem, &tepui::Options::default(), &tepui::Budget::unlimited())?.outcome;
//! for property in &outcome.properties {
//!     match &property.verdict {
//!         tepui::Verdict::Safe(proven) => println!("{}: {}", property.name, proven.evidence().because),
//!         tepui::Verdict::Unsafe(refuted) => println!("{}", problem.trace_text(refuted.trace())),
//!         tepui::Verdict::Unknown(reason) => println!("{}: {reason}", property.name),
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Evidence in its text form is judged by [`check()`] and [`replay()`], which use nothing of what found it:
//!
//! ```
//! # let text = std::fs::read_to_string("../../examples/semaphore.cpds")?;
//! let problem = tepui::read("semaphore.cpds", text)?;
//! let outcome = tepui::verify(&problem, &tepui::Options::default(), &tepui::Budget::unlimited())?.outcome;
//! let certificate = outcome.evidence().expect("it is safe").certificate.to_text();
//! tepui::check(&problem, &certificate)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Limits
//!
//! A [`Budget`] carries limits into a run: an amount of work, which ends every run at the same point, or whatever a
//! [`Stopper`] is told from another thread.
//!
//! ```
//! # let text = std::fs::read_to_string("../../examples/lockstep.cpds")?;
//! let problem = tepui::read("lockstep.cpds", text)?;
//! let budget = tepui::Budget::unlimited().with_work(10_000);
//! let outcome = tepui::verify(&problem, &tepui::Options::default(), &budget)?.outcome;
//! assert_eq!(outcome.status(), tepui::Status::Unknown);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A limit on time is a thread that waits:
//!
//! ```
//! # let text = std::fs::read_to_string("../../examples/lockstep.cpds")?;
//! let problem = tepui::read("lockstep.cpds", text)?;
//! let budget = tepui::Budget::unlimited();
//! let stopper = budget.stopper();
//! std::thread::spawn(move || {
//!     std::thread::sleep(std::time::Duration::from_millis(100));
//!     stopper.stop(tepui::Limit::Time);
//! });
//! let outcome = tepui::verify(&problem, &tepui::Options::default(), &budget)?.outcome;
//! assert_eq!(outcome.status(), tepui::Status::Unknown);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A trace as a story
//!
//! A [`Story`] tells a trace of any kind of model in the same terms: who there is, what happens step by step, and what marks
//! it (a context begins, a property is violated).
//!
//! ```
//! # let text = std::fs::read_to_string("../../examples/init-broken.bp")?;
//! let problem = tepui::read("init-broken.bp", text)?;
//! let outcome = tepui::verify(&problem, &tepui::Options::default(), &tepui::Budget::unlimited())?.outcome;
//! for property in &outcome.properties {
//!     if let tepui::Verdict::Unsafe(refuted) = &property.verdict {
//!         let story = problem.tell(refuted.trace(), tepui::Detail::Short);
//!         for one in story.steps.iter().flat_map(|step| &step.moves) {
//!             println!("{}: {}", story.actors[one.actor], one.text);
//!         }
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Languages
//!
//! The extension of a name says in which language a text is written; [`languages`] lists them: `.bp` (concurrent programs),
//! `.cpds` and `.pds` (pushdown systems), `.rpds` (rendezvous), `.p` (P), `.spec` and `.tts` (any number of threads).

mod error;
mod kinds;
mod options;
mod problem;
mod run;
mod table;

pub use tepui_cert::{Certificate, Trace, Unreadable};
pub use tepui_check::{Accepted, Cause, Rejected};
pub use tepui_core::{
    About, Bound, Budget, Evidence, Facts, Invariant, Iteration, Limit, Outcome, Progress, PropertyOutcome, Proven,
    Reason, Refuted, Status, Stopper, Story, Verdict, story,
};
pub use tepui_engines::workers::Cores;
pub use tepui_lang::{diagnostic, source};
pub use tepui_model::Digest;

pub use error::{Error, Refusal};
pub use kinds::{
    Abstraction, Answer, Bounding, CLOSURE, CONTEXTS, COUNTING, COVER, COVERABILITY, CallReturn, Checked, CountLimits,
    CountRow, Counted, DELAYS, DISPATCH, Detail, Dispatcher, EXPLICIT, EngineInfo, Field, Language, Order, Parts,
    Policy, Printed, QUEUES, QueueOrder, QueuePrecision, RENDEZVOUS, ReadParts, Refinement, Replayed, STATES, SYMBOLIC,
    Scheduler, SequentialForm, Summary, THREADS, ThreadsAtStart, VIEWS, WALK, Walking, models::*, scheduler,
};
pub use options::{AUTO, Dialect, Input, Minimal, Options, PartialOrder, Reading, Schedulers, Sending};
pub use problem::{Problem, check, read, replay, verify};
pub use table::{applies_to, engine, engines, forms, languages, require_fitting};

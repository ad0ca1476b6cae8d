//! What there is: engines and languages, for `tepui engines`, `tepui languages` and the help texts.

use tepui_core::Facts;
use tepui_engines::{closure, contexts, delays, rendezvous};

use crate::Choice;
use crate::verify::{AUTO, CONTEXTS};

/// An engine that can be chosen.
pub struct EngineInfo {
    /// What is true of it on every model: its name on the command line, what its bound limits.
    pub facts: &'static Facts,
    /// How it is chosen.
    pub choice: Choice,
    /// What it does.
    pub summary: &'static str,
    /// When it applies.
    pub applies: &'static str,
    /// Where the technique was published.
    pub paper: &'static str,
}

const PAPER: &str =
    "Liu, Wahl, Reps: Interprocedural Context-Unbounded Program Analysis Using Observation Sequences (2020)";
const DELAYS: &str = "Johnson, Wahl: Delay-Bounded Scheduling Without Delay! (2021)";
const RENDEZVOUS: &str = "Kidd, Reps, Touili: Improving Communicating Pushdown System Model Checking";
const OURS: &str = "Tepui's own; see the chapter on the closure engine";

/// All engines; the first is the default.
pub const ENGINES: &[EngineInfo] = &[
    EngineInfo {
        facts: &AUTO,
        choice: Choice::Auto,
        summary: "closure, and after a while contexts-symbolic or rendezvous beside it; with --minimal, the smallest bound as well",
        applies: "always",
        paper: OURS,
    },
    EngineInfo {
        facts: &closure::FACTS,
        choice: Choice::Closure,
        summary: "one representative of each view, until the views are closed under every step; needs no bound",
        applies: "pushdown models; of communicating ones it takes the product",
        paper: OURS,
    },
    EngineInfo {
        facts: &delays::FACTS,
        choice: Choice::Delays,
        summary: "round-robin scheduling R(r, d), until a plateau of its views is closed under pops",
        applies: "pushdown models",
        paper: DELAYS,
    },
    EngineInfo {
        facts: &CONTEXTS,
        choice: Choice::Contexts,
        summary: "the context engines that apply, side by side; the one that answers with the least work counts",
        applies: "pushdown models",
        paper: PAPER,
    },
    EngineInfo {
        facts: &contexts::EXPLICIT,
        choice: Choice::Explicit,
        summary: "enumerated states; proved by whichever of contexts-states and contexts-views comes first",
        applies: "pushdown models with finite contexts",
        paper: PAPER,
    },
    EngineInfo {
        facts: &contexts::STATES,
        choice: Choice::States,
        summary: "enumerated states R_k, until a level brings no new state",
        applies: "pushdown models with finite contexts",
        paper: PAPER,
    },
    EngineInfo {
        facts: &contexts::VIEWS,
        choice: Choice::Views,
        summary: "enumerated states, their views T(R_k), until the generator test shows that a plateau is the end",
        applies: "pushdown models with finite contexts",
        paper: PAPER,
    },
    EngineInfo {
        facts: &contexts::SYMBOLIC,
        choice: Choice::Symbolic,
        summary: "regular sets of stacks S_k (post*), their views T(S_k), with the generator test",
        applies: "pushdown models",
        paper: PAPER,
    },
    EngineInfo {
        facts: &rendezvous::FACTS,
        choice: Choice::Rendezvous,
        summary: "the threads' languages of actions, exact up to a length, until they have no word in common",
        applies: "communicating pushdown models",
        paper: RENDEZVOUS,
    },
];

/// A language that models are written in.
pub struct LanguageInfo {
    /// The file name's extension.
    pub extension: &'static str,
    /// What it is.
    pub summary: &'static str,
}

/// All languages.
pub const LANGUAGES: &[LanguageInfo] = &[
    LanguageInfo {
        extension: "bp",
        summary: "concurrent Boolean programs with recursive procedures: Tepui's own dialect, and those of SATABS and Boppo",
    },
    LanguageInfo { extension: "cpds", summary: "concurrent pushdown systems with names, properties in the same file" },
    LanguageInfo {
        extension: "rpds",
        summary: "communicating pushdown systems: threads that share nothing and meet in actions and handshakes",
    },
    LanguageInfo {
        extension: "spad",
        summary: "the same as SPADE reads them, where no rule creates a process and the initial set is finite",
    },
    LanguageInfo {
        extension: "pds",
        summary: "concurrent pushdown systems with numbers, as CUBA reads them, with .init and .spec beside",
    },
];

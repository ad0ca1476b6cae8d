//! What there is: engines and languages, for `tepui engines`, `tepui languages` and the help texts.

use crate::Choice;

/// An engine that can be chosen.
pub struct EngineInfo {
    /// Its name on the command line.
    pub name: &'static str,
    /// How it is chosen.
    pub choice: Choice,
    /// What its bound counts.
    pub resource: &'static str,
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
        name: "auto",
        choice: Choice::Auto,
        resource: "symbols",
        summary: "closure, and after a while contexts-symbolic or rendezvous beside it; with --minimal, the smallest bound as well",
        applies: "always",
        paper: OURS,
    },
    EngineInfo {
        name: "closure",
        choice: Choice::Closure,
        resource: "symbols",
        summary: "one representative of each view, until the views are closed under every step; needs no bound",
        applies: "pushdown models; of communicating ones it takes the product",
        paper: OURS,
    },
    EngineInfo {
        name: "delays",
        choice: Choice::Delays,
        resource: "rounds and delays",
        summary: "round-robin scheduling R(r, d), until a plateau of its views is closed under pops",
        applies: "pushdown models",
        paper: DELAYS,
    },
    EngineInfo {
        name: "contexts",
        choice: Choice::Contexts,
        resource: "contexts",
        summary: "the context engines that apply, side by side; the one that answers with the least work counts",
        applies: "pushdown models",
        paper: PAPER,
    },
    EngineInfo {
        name: "contexts-explicit",
        choice: Choice::Explicit,
        resource: "contexts",
        summary: "enumerated states; proved by whichever of contexts-states and contexts-views comes first",
        applies: "pushdown models with finite contexts",
        paper: PAPER,
    },
    EngineInfo {
        name: "contexts-states",
        choice: Choice::States,
        resource: "contexts",
        summary: "enumerated states R_k, until a level brings no new state",
        applies: "pushdown models with finite contexts",
        paper: PAPER,
    },
    EngineInfo {
        name: "contexts-views",
        choice: Choice::Views,
        resource: "contexts",
        summary: "enumerated states, their views T(R_k), until the generator test shows that a plateau is the end",
        applies: "pushdown models with finite contexts",
        paper: PAPER,
    },
    EngineInfo {
        name: "contexts-symbolic",
        choice: Choice::Symbolic,
        resource: "contexts",
        summary: "regular sets of stacks S_k (post*), their views T(S_k), with the generator test",
        applies: "pushdown models",
        paper: PAPER,
    },
    EngineInfo {
        name: "rendezvous",
        choice: Choice::Rendezvous,
        resource: "actions",
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

//! Verdicts. The types are the law: `Safe` holds evidence, `Unsafe` a trace, and both have no constructor outside this
//! crate; whatever else happens is `Unknown`.

use std::sync::Arc;

use tepui_cert::Trace;

use crate::{Bound, Evidence, Limit, Stop};

/// The answer for one property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// No schedule violates the property.
    Safe(Proven),
    /// A schedule violates the property.
    Unsafe(Refuted),
    /// Neither was established.
    Unknown(Reason),
}

/// Proof of a property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proven {
    evidence: Arc<Evidence>,
}

impl Proven {
    pub(crate) fn by(evidence: &Arc<Evidence>) -> Self {
        Self { evidence: Arc::clone(evidence) }
    }

    /// The evidence.
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }
}

/// A violation of a property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refuted {
    bound: Option<Bound>,
    trace: Arc<Trace>,
}

impl Refuted {
    pub(crate) fn by(bound: Option<Bound>, trace: Trace) -> Self {
        Self { bound, trace: Arc::new(trace) }
    }

    /// The smallest bound at which the property is violated, where the engine knows one.
    pub fn bound(&self) -> Option<Bound> {
        self.bound
    }

    /// The same violation without a claim about the smallest bound.
    #[must_use]
    pub fn without_bound(self) -> Self {
        Self { bound: None, ..self }
    }

    /// A way to the violation.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// A limit was reached.
    Limit(Limit),
    /// The engine saw that it would not get any further.
    GaveUp(String),
    /// A violation of the property was found, but there was no time, or no way, to build its trace.
    Untraced {
        /// The property.
        property: String,
        /// What was in the way.
        stop: Stop,
    },
    /// There is no property to prove.
    NothingAsked,
    /// The engine does not apply to this model.
    NotApplicable(String),
    /// The answer did not survive the independent check. This is a defect of Tepui.
    SelfCheckFailed(String),
    /// Something happened that never should. This is a defect of Tepui.
    Defect(String),
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Limit(limit) => limit.fmt(f),
            Self::GaveUp(why) | Self::NotApplicable(why) => f.write_str(why),
            Self::Untraced { property, stop } => {
                let why = Self::from(stop.clone());
                write!(f, "a violation of {property} was found, but no schedule was constructed: {why}")
            }
            Self::NothingAsked => f.write_str("no property is asked for"),
            Self::SelfCheckFailed(why) => write!(f, "the answer failed its own check, please report this: {why}"),
            Self::Defect(what) => write!(f, "a defect of Tepui, please report this: {what}"),
        }
    }
}

impl From<Stop> for Reason {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Limit(limit) => Self::Limit(limit),
            Stop::GaveUp(why) => Self::GaveUp(why),
            Stop::NotApplicable(why) => Self::NotApplicable(why),
            Stop::NotConfirmed(why) => Self::SelfCheckFailed(why),
            Stop::Defect(what) => Self::Defect(what),
        }
    }
}

/// A verdict without what it holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Safe.
    Safe,
    /// Unsafe.
    Unsafe,
    /// Unknown.
    Unknown,
}

impl Status {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Unsafe => "unsafe",
            Self::Unknown => "unknown",
        }
    }

    /// The status of a conjunction of claims.
    pub fn of_all(verdicts: impl IntoIterator<Item = Self>) -> Self {
        verdicts.into_iter().fold(Self::Safe, |all, one| match (all, one) {
            (Self::Unsafe, _) | (_, Self::Unsafe) => Self::Unsafe,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Safe, Self::Safe) => Self::Safe,
        })
    }
}

impl Verdict {
    /// Whether the property is said to hold, if anything is said: a violation without a trace is no verdict, but a claim.
    pub(crate) fn claims(&self) -> Option<bool> {
        match self {
            Self::Safe(_) => Some(true),
            Self::Unsafe(_) | Self::Unknown(Reason::Untraced { .. }) => Some(false),
            Self::Unknown(_) => None,
        }
    }

    /// The verdict without what it holds.
    pub fn status(&self) -> Status {
        match self {
            Self::Safe(_) => Status::Safe,
            Self::Unsafe(_) => Status::Unsafe,
            Self::Unknown(_) => Status::Unknown,
        }
    }
}

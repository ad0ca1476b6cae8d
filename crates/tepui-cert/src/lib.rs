//! The vocabulary of evidence: certificates of safety and traces of violations, each with a stable text form.
//!
//! This crate says what a [`Certificate`] and a [`Trace`] *are* and how they are written down. It does not say whether
//! they are right: that is the business of the checker, which trusts nothing it reads here. There is a module for each
//! kind of model that evidence can be about.

pub mod counters;
pub mod program;
pub mod pushdown;
pub mod queue;
mod read;
pub mod rendezvous;
mod write;

pub use read::Unreadable;
use tepui_model::Digest;
pub use write::sealed;

/// Evidence of any kind, from the list of kinds.
macro_rules! evidence {
    ($($Kind:ident => $kind:ident),*) => {
        /// A proof of safety.
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub enum Certificate {
            $(#[doc = concat!("A proof about a model of the kind `", stringify!($kind), "`.")]
            $Kind($kind::Certificate),)*
        }

        impl Certificate {
            /// The text form.
            pub fn to_text(&self) -> String {
                match self { $(Self::$Kind(certificate) => certificate.to_text(),)* }
            }

            /// Reads the text form of any kind; the first line tells which it is.
            pub fn from_text(text: &str) -> Result<Self, Unreadable> {
                $(if starts_with(text, $kind::Certificate::HEADS) {
                    return $kind::Certificate::from_text(text).map(Self::$Kind);
                })*
                let message = "this is no certificate: its first line is not that of any kind of certificate";
                Err(Unreadable { line: 1, message: message.to_owned() })
            }

            /// The model that the proof is about.
            pub fn model(&self) -> Digest {
                match self { $(Self::$Kind(certificate) => certificate.model(),)* }
            }
        }

        /// A way to a violation.
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub enum Trace {
            $(#[doc = concat!("Steps of a model of the kind `", stringify!($kind), "`.")]
            $Kind($kind::Trace),)*
        }

        impl Trace {
            /// Reads one or more traces of one kind; the first line tells which it is.
            pub fn from_text(text: &str) -> Result<Vec<Self>, Unreadable> {
                $(if starts_with(text, $kind::Trace::HEADS) {
                    return Ok($kind::Trace::from_text(text)?.into_iter().map(Self::$Kind).collect());
                })*
                let message = "this is no trace: its first line is not that of any kind of trace";
                Err(Unreadable { line: 1, message: message.to_owned() })
            }

            /// The model that takes the steps.
            pub fn model(&self) -> Digest {
                match self { $(Self::$Kind(trace) => trace.model(),)* }
            }

            /// How many steps there are, those among them that are not told.
            pub fn steps(&self) -> usize {
                match self { $(Self::$Kind(trace) => trace.steps.len(),)* }
            }

            /// How many contexts there are: maximal runs of steps of the same threads.
            pub fn contexts(&self) -> u32 {
                match self { $(Self::$Kind(trace) => trace.contexts(),)* }
            }
        }

        $(impl From<$kind::Certificate> for Certificate {
            fn from(certificate: $kind::Certificate) -> Self {
                Self::$Kind(certificate)
            }
        }

        impl TryFrom<Certificate> for $kind::Certificate {
            type Error = Certificate;

            fn try_from(certificate: Certificate) -> Result<Self, Certificate> {
                if let Certificate::$Kind(certificate) = certificate { Ok(certificate) } else { Err(certificate) }
            }
        }

        impl From<$kind::Trace> for Trace {
            fn from(trace: $kind::Trace) -> Self {
                Self::$Kind(trace)
            }
        }

        impl TryFrom<Trace> for $kind::Trace {
            type Error = Trace;

            fn try_from(trace: Trace) -> Result<Self, Trace> {
                if let Trace::$Kind(trace) = trace { Ok(trace) } else { Err(trace) }
            }
        })*
    };
}

tepui_model::kinds!(evidence);

/// Whether the first line of a text is one of these.
fn starts_with(text: &str, heads: &[&str]) -> bool {
    read::Lines::new(text).peek().is_some_and(|first| heads.contains(&first))
}

/// How many contexts steps make, given by their threads: maximal runs of steps of the same ones.
pub fn contexts<T: PartialEq>(threads: impl IntoIterator<Item = T>) -> u32 {
    let (mut last, mut contexts) = (None, 0_u32);
    for threads in threads {
        if last.as_ref() != Some(&threads) {
            contexts = contexts.saturating_add(1);
            last = Some(threads);
        }
    }
    contexts
}

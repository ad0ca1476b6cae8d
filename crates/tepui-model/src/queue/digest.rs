//! The fingerprint of a program with queues.

use super::Program;
use crate::Digest;

impl Program {
    /// The fingerprint of what it means: names and lines do not enter it.
    pub fn digest(&self) -> Digest {
        let Self { rules, events, payloads, kinds, functions, main, specs, claims, forgets: _, told: _ } = self;
        Digest::of(format!("{:?}", (rules, events, payloads, kinds, functions, main, specs, claims)).as_bytes())
    }
}

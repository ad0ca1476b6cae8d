//! Programs with queues, written in P.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod atoms;
mod claims;
mod corpus;
mod evidence;
mod liveness;
mod names;
mod random;
mod second_reading;
mod semantics;
mod states;

//! Any number of threads: engines against slow searches, proofs against forgers, and models of others.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod corpus;
mod evidence;
mod oracle;
mod programs;
mod random;
mod readers;

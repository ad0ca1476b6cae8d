//! Front ends: text to model, with diagnostics.
//!
//! A reader takes [`source::Source`] texts that somebody else has loaded and gives back a model, or a list of
//! [`diagnostic::Diagnostic`]s that point into those texts. Nothing here touches a file or a terminal, and no input
//! makes it panic. One module for each family of forms: [`pushdown`] systems, those that meet in a [`rendezvous`],
//! [`boolean`] programs, [`p`] programs, and [`counters`] of any number of threads.

pub mod boolean;
pub mod counters;
pub mod diagnostic;
pub mod p;
pub mod pushdown;
pub mod rendezvous;
pub mod source;
mod suggestion;
mod token;

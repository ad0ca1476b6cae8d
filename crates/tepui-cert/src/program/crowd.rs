//! Lemmas about any number of threads of a program.

use crate::counters;
use crate::pushdown::LemmaThread;

/// Lemmas about `main` and any number of other threads.
///
/// They are those of [`counters`], about a system of threads that the checker makes of the program itself. Its
/// places are the words of the others. Its shared states are the states listed here, numbered from 1: what all threads share, and
/// `main`. The shared state 0 comes before them, when there is nobody yet. The first lemma is about views, and names who can be
/// where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Crowd {
    /// How many symbols of a stack a word has.
    pub depth: u32,
    /// The words of `main` and what may lie below them, and those of the others.
    pub threads: [LemmaThread; 2],
    /// In ascending order: a shared state, whether a thread must not be interrupted, and the word of `main`.
    pub states: Vec<(u32, bool, u32)>,
    /// What holds in every reachable state.
    pub lemmas: Vec<counters::Lemma>,
}

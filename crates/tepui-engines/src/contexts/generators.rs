//! When a plateau is the end: the generator test, and the collapse of a finite system.
//!
//! Let `A = T(R_k)` be the views reached, and suppose the sequence has just plateaued. Pushes and overwrites respect
//! views: from equal views they lead to equal views, and since every view of A is that of a state one context
//! earlier, their results are in A. So the first view outside A that some larger bound shows must emerge from a pop.
//! The views that may emerge from a pop are the *generators* G. With an over-approximation Z of all views, A is
//! complete if no generator of Z lies outside A: `G ∩ Z ⊆ A`.
//!
//! Here Z is the least inductive set of views of some depth b ([`Abstraction`]), and then the test can be put more
//! simply. From a view of A, a push or overwrite of Z stays in A, and a pop leads to a generator of Z. So if `G ∩ Z ⊆
//! A`, then Z, which starts in A, never leaves it: the test succeeds iff Z stays within A. We compute Z fenced in by
//! A; it either meets a generator outside, and is abandoned there, or it closes, and is the certificate.
//!
//! A test that fails at depth b is worth repeating only with a greater depth, or for more views. So the depth is
//! raised while a plateau lasts, and starts anew with the next one, where a small depth, and a small certificate, may
//! do.

use tepui_core::{Budget, Evidence, Stop};

use super::evidence;
use super::search::Search;
use super::stacks::Stacks;
use crate::packed::PackedSet;
use crate::pushdown::abstraction::{Abstraction, Fence, Fixpoint};
use crate::pushdown::compiled::Compiled;

/// How many depths are tried at one bound.
const DEPTHS_AT_ONCE: usize = 2;
/// Z may always have so many views, and beyond that a multiple of the number of states or views reached.
const Z_ALWAYS: usize = 100_000;
const Z_FOR_EACH: usize = 4;
/// The depth beyond which nothing is tried when no bound will bring anything new.
const LAST_DEPTH: usize = 40;

/// The generator test with its memory of what failed.
pub struct GeneratorTest {
    first_depth: usize,
    depth: usize,
    views: usize,
    too_large: bool,
    work: u64,
}

impl GeneratorTest {
    /// A test that first cuts stacks at a depth.
    pub fn new(first_depth: usize) -> Self {
        let depth = first_depth.max(1);
        Self { first_depth: depth, depth, views: 0, too_large: false, work: 0 }
    }

    /// Tests whether the views reached are all there are. While a plateau lasts, tests may take as much work as the
    /// search and no more, unless the search is `exhausted`.
    pub fn run(
        &mut self,
        compiled: &Compiled,
        reached: &PackedSet,
        states: usize,
        exhausted: bool,
        budget: &mut Budget,
    ) -> Result<Option<Evidence>, Stop> {
        if reached.len() > self.views {
            (self.views, self.depth) = (reached.len(), self.first_depth);
        } else if !exhausted && self.work > budget.work() - self.work {
            return Ok(None);
        }
        let start = budget.work();
        let evidence = self.go_deeper(compiled, reached, states, budget);
        self.work += budget.work() - start;
        evidence
    }

    fn go_deeper(
        &mut self,
        compiled: &Compiled,
        reached: &PackedSet,
        states: usize,
        budget: &mut Budget,
    ) -> Result<Option<Evidence>, Stop> {
        self.too_large = false;
        for _ in 0..DEPTHS_AT_ONCE {
            let mut z = Abstraction::new(compiled, self.depth);
            let limit = Z_ALWAYS.max(states.max(reached.len()).saturating_mul(Z_FOR_EACH));
            match z.fixpoint(limit, Fence::Tops(reached), budget)? {
                Fixpoint::Complete => {
                    let because = format!("at depth {}, no pop can bring a view to light that is new", self.depth);
                    return Ok(Some(evidence(compiled, z.into_lemma(), "generators", because)));
                }
                Fixpoint::TooLarge => {
                    self.too_large = true;
                    return Ok(None);
                }
                Fixpoint::Escaped => self.depth += 1,
            }
        }
        Ok(None)
    }

    /// Gives up if the views are complete and greater depths are out of reach.
    pub fn nothing_new_will_come(&self) -> Result<(), Stop> {
        if !self.too_large && self.depth <= LAST_DEPTH {
            return Ok(());
        }
        Err(Stop::GaveUp(format!(
            "all {} views are known, but no inductive set of views up to depth {} shows it",
            self.views,
            self.depth - usize::from(!self.too_large)
        )))
    }
}

/// Evidence from an empty level of enumerated states: all states are known, so the views of some depth, at the latest
/// that of the highest stack, form an inductive set. Small depths give small certificates and are tried one by one;
/// where they do not do, depths are doubled, because each one costs a pass over the states. The states are given up
/// in the end to make room for the certificate.
pub fn finite(search: &mut Search<Stacks>, budget: &mut Budget) -> Result<Evidence, Stop> {
    let Search { compiled, states, locals, .. } = search;
    for depth in (1..=4).chain((3..).map(|exponent| 1 << exponent)) {
        let mut set = views_of_depth(compiled, states, locals, depth, budget)?;
        if set.fixpoint(usize::MAX, Fence::Preloaded, budget)? == Fixpoint::Complete {
            *states = PackedSet::new([1]);
            let because = "one more context brings no new state, so all states are known".to_owned();
            return Ok(evidence(compiled, set.into_lemma(), "states", because));
        }
    }
    unreachable!("at the height of the highest stack the views are the states, which are closed")
}

fn views_of_depth<'c>(
    compiled: &'c Compiled,
    states: &PackedSet,
    locals: &Stacks,
    depth: usize,
    budget: &mut Budget,
) -> Result<Abstraction<'c>, Stop> {
    let mut set = Abstraction::new(compiled, depth);
    let mut words: Vec<Vec<Option<u32>>> =
        compiled.kind_of.iter().map(|&kind| vec![None; locals.count(kind)]).collect();
    let mut row = vec![0; compiled.threads() + 1];
    for state in 0..states.len() as u32 {
        states.get(state, &mut row);
        for (thread, words) in words.iter_mut().enumerate() {
            let stack = row[thread + 1];
            let word = || set.word_of(thread, &locals.word(compiled.kind_of[thread], stack, depth));
            row[thread + 1] = *words[stack as usize].get_or_insert_with(word);
        }
        set.preload(&row);
        budget.spend(1)?;
    }
    Ok(set)
}

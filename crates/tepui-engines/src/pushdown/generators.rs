//! When a plateau is the end: the generator test.
//!
//! Let A be the views reached, and suppose the sequence has just plateaued. Pushes and overwrites respect views: from
//! equal views they lead to equal views. On a plateau every view of A is that of a state from which each thread can
//! still step within the bound (one context earlier; a round and n - 1 delays earlier), so their results are in A, and
//! the first view outside A that some larger bound shows must emerge from a pop.
//! The views that may emerge from a pop are the *generators* G. With an over-approximation Z of all views, A is
//! complete if no generator of Z lies outside A: `G ∩ Z ⊆ A`.
//!
//! Here Z is the least inductive set of views of some depth b ([`LeastInductiveSet`]), and then the test can be put more
//! simply. From a view of A, a push or overwrite of Z stays in A, and a pop leads to a generator of Z. So if `G ∩ Z ⊆
//! A`, then Z, which starts in A, never leaves it: the test succeeds iff Z stays within A. We compute Z fenced in by
//! A; it either meets a generator outside, and is abandoned there, or it closes, and is the certificate.
//!
//! A test that fails at depth b is worth repeating only with a greater depth, or for more views. So the depth is
//! raised while a plateau lasts, and starts anew with the next one, where a small depth, and a small certificate, may
//! do.
//!
//! Which symbols may come to light is derived from the rules that fire. Where a model was compiled from procedures, a
//! call-return relation may be given instead ([`Pairs`]): Z is then what that relation allows, at depth 1 and no other. It can only be larger.

use std::sync::Arc;

use tepui_core::{Budget, Evidence, Stop};

use super::compiled::Compiled;
use super::evidence::evidence;
use super::least_set::{Fence, Fixpoint, LeastInductiveSet, Reached};
use tepui_model::pushdown::Symbol;

use crate::symmetry::Symmetry;
use crate::workers::Workers;

/// How many depths are tried at one bound.
const DEPTHS_AT_ONCE: usize = 2;
/// Z may always have so many views, and beyond that a multiple of the number of states or views reached.
const Z_ALWAYS: usize = 100_000;
const Z_FOR_EACH: usize = 4;
/// The depth beyond which nothing is tried when no bound will bring anything new.
const LAST_DEPTH: usize = 40;

/// For each thread, pairs of a symbol and one that may lie below it.
pub type Pairs = Arc<Vec<Vec<(Symbol, Symbol)>>>;

/// The generator test with its memory of what failed.
pub(crate) struct GeneratorTest {
    pairs: Option<Pairs>,
    first_depth: usize,
    depth: usize,
    views: usize,
    too_large: bool,
    work: u64,
}

impl GeneratorTest {
    /// A test that first cuts stacks at a depth.
    pub(crate) fn new(first_depth: usize) -> Self {
        let depth = first_depth.max(1);
        Self { pairs: None, first_depth: depth, depth, views: 0, too_large: false, work: 0 }
    }

    /// The test with a relation of what may come to light.
    #[must_use]
    pub(crate) fn with_pairs(self, pairs: Option<Pairs>) -> Self {
        Self { pairs, ..self }
    }

    /// Tests whether the views reached are all there are. While a plateau lasts, tests may take as much work as the
    /// search and no more, unless the search is `exhausted`.
    pub(crate) fn run(
        &mut self,
        compiled: &Compiled,
        symmetry: &Symmetry,
        reached: Reached<'_>,
        exhausted: bool,
        workers: &Workers,
        budget: &mut Budget,
    ) -> Result<Option<Evidence>, Stop> {
        if reached.views.len() > self.views {
            (self.views, self.depth) = (reached.views.len(), self.first_depth);
        } else if !exhausted && self.work > budget.work() - self.work {
            return Ok(None);
        }
        let start = budget.work();
        let evidence = self.go_deeper(compiled, symmetry, reached, workers, budget);
        self.work += budget.work() - start;
        evidence
    }

    fn go_deeper(
        &mut self,
        compiled: &Compiled,
        symmetry: &Symmetry,
        reached: Reached<'_>,
        workers: &Workers,
        budget: &mut Budget,
    ) -> Result<Option<Evidence>, Stop> {
        self.too_large = false;
        for _ in 0..DEPTHS_AT_ONCE {
            let mut z = LeastInductiveSet::new(compiled, symmetry, self.depth);
            if let Some(pairs) = &self.pairs {
                z.allow(pairs);
            }
            let limit = Z_ALWAYS.max(reached.states.max(reached.views.len()).saturating_mul(Z_FOR_EACH));
            match z.fixpoint(limit, Fence::Reached(reached), workers, budget)? {
                Fixpoint::Complete => {
                    let because = format!("at depth {}, no pop can bring a view to light that is new", self.depth);
                    return Ok(Some(evidence(compiled, z.into_lemma(workers, budget)?, "generators", because)));
                }
                Fixpoint::TooLarge => {
                    self.too_large = true;
                    return Ok(None);
                }
                Fixpoint::Escaped if self.pairs.is_some() => return Ok(None),
                Fixpoint::Escaped => self.depth += 1,
            }
        }
        Ok(None)
    }

    /// Gives up if the views are complete and greater depths are out of reach.
    pub(crate) fn nothing_new_will_come(&self) -> Result<(), Stop> {
        if self.pairs.is_some() {
            let why = format!("all {} views are reached, but the call-return relation allows for others", self.views);
            return Err(Stop::GaveUp(why));
        }
        if !self.too_large && self.depth <= LAST_DEPTH {
            return Ok(());
        }
        Err(Stop::GaveUp(format!(
            "all {} views are reached, but no inductive set of views up to depth {} shows it",
            self.views,
            self.depth - usize::from(!self.too_large)
        )))
    }
}

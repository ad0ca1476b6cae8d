//! Which approximations become more precise, and by how much.
//!
//! The word that all threads seem to allow is a real one for a thread if its projection is shorter than the length up to
//! which the thread's words are exact. Otherwise some lengths are raised. *Succinct* raises all of them by one; *multi-step*
//! all of them so far that the word would be exact everywhere; *individual* raises by one those of the threads for which
//! the word is not exact; *individual multi-step* those, and so far that it would be. *Non-greedy* does the same, but with
//! a word whose longest projection is as short as possible, instead of a shortest one.
//!
//! Individual refinement has a known vice: the next word may be inexact for another thread, the one after that for
//! the first again, and so on, each time at the cost of a whole round. When threads have been refined in turn like this
//! for a while, all are refined together from then on: the policy becomes *multi-step*.

use std::collections::BTreeSet;
use std::fmt;

/// A policy of refinement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Policy {
    /// All by one.
    Succinct,
    /// All as far as the word needs.
    MultiStep,
    /// Those that need it, by one.
    Individual,
    /// Those that need it, as far as the word needs.
    IndividualMultiStep,
    /// The same with the word whose longest projection is shortest.
    NonGreedy,
}

impl Policy {
    /// All policies with their names.
    pub const ALL: [(&'static str, Self); 5] = [
        ("succinct", Self::Succinct),
        ("multi-step", Self::MultiStep),
        ("individual", Self::Individual),
        ("individual-multi-step", Self::IndividualMultiStep),
        ("non-greedy", Self::NonGreedy),
    ];

    /// Raises lengths because of a word with these projected lengths, some of which are not exact.
    pub(super) fn refine(self, lengths: &mut [u32], projected: &[u32]) {
        let longest = projected.iter().copied().max().unwrap_or(0);
        for (length, &needed) in lengths.iter_mut().zip(projected) {
            let inexact = needed >= *length;
            *length = match self {
                Self::Succinct => *length + 1,
                Self::MultiStep => (longest + 1).max(*length),
                Self::Individual if inexact => *length + 1,
                Self::IndividualMultiStep | Self::NonGreedy if inexact => needed + 1,
                Self::Individual | Self::IndividualMultiStep | Self::NonGreedy => *length,
            };
        }
    }

    /// Whether it may end up refining in turn. Non-greedy refinement is left alone: it never looks at a word that is
    /// longer, for any thread, than the best real one.
    fn may_take_turns(self) -> bool {
        matches!(self, Self::Individual | Self::IndividualMultiStep)
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(_, policy)| policy == self).map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

/// Looks for refinement in turn.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    refined: Vec<BTreeSet<usize>>,
}

impl Turns {
    /// Takes note of the threads that were refined; whether it is time to refine all of them together: for twice as many
    /// rounds as there are threads, no round refined all of them or the same ones as the round before.
    pub(super) fn note(&mut self, policy: Policy, before: &[u32], after: &[u32]) -> bool {
        let refined = (0..before.len()).filter(|&thread| before[thread] != after[thread]).collect();
        self.refined.push(refined);
        let window = self.refined.len().checked_sub(2 * before.len()).map(|start| &self.refined[start..]);
        let in_turn = |window: &[BTreeSet<usize>]| {
            window.windows(2).all(|pair| pair[0] != pair[1]) && window.iter().all(|set| set.len() < before.len())
        };
        policy.may_take_turns() && before.len() > 1 && window.is_some_and(in_turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three threads at length 3; the word has projections of 3, 2 and 5 actions.
    #[test]
    fn the_four_published_policies_on_one_word() {
        let refined = |policy: Policy| {
            let mut lengths = [3; 3];
            policy.refine(&mut lengths, &[3, 2, 5]);
            lengths
        };
        assert_eq!(refined(Policy::Succinct), [4, 4, 4]);
        assert_eq!(refined(Policy::MultiStep), [6, 6, 6]);
        assert_eq!(refined(Policy::Individual), [4, 3, 4]);
        assert_eq!(refined(Policy::IndividualMultiStep), [4, 3, 6]);
        assert_eq!(refined(Policy::NonGreedy), [4, 3, 6]);
    }

    #[test]
    fn refinement_in_turn_is_noticed() {
        let notices = |policy: Policy, rounds: &[[u32; 2]]| {
            let mut turns = Turns::default();
            rounds.iter().position(|after| turns.note(policy, &[0, 0], after))
        };
        let in_turn = [[1, 0], [0, 1], [1, 0], [0, 1], [1, 0]];
        assert_eq!(notices(Policy::Individual, &in_turn), Some(3));
        assert_eq!(notices(Policy::IndividualMultiStep, &in_turn), Some(3));
        assert_eq!(notices(Policy::Succinct, &in_turn), None);
        assert_eq!(notices(Policy::Individual, &[[1, 0], [1, 0], [1, 0], [1, 0], [1, 0]]), None);
        assert_eq!(notices(Policy::Individual, &[[1, 0], [0, 1], [1, 1], [0, 1], [1, 0], [0, 1]]), None);
    }
}

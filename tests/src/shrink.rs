//! Shrinking: from a random case that fails to a small one that fails in the same place.
//!
//! [`shrink`] is greedy. It goes over the cases that are a little smaller than the best one so far and moves on to the
//! first that still fails, until none does or the tries are used up. Each step must make a case smaller, so the search
//! ends. [`check`] runs a test on a case and, if it panics, panics with the smallest case it finds, printed in its
//! language.
//!
//! A smaller case may fail for a reason that has nothing to do with the first one: a test may ask for the first property
//! of a model that has none left. So a failure counts only if its panic comes from the same line of the same file.

mod pushdown;
mod rendezvous;
mod text;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

pub use text::smaller_texts;

/// How many cases are tried before the best one so far is taken.
pub const TRIES: usize = 3_000;

/// A case that can be made smaller.
pub trait Case: Sized {
    /// Cases that are smaller by one step, those that leave out most first.
    fn smaller(&self) -> Vec<Self>;

    /// The case in its language.
    fn show(&self) -> String;
}

/// The smallest case that a greedy search finds among those that fail, with its failure. Nothing, if no smaller case
/// fails.
pub fn shrink<C, F>(
    case: &C,
    tries: usize,
    smaller: impl Fn(&C) -> Vec<C>,
    mut fails: impl FnMut(&C) -> Option<F>,
) -> Option<(C, F)> {
    let (mut best, mut left) = (None, tries);
    loop {
        let candidates = smaller(best.as_ref().map_or(case, |(case, _)| case));
        let tried = candidates.into_iter().take(left).inspect(|_| left -= 1);
        let mut failing = tried.filter_map(|candidate| fails(&candidate).map(|failure| (candidate, failure)));
        match failing.next() {
            Some(found) => best = Some(found),
            None => return best,
        }
    }
}

/// A panic that was caught.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// Where it comes from: a file and a line. Nothing, if it comes from another thread.
    pub place: Option<String>,
    /// What it says.
    pub message: String,
}

thread_local! {
    /// Whether panics of this thread are caught, and where the last of them comes from.
    static CAUGHT: RefCell<Option<Option<String>>> = const { RefCell::new(None) };
}

/// Makes panics that are caught note their place instead of printing it.
fn watch_panics() {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(|| {
        let otherwise = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let place = info.location().map(|place| format!("{}:{}", place.file(), place.line()));
            let caught = CAUGHT.with_borrow_mut(|caught| caught.as_mut().map(|noted| *noted = place).is_some());
            if !caught {
                otherwise(info);
            }
        }));
    });
}

/// Runs a test, and returns its panic, if it panics.
pub fn failure(test: impl FnOnce()) -> Option<Failure> {
    watch_panics();
    CAUGHT.set(Some(None));
    let result = catch_unwind(AssertUnwindSafe(test));
    let place = CAUGHT.take().flatten();
    let payload = result.err()?;
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let message = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
    Some(Failure { place, message })
}

/// Runs a test on a case that was drawn with a seed. If it panics, so does this, with a small case that fails in the
/// same place.
pub fn check<C: Case>(seed: u64, case: &C, mut test: impl FnMut(&C)) {
    let Some(first) = failure(|| test(case)) else { return };
    let again = |case: &C| failure(|| test(case)).filter(|other| other.place == first.place);
    let small = shrink(case, TRIES, C::smaller, again);
    let (shown, last) = small.map_or((case.show(), first.clone()), |(small, last)| (small.show(), last));
    let place = first.place.as_deref().unwrap_or("another thread");
    panic!(
        "seed {seed}, {place}: {}\nThe smallest case found:\n{shown}\nIt fails with: {}",
        first.message, last.message
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets of numbers, smaller by one number.
    fn fewer(numbers: &[u32]) -> Vec<Vec<u32>> {
        let without = |place| [&numbers[..place], &numbers[place + 1..]].concat();
        (0..numbers.len()).map(without).collect()
    }

    #[test]
    fn what_a_failure_needs_is_left() {
        let case: Vec<u32> = (0..40).collect();
        let needs = |numbers: &Vec<u32>| [7, 31].iter().all(|number| numbers.contains(number)).then_some(());
        assert_eq!(shrink(&case, TRIES, |numbers| fewer(numbers), needs), Some((vec![7, 31], ())));
        assert_eq!(shrink(&vec![7, 31], TRIES, |numbers| fewer(numbers), needs), None);
    }

    #[test]
    fn tries_are_limited() {
        let case: Vec<u32> = (0..40).collect();
        let mut tried = 0;
        let found = shrink(
            &case,
            10,
            |numbers| fewer(numbers),
            |_| {
                tried += 1;
                Some(())
            },
        );
        assert_eq!((found.map(|(case, ())| case.len()), tried), (Some(30), 10));
    }

    impl Case for Vec<u32> {
        fn smaller(&self) -> Vec<Self> {
            fewer(self)
        }

        fn show(&self) -> String {
            format!("{self:?}")
        }
    }

    /// A sum that is too large, and a first number that a smaller case may lack.
    fn planted(numbers: &[u32]) {
        assert!(numbers[0] < 90, "the first number is missing or large");
        assert!(numbers.iter().sum::<u32>() < 20, "the sum is large");
    }

    #[test]
    fn the_report_has_the_seed_and_a_small_case() {
        let report = failure(|| check(5, &vec![3, 12, 1, 9, 2], |numbers| planted(numbers))).unwrap();
        assert!(report.message.starts_with("seed 5, "), "{}", report.message);
        assert!(report.message.contains("The smallest case found:\n[12, 9]\n"), "{}", report.message);
        assert!(report.message.ends_with("the sum is large"), "{}", report.message);
        check(6, &vec![1, 2], |numbers| planted(numbers));
    }

    #[test]
    fn a_failure_in_another_place_does_not_count() {
        let only_one = |numbers: &Vec<u32>| {
            assert_ne!(numbers.len(), 0, "nothing is left");
            assert!(numbers.len() > 1 || numbers[0] != 4, "a four");
            assert!(!numbers.contains(&4), "some four");
        };
        let report = failure(|| check(0, &vec![1, 4, 2], only_one)).unwrap();
        assert!(report.message.contains("some four\nThe smallest case found:\n[4, 2]\n"), "{}", report.message);
    }
}

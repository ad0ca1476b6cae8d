//! Worked examples, of the literature and of our own.

use std::path::Path;

use tepui::{Abstraction, CLOSURE, Policy, Refinement};
use tepui_core::Status;
use tepui_model::rendezvous::Model;

use super::{longest, parse, refine, run, unknown, with, word_lengths};

fn example(name: &str) -> (Model, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("examples").join(name);
    let text = std::fs::read_to_string(path).unwrap();
    (parse(&text), text)
}

/// The published figures for the driver are tuples that depend on the exact models, which are not known; what can be
/// compared is that four published policies end, and that individual ones end with lengths that differ from thread to thread.
#[test]
fn the_driver_is_decided_by_languages_alone() {
    for (name, status) in [
        ("bluetooth1", Status::Unsafe),
        ("bluetooth2", Status::Safe),
        ("bluetooth2-two", Status::Unsafe),
        ("bluetooth3", Status::Safe),
    ] {
        let (model, _) = example(&format!("{name}.rpds"));
        for (policy, refinement) in Policy::ALL.map(|(name, policy)| (name, with(policy))) {
            let outcome = refine(&model, refinement, 20);
            assert_eq!((outcome.status(), outcome.engine.name), (status, "rendezvous"), "{name}, {policy}");
            let last = &outcome.iterations.last().unwrap().approximations[0].lengths;
            let equal = last.iter().all(|length| *length == last[0]);
            let together = policy == "succinct" || policy == "multi-step";
            assert!(equal == together || policy == "individual", "{name}, {policy}: {last:?}");
        }
    }
}

/// Three threads, of which the third knows all four actions, the first b and d, the second a and c; the word a b c d b is
/// all there is. At length 3 it is inexact for the first and the third. Examples 6 to 9.
#[test]
fn one_word_refined_in_four_ways() {
    let model = parse(
        "action a, c: second, third
         action b, d: first, third
         thread first {
           init p b1
           p b1 -> p d1 : b
           p d1 -> p b2 : d
           p b2 -> p - : b
         }
         thread second {
           init p a1
           p a1 -> p c1 : a
           p c1 -> p - : c
         }
         thread third {
           init p a1
           p a1 -> p b1 : a
           p b1 -> p c1 : b
           p c1 -> p d1 : c
           p d1 -> p b2 : d
           p b2 -> p - : b
         }
         reach end: first at p -, second at p -, third at p -",
    );
    let rounds = |policy| -> Vec<Vec<u32>> {
        let outcome = refine(&model, with(policy), 20);
        assert_eq!(word_lengths(&model, &outcome), Some((5, 5)));
        outcome.iterations.iter().map(|iteration| iteration.approximations[0].lengths.clone()).collect()
    };
    let after = |rounds: &[Vec<u32>], before: &[u32]| {
        let place = rounds.iter().position(|lengths| lengths == before)?;
        rounds.get(place + 1).cloned()
    };
    // All by one; and so far as the word needs; from length 1, where the word is the same.
    assert_eq!(after(&rounds(Policy::Succinct), &[3, 3, 3]), Some(vec![4, 4, 4]));
    assert_eq!(rounds(Policy::Succinct).len(), 6);
    assert_eq!(rounds(Policy::MultiStep).last(), Some(&vec![6, 6, 6]));
    assert_eq!(rounds(Policy::Individual).last(), Some(&vec![4, 3, 6]));
    assert_eq!(rounds(Policy::IndividualMultiStep).last(), Some(&vec![4, 3, 6]));
    assert!(rounds(Policy::IndividualMultiStep).len() < rounds(Policy::Individual).len());
}

/// As many b's as a's against one more: unknown for every abstraction, and never wrong.
#[test]
fn counting_is_left_open() {
    let (model, _) = example("counting.rpds");
    for abstraction in [Abstraction::Prefix, Abstraction::Suffix, Abstraction::Bifix] {
        for (name, policy) in Policy::ALL {
            let outcome = refine(&model, Refinement { policy, abstraction, shuffle_first: false }, 25);
            assert!(unknown(&outcome), "{name}, {abstraction:?}");
            assert!(outcome.obstacles[0].contains("the threads still seem to allow a a"), "{:?}", outcome.obstacles);
        }
    }
    assert!(unknown(&run(&model, &CLOSURE, Refinement::default(), Some(6))));
    // With an end marker in the middle nothing changes. With one at the end, only the ends of words tell.
    let (_, text) = example("counting.rpds");
    let marked = text
        .replace("action a, b: even, odd", "action a, b, e, f: even, odd")
        .replace("reach both: even at down -, odd at more -", "reach both: even at end, odd at end")
        .replacen("  down n -> down - : b\n}", "  down n -> down - : b\n  down - -> end - : e\n}", 1)
        .replace("  down - -> more - : b\n}", "  down - -> more - : b\n  more - -> end - : f\n}");
    let marked = parse(&marked);
    let with = |abstraction| refine(&marked, Refinement { abstraction, ..Refinement::default() }, 25);
    assert!(unknown(&with(Abstraction::Prefix)));
    assert_eq!(with(Abstraction::Suffix).status(), Status::Safe);
    assert_eq!(with(Abstraction::Bifix).status(), Status::Safe);
}

/// Theorem 2 is stated with equality: that succinct finds a word as soon as its length exceeds the shortest longest
/// projection of all real words. It need not. The only real word is `a b c d`, with projections of two actions. As long as
/// the third thread is exact for less than four actions, the shorter word `x x x` seems possible too, and succinct looks
/// at the shortest word only: it needs length 4, where non-greedy refinement needs 3.
#[test]
fn succinct_may_look_further_than_it_must() {
    let model = parse(
        "action a, b: left
         action c, d: right
         action x: left, right, third
         thread left {
           init p start
           p start -> p b1 : a
           p b1 -> p end : b
           p start -> p x1 : x
           p x1 -> p x2 : x
           p x2 -> p end : x
         }
         thread right {
           init p start
           p start -> p d1 : c
           p d1 -> p end : d
           p start -> p x1 : x
           p x1 -> p x2 : x
           p x2 -> p end : x
         }
         thread third {
           init p end
           p end -> p x1 : x
           p x1 -> p x2 : x
           p x2 -> p x3 : x
           p x3 -> p end : x
         }
         reach end: left at p end, right at p end, third at p end",
    );
    let succinct = refine(&model, with(Policy::Succinct), 20);
    let even = refine(&model, with(Policy::NonGreedy), 20);
    let (length, least) = word_lengths(&model, &even).unwrap();
    assert_eq!((succinct.status(), even.status(), length, least), (Status::Unsafe, Status::Unsafe, 4, 2));
    assert_eq!((longest(&even), longest(&succinct)), (3, 4));
}

/// Two threads that can only do very much or nothing at all, and a third that wants one of them to do something: the
/// shortest word is the turn of the one, then of the other, and so on. The policy notices, and goes over to refining all
/// threads together, which halves the number of rounds that are left.
#[test]
fn refinement_in_turn_is_given_up() {
    const LONG: usize = 12;
    let chain = |action: &str| {
        let steps = (1..LONG).map(|n| format!("p n{} -> p n{n} : {action}\n", n - 1)).collect::<String>();
        format!("{steps}p n{} -> p done : {action}\np done -> p done : {action}\n", LONG - 1)
    };
    let model = parse(&format!(
        "action a: one, third
         action b: two, third
         thread one {{
           init p n0
           {}
         }}
         thread two {{
           init p n0
           {}
         }}
         thread third {{
           init p -
           p - -> as - : a
           as - -> as - : a
           p - -> bs - : b
           bs - -> bs - : b
         }}
         reach end: one at p (n0|done), two at p (n0|done), third at (as|bs) -",
        chain("a"),
        chain("b")
    ));
    for policy in [Policy::Individual, Policy::IndividualMultiStep] {
        let outcome = refine(&model, with(policy), 20);
        assert_eq!(word_lengths(&model, &outcome).map(|word| word.0), Some(LONG as u32), "{policy}");
        assert_eq!(outcome.remarks.len(), 1, "{:?}", outcome.remarks);
        assert!(
            outcome.remarks[0].starts_with("end: threads were refined in turn; after round"),
            "{:?}",
            outcome.remarks
        );
        assert!(outcome.iterations.len() < 2 * LONG - 2, "{policy}: {} rounds", outcome.iterations.len());
    }
    let even = refine(&model, with(Policy::NonGreedy), 20);
    assert!(even.status() == Status::Unsafe && even.remarks.is_empty() && even.iterations.len() >= 2 * LONG - 1);
}

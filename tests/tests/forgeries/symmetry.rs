//! Forged certificates with interchangeable threads: the checker answers as the judge does, who unfolds every orbit.

use std::time::{Duration, Instant};

use fastrand::Rng;
use tepui_cert::pushdown::{Certificate, Lemma, LemmaThread};
use tepui_check::Rejected;
use tepui_check::pushdown::Accepted;

use crate::check;
use tepui_model::Digest;
use tepui_model::pushdown::{Model, Property, Rule};
use tepui_tests::oracle;
use tepui_tests::systems::{never, rule, state, system, thread};

use crate::certificates::compare;
use crate::groupings::regroupings;
use crate::judge::*;
use crate::models::change_model;
use crate::proofs::{add_violations, drop_views, forgeries, rows};
use crate::samples::Sample;
use crate::symmetric::{change_alike, symmetric_samples};
use crate::{CAP, FORGERIES_AT_LEAST, Tally};

#[test]
fn proofs_with_orbits_are_accepted() {
    let mut tally = Tally::default();
    let mut saved = 0;
    for sample in symmetric_samples() {
        compare(&sample.model, &sample.certificate, &sample.reachable, &sample.name, &mut tally);
        assert_eq!(tally.rejected, 0, "{}", sample.name);
        let accepted = check(&sample.model, &sample.certificate).expect("it was accepted before");
        saved += usize::from(accepted.views > accepted.orbits as u64);
    }
    println!("{tally:?}, {saved} of them with fewer orbits than views");
    assert!(saved * 2 > tally.accepted, "{saved} of {tally:?}");
}

#[test]
fn the_checker_agrees_with_the_judge_on_forged_proofs() {
    let (mut usual, mut regrouped) = (Tally::default(), Tally::default());
    let mut rng = Rng::with_seed(4);
    for sample in symmetric_samples() {
        for (number, forged) in forgeries(sample, &mut rng).iter().enumerate() {
            let place = format!("{}, forgery {number}", sample.name);
            compare(&sample.model, forged, &sample.reachable, &place, &mut usual);
        }
        for (number, forged) in regroupings(sample, &mut rng).iter().enumerate() {
            let place = format!("{}, grouping {number}", sample.name);
            compare(&sample.model, forged, &sample.reachable, &place, &mut regrouped);
        }
    }
    println!("{usual:?}, other groups: {regrouped:?}");
    assert!(usual.total() + regrouped.total() >= FORGERIES_AT_LEAST, "{usual:?}, {regrouped:?}");
    assert!(usual.accepted * 20 > usual.rejected, "{usual:?}");
    assert!(regrouped.accepted * 10 > regrouped.rejected && regrouped.rejected > 5000, "{regrouped:?}");
}

#[test]
fn the_checker_agrees_with_the_judge_on_models_that_lose_their_symmetry() {
    let (mut one, mut all) = (Tally::default(), Tally::default());
    let mut rng = Rng::with_seed(5);
    for sample in symmetric_samples() {
        let adopt = |model: Option<Model>, tally: &mut Tally| {
            let Some(model) = model else { return };
            let (digest, properties) = (model.digest(), model.properties().to_vec());
            let adopted = Certificate { model: digest, properties, ..sample.certificate.clone() };
            compare(&model, &adopted, &oracle::reachable(&model, CAP).0, &sample.name, tally);
        };
        for _ in 0..40 {
            adopt(change_model(&sample.model, &mut rng), &mut one);
            adopt(change_alike(&sample.model, &mut rng), &mut all);
        }
    }
    println!("one thread: {one:?}, all of a group: {all:?}");
    assert!(one.accepted > 100 && one.rejected > 1000, "{one:?}");
    assert!(all.accepted > 300 && all.rejected > 300, "{all:?}");
}

#[test]
fn what_must_be_rejected_is_rejected() {
    for Sample { name, model, certificate, .. } in symmetric_samples() {
        let reject = |forged: &Certificate| assert!(check(model, forged).is_err(), "{name}: {forged:?}");
        drop_views(certificate).iter().for_each(reject);
        add_violations(model, certificate, certificate.lemmas.len() - 1).iter().for_each(reject);
        reject(&Certificate { model: Digest::of(b"another"), ..certificate.clone() });
    }
}

#[test]
fn written_and_read_they_are_the_same() {
    for sample in symmetric_samples() {
        let text = sample.certificate.to_text();
        assert_eq!(Certificate::from_text(&text).as_ref(), Ok(&sample.certificate), "{}", sample.name);
    }
}

/// The text with one character changed, and a seal that fits.
fn change(text: &str, at: usize, to: char) -> String {
    let body = &text[..text.rfind("end ").expect("a seal")];
    let body = format!("{}{to}{}", &body[..at], &body[at + 1..]);
    format!("{body}end {}\n", Digest::of(body.as_bytes()))
}

#[test]
fn changed_text_with_a_new_seal_is_judged_by_what_it_says() {
    let samples = symmetric_samples();
    let mut tally = Tally::default();
    let mut unreadable = 0;
    for sample in samples.iter().step_by(samples.len() / 12) {
        let text = sample.certificate.to_text();
        let lemmas = text.find("lemma ").expect("a lemma")..text.rfind("end ").expect("a seal");
        for at in lemmas.filter(|&at| text.as_bytes()[at].is_ascii_digit()) {
            for digit in ['0', '1', '2', '3', '9'] {
                match Certificate::from_text(&change(&text, at, digit)) {
                    Ok(forged) => compare(&sample.model, &forged, &sample.reachable, &sample.name, &mut tally),
                    Err(_) => unreadable += 1,
                }
            }
        }
    }
    println!("{tally:?}, {unreadable} unreadable");
    assert!(tally.accepted > 500 && tally.rejected > 500 && unreadable > 500, "{tally:?}, {unreadable}");
}

/// Threads take a token, one at a time, and give it back: symbol 2 holds it.
fn token_rules() -> Vec<Rule> {
    vec![rule(0, 1, 1, &[2]), rule(1, 2, 0, &[1])]
}

fn token(count: usize, properties: Vec<Property>) -> Model {
    let threads = (1..=count).map(|number| thread(&format!("t{number}"), 2, token_rules())).collect();
    let stacks: Vec<&[u32]> = vec![&[1]; count];
    system(2, threads, state(0, &stacks)).with_properties(properties).expect("they fit")
}

/// A lemma of depth 1 whose threads are all like the first, with the empty stack below everything.
fn all_alike(threads: usize, words: &[u32], table: Vec<Vec<u32>>) -> Lemma {
    let leader = LemmaThread {
        like: None,
        words: words.iter().map(|&word| symbols(&[word])).collect(),
        below: words.iter().filter(|&&word| word > 0).map(|&word| (symbols(&[word]), symbols(&[0]))).collect(),
    };
    let mut parts = vec![leader];
    parts.resize(threads, LemmaThread { like: Some(0), ..LemmaThread::default() });
    Lemma { depth: 1, threads: parts, views: rows(threads + 1, table), explored: Vec::new() }
}

fn token_lemma(count: usize) -> Lemma {
    let free = vec![0; count + 1];
    let mut held = free.clone();
    (held[0], held[count]) = (1, 1);
    all_alike(count, &[1, 2], vec![free, held])
}

/// With a view from which two threads come to hold the token: an earlier lemma has to exclude that.
fn leaning_lemma(count: usize) -> Lemma {
    let mut lemma = token_lemma(count);
    lemma.views.push((0..=count).map(|cell| u32::from(cell == count)).collect::<Vec<_>>());
    lemma
}

fn answer(model: &Model, lemmas: Vec<Lemma>) -> Result<Accepted, Rejected> {
    let certificate =
        Certificate { model: model.digest(), properties: model.properties().to_vec(), lemmas, regular: None };
    check(model, &certificate)
}

/// The checker's answer, which must be the judge's.
fn agreed_on(model: &Model, lemmas: Vec<Lemma>) -> Result<Accepted, Rejected> {
    let (digest, properties) = (model.digest(), model.properties().to_vec());
    let judged = judge(model, &Certificate { model: digest, properties, lemmas: lemmas.clone(), regular: None });
    let answer = answer(model, lemmas);
    assert_eq!(answer.is_ok(), judged, "{answer:?}");
    answer
}

fn agreed(model: &Model, lemma: &Lemma) -> Result<Accepted, Rejected> {
    agreed_on(model, vec![lemma.clone()])
}

fn reason(answer: Result<Accepted, Rejected>) -> String {
    answer.expect_err("it must be rejected").to_string()
}

#[test]
fn one_row_stands_for_all_of_its_orbit() {
    let accepted = agreed(&token(4, vec![]), &token_lemma(4)).expect("it is a proof");
    assert_eq!((accepted.views, accepted.orbits), (5, 2));
}

#[test]
fn a_permutation_of_a_row_may_violate_a_property() {
    let lemma = token_lemma(3);
    let tops = |wanted: &[u32]| wanted.iter().map(|&top| Some(top).filter(|&top| top > 0)).collect::<Vec<_>>();
    // The row is 1|1,1,2. Zero stands for any top.
    for wanted in [[2, 1, 1], [1, 2, 1], [2, 0, 0], [0, 2, 1], [2, 0, 1], [1, 1, 2], [0, 0, 0], [1, 0, 0]] {
        let model = token(3, vec![never(Some(1), &tops(&wanted))]);
        let reason = reason(agreed(&model, &lemma));
        assert!(reason.contains("1|...1,...1,...2, or a permutation of it, violates it"), "{wanted:?}: {reason}");
    }
    for wanted in [[2, 2, 0], [0, 2, 2], [2, 0, 2], [1, 1, 1], [2, 1, 2]] {
        let model = token(3, vec![never(Some(1), &tops(&wanted))]);
        assert!(agreed(&model, &lemma).is_ok(), "{wanted:?}");
    }
}

#[test]
fn groups_are_believed_only_where_threads_are_alike() {
    let lemma = token_lemma(2);
    let model = |second: Vec<Rule>, symbols: u32, stack: &[u32]| {
        let threads = vec![thread("one", 2, token_rules()), thread("other", symbols, second)];
        system(3, threads, state(0, &[&[1], stack]))
    };
    let twice = [token_rules(), token_rules()].concat();
    let backwards = token_rules().into_iter().rev().collect();
    for rules in [token_rules(), twice, backwards] {
        assert!(agreed(&model(rules.clone(), 2, &[1]), &lemma).is_ok(), "{rules:?}");
    }
    // A rule less, one more that is never enabled, one that differs in one part each, one that leads elsewhere.
    for rules in [
        token_rules()[..1].to_vec(),
        [token_rules(), vec![rule(2, 1, 2, &[])]].concat(),
        vec![rule(0, 1, 1, &[2]), rule(1, 2, 0, &[2])],
        vec![rule(0, 1, 1, &[2]), rule(1, 2, 1, &[1])],
        vec![rule(0, 1, 1, &[2]), rule(1, 1, 0, &[1])],
        vec![rule(0, 1, 1, &[2]), rule(0, 2, 0, &[1])],
        vec![rule(0, 1, 1, &[2]), rule(1, 2, 0, &[])],
        vec![rule(0, 1, 1, &[2]), rule(1, 2, 0, &[1, 1])],
    ] {
        let reason = reason(agreed(&model(rules, 2, &[1]), &lemma));
        assert!(reason.contains("thread other has other rules"), "{reason}");
    }
    let symbols = reason(agreed(&model(token_rules(), 3, &[1]), &lemma));
    assert!(symbols.contains("thread other has another number of symbols"), "{symbols}");
    for stack in [&[][..], &[2], &[1, 1]] {
        let stack = reason(agreed(&model(token_rules(), 2, stack), &lemma));
        assert!(stack.contains("thread other starts with another stack"), "{stack}");
    }
}

/// The second thread alone can take the token twice. With both in one group the set is closed for the first one's rules,
/// and what the second does is in no row.
#[test]
fn wrong_groups_hide_a_reachable_view() {
    let greedy = [token_rules(), vec![rule(1, 2, 2, &[2])]].concat();
    let threads = vec![thread("one", 2, token_rules()), thread("other", 2, greedy)];
    let property = never(Some(2), &[None, None]);
    let model = system(3, threads, state(0, &[&[1], &[1]])).with_properties(vec![property]).expect("it fits");
    assert!(oracle::reachable(&model, CAP).0.contains(&state(2, &[&[1], &[2]])));
    assert!(reason(agreed(&model, &token_lemma(2))).contains("thread other has other rules"));
    let claim = Claim::least(&model, 1, &[]).expect("it is small");
    assert!(reason(agreed(&model, &claim.lemma())).contains("violates it"));
}

#[test]
fn every_wrong_leader_is_noticed() {
    let model = token(4, vec![]);
    for thread in 0..4 {
        for like in (0..6).chain([u16::MAX.into(), u32::MAX as usize, usize::MAX - 1, usize::MAX]) {
            let mut lemma = token_lemma(4);
            lemma.threads[thread].like = Some(like);
            let right = thread > 0 && like == 0;
            let answer = agreed(&model, &lemma);
            assert_eq!(answer.is_ok(), right, "thread {thread} like {like}: {answer:?}");
            if !right {
                assert!(reason(answer).contains("is not like an earlier one that is like no other"));
            }
        }
    }
}

#[test]
fn a_thread_that_is_like_another_lists_nothing() {
    let model = token(3, vec![]);
    let lists: [fn(&mut LemmaThread); 2] =
        [|part| part.words.push(symbols(&[1])), |part| part.below.push((symbols(&[1]), symbols(&[0])))];
    for list in lists {
        let mut lemma = token_lemma(3);
        list(&mut lemma.threads[1]);
        assert!(reason(agreed(&model, &lemma)).contains("has lists of its own"));
    }
}

#[test]
fn rows_in_another_order_are_noticed() {
    let model = token(3, vec![]);
    for row in [vec![1, 1, 0, 0], vec![1, 0, 1, 0]] {
        let mut beside = token_lemma(3);
        beside.views.push(row.clone());
        let instead = all_alike(3, &[1, 2], vec![vec![0, 0, 0, 0], row]);
        for lemma in [beside, instead] {
            assert!(reason(agreed(&model, &lemma)).contains("in ascending order"));
        }
    }
}

#[test]
fn an_earlier_lemma_may_have_other_groups() {
    let model = token(4, vec![]);
    let claim = |lemma: &Lemma| Claim::of(&model, lemma).expect("its threads are alike");
    let (earlier, later) = (claim(&token_lemma(4)), claim(&leaning_lemma(4)));
    let groupings = [[0, 0, 0, 0], [0, 1, 2, 3], [0, 1, 0, 1], [0, 1, 1, 0], [0, 0, 2, 2], [0, 1, 1, 1], [0, 0, 0, 3]];
    for one in &groupings {
        for other in &groupings {
            let accepted = agreed_on(&model, vec![earlier.folded(one), later.folded(other)]);
            assert_eq!(accepted.map(|accepted| accepted.views), Ok(9), "{one:?} before {other:?}");
            assert!(agreed_on(&model, vec![later.folded(other), earlier.folded(one)]).is_err());
        }
        assert!(agreed(&model, &later.folded(one)).is_err());
    }
}

/// Beside the token, there are steps from shared state 2 to 3, neither of which is ever reached.
fn with_dead_ends() -> Model {
    let rules = [token_rules(), vec![rule(2, 1, 3, &[2]), rule(2, 3, 3, &[4])]].concat();
    system(4, vec![thread("t", 4, rules); 2], state(0, &[&[1], &[1]]))
}

/// What can be reached, and more, without groups.
fn reached_and(model: &Model, more: &[(u32, u32, u32)]) -> Lemma {
    let mut claim = Claim::least(model, 1, &[]).expect("it is small");
    claim.below.extend((0..2).flat_map(|thread| (1..=4).map(move |word| ((thread, vec![word]), [0].into()))));
    claim.views.extend(more.iter().map(|&(shared, one, other)| (shared, vec![vec![one], vec![other]])));
    claim.lemma()
}

/// The later lemma has the view 2|1,3, and nothing that follows from it: neither 3|2,3 nor 3|1,4. The earlier lemma has
/// one or the other view of these orbits for no reason. One view that is excluded would be enough, but only the row is
/// tried that the numbers of the words make of the orbit.
#[test]
fn of_an_orbit_the_missing_row_itself_must_be_excluded() {
    let model = with_dead_ends();
    let later = |words: &[u32]| {
        let number = |word: u32| words.iter().position(|&own| own == word).expect("a word of the list") as u32;
        let row = |shared, one, other| {
            let (one, other) = (number(one), number(other));
            vec![shared, one.min(other), one.max(other)]
        };
        let mut lemma = all_alike(2, words, vec![row(0, 1, 1), row(1, 1, 2), row(2, 1, 3)]);
        lemma.threads[0].below.push((symbols(&[4]), symbols(&[0])));
        lemma
    };
    for (more, words, excluded) in [
        ((3, 2, 3), [1, 2, 3], false),
        ((3, 2, 3), [1, 3, 2], true),
        ((3, 3, 2), [1, 2, 3], true),
        ((3, 3, 2), [1, 3, 2], false),
        // The word 4 has no number.
        ((3, 1, 4), [1, 2, 3], false),
        ((3, 1, 4), [3, 2, 1], false),
        ((3, 4, 1), [1, 2, 3], true),
        ((3, 2, 2), [1, 2, 3], true),
    ] {
        let earlier = reached_and(&model, &[more]);
        let answer = agreed_on(&model, vec![earlier, later(&words)]);
        assert_eq!(answer.is_ok(), excluded, "{more:?}, {words:?}: {answer:?}");
    }
}

#[test]
fn the_blame_falls_on_the_thread_that_moves() {
    for (row, blame) in [
        ([0, 0, 0, 1], "0|...1,...1,...2, rule `0 1 -> 1 2` of thread t1: leads to 1|...1,...2,...2, which is missing"),
        (
            [1, 0, 1, 1],
            "1|...1,...2,...2, rule `1 2 -> 0 1` of thread t1, taken by t2: leads to 0|...1,...1,...2, which is missing",
        ),
    ] {
        let mut lemma = token_lemma(3);
        lemma.views.push(row);
        assert_eq!(reason(agreed(&token(3, vec![]), &lemma)), format!("lemma 1: at view {blame}"));
    }
}

#[test]
fn nothing_takes_long_with_as_many_threads_as_there_can_be() {
    let count = usize::from(u16::MAX);
    let start = Instant::now();
    let tops: Vec<_> = (0..count).map(|thread| [None, Some(1), Some(2)][thread % 3]).collect();
    let model = token(count, vec![never(None, &tops)]);
    let accepted = answer(&model, vec![token_lemma(count), leaning_lemma(count)]).expect("it is a proof");
    assert_eq!((accepted.views, accepted.orbits, accepted.lemmas), (2 * count as u64 + 1, 3, 2));
    let quiet = system(1, vec![thread("t", 2, vec![]); count], state(0, &vec![&[1][..]; count]));
    let half = (0..=count).map(|cell| u32::from(cell > count / 2)).collect();
    let accepted = answer(&quiet, vec![all_alike(count, &[1, 2], vec![vec![0; count + 1], half])]);
    assert_eq!(accepted.map(|accepted| accepted.views), Ok(u64::MAX));
    let mut chain = token_lemma(count);
    (1..count).for_each(|thread| chain.threads[thread].like = Some(thread - 1));
    assert!(answer(&model, vec![chain]).is_err());
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

//! Certificates of languages, attacked: what is accepted must be right, whoever wrote it.

use std::collections::HashSet;

use fastrand::Rng;
use tepui::{Abstraction, Policy, Refinement};
use tepui_cert::rendezvous::{Automaton, Certificate, Claim, Direction, Languages};
use tepui_check::rendezvous::{check, replay};
use tepui_core::{Status, Verdict};
use tepui_model::Digest;
use tepui_model::rendezvous::{Action, Model, Move};
use tepui_tests::facade::rendezvous_trace;
use tepui_tests::rendezvous::{search, small_model, words};

use super::languages::accepts;
use super::{refine, systems, text};

const REFINEMENTS: [Refinement; 4] = [
    Refinement { policy: Policy::IndividualMultiStep, abstraction: Abstraction::Prefix, shuffle_first: false },
    Refinement { policy: Policy::Succinct, abstraction: Abstraction::Suffix, shuffle_first: false },
    Refinement { policy: Policy::Individual, abstraction: Abstraction::Bifix, shuffle_first: false },
    Refinement { policy: Policy::Succinct, abstraction: Abstraction::Prefix, shuffle_first: true },
];

fn certificate(model: &Model, refinement: Refinement) -> Option<Languages> {
    let outcome = refine(model, refinement, 6);
    match &outcome.evidence()?.certificate {
        tepui_cert::Certificate::Rendezvous(Certificate::Languages(languages)) => Some(languages.clone()),
        _ => None,
    }
}

fn accepted(model: &Model, languages: &Languages) -> bool {
    check(model, &Certificate::Languages(languages.clone()), &|| false).is_ok()
}

/// The words that pass all automata of a target, of at most so many actions: enumerated one by one.
fn passing(model: &Model, threads: &[Vec<Automaton>], length: usize) -> bool {
    let mut words = vec![Vec::new()];
    for round in 0..=length {
        let passes = |word: &Vec<Action>| {
            threads.iter().enumerate().all(|(thread, automata)| {
                automata.iter().all(|automaton| {
                    let knows =
                        |action: &&Action| automaton.reads_all || model.threads()[thread].knows.contains(action);
                    accepts(automaton, &word.iter().filter(knows).copied().collect::<Vec<_>>())
                })
            })
        };
        if words.iter().any(passes) {
            return true;
        }
        if round < length {
            let all: Vec<_> = (0..model.actions().len() as u32).map(Action).collect();
            words = words.iter().flat_map(|word| all.iter().map(move |&a| [word.as_slice(), &[a]].concat())).collect();
        }
    }
    false
}

/// Whether a slow look finds something wrong: a short word of a thread that its automaton refuses, or one that passes all.
fn visibly_wrong(model: &Model, certificate: &Languages) -> bool {
    let property = &model.properties()[0];
    let Some(claim) = certificate.claims.iter().find(|claim| claim.never == property.digest()) else { return true };
    property.never.iter().zip(&claim.targets).any(|(target, threads)| {
        let refuses = threads.iter().enumerate().any(|(thread, automata)| {
            let own = &model.threads()[thread];
            let (language, _) = words(own, &model.init()[thread], target.locals[thread].as_ref(), 4, 6);
            // An automaton that reads all actions must accept these words among others.
            language.iter().any(|word| automata.iter().any(|automaton| !accepts(automaton, word)))
        });
        refuses || passing(model, threads, 4)
    })
}

fn all_automata(certificate: &mut Languages) -> Vec<&mut Automaton> {
    certificate.claims.iter_mut().flat_map(|claim| claim.targets.iter_mut().flatten().flatten()).collect()
}

/// One change of one automaton.
fn forge(rng: &mut Rng, certificate: &mut Languages) {
    let mut automata = all_automata(certificate);
    if automata.is_empty() {
        return;
    }
    let index = rng.usize(0..automata.len());
    let automaton = &mut automata[index];
    let states = automaton.states.len();
    if states == 0 {
        automaton.states.push((true, Vec::new()));
        return;
    }
    let state = rng.usize(0..states);
    let edges = &mut automaton.states[state].1;
    match rng.u8(0..6) {
        0 => automaton.states[state].0 ^= true,
        1 if !edges.is_empty() => drop(edges.remove(rng.usize(0..edges.len()))),
        2 if !edges.is_empty() => {
            let edge = rng.usize(0..edges.len());
            edges[edge].1 = rng.u32(0..states as u32);
        }
        3 => {
            automaton.direction = match automaton.direction {
                Direction::Forward => Direction::Backward,
                Direction::Backward => Direction::Forward,
            }
        }
        4 => automaton.reads_all ^= true,
        _ => automaton.states.truncate(state.max(1)),
    }
}

#[test]
fn what_is_accepted_is_right() {
    let (mut honest, mut refused, mut still_right) = (0, 0, 0);
    for seed in systems(400) {
        let mut rng = Rng::with_seed(seed);
        let model = small_model(&mut rng);
        for refinement in REFINEMENTS {
            let Some(certificate) = certificate(&model, refinement) else { continue };
            assert!(accepted(&model, &certificate), "seed {seed}\n{}", text(&model));
            honest += 1;
            for _ in 0..12 {
                let mut forged = certificate.clone();
                (0..rng.usize(1..=2)).for_each(|_| forge(&mut rng, &mut forged));
                if forged == certificate {
                    continue;
                }
                match accepted(&model, &forged) {
                    true => {
                        still_right += 1;
                        let place = format!("seed {seed}, {refinement:?}\n{}\n{}", text(&model), forged.to_text());
                        assert!(!visibly_wrong(&model, &forged), "accepted and wrong: {place}");
                    }
                    false => refused += 1,
                }
            }
        }
    }
    assert!(honest > 200 && refused > 1_000 && still_right > 50, "{honest} {refused} {still_right}");
}

/// Where a target is reachable nothing may be accepted: neither proofs of other models nor random automata.
#[test]
fn nothing_proves_what_is_false() {
    let mut attacked = 0;
    let mut stolen: Vec<Vec<Vec<Automaton>>> = Vec::new();
    for seed in systems(600) {
        let mut rng = Rng::with_seed(seed);
        let model = small_model(&mut rng);
        let property = &model.properties()[0];
        let unsafe_ = search(&model, 5, 500).fewest_actions(property).is_some();
        if !unsafe_ {
            let proof = certificate(&model, REFINEMENTS[seed as usize % 4]);
            stolen.extend(proof.into_iter().flat_map(|proof| proof.claims).flat_map(|claim| claim.targets));
            continue;
        }
        for _ in 0..20 {
            let threads = |rng: &mut Rng| -> Vec<Vec<Automaton>> {
                let foreign = if stolen.is_empty() { Vec::new() } else { stolen[rng.usize(0..stolen.len())].clone() };
                (0..model.threads().len())
                    .map(|thread| match rng.bool() {
                        true => foreign.get(thread).cloned().unwrap_or_default(),
                        false => (0..rng.usize(0..=2)).map(|_| random_automaton(rng, &model)).collect(),
                    })
                    .collect()
            };
            let targets = property.never.iter().map(|_| threads(&mut rng)).collect();
            let claim = Claim { name: "q".to_owned(), never: property.digest(), targets };
            let forged = Languages { model: model.digest(), claims: vec![claim] };
            assert!(!accepted(&model, &forged), "seed {seed}\n{}\n{}", text(&model), forged.to_text());
            attacked += 1;
        }
    }
    assert!(attacked > 2_000, "{attacked}");
}

fn random_automaton(rng: &mut Rng, model: &Model) -> Automaton {
    let states = rng.u32(0..=3);
    let actions = model.actions().len() as u32;
    let state = |rng: &mut Rng| {
        let edges = (0..actions).map(Action).filter(|_| rng.u8(..) < 160).collect::<Vec<_>>();
        (rng.bool(), edges.into_iter().map(|action| (action, rng.u32(0..states.max(1)))).collect())
    };
    let direction = if rng.bool() { Direction::Forward } else { Direction::Backward };
    Automaton { direction, reads_all: rng.bool(), states: (0..states).map(|_| state(rng)).collect() }
}

#[test]
fn certificates_must_speak_of_the_model_and_of_everything_in_it() {
    let mut tried = 0;
    for seed in systems(120) {
        let model = small_model(&mut Rng::with_seed(seed));
        let Some(certificate) = certificate(&model, REFINEMENTS[0]) else { continue };
        tried += 1;
        let refuse = |forged: &Languages| assert!(!accepted(&model, forged), "seed {seed}\n{}", forged.to_text());
        refuse(&Languages { model: Digest::of(b"another"), ..certificate.clone() });
        refuse(&Languages { claims: Vec::new(), ..certificate.clone() });
        for change in 0..4 {
            let mut forged = certificate.clone();
            let claim = &mut forged.claims[0];
            match change {
                0 => claim.never = Digest::of(b"other states"),
                1 => drop(claim.targets.pop()),
                2 => drop(claim.targets[0].pop()),
                _ => claim.targets[0].push(Vec::new()),
            }
            refuse(&forged);
        }
        let mut idle = certificate.clone();
        all_automata(&mut idle).into_iter().for_each(|automaton| automaton.states.clear());
        let same = idle == certificate;
        assert!(same || !accepted(&model, &idle) || !visibly_wrong(&model, &idle), "seed {seed}");
        let text = certificate.to_text();
        assert_eq!(Languages::from_text(&text), Ok(certificate), "seed {seed}");
    }
    assert!(tried > 10, "{tried}");
}

/// A certificate that is too large to be checked is refused, in little time and memory.
#[test]
fn hostile_sizes_are_refused() {
    let model = super::parse("action a: t\nthread t {\n  init p -\n  p - -> p - : a\n}\nreach q: t at p");
    let property = &model.properties()[0];
    let wide = |direction| Automaton {
        direction,
        reads_all: false,
        states: (0..6).map(|state| (true, vec![(Action(0), state)])).collect(),
    };
    let mut automata = vec![wide(Direction::Forward)];
    automata.extend((0..12).map(|_| wide(Direction::Backward)));
    let claim = Claim { name: "q".to_owned(), never: property.digest(), targets: vec![vec![automata]] };
    let forged = Languages { model: model.digest(), claims: vec![claim] };
    let refused = check(&model, &Certificate::Languages(forged), &|| false).unwrap_err();
    assert!(refused.reason.contains("too many to check"), "{refused}");
}

#[test]
fn changed_traces_are_refused() {
    let mut tried = 0;
    for seed in systems(300) {
        let mut rng = Rng::with_seed(seed);
        let model = small_model(&mut rng);
        let outcome = refine(&model, REFINEMENTS[0], 6);
        let Verdict::Unsafe(refuted) = &outcome.properties[0].verdict else { continue };
        let trace = rendezvous_trace(refuted.trace()).clone();
        assert_eq!(outcome.status(), Status::Unsafe);
        let mut seen = HashSet::new();
        for change in 0..8 {
            let mut forged = trace.clone();
            let steps = forged.steps.len();
            let at = if steps == 0 { 0 } else { rng.usize(0..steps) };
            match change {
                0 => forged.model = Digest::of(b"another"),
                1 => forged.never = Digest::of(b"other states"),
                2 if steps > 0 => drop(forged.steps.remove(at)),
                3 if steps > 0 => drop(forged.steps[at].moves.pop()),
                4 if steps > 0 => forged.steps[at].moves.push(Move { thread: usize::MAX, rule: 0 }),
                5 if steps > 0 => forged.steps[at].moves[0].rule = usize::MAX,
                6 if steps > 0 => forged.steps[at].after[0].stack.push(tepui_model::rendezvous::Symbol(1)),
                _ => forged.start[0].stack.insert(0, tepui_model::rendezvous::Symbol(1)),
            }
            // To leave out a step that changes nothing is no forgery.
            if change == 2 && replay(&model, &forged).is_ok() {
                continue;
            }
            assert!(replay(&model, &forged).is_err(), "seed {seed}, change {change}\n{}", text(&model));
            seen.insert(change);
        }
        tried += seen.len();
    }
    assert!(tried > 300, "{tried}");
}

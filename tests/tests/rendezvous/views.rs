//! Certificates of views of threads that meet, attacked: what is accepted must contain what a slow search reaches.

use std::collections::HashSet;

use fastrand::Rng;
use tepui::{CLOSURE, Refinement};
use tepui_cert::pushdown::{Lemma, Rows};
use tepui_cert::rendezvous::{Certificate, Frame, Views};
use tepui_check::rendezvous::check;
use tepui_model::Digest;
use tepui_model::rendezvous::{Control, Local, Model, Property, Symbol};
use tepui_tests::rendezvous::{search, small_model};

use super::{drawn, for_each_model, run, systems, text};

/// The proof that closure finds, if it finds one.
fn views(model: &Model) -> Option<Views> {
    let outcome = run(model, &CLOSURE, Refinement::default(), Some(5));
    match &outcome.evidence()?.certificate {
        tepui_cert::Certificate::Rendezvous(Certificate::Views(views)) => Some(views.clone()),
        _ => None,
    }
}

fn accepted(model: &Model, views: &Views) -> bool {
    check(model, &Certificate::Views(views.clone()), &|| false).is_ok()
}

/// A control state and the topmost symbols, `None` for the floor.
type Seen = (Option<Control>, Vec<Symbol>);

/// What the views of the last lemma show, and what those of reachable states show.
fn shown(views: &Views) -> (HashSet<Vec<Seen>>, usize) {
    let lemma: &Lemma = views.lemmas.last().unwrap();
    let seen = |thread: usize, word: u32| -> Seen {
        let word = &lemma.threads[thread].words[word as usize];
        let frames: Vec<&Frame> = word
            .iter()
            .filter(|symbol| !symbol.is_bottom())
            .map(|symbol| &views.frames[thread][symbol.0 as usize - 1])
            .collect();
        (frames.first().and_then(|frame| frame.control), frames.iter().map(|frame| frame.symbol).collect())
    };
    let row = |row: &[u32]| row[1..].iter().enumerate().map(|(thread, &word)| seen(thread, word)).collect();
    (lemma.views.iter().map(|cells| row(&cells)).collect(), lemma.depth as usize)
}

fn show(local: &Local, depth: usize) -> Seen {
    let symbols = local.stack.iter().rev().copied().chain([Symbol::BOTTOM]);
    (Some(local.control), symbols.take(depth).collect())
}

/// Every state that is reached is in the last lemma, and none of them is forbidden.
fn assert_right(model: &Model, views: &Views, place: &str) {
    let searched = search(model, 6, 400);
    let (listed, depth) = shown(views);
    for state in searched.states.keys() {
        let own: Vec<_> = state.iter().map(|local| show(local, depth)).collect();
        assert!(listed.contains(&own), "{place}: accepted without {own:?}\n{}\n{}", text(model), views.to_text());
        let forbidden = model.properties().iter().any(|property| property.forbids(state));
        assert!(!forbidden, "{place}: accepted and wrong\n{}\n{}", text(model), views.to_text());
    }
}

fn forge(rng: &mut Rng, views: &mut Views) {
    let last = views.lemmas.len() - 1;
    let lemma = &mut views.lemmas[last];
    let thread = rng.usize(0..lemma.threads.len());
    let frames = views.frames[thread].len();
    let part = &mut lemma.threads[thread];
    match rng.u8(0..9) {
        0 if lemma.views.len() > 1 => {
            let gone = rng.usize(0..lemma.views.len());
            let kept = lemma.views.iter().enumerate().filter(|(number, _)| *number != gone);
            let kept: Vec<_> = kept.map(|(_, row)| row).collect();
            lemma.views = Rows::of(lemma.views.width(), &kept);
        }
        1 if !part.below.is_empty() => drop(part.below.remove(rng.usize(0..part.below.len()))),
        2 if !part.below.is_empty() => {
            let listed = rng.usize(0..part.below.len());
            part.below[listed].1.pop();
        }
        3 if frames > 0 => {
            let frame = &mut views.frames[thread][rng.usize(0..frames)];
            frame.control = if rng.bool() { None } else { Some(Control(rng.u32(0..3))) };
        }
        4 if frames > 0 => views.frames[thread][rng.usize(0..frames)].symbol = Symbol(rng.u32(0..4)),
        5 if frames > 0 => {
            let frame = &mut views.frames[thread][rng.usize(0..frames)];
            if let Some(node) = frame.nodes.first_mut() {
                *node = if rng.bool() { None } else { Some(rng.u32(0..4)) };
            }
        }
        6 => drop(part.words.pop()),
        7 if frames > 1 => views.frames[thread].swap(0, frames - 1),
        _ => {
            let word = rng.usize(0..part.words.len().max(1));
            if let Some(word) = part.words.get_mut(word) {
                word[0] = Symbol(rng.u32(0..=frames as u32));
            }
        }
    }
}

#[test]
fn what_is_accepted_is_right() {
    let (mut honest, mut refused, mut still_right) = (0, 0, 0);
    for_each_model(2_000, drawn, |model, seed| {
        let mut rng = Rng::with_seed(seed);
        let Some(views) = views(model) else { return };
        honest += 1;
        assert!(accepted(model, &views), "seed {seed}");
        assert_right(model, &views, &format!("seed {seed}"));
        assert_eq!(Views::from_text(&views.to_text()), Ok(views.clone()), "seed {seed}");
        for _ in 0..15 {
            let mut forged = views.clone();
            (0..rng.usize(1..=2)).for_each(|_| forge(&mut rng, &mut forged));
            if forged == views {
                continue;
            }
            match accepted(model, &forged) {
                true => {
                    still_right += 1;
                    assert_right(model, &forged, &format!("seed {seed}, forged"));
                }
                false => refused += 1,
            }
        }
    });
    println!("{honest} honest, {refused} refused, {still_right} forged and right");
    assert!(honest > 150 && refused > 1_000 && still_right > 20, "{honest} {refused} {still_right}");
}

/// The model with one rule, or its initial state, or its actions changed.
fn neighbour(rng: &mut Rng, model: &Model) -> Option<Model> {
    let (mut threads, mut init) = (model.threads().to_vec(), model.init().clone());
    let number = rng.usize(0..threads.len());
    let thread = &mut threads[number];
    let (controls, symbols) = (thread.controls.len() as u32, thread.symbol_count());
    let actions: Vec<_> = thread.knows.iter().copied().collect();
    let rules = thread.rules.len();
    if rules == 0 {
        return None;
    }
    let rule = &mut thread.rules[rng.usize(0..rules)];
    match rng.u8(0..7) {
        0 => rule.to = Control(rng.u32(0..controls)),
        1 => rule.from = Control(rng.u32(0..controls)),
        2 => {
            rule.action =
                if actions.is_empty() || rng.bool() { None } else { Some(actions[rng.usize(0..actions.len())]) }
        }
        3 if symbols > 1 => rule.right.insert(0, Symbol(rng.u32(1..symbols))),
        4 => drop(rule.right.pop()),
        5 => init[number].control = Control(rng.u32(0..controls)),
        _ => {
            let action = actions.first().copied()?;
            thread.knows.remove(&action);
            thread.rules.retain(|rule| rule.action != Some(action));
        }
    }
    Model::new(model.actions().to_vec(), threads, init, model.properties().to_vec()).ok()
}

/// A proof about one system is none about another one in which a target is reachable, however alike they are.
#[test]
fn nothing_proves_what_is_false() {
    let mut attacked = 0;
    for seed in systems(2_000) {
        let mut rng = Rng::with_seed(seed);
        let model = small_model(&mut rng);
        let Some(views) = views(&model) else { continue };
        for _ in 0..30 {
            let Some(other) = neighbour(&mut rng, &model) else { continue };
            let mut forged = Views { model: other.digest(), ..views.clone() };
            if rng.bool() {
                forge(&mut rng, &mut forged);
            }
            let violated = search(&other, 6, 400).fewest_actions(&other.properties()[0]).is_some();
            attacked += usize::from(violated);
            let says = accepted(&other, &forged);
            assert!(!(violated && says), "seed {seed}\n{}\n{}", text(&other), forged.to_text());
            if says {
                assert_right(&other, &forged, &format!("seed {seed}, neighbour"));
            }
        }
    }
    println!("{attacked} attacks on violated properties");
    assert!(attacked > 200, "{attacked}");
}

/// A claim about one property is none about another.
#[test]
fn claims_are_about_what_they_name() {
    let mut attacked = 0;
    for seed in systems(2_000) {
        let model = small_model(&mut Rng::with_seed(seed));
        let Some(views) = views(&model) else { continue };
        let refuse =
            |forged: Views, why: &str| assert!(!accepted(&model, &forged), "seed {seed}: {why}\n{}", text(&model));
        refuse(Views { model: Digest::of(b"another"), ..views.clone() }, "another model");
        refuse(Views { claims: Vec::new(), ..views.clone() }, "no claim");
        refuse(Views { lemmas: Vec::new(), ..views.clone() }, "no lemma");
        refuse(Views { frames: Vec::new(), ..views.clone() }, "no frames");
        let other = small_model(&mut Rng::with_seed(seed + 1_000_000));
        let property = Property { name: "q".to_owned(), ..other.properties()[0].clone() };
        let Ok(other) = model.clone().with_properties(vec![property]) else { continue };
        let mut forged = views.clone();
        forged.claims[0].never = other.properties()[0].digest();
        if search(&other, 6, 400).fewest_actions(&other.properties()[0]).is_some() {
            attacked += 1;
            assert!(!accepted(&other, &forged), "seed {seed}\n{}", text(&other));
        }
    }
    assert!(attacked > 10, "{attacked}");
}

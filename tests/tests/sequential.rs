//! One thread: decidable, however deep the recursion. Every question is answered, as exact summaries answer it, and every
//! answer goes through the checker; forged regular sets do not.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use tepui::{AUTO, Cores, Facts, Options, Reading, SYMBOLIC};
use tepui_cert::Certificate;
use tepui_cert::pushdown::Rows;
use tepui_core::{Budget, Status};
use tepui_lang::boolean::{Dialect, read_program};
use tepui_lang::source::Source;
use tepui_model::pushdown::{Action, Model, Property, Rule, Shared, Symbol};
use tepui_tests::facade::{program_certificate, self_check, verify, verify_program};
use tepui_tests::systems::{never, rule, state, system, thread};

/// A random system with one thread that pushes and pops.
fn recursive(rng: &mut Rng) -> Model {
    let (shared, symbols) = (rng.u32(1..=3), rng.u32(1..=4));
    let rules = (0..rng.usize(3..=12)).map(|_| {
        let (from, top, to) = (rng.u32(..shared), rng.u32(1..=symbols), rng.u32(..shared));
        match rng.u32(..10) {
            0..=3 => rule(from, top, to, &[rng.u32(1..=symbols), rng.u32(1..=symbols)]),
            4..=6 => rule(from, top, to, &[]),
            _ => rule(from, top, to, &[rng.u32(1..=symbols)]),
        }
    });
    let rules: Vec<_> = rules.collect();
    let init: Vec<u32> = (0..rng.usize(1..=3)).map(|_| rng.u32(1..=symbols)).collect();
    system(shared, vec![thread("t", symbols, rules)], state(0, &[&init]))
}

type Head = (Shared, Symbol);

/// The heads that can be reached, by summaries: which shared states a procedure that begins with a head may end in.
fn reachable_heads(model: &Model) -> BTreeSet<Head> {
    let rules = &model.threads()[0].rules;
    let at = |head: Head| rules.iter().filter(move |rule| (rule.from, rule.top) == head);
    let mut ends: BTreeMap<Head, BTreeSet<Shared>> = BTreeMap::new();
    let heads: Vec<Head> = rules.iter().map(|rule| (rule.from, rule.top)).collect();
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for &head in &heads {
            let of = |ends: &BTreeMap<Head, BTreeSet<Shared>>, head: Head| ends.get(&head).cloned().unwrap_or_default();
            let mut found = of(&ends, head);
            let before = found.len();
            for Rule { to, action, .. } in at(head) {
                match *action {
                    Action::Pop => _ = found.insert(*to),
                    Action::Overwrite(symbol) => found.extend(of(&ends, (*to, symbol))),
                    Action::Push { top, below } => {
                        of(&ends, (*to, top)).into_iter().for_each(|back| found.extend(of(&ends, (back, below))));
                    }
                }
            }
            changed |= found.len() > before;
            ends.insert(head, found);
        }
    }
    let mut reached = BTreeSet::new();
    // The symbols of the initial stack one after the other, each begun with what those above may end in.
    let mut begun = BTreeSet::from([model.init().shared]);
    for &symbol in model.init().stacks[0].iter().rev() {
        let mut open: Vec<Head> = begun.iter().map(|&shared| (shared, symbol)).collect();
        let below: BTreeSet<Shared> = open.iter().filter_map(|head| ends.get(head)).flatten().copied().collect();
        while let Some(head) = open.pop() {
            if !reached.insert(head) {
                continue;
            }
            for Rule { to, action, .. } in at(head) {
                match *action {
                    Action::Pop => {}
                    Action::Overwrite(symbol) => open.push((*to, symbol)),
                    Action::Push { top, below } => {
                        open.push((*to, top));
                        let back = ends.get(&(*to, top)).cloned().unwrap_or_default();
                        open.extend(back.into_iter().map(|back| (back, below)));
                    }
                }
            }
        }
        begun = below;
    }
    reached.extend(begun.into_iter().map(|shared| (shared, Symbol::BOTTOM)));
    reached
}

fn options(engine: &'static Facts) -> Options {
    Options { engine, cores: Cores::new(1), ..Options::default() }
}

#[test]
fn one_thread_is_always_decided() {
    let (mut safe, mut regular) = (0, 0);
    for seed in 0..1_500 {
        let mut rng = Rng::with_seed(seed);
        let model = recursive(&mut rng);
        let reached = reachable_heads(&model);
        let symbols = model.threads()[0].symbol_count();
        let (shared, top) = (rng.u32(..model.shared().count()), rng.u32(..symbols));
        let model = model.with_properties(vec![never(Some(shared), &[Some(top)])]).unwrap();
        for engine in [&AUTO, &SYMBOLIC] {
            let mut outcome = verify(&model, &options(engine), &Budget::unlimited()).unwrap();
            let expected = if reached.contains(&(Shared(shared), Symbol(top))) { Status::Unsafe } else { Status::Safe };
            assert_eq!(outcome.status(), expected, "seed {seed}, {engine:?}: {model:?}");
            self_check(&model, &mut outcome).unwrap();
            let Some(Certificate::Pushdown(certificate)) = outcome.evidence().map(|evidence| &evidence.certificate)
            else {
                continue;
            };
            safe += 1;
            regular += usize::from(certificate.regular.is_some());
        }
    }
    assert!(safe > 500 && regular > 200, "{safe} {regular}");
}

/// A language without an edge, with another target or end, a row less: what is accepted still has all reachable heads.
#[test]
fn forged_regular_sets_leave_out_nothing() {
    let (mut forged, mut accepted) = (0, 0);
    for seed in 0..800 {
        let mut rng = Rng::with_seed(seed);
        let model = recursive(&mut rng);
        let reached = reachable_heads(&model);
        let open =
            model.clone().with_properties(vec![Property { name: "views".to_owned(), never: Vec::new() }]).unwrap();
        let outcome = verify(&open, &options(&SYMBOLIC), &Budget::unlimited()).unwrap();
        let Some(Certificate::Pushdown(certificate)) = outcome.evidence().map(|evidence| &evidence.certificate) else {
            continue;
        };
        if certificate.regular.is_none() {
            continue;
        }
        for _ in 0..20 {
            let mut certificate = certificate.clone();
            let Some(regular) = &mut certificate.regular else { continue };
            let languages = &mut regular.threads[0].languages;
            let language = rng.usize(..languages.len());
            let states = &mut languages[language].states;
            let at = rng.usize(..states.len());
            let count = states.len() as u32;
            let edges = &mut states[at];
            match rng.u32(..4) {
                0 if !edges.is_empty() => drop(edges.remove(rng.usize(..edges.len()))),
                1 if !edges.is_empty() => {
                    let edge = rng.usize(..edges.len());
                    if edges[edge].1.is_some() {
                        edges[edge].1 = Some(rng.u32(..count));
                    }
                }
                2 => {
                    let victim = rng.usize(..regular.rows.len());
                    let mut rows = Rows::new(2);
                    let others = regular.rows.iter().enumerate().filter(|(number, _)| *number != victim);
                    others.for_each(|(_, row)| rows.push(row));
                    regular.rows = rows;
                }
                _ => {
                    let other = rng.u32(..languages.len() as u32);
                    let mut rows = Rows::new(2);
                    let victim = rng.usize(..regular.rows.len());
                    for (number, row) in regular.rows.iter().enumerate() {
                        rows.push([row[0], if number == victim { other } else { row[1] }]);
                    }
                    regular.rows = rows;
                }
            }
            forged += 1;
            // A forgery may be a proof; but then no head that can be reached is missing.
            for &(shared, top) in &reached {
                let mut certificate = certificate.clone();
                let property = never(Some(shared.0), &[Some(top.0)]);
                certificate.properties = vec![property.clone()];
                let asked = model.clone().with_properties(vec![property]).unwrap();
                let answer = tepui_check::pushdown::check(&asked, &certificate, &|| false);
                assert!(answer.is_err(), "seed {seed}: {shared:?} {top:?}\n{}", certificate.to_text());
            }
            accepted += usize::from(tepui_check::pushdown::check(&open, &certificate, &|| false).is_ok());
        }
    }
    assert!(forged > 3_000 && accepted < forged / 2, "{forged} {accepted}");
}

/// Views of no depth prove these; regular sets do, also on the source, and with several threads where the sets collapse.
#[test]
fn deep_recursion_is_proved_on_the_source() {
    let toggle = "void f() { if (*) { g := !g; f(); g := !g; } }";
    let programs = [
        format!("decl g; {toggle} void main() {{ f(); assert(!g); }}"),
        format!("decl g; {toggle} void main() {{ f(); f(); assert(!g); }}"),
        "decl g; bool even() { decl r; if (*) { return 1; } r := odd(); return r; } \
         bool odd() { decl r; if (*) { return 0; } r := even(); return r; } void main() { g := even(); assert(1); }"
            .to_owned(),
        format!(
            "decl g, h; {toggle} void main() {{ thread one(); }} void one() {{ atomic {{ f(); assert(!g); }} h := 1; }}"
        ),
    ];
    for text in programs {
        let source = Source::new("deep", text.as_bytes());
        let program = read_program(&source, Some(Dialect::Tepui), &[]).unwrap().program;
        let verified = verify_program(&program, &Reading::default(), &options(&AUTO), &Budget::unlimited()).unwrap();
        assert_eq!(verified.outcome.status(), Status::Safe, "{text}\n{:?}", verified.outcome.properties);
        assert!(program_certificate(&verified).is_some(), "{text}");
    }
}

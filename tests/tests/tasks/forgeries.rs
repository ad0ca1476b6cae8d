//! Proofs about tasks that were changed must not be accepted, if they claim what is wrong; those that were not must be.

use fastrand::Rng;
use tepui::{COUNTING, DISPATCH, Options, Problem, Reading};
use tepui_cert::program::{ANY, Certificate, Tasks};
use tepui_core::Budget;
use tepui_tests::dispatches::{Limits, enumerate};
use tepui_tests::facade::program_certificate;
use tepui_tests::random_tasks::{Shape, tasks};

use super::{program, programs};

/// Changes something of a proof.
fn forge(certificate: &mut Certificate, rng: &mut Rng) {
    let frames = certificate.frames.len();
    let Some(own) = &mut certificate.tasks else { return };
    match rng.usize(..12) {
        0 if !own.markings.is_empty() => drop(own.markings.remove(rng.usize(..own.markings.len()))),
        1 => lower(own, rng),
        2 if !own.entries.is_empty() => drop(own.entries.remove(rng.usize(..own.entries.len()))),
        3 | 4 => {
            let entry = rng.usize(..own.entries.len().max(1));
            if let Some(entry) = own.entries.get_mut(entry).filter(|entry| !entry.nodes.is_empty()) {
                entry.nodes.remove(rng.usize(..entry.nodes.len()));
            }
        }
        5 => {
            let entry = rng.usize(..own.entries.len().max(1));
            if let Some(entry) = own.entries.get_mut(entry).filter(|entry| !entry.nodes.is_empty()) {
                let node = rng.usize(..entry.nodes.len());
                let posted = &mut entry.nodes[node].posted;
                match posted.len() {
                    0 => {}
                    many => drop(posted.remove(rng.usize(..many))),
                }
            }
        }
        6 if own.stacks.len() > 1 => {
            let (one, other) = (rng.usize(..own.stacks.len()), rng.usize(..own.stacks.len()));
            own.stacks.swap(one, other);
        }
        7 if !own.markings.is_empty() => {
            let at = rng.usize(..own.markings.len());
            let stacks = own.stacks.len() as u32;
            if let Some(pair) = own.markings[at].pending.first_mut() {
                pair.0 = rng.u32(..stacks);
            }
        }
        8 => own.counted = !own.counted,
        9 if frames > 1 => certificate.frames.swap(rng.usize(..frames), rng.usize(..frames)),
        10 if !own.entries.is_empty() => {
            let entry = rng.usize(..own.entries.len());
            own.entries[entry].shared = rng.u32(..4);
        }
        _ => {
            let kept = &mut certificate.kept.shared;
            if !kept.is_empty() {
                kept.remove(rng.usize(..kept.len()));
            }
        }
    }
}

/// Makes a number smaller.
fn lower(own: &mut Tasks, rng: &mut Rng) {
    let posted = own.entries.iter_mut().flat_map(|entry| &mut entry.nodes).flat_map(|node| &mut node.posted);
    let all: Vec<_> = own.markings.iter_mut().map(|marking| &mut marking.pending).chain(posted).collect();
    let mut all: Vec<_> = all.into_iter().filter(|pending| !pending.is_empty()).collect();
    if all.is_empty() {
        return;
    }
    let chosen = rng.usize(..all.len());
    let pending = &mut all[chosen];
    let at = rng.usize(..pending.len());
    match pending[at].1 {
        1 => drop(pending.remove(at)),
        ANY => pending[at].1 = rng.u32(1..3),
        _ => pending[at].1 -= 1,
    }
}

/// Whoever accepts a changed proof must be right all the same: what it claims is compared with executions one by one.
#[test]
fn forged_proofs_are_rejected_or_right() {
    let (mut forged, mut accepted, mut proofs) = (0, 0, 0);
    for seed in 0..programs(200) {
        let mut rng = Rng::with_seed(seed);
        let shape = Shape {
            yields: seed % 3 > 0,
            waits: seed % 5 == 0,
            recursion: true,
            asserts: true,
            endless: seed % 4 == 0,
            values: 3,
        };
        let text = tasks(&mut rng, shape);
        let program = program(&text);
        let engine = if seed % 2 == 0 { &COUNTING } else { &DISPATCH };
        let options = Options { engine, ..Options::default() };
        let reading = Reading { deadlock: engine == &DISPATCH, ..Reading::default() };
        let problem = Problem::from(program.clone()).asking(&reading).unwrap();
        let answer = tepui::verify(&problem, &options, &Budget::unlimited().with_work(200_000)).unwrap();
        let Some(genuine) = program_certificate(&answer) else { continue };
        proofs += 1;
        let scheduler = tepui::scheduler("rr").unwrap();
        let limits = Limits { delays: 10, tasks: 8, frames: 5, states: 2_000 };
        let found = enumerate(&program, &*scheduler, limits);
        // Claims about everything, on the grounds of the same proof.
        let mut bold = genuine.clone();
        bold.properties = program.properties(true);
        for _ in 0..60 {
            let mut certificate = if rng.bool() { genuine.clone() } else { bold.clone() };
            (0..rng.usize(1..=2)).for_each(|_| forge(&mut certificate, &mut rng));
            forged += 1;
            for property in program.properties(true) {
                let claimed = [property.clone()];
                if tepui_check::program::check(&program, &claimed, &certificate, &|| false).is_ok() {
                    accepted += 1;
                    let violated = found.violated.contains_key(&property.name);
                    assert!(!violated, "seed {seed}: {} is accepted\n{text}", property.name);
                }
            }
        }
        for property in program.properties(true) {
            let violated = found.violated.contains_key(&property.name);
            let judged = tepui_check::program::check(&program, std::slice::from_ref(&property), &bold, &|| false);
            assert!(judged.is_err() || !violated, "seed {seed}: {}", property.name);
        }
    }
    println!("{proofs} proofs, {forged} forged ones, {accepted} accepted for a property that holds");
    assert!(proofs > 80 && accepted < forged * 2);
}

/// Proofs about threads say nothing about tasks, and the other way around.
#[test]
fn proofs_of_other_kinds_are_rejected() {
    let text = "decl g; void t() { assert(!g); } void main() { post t(); }";
    let tasks = program(text);
    let threads = program(&text.replace("post", "thread"));
    let answer = |program: &tepui_model::program::Program| {
        tepui::verify(&Problem::from(program.clone()), &Options::default(), &Budget::unlimited()).unwrap()
    };
    let (ours, theirs) = (answer(&tasks), answer(&threads));
    let (ours, theirs) = (program_certificate(&ours).unwrap(), program_certificate(&theirs).unwrap());
    let properties = tasks.properties(false);
    for (program, certificate) in [(&tasks, theirs), (&threads, ours)] {
        let relabelled = Certificate { program: program.digest(), ..certificate.clone() };
        assert!(tepui_check::program::check(program, &properties, &relabelled, &|| false).is_err());
    }
}

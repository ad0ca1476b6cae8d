//! The form of the tool SPADE: `.spad`.
//!
//! A file describes processes as terms. Constants are points of control, `seq` is sequential composition, `par` parallel
//! composition, and `idle` has ended. A rule replaces a constant, or a sequence of two, where it comes first; its label
//! makes the step internal or one side of a handshake, and a step of the whole is internal or a handshake of two sides.
//! Terms are equal up to the associativity of `seq` and the neutrality of `idle`. The question is whether a term of the
//! set `bad` can be reached from one of the set `init`.
//!
//! Where no rule creates a `par` and the initial terms are finitely many, with `par` only above `seq`, a term is a tree
//! of fixed shape whose leaves are words: each leaf is a thread, its word the stack. That is what is read; all else is
//! refused with the reason. The reader goes from [`token`] through [`parse`], [`term_text`] and [`languages`] to what the
//! file says ([`syntax`], over [`terms`]); the [`initial`] terms give the [`threads`], and `bad` becomes a
//! [`recognizer`], by way of its [`automaton`] or of its terms, whose values ([`algebra`]) are sorted into [`boxes`] and
//! these into the sets of stacks of the [`property`].

mod algebra;
mod automaton;
mod boxes;
mod initial;
mod languages;
mod parse;
mod property;
mod recognizer;
mod syntax;
mod term_text;
mod terms;
mod threads;
mod token;

use std::collections::BTreeSet;

use tepui_model::rendezvous::{Model, Property, Target};

use crate::diagnostic::{Diagnostic, Sink, quote};
use crate::source::Source;

use super::Parsed;
use super::handshakes::{Label, pair_up};
use algebra::{Budget, Exhausted};
use recognizer::Recognizer;
use syntax::{Body, File, Language};
use terms::Step;
use threads::Team;

/// How many threads there may be.
const MOST_THREADS: usize = 200;

/// Reads a model in the form of SPADE. On failure there is at least one error. In diagnostics source 0 is `source`.
pub fn read_spade(source: &Source) -> Result<Parsed, Vec<Diagnostic>> {
    let mut sink = Sink::default();
    let file = parse::file(source, &mut sink);
    match model(file, &mut sink) {
        Some(model) if !sink.has_errors() => Ok(Parsed { model, warnings: sink.into_warnings() }),
        _ => Err(sink.into_errors()),
    }
}

/// The model of a file; none only with an error.
fn model(mut file: File<'_>, sink: &mut Sink) -> Option<Model> {
    let (init, bad) = (file.init.take()?, file.bad.take()?);
    let initial = initial::initial(&init, &mut file.terms, sink)?;
    if sink.has_errors() {
        return None;
    }
    warn_of_actions(&file, sink);
    let shape = &initial.first()?.tree.shape;
    let place = init.name;
    let leaves = shape.iter().filter(|&&step| step == Step::Leaf).count();
    if leaves > MOST_THREADS {
        sink.push(place.unsupported("so many processes", format!("{leaves}, more than {MOST_THREADS}")));
        return None;
    }
    let too_large = |Exhausted| place.unsupported("so many rules", "for all the processes of this set together");
    let team = sink.take(threads::team(&file, &initial).map_err(too_large))?;
    let never = never(&file, &bad, shape, &team, sink)?;
    let handshakes: Vec<_> = file.actions.tokens.iter().map(|token| token.text.to_owned()).collect();
    let (actions, threads) = pair_up(team.choices, &handshakes, team.sketches);
    let property = Property { name: "bad".to_owned(), never };
    let model = Model::new(actions, threads, team.init, vec![property]);
    sink.take(model.map_err(|malformed| place.error(malformed.to_string(), "")))
}

/// What `bad` forbids.
fn never(file: &File<'_>, bad: &Language<'_>, shape: &[Step], team: &Team, sink: &mut Sink) -> Option<Vec<Target>> {
    let mut budget = Budget::full();
    let mut recognizer = match &bad.body {
        Body::Set(texts) => Recognizer::of_terms(texts, &file.terms, shape, sink),
        Body::Automaton(automaton) => {
            let used: BTreeSet<_> = team.alphabets.iter().flatten().copied().collect();
            let used: Vec<_> = used.into_iter().collect();
            let recognizer = automaton::recognizer(automaton, bad.name, &used, &file.constants, &mut budget);
            sink.take(recognizer)?
        }
    };
    if sink.has_errors() {
        return None;
    }
    let too_large = |Exhausted| bad.name.unsupported("so large a set of terms", "too many combinations of stacks");
    let never = property::targets(&mut recognizer, shape, &team.alphabets, budget).map_err(too_large);
    let never = sink.take(never)?;
    if never.is_empty() {
        let label = "no tree of stacks of these processes is in it";
        sink.push(Diagnostic::warning(0, bad.name.span(), "`bad` forbids nothing", label));
    }
    Some(never)
}

/// Handshakes that can never happen may be lints.
fn warn_of_actions(file: &File<'_>, sink: &mut Sink) {
    let labels: Vec<_> = file.rules.iter().map(|rule| rule.label).collect();
    let mut sides = vec![(false, false); file.actions.tokens.len()];
    for label in labels {
        match label {
            Label::Send(action) => sides[action].0 = true,
            Label::Receive(action) => sides[action].1 = true,
            Label::Internal | Label::Action(_) => {}
        }
    }
    for (token, sides) in file.actions.tokens.iter().zip(sides) {
        let (message, label) = match sides {
            (true, true) => continue,
            (true, false) => ("is never received", "no rule has it with `?`, so those with `!` never apply"),
            (false, true) => ("is never sent", "no rule has it with `!`, so those with `?` never apply"),
            (false, false) => ("is not used", "no rule has it"),
        };
        sink.push(Diagnostic::warning(0, token.span(), format!("action {} {message}", quote(token.text)), label));
    }
}

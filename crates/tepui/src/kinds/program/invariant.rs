//! What a proof says about a program: which values variables have when a thread is at a line, and when two threads are
//! at two lines.
//!
//! A certificate lists all views that can be reached, and maybe more. What holds in all of them holds in every reachable
//! state. The rows are states between two steps of the program; the model must have a step for each of the program's.

use std::collections::{BTreeMap, BTreeSet};

use tepui_cert::program::Certificate;
use tepui_core::story::Values;
use tepui_core::{Invariant, Place};
use tepui_lang::boolean::print_head;
use tepui_model::program::step::{Frame, Value};
use tepui_model::program::{Program, Variable};

use crate::kinds::Stopping;

/// After how many views the caller is asked whether to stop.
const LOOK_EVERY: usize = 1_024;

/// A place in a procedure: the procedure and the position of the statement that comes next.
type At = (usize, usize);

/// What all states of some set have in common.
#[derive(Clone, Default)]
struct Common {
    seen: bool,
    /// For each variable its value, if it is always the same.
    values: Vec<Value>,
}

impl Common {
    fn add(&mut self, values: &[Value]) {
        if !self.seen {
            (self.seen, self.values) = (true, values.to_vec());
            return;
        }
        for (common, value) in self.values.iter_mut().zip(values) {
            if common != value || *value == Value::Unset {
                *common = Value::Forgotten;
            }
        }
    }
}

/// What is known while rows are read.
#[derive(Default)]
struct Found {
    /// In any state.
    always: Common,
    /// When a thread is at a line: the shared variables and the local ones.
    single: BTreeMap<At, (Common, Common)>,
    /// When two threads are at lines.
    pairs: BTreeMap<(At, At), Common>,
    /// For each thread that speaks for a group the lines at which it may be.
    lines: Vec<BTreeSet<At>>,
}

/// Reads an invariant off a certificate, unless told to stop.
pub(super) fn invariant(program: &Program, certificate: &Certificate, stop: Stopping<'_>) -> Option<Invariant> {
    let lemma = certificate.lemmas.first()?;
    let leader = |thread: usize| lemma.threads[thread].like.unwrap_or(thread);
    let frame = |thread: usize, word: u32| -> Option<&Frame> {
        let symbol = lemma.threads[leader(thread)].words[word as usize].first()?;
        certificate.frames.get((symbol.0 as usize).checked_sub(1)?)
    };
    let mut found = Found { lines: vec![BTreeSet::new(); lemma.threads.len()], ..Found::default() };
    let mut last: Option<(u32, Vec<Value>)> = None;
    for (number, row) in lemma.views.iter().enumerate() {
        if number.is_multiple_of(LOOK_EVERY) && stop() {
            return None;
        }
        if last.as_ref().is_none_or(|(known, _)| *known != row[0]) {
            last = Some((row[0], certificate.shared.get(row[0] as usize).into_iter().map(Value::of).collect()));
        }
        let Some((_, shared)) = &last else { continue };
        found.always.add(shared);
        let mut here: Vec<At> = Vec::with_capacity(row.len());
        for (thread, &word) in row[1..].iter().enumerate() {
            let Some(frame) = frame(thread, word) else { continue };
            let at = (frame.procedure, frame.position);
            let known = found.single.entry(at).or_default();
            known.0.add(shared);
            known.1.add(&frame.locals);
            found.lines[leader(thread)].insert(at);
            for &other in &here {
                found.pairs.entry(in_order(other, at)).or_default().add(shared);
            }
            here.push(at);
        }
    }
    let leaders: Vec<_> = (0..lemma.threads.len()).map(leader).collect();
    Some(found.told(program, &leaders))
}

fn in_order(one: At, other: At) -> (At, At) {
    if one <= other { (one, other) } else { (other, one) }
}

impl Found {
    fn told(&self, program: &Program, leaders: &[usize]) -> Invariant {
        let shared = |common: &Common, known: &[&Common]| values(program, &program.shared, common, known);
        let lines = self.single.iter().map(|(&at, (globals, locals))| {
            let mut facts = shared(globals, &[&self.always]);
            facts.extend(values(program, &program.procedures[at.0].locals, locals, &[]));
            (place(program, at), facts)
        });
        let pairs = self.conceivable(leaders).into_iter().map(|(one, other)| {
            let facts = self
                .pairs
                .get(&(one, other))
                .map(|common| shared(common, &[&self.always, &self.single[&one].0, &self.single[&other].0]));
            (place(program, one), place(program, other), facts)
        });
        Invariant { always: shared(&self.always, &[]), lines: lines.collect(), pairs: pairs.collect() }
    }

    /// Pairs of lines that two different threads might be at, as far as each of them goes.
    fn conceivable(&self, leaders: &[usize]) -> BTreeSet<(At, At)> {
        let mut pairs = BTreeSet::new();
        for (thread, &one) in leaders.iter().enumerate() {
            for &other in &leaders[thread + 1..] {
                for &at in &self.lines[one] {
                    pairs.extend(self.lines[other].iter().map(|&beside| in_order(at, beside)));
                }
            }
        }
        pairs
    }
}

/// Values that are always the same in some set and not already in a larger one.
fn values(program: &Program, variables: &[Variable], common: &Common, known: &[&Common]) -> Values {
    let known =
        |number: usize| known.iter().any(|known| known.values.get(number).is_some_and(|value| value.known().is_some()));
    let own = variables.iter().zip(&common.values).enumerate().filter(|(number, _)| !known(*number));
    let facts = own.filter_map(|(_, (variable, value))| Some((variable, value.known()?)));
    facts.map(|(variable, value)| (variable.name.clone(), program.value_name(variable.kind, value))).collect()
}

fn place(program: &Program, (procedure, position): At) -> Place {
    let statements = &program.procedures[procedure].statements;
    let line = statements.get(position).map(|statement| statement.line);
    let alike = |line: u32| statements[..position].iter().filter(|statement| statement.line == line).count();
    Place {
        number: (procedure, position),
        procedure: program.procedures[procedure].name.clone(),
        line: line.map(|line| (line, 1 + alike(line))),
        statement: line.map_or(String::new(), |_| print_head(program, procedure, position)),
    }
}

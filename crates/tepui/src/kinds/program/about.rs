//! What an answer about a program is about: which threads, which memory, what no execution reaches, and whether it can get
//! stuck, which nobody asked.

use std::collections::BTreeSet;

use tepui_cert::Certificate;
use tepui_core::{About, Budget, Outcome, Status, Unreached};
use tepui_engines::closure;
use tepui_engines::program::code::Code;
use tepui_engines::workers::Cores;
use tepui_lang::boolean::{DEADLOCK, print_head};
use tepui_lang::source::Source;
use tepui_model::program::{Action, Goal, Program, Property};

use super::{BooleanProgram, Compiling, search};
use crate::Options;

/// How much work it may cost to look for deadlocks that nobody asked for: some hundredths of a second at most.
const DEADLOCK_WORK: u64 = 20_000;

/// Threads that are named of many.
const NAMED: usize = 8;

impl BooleanProgram {
    /// What an answer is about; `unreached` are the positions at which a proof shows that no thread ever stands.
    pub(super) fn about_answer(
        &self,
        code: &Code,
        outcome: &Outcome,
        unreached: &[(usize, usize)],
        budget: &Budget,
    ) -> About {
        let properties = self.compiling.properties(&self.program);
        let look = !self.compiling.question.deadlock && outcome.conclusive();
        About {
            threads: if is_crowd(outcome) { "any number of threads".to_owned() } else { threads(code) },
            unreached: self::unreached(&self.program, &self.source, &properties, unreached),
            vacuous: vacuous(&properties, outcome, unreached),
            stuck: if look { self.stuck(budget) } else { None },
        }
    }

    /// Whether the program is found to get stuck without much ado.
    pub(super) fn stuck(&self, budget: &Budget) -> Option<bool> {
        if !may_block(&self.program) {
            return Some(false);
        }
        let max_threads = Some(self.compiling.most_threads().min(3));
        let only = vec![DEADLOCK.to_owned()];
        let mut question = self.compiling.question.only(only);
        question.deadlock = true;
        // A warning is a claim, and must hold of the program itself. That there is none claims nothing.
        let without_proofs = true;
        let compiling = Compiling { question, max_threads, without_proofs, ..self.compiling.clone() };
        let budget = &budget.with_work(DEADLOCK_WORK);
        // One engine with one worker: for so little work others are not worth starting.
        let options = Options { engine: &closure::FACTS, cores: Cores::new(1), ..Options::default() };
        let (outcome, _) = search(&self.program, &compiling, &options, budget).ok()?;
        let property = outcome.properties.iter().find(|property| property.name == DEADLOCK)?;
        (property.verdict.status() == Status::Unsafe).then_some(true)
    }
}

/// Stretches of statements that no execution reaches.
pub(super) fn unreached(
    program: &Program,
    source: &Source,
    properties: &[Property],
    unreached: &[(usize, usize)],
) -> Vec<Unreached> {
    // That a label is not reached is what was asked for.
    let goals = || properties.iter().flat_map(|property| &property.never);
    let is_asked = |place: (usize, usize)| goals().any(|goal| *goal == Goal::Reached(place.0, place.1));
    // What is written once may be several steps, like a loop over numbers: it is reached if one of them is.
    let missed: BTreeSet<_> = unreached.iter().copied().collect();
    let is_whole = |&&(procedure, position): &&(usize, usize)| {
        let statements = &program.procedures[procedure].statements;
        let same = |other: &usize| statements[*other].text == statements[position].text;
        (0..statements.len()).filter(same).all(|other| missed.contains(&(procedure, other)))
    };
    let line = |&(procedure, position): &(usize, usize)| {
        source.position(program.procedures[procedure].statements[position].text.0 as usize).0
    };
    let mut places: Vec<_> = unreached.iter().filter(is_whole).map(|place| (place.0, line(place), place.1)).collect();
    places.sort_unstable();
    let mut stretches: Vec<(Unreached, bool)> = Vec::new();
    for (procedure, line, position) in places {
        let (name, asked) = (&program.procedures[procedure].name, is_asked((procedure, position)));
        match stretches.last_mut() {
            Some((last, only_asked)) if last.procedure == *name && line <= last.lines.1 + 1 => {
                last.lines.1 = line;
                *only_asked &= asked;
            }
            _ => {
                let statement = as_written(program, source, procedure, position);
                stretches.push((Unreached { procedure: name.clone(), lines: (line, line), statement }, asked));
            }
        }
    }
    stretches.into_iter().filter(|(_, only_asked)| !only_asked).map(|(stretch, _)| stretch).collect()
}

/// The beginning of a statement, as it stands in the source.
fn as_written(program: &Program, source: &Source, procedure: usize, position: usize) -> String {
    let (start, end) = program.procedures[procedure].statements[position].text;
    let text = source.text.get(start as usize..end as usize).unwrap_or_default();
    let head = text.split(['{', '\n']).next().unwrap_or_default().trim_end_matches([';', ' ', '\r']);
    if head.is_empty() { print_head(program, procedure, position) } else { head.to_owned() }
}

/// Properties that hold only because what they forbid stands where no execution comes.
pub(super) fn vacuous(properties: &[Property], outcome: &Outcome, unreached: &[(usize, usize)]) -> Vec<String> {
    let empty = |goal: &Goal| match *goal {
        Goal::Failure(procedure, position) | Goal::Range(procedure, position) | Goal::Index(procedure, position) => {
            unreached.contains(&(procedure, position))
        }
        Goal::Reached(..) | Goal::Deadlock => false,
    };
    let vacuous = |property: &&Property| {
        !property.never.is_empty() && property.never.iter().all(empty) && outcome.is_safe(&property.name)
    };
    properties.iter().filter(vacuous).map(|property| property.name.clone()).collect()
}

/// Whether a proof is about any number of threads.
fn is_crowd(outcome: &Outcome) -> bool {
    let certificate = outcome.evidence().map(|evidence| &evidence.certificate);
    matches!(certificate, Some(Certificate::Program(certificate)) if certificate.crowd.is_some())
}

/// The threads of a program, in words.
fn threads(code: &Code) -> String {
    let threads = code.thread_names();
    match (code.setup.is_none(), threads.as_slice()) {
        (true, all) => format!("as many threads as it starts, at most {} at the same time", all.len()),
        (false, [one]) => format!("one thread ({one})"),
        (false, all) => {
            let shown: Vec<_> = all.iter().take(NAMED).map(String::as_str).collect();
            let more = if all.len() > shown.len() { ", ..." } else { "" };
            format!("{} threads ({}{more})", all.len(), shown.join(", "))
        }
    }
}

/// Whether a thread of a program may have to wait.
fn may_block(program: &Program) -> bool {
    let statements = program.procedures.iter().flat_map(|procedure| &procedure.statements);
    program.procedures.iter().any(|procedure| procedure.enforced.is_some())
        || statements.into_iter().any(|statement| {
            matches!(
                statement.action,
                Action::Assume(_)
                    | Action::Wait(_)
                    | Action::Lock(_)
                    | Action::Acquire(_)
                    | Action::Sleep
                    | Action::SleepOn(..)
                    | Action::Assign { constraint: Some(_), .. }
            )
        })
}

//! What a proof says about a program, for people: which values variables have when a thread is at a line, and when two
//! threads are at two lines.
//!
//! A certificate lists all views that can be reached, and maybe more. What holds in all of them holds in every reachable
//! state. Looked at are the states between two steps of the program; the model must have a step for each of the
//! program's steps.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;
use tepui_cert::pushdown::Lemma;
use tepui_lang::boolean::{Legend, Meaning, Phase, print_head};
use tepui_model::program::{Kind, Program};
use tepui_model::pushdown::Shared;

use crate::visible_lines;

/// The most pairs of lines that are listed for people.
const MOST_PAIRS: usize = 200;

/// After how many views the caller is asked whether to stop.
const LOOK_EVERY: usize = 1_024;

/// A place in a procedure: the procedure and the position of the statement that comes next.
type Place = (usize, usize);

/// Variables with their values.
type Facts = Vec<(String, String)>;

/// What all states of some set have in common.
#[derive(Clone, Default)]
struct Common {
    seen: bool,
    /// For each variable its value, if it is always the same.
    values: Meaning,
}

impl Common {
    fn add(&mut self, values: &[Option<u32>]) {
        match self.seen {
            true => self.values.iter_mut().zip(values).for_each(|(common, value)| {
                if common != value {
                    *common = None;
                }
            }),
            false => (self.seen, self.values) = (true, values.to_vec()),
        }
    }
}

/// What a proof says about a program.
pub struct Invariant<'a> {
    program: &'a Program,
    /// In any state.
    always: Common,
    /// When a thread is at a line: the shared variables and the local ones.
    single: BTreeMap<Place, (Common, Common)>,
    /// When two threads are at lines.
    pairs: BTreeMap<(Place, Place), Common>,
    /// Pairs that two different threads might be at, as far as their procedures go.
    conceivable: BTreeMap<(Place, Place), ()>,
}

impl<'a> Invariant<'a> {
    /// Reads an invariant off a certificate, unless told to stop.
    pub fn of(program: &'a Program, legend: &Legend, lemma: &Lemma, stop: &dyn Fn() -> bool) -> Option<Self> {
        let mut invariant = Self {
            program,
            always: Common::default(),
            single: BTreeMap::new(),
            pairs: BTreeMap::new(),
            conceivable: BTreeMap::new(),
        };
        let leader = |thread: usize| lemma.threads[thread].like.unwrap_or(thread);
        // A row stands for all permutations of cells among interchangeable threads. Those that run the same procedure need
        // not be told apart; others may be interchangeable, too, and then a cell may be that of either.
        let mut kinds: Vec<Vec<(usize, usize)>> = vec![Vec::new(); lemma.threads.len()];
        for thread in 0..lemma.threads.len() {
            let group = &mut kinds[leader(thread)];
            match group.iter_mut().find(|(other, _)| legend.same_kind(*other, thread)) {
                Some((_, count)) => *count += 1,
                None => group.push((thread, 1)),
            }
        }
        let frame = |thread: usize, word: u32| {
            let symbol = *lemma.threads[leader(thread)].words[word as usize].first()?;
            legend.frame(thread, symbol).filter(|frame| !frame.calling && !frame.failed)
        };
        let mut of_thread: Vec<Vec<Place>> = vec![Vec::new(); lemma.threads.len()];
        for (number, row) in lemma.views.iter().enumerate() {
            if number.is_multiple_of(LOOK_EVERY) && stop() {
                return None;
            }
            if legend.phase(Shared(row[0])) != Phase::Open {
                continue;
            }
            let shared = legend.shared(Shared(row[0]));
            invariant.always.add(&shared);
            // For each place in the row, which kinds of threads may be there, and at which lines.
            let places: Vec<Vec<(usize, usize, Place)>> = (0..row.len() - 1)
                .map(|place| {
                    let group = kinds[leader(place)].iter();
                    let found = group.filter_map(|&(thread, count)| {
                        let frame = frame(thread, row[place + 1])?;
                        let line = (frame.procedure, frame.position);
                        let known = invariant.single.entry(line).or_default();
                        known.0.add(&shared);
                        known.1.add(&frame.locals);
                        if !of_thread[thread].contains(&line) {
                            of_thread[thread].push(line);
                        }
                        Some((thread, count, line))
                    });
                    found.collect()
                })
                .collect();
            for (place, here) in places.iter().enumerate() {
                for (&(thread, count, line), &(other, _, beside)) in
                    here.iter().flat_map(|one| places[place + 1..].iter().flatten().map(move |other| (one, other)))
                {
                    if thread != other || count > 1 {
                        let pair = if line <= beside { (line, beside) } else { (beside, line) };
                        invariant.pairs.entry(pair).or_default().add(&shared);
                    }
                }
            }
        }
        let sample = |thread: usize| {
            let group = kinds[leader(thread)].iter().find(|(other, _)| legend.same_kind(*other, thread));
            group.map_or(thread, |(sample, _)| *sample)
        };
        for thread in 0..lemma.threads.len() {
            for other in thread + 1..lemma.threads.len() {
                for &line in &of_thread[sample(thread)] {
                    for &beside in &of_thread[sample(other)] {
                        let pair = if line <= beside { (line, beside) } else { (beside, line) };
                        invariant.conceivable.insert(pair, ());
                    }
                }
            }
        }
        Some(invariant)
    }

    /// The line of a place, and its number among the statements that begin there; none for the end of the procedure.
    fn line(&self, (procedure, position): Place) -> Option<(u32, usize)> {
        let statements = &self.program.procedures[procedure].statements;
        let line = statements.get(position)?.line;
        Some((line, 1 + statements[..position].iter().filter(|statement| statement.line == line).count()))
    }

    fn place(&self, place: Place) -> String {
        let name = &self.program.procedures[place.0].name;
        match self.line(place) {
            None => format!("the end of {name}"),
            Some((line, 1)) => format!("{name}:{line}"),
            Some((line, number)) => format!("{name}:{line}.{number}"),
        }
    }

    /// Values that are always the same in some set and not already in a larger one.
    fn facts(&self, common: &Common, known: &[&Common], variables: &[(String, Kind)]) -> Facts {
        let known = |number: usize| known.iter().any(|known| known.values.get(number).copied().flatten().is_some());
        let values = common.values.iter().enumerate().filter(|(number, _)| !known(*number));
        let facts = values.filter_map(|(number, value)| Some((&variables[number], (*value)?)));
        facts.map(|((name, kind), value)| (name.clone(), self.program.value_name(*kind, value))).collect()
    }

    fn shared_variables(&self) -> Vec<(String, Kind)> {
        self.program.shared.iter().map(|variable| (variable.name.clone(), variable.kind)).collect()
    }

    /// What holds at each line, besides what always holds.
    fn at_lines(&self) -> impl Iterator<Item = (Place, Facts)> {
        self.single.iter().map(|(&line, (shared, local))| {
            let locals = self.program.procedures[line.0].locals.iter();
            let locals: Vec<_> = locals.map(|variable| (variable.name.clone(), variable.kind)).collect();
            let mut facts = self.facts(shared, &[&self.always], &self.shared_variables());
            facts.extend(self.facts(local, &[], &locals));
            (line, facts)
        })
    }

    /// What holds at two lines, besides what holds at each; nothing, if no two threads are there at the same time.
    fn at_pairs(&self) -> impl Iterator<Item = ((Place, Place), Option<Facts>)> {
        self.conceivable.keys().map(|&(one, other)| {
            let facts = self.pairs.get(&(one, other)).map(|common| {
                let known = [&self.always, &self.single[&one].0, &self.single[&other].0];
                self.facts(common, &known, &self.shared_variables())
            });
            ((one, other), facts)
        })
    }

    /// For people.
    pub fn render(&self) -> String {
        let text = |facts: &[(String, String)]| {
            facts.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
        };
        let mut out = "\n  invariant: what holds between any two steps, once the threads are started\n".to_owned();
        let always = self.facts(&self.always, &[], &self.shared_variables());
        if !always.is_empty() {
            let _ = writeln!(out, "    always: {}", text(&always));
        }
        let mut procedure = None;
        for (line, facts) in self.at_lines() {
            if procedure.replace(line.0) != Some(line.0) {
                let _ = writeln!(out, "    when a thread is in {}", self.program.procedures[line.0].name);
            }
            let (place, statement) = match self.line(line) {
                None => ("end".to_owned(), String::new()),
                Some((number, _)) => {
                    let statement = print_head(self.program, line.0, line.1);
                    let short: String = statement.chars().take(33).collect();
                    let more = if short.len() < statement.len() { "..." } else { "" };
                    (format!("line {number}"), format!("{short}{more}"))
                }
            };
            let _ = writeln!(out, "{}", format!("      {place:<9} {statement:<38}{}", text(&facts)).trim_end());
        }
        let (mut never, mut facts): (Vec<_>, Vec<_>) = self.at_pairs().partition(|(_, facts)| facts.is_none());
        facts.retain(|(_, facts)| facts.as_ref().is_some_and(|facts| !facts.is_empty()));
        let (hidden_never, hidden) = (never.len().saturating_sub(MOST_PAIRS), facts.len().saturating_sub(MOST_PAIRS));
        never.truncate(MOST_PAIRS);
        facts.truncate(MOST_PAIRS);
        if !never.is_empty() {
            out.push_str("    no two threads are at the same time at\n");
        }
        let mut beside: BTreeMap<Place, Vec<Place>> = BTreeMap::new();
        never.iter().for_each(|((one, other), _)| beside.entry(*one).or_default().push(*other));
        for (one, others) in beside {
            let others: Vec<_> = others.into_iter().map(|other| self.place(other)).collect();
            let _ = writeln!(out, "      {} and {}", self.place(one), others.join(", "));
        }
        if !facts.is_empty() {
            out.push_str("    when one thread is at the first and another at the second\n");
        }
        for ((one, other), facts) in &facts {
            let facts = text(facts.as_deref().unwrap_or_default());
            let _ = writeln!(out, "      {}, {}: {facts}", self.place(*one), self.place(*other));
        }
        if hidden + hidden_never > 0 {
            let _ = writeln!(out, "    ... and {} more pairs; --format json lists all", hidden + hidden_never);
        }
        visible_lines(&out).into_owned()
    }

    /// For programs.
    pub fn json(&self) -> Value {
        let values = |facts: &[(String, String)]| -> Value {
            facts.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect()
        };
        let place = |place: Place| {
            let (line, number) = self.line(place).unzip();
            let procedure = &self.program.procedures[place.0].name;
            serde_json::json!({ "procedure": procedure, "line": line, "number": number })
        };
        let lines = self.at_lines().map(|(line, facts)| {
            let mut value = place(line);
            value["values"] = values(&facts);
            value
        });
        let pairs = self.at_pairs().map(|((one, other), facts)| {
            let together = facts.is_some();
            let facts = values(&facts.unwrap_or_default());
            serde_json::json!({ "first": place(one), "second": place(other), "together": together, "values": facts })
        });
        serde_json::json!({
            "always": values(&self.facts(&self.always, &[], &self.shared_variables())),
            "lines": lines.collect::<Vec<_>>(),
            "pairs": pairs.collect::<Vec<_>>(),
        })
    }
}

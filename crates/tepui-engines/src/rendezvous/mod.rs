//! Rendezvous: is there a word of actions that every thread can perform? Approximations from above, made more precise
//! until the answer shows.
//!
//! The *language* of a thread with respect to a query is the set of words of actions with which it gets, alone, from its
//! initial local state into its part of the query. A query is reachable iff some word is, for every thread, one of its
//! language once the actions that it does not know are left out. That is the question whether context-free languages have
//! a word in common, which is undecidable. So the languages are taken at a *level* k (`words`): exact up to words of less
//! than k actions, arbitrary from there on. Let R be the words that all threads allow then.
//!
//! * R is empty: so is what it contains, and the query is unreachable. The automata are the evidence.
//! * R has a word that is shorter, for every thread, than its level: the word is real, and the query is reachable. Each
//!   thread's run is found by parsing (`witness`), and the runs are put together along the word.
//! * Otherwise levels are raised (`policy`), and the procedure goes on. It may go on for ever.
//!
//! The bound that the driver raises is the greatest level. Where other engines reach more and more from below, this one
//! excludes more and more from above: a larger bound never allows a word that a smaller one has excluded, and evidence is
//! due when nothing is left.
//!
//! Words may be exact at their beginnings (*prefix*), at their ends (*suffix*: the same with everything turned around), or
//! at both (*bifix*: a word must pass both). Actions that a thread does not know are no part of its language: they come
//! in when words are compared (`meeting`). To put them into the languages first (*shuffle first*) is less precise, larger,
//! and kept as a baseline.

mod grammar;
mod language;
mod meeting;
mod policy;
pub mod product;
mod witness;
mod words;

use std::fmt::Write as _;
use std::sync::Arc;

use tepui_cert::rendezvous::{Automaton, Certificate, Claim, Direction, Languages, Step};
use tepui_core::{Approximation, Bound, Budget, Engine, Evidence, Facts, Notes, Round, Stop};
use tepui_model::rendezvous::{Action, LocalSet, Model, Move, Target};

use grammar::Grammar;
use language::Language;
use meeting::{Component, Meeting};
pub use policy::Policy;
use policy::Turns;
use words::{ANY, NONE, Words};

/// At which ends the words of an approximation are exact.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Abstraction {
    /// At their beginnings.
    Prefix,
    /// At their ends.
    Suffix,
    /// At both.
    Bifix,
}

/// How to refine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Which approximations become more precise.
    pub policy: Policy,
    /// At which ends they are exact.
    pub abstraction: Abstraction,
    /// Put the actions that a thread does not know into its language before it is approximated (a baseline).
    pub shuffle_first: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { policy: Policy::IndividualMultiStep, abstraction: Abstraction::Prefix, shuffle_first: false }
    }
}

/// The longest words that are told apart. Sets of words are walked through recursively, one level at a time.
const LONGEST: u32 = 1_000;

/// The most queries of which a round keeps a record.
const MOST_RECORDED: usize = 50;

/// The language of one thread with respect to one set, in the directions that are needed.
struct ThreadLanguage {
    thread: usize,
    set: Option<LocalSet>,
    forward: Language,
    backward: Option<Language>,
}

/// A query: one target of a property.
struct Query {
    property: usize,
    target: usize,
    /// For each thread the number of its language.
    languages: Vec<usize>,
    /// For each thread the length from which on words are no longer exact.
    lengths: Vec<u32>,
    policy: Policy,
    turns: Turns,
    rounds: u64,
    answer: Answer,
}

enum Answer {
    /// Not known; the word that came last.
    Open(Vec<Action>),
    Unreachable,
    Reachable(Vec<Action>),
}

/// What is true of the engine on every model.
pub static FACTS: Facts = Facts { ..Facts::unbounded("rendezvous", &["actions"]) };

/// The engine.
pub struct Rendezvous {
    model: Arc<Model>,
    options: Options,
    languages: Vec<ThreadLanguage>,
    queries: Vec<Query>,
    visited: u64,
    switched: Vec<String>,
}

impl Rendezvous {
    /// An engine for all properties of a model; the languages are built in the first round.
    pub fn new(model: Arc<Model>, options: Options) -> Self {
        Self { model, options, languages: Vec::new(), queries: Vec::new(), visited: 0, switched: Vec::new() }
    }

    fn prepare(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        let model = Arc::clone(&self.model);
        let targets = (model.properties().iter().enumerate())
            .flat_map(|(number, property)| property.never.iter().enumerate().map(move |target| (number, target)));
        for (property, (target, Target { locals })) in targets.skip(self.queries.len()) {
            let mut languages = Vec::new();
            for (thread, set) in locals.iter().enumerate() {
                languages.push(self.language(thread, set.as_ref(), budget)?);
            }
            self.queries.push(Query {
                property,
                target,
                languages,
                lengths: vec![1; locals.len()],
                policy: self.options.policy,
                turns: Turns::default(),
                rounds: 0,
                answer: Answer::Open(Vec::new()),
            });
        }
        Ok(())
    }

    fn language(&mut self, thread: usize, set: Option<&LocalSet>, budget: &mut Budget) -> Result<usize, Stop> {
        let same = |known: &ThreadLanguage| known.thread == thread && known.set.as_ref() == set;
        if let Some(known) = self.languages.iter().position(same) {
            return Ok(known);
        }
        let grammar = Grammar::new(&self.model, thread, set, self.options.shuffle_first, budget)?;
        let backward = self.options.abstraction != Abstraction::Prefix;
        let backward = backward.then(|| Language::new(grammar.reversed()));
        self.languages.push(ThreadLanguage { thread, set: set.cloned(), forward: Language::new(grammar), backward });
        Ok(self.languages.len() - 1)
    }

    fn open(&self) -> impl Iterator<Item = usize> + '_ {
        let refuted = self.refuted();
        let open = move |query: &Query| matches!(query.answer, Answer::Open(_)) && !refuted.contains(&query.property);
        (self.queries.iter().enumerate()).filter(move |(_, query)| open(query)).map(|(number, _)| number)
    }

    /// The queries that are open and not yet beyond the longest words.
    fn workable(&self) -> Vec<usize> {
        let within = |number: &usize| self.queries[*number].lengths.iter().all(|&length| length <= LONGEST);
        self.open().filter(within).collect()
    }

    /// The properties that are violated, in ascending order.
    fn refuted(&self) -> Vec<usize> {
        let reachable = self.queries.iter().filter(|query| matches!(query.answer, Answer::Reachable(_)));
        let mut refuted: Vec<_> = reachable.map(|query| query.property).collect();
        refuted.dedup();
        refuted
    }

    /// One round of one query.
    fn refine(&mut self, number: usize, budget: &mut Budget) -> Result<(), Stop> {
        self.raise(number, budget)?;
        let found = self.word(number, budget)?;
        let projected = found.as_ref().map(|word| self.projected(word));
        let query = &mut self.queries[number];
        query.rounds += 1;
        let (Some(word), Some(projected)) = (found, projected) else {
            query.answer = Answer::Unreachable;
            return Ok(());
        };
        if projected.iter().zip(&query.lengths).all(|(projected, length)| projected < length) {
            query.answer = Answer::Reachable(word);
            return Ok(());
        }
        query.answer = Answer::Open(word);
        Ok(())
    }

    /// Raises the levels of a query whose last word was not exact.
    fn raise_lengths(&mut self, number: usize) {
        let Answer::Open(word) = &self.queries[number].answer else { return };
        let projected = self.projected(word);
        let query = &mut self.queries[number];
        let before = query.lengths.clone();
        query.policy.refine(&mut query.lengths, &projected);
        if query.turns.note(query.policy, &before, &query.lengths) {
            query.policy = Policy::MultiStep;
            let name = &self.model.properties()[query.property].name;
            let round = query.rounds;
            self.switched.push(format!(
                "{name}: threads were refined in turn; after round {round} all of them were refined together"
            ));
        }
    }

    fn raise(&mut self, number: usize, budget: &mut Budget) -> Result<(), Stop> {
        let query = &self.queries[number];
        for (&language, &length) in query.languages.iter().zip(&query.lengths) {
            let ThreadLanguage { forward, backward, .. } = &mut self.languages[language];
            if self.options.abstraction != Abstraction::Suffix {
                forward.raise(length, budget)?;
            }
            backward.as_mut().map_or(Ok(()), |backward| backward.raise(length, budget))?;
        }
        Ok(())
    }

    /// A word that all threads seem to allow.
    fn word(&mut self, number: usize, budget: &mut Budget) -> Result<Option<Vec<Action>>, Stop> {
        let (query, actions) = (&self.queries[number], self.model.actions().len());
        let mut components = Vec::new();
        for (&language, &length) in query.languages.iter().zip(&query.lengths) {
            let ThreadLanguage { forward, backward, .. } = &self.languages[language];
            let component = |language: &'_ Language| {
                let alphabet = &language.grammar().alphabet;
                (language.at(length), alphabet.clone())
            };
            let from_back = self.options.abstraction == Abstraction::Suffix;
            if !from_back {
                let (root, alphabet) = component(forward);
                components.push(Component::new(forward.words(), root, &alphabet, actions));
            }
            if let Some(backward) = backward {
                let (root, alphabet) = component(backward);
                let component = Component::new(backward.words(), root, &alphabet, actions);
                components.push(if from_back { component } else { component.turned() });
            }
        }
        let mut meeting = Meeting::new(components, actions);
        let mut word = meeting.shortest(budget)?;
        if let (Policy::NonGreedy, Some(shortest)) = (query.policy, &word) {
            let longest = self.projected(shortest).into_iter().max().unwrap_or(0);
            let projects: Vec<Vec<bool>> = (0..actions as u32).map(|action| self.counts(Action(action))).collect();
            word = meeting.most_even(&projects, longest, budget)?.or(word);
        }
        self.visited += meeting.visited;
        if self.options.abstraction == Abstraction::Suffix {
            word.iter_mut().for_each(|word| word.reverse());
        }
        Ok(word)
    }

    /// For each thread whether an action is part of its words.
    fn counts(&self, action: Action) -> Vec<bool> {
        self.model.threads().iter().map(|thread| self.options.shuffle_first || thread.knows.contains(&action)).collect()
    }

    /// The lengths of a word's projections.
    fn projected(&self, word: &[Action]) -> Vec<u32> {
        let mut lengths = vec![0; self.model.threads().len()];
        for &action in word {
            let counts = self.counts(action);
            lengths.iter_mut().zip(counts).for_each(|(length, counts)| *length += u32::from(counts));
        }
        lengths
    }

    fn names(&self, word: &[Action]) -> Vec<String> {
        word.iter().map(|&action| self.model.action_name(Some(action)).to_owned()).collect()
    }

    /// What was found in this round, of the first queries that were looked at.
    fn approximations(&self, looked_at: &[usize]) -> Vec<Approximation> {
        let approximation = |query: &Query| Approximation {
            property: self.model.properties()[query.property].name.clone(),
            target: query.target + 1,
            lengths: query.lengths.clone(),
            word: match &query.answer {
                Answer::Open(word) | Answer::Reachable(word) => Some(self.names(word)),
                Answer::Unreachable => None,
            },
        };
        looked_at.iter().take(MOST_RECORDED).map(|&number| approximation(&self.queries[number])).collect()
    }

    fn bound(&self) -> Bound {
        let longest = self.workable().into_iter().flat_map(|number| &self.queries[number].lengths).max();
        FACTS.bound(&[longest.copied().unwrap_or(1)])
    }

    fn round(&self, bound: Bound, stopped: Option<Stop>, approximations: Vec<Approximation>) -> Round {
        let all = self.languages.iter().flat_map(|known| [Some(&known.forward), known.backward.as_ref()]).flatten();
        let words: Vec<&Words> = all.map(Language::words).collect();
        let done = stopped.is_none() && self.open().next().is_none();
        Round {
            states: words.iter().map(|words| words.len() as u64).sum(),
            steps: self.visited,
            state_bytes: words.iter().map(|words| words.bytes()).sum(),
            violated: self.refuted(),
            exhausted: done,
            test_due: done,
            open: self.open().count() as u64,
            stopped,
            approximations,
            ..Round::empty(&FACTS, bound)
        }
    }

    fn claim(&self, property: usize) -> Claim {
        let stated = &self.model.properties()[property];
        let own = self.queries.iter().filter(|query| query.property == property);
        let targets = own.map(|query| {
            let threads = query.languages.iter().zip(&query.lengths);
            let mut all: Vec<_> =
                threads.map(|(&language, &length)| self.automata(&self.languages[language], length)).collect();
            // If a thread has no word at all, nobody else need be looked at.
            let without = |automata: &Vec<Automaton>| automata.iter().any(|automaton| automaton.states.is_empty());
            if let Some(alone) = all.iter().position(without) {
                (0..all.len()).filter(|&thread| thread != alone).for_each(|thread| all[thread].clear());
            }
            all
        });
        Claim { name: stated.name.clone(), never: stated.digest(), targets: targets.collect() }
    }

    /// Evidence for properties none of whose targets has a word.
    fn evidence(&self, proved: &[usize]) -> Evidence {
        let claims = proved.iter().map(|&property| self.claim(property)).collect();
        let own = self.queries.iter().filter(|query| proved.contains(&query.property));
        let lengths: Vec<_> = own.map(|query| tuple(&query.lengths)).collect();
        let because = match lengths.as_slice() {
            [] => "nothing is asked".to_owned(),
            [one] => format!("no word is in the languages of all threads, taken at length {one}"),
            _ => {
                let longest = self.queries.iter().flat_map(|query| &query.lengths).max().unwrap_or(&0);
                let count = lengths.len();
                format!(
                    "for none of {count} targets is there a word in the languages of all threads, taken at lengths up \
                     to {longest}"
                )
            }
        };
        let certificate = Certificate::Languages(Languages { model: self.model.digest(), claims });
        Evidence::new(certificate, because, "languages")
    }

    /// The automata of a language at a level. One that accepts everything excludes nothing, and is left out.
    fn automata(&self, language: &ThreadLanguage, length: u32) -> Vec<Automaton> {
        let suffix = self.options.abstraction == Abstraction::Suffix;
        let forward = (!suffix).then_some((&language.forward, Direction::Forward));
        let backward = language.backward.as_ref().map(|backward| (backward, Direction::Backward));
        let both = forward.into_iter().chain(backward);
        let parts = both.filter(|(language, _)| language.at(length) != ANY);
        parts.map(|(language, direction)| automaton(language, length, direction, self.options.shuffle_first)).collect()
    }

    /// The steps along a word: each thread's own run, put together.
    fn steps(&self, query: &Query, word: &[Action], budget: &mut Budget) -> Result<Vec<Step>, Stop> {
        let defect = || Stop::defect("a word does not execute");
        let mut runs = Vec::new();
        for (thread, &language) in query.languages.iter().enumerate() {
            let grammar = self.languages[language].forward.grammar();
            let letter = |action: &Action| grammar.alphabet.binary_search(action).ok().map(|letter| letter as u32);
            let own: Vec<_> = word.iter().filter_map(letter).collect();
            let rules = witness::run(grammar, &own, budget)?.ok_or_else(defect)?;
            let moves = rules.into_iter().map(|rule| Move { thread, rule: rule as usize });
            runs.push(moves.collect::<Vec<_>>().into_iter().peekable());
        }
        let internal = |step: &Move| self.model.rule(*step).is_some_and(|rule| rule.action.is_none());
        let mut steps: Vec<Vec<Move>> = Vec::new();
        for &action in word {
            let threads: Vec<_> = self.model.knowing(action).collect();
            for &thread in &threads {
                steps.extend(std::iter::from_fn(|| runs[thread].next_if(internal)).map(|step| vec![step]));
            }
            let together: Option<Vec<_>> = threads.iter().map(|&thread| runs[thread].next()).collect();
            steps.extend(together.filter(|moves| !moves.is_empty()));
        }
        steps.extend(runs.into_iter().flatten().map(|step| vec![step]));
        let mut state = self.model.init().clone();
        let mut trace = Vec::new();
        for moves in steps {
            budget.spend(1)?;
            state = self.model.step(&state, &moves).ok_or_else(defect)?;
            trace.push(Step { moves, after: state.clone() });
        }
        Ok(trace)
    }
}

/// The automata that accept at least the language of a thread with respect to a set, `None` for all local states, and are
/// exact for words of less than `length` actions.
pub fn approximate(
    model: &Arc<Model>,
    thread: usize,
    set: Option<&LocalSet>,
    length: u32,
    options: Options,
    budget: &mut Budget,
) -> Result<Vec<Automaton>, Stop> {
    let mut engine = Rendezvous::new(Arc::clone(model), options);
    let language = engine.language(thread, set, budget)?;
    let ThreadLanguage { forward, backward, .. } = &mut engine.languages[language];
    forward.raise(length, budget)?;
    backward.as_mut().map_or(Ok(()), |backward| backward.raise(length, budget))?;
    Ok(engine.automata(&engine.languages[language], length))
}

/// The automaton of a language at a level.
fn automaton(language: &Language, length: u32, direction: Direction, reads_all: bool) -> Automaton {
    let (words, root) = (language.words(), language.at(length));
    let mut numbers: rustc_hash::FxHashMap<u32, u32> = rustc_hash::FxHashMap::default();
    let mut order = Vec::new();
    if root != NONE {
        numbers.insert(root, 0);
        order.push(root);
    }
    let mut states = Vec::new();
    while states.len() < order.len() {
        let node = order[states.len()];
        let mut edges = Vec::new();
        for (letter, &action) in language.grammar().alphabet.iter().enumerate() {
            let next = words.next(node, letter as u32);
            if next == NONE {
                continue;
            }
            let fact = order.len() as u32;
            let number = *numbers.entry(next).or_insert(fact);
            if number == fact {
                order.push(next);
            }
            edges.push((action, number));
        }
        states.push((words.accepts(node), edges));
    }
    Automaton { direction, reads_all, states }
}

impl Engine for Rendezvous {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn next_bound(&self) -> Option<Bound> {
        Some(self.bound())
    }

    fn explore(&mut self, budget: &mut Budget) -> Result<Round, Stop> {
        let bound = self.bound();
        let mut stopped = self.prepare(budget).err();
        let mut looked_at = Vec::new();
        for number in self.workable() {
            if stopped.is_none() && !self.refuted().contains(&self.queries[number].property) {
                stopped = self.refine(number, budget).err();
                looked_at.extend(stopped.is_none().then_some(number));
            }
        }
        let stopped = stopped.or(budget.look().err());
        let mut round = self.round(bound, stopped, self.approximations(&looked_at));
        if round.stopped.is_none() {
            looked_at.into_iter().for_each(|number| self.raise_lengths(number));
            let beyond = self.open().next().is_some() && self.workable().is_empty();
            let why = || format!("words of more than {LONGEST} actions are not told apart");
            round.stopped = beyond.then(|| Stop::GaveUp(why()));
        }
        Ok(round)
    }

    fn converged(&mut self, _: &mut Budget) -> Result<Option<Evidence>, Stop> {
        let refuted = self.refuted();
        let proved: Vec<_> = (0..self.model.properties().len()).filter(|number| !refuted.contains(number)).collect();
        Ok(Some(self.evidence(&proved)))
    }

    fn proved(&mut self, budget: &mut Budget) -> Result<Option<(Vec<usize>, Evidence)>, Stop> {
        budget.look()?;
        let targets: usize = self.model.properties().iter().map(|property| property.never.len()).sum();
        if self.queries.len() < targets {
            return Ok(None);
        }
        let holds = |number: &usize| {
            let mut own = self.queries.iter().filter(|query| query.property == *number);
            own.all(|query| matches!(query.answer, Answer::Unreachable))
        };
        let proved: Vec<_> = (0..self.model.properties().len()).filter(holds).collect();
        let evidence = (!proved.is_empty()).then(|| self.evidence(&proved));
        Ok(evidence.map(|evidence| (proved, evidence)))
    }

    fn trace(&mut self, property: usize, budget: &mut Budget) -> Result<(tepui_cert::Trace, Option<Bound>), Stop> {
        let reached =
            self.queries.iter().filter(|query| query.property == property).find_map(|query| match &query.answer {
                Answer::Reachable(word) => Some((query, word)),
                Answer::Open(_) | Answer::Unreachable => None,
            });
        let Some((query, word)) = reached else {
            return Err(Stop::defect("there is no word to follow"));
        };
        let stated = &self.model.properties()[property];
        let trace = tepui_cert::rendezvous::Trace {
            model: self.model.digest(),
            property: stated.name.clone(),
            never: stated.digest(),
            start: self.model.init().clone(),
            steps: self.steps(query, word, budget)?,
        };
        Ok((trace.into(), None))
    }

    fn views(&self, _: bool, _: &mut Budget) -> Vec<String> {
        Vec::new()
    }

    fn notes(&self) -> Notes {
        let stored = ["state of automata", "states of automata"];
        Notes { stored, obstacles: self.obstacles(), remarks: self.switched.clone(), ..Notes::default() }
    }
}

impl Rendezvous {
    /// The words that have not been excluded.
    fn obstacles(&self) -> Vec<String> {
        let obstacle = |number: usize| {
            let query = &self.queries[number];
            let Answer::Open(word) = &query.answer else { return String::new() };
            let mut says = format!("{}: ", self.model.properties()[query.property].name);
            let rounds = if query.rounds == 1 { "round" } else { "rounds" };
            let _ = write!(says, "after {} {rounds} the threads still seem to allow ", query.rounds);
            says + &word_text(&self.names(word))
        };
        self.open().filter(|&number| self.queries[number].rounds > 0).map(obstacle).collect()
    }
}

/// Lengths as `(4, 2, 5)`, or one number if they are all the same.
fn tuple(lengths: &[u32]) -> String {
    match lengths {
        [first, rest @ ..] if rest.iter().all(|other| other == first) => first.to_string(),
        _ => format!("({})", lengths.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// A word, of a long one the beginning and the end.
fn word_text(word: &[String]) -> String {
    const SHOWN: usize = 8;
    match word {
        [] => "the empty word".to_owned(),
        short if short.len() <= 2 * SHOWN + 1 => short.join(" "),
        long => {
            let (front, back) = (long[..SHOWN].join(" "), long[long.len() - SHOWN..].join(" "));
            format!("{front} ... {back} ({} actions)", long.len())
        }
    }
}

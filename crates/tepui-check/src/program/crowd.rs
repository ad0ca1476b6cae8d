//! Any number of threads: the program as a system of threads in finitely many places.
//!
//! A certificate lists words of `main` and of the others, what may lie below them, and *states*: a shared state, whether some
//! thread is uninterrupted, and the word of `main`. The first of its lemmas says, among other things, which words the others
//! may have in which state. From these the checker makes a [`Net`]: its shared states are the states, its places the words of
//! the others, its steps all that the interpreter says of `main` and of another thread with such a word. Shared state 0 comes
//! before all of them, and leads to the states at the start. The lemmas are then those of [`counters`].
//!
//! **Why this is sound.** Every execution of the program is one of the net, by induction over its steps. Let the net have come
//! to what is seen of a state of the program: all that lies below words is listed, as in [`lemma`](crate::lemma). The first
//! lemma holds in all states that the net reaches, so the word of each thread is listed for this state, and its steps were taken
//! into the net. If `main` has ended before it is seen for the first time, another thread is called `main`: all that matters is
//! that it is one and the same. Whether a thread is uninterrupted is seen on its topmost frame. At most one is, for only such a thread moves
//! while there is one, and nobody starts or wakes up uninterrupted: so a step leads to a state in which the one that moved is
//! uninterrupted, or none is.
//!
//! Waking one of those that sleep is a meeting with it. That nobody wakes up is taken to be possible even if somebody sleeps,
//! which only adds executions.

use rustc_hash::FxHashMap;
use tepui_cert::counters::Lemma;
use tepui_cert::program::Crowd;
use tepui_cert::pushdown::{self, Rows};
use tepui_model::counters::{Bag, Count, Net, Pattern, Step};
use tepui_model::program::step::Woken;
use tepui_model::program::{Goal, Property};
use tepui_model::pushdown::{Names, Symbol};

use super::avoids::labels;
use super::system::Interpreted;
use crate::lemma::{Checked, Word};
use crate::system::{Move, NOWHERE, Others, System};
use crate::{Rejected, counters};

/// The parts of a certificate's list of threads.
const MAIN: usize = 0;
const OTHERS: usize = 1;

/// After how many words of a state the caller is asked whether to stop.
const LOOK_EVERY: usize = 256;

/// The most ways in which threads that are started together may begin.
const MOST_WAYS: usize = 10_000;

/// Decides whether lemmas about any number of threads hold and exclude what the properties forbid.
pub(super) fn check(
    system: &Interpreted<'_>,
    crowd: &Crowd,
    properties: &[Property],
) -> Result<counters::Accepted, Rejected> {
    if properties.iter().any(|property| property.never.contains(&Goal::Deadlock)) {
        return Err(Rejected::new("properties", "lemmas about any number of threads say nothing about deadlocks"));
    }
    let threads = crowd.threads.to_vec();
    let words = pushdown::Lemma { depth: crowd.depth, threads, views: Rows::new(3), explored: Vec::new() };
    let stopped = |place: &str, reason: String| match system.tables.is_stopped() {
        true => Rejected::stopped(place),
        false => Rejected::new(place, reason),
    };
    let built = Checked::well_formed(system, &words).and_then(|words| {
        let mut built = Building::new(system, crowd, &words, properties)?;
        built.start()?;
        (0..crowd.states.len()).try_for_each(|state| built.state(state))?;
        Ok((built.never, built.steps))
    });
    let (never, steps) = built.map_err(|reason| stopped("crowd", reason))?;
    let places = u32::try_from(crowd.threads[OTHERS].words.len()).unwrap_or(NOWHERE);
    let net = Net {
        shared: Names::Numbers(u32::try_from(crowd.states.len() + 1).unwrap_or(NOWHERE)),
        places: Names::Numbers(places),
        start: 0,
        counts: vec![Count::default(); places as usize],
        steps,
        properties: Vec::new(),
    };
    let facts = counters::prove(&net, &crowd.lemmas, &|| system.tables.is_stopped())?;
    if let Some((property, _)) = never.iter().find(|(_, pattern)| !counters::excluded(&facts, pattern)) {
        let name = &properties[*property].name;
        return Err(Rejected::new(format!("property {name}"), "no lemma excludes that it is violated"));
    }
    match system.tables.is_stopped() {
        true => Err(Rejected::stopped("properties")),
        false => {
            let properties = properties.iter().map(|property| property.name.clone()).collect();
            Ok(counters::Accepted { properties, lemmas: facts.len() })
        }
    }
}

/// The net, as far as it is built.
struct Building<'a, 'p> {
    system: &'a Interpreted<'p>,
    crowd: &'a Crowd,
    words: &'a Checked<'a, Interpreted<'p>>,
    /// The numbers of the states in the net.
    states: FxHashMap<(u32, bool, u32), u32>,
    /// For each state the words that others may have, in ascending order.
    present: Vec<Vec<u32>>,
    /// For each symbol the property that is violated if it is on top.
    labels: Vec<Option<usize>>,
    properties: &'a [Property],
    steps: Vec<Step>,
    /// What must not be covered, and by which property.
    never: Vec<(usize, Pattern)>,
}

/// A thread that moves: in which state, and which of the others it is, if it is not `main`.
#[derive(Clone, Copy)]
struct Mover {
    state: usize,
    place: Option<u32>,
}

impl<'a, 'p> Building<'a, 'p> {
    fn new(
        system: &'a Interpreted<'p>,
        crowd: &'a Crowd,
        words: &'a Checked<'a, Interpreted<'p>>,
        properties: &'a [Property],
    ) -> Result<Self, String> {
        let [main, others] = crowd.threads.each_ref().map(|thread| thread.words.len() as u32);
        if crowd.threads.iter().any(|thread| thread.like.is_some()) {
            return Err("`main` is like no other thread".to_owned());
        }
        let exists = |state: &(u32, bool, u32)| state.0 < system.shared_states() && state.2 < main;
        if !crowd.states.is_sorted_by(|one, other| one < other) || !crowd.states.iter().all(exists) {
            return Err("its states are not in ascending order, or name what does not exist".to_owned());
        }
        let Some(Lemma::Views(first)) = crowd.lemmas.first() else {
            return Err("its first lemma does not say who can be where".to_owned());
        };
        let mut present = vec![Vec::new(); crowd.states.len() + 1];
        for (state, row) in &first.rows {
            let own = present.get_mut(*state as usize).ok_or("a row has an unknown state")?;
            own.extend(row.iter().filter(|place| **place < others));
        }
        for places in &mut present {
            places.sort_unstable();
            places.dedup();
        }
        let states = crowd.states.iter().copied().zip(1..).collect();
        let labels = labels(system, properties);
        let (steps, never) = (Vec::new(), Vec::new());
        Ok(Self { system, crowd, words, states, present, labels, properties, steps, never })
    }

    /// The steps to the states at the start.
    fn start(&mut self) -> Result<(), String> {
        for (shared, stacks) in self.system.initial() {
            let [main, others @ ..] = stacks.as_slice() else { continue };
            let main = self.first_word(MAIN, main)?;
            let main = self.number(MAIN, &main)?;
            let mut put = Vec::new();
            for stack in others {
                put.extend(self.begins(stack.first().copied().unwrap_or(Symbol::BOTTOM))?);
            }
            let held = self.system.is_uninterrupted(self.words.word(MAIN, main)[0]);
            let to = self.state_number((*shared, held, main))?;
            self.steps.push(Step {
                from: 0,
                to,
                taken: Vec::new(),
                put: bag(put),
                moves: Vec::new(),
                others: None,
                line: 0,
            });
        }
        Ok(())
    }

    /// The steps from a state.
    fn state(&mut self, state: usize) -> Result<(), String> {
        self.mover(Mover { state, place: None })?;
        for (number, place) in self.present[state + 1].clone().into_iter().enumerate() {
            if number.is_multiple_of(LOOK_EVERY) && self.system.tables.is_stopped() {
                return Err("it has not been looked at to its end".to_owned());
            }
            self.mover(Mover { state, place: Some(place) })?;
        }
        Ok(())
    }

    /// The steps of a thread, and what it violates.
    fn mover(&mut self, mover: Mover) -> Result<(), String> {
        let (system, words) = (self.system, self.words);
        let (shared, held, main) = self.crowd.states[mover.state];
        let (thread, number) = mover.place.map_or((MAIN, main), |place| (OTHERS, place));
        let word = words.word(thread, number);
        let pattern = Pattern { shared: mover.state as u32 + 1, counts: bag(mover.place.into_iter().collect()) };
        self.never.extend(self.labels[word[0].0 as usize].map(|property| (property, pattern.clone())));
        if system.is_uninterrupted(word[0]) != held {
            return Ok(());
        }
        system.begin();
        system.forget();
        for step in system.moves(thread, shared, word[0]) {
            let mut found = Vec::new();
            words.changed(thread, word, &step, &mut |to, word| found.push((to, word)))?;
            for (to, word) in found {
                self.step(mover, &step, to, &word)?;
            }
        }
        let failed = system.failed.borrow();
        let fails = |property: &Property| property.never.iter().any(|goal| failed.contains_key(goal));
        let violated = (0..).zip(self.properties).filter(|(_, property)| fails(property));
        self.never.extend(violated.map(|(number, _)| (number, pattern.clone())));
        Ok(())
    }

    /// A step of a thread that has some word afterwards.
    fn step(&mut self, mover: Mover, step: &Move, to: u32, word: Word<'_>) -> Result<(), String> {
        let main = self.crowd.states[mover.state].2;
        let own = match mover.place {
            None => None,
            Some(_) if word == [Symbol::BOTTOM] => None,
            Some(_) => Some(self.number(OTHERS, word)?),
        };
        let main = if mover.place.is_none() { self.number(MAIN, word)? } else { main };
        let held = self.system.is_uninterrupted(word[0]);
        let put: Vec<u32> = own.into_iter().collect();
        match &step.others {
            None => self.add(mover, (to, held, main), &[], put, Vec::new()),
            Some(Others::Start(threads)) => {
                for more in self.started(threads)? {
                    self.add(mover, (to, held, main), &[], [put.clone(), more].concat(), Vec::new())?;
                }
                Ok(())
            }
            Some(Others::Wake(woken)) => self.wake(mover, (to, held, main), &put, *woken),
            Some(Others::Meet(_)) => Err("threads of a program do not meet".to_owned()),
        }
    }

    /// The words of threads that are started, in all ways.
    fn started(&self, threads: &[Vec<Symbol>]) -> Result<Vec<Vec<u32>>, String> {
        let mut ways: Vec<Vec<u32>> = vec![Vec::new()];
        for symbols in threads {
            let mut more = Vec::new();
            for &symbol in symbols {
                let begun = self.begins(symbol)?;
                more.extend(ways.iter().map(|way| way.iter().copied().chain(begun).collect::<Vec<_>>()));
            }
            more.iter_mut().for_each(|way| way.sort_unstable());
            more.sort_unstable();
            more.dedup();
            if more.len() > MOST_WAYS || self.system.tables.is_stopped() {
                return Err("threads that are started together begin in too many ways".to_owned());
            }
            ways = more;
        }
        Ok(ways)
    }

    /// A step that wakes those that sleep on a condition: all of them, or one or none.
    fn wake(
        &mut self,
        mover: Mover,
        (to, held, main): (u32, bool, u32),
        put: &[u32],
        Woken { condition, all }: Woken,
    ) -> Result<(), String> {
        let mut others = Vec::new();
        for &place in &self.present[mover.state + 1] {
            others.extend(self.woken(OTHERS, place, condition)?.map(|awake| (place, awake)));
        }
        let mains = match mover.place {
            None => None,
            Some(_) => self.woken(MAIN, main, condition)?,
        };
        if all {
            let mut moves = Vec::new();
            for (place, awake) in &others {
                let [awake] = awake.as_slice() else {
                    return Err("a thread that is woken together with others may go on in several ways".to_owned());
                };
                moves.push((*place, Some(*awake)));
            }
            let mains = mains.unwrap_or_else(|| vec![main]);
            return mains
                .into_iter()
                .try_for_each(|main| self.add(mover, (to, held, main), &[], put.to_vec(), moves.clone()));
        }
        self.add(mover, (to, held, main), &[], put.to_vec(), Vec::new())?;
        for main in mains.into_iter().flatten() {
            self.add(mover, (to, held, main), &[], put.to_vec(), Vec::new())?;
        }
        for (place, awake) in others {
            for awake in awake {
                self.add(mover, (to, held, main), &[place], [put, &[awake]].concat(), Vec::new())?;
            }
        }
        Ok(())
    }

    /// What a thread may become that sleeps on a condition, when it is woken. One that sleeps uninterrupted is never woken.
    fn woken(&self, thread: usize, number: u32, condition: u32) -> Result<Option<Vec<u32>>, String> {
        let word = self.words.word(thread, number);
        let Some(tops) = self.system.woken(word[0], condition).filter(|_| !self.system.is_uninterrupted(word[0]))
        else {
            return Ok(None);
        };
        let mut found = Vec::new();
        for top in tops {
            let awake: Vec<_> = [top].iter().chain(&word[1..]).copied().collect();
            for &symbol in self.words.beneath(thread, word) {
                self.words.require_below(thread, &awake, symbol)?;
            }
            found.push(self.calm(thread, &awake)?);
        }
        Ok(Some(found))
    }

    /// The place of a thread that begins with a symbol.
    fn begins(&self, symbol: Symbol) -> Result<Option<u32>, String> {
        let stack: Vec<_> = Some(symbol).filter(|symbol| !symbol.is_bottom()).into_iter().collect();
        let word = self.first_word(OTHERS, &stack)?;
        if stack.is_empty() { Ok(None) } else { self.calm(OTHERS, &word).map(Some) }
    }

    /// What is seen of a first stack, all of which must be listed.
    fn first_word(&self, thread: usize, stack: &[Symbol]) -> Result<Vec<Symbol>, String> {
        let depth = self.crowd.depth as usize;
        let mut stack: Vec<_> = stack.iter().copied().chain([Symbol::BOTTOM]).collect();
        for stretch in stack.windows(depth.saturating_add(1)) {
            self.words.require_below(thread, &stretch[..depth], stretch[depth])?;
        }
        stack.truncate(depth);
        Ok(stack)
    }

    /// The number of a word, which must not be uninterrupted.
    fn calm(&self, thread: usize, word: Word<'_>) -> Result<u32, String> {
        let number = self.number(thread, word)?;
        match self.system.is_uninterrupted(word[0]) {
            true => Err("a thread begins or wakes up uninterrupted".to_owned()),
            false => Ok(number),
        }
    }

    fn number(&self, thread: usize, word: Word<'_>) -> Result<u32, String> {
        self.words.word_number(thread, word)
    }

    fn state_number(&self, state: (u32, bool, u32)) -> Result<u32, String> {
        self.states.get(&state).copied().ok_or_else(|| "a step leads to a state that is missing".to_owned())
    }

    /// A step to a state, of the one that moves and of others that it takes with it.
    fn add(
        &mut self,
        mover: Mover,
        to: (u32, bool, u32),
        taken: &[u32],
        put: Vec<u32>,
        moves: Vec<(u32, Option<u32>)>,
    ) -> Result<(), String> {
        let to = self.state_number(to)?;
        let taken = bag(mover.place.into_iter().chain(taken.iter().copied()).collect());
        let (from, line) = (mover.state as u32 + 1, self.line(mover));
        self.steps.push(Step { from, to, taken, put: bag(put), moves, others: None, line });
        Ok(())
    }

    /// The line of the statement that a thread executes, for messages.
    fn line(&self, mover: Mover) -> u32 {
        let (thread, number) = mover.place.map_or((MAIN, self.crowd.states[mover.state].2), |place| (OTHERS, place));
        let frame = self.system.tables.frame(self.words.word(thread, number)[0]);
        let statement = frame.and_then(|frame| {
            let position = self.system.runner.first_of(frame.procedure, frame.position);
            self.system.program.procedures[frame.procedure].statements.get(position)
        });
        statement.map_or(0, |statement| statement.line)
    }
}

/// How many threads are in which places.
fn bag(mut places: Vec<u32>) -> Bag {
    places.sort_unstable();
    let same = places.chunk_by(|one, other| one == other);
    same.map(|same| (same[0], u32::try_from(same.len()).unwrap_or(u32::MAX))).collect()
}

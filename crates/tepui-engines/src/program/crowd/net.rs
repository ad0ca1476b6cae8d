//! The system of threads that a closed set of views shows, and certificates about it.
//!
//! Places are the words of the others. Shared states are the states, numbered from 1 in ascending order, and 0 before them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tepui_cert::counters::{self, Lemma};
use tepui_cert::program::{Certificate, Crowd, bits_of};
use tepui_cert::pushdown::{LemmaThread, Row as Values, Rows};
use tepui_core::{Budget, Stop};
use tepui_model::counters::{Bag, Count, Net, Pattern, Property, Step};
use tepui_model::program::Goal;
use tepui_model::program::step::Value;
use tepui_model::pushdown::Names;

use super::super::certificate::{Frames, kept};
use super::super::code::Code;
use super::threads::{Effect, MAIN, NOBODY, OTHERS, Threads};
use super::views::{Views, each_choice};

/// A program as a system of threads in finitely many places.
pub(super) struct Crowded {
    pub(super) net: Arc<Net>,
    /// Whether each execution of it is one of the program.
    pub(super) exact: bool,
    /// For each property of the net which one of the program it is.
    pub(super) properties: Vec<usize>,
    /// The certificate, but for what is proved and how.
    certificate: Certificate,
    all: Vec<tepui_model::program::Property>,
    views: counters::Views,
}

/// The numbers of states and places.
struct Numbers {
    /// For each state the number of its shared state, whether a thread is uninterrupted, and the word of `main`.
    listed: Vec<(u32, bool, u32)>,
    states: Vec<u32>,
    /// For each kind the words that occur, in ascending order.
    words: [Vec<u32>; 2],
}

impl Numbers {
    fn place(&self, word: u32) -> u32 {
        self.words[OTHERS].partition_point(|own| *own < word) as u32
    }
}

impl Crowded {
    pub(super) fn new(views: &Views, threads: &mut Threads, budget: &mut Budget) -> Result<Self, Stop> {
        let (shared, ranks) = shared_states(views, threads);
        let numbers = numbers(views, threads, &ranks);
        let mut steps = vec![started(&numbers)];
        let mut found = Found { threads, numbers: &numbers, present: Vec::new(), steps: &mut steps };
        let decided: Vec<usize> = (0..found.threads.programs.properties.len())
            .filter(|own| !found.threads.programs.properties[*own].never.contains(&Goal::Deadlock))
            .collect();
        let mut never = vec![Vec::new(); decided.len()];
        let mut present = vec![BTreeSet::new(); views.states.len()];
        for row in views.rows.iter() {
            present[row[0] as usize].extend(row[1..].iter().copied().filter(|word| *word != NOBODY));
        }
        for (state, present) in (0..).zip(present) {
            found.present = present.into_iter().collect();
            for word in std::iter::once(None).chain(found.present.clone().into_iter().map(Some)) {
                budget.spend(1)?;
                found.mover(views, state, word, budget)?;
                let acting = views.acting(state, word);
                let counts = word.map(|word| (numbers.place(word), 1)).into_iter().collect::<Bag>();
                let pattern = Pattern { shared: numbers.states[state as usize], counts };
                for (property, never) in decided.iter().zip(&mut never) {
                    if found.threads.violates(*property, acting) {
                        never.push(pattern.clone());
                    }
                }
            }
        }
        let open = numbers.words.iter().zip([MAIN, OTHERS]);
        let open = open.map(|(words, kind)| words.iter().any(|word| threads.is_open(&threads.words[kind][*word])));
        let exact = !open.fold(false, |any, open| any | open);
        let properties = threads.programs.properties.clone();
        let own = |(number, never): (&usize, Vec<Pattern>)| Property { name: properties[*number].name.clone(), never };
        let places = numbers.words[OTHERS].len() as u32;
        let net = Net {
            shared: Names::Numbers(numbers.states.len() as u32 + 1),
            places: Names::Numbers(places),
            start: 0,
            counts: vec![Count::default(); places as usize],
            steps,
            properties: decided.iter().zip(never).map(own).collect(),
        };
        let certificate = certificate(threads, &numbers, shared);
        let views = listed(views, &numbers);
        Ok(Self { net: Arc::new(net), exact, properties: decided, certificate, all: properties, views })
    }

    /// How many views were closed.
    pub(super) fn view_count(&self) -> u64 {
        self.views.rows.len() as u64
    }

    /// How many frames of a stack are seen.
    pub(super) fn depth(&self) -> usize {
        self.certificate.crowd.as_ref().map_or(0, |crowd| crowd.depth as usize)
    }

    /// A certificate of some properties of the net, as one of the program.
    pub(super) fn certificate(&self, proof: counters::Certificate) -> Certificate {
        let claimed = |name: &str| proof.claims.iter().any(|claim| claim.name == name);
        let proved = self.all.iter().filter(|property| claimed(&property.name) && !property.never.is_empty());
        let mut certificate = self.certificate.clone();
        certificate.properties = proved.cloned().collect();
        // Views of more threads say as well who can be where.
        let (views, mut lemmas): (Vec<_>, Vec<_>) =
            proof.lemmas.into_iter().partition(|lemma| matches!(lemma, Lemma::Views(_)));
        let first = views.into_iter().next().unwrap_or_else(|| Lemma::Views(self.views.clone()));
        lemmas.insert(0, first);
        certificate.crowd.iter_mut().for_each(|crowd| crowd.lemmas.clone_from(&lemmas));
        certificate
    }
}

/// The values of the shared states that occur, in ascending order, and for each shared row its number among them.
fn shared_states(views: &Views, threads: &Threads) -> (Rows, BTreeMap<u32, u32>) {
    let (programs, program) = (&threads.programs, &threads.programs.code.program);
    let occur: BTreeSet<u32> = views.states.iter().map(|(shared, _)| *shared).collect();
    let values = |shared: u32| programs.source_values(shared).into_iter().map(Value::number).collect::<Values>();
    let by_value: BTreeSet<Values> = occur.iter().map(|shared| values(*shared)).collect();
    let bits = program.shared.iter().map(|variable| bits_of(program.values(variable.kind)));
    let mut rows = Rows::with_bits(&bits.collect::<Vec<_>>());
    by_value.iter().for_each(|values| rows.push(values));
    let rank = |shared: u32| rows.find(values(shared), 0..rows.len()).unwrap_or_default() as u32;
    let ranks = occur.iter().map(|&shared| (shared, rank(shared))).collect();
    (rows, ranks)
}

fn numbers(views: &Views, threads: &mut Threads, ranks: &BTreeMap<u32, u32>) -> Numbers {
    let mut others: BTreeSet<u32> = views.rows.iter().flat_map(|row| row[1..].iter().copied()).collect();
    others.remove(&NOBODY);
    // A broadcast says of everybody who sleeps what becomes of them, even of those who sleep at other times only.
    let awake: Vec<u32> = others.iter().flat_map(|word| threads.awake(*word)).collect();
    others.extend(awake);
    let others = others.into_iter().collect();
    let mains: BTreeSet<u32> = views.states.iter().map(|(_, main)| *main).collect();
    let mains: Vec<u32> = mains.into_iter().collect();
    let state = |&(shared, main): &(u32, u32)| {
        let held = Code::is_held(threads.programs.tables.shared(shared));
        (ranks[&shared], held, mains.partition_point(|own| *own < main) as u32)
    };
    let found: Vec<_> = views.states.iter().map(state).collect();
    let mut listed = found.clone();
    listed.sort_unstable();
    let number = |state: &(u32, bool, u32)| listed.partition_point(|own| own < state) as u32 + 1;
    let states = found.iter().map(number).collect();
    Numbers { listed, states, words: [mains, others] }
}

/// The step to the start, which is the first state.
fn started(numbers: &Numbers) -> Step {
    let to = numbers.states[0];
    Step { from: 0, to, taken: Vec::new(), put: Vec::new(), moves: Vec::new(), others: None, line: 0 }
}

/// The most ways in which threads that are started together may begin.
const MOST_WAYS: f64 = 10_000.0;

/// Fails if so many threads, each of which begins with one of some words, begin in too many ways.
fn require_few_ways(words: usize, count: u32) -> Result<(), Stop> {
    let more = |ways: f64, own: usize| ways * (f64::from(count) + own as f64) / own as f64;
    match (1..words).fold(1.0, more) <= MOST_WAYS {
        true => Ok(()),
        false => Err(Stop::NotApplicable(format!(
            "{count} threads are started at once, each of which may begin in {words} ways"
        ))),
    }
}

/// Finds the steps of the net.
struct Found<'a> {
    threads: &'a mut Threads,
    numbers: &'a Numbers,
    /// The words of others in the state at hand.
    present: Vec<u32>,
    steps: &'a mut Vec<Step>,
}

impl Found<'_> {
    /// The steps of a thread.
    fn mover(&mut self, views: &Views, state: u32, word: Option<u32>, budget: &mut Budget) -> Result<(), Stop> {
        for moved in &*self.threads.moves(views.acting(state, word), budget)? {
            let main = if word.is_none() { moved.word } else { views.states[state].1 };
            let own: Vec<u32> = word.and(Some(moved.word)).filter(|word| *word != NOBODY).into_iter().collect();
            let taken: Vec<u32> = word.into_iter().collect();
            let add = |found: &mut Self, main: u32, taken: &[u32], put: &[u32], moves: Vec<(u32, Option<u32>)>| {
                let to = views.states.get(&(moved.shared, main)).ok_or_else(|| Stop::defect("a state is missing"))?;
                let [from, to] = [state, to].map(|state| found.numbers.states[state as usize]);
                let [taken, put] = [taken, put].map(|words| found.bag(words));
                found.steps.push(Step { from, to, taken, put, moves, others: None, line: 0 });
                Ok::<(), Stop>(())
            };
            match &moved.effect {
                Effect::Nothing => add(self, main, &taken, &own, Vec::new())?,
                Effect::Starts(words, count) => {
                    require_few_ways(words.len(), *count)?;
                    each_choice(words, *count as usize, &mut Vec::new(), &mut |more| {
                        budget.spend(1)?;
                        add(self, main, &taken, &[own.as_slice(), more].concat(), Vec::new())
                    })?;
                }
                Effect::Wakes(condition, all) => {
                    let mains = word.and_then(|_| self.threads.woken(MAIN, main, *condition));
                    let (sleepers, moves) = self.sleepers(*condition, *all)?;
                    if *all {
                        for main in mains.unwrap_or_else(|| vec![main]) {
                            add(self, main, &taken, &own, moves.clone())?;
                        }
                        continue;
                    }
                    for main in mains.into_iter().flatten().chain([main]) {
                        add(self, main, &taken, &own, Vec::new())?;
                    }
                    for (sleeper, awake) in sleepers {
                        let taken = [taken.as_slice(), &[sleeper]].concat();
                        add(self, main, &taken, &[own.as_slice(), &[awake]].concat(), Vec::new())?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Those that sleep on a condition, with what they may become, one by one and all together.
    #[allow(clippy::type_complexity)]
    fn sleepers(&mut self, condition: u32, all: bool) -> Result<(Vec<(u32, u32)>, Vec<(u32, Option<u32>)>), Stop> {
        let (mut single, mut moves) = (Vec::new(), Vec::new());
        for word in self.present.clone() {
            let Some(awake) = self.threads.woken(OTHERS, word, condition) else { continue };
            if all && awake.len() != 1 {
                return Err(Stop::NotApplicable(
                    "threads that are woken together go on in several ways at once".to_owned(),
                ));
            }
            moves.extend(awake.first().map(|awake| (self.numbers.place(word), Some(self.numbers.place(*awake)))));
            single.extend(awake.into_iter().map(|awake| (word, awake)));
        }
        Ok((single, moves))
    }

    fn bag(&self, words: &[u32]) -> Bag {
        let mut places: Vec<u32> = words.iter().map(|word| self.numbers.place(*word)).collect();
        places.sort_unstable();
        places.chunk_by(|one, other| one == other).map(|same| (same[0], same.len() as u32)).collect()
    }
}

/// The views as a lemma.
fn listed(views: &Views, numbers: &Numbers) -> counters::Views {
    let nobody = numbers.words[OTHERS].len() as u32;
    let place = |word: &u32| if *word == NOBODY { nobody } else { numbers.place(*word) };
    let row = |row: &super::views::Row| (numbers.states[row[0] as usize], row[1..].iter().map(place).collect());
    let mut rows: Vec<counters::Row> = views.rows.iter().map(row).collect();
    rows.push((0, vec![nobody; views.size].into()));
    rows.sort_unstable();
    counters::Views { size: views.size, rows }
}

/// What every certificate has: tables, words and states.
fn certificate(threads: &Threads, numbers: &Numbers, shared: Rows) -> Certificate {
    let programs = &threads.programs;
    let mut frames = Frames::new(programs);
    let thread = |kind: usize| {
        let words = numbers.words[kind].iter().map(|word| threads.words[kind][*word].clone()).collect();
        let below = threads.below(kind).filter(|(_, symbols)| !symbols.is_empty());
        let below = below.map(|(word, symbols)| (threads.words[kind][word].clone(), symbols.to_vec())).collect();
        LemmaThread { like: None, words, below }
    };
    let mut parts = [MAIN, OTHERS].map(thread);
    parts.iter_mut().for_each(|part| frames.renumber(part));
    let states = numbers.listed.clone();
    let crowd = Crowd { depth: threads.depth as u32, threads: parts, states, lemmas: Vec::new() };
    Certificate {
        tasks: None,
        program: programs.code.given.digest(),
        properties: Vec::new(),
        kept: kept(&programs.code.kept),
        shared,
        frames: frames.frames,
        lemmas: Vec::new(),
        regular: None,
        crowd: Some(Box::new(crowd)),
    }
}

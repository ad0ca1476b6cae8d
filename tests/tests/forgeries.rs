//! Forged evidence. The checker is held against a judge that reads the definition of a proof as naively as possible, and
//! against the oracle: whatever is accepted contains every reachable view and no violating one.
//!
//! Certificates come from the engines, on random systems and on systems made by hand; proofs with several lemmas are
//! made of them. A forgery changes one as a value,
//! so that its seal is always right, or changes its model by one rule and keeps the certificate. Not every change
//! makes a proof wrong, which is why the expected answer is computed and not assumed; where it is known beforehand
//! (a view less, a violating view more, another model's digest) it is asserted as well.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use fastrand::Rng;
use tepui::{Choice, Options, verify};
use tepui_cert::{Certificate, Lemma, LemmaThread, Rows, Step, Trace};
use tepui_check::{check, replay};
use tepui_core::{Budget, Outcome, Verdict};
use tepui_model::Digest;
use tepui_model::pushdown::{Action, Model, Names, Pattern, Property, Rule, Shared, State, Symbol, Thread};
use tepui_tests::oracle::{self, Cap};
use tepui_tests::random::{Shape, small_model};
use tepui_tests::systems::{self, never, rule, state, system, thread};

const SEEDS: u64 = 900;
const CAP: Cap = Cap { height: 6, states: 400 };
const LARGEST_SAMPLE: usize = 60;
const SAMPLES_OF_A_SORT: usize = 30;
const FORGERIES_AT_LEAST: usize = 20_000;

// ---------------------------------------------------------------------------------------------------- the judge

type Word = Vec<u32>;
type WordView = (u32, Vec<Word>);

/// A lemma as two sets, without numbers for words.
struct Claim {
    depth: usize,
    views: BTreeSet<WordView>,
    below: BTreeMap<(usize, Word), BTreeSet<u32>>,
}

/// Whether a certificate proves all properties of a model.
fn judge(model: &Model, certificate: &Certificate) -> bool {
    let mut claims = Vec::new();
    for lemma in &certificate.lemmas {
        let Some(claim) = Claim::of(model, lemma) else { return false };
        if !claim.starts_right(model) || !claim.is_closed(model, &claims) {
            return false;
        }
        claims.push(claim);
    }
    let Some(last) = claims.last() else { return false };
    certificate.model == model.digest()
        && model.properties().iter().all(|property| is_claimed(certificate, property) && last.avoids(property))
}

fn is_claimed(certificate: &Certificate, property: &Property) -> bool {
    property.never.is_empty() || certificate.properties.iter().any(|claimed| claimed.never == property.never)
}

fn numbers(symbols: &[Symbol]) -> Word {
    symbols.iter().map(|symbol| symbol.0).collect()
}

fn cut(word: &[u32], depth: usize) -> Word {
    word.iter().copied().take(depth).collect()
}

impl Claim {
    /// The sets, if the lemma speaks of this model's shared states, threads and symbols, and says nothing twice.
    fn of(model: &Model, lemma: &Lemma) -> Option<Self> {
        let threads = model.threads();
        let depth = lemma.depth as usize;
        if depth == 0 || lemma.threads.len() != threads.len() || lemma.views.width() != threads.len() + 1 {
            return None;
        }
        let mut below = BTreeMap::new();
        for (number, part) in lemma.threads.iter().enumerate() {
            let words: BTreeSet<_> = part.words.iter().collect();
            let legal = |word: &&Vec<Symbol>| is_word(&numbers(word), depth, threads[number].symbol_count());
            if words.len() != part.words.len() || !words.iter().all(legal) {
                return None;
            }
            for (word, symbols) in &part.below {
                let symbols = symbols.iter().map(|symbol| symbol.0).collect();
                if below.insert((number, numbers(word)), symbols).is_some() {
                    return None;
                }
            }
        }
        let views: Option<BTreeSet<_>> = lemma.views.iter().map(|row| word_view(model, lemma, row)).collect();
        let views = views.filter(|views| views.len() == lemma.views.len())?;
        Some(Self { depth, views, below })
    }

    fn lists(&self, thread: usize, text: &[u32]) -> bool {
        text.windows(self.depth.saturating_add(1)).all(|stretch| {
            let (word, symbol) = (stretch[..self.depth].to_vec(), &stretch[self.depth]);
            self.below.get(&(thread, word)).is_some_and(|listed| listed.contains(symbol))
        })
    }

    fn starts_right(&self, model: &Model) -> bool {
        let texts: Vec<_> = model.init().stacks.iter().map(|stack| text(stack)).collect();
        texts.iter().enumerate().all(|(thread, text)| self.lists(thread, text)) && self.has(model.init())
    }

    fn is_closed(&self, model: &Model, earlier: &[Self]) -> bool {
        self.views.iter().all(|view| {
            model
                .threads()
                .iter()
                .enumerate()
                .all(|(number, thread)| thread.rules.iter().all(|rule| self.allows(view, number, rule, earlier)))
        })
    }

    /// Whether all that a rule makes of a view is listed.
    fn allows(&self, view: &WordView, thread: usize, rule: &Rule, earlier: &[Self]) -> bool {
        self.results(view, thread, rule).into_iter().all(|(next, text)| {
            let known = self.views.contains(&next) || earlier.iter().any(|lemma| lemma.excludes(&next, self.depth));
            known && self.lists(thread, &text)
        })
    }

    /// What a rule makes of a view: the next view, and how far the changed stack is known.
    fn results(&self, view: &WordView, thread: usize, rule: &Rule) -> Vec<(WordView, Word)> {
        let word = &view.1[thread];
        if (view.0, word[0]) != (rule.from.0, rule.top.0) {
            return vec![];
        }
        let written = match rule.action {
            Action::Pop => vec![],
            Action::Overwrite(symbol) => vec![symbol.0],
            Action::Push { top, below } => vec![top.0, below.0],
        };
        let result = |stack: Word| {
            let text = [&written, &stack[1..]].concat();
            let mut next = (rule.to.0, view.1.clone());
            next.1[thread] = cut(&text, self.depth);
            (next, text)
        };
        self.stacks_with(thread, word, !written.is_empty()).into_iter().map(result).collect()
    }

    /// The word with what may lie below it; as it is too if it is all that counts.
    fn stacks_with(&self, thread: usize, word: &Word, as_it_is: bool) -> Vec<Word> {
        let open = word.len() == self.depth && word[self.depth - 1] != 0;
        let listed = self.below.get(&(thread, word.clone())).filter(|_| open);
        let longer = listed.into_iter().flatten().map(|&symbol| [word.as_slice(), &[symbol]].concat());
        longer.chain((as_it_is || !open).then(|| word.clone())).collect()
    }

    fn excludes(&self, view: &WordView, depth: usize) -> bool {
        let common = depth.min(self.depth);
        let cut_view = |view: &WordView| (view.0, view.1.iter().map(|word| cut(word, common)).collect::<Vec<_>>());
        !self.views.iter().any(|own| cut_view(own) == cut_view(view))
    }

    fn avoids(&self, property: &Property) -> bool {
        !self.views.iter().any(|view| is_forbidden(property, view))
    }

    fn has(&self, state: &State) -> bool {
        self.views.contains(&view_of(state, self.depth))
    }

    /// The least set that holds initially and is closed, relative to earlier lemmas; `None` if it is large.
    fn least(model: &Model, depth: usize, earlier: &[Self]) -> Option<Self> {
        let views = BTreeSet::from([view_of(model.init(), depth)]);
        let mut least = Self { depth, views, below: BTreeMap::new() };
        for (thread, stack) in model.init().stacks.iter().enumerate() {
            least.list(thread, &text(stack));
        }
        let size = |claim: &Self| (claim.views.len(), claim.below.values().map(BTreeSet::len).sum::<usize>());
        let mut before = (0, 0);
        while size(&least) != before && least.views.len() <= LARGEST_SAMPLE {
            before = size(&least);
            for view in least.views.clone() {
                least.add_successors(model, &view, earlier);
            }
        }
        (least.views.len() <= LARGEST_SAMPLE).then_some(least)
    }

    fn add_successors(&mut self, model: &Model, view: &WordView, earlier: &[Self]) {
        for (number, thread) in model.threads().iter().enumerate() {
            for (next, text) in
                thread.rules.iter().flat_map(|rule| self.results(view, number, rule)).collect::<Vec<_>>()
            {
                self.list(number, &text);
                if !earlier.iter().any(|lemma| lemma.excludes(&next, self.depth)) {
                    self.views.insert(next);
                }
            }
        }
    }

    fn list(&mut self, thread: usize, text: &[u32]) {
        for stretch in text.windows(self.depth + 1) {
            let word = stretch[..self.depth].to_vec();
            self.below.entry((thread, word)).or_default().insert(stretch[self.depth]);
        }
    }

    /// The claim in the form of a certificate.
    fn lemma(&self, threads: usize) -> Lemma {
        let words = |thread: usize| self.views.iter().map(|view| &view.1[thread]).collect::<BTreeSet<_>>();
        let words: Vec<Vec<_>> = (0..threads).map(|thread| words(thread).into_iter().collect()).collect();
        let number = |(thread, word): (usize, &Word)| {
            words[thread].iter().position(|&own| own == word).expect("the word of a view") as u32
        };
        let row = |view: &WordView| [view.0].into_iter().chain(view.1.iter().enumerate().map(number)).collect();
        let part = |thread: usize| LemmaThread {
            words: words[thread].iter().map(|word| symbols(word)).collect(),
            below: (self.below.iter().filter(|((owner, _), _)| *owner == thread))
                .map(|((_, word), listed)| (symbols(word), listed.iter().copied().map(Symbol).collect()))
                .collect(),
        };
        Lemma {
            depth: self.depth as u32,
            threads: (0..threads).map(part).collect(),
            views: rows(threads + 1, self.views.iter().map(row)),
        }
    }
}

fn symbols(word: &[u32]) -> Vec<Symbol> {
    word.iter().copied().map(Symbol).collect()
}

/// A stack from its top, with the marker at the end.
fn text(stack: &[Symbol]) -> Word {
    stack.iter().rev().map(|symbol| symbol.0).chain([0]).collect()
}

fn view_of(state: &State, depth: usize) -> WordView {
    (state.shared.0, state.stacks.iter().map(|stack| cut(&text(stack), depth)).collect())
}

fn is_forbidden(property: &Property, view: &WordView) -> bool {
    property.never.iter().any(|pattern| {
        let mut pairs = pattern.tops.iter().zip(&view.1);
        pattern.shared.is_none_or(|shared| shared.0 == view.0)
            && pairs.all(|(top, word)| top.is_none_or(|top| top.0 == word[0]))
    })
}

/// At most `depth` symbols; the marker ends a word, and fewer symbols end with it.
fn is_word(word: &[u32], depth: usize, symbols: u32) -> bool {
    let marker = word.iter().position(|&symbol| symbol == 0);
    let ends = match marker {
        Some(at) => at + 1 == word.len() && at < depth,
        None => word.len() == depth,
    };
    ends && word.iter().all(|&symbol| symbol < symbols)
}

fn word_view(model: &Model, lemma: &Lemma, row: &[u32]) -> Option<WordView> {
    let word = |(part, &number): (&LemmaThread, &u32)| part.words.get(number as usize).map(|w| numbers(w));
    let words = lemma.threads.iter().zip(&row[1..]).map(word).collect::<Option<_>>()?;
    (row[0] < model.shared().count()).then_some((row[0], words))
}

// -------------------------------------------------------------------------------------------------- the samples

struct Sample {
    name: String,
    model: Model,
    certificate: Certificate,
    reachable: BTreeSet<State>,
    /// Whether an engine wrote it.
    from_engine: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Sort {
    /// One lemma of depth 1.
    Shallow,
    /// One lemma of a greater depth.
    Deep,
    /// Two lemmas, of which the second proves nothing without the first.
    Chain,
    /// Several lemmas, each of which stands alone.
    Row,
}

fn sort_of(model: &Model, certificate: &Certificate) -> Sort {
    let stands = |lemma: &Lemma| Claim::of(model, lemma).is_some_and(|claim| claim.is_closed(model, &[]));
    match certificate.lemmas.as_slice() {
        [lemma] if lemma.depth == 1 => Sort::Shallow,
        [_] => Sort::Deep,
        lemmas if lemmas.iter().all(stands) => Sort::Row,
        _ => Sort::Chain,
    }
}

/// A deep proof and the coarser ones that lean on it; a coarse lemma before a deep one.
fn longer_proofs(model: &Model, certificate: &Certificate) -> Vec<Certificate> {
    let threads = model.threads().len();
    let [lemma] = certificate.lemmas.as_slice() else { return vec![] };
    let Some(claim) = Claim::of(model, lemma).filter(|claim| claim.depth > 1) else { return vec![] };
    let alone = Claim::least(model, 1, &[]).map(|first| vec![first.lemma(threads), lemma.clone()]);
    let earlier = [claim];
    let leaning = |depth: usize| Claim::least(model, depth, &earlier).map(|claim| claim.lemma(threads));
    let chain = leaning(1).map(|second| vec![lemma.clone(), second]);
    let long = leaning(2).zip(leaning(1)).map(|(third, second)| vec![lemma.clone(), second, third]);
    let with = |lemmas| Certificate { lemmas, ..certificate.clone() };
    [alone, chain, long].into_iter().flatten().map(with).collect()
}

/// Two stacks of height `m` that are popped in turn. That both have the same height shows at depth `m` only.
fn lockstep(m: usize) -> Model {
    let popper = |from, to| thread("popper", 1, vec![rule(from, 1, to, &[])]);
    let stack = vec![1; m];
    let model = system(2, vec![popper(0, 1), popper(1, 0)], state(0, &[&stack, &stack]));
    model.with_properties(vec![never(Some(0), &[Some(0), Some(1)])]).expect("it fits")
}

fn handmade() -> Vec<Model> {
    let with = |model: Model, property| model.with_properties(vec![property]).expect("it fits");
    vec![
        with(systems::handshake(), never(Some(0), &[Some(2), None])),
        with(systems::stutter(), never(Some(1), &[Some(0), None])),
        with(systems::countdown(4), never(Some(0), &[Some(0), Some(0)])),
        systems::tower(),
        with(systems::ladder(), never(None, &[Some(0), None])),
        lockstep(3),
    ]
}

fn run(model: &Model, engine: Choice) -> Outcome {
    let options = Options { engine, bound_limit: Some(8), cores: 1, ..Options::default() };
    verify(model, &options, &Budget::unlimited()).expect("there is no matching")
}

/// The certificate of a run, with the model cut to the properties that it proves.
fn proof(model: &Model, outcome: &Outcome) -> Option<(Model, Certificate)> {
    let certificate = outcome.properties.iter().find_map(|property| match &property.verdict {
        Verdict::Safe(proven) => Some(proven.evidence().certificate.clone()),
        _ => None,
    })?;
    let proved = |property: &&Property| certificate.properties.contains(property);
    let properties = model.properties().iter().filter(proved).cloned().collect();
    Some((model.clone().with_properties(properties).expect("they are its own"), certificate))
}

const ENGINES: [Choice; 4] = [Choice::Contexts, Choice::States, Choice::Views, Choice::Symbolic];

fn random_model(seed: u64) -> Model {
    let shape = [Shape::Any, Shape::FiniteContext, Shape::Recursive][seed as usize % 3];
    small_model(&mut Rng::with_seed(seed), shape)
}

/// Certificates of all sorts, of none more than are wanted: those of the engines, and longer ones made of them.
fn samples() -> &'static [Sample] {
    static SAMPLES: OnceLock<Vec<Sample>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let random = (0..SEEDS).map(|seed| (format!("seed {seed}"), random_model(seed)));
        let handmade = handmade().into_iter().enumerate().map(|(number, model)| (format!("system {number}"), model));
        let mut collection = Collection::default();
        for (name, model) in handmade.chain(random) {
            for engine in ENGINES {
                let Some((model, certificate)) = proof(&model, &run(&model, engine)) else { continue };
                let name = format!("{name}, {engine:?}");
                collection.add_all(&name, &model, certificate);
            }
        }
        collection.finish()
    })
}

#[derive(Default)]
struct Collection {
    samples: Vec<Sample>,
    counts: BTreeMap<Sort, usize>,
}

impl Collection {
    fn add_all(&mut self, name: &str, model: &Model, certificate: Certificate) {
        let views = |certificate: &Certificate| certificate.lemmas.iter().map(|lemma| lemma.views.len()).sum::<usize>();
        let known = self.samples.iter().rev().take(12).any(|sample| sample.certificate == certificate);
        if known || !(3..=LARGEST_SAMPLE).contains(&views(&certificate)) {
            return;
        }
        let longer = longer_proofs(model, &certificate);
        let made = longer.into_iter().map(|certificate| (false, certificate));
        for (from_engine, certificate) in [(true, certificate)].into_iter().chain(made) {
            let count = self.counts.entry(sort_of(model, &certificate)).or_default();
            if *count < SAMPLES_OF_A_SORT {
                *count += 1;
                let reachable = oracle::reachable(model, CAP).0;
                let (name, model) = (format!("{name}, {} lemmas", certificate.lemmas.len()), model.clone());
                self.samples.push(Sample { name, model, certificate, reachable, from_engine });
            }
        }
    }

    fn finish(self) -> Vec<Sample> {
        println!("samples: {:?}", self.counts);
        let sorts = [Sort::Shallow, Sort::Deep, Sort::Chain, Sort::Row];
        let enough = |sort| self.counts.get(sort).is_some_and(|&count| count >= 10);
        assert!(sorts.iter().all(enough), "{:?}", self.counts);
        self.samples
    }
}

// --------------------------------------------------------------------------------------------- changing a proof

fn rows(width: usize, rows: impl IntoIterator<Item = Vec<u32>>) -> Rows {
    let mut table = Rows::new(width);
    rows.into_iter().for_each(|row| table.push(row));
    table
}

fn cells(lemma: &Lemma) -> Vec<Vec<u32>> {
    lemma.views.iter().map(<[u32]>::to_vec).collect()
}

fn set_cells(lemma: &mut Lemma, table: Vec<Vec<u32>>) {
    lemma.views = rows(lemma.views.width(), table);
}

/// A copy with one lemma changed.
fn with_lemma(certificate: &Certificate, number: usize, change: impl FnOnce(&mut Lemma)) -> Certificate {
    let mut forged = certificate.clone();
    change(&mut forged.lemmas[number]);
    forged
}

/// A copy with the table of views of one lemma changed.
fn with_table(certificate: &Certificate, number: usize, change: impl FnOnce(&mut Vec<Vec<u32>>)) -> Certificate {
    with_lemma(certificate, number, |lemma| {
        let mut table = cells(lemma);
        change(&mut table);
        set_cells(lemma, table);
    })
}

fn drop_views(certificate: &Certificate) -> Vec<Certificate> {
    let each = |(number, lemma): (usize, &Lemma)| {
        let drop_one = move |row| with_table(certificate, number, |table| drop(table.remove(row)));
        (0..lemma.views.len()).map(drop_one).collect::<Vec<_>>()
    };
    certificate.lemmas.iter().enumerate().flat_map(each).collect()
}

/// What a thread's part of a lemma lists below its words.
type Below = Vec<(Vec<Symbol>, Vec<Symbol>)>;

/// All entries of *below*: lemma, thread, entry.
fn entries(certificate: &Certificate) -> Vec<(usize, usize, usize)> {
    let mut found = Vec::new();
    for (number, lemma) in certificate.lemmas.iter().enumerate() {
        for (thread, part) in lemma.threads.iter().enumerate() {
            found.extend((0..part.below.len()).map(|entry| (number, thread, entry)));
        }
    }
    found
}

fn change_below(certificate: &Certificate) -> Vec<Certificate> {
    let mut forged = Vec::new();
    for (number, thread, entry) in entries(certificate) {
        let part = |lemma: &mut Lemma| std::mem::take(&mut lemma.threads[thread].below);
        let mut with_entry = |change: &dyn Fn(&mut Below)| {
            forged.push(with_lemma(certificate, number, |lemma| {
                let mut below = part(lemma);
                change(&mut below);
                lemma.threads[thread].below = below;
            }));
        };
        with_entry(&|below| drop(below.remove(entry)));
        with_entry(&|below| below[entry].1.clear());
        with_entry(&|below| below.push(below[entry].clone()));
        with_entry(&|below| below[entry].0.reverse());
        with_entry(&|below| below[entry].0.truncate(1));
        let symbols = certificate.lemmas[number].threads[thread].below[entry].1.len();
        (0..symbols).for_each(|symbol| with_entry(&|below| _ = below[entry].1.remove(symbol)));
        (0..5).for_each(|symbol| with_entry(&|below| below[entry].1.push(Symbol(symbol))));
    }
    forged
}

fn change_cells(certificate: &Certificate, rng: &mut Rng) -> Vec<Certificate> {
    let mut forged = Vec::new();
    for (number, lemma) in certificate.lemmas.iter().enumerate() {
        for _ in 0..12 {
            let (row, cell) = (rng.usize(0..lemma.views.len()), rng.usize(0..lemma.views.width()));
            let value = if rng.u32(0..20) == 0 { u32::MAX - rng.u32(0..2) } else { rng.u32(0..5) };
            forged.push(with_table(certificate, number, |table| table[row][cell] = value));
        }
        let again = lemma.views.get(rng.usize(0..lemma.views.len())).to_vec();
        for value in [4, 5, u32::MAX - 1, u32::MAX] {
            let mut unknown = again.clone();
            unknown[rng.usize(0..lemma.views.width())] = value;
            forged.push(with_table(certificate, number, |table| table.push(unknown)));
        }
        forged.push(with_table(certificate, number, |table| table.push(again)));
        forged.push(with_table(certificate, number, Vec::clear));
        forged.push(with_table(certificate, number, |table| table.reverse()));
    }
    forged
}

fn change_words(certificate: &Certificate, rng: &mut Rng) -> Vec<Certificate> {
    let mut forged = Vec::new();
    for (number, lemma) in certificate.lemmas.iter().enumerate() {
        for (thread, part) in lemma.threads.iter().enumerate() {
            let (one, other) = (rng.usize(0..part.words.len()), rng.usize(0..part.words.len()));
            let symbol = Symbol(rng.u32(0..5));
            let mut with_words = |change: &dyn Fn(&mut Vec<Vec<Symbol>>)| {
                forged.push(with_lemma(certificate, number, |lemma| change(&mut lemma.threads[thread].words)));
            };
            with_words(&|words| words.swap(one, other));
            with_words(&|words| _ = words[one].pop());
            with_words(&|words| words[one].push(symbol));
            with_words(&|words| words[one][0] = symbol);
            with_words(&|words| words[one].iter_mut().rev().take(1).for_each(|last| *last = symbol));
            with_words(&|words| words.push(words[one].clone()));
            with_words(&|words| words.push(vec![symbol; 2]));
            with_words(&|words| drop(words.pop()));
            with_words(&|words| words[one][0] = Symbol(u32::MAX));
        }
    }
    forged
}

fn change_lemmas(certificate: &Certificate) -> Vec<Certificate> {
    let mut forged = Vec::new();
    let mut with_lemmas = |change: &dyn Fn(&mut Vec<Lemma>)| {
        let mut changed = certificate.clone();
        change(&mut changed.lemmas);
        forged.push(changed);
    };
    with_lemmas(&Vec::clear);
    with_lemmas(&|lemmas| lemmas.reverse());
    for number in 0..certificate.lemmas.len() {
        with_lemmas(&|lemmas| drop(lemmas.remove(number)));
        with_lemmas(&|lemmas| lemmas.insert(0, lemmas[number].clone()));
        with_lemmas(&|lemmas| lemmas.push(lemmas[number].clone()));
        for depth in [0, 1, 2, 3, 4, u32::MAX] {
            with_lemmas(&|lemmas| lemmas[number].depth = depth);
        }
        with_lemmas(&|lemmas| drop(lemmas[number].threads.pop()));
        with_lemmas(&|lemmas| {
            let again = lemmas[number].threads[0].clone();
            lemmas[number].threads.push(again);
        });
        with_lemmas(&|lemmas| lemmas[number].threads.reverse());
        with_lemmas(&|lemmas| lemmas[number].views = rows(1, [vec![0]]));
        // A lemma that holds nothing but the first view would exclude all others, if it were believed.
        with_lemmas(&|lemmas| {
            let mut narrow = lemmas[number].clone();
            let first = cells(&narrow).swap_remove(0);
            set_cells(&mut narrow, vec![first]);
            lemmas.insert(0, narrow);
        });
    }
    forged
}

/// The same view missing from a lemma and from a copy that is put before it.
fn hide_views(certificate: &Certificate) -> Vec<Certificate> {
    let last = certificate.lemmas.len() - 1;
    let hide = |row: usize| {
        let mut forged = with_table(certificate, last, |table| drop(table.remove(row)));
        forged.lemmas.insert(0, forged.lemmas[last].clone());
        forged
    };
    (0..certificate.lemmas[last].views.len()).map(hide).collect()
}

fn change_claims(certificate: &Certificate) -> Vec<Certificate> {
    let mut forged = Vec::new();
    let mut with_claims = |change: &dyn Fn(&mut Vec<Property>)| {
        let mut changed = certificate.clone();
        change(&mut changed.properties);
        forged.push(changed);
    };
    with_claims(&Vec::clear);
    with_claims(&|claims| claims.reverse());
    for number in 0..certificate.properties.len() {
        with_claims(&|claims| drop(claims.remove(number)));
        with_claims(&|claims| claims[number].never.clear());
        with_claims(&|claims| {
            let again = claims[number].never.clone();
            claims[number].never.extend(again);
        });
        with_claims(&|claims| claims[number].name = "another name".to_owned());
        with_claims(&|claims| claims[number].never.iter_mut().for_each(|pattern| pattern.shared = Some(Shared(0))));
        with_claims(&|claims| claims[number].never.iter_mut().for_each(|pattern| pattern.tops.clear()));
    }
    forged
}

/// A row that violates a property, with words added to the lemma where it lacks one with the right top.
fn violating_row(lemma: &mut Lemma, pattern: &Pattern) -> Vec<u32> {
    let mut row = vec![pattern.shared.map_or(0, |shared| shared.0)];
    for (part, top) in lemma.threads.iter_mut().zip(&pattern.tops) {
        let top = top.unwrap_or(part.words[0][0]);
        let found = part.words.iter().position(|word| word[0] == top);
        row.push(found.unwrap_or_else(|| {
            let mut word = if top.is_bottom() { vec![] } else { vec![top] };
            word.push(Symbol::BOTTOM);
            word.truncate(lemma.depth as usize);
            part.words.push(word);
            part.words.len() - 1
        }) as u32);
    }
    row
}

/// One violating view more, in one of the lemmas.
fn add_violations(model: &Model, certificate: &Certificate, number: usize) -> Vec<Certificate> {
    let patterns = model.properties().iter().flat_map(|property| &property.never);
    let add = |pattern: &Pattern| {
        with_lemma(certificate, number, |lemma| {
            let row = violating_row(lemma, pattern);
            let mut table = cells(lemma);
            table.push(row);
            set_cells(lemma, table);
        })
    };
    patterns.map(add).collect()
}

fn add_random_view(certificate: &mut Certificate, shared_count: u32, rng: &mut Rng) {
    let number = rng.usize(0..certificate.lemmas.len());
    let lemma = &mut certificate.lemmas[number];
    let mut row = vec![rng.u32(0..shared_count)];
    row.extend(lemma.threads.iter().map(|part| rng.u32(0..part.words.len() as u32)));
    lemma.views.push(row);
}

/// Views, words and symbols added here and there; some of these are still proofs.
fn additions(model: &Model, certificate: &Certificate, rng: &mut Rng) -> Vec<Certificate> {
    let add = |_| {
        let mut forged = certificate.clone();
        for _ in 0..rng.usize(1..=2) {
            let every_below = change_below(&forged);
            if rng.bool() || every_below.is_empty() {
                add_random_view(&mut forged, model.shared().count(), rng);
            } else {
                forged = every_below[rng.usize(0..every_below.len())].clone();
            }
        }
        forged
    };
    (0..25).map(add).collect()
}

fn forgeries(sample: &Sample, rng: &mut Rng) -> Vec<Certificate> {
    let Sample { model, certificate, .. } = sample;
    let mut forged = [
        drop_views(certificate),
        change_below(certificate),
        change_cells(certificate, rng),
        change_words(certificate, rng),
        change_lemmas(certificate),
        hide_views(certificate),
        change_claims(certificate),
        additions(model, certificate, rng),
    ]
    .concat();
    (0..certificate.lemmas.len()).for_each(|number| forged.extend(add_violations(model, certificate, number)));
    forged
}

// --------------------------------------------------------------------------------------------- changing a model

/// The model with one thing changed, if that makes a model.
fn change_model(model: &Model, rng: &mut Rng) -> Option<Model> {
    let (mut threads, mut init) = (model.threads().to_vec(), model.init().clone());
    let mut properties = model.properties().to_vec();
    let number = rng.usize(0..threads.len());
    let symbols = threads[number].symbol_count();
    match rng.u32(0..6) {
        0 => init.shared = Shared(rng.u32(0..model.shared().count())),
        1 => init.stacks[number].insert(0, Symbol(rng.u32(1..symbols.max(2)))),
        2 => drop(init.stacks[number].pop()),
        3 if !properties.is_empty() => {
            let property = rng.usize(0..properties.len());
            let mut pattern = properties[property].never.first()?.clone();
            pattern.tops[number] = None;
            properties[property].never.push(pattern);
        }
        4 if !threads[number].rules.is_empty() => {
            let at = rng.usize(0..threads[number].rules.len());
            threads[number].rules[at] = random_rule(rng, model.shared().count(), symbols);
        }
        _ => threads[number].rules.push(random_rule(rng, model.shared().count(), symbols)),
    }
    Model::new(model.shared().clone(), threads, init, properties).ok()
}

fn random_rule(rng: &mut Rng, shared_count: u32, symbols: u32) -> Rule {
    let mut symbol = || rng.u32(0..symbols);
    let (top, first, second) = (symbol(), symbol(), symbol());
    let most = if top == 0 { 2 } else { 3 };
    let word = [first, second];
    let length = rng.usize(0..most);
    rule(rng.u32(0..shared_count), top, rng.u32(0..shared_count), &word[..length])
}

// ------------------------------------------------------------------------------------------------- certificates

#[derive(Default, Debug)]
struct Tally {
    accepted: usize,
    rejected: usize,
}

impl Tally {
    fn total(&self) -> usize {
        self.accepted + self.rejected
    }
}

/// Holds the checker against the judge, and what it accepts against the states known to be reachable.
fn compare(model: &Model, forged: &Certificate, reachable: &BTreeSet<State>, place: &str, tally: &mut Tally) {
    let answer = check(model, forged);
    assert_eq!(answer.is_ok(), judge(model, forged), "{place}: {answer:?}\n{forged:?}\n{model:?}");
    if answer.is_err() {
        tally.rejected += 1;
        return;
    }
    tally.accepted += 1;
    let claims: Vec<_> = forged.lemmas.iter().filter_map(|lemma| Claim::of(model, lemma)).collect();
    for state in reachable {
        assert!(claims.iter().all(|claim| claim.has(state)), "{place}: {state:?} is missing");
        let violates = |property| oracle::violates(property, state);
        assert!(!model.properties().iter().any(violates), "{place}: {state:?} violates a property");
    }
}

#[test]
fn the_checker_agrees_with_the_judge_on_forged_certificates() {
    let samples = samples();
    let mut tally = Tally::default();
    let mut rng = Rng::with_seed(1);
    for sample in samples {
        compare(&sample.model, &sample.certificate, &sample.reachable, &sample.name, &mut tally);
        assert_eq!(tally.rejected, 0, "{}: the certificate itself", sample.name);
    }
    for sample in samples {
        for (number, forged) in forgeries(sample, &mut rng).iter().enumerate() {
            let place = format!("{}, forgery {number}", sample.name);
            compare(&sample.model, forged, &sample.reachable, &place, &mut tally);
        }
    }
    println!("{tally:?}");
    assert!(tally.total() >= FORGERIES_AT_LEAST && tally.accepted * 50 > tally.rejected, "{tally:?}");
}

#[test]
fn the_checker_agrees_with_the_judge_on_changed_models() {
    let mut tally = Tally::default();
    let mut rng = Rng::with_seed(2);
    for sample in samples() {
        for number in 0..40 {
            let Some(model) = change_model(&sample.model, &mut rng) else { continue };
            let reachable = oracle::reachable(&model, CAP).0;
            let place = format!("{}, change {number}", sample.name);
            let renamed = Certificate { model: model.digest(), ..sample.certificate.clone() };
            compare(&model, &renamed, &reachable, &place, &mut tally);
            let claiming = Certificate { properties: model.properties().to_vec(), ..renamed };
            compare(&model, &claiming, &reachable, &place, &mut tally);
            assert_eq!(check(&model, &sample.certificate).is_ok(), judge(&model, &sample.certificate), "{place}");
        }
    }
    println!("{tally:?}");
    assert!(tally.accepted > 1000 && tally.rejected > 1000, "{tally:?}");
}

#[test]
fn what_must_be_rejected_is_rejected() {
    let samples = samples();
    for (number, sample) in samples.iter().enumerate() {
        let Sample { name, model, certificate, from_engine, .. } = sample;
        let reject = |forged: &Certificate| assert!(check(model, forged).is_err(), "{name}: {forged:?}");
        if *from_engine {
            drop_views(certificate).iter().for_each(reject);
        }
        add_violations(model, certificate, certificate.lemmas.len() - 1).iter().for_each(reject);
        reject(&Certificate { model: Digest::of(b"another"), ..certificate.clone() });
        let other = &samples[(number + 1) % samples.len()];
        if other.model.digest() != model.digest() {
            reject(&other.certificate);
            reject(&Certificate { model: other.certificate.model, ..certificate.clone() });
        }
        if model.properties().iter().any(|property| !property.never.is_empty()) {
            reject(&Certificate { properties: vec![], ..certificate.clone() });
        }
    }
}

#[test]
fn certificates_of_other_models_are_judged_by_what_they_prove() {
    let samples = samples();
    let mut tally = Tally::default();
    for sample in samples {
        for other in samples {
            let (model, properties) = (sample.model.digest(), sample.model.properties().to_vec());
            let adopted = Certificate { model, properties, lemmas: other.certificate.lemmas.clone() };
            let place = format!("{} with the proof of {}", sample.name, other.name);
            compare(&sample.model, &adopted, &sample.reachable, &place, &mut tally);
        }
    }
    println!("{tally:?}");
}

#[test]
fn an_accepted_certificate_stays_accepted_when_written_and_read() {
    for sample in samples() {
        let read = Certificate::from_text(&sample.certificate.to_text());
        assert_eq!(read.as_ref(), Ok(&sample.certificate), "{}", sample.name);
    }
}

#[test]
fn changed_text_is_noticed() {
    let samples = samples();
    let accepted = |sample: &Sample, text: &str| {
        Certificate::from_text(text).is_ok_and(|certificate| check(&sample.model, &certificate).is_ok())
    };
    for sample in samples.iter().step_by(samples.len() / 8) {
        let text = sample.certificate.to_text();
        assert!(accepted(sample, &text), "{}", sample.name);
        for cut in (0..text.len() - 1).filter(|&cut| text.is_char_boundary(cut)) {
            assert!(!accepted(sample, &text[..cut]), "{}: cut at {cut}", sample.name);
        }
        for at in (0..text.len()).filter(|&at| text.as_bytes()[at].is_ascii_digit()) {
            for digit in ('0'..='9').filter(|&digit| digit as u8 != text.as_bytes()[at]) {
                let changed = format!("{}{digit}{}", &text[..at], &text[at + 1..]);
                assert!(!accepted(sample, &changed), "{}: {digit} at {at}", sample.name);
            }
        }
    }
}

// ------------------------------------------------------------------------------------------------------- traces

/// Whether a trace leads from the initial state, step by step, to a violation of a property of the model.
fn judge_trace(model: &Model, trace: &Trace) -> bool {
    let mut state = model.init().clone();
    for step in &trace.steps {
        let taken = (step.thread, step.rule, step.after.clone());
        if !oracle::successors(model, &state).contains(&taken) {
            return false;
        }
        state = taken.2;
    }
    let stated = model.properties().iter().any(|property| property.never == trace.property.never);
    trace.model == model.digest() && stated && trace.start == *model.init() && oracle::violates(&trace.property, &state)
}

fn traces() -> Vec<(Model, Trace)> {
    let mut found = Vec::new();
    for seed in 0..SEEDS {
        let model = random_model(seed);
        let engine = ENGINES[seed as usize % 4];
        for property in run(&model, engine).properties {
            if let Verdict::Unsafe(refuted) = property.verdict {
                found.push((model.clone(), refuted.trace().clone()));
            }
        }
    }
    found
}

fn change_state(state: &mut State, rng: &mut Rng) {
    let thread = rng.usize(0..state.stacks.len());
    let symbol = Symbol(rng.u32(0..4));
    match rng.u32(0..6) {
        0 => state.shared = Shared(rng.u32(0..4)),
        1 => state.stacks[thread].push(symbol),
        2 => drop(state.stacks[thread].pop()),
        3 => state.stacks[thread].insert(0, symbol),
        4 => drop(state.stacks.pop()),
        _ => state.stacks.push(vec![symbol]),
    }
}

fn change_step(step: &mut Step, rng: &mut Rng) {
    match rng.u32(0..6) {
        0 | 1 => step.rule = rng.usize(0..8),
        2 => step.thread = rng.usize(0..5),
        3 => step.rule = usize::MAX / 2,
        4 => step.thread = usize::MAX / 2,
        _ => change_state(&mut step.after, rng),
    }
}

/// A trace with one thing changed.
fn change_trace(model: &Model, trace: &Trace, rng: &mut Rng) -> Trace {
    let mut forged = trace.clone();
    let steps = &mut forged.steps;
    let at = rng.usize(0..steps.len().max(1));
    match rng.u32(0..12) {
        0 => forged.model = Digest::of(b"another"),
        1 => forged.property.never.clear(),
        2 => forged.property.name.push('!'),
        3 => forged.property = never(Some(0), &vec![None; model.threads().len()]),
        4 if !model.properties().is_empty() => {
            forged.property = model.properties()[rng.usize(0..model.properties().len())].clone();
        }
        5 => change_state(&mut forged.start, rng),
        6 if !steps.is_empty() => drop(steps.remove(at)),
        7 if !steps.is_empty() => {
            let other = rng.usize(0..steps.len());
            steps.swap(at, other);
        }
        8 if !steps.is_empty() => steps.insert(at, steps[at].clone()),
        9 => steps.truncate(at),
        10 => lengthen(model, &mut forged, rng),
        _ if !steps.is_empty() => change_step(&mut steps[at], rng),
        _ => lengthen(model, &mut forged, rng),
    }
    forged
}

/// One more step; it may lead to a violation again.
fn lengthen(model: &Model, trace: &mut Trace, rng: &mut Rng) {
    let mut next = oracle::successors(model, trace.last());
    if !next.is_empty() {
        let (thread, rule, after) = next.swap_remove(rng.usize(0..next.len()));
        trace.steps.push(Step { thread, rule, after });
    }
}

#[test]
fn replaying_agrees_with_the_judge_on_forged_traces() {
    let mut rng = Rng::with_seed(3);
    let mut tally = Tally::default();
    let traces = traces();
    for (number, (model, trace)) in traces.iter().enumerate() {
        assert!(replay(model, trace).is_ok() && judge_trace(model, trace), "{number}: {trace:?}");
        for _ in 0..60 {
            let forged = change_trace(model, trace, &mut rng);
            let answer = replay(model, &forged);
            assert_eq!(answer.is_ok(), judge_trace(model, &forged), "{number}: {answer:?}\n{forged:?}\n{model:?}");
            *(if answer.is_ok() { &mut tally.accepted } else { &mut tally.rejected }) += 1;
        }
        let (other, _) = &traces[(number + 1) % traces.len()];
        assert_eq!(replay(other, trace).is_ok(), judge_trace(other, trace), "{number}: another model");
        let adopted = Trace { model: other.digest(), ..trace.clone() };
        assert_eq!(replay(other, &adopted).is_ok(), judge_trace(other, &adopted), "{number}: adopted");
    }
    println!("{} traces, {tally:?}", traces.len());
    assert!(traces.len() > 200 && tally.accepted > 500 && tally.rejected > 5000, "{tally:?}");
}

#[test]
fn a_rule_of_another_thread_or_number_is_noticed() {
    let rules = |to| vec![rule(0, 1, 0, &[2]), rule(0, 1, to, &[2])];
    let threads: Vec<Thread> = vec![thread("a", 2, rules(1)), thread("b", 2, rules(1))];
    let init = state(0, &[&[1], &[1]]);
    let model = Model::new(Names::Numbers(2), threads, init.clone(), vec![never(Some(1), &[Some(2), None])]).unwrap();
    let trace = |thread, rule| Trace {
        model: model.digest(),
        property: model.properties()[0].clone(),
        start: init.clone(),
        steps: vec![Step { thread, rule, after: state(1, &[&[2], &[1]]) }],
    };
    assert!(replay(&model, &trace(0, 1)).is_ok());
    for (thread, rule) in [(0, 0), (1, 1), (1, 0), (0, 2), (2, 1)] {
        assert!(replay(&model, &trace(thread, rule)).is_err(), "thread {thread}, rule {rule}");
    }
}

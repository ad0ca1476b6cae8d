//! The judge: the definition of a proof, read as naively as possible. Rows that stand for orbits are unfolded into all
//! their permutations, and what is said of interchangeable threads is copied for each of them.

use std::collections::{BTreeMap, BTreeSet};

use tepui_cert::pushdown::{Certificate, Lemma, LemmaThread};
use tepui_model::pushdown::{Action, Model, Property, Rule, State, Symbol};

use crate::LARGEST_SAMPLE;
use crate::orbits::{arrangements, interchangeable};

pub(crate) type Word = Vec<u32>;
pub(crate) type WordView = (u32, Vec<Word>);

/// A lemma as two sets, without numbers for words.
#[derive(Clone)]
pub(crate) struct Claim {
    pub(crate) depth: usize,
    pub(crate) views: BTreeSet<WordView>,
    pub(crate) below: BTreeMap<(usize, Word), BTreeSet<u32>>,
    /// For each thread the first of those with which it is said to be interchangeable.
    pub(crate) leaders: Vec<usize>,
    /// For each thread the words in the order of their numbers, which says what view of an orbit is its row.
    pub(crate) order: Vec<Vec<Word>>,
}

/// Whether a certificate proves all properties of a model.
pub(crate) fn judge(model: &Model, certificate: &Certificate) -> bool {
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

pub(crate) fn is_claimed(certificate: &Certificate, property: &Property) -> bool {
    property.never.is_empty() || certificate.properties.iter().any(|claimed| claimed.never == property.never)
}

pub(crate) fn numbers(symbols: &[Symbol]) -> Word {
    symbols.iter().map(|symbol| symbol.0).collect()
}

pub(crate) fn cut(word: &[u32], depth: usize) -> Word {
    word.iter().copied().take(depth).collect()
}

impl Claim {
    /// The sets, if the lemma speaks of this model's shared states, threads and symbols, and says nothing twice.
    pub(crate) fn of(model: &Model, lemma: &Lemma) -> Option<Self> {
        let threads = model.threads();
        let depth = lemma.depth as usize;
        if depth == 0 || lemma.threads.len() != threads.len() || lemma.views.width() != threads.len() + 1 {
            return None;
        }
        let leaders = leaders(model, lemma)?;
        let parts: Vec<_> = leaders.iter().map(|&leader| &lemma.threads[leader]).collect();
        let mut below = BTreeMap::new();
        for (number, part) in parts.iter().enumerate() {
            let words: BTreeSet<_> = part.words.iter().collect();
            let legal = |word: &&Vec<Symbol>| is_word(&numbers(word), depth, threads[number].symbol_count());
            if words.len() != part.words.len() || !words.iter().all(legal) {
                return None;
            }
            for (word, symbols) in &part.below {
                let symbols: BTreeSet<_> = symbols.iter().map(|symbol| symbol.0).collect();
                let exist = symbols.iter().all(|&symbol| symbol < threads[number].symbol_count());
                if !exist || below.insert((number, numbers(word)), symbols).is_some() {
                    return None;
                }
            }
        }
        let order = parts.iter().map(|part| part.words.iter().map(|word| numbers(word)).collect()).collect();
        let mut claim = Self { depth, views: BTreeSet::new(), below, leaders, order };
        let rows: BTreeSet<_> = lemma.views.iter().collect();
        for row in &rows {
            claim.views.extend(claim.unfold(model, row)?);
        }
        (rows.len() == lemma.views.len()).then_some(claim)
    }

    /// All views that a row stands for, if it has the words of interchangeable threads in the order of their numbers.
    fn unfold(&self, model: &Model, row: &[u32]) -> Option<Vec<WordView>> {
        let ascend =
            |one: usize, other: usize| self.leaders[one] != self.leaders[other] || row[one + 1] <= row[other + 1];
        let ordered = (0..self.order.len()).all(|other| (0..other).all(|one| ascend(one, other)));
        let word = |(words, &number): (&Vec<Word>, &u32)| words.get(number as usize).cloned();
        let view = |row: Vec<u32>| Some((row[0], self.order.iter().zip(&row[1..]).map(word).collect::<Option<_>>()?));
        let views = arrangements(&self.leaders, row).into_iter().map(view).collect::<Option<_>>()?;
        (ordered && row[0] < model.shared().count()).then_some(views)
    }

    /// The view of an orbit that would be its row: unknown words come last. Where it is missing, an earlier lemma has to
    /// exclude this one.
    fn as_listed(&self, view: &WordView) -> WordView {
        let mut listed = view.clone();
        for &leader in &self.leaders {
            let group: Vec<_> = (0..self.leaders.len()).filter(|&thread| self.leaders[thread] == leader).collect();
            let mut words: Vec<_> = group.iter().map(|&thread| view.1[thread].clone()).collect();
            let number = |word: &Word| self.order[leader].iter().position(|own| own == word);
            words.sort_by_key(|word| number(word).unwrap_or(usize::MAX));
            group.iter().zip(words).for_each(|(&thread, word)| listed.1[thread] = word);
        }
        listed
    }

    pub(crate) fn lists(&self, thread: usize, text: &[u32]) -> bool {
        text.windows(self.depth.saturating_add(1)).all(|stretch| {
            let (word, symbol) = (stretch[..self.depth].to_vec(), &stretch[self.depth]);
            self.below.get(&(thread, word)).is_some_and(|listed| listed.contains(symbol))
        })
    }

    pub(crate) fn starts_right(&self, model: &Model) -> bool {
        let texts: Vec<_> = model.init().stacks.iter().map(|stack| text(stack)).collect();
        texts.iter().enumerate().all(|(thread, text)| self.lists(thread, text)) && self.has(model.init())
    }

    pub(crate) fn is_closed(&self, model: &Model, earlier: &[Self]) -> bool {
        self.views.iter().all(|view| {
            model
                .threads()
                .iter()
                .enumerate()
                .all(|(number, thread)| thread.rules.iter().all(|rule| self.allows(view, number, rule, earlier)))
        })
    }

    /// Whether all that a rule makes of a view is listed.
    pub(crate) fn allows(&self, view: &WordView, thread: usize, rule: &Rule, earlier: &[Self]) -> bool {
        self.results(view, thread, rule).into_iter().all(|(next, text)| {
            let excluded = |lemma: &Self| lemma.excludes(&self.as_listed(&next), self.depth);
            (self.views.contains(&next) || earlier.iter().any(excluded)) && self.lists(thread, &text)
        })
    }

    /// What a rule makes of a view: the next view, and how far the changed stack is known.
    pub(crate) fn results(&self, view: &WordView, thread: usize, rule: &Rule) -> Vec<(WordView, Word)> {
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
    pub(crate) fn stacks_with(&self, thread: usize, word: &Word, as_it_is: bool) -> Vec<Word> {
        let open = word.len() == self.depth && word[self.depth - 1] != 0;
        let listed = self.below.get(&(thread, word.clone())).filter(|_| open);
        let longer = listed.into_iter().flatten().map(|&symbol| [word.as_slice(), &[symbol]].concat());
        longer.chain((as_it_is || !open).then(|| word.clone())).collect()
    }

    pub(crate) fn excludes(&self, view: &WordView, depth: usize) -> bool {
        let common = depth.min(self.depth);
        let cut_view = |view: &WordView| (view.0, view.1.iter().map(|word| cut(word, common)).collect::<Vec<_>>());
        !self.views.iter().any(|own| cut_view(own) == cut_view(view))
    }

    pub(crate) fn avoids(&self, property: &Property) -> bool {
        !self.views.iter().any(|view| is_forbidden(property, view))
    }

    pub(crate) fn has(&self, state: &State) -> bool {
        self.views.contains(&view_of(state, self.depth))
    }

    /// The least set that holds initially and is closed, relative to earlier lemmas; `None` if it is large.
    pub(crate) fn least(model: &Model, depth: usize, earlier: &[Self]) -> Option<Self> {
        let views = BTreeSet::from([view_of(model.init(), depth)]);
        let threads = model.threads().len();
        let (leaders, order) = ((0..threads).collect(), vec![vec![]; threads]);
        let mut least = Self { depth, views, below: BTreeMap::new(), leaders, order };
        for (thread, stack) in model.init().stacks.iter().enumerate() {
            least.list(thread, &text(stack));
        }
        least.closed(model, earlier)
    }

    /// The least closed set that contains this one.
    pub(crate) fn closed(mut self, model: &Model, earlier: &[Self]) -> Option<Self> {
        let size = |claim: &Self| (claim.views.len(), claim.below.values().map(BTreeSet::len).sum::<usize>());
        let mut before = (0, 0);
        while size(&self) != before && self.views.len() <= LARGEST_SAMPLE {
            before = size(&self);
            for view in self.views.clone() {
                self.add_successors(model, &view, earlier);
            }
        }
        (self.views.len() <= LARGEST_SAMPLE).then_some(self)
    }

    pub(crate) fn add_successors(&mut self, model: &Model, view: &WordView, earlier: &[Self]) {
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

    pub(crate) fn list(&mut self, thread: usize, text: &[u32]) {
        for stretch in text.windows(self.depth + 1) {
            let word = stretch[..self.depth].to_vec();
            self.below.entry((thread, word)).or_default().insert(stretch[self.depth]);
        }
    }
}

/// For each thread the first of those with which it is said to be interchangeable, if that is true of all of them.
fn leaders(model: &Model, lemma: &Lemma) -> Option<Vec<usize>> {
    let leader = |(number, part): (usize, &LemmaThread)| match part.like {
        None => Some(number),
        Some(leader) => {
            let earlier = leader < number && lemma.threads[leader].like.is_none();
            let silent = part.words.is_empty() && part.below.is_empty();
            (earlier && silent && interchangeable(model, leader, number)).then_some(leader)
        }
    };
    lemma.threads.iter().enumerate().map(leader).collect()
}

pub(crate) fn symbols(word: &[u32]) -> Vec<Symbol> {
    word.iter().copied().map(Symbol).collect()
}

/// A stack from its top, with the marker at the end.
pub(crate) fn text(stack: &[Symbol]) -> Word {
    stack.iter().rev().map(|symbol| symbol.0).chain([0]).collect()
}

pub(crate) fn view_of(state: &State, depth: usize) -> WordView {
    (state.shared.0, state.stacks.iter().map(|stack| cut(&text(stack), depth)).collect())
}

pub(crate) fn is_forbidden(property: &Property, view: &WordView) -> bool {
    property.never.iter().any(|pattern| {
        let mut pairs = pattern.tops.iter().zip(&view.1);
        pattern.shared.is_none_or(|shared| shared.0 == view.0)
            && pairs.all(|(top, word)| top.is_none_or(|top| top.0 == word[0]))
    })
}

/// At most `depth` symbols; the marker ends a word, and fewer symbols end with it.
pub(crate) fn is_word(word: &[u32], depth: usize, symbols: u32) -> bool {
    let marker = word.iter().position(|&symbol| symbol == 0);
    let ends = match marker {
        Some(at) => at + 1 == word.len() && at < depth,
        None => word.len() == depth,
    };
    ends && word.iter().all(|&symbol| symbol < symbols)
}

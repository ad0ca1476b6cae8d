//! The judge: the definition of a proof, read as naively as possible.

use std::collections::{BTreeMap, BTreeSet};

use tepui_cert::{Certificate, Lemma, LemmaThread};
use tepui_model::pushdown::{Action, Model, Property, Rule, State, Symbol};

use crate::LARGEST_SAMPLE;
use crate::proofs::rows;

pub(crate) type Word = Vec<u32>;
pub(crate) type WordView = (u32, Vec<Word>);

/// A lemma as two sets, without numbers for words.
pub(crate) struct Claim {
    pub(crate) depth: usize,
    pub(crate) views: BTreeSet<WordView>,
    pub(crate) below: BTreeMap<(usize, Word), BTreeSet<u32>>,
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
            let known = self.views.contains(&next) || earlier.iter().any(|lemma| lemma.excludes(&next, self.depth));
            known && self.lists(thread, &text)
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

    /// The claim in the form of a certificate.
    pub(crate) fn lemma(&self, threads: usize) -> Lemma {
        let words = |thread: usize| self.views.iter().map(|view| &view.1[thread]).collect::<BTreeSet<_>>();
        let words: Vec<Vec<_>> = (0..threads).map(|thread| words(thread).into_iter().collect()).collect();
        let number = |(thread, word): (usize, &Word)| {
            words[thread].iter().position(|&own| own == word).expect("the word of a view") as u32
        };
        let row = |view: &WordView| [view.0].into_iter().chain(view.1.iter().enumerate().map(number)).collect();
        let part = |thread: usize| LemmaThread {
            like: None,
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

pub(crate) fn word_view(model: &Model, lemma: &Lemma, row: &[u32]) -> Option<WordView> {
    let word = |(part, &number): (&LemmaThread, &u32)| part.words.get(number as usize).map(|w| numbers(w));
    let words = lemma.threads.iter().zip(&row[1..]).map(word).collect::<Option<_>>()?;
    (row[0] < model.shared().count()).then_some((row[0], words))
}

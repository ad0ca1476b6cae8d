//! Decides whether what is forbidden can be covered, with any number of threads.
//!
//! In each round more threads are in view, and more is tried: few threads, forwards with places that hold any number, weights
//! that exclude what is forbidden, views of k threads from above, and backwards from what is forbidden, leaving out what weights
//! and views exclude. The last of them always ends, so every question is answered if there is time enough. All others are
//! cut off where they become expensive.

use std::sync::Arc;

use tepui_cert::Trace;
use tepui_cert::counters::{Certificate, Lemma};
use tepui_core::text::count;
use tepui_core::{Bound, Budget, Engine, Evidence, Facts, Notes, Round, Stop};
use tepui_model::counters::{Net, Pattern};

use super::backward::Backward;
use super::few::{Few, Fewest};
use super::forward::{Forward, Order};
use super::trace;
use super::views::Views;
use super::weights::Weights;

/// What is true of it on every model.
pub static FACTS: Facts =
    Facts { explored: "with {} in view", restarts: true, ..Facts::unbounded("coverability", &["threads in view"]) };

/// How many states forwards and patterns backwards there are in the first round.
const FIRST: usize = 300;

/// The most states forwards: each new one is held against all others.
const MOST_FORWARD: usize = 20_000;

/// The most work that is spent on views of one size. If that is not enough, no larger ones are looked at.
const MOST_FOR_VIEWS: u64 = 5_000_000;

/// How much work may be spent on a violation with fewer threads.
const EFFORT: u64 = 1_000_000;

/// How much more work is spent on few threads than on anything else in a round.
const FEW: u64 = 400;

/// The engine.
pub struct Coverability {
    net: Arc<Net>,
    round: u32,
    few: Few,
    /// In both orders: which is better differs from system to system, by far.
    forward: [Forward; 2],
    weights: Weights,
    /// The largest views that were closed.
    views: Option<Views>,
    /// Whether larger ones would be too many.
    enough: bool,
    /// How many patterns the last search backwards had.
    backward: usize,
    /// For each property a way to a violation, and whether it is excluded.
    traces: Vec<Option<tepui_cert::counters::Trace>>,
    excluded: Vec<bool>,
    /// For each property what is never covered.
    patterns: Vec<Vec<Pattern>>,
    /// Whether the views are needed for a proof.
    needs_views: bool,
    steps: u64,
}

impl Coverability {
    /// Looks at all properties of a model.
    pub fn new(net: Arc<Net>) -> Self {
        Self::beginning(net, 0)
    }

    /// The same, beginning after some rounds.
    pub fn beginning(net: Arc<Net>, round: u32) -> Self {
        let properties = net.properties.len();
        Self {
            round,
            few: Few::new(Arc::clone(&net)),
            forward: [Order::OldestFirst, Order::NewestFirst].map(|order| Forward::new(&net, order)),
            weights: Weights::new(&net),
            views: None,
            enough: false,
            backward: 0,
            traces: vec![None; properties],
            excluded: vec![false; properties],
            patterns: vec![Vec::new(); properties],
            needs_views: false,
            steps: 0,
            net,
        }
    }

    /// How many threads there are, at most, on the way to the violation of a property that was found.
    pub fn threads_of(&self, property: usize) -> Option<u64> {
        self.traces[property].as_ref().map(tepui_cert::counters::Trace::threads)
    }

    fn undecided(&self) -> Vec<usize> {
        (0..self.excluded.len()).filter(|&own| !self.excluded[own] && self.traces[own].is_none()).collect()
    }

    /// Whether everything that a property forbids is excluded from above.
    fn exclude(&mut self) {
        for own in self.undecided() {
            let net = Arc::clone(&self.net);
            let mut above = Above { net: &net, views: self.views.as_ref(), weights: &mut self.weights, used: false };
            self.excluded[own] = net.properties[own].never.iter().all(|pattern| above.excludes(pattern));
            self.needs_views |= self.excluded[own] && above.used;
        }
    }

    /// Looks for violations with few threads.
    fn few_threads(&mut self, most: usize, budget: &mut Budget) -> Result<(), Stop> {
        for own in self.undecided() {
            self.few.go_on(own, u64::MAX, FEW.saturating_mul(most as u64), budget)?;
            if let Fewest::Found(found, _) = self.few.fewest(own, u64::MAX, budget)? {
                self.traces[own] = found.try_into().ok();
            }
        }
        Ok(())
    }

    fn forwards(&mut self, most: usize, budget: &mut Budget) -> Result<(), Stop> {
        for search in 0..self.forward.len() {
            let undecided = self.undecided();
            if undecided.is_empty() {
                break;
            }
            self.forward[search].run(&self.net, most, budget)?;
            for own in undecided {
                let found = self.forward[search].way_to(&self.net, own);
                self.traces[own] = found.and_then(|(start, steps)| trace(&self.net, own, start, steps));
            }
        }
        Ok(())
    }

    fn look_from_above(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        if self.enough {
            return Ok(());
        }
        let Some(mut views) = Views::of(&self.net, self.round as usize) else {
            self.enough = true;
            return Ok(());
        };
        let mut own = budget.with_work(MOST_FOR_VIEWS);
        let closed = views.close(&self.net, &mut own);
        budget.spend(own.work())?;
        match closed {
            Ok(()) => self.views = Some(views),
            Err(_) => self.enough = true,
        }
        Ok(())
    }

    fn backwards(&mut self, own: usize, most: usize, budget: &mut Budget) -> Result<(), Stop> {
        let net = Arc::clone(&self.net);
        let mut above = Above { net: &net, views: self.views.as_ref(), weights: &mut self.weights, used: false };
        let mut search = Backward::new(&net);
        let mut covered = None;
        for pattern in &net.properties[own].never {
            if !above.excludes(pattern) {
                covered = covered.or(search.forbid(&net, pattern));
            }
        }
        let mut done = false;
        if covered.is_none() {
            (covered, done) = search.run(&net, most, &mut |pattern| above.excludes(pattern), budget)?;
        }
        if let Some(found) = covered {
            let (start, steps) = search.way(&net, found);
            self.traces[own] = trace(&net, own, start, steps);
        } else if done {
            self.excluded[own] = true;
            self.needs_views |= above.used;
            self.patterns[own] = search.patterns();
        }
        self.backward = search.len();
        Ok(())
    }

    fn one_round(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        // States forwards are held against each other, so that there should not be too many of them.
        let [few, most] = [4_usize, 10].map(|factor| FIRST.saturating_mul(factor.saturating_pow(self.round - 1)));
        self.few_threads(most, budget)?;
        self.forwards(few.min(MOST_FORWARD), budget)?;
        if self.undecided().is_empty() {
            return Ok(());
        }
        self.exclude();
        if self.undecided().is_empty() {
            return Ok(());
        }
        self.look_from_above(budget)?;
        self.exclude();
        for own in self.undecided() {
            self.backwards(own, most, budget)?;
        }
        Ok(())
    }

    fn certificate(&self, properties: &[usize]) -> Certificate {
        let net = &self.net;
        let mut lemmas: Vec<Lemma> = self.weights.lemmas(net).into_iter().map(Lemma::Weight).collect();
        let views = self.views.as_ref().filter(|_| self.needs_views);
        lemmas.extend(views.map(|views| Lemma::Views(views.lemma())));
        let patterns = properties.iter().map(|own| &self.patterns[*own]).filter(|patterns| !patterns.is_empty());
        lemmas.extend(patterns.map(|patterns| Lemma::Never(patterns.clone())));
        let claims = properties.iter().map(|own| net.properties[*own].clone()).collect();
        Certificate { model: net.digest(), claims, lemmas }
    }

    fn evidence(&self, properties: &[usize]) -> Evidence {
        let certificate = self.certificate(properties);
        let because = because(&certificate.lemmas);
        Evidence::new(certificate, because, "coverability")
    }
}

/// What lemmas are, in one sentence for people.
pub(crate) fn because(lemmas: &[Lemma]) -> String {
    let weights = lemmas.iter().filter(|lemma| matches!(lemma, Lemma::Weight(_))).count();
    let mut parts: Vec<_> = (weights > 0).then(|| count(weights as u64, "weight")).into_iter().collect();
    for lemma in lemmas {
        match lemma {
            Lemma::Weight(_) => {}
            Lemma::Views(views) => {
                let rows = count(views.rows.len() as u64, "view");
                parts.push(format!("{rows} of {}", count(views.size as u64, "thread")));
            }
            Lemma::Never(patterns) => parts.push(count(patterns.len() as u64, "pattern")),
        }
    }
    format!("no step of any number of threads leaves what is known: {}", parts.join(", "))
}

/// What is known from above.
struct Above<'a> {
    net: &'a Net,
    views: Option<&'a Views>,
    weights: &'a mut Weights,
    /// Whether the views were needed.
    used: bool,
}

impl Above<'_> {
    fn excludes(&mut self, pattern: &Pattern) -> bool {
        if self.weights.exclude(self.net, pattern) {
            return true;
        }
        let unseen = self.views.is_some_and(|views| !views.admit(pattern.shared, &pattern.counts));
        self.used |= unseen;
        unseen || self.weights.find(self.net, pattern)
    }
}

impl Engine for Coverability {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn next_bound(&self) -> Option<Bound> {
        Some(FACTS.bound(&[self.round + 1]))
    }

    fn explore(&mut self, budget: &mut Budget) -> Result<Round, Stop> {
        self.round += 1;
        let before = budget.work();
        let stopped = self.one_round(budget).err();
        self.steps += budget.work() - before;
        let views = self.views.as_ref().map_or(0, Views::len) as u64;
        let open = self.undecided();
        let violated: Vec<_> = (0..self.traces.len()).filter(|own| self.traces[*own].is_some()).collect();
        Ok(Round {
            states: self.forward.iter().map(Forward::len).sum::<usize>() as u64 + self.backward as u64,
            views,
            steps: self.steps,
            test_due: open.is_empty() && violated.is_empty(),
            some_due: self.excluded.iter().any(|excluded| *excluded),
            violated,
            open: open.len() as u64,
            stopped,
            ..Round::empty(&FACTS, FACTS.bound(&[self.round]))
        })
    }

    fn converged(&mut self, _: &mut Budget) -> Result<Option<Evidence>, Stop> {
        let all: Vec<_> = (0..self.excluded.len()).collect();
        Ok(self.excluded.iter().all(|excluded| *excluded).then(|| self.evidence(&all)))
    }

    fn proved(&mut self, _: &mut Budget) -> Result<Option<(Vec<usize>, Evidence)>, Stop> {
        let some: Vec<_> = (0..self.excluded.len()).filter(|own| self.excluded[*own]).collect();
        let evidence = (!some.is_empty()).then(|| self.evidence(&some));
        Ok(evidence.map(|evidence| (some, evidence)))
    }

    fn trace(&mut self, property: usize, budget: &mut Budget) -> Result<(Trace, Option<Bound>), Stop> {
        let found = self.traces[property].clone().ok_or_else(|| Stop::defect("there is no violation"))?;
        self.few.go_on(property, found.threads(), EFFORT, budget)?;
        match self.few.fewest(property, found.threads(), budget)? {
            Fewest::Found(better, bound) => Ok((better, Some(bound))),
            Fewest::NotFewer(bound) => Ok((found.into(), Some(bound))),
            Fewest::Unknown => Ok((found.into(), None)),
        }
    }

    fn views(&self, _: bool, _: &mut Budget) -> Vec<String> {
        Vec::new()
    }

    fn notes(&self) -> Notes {
        Notes { stored: ["state or pattern", "states and patterns"], from_above: true, ..Notes::default() }
    }
}

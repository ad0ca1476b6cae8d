//! The engine: views that no step leaves, the net that they show, and coverability there; then one frame more.

use std::sync::{Arc, OnceLock};

use tepui_cert::{Certificate, Trace};
use tepui_core::{Bound, Budget, Engine, Evidence, Facts, Limit, Notes, Round, Stop};
use tepui_model::program::{Goal, Property};

use super::super::code::Code;
use super::super::system::Programs;
use super::net::Crowded;
use super::threads::Threads;
use super::views::Views;
use crate::counters::coverability::{self, Coverability};

/// The most work that is spent on views of one thread, and then on views of two.
const MOST: [u64; 2] = [300_000, 20_000_000];

/// How many frames of a stack are looked at, at most. Where calls nest less deeply, all are seen before.
const DEEPEST: usize = 64;

/// The engine.
pub struct Crowd {
    code: Arc<Code>,
    properties: Vec<Property>,
    depth: usize,
    round: u32,
    inside: Option<Inside>,
    /// How many threads besides `main` are enough for each violation that there is, when that is known.
    enough: Arc<OnceLock<u64>>,
    /// Why there is no net.
    gave_up: Option<String>,
}

/// The present net, and who decides about it.
struct Inside {
    crowded: Crowded,
    engine: Coverability,
    /// The properties that the net violates.
    violated: Vec<usize>,
}

impl Crowd {
    /// Looks at all properties of a program. How many threads besides `main` violations need is noted, if it is found out.
    pub fn new(code: Arc<Code>, properties: Vec<Property>, depth: usize, enough: Arc<OnceLock<u64>>) -> Self {
        Self { code, properties, depth: depth.max(1), round: 0, inside: None, enough, gave_up: None }
    }

    /// Finds views that no step leaves, of one thread or of two.
    fn close(&self, budget: &mut Budget) -> Result<Crowded, Stop> {
        for (size, most) in (1..).zip(MOST) {
            let programs = Programs::new(Arc::clone(&self.code), false, self.properties.clone());
            let mut threads = Threads::new(programs, self.depth);
            let mut views = Views::new(&mut threads, size);
            let mut own = budget.with_work(most);
            let closed = views.close(&mut threads, &mut own);
            budget.spend(own.work())?;
            match closed {
                Ok(()) => return Crowded::new(&views, &mut threads, budget),
                Err(Stop::Limit(Limit::Work)) => {}
                Err(stop) => return Err(stop),
            }
        }
        Err(Stop::GaveUp("there are too many views of two threads".to_owned()))
    }

    /// What is known of the present net, as far as the program is concerned.
    fn told(&mut self, mut round: Round) -> Round {
        let Some(inside) = &mut self.inside else { return round };
        let violated = std::mem::take(&mut round.violated);
        // What no net says anything about is still open.
        let silent = self.properties.len() - inside.crowded.properties.len();
        let all_decided = round.open == 0;
        round.test_due = round.test_due && silent == 0;
        round.open += (silent + violated.len()) as u64;
        round.views = round.views.max(inside.crowded.view_count());
        inside.violated = violated;
        if all_decided && !round.test_due && round.stopped.is_none() {
            self.decided(&mut round);
        }
        round
    }

    /// Everything is decided about the present net: if it is the program, nothing is left to do, and if not, more of the
    /// stacks is looked at.
    fn decided(&mut self, round: &mut Round) {
        let Some(inside) = &mut self.inside else { return };
        let violated = &inside.violated;
        let reason = match inside.crowded.exact {
            _ if violated.is_empty() => "there is no proof of this kind of what is left".to_owned(),
            true => {
                let most = violated.iter().filter_map(|&own| inside.engine.threads_of(own)).max();
                most.into_iter().for_each(|most| _ = self.enough.set(most));
                "a violation needs more threads than were looked at, or is looked for by other engines".to_owned()
            }
            false if self.depth >= DEEPEST => format!("views of {DEEPEST} frames of each stack are not enough"),
            false => {
                self.depth += 1;
                // What is proved by now is asked for before the next round.
                return;
            }
        };
        round.stopped = Some(Stop::GaveUp(reason));
    }
}

impl Engine for Crowd {
    fn facts(&self) -> &'static Facts {
        &coverability::FACTS
    }

    fn next_bound(&self) -> Option<Bound> {
        Some(coverability::FACTS.bound(&[self.round + 1]))
    }

    fn explore(&mut self, budget: &mut Budget) -> Result<Round, Stop> {
        let deeper = |inside: &Inside| !inside.crowded.exact && inside.crowded.depth() < self.depth;
        if self.inside.as_ref().is_none_or(deeper) {
            let crowded = self.close(budget).inspect_err(|stop| {
                if let Stop::GaveUp(why) | Stop::NotApplicable(why) = stop {
                    self.gave_up = Some(why.clone());
                }
            })?;
            let engine = Coverability::beginning(Arc::clone(&crowded.net), self.round);
            self.inside = Some(Inside { crowded, engine, violated: Vec::new() });
        }
        let Some(inside) = &mut self.inside else { return Err(Stop::defect("there is no net")) };
        let round = inside.engine.explore(budget)?;
        self.round += 1;
        Ok(self.told(round))
    }

    fn converged(&mut self, budget: &mut Budget) -> Result<Option<Evidence>, Stop> {
        let Some(inside) = &mut self.inside else { return Ok(None) };
        let depth = inside.crowded.depth() as u32;
        let evidence = inside.engine.converged(budget)?;
        Ok(evidence.map(|evidence| inside.crowded.evidence(evidence, depth)))
    }

    fn proved(&mut self, budget: &mut Budget) -> Result<Option<(Vec<usize>, Evidence)>, Stop> {
        let Some(inside) = &mut self.inside else { return Ok(None) };
        let depth = inside.crowded.depth() as u32;
        let Some((proved, evidence)) = inside.engine.proved(budget)? else { return Ok(None) };
        let proved = proved.into_iter().map(|own| inside.crowded.properties[own]).collect();
        Ok(Some((proved, inside.crowded.evidence(evidence, depth))))
    }

    fn trace(&mut self, _: usize, _: &mut Budget) -> Result<(Trace, Option<Bound>), Stop> {
        Err(Stop::defect("violations are not looked for here"))
    }

    fn views(&self, _: bool, _: &mut Budget) -> Vec<String> {
        Vec::new()
    }

    fn notes(&self) -> Notes {
        let gave_up = self.gave_up.iter();
        let mut obstacles: Vec<_> =
            gave_up.map(|why| format!("there is no proof for any number of threads: {why}")).collect();
        let deadlock = |property: &&Property| property.never.contains(&Goal::Deadlock);
        if let Some(property) = self.properties.iter().find(deadlock) {
            let name = &property.name;
            obstacles.push(format!(
                "{name} is about all threads at once: nothing is proved about it for any number of them"
            ));
        }
        Notes { stored: ["state or pattern", "states and patterns"], from_above: true, obstacles, ..Notes::default() }
    }
}

impl Crowded {
    /// Evidence about the net, as evidence about the program.
    fn evidence(&self, evidence: Evidence, depth: u32) -> Evidence {
        let Certificate::Counters(proof) = evidence.certificate else { return evidence };
        let certificate = self.certificate(proof);
        let because = coverability::because(certificate.crowd.as_ref().map_or(&[], |crowd| &crowd.lemmas));
        Evidence { certificate: certificate.into(), because, view_depth: Some(depth), ..evidence }
    }
}

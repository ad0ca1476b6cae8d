//! Whether an engine keeps to the protocol of [`Engine`]. The driver puts this around every engine in debug builds, and
//! with that in all tests.

use tepui_cert::Trace;

use crate::decorator::Decorator;
use crate::{Bound, Budget, Engine, Evidence, Facts, Round, Stop};

/// An engine that is watched.
pub(crate) struct Contract<'a> {
    engine: &'a mut dyn Engine,
    /// What each engine that made a round had said in its last one.
    before: Vec<Round>,
    last: Option<Round>,
    stopped: bool,
}

impl<'a> Contract<'a> {
    pub(crate) fn of(engine: &'a mut dyn Engine) -> Self {
        Self { engine, before: Vec::new(), last: None, stopped: false }
    }

    /// What is known only grows.
    fn compare(&self, round: &Round) {
        let name = round.by.name;
        assert!(round.violated.is_sorted(), "{name}: violated properties are not in ascending order");
        assert!(
            round.stopped.is_none() || !round.test_due,
            "{name}: a bound that was not explored to its end is tested"
        );
        assert!(round.stopped.is_some() || !round.goes_on, "{name}: goes on although nothing was interrupted");
        let Some(before) = self.before.iter().find(|before| before.by == round.by) else { return };
        let fewer = round.views < before.views && (round.again || !round.by.restarts);
        assert!(!fewer, "{name}: {} views became {}", before.views, round.views);
        let kept = before.violated.iter().all(|property| round.violated.contains(property));
        assert!(kept, "{name}: {:?} were violated, now {:?}", before.violated, round.violated);
    }
}

impl Decorator for Contract<'_> {
    fn inner(&self) -> &dyn Engine {
        self.engine
    }

    fn inner_mut(&mut self) -> &mut dyn Engine {
        self.engine
    }

    fn explore(&mut self, budget: &mut Budget) -> Result<Round, Stop> {
        let name = Engine::facts(self.engine).name;
        assert!(!self.stopped, "{name}: explores after a stop");
        let announced = self.engine.next_bound();
        let round = self.engine.explore(budget);
        self.stopped = round.as_ref().map_or(true, |round| round.stopped.is_some() && !round.goes_on);
        if let Ok(round) = &round {
            assert!(
                announced.is_none_or(|bound| bound == round.bound),
                "{name}: explores another bound than announced"
            );
            self.compare(round);
            self.before.retain(|before| before.by != round.by);
            self.before.push(round.clone());
        }
        self.last = round.as_ref().ok().cloned();
        round
    }

    fn converged(&mut self, budget: &mut Budget) -> Result<Option<Evidence>, Stop> {
        assert!(self.last.as_ref().is_some_and(|last| last.test_due), "a test that is not due");
        assert!(!self.stopped, "a test after a stop");
        let answer = self.engine.converged(budget);
        self.stopped = answer.is_err();
        answer
    }

    fn trace(&mut self, property: usize, budget: &mut Budget) -> Result<(Trace, Option<Bound>), Stop> {
        assert!(self.last.as_ref().is_some_and(|last| last.violated.contains(&property)), "a trace of no violation");
        self.engine.trace(property, budget)
    }

    fn facts(&self) -> &'static Facts {
        self.engine.facts()
    }
}

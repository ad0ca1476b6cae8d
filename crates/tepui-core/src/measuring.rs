//! Finding the smallest bound when the answer is known.

use tepui_cert::Trace;

use crate::{Bound, Budget, Engine, Evidence, Round, Stop};

/// An engine that need not prove anything: all views are known, and the question is which bound shows them.
pub struct Measuring {
    engine: Box<dyn Engine>,
    evidence: Evidence,
    views: u64,
    reached: bool,
}

impl Measuring {
    /// An engine that stops at the first bound with so many views, and then presents evidence that these are all.
    pub fn new(engine: Box<dyn Engine>, evidence: Evidence, views: u64) -> Self {
        Self { engine, evidence, views, reached: false }
    }
}

impl Engine for Measuring {
    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn resource(&self) -> &'static str {
        self.engine.resource()
    }

    fn stored(&self) -> [&'static str; 2] {
        self.engine.stored()
    }

    fn limits_schedules(&self) -> bool {
        self.engine.limits_schedules()
    }

    fn next_bound(&self) -> Bound {
        self.engine.next_bound()
    }

    fn explore(&mut self, budget: &mut Budget) -> Round {
        let round = self.engine.explore(budget);
        self.reached = round.views == self.views;
        Round { test_due: self.reached && round.stopped.is_none(), ..round }
    }

    fn converged(&mut self, _: &mut Budget) -> Result<Option<Evidence>, Stop> {
        Ok(self.reached.then(|| self.evidence.clone()))
    }

    fn trace(&mut self, property: usize, budget: &mut Budget) -> Result<(Trace, Option<Bound>), Stop> {
        self.engine.trace(property, budget)
    }

    fn views(&self, violating: bool, budget: &mut Budget) -> Vec<String> {
        self.engine.views(violating, budget)
    }

    fn obstacles(&self) -> Vec<String> {
        self.engine.obstacles()
    }

    fn remarks(&self) -> Vec<String> {
        self.engine.remarks()
    }
}

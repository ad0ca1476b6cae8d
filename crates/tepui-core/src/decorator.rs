//! Engines around engines. A decorator says what it does differently; everything else is forwarded to the engine inside.

use tepui_cert::Trace;

use crate::{Bound, Budget, Engine, Evidence, Facts, Notes, Round, Stop};

/// An engine around another one. The methods are those of [`Engine`], and forward unless they are written anew.
#[allow(missing_docs)] // They are documented there.
pub trait Decorator: Send {
    /// The engine inside.
    fn inner(&self) -> &dyn Engine;

    /// The engine inside.
    fn inner_mut(&mut self) -> &mut dyn Engine;

    fn facts(&self) -> &'static Facts {
        self.inner().facts()
    }

    fn next_bound(&self) -> Option<Bound> {
        self.inner().next_bound()
    }

    fn explore(&mut self, budget: &mut Budget) -> Result<Round, Stop> {
        self.inner_mut().explore(budget)
    }

    fn converged(&mut self, budget: &mut Budget) -> Result<Option<Evidence>, Stop> {
        self.inner_mut().converged(budget)
    }

    fn proved(&mut self, budget: &mut Budget) -> Result<Option<(Vec<usize>, Evidence)>, Stop> {
        self.inner_mut().proved(budget)
    }

    fn trace(&mut self, property: usize, budget: &mut Budget) -> Result<(Trace, Option<Bound>), Stop> {
        self.inner_mut().trace(property, budget)
    }

    fn views(&self, violating: bool, budget: &mut Budget) -> Vec<String> {
        self.inner().views(violating, budget)
    }

    fn notes(&self) -> Notes {
        self.inner().notes()
    }
}

impl<D: Decorator> Engine for D {
    fn facts(&self) -> &'static Facts {
        Decorator::facts(self)
    }

    fn next_bound(&self) -> Option<Bound> {
        Decorator::next_bound(self)
    }

    fn explore(&mut self, budget: &mut Budget) -> Result<Round, Stop> {
        Decorator::explore(self, budget)
    }

    fn converged(&mut self, budget: &mut Budget) -> Result<Option<Evidence>, Stop> {
        Decorator::converged(self, budget)
    }

    fn proved(&mut self, budget: &mut Budget) -> Result<Option<(Vec<usize>, Evidence)>, Stop> {
        Decorator::proved(self, budget)
    }

    fn trace(&mut self, property: usize, budget: &mut Budget) -> Result<(Trace, Option<Bound>), Stop> {
        Decorator::trace(self, property, budget)
    }

    fn views(&self, violating: bool, budget: &mut Budget) -> Vec<String> {
        Decorator::views(self, violating, budget)
    }

    fn notes(&self) -> Notes {
        Decorator::notes(self)
    }
}

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

impl Decorator for Measuring {
    fn inner(&self) -> &dyn Engine {
        &*self.engine
    }

    fn inner_mut(&mut self) -> &mut dyn Engine {
        &mut *self.engine
    }

    fn explore(&mut self, budget: &mut Budget) -> Result<Round, Stop> {
        let round = self.engine.explore(budget)?;
        self.reached = round.views == self.views;
        Ok(Round { test_due: self.reached && round.stopped.is_none(), ..round })
    }

    fn converged(&mut self, _: &mut Budget) -> Result<Option<Evidence>, Stop> {
        Ok(self.reached.then(|| self.evidence.clone()))
    }
}

/// What builds an engine.
type Build = Box<dyn FnOnce(&mut Budget) -> Result<Box<dyn Engine>, Stop> + Send>;

/// An engine that is built when it is first asked to explore: building it takes time, and counts.
pub struct Deferred {
    facts: &'static Facts,
    build: Option<Build>,
    engine: Option<Box<dyn Engine>>,
}

impl Deferred {
    /// An engine with these facts that is built later.
    pub fn new(
        facts: &'static Facts,
        build: impl FnOnce(&mut Budget) -> Result<Box<dyn Engine>, Stop> + Send + 'static,
    ) -> Self {
        Self { facts, build: Some(Box::new(build)), engine: None }
    }

    fn built(&mut self) -> Result<&mut Box<dyn Engine>, Stop> {
        self.engine.as_mut().ok_or_else(|| Stop::defect("an engine is asked that has not been built"))
    }
}

impl Engine for Deferred {
    fn facts(&self) -> &'static Facts {
        self.engine.as_ref().map_or(self.facts, |engine| engine.facts())
    }

    fn next_bound(&self) -> Option<Bound> {
        self.engine.as_ref().and_then(|engine| engine.next_bound())
    }

    fn explore(&mut self, budget: &mut Budget) -> Result<Round, Stop> {
        if let Some(build) = self.build.take() {
            self.engine = Some(build(budget)?);
        }
        self.built()?.explore(budget)
    }

    fn converged(&mut self, budget: &mut Budget) -> Result<Option<Evidence>, Stop> {
        self.built()?.converged(budget)
    }

    fn proved(&mut self, budget: &mut Budget) -> Result<Option<(Vec<usize>, Evidence)>, Stop> {
        self.engine.as_mut().map_or(Ok(None), |engine| engine.proved(budget))
    }

    fn trace(&mut self, property: usize, budget: &mut Budget) -> Result<(Trace, Option<Bound>), Stop> {
        self.built()?.trace(property, budget)
    }

    fn views(&self, violating: bool, budget: &mut Budget) -> Vec<String> {
        self.engine.as_ref().map(|engine| engine.views(violating, budget)).unwrap_or_default()
    }

    fn notes(&self) -> Notes {
        self.engine.as_ref().map(|engine| engine.notes()).unwrap_or_default()
    }
}

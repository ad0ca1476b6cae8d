//! The way back from a model to what it was made from.
//!
//! An engine may work on a model that was compiled from something else: a program, or threads that meet. Its proofs and
//! traces are then about the compiled model, and have to be turned into ones about the source. A [`WayBack`] does that,
//! for any front end and any kind of model, and [`Translated`] is an engine that speaks about the source.
//!
//! Nothing here has to be right for an answer to be right: what comes out is judged against the source.

use tepui_cert::{Certificate, Trace};

use crate::{Bound, Budget, Decorator, Engine, Evidence, Notes, Stop};

/// The way back from a compiled model to its source.
pub trait WayBack: Send {
    /// The proof about the source that follows from one about the model.
    fn certificate(&self, proof: Certificate, budget: &mut Budget) -> Result<Certificate, Stop>;

    /// The trace of the source that one of the model stands for; it violates the property with this number.
    fn trace(&self, property: usize, trace: Trace, budget: &mut Budget) -> Result<Trace, Stop>;

    /// Views of the model as views of the source; none, where they mean nothing there.
    fn views(&self, views: Vec<String>) -> Vec<String> {
        views
    }

    /// What there is to tell about a run, in words that say what it is about.
    fn notes(&self, notes: Notes) -> Notes {
        notes
    }
}

/// An engine that works on a compiled model and speaks about its source.
pub struct Translated<W> {
    engine: Box<dyn Engine>,
    way_back: W,
}

impl<W> Translated<W> {
    /// An engine around one that works on the compiled model.
    pub fn new(engine: Box<dyn Engine>, way_back: W) -> Self {
        Self { engine, way_back }
    }
}

impl<W: WayBack> Decorator for Translated<W> {
    fn inner(&self) -> &dyn Engine {
        &*self.engine
    }

    fn inner_mut(&mut self) -> &mut dyn Engine {
        &mut *self.engine
    }

    fn converged(&mut self, budget: &mut Budget) -> Result<Option<Evidence>, Stop> {
        let Some(evidence) = self.engine.converged(budget)? else { return Ok(None) };
        Ok(Some(evidence.about_source(&self.way_back, budget)?))
    }

    fn proved(&mut self, budget: &mut Budget) -> Result<Option<(Vec<usize>, Evidence)>, Stop> {
        let Some((properties, evidence)) = self.engine.proved(budget)? else { return Ok(None) };
        Ok(Some((properties, evidence.about_source(&self.way_back, budget)?)))
    }

    fn trace(&mut self, property: usize, budget: &mut Budget) -> Result<(Trace, Option<Bound>), Stop> {
        let (trace, bound) = self.engine.trace(property, budget)?;
        Ok((self.way_back.trace(property, trace, budget)?, bound))
    }

    fn views(&self, violating: bool, budget: &mut Budget) -> Vec<String> {
        self.way_back.views(self.engine.views(violating, budget))
    }

    fn notes(&self) -> Notes {
        self.way_back.notes(self.engine.notes())
    }
}

impl Evidence {
    /// The same argument about the source.
    pub(crate) fn about_source(self, way_back: &impl WayBack, budget: &mut Budget) -> Result<Self, Stop> {
        Ok(Self { certificate: way_back.certificate(self.certificate, budget)?, ..self })
    }
}

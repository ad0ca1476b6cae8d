//! Following the steps of a compiled model.

use tepui_model::program::Program;
use tepui_model::program::step::Runner;
use tepui_model::pushdown;

use super::{Beginning, Execution, Follower, Lost, Situation};
use crate::program::table::{Compiled, Legend, Phase};

/// The execution of a program that a trace of its model stands for: its states, and the steps between them. The last of
/// the states violates the property. From time to time it is asked whether to stop.
pub fn retrace(
    program: &Program,
    compiled: &Compiled,
    property: &str,
    start: &pushdown::State,
    steps: &[(usize, &pushdown::State)],
    stop: &dyn Fn() -> bool,
) -> Result<Execution, Lost> {
    let attempt = |eager: bool| {
        let (runner, legend) = (Runner::new(program), &compiled.legend);
        let beginning = Beginning { creates: legend.creates_threads(), main: legend.main() };
        let follower = Follower::new(&runner, legend.kept(), &beginning, situation(legend, start), stop)?;
        let mut raw = Raw { follower, legend, between: None, full: None };
        for (number, (thread, after)) in steps.iter().enumerate() {
            if raw.between.is_none() && raw.follower.fails(property) {
                break;
            }
            if eager {
                raw.follower.catch_up_all()?;
            }
            raw.follow(*thread, after).map_err(|lost| match lost {
                Lost::Refused(why) => Lost::Refused(format!("step {}: {why}", number + 1)),
                other => other,
            })?;
        }
        raw.finish(property, steps.last().map(|(_, after)| *after))
    };
    attempt(false).or_else(|lost| match lost {
        Lost::Refused(_) => attempt(true).map_err(|_| lost),
        Lost::Stopped | Lost::TooMany => Err(lost),
    })
}

/// A state of the model, in the terms of the program.
fn situation(legend: &Legend, state: &pushdown::State) -> Situation {
    let frames = |(thread, stack): (usize, &Vec<pushdown::Symbol>)| {
        stack.iter().map(|&symbol| legend.frame(thread, symbol)).collect()
    };
    Situation { shared: legend.shared(state.shared), threads: state.stacks.iter().enumerate().map(frames).collect() }
}

/// A model of which a step of the program may take several.
struct Raw<'r, 'p> {
    follower: Follower<'r, 'p>,
    legend: &'r Legend,
    /// Who began the step that is not complete, and which others have changed in it.
    between: Option<(usize, Vec<usize>)>,
    /// Who wants to start a thread for which there is no place.
    full: Option<usize>,
}

impl Raw<'_, '_> {
    fn follow(&mut self, thread: usize, after: &pushdown::State) -> Result<(), Lost> {
        let goes_on = self.between.is_some();
        let (actor, mut others) = self.between.take().unwrap_or((thread, Vec::new()));
        let shows = after.stacks[thread].last().is_some_and(|&top| self.legend.frame(thread, top).is_some());
        if thread != actor && shows {
            others.push(thread);
        }
        match self.legend.phase(after.shared) {
            Phase::Between => self.between = Some((actor, others)),
            // One that fails when it returns is, for the program, still where it was.
            Phase::Open if goes_on && self.has_failed(thread, after) => {}
            Phase::Open => self.follower.follow(actor, &others, situation(self.legend, after))?,
            Phase::Full => self.full = Some(actor),
            Phase::Stuck => {}
        }
        Ok(())
    }

    fn has_failed(&self, thread: usize, state: &pushdown::State) -> bool {
        let frame = state.stacks[thread].last().and_then(|&top| self.legend.frame(thread, top));
        frame.is_some_and(|frame| frame.failed.is_some())
    }

    fn finish(mut self, property: &str, last: Option<&pushdown::State>) -> Result<Execution, Lost> {
        // A thread may reach a label before what it does, or what started it, is complete in the model.
        if let (Some((actor, others)), Some(last)) = (self.between.take(), last)
            && self.follower.runner.program().unreachable.iter().any(|target| target.label == property)
        {
            self.follower.follow(actor, &others, situation(self.legend, last))?;
        }
        self.follower.finish(property, self.full)
    }
}

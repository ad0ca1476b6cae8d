//! The engines for programs.
//!
//! Closure works on the program itself, whose steps are computed when they are asked for. The others work on a table of
//! rules for all that may happen, a pushdown system; it is built when the first of them needs it.

use std::sync::Arc;

use tepui_core::{Budget, Deferred, Engine, Member, Outcome, Portfolio, Query, Stop, drive};
use tepui_engines::closure::{self, Closure};
use tepui_engines::contexts;
use tepui_engines::program::code::Code;
use tepui_engines::program::system::Programs;
use tepui_engines::program::table::{Compiled, LOOK_EVERY, Uncompiled};
use tepui_engines::program::views::FrameViews;
use tepui_engines::program::{Face, Patience};
use tepui_engines::pushdown::generators::Pairs;
use tepui_engines::workers::Pooled;
use tepui_model::program::{Program, Property, THREAD_LIMIT};
use tepui_model::pushdown;

use super::way_back::ToSource;
use super::{Compiling, unanswered, unsupported};
use crate::kinds::pushdown::{HEAD_START, Setup, WAITING_START};
use crate::{AUTO, Error, Options, PartialOrder};

/// The name of the property of programs without any.
pub(super) const VIEWS: &str = "views";

/// A program, made ready, and how it is to be verified.
pub(super) struct Engines<'a> {
    pub(super) program: &'a Arc<Program>,
    pub(super) compiling: &'a Compiling,
    pub(super) options: &'a Options,
    pub(super) code: Arc<Code>,
    /// The properties that are asked for.
    pub(super) properties: Vec<Property>,
    /// The places for threads, where threads are created.
    places: u32,
}

impl<'a> Engines<'a> {
    pub(super) fn new(
        program: &'a Arc<Program>,
        compiling: &'a Compiling,
        options: &'a Options,
        places: u32,
        mut properties: Vec<Property>,
        budget: &Budget,
    ) -> Result<Self, Error> {
        // Without any, the question is which views there are.
        if properties.is_empty() {
            properties.push(Property { name: VIEWS.to_owned(), never: Vec::new() });
        }
        let code = Code::new(program, compiling.options(places), Face::Composed, Patience::of(budget, 0));
        let code = Arc::new(code.map_err(|why| Error::Unsupported(why.0))?);
        Ok(Self { program, compiling, options, code, properties, places })
    }

    /// The names of the properties that engines look for, that there are places for all threads among them.
    pub(super) fn names(&self) -> Vec<String> {
        let limit = self.code.setup.is_none().then(|| THREAD_LIMIT.to_owned());
        self.properties.iter().map(|property| property.name.clone()).chain(limit).collect()
    }

    /// Whether the engine that is chosen works on the program itself.
    fn is_direct(&self) -> bool {
        let engine = self.options.engine;
        (*engine == AUTO || *engine == closure::FACTS)
            && self.options.minimal.is_none()
            && self.options.call_return.is_none()
    }

    /// What the engines say that the options choose.
    pub(super) fn search(&self, query: &Query, budget: &Budget) -> Result<Outcome, Error> {
        if self.is_direct() {
            return Ok(drive(&mut *self.direct(), query, &mut budget.clone()));
        }
        let compiled = match self.table(budget) {
            Ok(compiled) => Arc::new(compiled),
            Err(why @ Uncompiled::Unsupported(_)) => return Err(unsupported(&why)),
            Err(why) => {
                let engine = self.options.engine;
                return Ok(Outcome::without_answer(engine, &query.properties, &unanswered(&why, budget).into()));
            }
        };
        let wrap = ToSource::new(self.program, self.compiling, &compiled).wrap();
        Ok(match Setup::new(&compiled.model, self.options, budget, &wrap) {
            Ok(setup) => setup.with_pairs(pairs(&compiled, self.options)).search(query),
            Err(refused) => refused.outcome(query),
        })
    }

    /// The engine that the options choose, ready to be driven.
    pub(super) fn chosen(&self, budget: &Budget) -> Result<Box<dyn Engine>, Stop> {
        if self.is_direct() {
            return Ok(self.direct());
        }
        let compiled = Arc::new(self.table(budget).map_err(|why| unanswered(&why, budget))?);
        on_table(self.program, self.compiling, self.options, &compiled, budget)
    }

    /// The model with rules for all that may happen.
    fn table(&self, budget: &Budget) -> Result<Compiled, Uncompiled> {
        table(self.program, self.compiling, self.places, &self.properties, budget)
    }

    /// Closure on the program itself; after a while closure where threads wait, and a context engine on its table beside it.
    fn direct(&self) -> Box<dyn Engine> {
        let Options { view_depth, symmetry, cores, partial_order, .. } = *self.options;
        let system = || Programs::new(Arc::clone(&self.code), symmetry, self.properties.clone());
        let closure = |system: Programs| {
            let closure = Closure::<Programs, FrameViews>::of(&closure::FACTS, system, view_depth, cores);
            closure.listing(self.options.list_views)
        };
        let first = system();
        let (threads, flat) = (first.kind_of.len(), first.is_flat());
        let waits = threads > 1 && self.may_wait();
        let at_once = waits && (flat || partial_order == PartialOrder::Always);
        let first = closure(if at_once { first.reducing() } else { first });
        let mut members = vec![Member::new(Pooled::new(first, cores))];
        if waits && !at_once {
            let build = closure(system().reducing()).if_some_wait();
            members.push(Member::after(WAITING_START, Pooled::new(build, cores)));
        }
        // Where no thread calls a procedure, sets of stacks are no better than states.
        if *self.options.engine == AUTO && view_depth <= 1 && self.options.prove && !flat {
            // One thread is decided by one context, however deep its recursion is; views of no depth may do.
            let start = if threads == 1 { 0 } else { HEAD_START };
            members.push(self.symbolic(start));
        }
        let limited = |member: Member| member.within(self.options.bound_limit.clone());
        Portfolio::of(members.into_iter().map(limited).collect(), cores.threads)
    }

    /// Whether only a verdict is asked for, so that threads may wait if nobody sees it.
    fn may_wait(&self) -> bool {
        let Options { partial_order, prove, list_views, invariant, .. } = *self.options;
        let asked = self.properties.iter().any(|property| !property.never.is_empty());
        partial_order != PartialOrder::Off && self.compiling.reduce && prove && !list_views && !invariant && asked
    }

    /// The symbolic engine, when the others have done some work; until then, it costs nothing.
    fn symbolic(&self, after: u64) -> Member {
        let (program, compiling) = (Arc::clone(self.program), self.compiling.clone());
        let options = Options { engine: &contexts::SYMBOLIC, ..self.options.clone() };
        let (places, properties) = (self.places, self.properties.clone());
        let build = move |budget: &mut Budget| -> Result<Box<dyn Engine>, Stop> {
            let compiled = table(&program, &compiling, places, &properties, budget);
            let compiled = Arc::new(compiled.map_err(|why| unanswered(&why, budget))?);
            on_table(&program, &compiling, &options, &compiled, budget)
        };
        Member::after(after, Deferred::new(&contexts::SYMBOLIC, build))
    }
}

/// The model of a program with places for some threads, and some properties.
fn table(
    program: &Program,
    compiling: &Compiling,
    places: u32,
    properties: &[Property],
    budget: &Budget,
) -> Result<Compiled, Uncompiled> {
    // It takes turns with engines that run beside it.
    let patience = Patience::of(budget, LOOK_EVERY as u64);
    let Compiled { model, legend } = compiling.compile(program, places, &patience)?;
    // All engines have the same properties in the same order.
    let never = |name: &str| model.properties().iter().find(|property| property.name == name).cloned();
    let asked = properties.iter().map(|property| {
        let none = || pushdown::Property { name: property.name.clone(), never: Vec::new() };
        never(&property.name).unwrap_or_else(none)
    });
    let open = asked.chain(never(THREAD_LIMIT)).collect();
    let model = model.with_properties(open).map_err(|malformed| Uncompiled::Unsupported(malformed.to_string()))?;
    Ok(Compiled { model, legend })
}

/// An engine that works on the table of a program.
fn on_table(
    program: &Arc<Program>,
    compiling: &Compiling,
    options: &Options,
    compiled: &Arc<Compiled>,
    budget: &Budget,
) -> Result<Box<dyn Engine>, Stop> {
    let wrap = ToSource::new(program, compiling, compiled).wrap();
    let setup = Setup::new(&compiled.model, options, budget, &wrap);
    let setup = setup.map(|setup| setup.with_pairs(pairs(compiled, options)));
    setup.and_then(|setup| setup.chosen()).map_err(|refused| refused.stop)
}

/// What the generator test is told about returns, where the user chooses.
fn pairs(compiled: &Compiled, options: &Options) -> Option<Pairs> {
    options.call_return.map(|relation| Arc::new(compiled.call_return(relation)))
}

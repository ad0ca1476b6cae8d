//! A problem, and what can be done with it.

use tepui_cert::{Certificate, Trace};
use tepui_core::{About, Budget, Facts, Outcome, Story};
use tepui_lang::diagnostic::Diagnostic;
use tepui_lang::source::Source;
use tepui_model::Digest;

use crate::kinds::{
    Answer, Asked, Bounding, Checked, CountLimits, Counted, Detail, Kind, Printed, Replayed, SequentialForm, Summary,
};
use crate::{Error, Field, Input, Options, Reading, Refusal};

/// A model of any kind, with what is asked about it.
pub struct Problem {
    kind: Box<dyn Kind>,
    /// What the reader has to say: warnings and notes.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts that diagnostics point into.
    pub sources: Vec<Option<Source>>,
}

impl std::fmt::Debug for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Problem").field("what", &self.what()).field("asked", &self.asked()).finish_non_exhaustive()
    }
}

/// Reads a problem from a text. The extension of the name says in which language it is written.
pub fn read(name: &str, text: impl AsRef<[u8]>) -> Result<Problem, Error> {
    Problem::read(&Input::new(name, text), &Reading::default())
}

/// Verifies what is asked about a problem. If nothing is asked ([`Problem::asked`] is empty), the question is which views
/// there are, and *safe* means that all of them are known.
pub fn verify(problem: &Problem, options: &Options, budget: &Budget) -> Result<Answer, Error> {
    problem.require_fitting("the model", options.engine, &[])?;
    if ![options.view_depth, options.z_depth].iter().all(|depth| DEPTHS.contains(depth)) {
        return Err(Error::Misuse(format!("depths are {} to {}", DEPTHS.start(), DEPTHS.end())));
    }
    options.require_sense()?;
    problem.kind.require_fitting(options)?;
    problem.kind.verify(options, budget)
}

/// The depths that views may have.
const DEPTHS: std::ops::RangeInclusive<usize> = 1..=1_000;

/// Decides whether a certificate, in its text form, proves all that is asked about a problem. Where some properties are violated,
/// [`Problem::check_some`] is asked about the others.
pub fn check(problem: &Problem, certificate: &str) -> Result<Checked, Refusal> {
    problem.check(&Certificate::from_text(certificate)?, &|| false)
}

/// Executes traces, in their text form, each of which must violate what is asked about a problem.
pub fn replay(problem: &Problem, traces: &str) -> Result<Vec<Replayed>, Refusal> {
    let traces = Trace::from_text(traces)?;
    traces.iter().map(|trace| problem.replay(trace, &|| false)).collect()
}

impl Problem {
    /// Reads a problem from texts. If they have several tests, one must be named.
    pub fn read(input: &Input, reading: &Reading) -> Result<Self, Error> {
        let mut problems = Self::read_all(input, reading)?;
        match problems.len() {
            1 => Ok(problems.swap_remove(0)),
            _ => {
                let names: Vec<_> = problems.iter().filter_map(Self::test_case).map(str::to_owned).collect();
                Err(Error::SeveralTests { names })
            }
        }
    }

    /// Reads problems from texts: one, or one for each test that is meant.
    pub fn read_all(input: &Input, reading: &Reading) -> Result<Vec<Self>, Error> {
        let language = crate::table::language(&input.main.name)?;
        let mut sources =
            vec![Some(input.main.clone()), input.init.clone(), input.target.clone(), input.matching.clone()];
        sources.extend(input.others.iter().cloned().map(Some));
        let refused = |error| match error {
            Error::Refused { diagnostics, .. } => Error::Refused { diagnostics, sources: sources.clone() },
            other => other,
        };
        let (kinds, diagnostics) = (language.read)(input, reading).map_err(refused)?;
        let problem = |kind| Self { kind, diagnostics: diagnostics.clone(), sources: sources.clone() }.asking(reading);
        kinds.into_iter().map(problem).collect()
    }

    /// What it is called, where its text has several problems.
    pub fn test_case(&self) -> Option<&str> {
        self.kind.test_case()
    }

    /// The same problem, read in another way. Properties that were left out before stay out.
    pub fn asking(mut self, reading: &Reading) -> Result<Self, Error> {
        self.kind.configure(reading);
        if reading.all_views {
            self.kind.ask(Asked::Views);
        } else if !reading.properties.is_empty() {
            self.ask(&reading.properties)?;
        }
        Ok(self)
    }

    /// A problem that was built in code.
    pub(crate) fn built(kind: Box<dyn Kind>) -> Self {
        Self { kind, diagnostics: Vec::new(), sources: Vec::new() }
    }

    /// Asks for the property with a name, or else for all whose names begin with it, for each of some names.
    fn ask(&mut self, names: &[String]) -> Result<(), Error> {
        let (known, mut asked) = (self.kind.property_names(), Vec::new());
        for name in names {
            let exact = known.contains(name);
            let found = known.iter().filter(|one| if exact { *one == name } else { one.starts_with(name.as_str()) });
            let before = asked.len();
            asked.extend(found.cloned());
            if asked.len() == before {
                return Err(Error::NoSuchProperty { name: name.clone(), known });
            }
        }
        self.kind.ask(Asked::Only(asked));
        Ok(())
    }

    /// The names of the properties that are asked for; none, if the question is which views there are.
    pub fn asked(&self) -> Vec<String> {
        self.kind.asked()
    }

    /// What it is, as in "a concurrent pushdown system".
    pub fn what(&self) -> &'static str {
        self.kind.entry().what
    }

    /// The fingerprint of the model, which certificates name.
    pub fn digest(&self) -> Digest {
        self.kind.digest()
    }

    /// The engine for bounded exploration where none is chosen.
    pub fn bounded_engine(&self) -> &'static Facts {
        self.kind.entry().bounded
    }

    /// How to ask for something, where nothing is asked for.
    pub fn how_to_ask(&self) -> &'static str {
        self.kind.entry().ask
    }

    /// What to do where evidence is about a model with other options.
    pub fn same_options(&self) -> Option<&'static str> {
        self.kind.entry().same_options
    }

    /// What there is to say where nothing is asked for.
    pub fn about(&self, budget: &Budget) -> Option<About> {
        self.kind.about(budget)
    }

    /// A trace as other tools for the language of the model write it, if there are such: a list of entries.
    pub fn log(&self, trace: &Trace) -> Option<Vec<Field>> {
        self.kind.log(trace)
    }

    /// What might be worth trying besides, after an answer.
    pub fn advice(&self, outcome: &Outcome) -> Vec<String> {
        self.kind.advice(outcome)
    }

    /// Whether something that was given to help turned out to be wrong, like a claim about queues, and not the model. The
    /// command takes that for bad input.
    pub fn misled(&self, outcome: &Outcome) -> bool {
        self.kind.misled(outcome)
    }

    /// Refuses an engine and options of the command line that mean nothing to this problem.
    pub fn require_fitting(&self, file: &str, engine: &'static Facts, flags: &[&str]) -> Result<(), Error> {
        crate::table::fits_engine(self.kind.entry(), file, engine, flags)
    }

    /// Refuses options of the command line about the model that mean nothing to this one, although its language has models to
    /// which they do.
    pub fn require_fitting_model(&self, file: &str, flags: &[&str]) -> Result<(), Error> {
        crate::table::fits_kind(self.kind.entry(), file, flags)
    }

    /// Decides whether a certificate proves what is asked. From time to time it is asked whether to stop.
    pub fn check(&self, certificate: &Certificate, stop: &dyn Fn() -> bool) -> Result<Checked, Refusal> {
        self.check_some(certificate, &|_| true, stop)
    }

    /// The same for those of the properties asked for that are meant.
    pub fn check_some(
        &self,
        certificate: &Certificate,
        meant: &dyn Fn(&str) -> bool,
        stop: &dyn Fn() -> bool,
    ) -> Result<Checked, Refusal> {
        Ok(self.kind.check(certificate, meant, stop)?)
    }

    /// Executes a trace. From time to time it is asked whether to stop.
    pub fn replay(&self, trace: &Trace, stop: &dyn Fn() -> bool) -> Result<Replayed, Refusal> {
        Ok(self.kind.replay(trace, stop)?)
    }

    /// Checks every answer in the form in which it is written to files. One that does not hold becomes unknown, and the
    /// reason is returned.
    pub fn self_check(&self, outcome: &mut Outcome) -> Result<(), String> {
        crate::run::self_check(&*self.kind, outcome)
    }

    /// Tells a trace that an answer about this problem holds. There is nothing to tell of a trace of another model.
    pub fn tell(&self, trace: &Trace, detail: Detail) -> Story {
        if trace.model() == self.digest() { self.kind.tell(trace, detail) } else { Story::default() }
    }

    /// The text form of a trace, with remarks for people; nothing, if it is one of another model.
    pub fn trace_text(&self, trace: &Trace) -> String {
        if trace.model() == self.digest() { self.kind.trace_text(trace) } else { String::new() }
    }

    /// What there is to say about the model.
    pub fn summary(&self) -> Result<Summary, Error> {
        self.kind.summary()
    }

    /// The forms in which the model can be printed.
    pub fn forms(&self) -> impl Iterator<Item = &'static str> {
        self.kind.entry().forms.iter().map(|(name, _)| *name)
    }

    /// How many executions and states an asynchronous program has with a bound. This is for comparison, and proves nothing.
    pub fn executions(&self, bounding: &Bounding, limits: CountLimits, budget: &Budget) -> Result<Counted, Error> {
        self.kind.executions(bounding, limits, budget)
    }

    /// A sequential program that violates a property exactly if this asynchronous one does with at most so many delays of the
    /// scheduler `dfs`.
    pub fn sequential(&self, delays: u32, form: SequentialForm) -> Result<Printed, Error> {
        self.kind.sequential(delays, form)
    }

    /// A trace of this asynchronous program, from one of the sequential program for so many delays: the schedule that it stands
    /// for, followed on the interpreter.
    pub fn schedule(&self, delays: u32, trace: &Trace, budget: &Budget) -> Result<Trace, Error> {
        self.kind.schedule(delays, trace, budget)
    }

    /// The model in one of its forms, first, and what belongs to it.
    pub fn print(&self, form: &str) -> Result<Vec<Printed>, Error> {
        self.kind.print(form)
    }
}

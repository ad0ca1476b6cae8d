//! From above: rows in which queues are summarised, closed under every step, and more precise where that is needed.
//!
//! If no error is among what the rows lead to, none happens, with queues of any length. Otherwise the steps to the error
//! are taken in the program. Either they are real, or at some step a machine takes a letter that its queue does not offer:
//! the summary of that queue stands for too much, and queues of that kind of machine become known more precisely. Then the
//! search starts again; what machines do is not worked out a second time.

use std::collections::BTreeMap;
use std::sync::Arc;

use tepui_cert::queue::Trace;
use tepui_core::text::count;
use tepui_core::{Bound, Budget, Engine, Evidence, Facts, Notes, Round, Stop};
use tepui_model::queue::Program;
use tepui_model::queue::evaluate::Error;

use super::explorer::Explorer;
use super::follow::{Followed, Open, follow};
use super::liveness::hot_for_ever;
use super::spend_on;
use super::suggest::claim_that_settles;
use super::summary::{Order, Precision};
use super::symmetry::explorer;

/// What is true of it on every program.
pub static FACTS: Facts =
    Facts { explored: "covered with {}", restarts: true, ..Facts::unbounded("cover", &["refinements"]) };

/// The number of rows from which on others wait while a machine takes harmless steps. Below, all rows are cheap, and their
/// number means something.
const MANY: usize = 10_000;

/// The number of rows from which on queues are taken for bags, where that is enough: more steps are harmless then.
const VERY_MANY: usize = 400_000;

/// The number of values, or of machines, from which on they are named if no proof is found.
const WIDE: usize = 64;

/// How precise summaries become, one after the other.
const LADDER: [Precision; 7] = [
    Precision::BAG,
    Precision::ENDS,
    Precision { prefix: 1, order: Order::Ends, cap: 0 },
    Precision { prefix: 1, order: Order::Ends, cap: 3 },
    Precision { prefix: 2, order: Order::Ends, cap: 3 },
    Precision { prefix: 3, order: Order::Ends, cap: 4 },
    Precision { prefix: 4, order: Order::Ends, cap: 5 },
];

/// Where it is begun.
const FIRST: usize = 1;

/// Why nothing is proved where a claim does not hold.
pub(super) const UNFOUNDED: &str = "a claim about queues does not hold, so nothing can be proved with it";

/// The engine.
pub struct Cover {
    program: Arc<Program>,
    errors: Vec<Error>,
    /// For each kind of machine, where on the ladder it is; none, where the user has chosen.
    levels: Option<Vec<usize>>,
    explorer: Option<Explorer>,
    refinements: u32,
    violated: BTreeMap<Error, Trace>,
    open: BTreeMap<Error, Open>,
    /// Whether the rows of the last round are closed.
    closed: bool,
    steps_before: u64,
    /// Whether machines may change places.
    symmetry: bool,
    /// If some rows may be left out, from how many on.
    partial_order: Option<usize>,
    /// Whether queues may be bags.
    bags: bool,
    /// Whether it is left for later whether a spec is hot for ever: that needs all rows.
    liveness_later: bool,
    /// What was proved before that, and whether something was.
    safe: Option<(Vec<usize>, Evidence)>,
    proved_with_less: bool,
    /// The bound of the last round, and how many views there were.
    told: Option<(Bound, u64)>,
}

/// How a search ends.
enum Ended {
    /// No row is left.
    Closed,
    /// It must be more precise.
    Refined,
    /// There are so many rows that some should be left out.
    Many,
    /// There are still so many that less should be known of queues.
    VeryMany,
    /// What was taken for a name or an atom is more than that.
    Unnamed,
    /// An error has turned out to be real; the search can go on.
    Found,
}

impl Cover {
    /// Covers a program until it is known which of some errors happen. With a precision, queues of all machines are known
    /// with it, and never better.
    pub fn new(program: Arc<Program>, errors: Vec<Error>, precision: Option<Precision>, symmetry: bool) -> Self {
        let kinds = program.kinds.len();
        let first = precision.unwrap_or(LADDER[FIRST]);
        Self {
            explorer: Some(explorer(&program, &errors, vec![first; kinds], usize::MAX, symmetry).with_names()),
            symmetry,
            levels: precision.is_none().then(|| vec![FIRST; kinds]),
            program,
            errors,
            refinements: 0,
            violated: BTreeMap::new(),
            open: BTreeMap::new(),
            closed: false,
            steps_before: 0,
            partial_order: None,
            bags: false,
            liveness_later: false,
            safe: None,
            proved_with_less: false,
            told: None,
        }
    }

    /// The same, but where there are many rows, or always, a machine with harmless steps goes first, if that says enough: not
    /// all queues are seen of which something may be claimed.
    #[must_use]
    pub fn with_partial_order(self, always: bool) -> Self {
        let from = if always { 0 } else { MANY };
        let partial_order = self.program.claims.is_empty().then_some(from);
        Self { partial_order, ..self }
    }

    /// An error that the rows lead to, and of which nothing is known yet.
    fn fresh(&self, explorer: &Explorer) -> Option<Error> {
        let news = |error: &&Error| !self.violated.contains_key(error) && !self.open.contains_key(error);
        explorer.errors().keys().filter(|error| self.errors.contains(error)).find(news).copied()
    }

    /// Searches at the present precision.
    fn search(&mut self, explorer: &mut Explorer, budget: &mut Budget) -> Result<Ended, Stop> {
        let full = self.partial_order.is_some() && !explorer.has_partial_order();
        let over = self.partial_order.is_some() && !full && !self.bags && self.levels.is_some();
        let most = self.partial_order.filter(|_| full).unwrap_or(VERY_MANY);
        loop {
            let mut found = 0;
            let known = explorer.errors().len();
            let done = spend_on(explorer, budget, |explorer, stop| {
                explorer.run(&mut |own| {
                    found = own.errors().len();
                    found > known || (full || over) && own.len() > most || stop(own)
                })
            });
            if explorer.unknown().is_some() && (explorer.has_names() || explorer.has_atoms()) {
                return Ok(Ended::Unnamed);
            }
            let before = self.violated.len();
            while let Some(error) = self.fresh(explorer) {
                match follow(&self.program, explorer, error) {
                    Followed::Real(trace) => _ = self.violated.insert(error, trace),
                    Followed::Spurious(open) => {
                        if self.refine(&open) {
                            return Ok(Ended::Refined);
                        }
                        self.open.insert(error, open);
                    }
                }
            }
            let done = done?;
            if self.violated.len() > before && !done {
                return Ok(Ended::Found);
            }
            if done {
                let asked = self.errors.contains(&Error::HotForEver);
                if asked && !self.liveness_later && hot_for_ever(explorer, budget)?.is_some() {
                    self.open.insert(Error::HotForEver, Open::default());
                }
                return Ok(Ended::Closed);
            }
            if (full || over) && explorer.len() > most {
                return Ok(if full { Ended::Many } else { Ended::VeryMany });
            }
        }
    }

    /// Lets the queues that stand in the way be known more precisely, if they can.
    fn refine(&mut self, open: &Open) -> bool {
        let (Some((kind, _)), Some(levels)) = (open.at, &mut self.levels) else { return false };
        let can = levels[kind] + 1 < LADDER.len();
        levels[kind] += usize::from(can);
        can
    }

    fn round(&self, explorer: &Explorer) -> Round {
        let violated = (0..).zip(&self.errors).filter(|(_, error)| self.violated.contains_key(error));
        let rows = explorer.len() as u64;
        Round {
            states: rows,
            views: rows,
            steps: self.steps_before + explorer.steps(),
            state_bytes: explorer.bytes() as u64,
            violated: violated.map(|(number, _)| number).collect(),
            open: self.open.len() as u64,
            ..Round::empty(&FACTS, FACTS.bound(&[self.refinements]))
        }
    }

    /// The errors that the rows exclude, by their numbers.
    fn excluded(&self, explorer: &Explorer) -> Vec<usize> {
        let later = |error: &Error| self.liveness_later && *error == Error::HotForEver;
        let reached = |error: &Error| explorer.errors().contains_key(error) || later(error);
        // What was left out because of a claim is left out wrongly if the claim does not hold.
        let unfounded = reached(&Error::Invariant);
        let found = |error: &Error| unfounded || self.open.contains_key(error) || reached(error);
        (0..self.errors.len()).filter(|&number| !found(&self.errors[number])).collect()
    }

    /// A search for safety in which some rows are left out.
    fn with_less(&mut self, explorer: Explorer) -> Explorer {
        self.liveness_later = self.errors.contains(&Error::HotForEver);
        let precisions = explorer.precisions().to_vec();
        let explorer = if explorer.has_names() { explorer } else { self.fresh_explorer(&explorer) };
        explorer.with_partial_order().again(precisions)
    }

    /// The same where all queues are taken for bags, until it turns out that too little is known, and numbers that are chosen
    /// for atoms, if they may be.
    fn with_bags(&mut self, explorer: Explorer) -> Explorer {
        self.bags = true;
        self.levels = Some(vec![0; self.program.kinds.len()]);
        let places = if explorer.has_names() { Vec::new() } else { self.program.chosen_numbers() };
        match Explorer::with_atoms(&self.program, places, self.precisions()) {
            Some(with_atoms) => with_atoms.with_partial_order(),
            None => explorer.again(self.precisions()),
        }
    }

    fn precisions(&self) -> Vec<Precision> {
        self.levels.iter().flatten().map(|level| LADDER[*level]).collect()
    }

    /// Keeps what is proved, and goes on with all rows for liveness.
    fn with_all(&mut self, explorer: &Explorer) -> Explorer {
        self.safe = self.evidence_of(explorer).filter(|(excluded, _)| !excluded.is_empty());
        self.proved_with_less = self.safe.is_some();
        (self.liveness_later, self.partial_order) = (false, None);
        let named = explorer.has_names();
        let fresh = self.fresh_explorer(explorer);
        if named { fresh.with_names() } else { fresh }
    }

    /// A search from the start, without names.
    fn fresh_explorer(&self, before: &Explorer) -> Explorer {
        let live = |error: &&Error| !self.liveness_later || **error != Error::HotForEver;
        let errors: Vec<_> = self.errors.iter().filter(live).copied().collect();
        explorer(&self.program, &errors, before.precisions().to_vec(), usize::MAX, self.symmetry)
    }

    fn evidence(&self) -> Option<(Vec<usize>, Evidence)> {
        self.evidence_of(self.explorer.as_ref().filter(|_| self.closed)?)
    }

    fn evidence_of(&self, explorer: &Explorer) -> Option<(Vec<usize>, Evidence)> {
        let excluded = self.excluded(explorer);
        let errors: Vec<_> = excluded.iter().map(|&number| self.errors[number]).collect();
        let known = told(&self.program, explorer.precisions());
        let cover = if explorer.len() == 1 { "covers" } else { "cover" };
        let because = format!("{} {cover} every schedule and every queue length ({known})", rows_text(explorer.len()));
        let certificate = explorer.certificate(&errors);
        Some((excluded, Evidence::new(certificate, because, "cover")))
    }
}

/// A number of rows.
pub(super) fn rows_text(rows: usize) -> String {
    count(rows as u64, "abstract state")
}

/// How precisely queues are known, in words.
pub(super) fn told(program: &Program, precisions: &[Precision]) -> String {
    let text = |precision: &Precision| {
        let order = match precision.order {
            Order::Bag => "counts",
            Order::List => "first occurrences",
            Order::Ends => "first and last occurrences",
        };
        let prefix = format!("prefix {}", precision.prefix);
        let cap = if precision.cap > 1 { format!(", counted up to {}", precision.cap) } else { String::new() };
        format!("{order}, {prefix}{cap}")
    };
    let specs: Vec<_> = program.specs.iter().map(|spec| spec.kind).collect();
    let mut own = precisions.iter().enumerate().filter(|(kind, _)| !specs.contains(kind)).map(|(_, own)| own);
    let Some(least) = own.clone().min() else { return String::new() };
    if own.all(|other| other == least) {
        return text(least);
    }
    let better = precisions.iter().enumerate().filter(|(_, own)| *own > least);
    let better = better.map(|(kind, own)| format!("{}: {}", program.told.kinds[kind].name, text(own)));
    format!("{}; {}", text(least), better.collect::<Vec<_>>().join("; "))
}

impl Engine for Cover {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn next_bound(&self) -> Option<Bound> {
        Some(FACTS.bound(&[self.refinements + u32::from(self.closed)]))
    }

    fn explore(&mut self, budget: &mut Budget) -> Result<Round, Stop> {
        let Some(mut explorer) = self.explorer.take() else {
            return Err(Stop::defect("the rows are gone"));
        };
        if self.closed || self.violated.contains_key(&Error::Invariant) {
            // What is open stays open: nothing can become more precise, or nothing can be proved.
            self.explorer = Some(explorer);
            return Err(Stop::GaveUp(self.obstacle()));
        }
        let ended = loop {
            let ended = self.search(&mut explorer, budget);
            let steps = explorer.steps();
            explorer = match ended {
                Ok(Ended::Many) => self.with_less(explorer),
                Ok(Ended::VeryMany) => self.with_bags(explorer),
                Ok(Ended::Unnamed) => self.fresh_explorer(&explorer),
                ended => break ended,
            };
            self.steps_before += steps;
            self.open.clear();
        };
        let mut round = self.round(&explorer);
        match ended {
            Ok(Ended::Closed) if self.liveness_later => {
                explorer = self.with_all(&explorer);
                round.some_due = self.safe.is_some();
            }
            Ok(Ended::Closed) => {
                self.closed = true;
                self.suggest(&explorer, budget);
                round.some_due = !self.open.is_empty();
                round.test_due = self.open.is_empty() && !self.violated.contains_key(&Error::Invariant);
            }
            Ok(Ended::Found) => {}
            Ok(_) => {
                self.steps_before += explorer.steps();
                self.refinements += 1;
                self.open.clear();
                explorer = explorer.again(self.precisions());
            }
            Err(stop) => round.stopped = Some(stop),
        }
        self.explorer = Some(explorer);
        let told = self.told.replace((round.bound, round.views));
        round.again = told.is_some_and(|(bound, views)| bound == round.bound && views <= round.views);
        Ok(round)
    }

    fn converged(&mut self, _: &mut Budget) -> Result<Option<Evidence>, Stop> {
        Ok(self.evidence().map(|(_, evidence)| evidence))
    }

    fn proved(&mut self, _: &mut Budget) -> Result<Option<(Vec<usize>, Evidence)>, Stop> {
        Ok(self.evidence().filter(|(excluded, _)| !excluded.is_empty()).or_else(|| self.safe.take()))
    }

    fn trace(&mut self, property: usize, _: &mut Budget) -> Result<(tepui_cert::Trace, Option<Bound>), Stop> {
        let trace = self.errors.get(property).and_then(|error| self.violated.get(error));
        let trace = trace.ok_or_else(|| Stop::defect("a trace is asked for where none was found"))?;
        Ok((trace.clone().into(), None))
    }

    fn views(&self, _: bool, _: &mut Budget) -> Vec<String> {
        Vec::new()
    }

    fn notes(&self) -> Notes {
        let mut obstacles = if self.open.is_empty() { Vec::new() } else { vec![self.obstacle()] };
        obstacles.extend(self.wide().filter(|_| !self.closed));
        obstacles.extend(self.crowd().filter(|_| !self.closed));
        let all = self.closed && self.open.is_empty();
        let reduced = self.explorer.as_ref().is_some_and(Explorer::has_partial_order) || self.proved_with_less && !all;
        Notes {
            stored: ["abstract state", "abstract states"],
            from_above: true,
            reduced,
            obstacles,
            ..Notes::default()
        }
    }
}

impl Cover {
    /// A variable that takes so many values that there may be no end of them.
    fn wide(&self) -> Option<String> {
        let (kind, number, values) = self.explorer.as_ref()?.tables().widest()?;
        let told = &self.program.told.kinds[kind];
        let name = format!("{}.{}", told.name, told.variables.get(number)?);
        (values >= WIDE).then(|| {
            format!("{name} has taken {values} values, perhaps without end; --forget {name} leaves it out of the proof")
        })
    }

    /// So many machines that there may be no end of them.
    fn crowd(&self) -> Option<String> {
        let explorer = self.explorer.as_ref()?;
        let row = explorer.row(u32::try_from(explorer.len()).ok()?.checked_sub(1)?);
        let machines = explorer.machines(&row);
        let (kind, _) = explorer.tables().local_of(row[2 * machines.checked_sub(1)?]);
        let name = &self.program.told.kinds[*kind as usize].name;
        (machines >= WIDE)
            .then(|| format!("{machines} machines have been created, the last a {name}, perhaps without end"))
    }

    /// Looks for claims about queues that would settle what is open. Without, the answer is the same.
    fn suggest(&mut self, explorer: &Explorer, budget: &mut Budget) {
        if self.violated.contains_key(&Error::Invariant) || self.program.rules.assume_claims {
            return;
        }
        let first = self.open.iter_mut().next();
        if let Some((error, open)) = first
            && let Some((kind, Some(event))) = open.at
        {
            open.claim = claim_that_settles(&self.program, *error, (kind, event), explorer.precisions(), budget);
        }
    }

    /// What stands in the way of an answer.
    fn obstacle(&self) -> String {
        if self.violated.contains_key(&Error::Invariant) {
            return UNFOUNDED.to_owned();
        }
        let Some((error, open)) = self.open.iter().next() else {
            return "nothing is left to be covered".to_owned();
        };
        open.told(&self.program, *error)
    }
}

//! What a search has found, as evidence.

use tepui_cert::queue::{self as cert, Certificate, Trace};
use tepui_model::queue::evaluate::Error;
use tepui_model::queue::state::{Machine, State};

use super::endless;
use super::explorer::{Explorer, Path, Took};
use super::liveness::Circle;
use super::slice::Needed;
use super::summary::{Order, Precision, Queue};

impl Explorer {
    /// The rows as a proof that some errors do not happen. It is one if the search has come to its end, nothing was refused,
    /// and these errors were not found.
    pub fn certificate(&self, properties: &[Error]) -> Certificate {
        let tables = self.tables();
        let meant = || self.meant().iter().filter_map(|(row, by)| Some((row, self.number(by)?)));
        let (all, first) = (self.rows().chain(meant().map(|(row, _)| row.clone())), self.len() as u32);
        Certificate {
            program: self.digest(),
            properties: properties.iter().map(|error| error.name().to_owned()).collect(),
            symmetric: self.is_up_to_symmetry(),
            partial_order: self.has_partial_order(),
            atoms: self.chosen_at().to_vec(),
            precision: self.precisions().iter().map(precision).collect(),
            letters: tables.letters().cloned().collect(),
            locals: tables.locals().cloned().collect(),
            queues: self.queues().map(queue).collect(),
            rows: all.map(Vec::into_boxed_slice).collect(),
            named: (first..).zip(meant()).map(|(row, (_, by))| (row, by)).collect(),
        }
    }

    /// The steps to an error that was found. With summaries of queues they may not be steps of the program.
    pub fn trace(&mut self, error: Error) -> Option<Trace> {
        let (trace, _) = self.trace_with_letters(error)?;
        let program = self.tables().program();
        Some(if error == Error::Diverges { endless::told(program, &Needed::of(program), trace) } else { trace })
    }

    /// The same, and what is taken in each step, from where.
    pub(super) fn trace_with_letters(&mut self, error: Error) -> Option<(Trace, Vec<Took>)> {
        let row = *self.errors().get(&error)?;
        let Path { start, steps, taken } = self.way_to(row, Some(error));
        let steps = steps.into_iter();
        let steps = steps.map(|step| cert::Step { machine: step.machine as usize, choices: step.choices });
        let (program, property) = (self.digest(), error.name().to_owned());
        Some((Trace { program, property, start, steps: steps.collect(), circle: None }, taken))
    }

    /// The steps to a circle, and around it once.
    pub(super) fn circle(&mut self, circle: Circle) -> Trace {
        let Path { start, steps: before, .. } = self.way_to(circle.start, None);
        let state = self.state(circle.start);
        let (program, property) = (self.tables().program().digest(), Error::HotForEver.name().to_owned());
        let after = before.len();
        let steps = before.into_iter().chain(circle.steps);
        let steps = steps.map(|step| cert::Step { machine: step.machine as usize, choices: step.choices });
        let circle = Some(cert::Circle { after, state });
        Trace { program, property, start, steps: steps.collect(), circle }
    }

    /// The state that a row with exact queues stands for. Values that nothing depends on are forgotten.
    fn state(&self, row: u32) -> State {
        let (row, specs) = (self.row(row), self.tables().program().specs.len());
        let (machines, specs) = row.split_at(row.len() - specs);
        let machine = |pair: &[u32]| {
            let (kind, local) = self.tables().local_of(pair[0]).clone();
            let letters = self.queue(pair[1]).prefix.iter().map(|letter| self.tables().letter_of(*letter).clone());
            Machine { kind, local, queue: letters.collect() }
        };
        let specs = specs.iter().map(|spec| self.tables().local_of(*spec).1.clone()).collect();
        State { machines: machines.chunks(2).map(machine).collect(), specs }
    }
}

/// How precisely a queue is known, as it is written.
pub(super) fn precision(precision: &Precision) -> cert::Precision {
    let order = match precision.order {
        Order::Bag => cert::Order::Bag,
        Order::List => cert::Order::List,
        Order::Ends => cert::Order::Ends,
    };
    let prefix = (precision.prefix != usize::MAX).then_some(precision.prefix);
    cert::Precision { prefix, order, cap: precision.cap }
}

/// What is known of a queue, as it is written.
pub(super) fn queue(queue: &Queue) -> cert::Queue {
    let counts = queue.counts.iter().map(|(letter, count)| (*letter, *count)).collect();
    cert::Queue { prefix: queue.prefix.clone(), marks: queue.marks.clone(), counts }
}

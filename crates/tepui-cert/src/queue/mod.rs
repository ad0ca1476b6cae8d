//! Evidence about programs with queues: a closed set of rows, and the steps to an error.

pub mod language;
mod read;
mod terms;
mod write;

use tepui_model::Digest;
use tepui_model::queue::run::{Letter, Local};
use tepui_model::queue::state::State;

/// What is kept of the order of letters behind the prefix of a queue.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Order {
    /// Nothing.
    Bag,
    /// The order in which they occur first.
    List,
    /// The order in which they occur first and last.
    Ends,
}

/// How precisely the queues of machines of a kind are known.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Precision {
    /// How many letters at the head are kept as they are; all, if there is no number.
    pub prefix: Option<usize>,
    /// What is kept of the order of the others.
    pub order: Order,
    /// Up to which number they are counted; 0, if they are not.
    pub cap: u8,
}

/// What is known of a queue. Letters are numbers in the table of the certificate.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Queue {
    /// The letters at its head.
    pub prefix: Vec<u32>,
    /// For the others marks in their order: a letter, and whether this is its last occurrence and not its first.
    pub marks: Vec<(u32, bool)>,
    /// How often letters occur behind the prefix, in ascending order of the letters; at the cap, at least so often.
    pub counts: Vec<(u32, u8)>,
}

/// A proof: a set of rows that contains the first state and that no step leads out of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certificate {
    /// The program.
    pub program: Digest,
    /// The errors that do not happen.
    pub properties: Vec<String>,
    /// Whether a row also stands for those in which machines of a kind have changed places.
    pub symmetric: bool,
    /// Whether others wait in a row in which a machine can only take harmless steps.
    pub partial_order: bool,
    /// The functions, and the instructions there, with which numbers are chosen that are taken for atoms. Then a row also
    /// stands for those in which atoms have other numbers.
    pub atoms: Vec<(usize, usize)>,
    /// For each kind of machine how precisely its queues are known.
    pub precision: Vec<Precision>,
    /// The letters.
    pub letters: Vec<Letter>,
    /// States of machines, each with the kind of the machine.
    pub locals: Vec<(u32, Local)>,
    /// The queues.
    pub queues: Vec<Queue>,
    /// For each machine its state and its queue, then for each spec its state.
    pub rows: Vec<Box<[u32]>>,
    /// Rows whose states another row stands for, in which integers are names.
    pub named: Vec<(u32, u32)>,
}

impl Precision {
    /// The largest cap.
    pub const MOST_COUNTED: u8 = 200;
}

impl Certificate {
    /// The first line of the text form.
    pub const HEAD: &'static str = "tepui certificate of a program with queues 1";

    /// The first lines of all text forms.
    pub const HEADS: &'static [&'static str] = &[Self::HEAD];

    /// The program that it is about.
    pub fn model(&self) -> Digest {
        self.program
    }
}

/// The way to an error: who moves, and what is chosen on the way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// The program.
    pub program: Digest,
    /// The error.
    pub property: String,
    /// What specs choose before the first step.
    pub start: Vec<u32>,
    /// The steps.
    pub steps: Vec<Step>,
    /// Where the last steps lead in a circle, which is gone through for ever, if they do.
    pub circle: Option<Circle>,
}

/// The end of a trace that goes on for ever.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Circle {
    /// After how many steps it begins.
    pub after: usize,
    /// What is the same each time it begins: values that may differ are forgotten.
    pub state: State,
}

/// A step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The machine.
    pub machine: usize,
    /// What is chosen, by the machine and then by specs that hear of it.
    pub choices: Vec<u32>,
}

impl Trace {
    /// The first line of the text form.
    pub const HEAD: &'static str = "tepui trace of a program with queues 1";

    /// The first lines of all text forms.
    pub const HEADS: &'static [&'static str] = &[Self::HEAD];

    /// The program that takes the steps.
    pub fn model(&self) -> Digest {
        self.program
    }

    /// How many contexts there are: maximal runs of steps of the same machine.
    pub fn contexts(&self) -> u32 {
        crate::contexts(self.steps.iter().map(|step| step.machine))
    }
}

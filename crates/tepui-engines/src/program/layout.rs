//! Values of variables, packed into words.
//!
//! The shared variables are one row of words, and so is a frame: its first word says where it stands ([`Head`]), the others
//! hold the values of the local variables. A value takes as many bits as its variable has values, and lies within one
//! word. A variable that starts with any value has one code more, for as long as nobody has read or written it.

use tepui_model::program::{Goal, Kind, Program, Variable};

/// The most bits that the shared variables may take, or the local ones of a procedure.
pub const MOST_BITS: u64 = 4_096;

/// Where a value lies in a row of words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    word: u32,
    shift: u32,
    mask: u64,
    /// How many values there are.
    pub values: u32,
    /// The number that the code 0 stands for.
    pub low: i64,
    /// The code of a variable that has no value yet; none that occurs, if it always has one.
    pub unset: u64,
}

impl Field {
    /// The code that stands there: a value, or that there is none yet.
    #[inline]
    pub fn code(self, words: &[u64]) -> u64 {
        words[self.word as usize] >> self.shift & self.mask
    }

    /// Puts a code there.
    #[inline]
    pub fn put(self, words: &mut [u64], code: u64) {
        debug_assert!(code <= self.mask);
        let word = &mut words[self.word as usize];
        *word = *word & !(self.mask << self.shift) | code << self.shift;
    }

    /// The code of a number; none, if it is out of range.
    #[inline]
    pub fn code_of(self, number: i64) -> Option<u64> {
        let code = (number - self.low) as u64;
        (code < u64::from(self.values)).then_some(code)
    }

    /// Whether it may have no value yet.
    pub fn may_be_unset(self) -> bool {
        self.unset <= self.mask
    }

    /// The code of the value that stands there; none, if it has none yet.
    pub fn value(self, words: &[u64]) -> Option<u32> {
        let code = self.code(words);
        (code != self.unset).then_some(code as u32)
    }

    /// Adds its bits to a mask.
    pub fn mark(self, mask: &mut [u64]) {
        mask[self.word as usize] |= self.mask << self.shift;
    }
}

/// Where the values of some variables lie.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    /// For each variable.
    pub fields: Vec<Field>,
    /// How many words a row has.
    pub words: usize,
}

impl Layout {
    /// Of variables whose values follow some bits that are used otherwise; `open` says of each whether it may have no value
    /// yet. The error is how many bits they would take.
    pub fn new(
        program: &Program,
        used: u32,
        variables: &[Variable],
        open: impl Fn(usize) -> bool,
    ) -> Result<Self, u64> {
        let (mut bit, mut fields) = (u64::from(used), Vec::new());
        for (number, variable) in variables.iter().enumerate() {
            let values = program.values(variable.kind);
            let codes = u64::from(values) + u64::from(open(number));
            let width = u64::from(64 - (codes.max(2) - 1).leading_zeros());
            if bit / 64 != (bit + width - 1) / 64 {
                bit = bit.next_multiple_of(64);
            }
            let (word, shift) = ((bit / 64) as u32, (bit % 64) as u32);
            let unset = if open(number) { u64::from(values) } else { u64::MAX };
            let low = variable.kind.lowest();
            fields.push(Field { word, shift, mask: u64::MAX >> (64 - width), values, low, unset });
            bit += width;
        }
        match bit - u64::from(used) <= MOST_BITS {
            true => Ok(Self { fields, words: bit.div_ceil(64).max(1) as usize }),
            false => Err(bit - u64::from(used)),
        }
    }

    /// The bits of some variables, and those that are used otherwise.
    pub fn mask(&self, used: u32, numbers: impl Iterator<Item = usize>) -> Vec<u64> {
        let mut mask = vec![0; self.words];
        for (word, mask) in mask.iter_mut().enumerate() {
            let used = (used as usize).saturating_sub(word * 64).min(64);
            *mask = if used == 64 { u64::MAX } else { (1 << used) - 1 };
        }
        numbers.for_each(|number| self.fields[number].mark(&mut mask));
        mask
    }
}

/// How many bits the values of a kind take.
pub fn bits(program: &Program, kind: Kind) -> u32 {
    u32::BITS - (program.values(kind).max(2) - 1).leading_zeros()
}

/// The first word of a frame: where it stands, and what it does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Head(pub u64);

/// What a frame does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Stage {
    /// It is about to execute the statement at its position.
    Running,
    /// It sleeps on a condition, or without one.
    Asleep,
    /// It waits for a procedure, whose results go to the targets of the call at its position.
    Storing,
    /// It waits for a procedure whose results nobody wants, and goes on at its position.
    Waiting,
    /// An assertion has failed.
    Failed,
    /// A thread was to be started, and there was no place for it.
    Full,
    /// A value was to be stored that is out of range.
    OutOfRange,
    /// An index was outside of its array.
    OutOfArray,
}

const STAGES: [Stage; 8] = [
    Stage::Running,
    Stage::Asleep,
    Stage::Storing,
    Stage::Waiting,
    Stage::Failed,
    Stage::Full,
    Stage::OutOfRange,
    Stage::OutOfArray,
];

impl Stage {
    /// Whether it has failed, in whatever way.
    pub fn has_failed(self) -> bool {
        matches!(self, Self::Failed | Self::Full | Self::OutOfRange | Self::OutOfArray)
    }
}

impl Head {
    /// How many bits of a frame it takes.
    pub const BITS: u32 = 64;
    const POSITION: u64 = (1 << 26) - 1;
    const PROCEDURE: u32 = 26;
    const STAGE: u32 = 42;
    const ROOT: u64 = 1 << 45;
    const UNDER: u64 = 1 << 46;
    const INSISTS: u64 = 1 << 47;
    const CONDITION: u32 = 48;

    /// The most procedures that it can tell apart.
    pub const MOST_PROCEDURES: usize = 1 << 16;

    /// The most statements of a procedure.
    pub const MOST_STATEMENTS: usize = Self::POSITION as usize;

    /// A frame that runs.
    pub fn new(procedure: usize, position: usize) -> Self {
        Self((procedure as u64) << Self::PROCEDURE | position as u64)
    }

    /// The procedure.
    #[inline]
    pub fn procedure(self) -> usize {
        (self.0 >> Self::PROCEDURE) as u16 as usize
    }

    /// The position.
    #[inline]
    pub fn position(self) -> usize {
        (self.0 & Self::POSITION) as usize
    }

    /// What it does.
    #[inline]
    pub fn stage(self) -> Stage {
        STAGES[(self.0 >> Self::STAGE) as usize & 7]
    }

    /// How it has failed, if it has, other than for want of a place.
    pub fn failure(self) -> Option<Goal> {
        let (procedure, position) = (self.procedure(), self.position());
        match self.stage() {
            Stage::Failed => Some(Goal::Failure(procedure, position)),
            Stage::OutOfRange => Some(Goal::Range(procedure, position)),
            Stage::OutOfArray => Some(Goal::Index(procedure, position)),
            _ => None,
        }
    }

    /// Whether it is the first procedure of its thread.
    #[inline]
    pub fn is_root(self) -> bool {
        self.0 & Self::ROOT != 0
    }

    /// Whether it was called, by whatever detours, from an atomic block.
    #[inline]
    pub fn is_under(self) -> bool {
        self.0 & Self::UNDER != 0
    }

    /// Whether its thread is between `atomic_begin` and `atomic_end`. The topmost frame knows.
    #[inline]
    pub fn insists(self) -> bool {
        self.0 & Self::INSISTS != 0
    }

    /// The same at another position.
    #[inline]
    #[must_use]
    pub fn at(self, position: usize) -> Self {
        Self(self.0 & !Self::POSITION | position as u64)
    }

    /// The number of the condition that it sleeps on; 0, if there is none.
    pub fn condition(self) -> u32 {
        (self.0 >> Self::CONDITION) as u32
    }

    /// The same, asleep on a condition.
    #[must_use]
    pub fn asleep(self, condition: u32) -> Self {
        Self(self.in_stage(Stage::Asleep).0 & !(u64::MAX << Self::CONDITION) | u64::from(condition) << Self::CONDITION)
    }

    /// The same, awake.
    #[must_use]
    pub fn awake(self) -> Self {
        Self(self.in_stage(Stage::Running).0 & !(u64::MAX << Self::CONDITION))
    }

    /// The same in another stage.
    #[must_use]
    pub fn in_stage(self, stage: Stage) -> Self {
        Self(self.0 & !(7 << Self::STAGE) | (stage as u64) << Self::STAGE)
    }

    /// The same as the first procedure of a thread, or not.
    #[must_use]
    pub fn root(self, root: bool) -> Self {
        Self(if root { self.0 | Self::ROOT } else { self.0 & !Self::ROOT })
    }

    /// The same as one that was called from an atomic block, or not.
    #[must_use]
    pub fn under(self, under: bool) -> Self {
        Self(if under { self.0 | Self::UNDER } else { self.0 & !Self::UNDER })
    }

    /// The same in a thread that insists, or does not.
    #[must_use]
    pub fn insisting(self, insists: bool) -> Self {
        Self(if insists { self.0 | Self::INSISTS } else { self.0 & !Self::INSISTS })
    }
}

//! The numbers that sets give to their rows, told apart by what the rows are: states, views, or views that are owed; and
//! the numbers of threads and words.

use std::fmt::Debug;
use std::ops::Range;

/// The number of a row, or of something else of which there are many. They are numbered from 0 on, without gaps, so that
/// lists can be indexed by it.
pub trait Id: Copy + Ord + Debug + Send + Sync + 'static {
    /// The id with a number.
    fn new(number: u32) -> Self;

    /// Its number.
    fn number(self) -> u32;

    /// Its place in a list that has an item for each row.
    #[inline]
    fn index(self) -> usize {
        self.number() as usize
    }
}

macro_rules! ids {
    ($($(#[$about:meta])* $name:ident)*) => {$(
        $(#[$about])*
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub u32);

        impl Id for $name {
            #[inline]
            fn new(number: u32) -> Self {
                Self(number)
            }

            #[inline]
            fn number(self) -> u32 {
                self.0
            }
        }
    )*};
}

ids! {
    /// The number of a state.
    StateId
    /// The number of a view, at one level.
    ViewId
    /// The number of a view that is or was owed, among these.
    DebtId
    /// The number of a row of shared values.
    SharedId
    /// The number of a word that views show of a stack, among the words of one thread.
    WordId
}

impl StateId {
    /// The initial state, which is found first.
    pub(crate) const INITIAL: Self = Self(0);
}

/// The number of a thread, from 0 on; or of a place in a row, which has one for each thread. They differ where rows are
/// canonical: interchangeable threads change places, and only the path to a row tells which thread is at which place.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ThreadId(pub u16);

impl ThreadId {
    /// The thread at a place in a list of all threads.
    #[inline]
    pub fn new(index: usize) -> Self {
        Self(u16::try_from(index).expect("models have at most 65535 threads"))
    }

    /// Its place in a list of all threads.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Which number of a row is its own: the first one belongs to all.
    #[inline]
    pub fn field(self) -> usize {
        self.index() + 1
    }
}

/// Some threads, in the order of their numbers.
#[derive(Clone, Debug)]
pub struct Threads(Range<u16>);

impl Threads {
    /// All of so many threads.
    #[inline]
    pub fn all(count: usize) -> Self {
        Self(0..ThreadId::new(count).0)
    }

    /// The threads of a row that has one number for each, and one that belongs to all.
    #[inline]
    pub fn of(row: &[u32]) -> Self {
        Self::all(row.len() - 1)
    }

    /// One thread.
    #[inline]
    pub fn one(thread: ThreadId) -> Self {
        Self(thread.0..thread.0 + 1)
    }
}

impl Iterator for Threads {
    type Item = ThreadId;

    #[inline]
    fn next(&mut self) -> Option<ThreadId> {
        self.0.next().map(ThreadId)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

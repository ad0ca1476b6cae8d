//! The numbers that sets give to their rows, told apart by what the rows are: states, views, or views that are owed; and
//! the numbers of words, which are cells of views.

use std::fmt::Debug;

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
    /// The number of a word that views show of a stack, among the words of one thread.
    WordId
}

impl StateId {
    /// The initial state, which is found first.
    pub(crate) const INITIAL: Self = Self(0);
}

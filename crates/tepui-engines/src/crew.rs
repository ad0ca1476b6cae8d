//! The threads that share one exploration.
//!
//! Work is cut into pieces whose number and order depend on the model alone; whoever takes a piece, the results are
//! put together in the order of the pieces. So the number of threads changes nothing but the time.

use rayon::iter::{IndexedParallelIterator as _, IntoParallelIterator as _, ParallelIterator as _};

/// How many threads work, and how work is cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cores {
    /// The number of threads.
    pub threads: usize,
    /// The number of states that are one piece of work. Less is not shared.
    pub grain: usize,
}

impl Cores {
    /// So many threads, and pieces that are worth the trouble.
    pub fn new(threads: usize) -> Self {
        Self { threads, grain: 1 << 9 }
    }
}

/// One or more threads.
#[derive(Debug)]
pub struct Crew {
    pool: Option<rayon::ThreadPool>,
    grain: usize,
}

impl Crew {
    /// A crew of so many threads. Where the system refuses to start them, the caller works alone.
    pub fn of(Cores { threads, grain }: Cores) -> Self {
        let pool = (threads > 1).then(|| rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok());
        Self { pool: pool.flatten(), grain: grain.max(1) }
    }

    /// The number of states that are one piece of work.
    pub fn grain(&self) -> usize {
        self.grain
    }

    /// Whether work on so many states is shared.
    pub fn shares(&self, states: usize) -> bool {
        self.size() > 1 && states > self.grain
    }

    /// How many threads work.
    pub fn size(&self) -> usize {
        self.pool.as_ref().map_or(1, rayon::ThreadPool::current_num_threads)
    }

    /// Handles pieces of work; the results are in the order of the pieces.
    pub fn map<T: Send, R: Send>(&self, pieces: Vec<T>, handle: impl Fn(T) -> R + Sync) -> Vec<R> {
        match &self.pool {
            Some(pool) if pieces.len() > 1 => {
                pool.install(|| pieces.into_par_iter().with_max_len(1).map(&handle).collect())
            }
            _ => pieces.into_iter().map(handle).collect(),
        }
    }

    /// Sorts numbers.
    pub fn sort<T: Ord + Send>(&self, items: &mut [T]) {
        const WORTH_SHARING: usize = 1 << 14;
        match &self.pool {
            Some(pool) if items.len() > WORTH_SHARING => {
                pool.install(|| rayon::slice::ParallelSliceMut::par_sort_unstable(items));
            }
            _ => items.sort_unstable(),
        }
    }
}

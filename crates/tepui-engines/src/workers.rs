//! The threads that share one exploration.
//!
//! Work is cut into chunks whose number and order depend on the model alone; whoever takes a chunk, the results are
//! put together in the order of the chunks. So the number of threads changes nothing but the time.

use tepui_cert::Trace;
use tepui_core::{Bound, Budget, Decorator, Engine, Evidence, Round, Stop};

use rayon::iter::{IndexedParallelIterator as _, IntoParallelIterator as _, ParallelIterator as _};

/// How many threads work, and how work is cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cores {
    /// The number of threads.
    pub threads: usize,
    /// The number of states that are one chunk of work. Less is not shared.
    pub chunk: usize,
}

impl Cores {
    /// So many threads, and chunks that are worth the trouble.
    pub fn new(threads: usize) -> Self {
        Self { threads, chunk: 1 << 9 }
    }
}

/// An engine whose workers have threads of their own.
pub struct Pooled<E> {
    engine: E,
    pool: Option<rayon::ThreadPool>,
}

impl<E: Engine> Pooled<E> {
    /// An engine that works on these cores. Where the system refuses to start threads, it works alone.
    pub fn new(engine: E, cores: Cores) -> Self {
        let build = || rayon::ThreadPoolBuilder::new().num_threads(cores.threads).build().ok();
        Self { engine, pool: if cores.threads > 1 { build() } else { None } }
    }

    fn run<R: Send>(&mut self, job: impl FnOnce(&mut E) -> R + Send) -> R {
        let Self { engine, pool } = self;
        match pool {
            Some(pool) => pool.install(|| job(engine)),
            None => job(engine),
        }
    }
}

impl<E: Engine> Decorator for Pooled<E> {
    fn inner(&self) -> &dyn Engine {
        &self.engine
    }

    fn inner_mut(&mut self) -> &mut dyn Engine {
        &mut self.engine
    }

    fn explore(&mut self, budget: &mut Budget) -> Result<Round, Stop> {
        self.run(|engine| engine.explore(budget))
    }

    fn converged(&mut self, budget: &mut Budget) -> Result<Option<Evidence>, Stop> {
        self.run(|engine| engine.converged(budget))
    }

    fn proved(&mut self, budget: &mut Budget) -> Result<Option<(Vec<usize>, Evidence)>, Stop> {
        self.run(|engine| engine.proved(budget))
    }

    fn trace(&mut self, property: usize, budget: &mut Budget) -> Result<(Trace, Option<Bound>), Stop> {
        self.run(|engine| engine.trace(property, budget))
    }
}

/// The threads that share an exploration, the calling one included.
#[derive(Debug)]
pub struct Workers {
    threads: usize,
    chunk: usize,
}

impl Workers {
    /// Workers for a job that runs on these cores.
    pub fn of(Cores { threads, chunk }: Cores) -> Self {
        Self { threads: threads.max(1), chunk: chunk.max(1) }
    }

    /// The number of states that are one chunk of work.
    pub fn chunk(&self) -> usize {
        self.chunk
    }

    /// Whether work on so many states is shared.
    pub fn shares(&self, states: usize) -> bool {
        self.threads > 1 && states > self.chunk
    }

    /// How many threads work.
    pub fn size(&self) -> usize {
        self.threads
    }

    /// Handles chunks of work; the results are in the order of the chunks.
    pub fn map<T: Send, R: Send>(&self, chunks: Vec<T>, handle: impl Fn(T) -> R + Sync) -> Vec<R> {
        match self.threads > 1 && chunks.len() > 1 {
            true => chunks.into_par_iter().with_max_len(1).map(&handle).collect(),
            false => chunks.into_iter().map(handle).collect(),
        }
    }

    /// Cuts a list into chunks of work and handles them.
    pub fn cut<T: Sync, R: Send>(&self, list: &[T], handle: impl Fn(&[T]) -> R + Sync) -> Vec<R> {
        self.map(list.chunks(self.chunk).collect(), handle)
    }

    /// The items of a list for which a condition holds.
    pub fn filter<T: Copy + Send + Sync>(&self, list: &[T], wanted: impl Fn(&T) -> bool + Sync) -> Vec<T> {
        self.cut(list, |chunk| chunk.iter().copied().filter(&wanted).collect::<Vec<_>>()).concat()
    }

    /// Puts lists together in the order of their keys, without items that are the same as the one before.
    pub fn sorted<T: Copy + Send + Sync>(
        &self,
        lists: Vec<Vec<T>>,
        key: impl Fn(&T) -> u64 + Sync,
        same: impl Fn(&T, &T) -> bool + Sync,
    ) -> Vec<T> {
        let mut parts = self.sorted_parts(lists, key, same);
        if parts.len() == 1 { parts.swap_remove(0) } else { parts.concat() }
    }

    /// The same in parts. Long lists are first cut into ranges of keys, so that several threads can sort them, and within
    /// the caches.
    fn sorted_parts<T: Copy + Send + Sync>(
        &self,
        mut lists: Vec<Vec<T>>,
        key: impl Fn(&T) -> u64 + Sync,
        same: impl Fn(&T, &T) -> bool + Sync,
    ) -> Vec<Vec<T>> {
        let worth_cutting = 16 * self.chunk;
        const RANGES: usize = 16;
        const SAMPLES: usize = 64 * RANGES;
        let sort = |mut items: Vec<T>| {
            radsort::sort_by_key(&mut items, |item| key(item));
            items.dedup_by(|one, other| same(one, other));
            items
        };
        let count: usize = lists.iter().map(Vec::len).sum();
        if count <= worth_cutting {
            return vec![sort(if lists.len() == 1 { lists.swap_remove(0) } else { lists.concat() })];
        }
        let mut samples: Vec<_> = lists.iter().flatten().step_by(count / SAMPLES + 1).map(&key).collect();
        samples.sort_unstable();
        let ends: [_; RANGES - 1] = std::array::from_fn(|range| samples[(range + 1) * samples.len() / RANGES]);
        let chunks = lists.iter().flat_map(|list| list.chunks(worth_cutting)).collect();
        let chunks = self.map(chunks, |chunk: &[T]| {
            let mut ranges: [_; RANGES] = std::array::from_fn(|_| Vec::with_capacity(chunk.len() / RANGES * 2));
            for item in chunk {
                let key = key(item);
                ranges[ends.partition_point(|&end| end <= key)].push(*item);
            }
            ranges
        });
        drop(lists);
        let mut ranges: [_; RANGES] = std::array::from_fn(|_| Vec::with_capacity(chunks.len()));
        for chunk in chunks {
            ranges.iter_mut().zip(chunk).for_each(|(range, part)| range.push(part));
        }
        let mut parts = self.map(ranges.into(), |range: Vec<Vec<T>>| sort(range.concat()));
        let mut last = None;
        for part in &mut parts {
            let known = last.map_or(0, |last| part.iter().take_while(|item| same(item, &last)).count());
            part.drain(..known);
            last = part.last().copied().or(last);
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_like_anyone_else() {
        let mut random = fastrand::Rng::with_seed(9);
        for count in [0, 1, 100, 8_193, 60_000] {
            for most in [1, 7, 5_000, u32::MAX] {
                let mut lists: Vec<Vec<(u32, u16)>> = vec![Vec::new(); 5];
                for _ in 0..count {
                    lists[random.usize(..5)].push((random.u32(..most), random.u16(..9)));
                }
                let mut expected = lists.concat();
                expected.sort_unstable();
                expected.dedup_by_key(|item| item.0);
                for threads in [1, 2, 3] {
                    let key = |&(number, rest): &(u32, u16)| u64::from(number) << 16 | u64::from(rest);
                    let workers = Workers::of(Cores::new(threads));
                    assert_eq!(workers.sorted(lists.clone(), key, |one, other| one.0 == other.0), expected);
                }
            }
        }
    }
}

//! How many tasks of which kind may have been posted at an item.
//!
//! The ways in which items are reached are a grammar: an item is made of the item before it, of what the step posts, and, after
//! a call, of the item by which the called entry is left. Its words are what is posted. Only how often a letter occurs matters, and
//! only up to fewer: such sets are finite unions of vectors with *any number* in some places. They are computed for one strongly connected
//! component after the other, those first that others are made of:
//!
//! * a component without a loop: the sums of its parts, for each way;
//! * one in which a way has two parts in the component: any number of every letter that it can make;
//! * any other: in a way that stays inside, what stands beside the part in the component can be repeated, so there can be any
//!   number of its letters. To these comes what leaves the component.

use std::sync::Arc;

use tepui_cert::program::{ANY, Pending};
use tepui_core::{Budget, Stop};

use super::runs::{How, Ledger, Runs};
use crate::components::components;

/// What may have been posted: vectors of which none is within another.
pub(super) type Vectors = Arc<[Pending]>;

/// Adds how many there are of each.
pub(super) fn plus(one: &[(u32, u32)], other: &[(u32, u32)]) -> Pending {
    let mut sum = Pending::with_capacity(one.len() + other.len());
    let (mut left, mut right) = (one.iter().copied().peekable(), other.iter().copied().peekable());
    loop {
        match (left.peek().copied(), right.peek().copied()) {
            (Some(one), Some(other)) if one.0 == other.0 => {
                sum.push((one.0, one.1.saturating_add(other.1)));
                left.next();
                right.next();
            }
            (Some(one), other) if other.is_none_or(|other| one.0 < other.0) => {
                sum.push(one);
                left.next();
            }
            (_, Some(other)) => {
                sum.push(other);
                right.next();
            }
            (_, None) => return sum,
        }
    }
}

/// Whether there are not more of any.
pub(super) fn is_within(one: &[(u32, u32)], other: &[(u32, u32)]) -> bool {
    let mut rest = other.iter();
    one.len() <= other.len()
        && one.iter().all(|own| rest.find(|all| all.0 >= own.0).is_some_and(|all| all.0 == own.0 && all.1 >= own.1))
}

/// How many there are of each.
pub(super) fn counted(tasks: &[u32]) -> Pending {
    let mut tasks = tasks.to_vec();
    tasks.sort_unstable();
    tasks.chunk_by(|one, other| one == other).map(|same| (same[0], same.len() as u32)).collect()
}

/// Adds a vector to some of which none is within another.
pub(super) fn insert(vectors: &mut Vec<Pending>, vector: Pending) {
    if !vectors.iter().any(|known| is_within(&vector, known)) {
        vectors.retain(|known| !is_within(known, &vector));
        vectors.push(vector);
    }
}

/// What may have been posted at each item.
#[derive(Default)]
pub(super) struct Posts {
    vectors: Vec<Vectors>,
    /// How many ways have been looked at.
    looked: usize,
}

/// A way in which an item is reached: the items that it is made of, and what is posted besides.
struct Way {
    parts: [Option<usize>; 2],
    posted: Pending,
}

impl Posts {
    /// What may have been posted at an item.
    pub(super) fn at(&self, item: u32) -> &Vectors {
        &self.vectors[item as usize]
    }

    /// Looks at items that are new. All runs that lead to them are known.
    pub(super) fn extend<L: Ledger>(&mut self, runs: &Runs<L>, budget: &mut Budget) -> Result<(), Stop> {
        let (first, all) = (self.vectors.len(), runs.items.len());
        let mut ways: Vec<Vec<Way>> = (first..all).map(|_| Vec::new()).collect();
        let listed = runs.ways.as_deref().unwrap_or_default();
        for (item, how) in &listed[self.looked..] {
            let (parts, posted) = match how {
                How::Start => ([None, None], Pending::new()),
                How::Step { from, posted } => ([Some(*from as usize), None], counted(posted)),
                How::Call { from, exit, .. } => ([Some(*from as usize), Some(*exit as usize)], Pending::new()),
            };
            ways[*item as usize - first].push(Way { parts, posted });
        }
        self.looked = listed.len();
        self.solve(&ways, budget)
    }

    /// Finds the vectors of new items, given the ways in which each is reached.
    fn solve(&mut self, ways: &[Vec<Way>], budget: &mut Budget) -> Result<(), Stop> {
        let first = self.vectors.len();
        let new = |part: &Option<usize>| part.and_then(|part| part.checked_sub(first));
        let edges: Vec<Vec<usize>> =
            ways.iter().map(|ways| ways.iter().flat_map(|way| way.parts.iter().filter_map(new)).collect()).collect();
        let component = components(&edges);
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); component.iter().max().map_or(0, |last| last + 1)];
        component.iter().enumerate().for_each(|(item, &own)| members[own].push(item));
        self.vectors.resize(first + ways.len(), Vec::new().into());
        for members in members {
            let loops = members.len() > 1 || members.iter().any(|&item| edges[item].contains(&item));
            let inside = |part: &Option<usize>| new(part).is_some_and(|part| component[part] == component[members[0]]);
            let own: Vec<_> = members.iter().flat_map(|&item| &ways[item]).collect();
            let vectors = if loops { self.repeated(&own, &inside, budget)? } else { self.sums(&own, budget)? };
            let vectors: Vectors = vectors.into();
            members.iter().for_each(|&item| self.vectors[first + item] = Arc::clone(&vectors));
        }
        Ok(())
    }

    /// The sums of the parts, for each of some ways.
    fn sums(&self, ways: &[&Way], budget: &mut Budget) -> Result<Vec<Pending>, Stop> {
        let mut found = Vec::new();
        for way in ways {
            let mut sums = vec![way.posted.clone()];
            for part in way.parts.iter().flatten() {
                let mut longer = Vec::new();
                for (one, other) in sums.iter().flat_map(|sum| self.vectors[*part].iter().map(move |own| (sum, own))) {
                    insert(&mut longer, plus(one, other));
                    budget.spend(1 + longer.len() as u64 / 16)?;
                }
                sums = longer;
            }
            sums.into_iter().for_each(|sum| insert(&mut found, sum));
        }
        Ok(found)
    }

    /// What a component with a loop makes.
    fn repeated(
        &self,
        ways: &[&Way],
        inside: &dyn Fn(&Option<usize>) -> bool,
        budget: &mut Budget,
    ) -> Result<Vec<Pending>, Stop> {
        let letters = |way: &Way, of: &dyn Fn(&Option<usize>) -> bool| -> Vec<u32> {
            let parts = way.parts.iter().filter(|part| of(part)).flatten();
            let made = parts.flat_map(|part| self.vectors[*part].iter().flatten());
            made.chain(&way.posted).map(|letter| letter.0).collect()
        };
        let many = |mut letters: Vec<u32>| -> Pending {
            letters.sort_unstable();
            letters.dedup();
            letters.into_iter().map(|letter| (letter, ANY)).collect()
        };
        let outside = |part: &Option<usize>| !inside(part);
        let within = |way: &Way| way.parts.iter().filter(|part| inside(part)).count();
        if ways.iter().any(|way| within(way) > 1) {
            return Ok(vec![many(ways.iter().flat_map(|way| letters(way, &outside)).collect())]);
        }
        let stays = |way: &&&Way| within(way) == 1;
        let often = many(ways.iter().filter(stays).flat_map(|way| letters(way, &outside)).collect());
        let leaves: Vec<_> = ways.iter().filter(|way| within(way) == 0).copied().collect();
        let mut found = Vec::new();
        self.sums(&leaves, budget)?.iter().for_each(|sum| insert(&mut found, plus(sum, &often)));
        Ok(found)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    const LETTERS: usize = 2;

    /// Counts from here on are taken for any number: no grammar below makes so many otherwise.
    const MANY: u32 = 32;

    /// A grammar in which each item can be made: its first way has only parts that come before it.
    fn grammar(rng: &mut fastrand::Rng) -> Vec<Vec<Way>> {
        let items = rng.usize(1..=4);
        let mut way = |below: usize| {
            let mut part = || (below > 0 && rng.u8(..3) > 0).then(|| rng.usize(..below));
            let parts = [part(), part()];
            let posted: Vec<u32> = (0..rng.u8(..3)).map(|_| rng.u32(..LETTERS as u32)).collect();
            Way { parts, posted: counted(&posted) }
        };
        let mut ways: Vec<Vec<Way>> = (0..items).map(|item| vec![way(item)]).collect();
        for _ in 0..items {
            let new = way(items);
            let item = new.posted.len() + new.parts.iter().flatten().sum::<usize>();
            ways[item % items].push(new);
        }
        ways
    }

    /// The greatest vectors, counted up to many, until nothing changes.
    fn fixed_point(ways: &[Vec<Way>]) -> Vec<Vec<[u32; LETTERS]>> {
        let mut made: Vec<Vec<[u32; LETTERS]>> = vec![Vec::new(); ways.len()];
        loop {
            let mut grown = false;
            for (item, way) in ways.iter().enumerate().flat_map(|(item, ways)| ways.iter().map(move |way| (item, way)))
            {
                let nothing = vec![[0; LETTERS]];
                let [left, right] =
                    way.parts.map(|part| part.map_or_else(|| nothing.clone(), |part| made[part].clone()));
                for (one, other) in left.iter().flat_map(|one| right.iter().map(move |other| (one, other))) {
                    let mut sum: [u32; LETTERS] = std::array::from_fn(|letter| one[letter] + other[letter]);
                    way.posted.iter().for_each(|(letter, count)| sum[*letter as usize] += count);
                    let sum = sum.map(|count| count.min(MANY));
                    let within =
                        |one: &[u32; LETTERS], other: &[u32; LETTERS]| (0..LETTERS).all(|own| one[own] <= other[own]);
                    if !made[item].iter().any(|known| within(&sum, known)) {
                        made[item].retain(|known| !within(known, &sum));
                        made[item].push(sum);
                        grown = true;
                    }
                }
            }
            if !grown {
                return made;
            }
        }
    }

    #[test]
    fn vectors_are_those_of_a_fixed_point() {
        let mut unbounded = 0;
        for seed in 0..20_000 {
            let ways = grammar(&mut fastrand::Rng::with_seed(seed));
            let mut posts = Posts::default();
            posts.solve(&ways, &mut Budget::unlimited()).unwrap();
            for (item, expected) in fixed_point(&ways).into_iter().enumerate() {
                let vector = |counts: [u32; LETTERS]| -> Pending {
                    let any = |count| if count == MANY { ANY } else { count };
                    (0..)
                        .zip(counts)
                        .filter(|(_, count)| *count > 0)
                        .map(|(letter, count)| (letter, any(count)))
                        .collect()
                };
                let mut expected: Vec<_> = expected.into_iter().map(vector).collect();
                let mut found = posts.vectors[item].to_vec();
                expected.sort();
                found.sort();
                unbounded += usize::from(found.iter().flatten().any(|(_, count)| *count == ANY));
                assert_eq!(found, expected, "seed {seed}, item {item}");
            }
        }
        assert!(unbounded > 10_000, "{unbounded}");
    }
}

//! Random systems of a few places.

use fastrand::Rng;
use tepui_model::counters::{Bag, Count, Net, Pattern, Property, Step};
use tepui_model::pushdown::Names;

/// What a random system may have.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) transfers: bool,
    pub(crate) guards: bool,
    pub(crate) meetings: bool,
}

/// A system with up to three shared states and up to four places.
pub(crate) fn net(rng: &mut Rng, shape: Shape) -> Net {
    let (shared, places) = (rng.u32(1..=3), rng.u32(2..=4));
    let count = |rng: &mut Rng| match rng.u32(0..6) {
        0 | 1 => Count { least: 1, or_more: false },
        2 => Count { least: rng.u32(0..=1), or_more: true },
        3 => Count { least: 2, or_more: false },
        _ => Count::default(),
    };
    let mut counts: Vec<_> = (0..places).map(|_| count(rng)).collect();
    counts[0].least = counts[0].least.max(1);
    let steps = (0..rng.usize(2..=8)).map(|number| step(rng, shape, shared, places, number)).collect();
    let never = (0..rng.usize(1..=2)).map(|_| Pattern { shared: rng.u32(0..shared), counts: bag(rng, places, 1, 3) });
    let properties = vec![Property { name: "target".to_owned(), never: never.collect() }];
    let (shared, places) = (Names::Numbers(shared), Names::Numbers(places));
    Net { shared, places, start: 0, counts, steps, properties }
}

fn step(rng: &mut Rng, shape: Shape, shared: u32, places: u32, number: usize) -> Step {
    let taken = if shape.meetings { bag(rng, places, 0, 2) } else { bag(rng, places, 1, 1) };
    let put = match rng.u32(0..6) {
        0 => bag(rng, places, 2, 2),
        1 => Vec::new(),
        _ => bag(rng, places, 1, 1),
    };
    let mut moves = Vec::new();
    if shape.transfers && rng.u32(0..3) == 0 {
        let mut from: Vec<u32> = (0..rng.u32(1..=2)).map(|_| rng.u32(0..places)).collect();
        from.sort_unstable();
        from.dedup();
        moves = from.into_iter().map(|from| (from, (rng.u32(0..6) > 0).then(|| rng.u32(0..places)))).collect();
    }
    let others = (shape.guards && rng.u32(0..3) == 0).then(|| (0..places).filter(|_| rng.bool()).collect());
    Step { from: rng.u32(0..shared), to: rng.u32(0..shared), taken, put, moves, others, line: number as u32 + 1 }
}

fn bag(rng: &mut Rng, places: u32, least: u32, most: u32) -> Bag {
    let mut bag: Bag = Vec::new();
    for _ in 0..rng.u32(least..=most) {
        let place = rng.u32(0..places);
        match bag.iter_mut().find(|(own, _)| *own == place) {
            Some((_, count)) => *count += 1,
            None => bag.push((place, 1)),
        }
    }
    bag.sort_unstable();
    bag
}

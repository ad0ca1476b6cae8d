//! Forwards, with places that hold any number of threads.
//!
//! Where a place may hold any number at the start, it does; and if steps lead from a state to a larger one, they can be repeated,
//! and what has grown holds any number. States below one that is known are dropped. That nothing is found proves nothing: what
//! is dropped and what grows can hide each other. What is found is followed back: how many threads are needed where, and how
//! often each circle must be gone through. A trace is believed when it replays.
//!
//! Steps that move everybody, or that ask where all others are, do not do the same again in a larger state. Circles with such
//! steps are not repeated.

use std::collections::VecDeque;

use tepui_core::{Budget, Stop};
use tepui_model::counters::{Bag, Net, State, Step};

use super::{bag, steps_by_shared};

/// Any number.
const ANY: u32 = u32::MAX;

/// The longest way that is looked for.
const LONGEST: usize = 200_000;

struct Node {
    shared: u32,
    counts: Bag,
    /// The node before and the step.
    from: Option<(usize, usize)>,
    /// The places that came to hold any number here: how many there were before, and the node from which a circle leads here.
    grown: Vec<(u32, u32, usize)>,
    /// Whether nothing that is known is larger.
    greatest: bool,
}

/// Which state is followed next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// The oldest: ways are short.
    OldestFirst,
    /// The newest: circles are closed soon, and ways are long.
    NewestFirst,
}

/// The search.
pub(super) struct Forward {
    nodes: Vec<Node>,
    open: VecDeque<usize>,
    order: Order,
    by_shared: Vec<Vec<usize>>,
    steps: Vec<Vec<usize>>,
}

impl Forward {
    pub(super) fn new(net: &Net, order: Order) -> Self {
        let [steps, _] = steps_by_shared(net);
        let by_shared = vec![Vec::new(); net.shared.count() as usize];
        let count = |count: &tepui_model::counters::Count| if count.or_more { ANY } else { count.least };
        let counts = (0..).zip(net.counts.iter().map(count)).filter(|(_, count)| *count > 0).collect();
        let mut search = Self { nodes: Vec::new(), open: VecDeque::new(), order, by_shared, steps };
        search.add(Node { shared: net.start, counts, from: None, grown: Vec::new(), greatest: true });
        search
    }

    /// How many states there are.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Goes on until there are so many states, or none is left to be followed.
    pub(super) fn run(&mut self, net: &Net, most: usize, budget: &mut Budget) -> Result<(), Stop> {
        while self.nodes.len() < most {
            let next = match self.order {
                Order::OldestFirst => self.open.pop_front(),
                Order::NewestFirst => self.open.pop_back(),
            };
            let Some(number) = next else { return Ok(()) };
            if !self.nodes[number].greatest {
                continue;
            }
            for at in 0..self.steps[self.nodes[number].shared as usize].len() {
                let step = self.steps[self.nodes[number].shared as usize][at];
                budget.spend(1)?;
                let Some(counts) = after(&self.nodes[number].counts, &net.steps[step]) else { continue };
                let shared = net.steps[step].to;
                let mut node = Node { shared, counts, from: Some((number, step)), grown: Vec::new(), greatest: true };
                self.grow(net, &mut node);
                if !self.is_known(&node) {
                    self.add(node);
                }
            }
        }
        Ok(())
    }

    /// A way to something that is forbidden, if it is known: a start and steps.
    pub(super) fn way_to(&self, net: &Net, property: usize) -> Option<(State, Vec<usize>)> {
        for pattern in &net.properties[property].never {
            let covers = |number: &&usize| bag::is_below(&pattern.counts, &self.nodes[**number].counts);
            let found = self.by_shared[pattern.shared as usize].iter().find(covers);
            if let Some(way) = found.and_then(|number| self.way(net, *number, &pattern.counts)) {
                return Some(way);
            }
        }
        None
    }

    fn add(&mut self, node: Node) {
        let number = self.nodes.len();
        for &other in &self.by_shared[node.shared as usize] {
            let other = &mut self.nodes[other];
            other.greatest &= !bag::is_below(&other.counts, &node.counts);
        }
        self.by_shared[node.shared as usize].push(number);
        self.nodes.push(node);
        self.open.push_back(number);
    }

    fn is_known(&self, node: &Node) -> bool {
        let known = self.by_shared[node.shared as usize].iter().map(|number| &self.nodes[*number]);
        known.filter(|known| known.greatest).any(|known| bag::is_below(&node.counts, &known.counts))
    }

    /// Lets places hold any number that hold more than in a state before.
    fn grow(&self, net: &Net, node: &mut Node) {
        let mut next = node.from;
        while let Some((number, step)) = next {
            if !repeats(&net.steps[step]) {
                return;
            }
            let before = &self.nodes[number];
            next = before.from;
            if before.shared == node.shared && bag::is_below(&before.counts, &node.counts) {
                for (place, count) in &mut node.counts {
                    if *count != ANY && *count > bag::count(&before.counts, *place) {
                        node.grown.push((*place, *count, number));
                        *count = ANY;
                    }
                }
            }
        }
    }

    /// Goes back from a node that holds what is wanted, with what is needed for that.
    fn way(&self, net: &Net, number: usize, wanted: &Bag) -> Option<(State, Vec<usize>)> {
        let (mut needs, mut steps) = (wanted.clone(), Vec::new());
        self.back(net, number, None, &mut needs, &mut steps)?;
        let mut start = net.least();
        for &(place, count) in &needs {
            let own = &mut start.counts[place as usize];
            *own = (*own).max(u64::from(count));
        }
        steps.reverse();
        Some((start, steps))
    }

    /// Goes back from a node to one before it, or to the start. Where more is needed than there was before a place grew, the
    /// circle is gone through once more.
    fn back(
        &self,
        net: &Net,
        mut number: usize,
        end: Option<usize>,
        needs: &mut Bag,
        steps: &mut Vec<usize>,
    ) -> Option<()> {
        while Some(number) != end {
            let node = &self.nodes[number];
            let lacks = |&&(place, before, _): &&(u32, u32, usize)| bag::count(needs, place) > before;
            if let Some(&(_, _, circle)) = node.grown.iter().find(lacks).filter(|_| steps.len() < LONGEST) {
                self.one_back(net, number, needs, steps)?;
                self.back(net, node.from?.0, Some(circle), needs, steps)?;
                continue;
            }
            if node.from.is_none() {
                return Some(());
            }
            self.one_back(net, number, needs, steps)?;
            number = node.from?.0;
        }
        (steps.len() < LONGEST).then_some(())
    }

    /// Goes one step back from a node.
    fn one_back(&self, net: &Net, number: usize, needs: &mut Bag, steps: &mut Vec<usize>) -> Option<()> {
        let step = self.nodes[number].from?.1;
        steps.push(step);
        *needs = bag::before(&net.steps[step], needs)?.into_iter().next()?.counts;
        Some(())
    }
}

/// Whether a step does the same again where there are more threads.
fn repeats(step: &Step) -> bool {
    step.moves.is_empty() && step.others.is_none()
}

/// What is there after a step.
fn after(counts: &Bag, step: &Step) -> Option<Bag> {
    let mut parts = Vec::with_capacity(counts.len() + step.put.len());
    if !bag::is_below(&step.taken, counts) {
        return None;
    }
    for &(place, count) in counts {
        let left = if count == ANY { ANY } else { count - bag::count(&step.taken, place) };
        if left > 0 {
            if !step.allows(place) {
                return None;
            }
            parts.extend(step.goes(place).map(|to| (to, left)));
        }
    }
    parts.extend(step.put.iter().copied());
    Some(bag::collect(parts))
}

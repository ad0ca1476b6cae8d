//! Rows that also stand for those in which machines of a kind have changed places.
//!
//! Nobody can tell machines apart by their numbers, which is asked of the program first. So a row with renamed machines leads
//! to the same rows, renamed. Two rows are the same up to that if they have the same *form*: the least of all rows that
//! renamings lead to, where the machines of a kind stand in the order of what is known of them without references. A form is
//! one of the rows that it stands for, so rows of the same form are renamings of each other, whatever the order is.
//!
//! A machine that takes nothing, for ever, does not answer to anybody: two of its states are the same if it tells specs the
//! same and sends the same to the same machines in both, in as many ways, and goes on to states that are the same.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::hash::Hash;

use rustc_hash::FxHashMap;
use tepui_cert::queue::{Certificate, Queue};
use tepui_model::queue::Program;
use tepui_model::queue::evaluate::Error;
use tepui_model::queue::rename::Renaming;
use tepui_model::queue::run::{Choices, Effect, Letter, Local, Waiting};

/// The most renamings of one row.
const MOST_RENAMINGS: usize = 120;

/// The most states that are looked at to tell two apart.
const MOST_STATES: usize = 1_000;

/// The most ways in which a machine may go on in one of them.
const MOST_WAYS: usize = 1_000;

/// Rows up to renaming.
pub(super) struct Orbits<'c> {
    program: &'c Program,
    numbers: RefCell<Numbers>,
    forms: FxHashMap<Box<[u32]>, u32>,
}

/// Things with numbers, and what is known of them. Those of the certificate come first.
struct Numbers {
    locals: Table<(u32, Local)>,
    letters: Table<Letter>,
    queues: Table<Queue>,
    /// Renamings, and for each the numbers with renamed machines.
    renamings: Table<Vec<u32>>,
    renamed: Vec<[Vec<u32>; 3]>,
    /// For a place, a state without references and a first step those states that are told apart there.
    apart: FxHashMap<(u32, u32, FirstStep), Vec<u32>>,
    /// For each place the states that are the same.
    same: Vec<Vec<u32>>,
}

/// Not worked out yet.
const OPEN: u32 = u32::MAX;

fn slot(list: &mut Vec<u32>, number: u32) -> &mut u32 {
    if list.len() <= number as usize {
        list.resize(number as usize + 1, OPEN);
    }
    &mut list[number as usize]
}

/// A state of a machine, a letter or a queue, by its number.
#[derive(Clone, Copy)]
enum Part {
    Local(u32),
    Letter(u32),
    Queue(u32),
}

impl Part {
    fn place(self) -> (usize, u32) {
        match self {
            Self::Local(number) => (0, number),
            Self::Letter(number) => (1, number),
            Self::Queue(number) => (2, number),
        }
    }
}

struct Table<T> {
    items: Vec<T>,
    numbers: FxHashMap<T, u32>,
}

impl<T: Clone + Eq + Hash> Table<T> {
    fn of(items: &[T]) -> Self {
        Self { items: items.to_vec(), numbers: items.iter().cloned().zip(0..).collect() }
    }

    fn number(&mut self, item: T) -> u32 {
        let Self { items, numbers } = self;
        *numbers.entry(item).or_insert_with_key(|item| {
            items.push(item.clone());
            items.len() as u32 - 1
        })
    }
}

impl Numbers {
    fn renaming(&mut self, to: &[u32]) -> u32 {
        let known = self.renamings.numbers.get(to).copied();
        known.unwrap_or_else(|| {
            self.renamed.push([Vec::new(), Vec::new(), Vec::new()]);
            self.renamings.number(to.to_vec())
        })
    }
}

impl<'c> Orbits<'c> {
    /// Of a certificate.
    pub(super) fn new(program: &'c Program, certificate: &Certificate) -> Option<Self> {
        let numbers = Numbers {
            locals: Table::of(&certificate.locals),
            letters: Table::of(&certificate.letters),
            queues: Table::of(&certificate.queues),
            renamings: Table::of(&[]),
            renamed: Vec::new(),
            apart: FxHashMap::default(),
            same: Vec::new(),
        };
        let mut orbits = Self { program, numbers: RefCell::new(numbers), forms: FxHashMap::default() };
        for (number, row) in certificate.rows.iter().enumerate() {
            let known = |part: &[u32]| {
                (part[0] as usize) < certificate.locals.len()
                    && part.get(1).is_none_or(|queue| (*queue as usize) < certificate.queues.len())
            };
            let machines = row.len().checked_sub(program.specs.len()).filter(|rest| rest % 2 == 0)?;
            let (pairs, specs) = row.split_at(machines);
            if !pairs.chunks(2).all(known) || !specs.chunks(1).all(known) {
                return None;
            }
            let form = orbits.form(row);
            orbits.forms.insert(form, number as u32);
        }
        Some(orbits)
    }

    /// A row that is another one up to renaming.
    pub(super) fn find(&self, row: &[u32]) -> Option<u32> {
        self.forms.get(&self.form(row)).copied()
    }

    fn form(&self, row: &[u32]) -> Box<[u32]> {
        let machines = (row.len() - self.program.specs.len()) / 2;
        let numbers = &mut *self.numbers.borrow_mut();
        let nobody = numbers.renaming(&vec![u32::MAX; machines]);
        let mut sorted: Vec<_> = (0..machines)
            .map(|machine| {
                let kind = numbers.locals.items[row[2 * machine] as usize].0;
                let local = self.renamed(numbers, Part::Local(row[2 * machine]), nobody);
                let queue = self.renamed(numbers, Part::Queue(row[2 * machine + 1]), nobody);
                ((kind, local, queue), machine)
            })
            .collect();
        let mut places: Vec<_> = sorted.iter().map(|((kind, ..), machine)| (*kind, *machine)).collect();
        places.sort_unstable();
        sorted.sort_unstable();
        let mut orders = vec![Vec::new()];
        for tie in sorted.chunk_by(|one, two| one.0 == two.0) {
            if let [(_, machine)] = tie {
                orders.iter_mut().for_each(|order| order.push(*machine));
                continue;
            }
            let tie: Vec<_> = tie.iter().map(|(_, machine)| *machine).collect();
            orders = orders.iter().flat_map(|order| continued(order, &tie)).take(MOST_RENAMINGS + 1).collect();
        }
        if orders.len() > MOST_RENAMINGS {
            return row.into();
        }
        let forms = orders.iter().map(|order| {
            let mut to = vec![0; machines];
            order.iter().zip(&places).for_each(|(machine, (_, place))| to[*machine] = *place as u32);
            self.with(numbers, row, &to)
        });
        forms.min().unwrap_or_else(|| row.into())
    }

    /// A row with renamed machines.
    fn with(&self, numbers: &mut Numbers, row: &[u32], to: &[u32]) -> Box<[u32]> {
        let mut next: Box<[u32]> = row.into();
        let renaming = numbers.renaming(to);
        for (machine, &place) in to.iter().enumerate() {
            let local = self.renamed(numbers, Part::Local(row[2 * machine]), renaming);
            next[2 * place as usize] = self.same(numbers, place, local);
            next[2 * place as usize + 1] = self.renamed(numbers, Part::Queue(row[2 * machine + 1]), renaming);
        }
        for spec in 2 * to.len()..row.len() {
            next[spec] = self.renamed(numbers, Part::Local(row[spec]), renaming);
        }
        next
    }

    fn renamed(&self, numbers: &mut Numbers, part: Part, renaming: u32) -> u32 {
        let (sort, number) = part.place();
        let known = *slot(&mut numbers.renamed[renaming as usize][sort], number);
        if known != OPEN {
            return known;
        }
        let to = numbers.renamings.items[renaming as usize].clone();
        let renaming_of = Renaming { to: &to, insertion_order: self.program.rules.insertion_order };
        let renamed = match part {
            Part::Local(local) => {
                let (kind, own) = &numbers.locals.items[local as usize];
                let renamed = (*kind, renaming_of.local(own));
                numbers.locals.number(renamed)
            }
            Part::Letter(letter) => {
                let renamed = renaming_of.letter(&numbers.letters.items[letter as usize]);
                numbers.letters.number(renamed)
            }
            Part::Queue(queue) => {
                let own = numbers.queues.items[queue as usize].clone();
                let mut letter = |letter: u32| self.renamed(numbers, Part::Letter(letter), renaming);
                let mut renamed = Queue {
                    prefix: own.prefix.iter().map(|own| letter(*own)).collect(),
                    marks: own.marks.iter().map(|(own, last)| (letter(*own), *last)).collect(),
                    counts: own.counts.iter().map(|(own, count)| (letter(*own), *count)).collect(),
                };
                renamed.counts.sort_unstable();
                numbers.queues.number(renamed)
            }
        };
        *slot(&mut numbers.renamed[renaming as usize][sort], number) = renamed;
        renamed
    }

    /// The first state that a machine at a place cannot be told apart in, if it takes nothing.
    fn same(&self, numbers: &mut Numbers, place: u32, local: u32) -> u32 {
        let (_, own) = &numbers.locals.items[local as usize];
        if own.waiting(self.program) != Waiting::Busy {
            return local;
        }
        if numbers.same.len() <= place as usize {
            numbers.same.resize_with(place as usize + 1, Vec::new);
        }
        let known = *slot(&mut numbers.same[place as usize], local);
        if known != OPEN {
            return known;
        }
        let nobody = numbers.renaming(&[u32::MAX; 256]);
        let shape = self.renamed(numbers, Part::Local(local), nobody);
        let Numbers { locals, apart, same, .. } = numbers;
        let item = |number: u32| &locals.items[number as usize];
        let mut found = local;
        if let Some(first) = self.first_step(place, item(local)) {
            let apart = apart.entry((place, shape, first)).or_default();
            match apart.iter().copied().find(|&other| self.acts_like(place, item(local), item(other))) {
                Some(other) => found = other,
                None => apart.push(local),
            }
        }
        *slot(&mut same[place as usize], local) = found;
        found
    }

    /// What a machine does first in a state, if it never takes anything.
    fn first_step(&self, place: u32, item: &(u32, Local)) -> Option<FirstStep> {
        let (mut states, mut first, mut known) = (vec![item.clone()], None, 0);
        while known < states.len() {
            let ways = self.ways(place, &states[known].clone(), &mut states)?;
            first = first.or_else(|| Some(ways.into_iter().map(|(what, _)| what).collect()));
            known += 1;
        }
        first
    }

    /// Whether a machine does the same in two states, and never takes anything.
    fn acts_like(&self, place: u32, one: &(u32, Local), two: &(u32, Local)) -> bool {
        let mut states = vec![one.clone(), two.clone()];
        let mut ways: Vec<Vec<Does>> = Vec::new();
        while ways.len() < states.len() {
            let Some(own) = self.ways(place, &states[ways.len()].clone(), &mut states) else { return false };
            ways.push(own);
        }
        let mut classes = vec![0; states.len()];
        loop {
            let mut seen = FxHashMap::default();
            let next: Vec<usize> = (0..states.len())
                .map(|state| {
                    let does = ways[state].iter().map(|(what, to)| (what, to.map(|to| classes[to])));
                    let fresh = seen.len();
                    *seen.entry((classes[state], does.collect::<BTreeSet<_>>())).or_insert(fresh)
                })
                .collect();
            if next == classes {
                return classes[0] == classes[1];
            }
            classes = next;
        }
    }

    /// What a machine does in a state, and which state comes next, if it takes nothing there.
    fn ways(&self, place: u32, item: &(u32, Local), states: &mut Vec<(u32, Local)>) -> Option<Vec<Does>> {
        let (kind, local) = item;
        if local.waiting(self.program) != Waiting::Busy {
            return None;
        }
        let (mut choices, mut ways) = (Choices::default(), Vec::new());
        loop {
            let outcome = self.program.step(*kind as usize, place, local, None, &mut choices);
            let told = outcome.told;
            let (what, goes_on) = match outcome.effect {
                Effect::Rests => (What::Rests, true),
                Effect::Sends(target, letter) => (What::Sends(target, letter), true),
                Effect::Fails(error, _) => (What::Fails(error), false),
                Effect::Pruned | Effect::Repeats => (What::Stops, false),
                _ => return None,
            };
            let next = goes_on.then(|| {
                let next = (*kind, outcome.local);
                states.iter().position(|other| *other == next).unwrap_or_else(|| {
                    states.push(next);
                    states.len() - 1
                })
            });
            ways.push(((told, what), next));
            if ways.len() > MOST_WAYS || states.len() > MOST_STATES {
                return None;
            }
            if !choices.advance() {
                return Some(ways);
            }
        }
    }
}

/// What a machine may do first.
type FirstStep = BTreeSet<(Vec<Letter>, What)>;

/// What specs are told, what happens then, and the number of the state that comes next.
type Does = ((Vec<Letter>, What), Option<usize>);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum What {
    Rests,
    Sends(u32, Letter),
    Fails(Error),
    Stops,
}

/// A list with all permutations of others behind it.
fn continued(list: &[usize], others: &[usize]) -> Vec<Vec<usize>> {
    let mut lists = vec![(list.to_vec(), others.to_vec())];
    for _ in others {
        lists = lists
            .into_iter()
            .flat_map(|(list, left)| {
                (0..left.len()).map(move |at| {
                    let (mut list, mut left) = (list.clone(), left.clone());
                    list.push(left.remove(at));
                    (list, left)
                })
            })
            .take(MOST_RENAMINGS + 1)
            .collect();
    }
    lists.into_iter().map(|(list, _)| list).collect()
}

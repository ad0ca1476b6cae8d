//! What expressions can be. Each `*` is chosen anew, so the operands of an operator are independent: the values that
//! an expression can have follow from those that its operands can have.

use super::program::{Set, Slot, Term};
use super::tree::Operator;

/// The values of variables: shared ones, and those of the frame at hand.
#[derive(Clone, Copy)]
pub(super) struct Values<'a> {
    pub(super) shared: &'a [u8],
    pub(super) locals: &'a [u8],
}

impl Values<'_> {
    fn get(&self, slot: Slot) -> u8 {
        match slot {
            Slot::Shared(index) => self.shared[index],
            Slot::Local(index) => self.locals[index],
        }
    }
}

/// The members of a set.
pub(super) fn members(set: Set) -> impl Iterator<Item = u8> {
    (0..32).filter(move |value| set >> value & 1 == 1)
}

/// All ways to choose a member of each set.
pub(super) fn choices(sets: &[Set]) -> Vec<Vec<u8>> {
    let mut chosen = vec![Vec::new()];
    for set in sets {
        let longer = |start: &Vec<u8>| {
            let start = start.clone();
            members(*set).map(move |value| [start.as_slice(), &[value]].concat()).collect::<Vec<_>>()
        };
        chosen = chosen.iter().flat_map(longer).collect();
    }
    chosen
}

fn apply(operator: Operator, left: u8, right: u8) -> bool {
    match operator {
        Operator::And => left == 1 && right == 1,
        Operator::Or => left == 1 || right == 1,
        Operator::Xor | Operator::Unequal => left != right,
        Operator::Equal => left == right,
        Operator::Implies => left == 0 || right == 1,
    }
}

/// What an expression can be; `old` and `new` are the values before and after an assignment.
pub(super) fn possible(term: &Term, old: Values<'_>, new: Values<'_>) -> Set {
    let of = |term: &Term| possible(term, old, new);
    match term {
        Term::Constant(value) => 1 << value,
        Term::Old(slot) => 1 << old.get(*slot),
        Term::New(slot) => 1 << new.get(*slot),
        Term::Any(set) => *set,
        Term::Not(inner) => members(of(inner)).fold(0, |set, value| set | 1 << (1 - value)),
        Term::Binary(operator, left, right) => {
            let (left, right) = (of(left), of(right));
            let pairs = members(left).flat_map(|one| members(right).map(move |other| (one, other)));
            pairs.fold(0, |set, (one, other)| set | 1 << u8::from(apply(*operator, one, other)))
        }
        Term::Choice(parts) => {
            let [condition, yes, no] = &**parts;
            members(of(condition)).fold(0, |set, value| set | of(if value == 1 { yes } else { no }))
        }
        Term::Schoose(parts) => {
            let [positive, negative] = &**parts;
            members(of(positive)).fold(0, |set, value| set | if value == 1 { 0b10 } else { unforced(of(negative)) })
        }
    }
}

/// What `schoose` is where its first argument is 0: 0 if the second is 1, otherwise any.
fn unforced(negative: Set) -> Set {
    members(negative).fold(0, |set, value| set | if value == 1 { 0b01 } else { 0b11 })
}

/// Whether a condition can be true.
pub(super) fn can_hold(term: &Term, values: Values<'_>) -> bool {
    possible(term, values, values) & 0b10 != 0
}

//! What is claimed of queues, where only summaries of them are known.
//!
//! A claim is proved along with everything else: where it holds before a step, only queues of which it holds are looked at,
//! and a step after which it may fail is an error. By induction, nothing is left out.

use tepui_cert::queue::language::{Claims, Fate, Known};
use tepui_model::queue::Program;
use tepui_model::queue::formula::Formula;

use super::evidence::{precision as known_as, queue as known};
use super::summary::{Precision, Queue};
use super::tables::Tables;

/// The claims about the queue of a machine of a kind.
fn formulas(program: &Program, (kind, machine): (usize, usize)) -> Vec<&Formula> {
    program.claims.iter().filter(|claim| claim.is_about(kind, machine)).map(|claim| &claim.formula).collect()
}

/// What becomes of claims when a letter is put into a queue.
pub(super) fn push(tables: &Tables, of: (usize, usize), precision: &Precision, queue: &Queue, letter: u32) -> Fate {
    let formulas = formulas(tables.program(), of);
    if formulas.is_empty() {
        return Fate { may_hold: true, may_fail: false };
    }
    let claims = Claims { formulas: &formulas, event: &|letter| tables.event_of(letter) };
    let (precision, queue) = (known_as(precision), known(queue));
    assumed(tables, claims.push(Known { precision: &precision, queue: &queue }, letter))
}

/// What becomes of claims when a letter is taken from a queue.
pub(super) fn take(
    tables: &Tables,
    of: (usize, usize),
    precision: &Precision,
    (before, after): (&Queue, &Queue),
    letter: u32,
    takes: &dyn Fn(u32) -> bool,
) -> Fate {
    let formulas = formulas(tables.program(), of);
    if formulas.is_empty() {
        return Fate { may_hold: true, may_fail: false };
    }
    let claims = Claims { formulas: &formulas, event: &|letter| tables.event_of(letter) };
    let (precision, before, after) = (known_as(precision), known(before), known(after));
    let known = |queue| Known { precision: &precision, queue };
    assumed(tables, claims.take(known(&before), known(&after), letter, takes))
}

/// Claims that are assumed do not fail.
fn assumed(tables: &Tables, fate: Fate) -> Fate {
    Fate { may_fail: fate.may_fail && !tables.program().rules.assume_claims, ..fate }
}

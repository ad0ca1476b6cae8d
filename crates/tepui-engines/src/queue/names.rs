//! Names: integers that grow for ever, go from machine to machine, and are only compared with each other.
//!
//! Requests are numbered, replies carry the number of their request, and a spec remembers by it what was asked. Nothing
//! matters but which of these numbers are equal. So only their distances are kept: rows are shifted so that the least name is
//! 0. An entry of a map is dropped if its key occurs in no other place than such entries: nobody will ask for it again.
//!
//! A variable that is only increased, sent and compared is taken for a name. Nothing here has to be right for an answer to be
//! right: a step that asks for more than a distance, or for an entry that was dropped, cannot be taken, and whoever takes it
//! notices. Then there are no names.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use tepui_model::queue::names::Named;
use tepui_model::queue::{Binary, Expression, Instruction, Place, Program, Slot, Value};

use super::summary::Queue;
use super::tables::Tables;
use crate::interner::Interner;

/// Variables that may hold names, each with the kind of the machine.
pub(super) type Variables = Vec<(u32, u32)>;

/// The variables of a program that may hold names, given for each kind of machine the functions that it may be in.
pub(super) fn variables(program: &Program, functions: &dyn Fn(usize) -> BTreeSet<usize>) -> Variables {
    let mut found = Variables::new();
    for (kind, own) in program.kinds.iter().enumerate() {
        let functions = functions(kind);
        let code = || functions.iter().flat_map(|function| &program.functions[*function].code);
        for (number, value) in own.variables.iter().enumerate() {
            let grows = |instruction: &Instruction| {
                matches!(instruction, Instruction::Set(Place { slot: Slot::Variable(own), path }, value)
                    if *own == number && path.is_empty() && is_next(value, number))
            };
            let asks = |instruction: &Instruction| {
                !grows(instruction) && instruction.expressions().iter().any(|expression| is_asked(expression, number))
            };
            if matches!(value, Value::Int(_)) && code().any(grows) && !code().any(asks) {
                found.push((kind as u32, number as u32));
            }
        }
    }
    found
}

/// Whether it is a variable and a constant.
fn is_next(expression: &Expression, variable: usize) -> bool {
    match expression {
        Expression::Binary(Binary::Plus, left, right) => {
            is_variable(left, variable) && matches!(**right, Expression::Value(Value::Int(_)))
        }
        _ => false,
    }
}

fn is_variable(expression: &Expression, variable: usize) -> bool {
    matches!(expression, Expression::Read(Slot::Variable(own)) if *own == variable)
}

/// Whether more is asked of a variable than which values it is equal to.
fn is_asked(expression: &Expression, variable: usize) -> bool {
    let asked = |inner: &Expression| is_asked(inner, variable);
    match expression {
        Expression::Binary(Binary::Equal | Binary::Unequal | Binary::In, left, right) => asked(left) || asked(right),
        Expression::Binary(Binary::Plus | Binary::Minus, left, right)
            if is_variable(left, variable) && matches!(**right, Expression::Value(Value::Int(_))) =>
        {
            false
        }
        Expression::Binary(_, left, right) => {
            [left, right].into_iter().any(|side| is_variable(side, variable) || asked(side))
        }
        Expression::Unary(_, inner) => is_variable(inner, variable) || asked(inner),
        Expression::At(left, right) => asked(left) || asked(right),
        Expression::Item(inner, _) | Expression::Cast(inner, _) => asked(inner),
        Expression::Tuple(parts) | Expression::Record(_, parts) | Expression::Format(_, parts) => {
            parts.iter().any(asked)
        }
        Expression::Value(_) | Expression::This | Expression::Read(_) => false,
    }
}

/// The program in which such variables get a name where they get a value.
pub(super) fn naming(program: &Program, variables: &Variables) -> Program {
    let mut program = program.clone();
    for &(kind, number) in variables {
        program.kinds[kind as usize].variables[number as usize] = Value::Name(0);
    }
    let numbers: BTreeSet<_> = variables.iter().map(|(_, number)| *number as usize).collect();
    for instruction in program.functions.iter_mut().flat_map(|function| &mut function.code) {
        if let Instruction::Set(Place { slot: Slot::Variable(number), path }, value) = instruction
            && numbers.contains(number)
            && path.is_empty()
            && !is_next(value, *number)
        {
            *value = Expression::Value(Value::Name(0));
        }
    }
    program
}

/// What is known of the names in states of machines and in queues.
#[derive(Default)]
pub(super) struct Names {
    /// Rows that were replaced by others, in which integers are names.
    pub(super) meant: BTreeMap<Vec<u32>, Vec<u32>>,
    /// For states of machines and queues their names, and whether each belongs to an entry of a map whose key is a name.
    of_locals: FxHashMap<u32, Vec<(i64, bool)>>,
    of_queues: FxHashMap<u32, Vec<(i64, bool)>>,
    shifted: FxHashMap<(bool, u32, i64), u32>,
}

impl Names {
    /// Replaces a row by the one that is kept.
    pub(super) fn reduce(&mut self, tables: &mut Tables, queues: &mut Interner<Queue>, row: &mut [u32]) {
        let machines = row.len() - tables.program().specs.len();
        let is_queue = |place: usize| place < machines && place % 2 == 1;
        let names = self.all(tables, queues, row, machines);
        if names.is_empty() {
            return;
        }
        let live: BTreeSet<i64> = names.iter().filter(|(_, entry)| !entry).map(|(name, _)| *name).collect();
        let mut names = names;
        if names.iter().any(|(name, _)| !live.contains(name)) {
            for place in (0..row.len()).filter(|place| !is_queue(*place)) {
                if self.of_locals[&row[place]].iter().any(|(name, _)| !live.contains(name)) {
                    let (kind, local) = tables.local_of(row[place]);
                    let (kind, local) = (*kind, local.without_keys(&|name| !live.contains(&name)));
                    row[place] = tables.local(kind, local);
                }
            }
            names = self.all(tables, queues, row, machines);
        }
        let least = names.iter().map(|(name, _)| *name).min().unwrap_or_default();
        if least != 0 {
            for (place, number) in row.iter_mut().enumerate() {
                *number = self.shifted(tables, queues, is_queue(place), *number, least.wrapping_neg());
            }
        }
    }

    /// The names in a row.
    fn all(&mut self, tables: &Tables, queues: &Interner<Queue>, row: &[u32], machines: usize) -> Vec<(i64, bool)> {
        let mut names = Vec::new();
        for (place, &number) in row.iter().enumerate() {
            let own = if place < machines && place % 2 == 1 {
                let of = || {
                    let queue = &queues[number];
                    let letters = letters_of(queue);
                    letters.flat_map(|letter| tables.letter_of(letter).names()).collect()
                };
                self.of_queues.entry(number).or_insert_with(of)
            } else {
                self.of_locals.entry(number).or_insert_with(|| tables.local_of(number).1.names())
            };
            names.extend_from_slice(own);
        }
        names
    }

    /// Whether a row without names stands for nothing that another one does not stand for.
    pub(super) fn is_meant_by(&mut self, tables: &Tables, queues: &Interner<Queue>, row: &[u32], by: &[u32]) -> bool {
        let machines = row.len() - tables.program().specs.len();
        if row.len() != by.len() || !self.all(tables, queues, row, machines).is_empty() {
            return false;
        }
        let mut base = None;
        row.iter().zip(by).enumerate().all(|(place, (&own, &other))| {
            if place < machines && place % 2 == 1 {
                let letters = letters_of(&queues[own]).zip(letters_of(&queues[other])).collect::<Vec<_>>();
                let mut meant = |own: u32, other: u32| {
                    let (own, other) = (tables.letter_of(own), tables.letter_of(other));
                    own.event == other.event && own.payload.is_meant_by(&other.payload, &mut base)
                };
                letters.into_iter().all(|(own, other)| meant(own, other))
            } else {
                let (own, other) = (tables.local_of(own), tables.local_of(other));
                own.0 == other.0 && own.1.is_meant_by(&other.1, &mut base)
            }
        })
    }

    fn shifted(
        &mut self,
        tables: &mut Tables,
        queues: &mut Interner<Queue>,
        is_queue: bool,
        number: u32,
        by: i64,
    ) -> u32 {
        if let Some(known) = self.shifted.get(&(is_queue, number, by)) {
            return *known;
        }
        let insertion_order = tables.program().rules.insertion_order;
        let found = if is_queue {
            let mut letter = |number: u32| {
                let letter = tables.letter_of(number).shifted(by, insertion_order);
                tables.letter(&letter)
            };
            let shifted = queues[number].with_letters(&mut letter);
            queues.intern(shifted)
        } else {
            let (kind, local) = tables.local_of(number);
            let (kind, local) = (*kind, local.shifted(by, insertion_order));
            tables.local(kind, local)
        };
        self.shifted.insert((is_queue, number, by), found);
        found
    }
}

fn letters_of(queue: &Queue) -> impl Iterator<Item = u32> {
    let marks = queue.marks.iter().map(|(letter, _)| *letter);
    queue.prefix.iter().copied().chain(marks).chain(queue.counts.keys().copied())
}

//! Atoms: numbers that were chosen below a constant, and of which nothing matters but which are equal.
//!
//! `choose(10)` gives one of ten numbers. Where a program only stores it, sends it and asks whether it is equal to others
//! that were chosen at the same place, the numbers may change places: a step stays a step. So what is chosen there may be
//! taken for an *atom*. Two atoms of one place, its *class*, are equal or not; whatever else is asked of one is forgotten,
//! and nobody may go on where something depends on that. A text that is nothing but an atom is one, too: it is equal to
//! others of the same class, and different from every text that is not a number.
//!
//! The program in which atoms are chosen takes the same steps, with the same choices, as the one with numbers, as long as it
//! can go on; and it cannot tell how atoms are numbered.

use super::names::Named;
use super::{Among, Expression, Instruction, Program, Slot, Value};

/// A place where something is chosen: a function, and the number of an instruction.
pub type Place = (usize, usize);

/// The class of an atom, and its number there.
pub type Atom = (u32, u32);

impl Program {
    /// The places at which a number below a constant is chosen of which no more seems to be asked than whether it is equal to
    /// another.
    pub fn chosen_numbers(&self) -> Vec<Place> {
        let mut found = Vec::new();
        for (number, function) in self.functions.iter().enumerate() {
            for (at, instruction) in function.code.iter().enumerate() {
                let Some((_, slot)) = chosen(instruction) else { continue };
                let asked = |other: &Instruction| other.expressions().iter().any(|one| is_asked(one, slot));
                if !function.code.iter().any(asked) {
                    found.push((number, at));
                }
            }
        }
        found
    }

    /// The program in which atoms are chosen at some places; none, if something else happens at one of them.
    pub fn with_atoms(&self, places: &[Place]) -> Option<Self> {
        let mut program = self.clone();
        for (&(function, at), class) in places.iter().zip(0..) {
            let instruction = program.functions.get_mut(function)?.code.get_mut(at)?;
            let (count, slot) = chosen(instruction)?;
            let atoms = (0..count).map(|number| Value::Atom { class, number, text: false });
            *instruction = Instruction::Choose(Among::These(atoms.collect()), slot);
        }
        Some(program)
    }
}

/// The number of values that are chosen from, and where the one goes, if it is a number below a constant.
fn chosen(instruction: &Instruction) -> Option<(u32, usize)> {
    match instruction {
        Instruction::Choose(Among::Of(Expression::Value(Value::Int(count @ 2..=10_000))), slot) => {
            Some((*count as u32, *slot))
        }
        _ => None,
    }
}

/// Whether a slot of a function is compared or counted with.
fn is_asked(expression: &Expression, slot: usize) -> bool {
    let is_it = |one: &Expression| matches!(one, Expression::Read(Slot::Local(own)) if *own == slot);
    let asked = |one: &Expression| is_asked(one, slot);
    match expression {
        Expression::Value(_) | Expression::Read(_) | Expression::This => false,
        Expression::Item(inner, _) | Expression::Cast(inner, _) => asked(inner),
        Expression::Unary(_, inner) => is_it(inner) || asked(inner),
        Expression::At(left, right) | Expression::Binary(_, left, right) => {
            [left, right].into_iter().any(|side| is_it(side) || asked(side))
        }
        Expression::Tuple(parts) | Expression::Record(_, parts) | Expression::Format(_, parts) => {
            parts.iter().any(asked)
        }
    }
}

impl Value {
    /// A text that consists of some texts and the values between them, if that is an atom.
    pub(super) fn atom_in_text(texts: &[String], parts: &[Self]) -> Option<Self> {
        match parts {
            [Self::Atom { class, number, .. }] if texts.iter().all(String::is_empty) => {
                Some(Self::Atom { class: *class, number: *number, text: true })
            }
            _ => None,
        }
    }

    /// Whether an atom and another value are the same, if that is known.
    pub(super) fn same_as_atom(&self, other: &Self) -> Option<bool> {
        match (self, other) {
            (Self::Atom { class, number, text }, Self::Atom { class: others, number: own, text: is_text }) => {
                (class == others && text == is_text).then_some(number == own)
            }
            (Self::Atom { text: true, .. }, Self::Text(text)) | (Self::Text(text), Self::Atom { text: true, .. }) => {
                text.parse::<i64>().is_err().then_some(false)
            }
            _ => None,
        }
    }

    /// Whether it is what an atom stands for.
    pub(super) fn is_atom_of(&self, atom: &Self) -> bool {
        match (self, atom) {
            (Self::Int(own), Self::Atom { number, text: false, .. }) => *own == i64::from(*number),
            (Self::Text(own), Self::Atom { number, text: true, .. }) => **own == *number.to_string(),
            _ => false,
        }
    }

    /// Tells each atom in it.
    pub(super) fn atoms(&self, each: &mut dyn FnMut(Atom)) {
        match self {
            Self::Atom { class, number, .. } => each((*class, *number)),
            Self::Tuple(parts) | Self::Record(_, parts) | Self::Seq(parts) | Self::Set(parts) => {
                parts.iter().for_each(|part| part.atoms(each));
            }
            Self::Map(entries) => entries.iter().for_each(|(key, value)| {
                key.atoms(each);
                value.atoms(each);
            }),
            _ => {}
        }
    }
}

/// The atoms in something, one after the other.
pub fn atoms(of: &impl Named) -> Vec<Atom> {
    let mut found = Vec::new();
    of.clone().each_value(&mut |value| value.atoms(&mut |atom| found.push(atom)));
    found
}

/// Something with other numbers for its atoms.
#[must_use]
pub fn with_numbers<T: Named>(of: &T, number: &dyn Fn(Atom) -> u32, insertion_order: bool) -> T {
    let mut own = of.clone();
    own.each_value(&mut |value| {
        *value = value.mapped(insertion_order, &|leaf| match leaf {
            Value::Atom { class, number: old, text } => {
                Value::Atom { class: *class, number: number((*class, *old)), text: *text }
            }
            other => other.clone(),
        });
    });
    own
}

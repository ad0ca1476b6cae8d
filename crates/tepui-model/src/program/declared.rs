//! Variables, arrays, records and conditions as they were declared. What a program does depends on their parts alone.

use super::{Kind, Program};

/// A variable as it was declared. Its parts are variables of their own, one after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Declared {
    /// Its name.
    pub name: String,
    /// What it is made of.
    pub shape: Shape,
    /// The number of its first part.
    pub first: usize,
}

/// What a variable is made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// One value.
    Scalar(Kind),
    /// The same again and again.
    Array(Dimension, Box<Self>),
    /// The fields of a record.
    Record(usize),
}

/// How many elements an array has, and what its indices are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dimension {
    /// Numbers from 0.
    Count(u32),
    /// The values of an enumeration.
    Enumeration(usize),
}

/// A record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// Its name.
    pub name: String,
    /// The names of its fields, and what they are made of.
    pub fields: Vec<(String, Shape)>,
}

/// Conditions that are declared together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conditions {
    /// What they are called.
    pub name: String,
    /// If it is an array: its dimensions, the outermost first.
    pub dimensions: Vec<Dimension>,
    /// The number of the first one. 0 is what threads sleep on without a condition.
    pub first: u32,
}

impl Program {
    /// How many scalar parts something has.
    pub fn parts(&self, shape: &Shape) -> usize {
        match shape {
            Shape::Scalar(_) => 1,
            Shape::Array(dimension, element) => self.count(*dimension) as usize * self.parts(element),
            Shape::Record(number) => self.records[*number].fields.iter().map(|(_, shape)| self.parts(shape)).sum(),
        }
    }

    /// How many elements an array has.
    pub fn count(&self, dimension: Dimension) -> u32 {
        match dimension {
            Dimension::Count(count) => count,
            Dimension::Enumeration(number) => self.enumerations[number].values.len() as u32,
        }
    }
}

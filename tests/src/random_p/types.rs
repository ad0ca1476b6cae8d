//! The types of random programs, and what is declared before the machines.

use std::fmt;

use fastrand::Rng;

/// A type.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Ty {
    Bool,
    Int,
    Float,
    Text,
    Event,
    Machine,
    Any,
    Data,
    Color,
    Level,
    /// A named tuple that has a name itself: `(x: int, b: bool)`.
    Pair,
    Tuple(Vec<Ty>),
    Named(Vec<(&'static str, Ty)>),
    Seq(Box<Ty>),
    Set(Box<Ty>),
    Map(Box<Ty>, Box<Ty>),
}

pub(super) const DECLARED: &str =
    "enum Color { RED, GREEN, BLUE }\nenum Level { LOW = 3, HIGH = 7 }\ntype Pair = (x: int, b: bool);\n";

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self {
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Float => "float",
            Self::Text => "string",
            Self::Event => "event",
            Self::Machine => "machine",
            Self::Any => "any",
            Self::Data => "data",
            Self::Color => "Color",
            Self::Level => "Level",
            Self::Pair => "Pair",
            Self::Tuple(parts) => {
                let parts: Vec<_> = parts.iter().map(ToString::to_string).collect();
                return write!(f, "({})", parts.join(", "));
            }
            Self::Named(parts) => {
                let parts: Vec<_> = parts.iter().map(|(name, of)| format!("{name}: {of}")).collect();
                return write!(f, "({})", parts.join(", "));
            }
            Self::Seq(of) => return write!(f, "seq[{of}]"),
            Self::Set(of) => return write!(f, "set[{of}]"),
            Self::Map(key, of) => return write!(f, "map[{key}, {of}]"),
        };
        f.write_str(word)
    }
}

impl Ty {
    /// The parts of a tuple, with how each is named behind a point.
    pub(super) fn parts(&self) -> Vec<(String, Ty)> {
        match self {
            Self::Pair => vec![("x".to_owned(), Self::Int), ("b".to_owned(), Self::Bool)],
            Self::Named(parts) => parts.iter().map(|(name, of)| ((*name).to_owned(), of.clone())).collect(),
            Self::Tuple(parts) => parts.iter().enumerate().map(|(at, of)| (at.to_string(), of.clone())).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether a machine can be inside: then it is no `data`.
    pub(super) fn has_machine(&self) -> bool {
        match self {
            Self::Machine | Self::Any => true,
            Self::Tuple(parts) => parts.iter().any(Self::has_machine),
            Self::Named(parts) => parts.iter().any(|(_, of)| of.has_machine()),
            Self::Seq(of) | Self::Set(of) => of.has_machine(),
            Self::Map(key, of) => key.has_machine() || of.has_machine(),
            _ => false,
        }
    }

    /// Whether it is a collection.
    pub(super) fn collects(&self) -> bool {
        matches!(self, Self::Seq(_) | Self::Set(_) | Self::Map(..))
    }
}

fn of(inner: Ty) -> Box<Ty> {
    Box::new(inner)
}

/// A type for a variable or a payload.
pub(super) fn random(rng: &mut Rng, old: bool) -> Ty {
    use Ty::{Any, Bool, Color, Data, Event, Float, Int, Level, Machine, Map, Named, Pair, Seq, Set, Text, Tuple};
    match rng.u8(..29) {
        0..3 => Int,
        3 | 4 => Bool,
        5 => Float,
        6 => Text,
        7 => Event,
        8 => Machine,
        9 => Any,
        10 => Data,
        11 => Color,
        12 => Level,
        13 => Pair,
        14 => Tuple(vec![Int, Bool]),
        15 => Tuple(vec![Tuple(vec![Int, Int]), Machine]),
        16 => Named(vec![("n", Int), ("s", Seq(of(Int)))]),
        17 => Seq(of(Int)),
        18 if !old => Set(of(Int)),
        19 if !old => Set(of(Tuple(vec![Int, Bool]))),
        18..=20 => Map(of(Int), of(Bool)),
        21 => Map(of(Color), of(Int)),
        22 => Seq(of(Pair)),
        23 => Seq(of(Seq(of(Int)))),
        24 => Map(of(Map(of(Int), of(Bool))), of(Int)),
        27 => Map(of(Int), of(Seq(of(Int)))),
        25 if !old => Set(of(Tuple(vec![Machine, Int]))),
        26 if !old => Set(of(Set(of(Int)))),
        _ => Seq(of(Machine)),
    }
}

//! Sequential programs in the languages of other tools.

mod boogie;
mod c;

use tepui_model::program::{Declared, Program, Shape, Slot};

pub use boogie::print_boogie;
pub use c::print_c;

/// A name without marks that others do not know.
fn plain(name: &str) -> String {
    name.chars().map(|mark| if mark.is_ascii_alphanumeric() { mark } else { '_' }).collect()
}

/// What variables are called. Those of several parts are arrays.
#[derive(Clone, Copy)]
struct Names<'p> {
    program: &'p Program,
    procedure: Option<usize>,
}

impl<'p> Names<'p> {
    /// The name of variables that were declared together.
    fn of(sort: &str, declared: &Declared) -> String {
        format!("{sort}{}_{}", declared.first, plain(&declared.name))
    }

    /// How many parts there are, if it is an array.
    fn size(self, declared: &Declared) -> Option<usize> {
        (!matches!(declared.shape, Shape::Scalar(_))).then(|| self.program.parts(&declared.shape))
    }

    fn around(self, slot: Slot) -> Option<(&'static str, &'p Declared, usize)> {
        let (all, sort, number): (&'p [Declared], _, _) = match (slot, self.procedure) {
            (Slot::Shared(number), _) => (&self.program.declared, "v", number),
            (Slot::Local(number), Some(own)) => (&self.program.procedures[own].declared, "l", number),
            (Slot::Local(number), None) => (&[], "l", number),
        };
        let has = |one: &&Declared| (one.first..one.first + self.program.parts(&one.shape)).contains(&number);
        let found = all.iter().find(has)?;
        Some((sort, found, number - found.first))
    }

    /// Whether a variable is declared. That of a loop is not.
    fn is_declared(self, slot: Slot) -> bool {
        self.around(slot).is_some()
    }

    /// The name of a variable, and which part of an array it is.
    fn slot(self, slot: Slot) -> (String, Option<usize>) {
        match (self.around(slot), slot) {
            (Some((sort, declared, part)), _) => (Self::of(sort, declared), self.size(declared).map(|_| part)),
            (None, Slot::Local(number)) => (format!("l{number}_loop"), None),
            (None, Slot::Shared(number)) => (format!("v{number}"), None),
        }
    }
}

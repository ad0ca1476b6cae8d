//! Values of variables, packed into one word.

use tepui_model::program::{Kind, Program};

/// Values of variables, packed.
pub(super) type Values = u128;

/// Where the values of some variables lie in a packed word.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    fields: Vec<(u32, u32)>,
}

impl Layout {
    /// None, if they do not fit.
    pub(super) fn of(program: &Program, kinds: impl Iterator<Item = Kind>) -> Option<Self> {
        let mut shift = 0;
        let field = |kind: Kind| {
            let width = 32 - (program.values(kind).max(2) - 1).leading_zeros();
            shift += width;
            (shift - width, width)
        };
        let fields = kinds.map(field).collect();
        (shift <= Values::BITS).then_some(Self { fields })
    }

    pub(super) fn get(&self, values: Values, number: usize) -> u32 {
        let (shift, width) = self.fields[number];
        (values >> shift) as u32 & ((1 << width) - 1)
    }

    pub(super) fn set(&self, values: &mut Values, number: usize, value: u32) {
        let (shift, width) = self.fields[number];
        let mask = ((1 << width) - 1) << shift;
        *values = (*values & !mask) | Values::from(value) << shift;
    }

    /// The values of all variables, as far as they are kept.
    pub(super) fn meaning(&self, values: Values, kept: Values) -> Vec<Option<u32>> {
        let kept = |&number: &usize| self.mask(std::iter::once(number)) & !kept == 0;
        (0..self.fields.len()).map(|number| kept(&number).then(|| self.get(values, number))).collect()
    }

    /// The bits of some variables.
    pub(super) fn mask(&self, numbers: impl Iterator<Item = usize>) -> Values {
        let bits = |number: usize| {
            let (shift, width) = self.fields[number];
            ((1 << width) - 1) << shift
        };
        numbers.fold(0, |mask: Values, number| mask | bits(number))
    }

    /// All ways to give values to variables, where some are fixed.
    pub(super) fn all(&self, program: &Program, variables: impl Iterator<Item = (Kind, Option<u32>)>) -> Vec<Values> {
        let mut found = vec![0];
        for (number, (kind, fixed)) in variables.enumerate() {
            let choices: Vec<_> = fixed.map_or((0..program.values(kind)).collect(), |value| vec![value]);
            let extend = |values: Values| {
                choices.iter().map(move |&value| {
                    let mut values = values;
                    self.set(&mut values, number, value);
                    values
                })
            };
            found = found.into_iter().flat_map(extend).collect();
        }
        found
    }
}

//! How the fields of a row lie in machine words.

/// A field of a row.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    word: u32,
    shift: u32,
    /// Bits.
    width: u32,
}

impl Field {
    /// The largest value that fits.
    pub fn mask(self) -> u64 {
        (1 << self.width) - 1
    }

    /// Its value in a row.
    #[inline]
    pub fn of(self, words: &[u64]) -> u32 {
        (words[self.word as usize] >> self.shift & self.mask()) as u32
    }
}

/// Bits that a value needs.
pub fn bits(value: u32) -> u32 {
    (32 - value.leading_zeros()).max(1)
}

/// Fields of given widths, one after the other, and how many words they take. No field straddles two words.
pub(crate) fn lay_out(widths: &[u32]) -> (Vec<Field>, usize) {
    let (mut word, mut shift) = (0, 0);
    let place = |&width: &u32| {
        if shift + width > 64 {
            (word, shift) = (word + 1, 0);
        }
        let field = Field { word, shift, width };
        shift += width;
        field
    };
    let fields: Vec<_> = widths.iter().map(place).collect();
    (fields, word as usize + 1)
}

/// Widths of fields that need no more words than the given ones: the bits that are left over go to all fields alike, but for
/// the first if its values are known, so that it has more than one bit from the start.
pub(crate) fn fill_up(needed: &[u32]) -> Vec<u32> {
    let known = needed.first().is_some_and(|&first| first > 1);
    let wider = |more: u32| {
        let spare = |field: usize| if field > 0 || !known { more } else { 0 };
        let widths = needed.iter().enumerate().map(|(field, &width)| (width + spare(field)).min(32));
        widths.collect::<Vec<_>>()
    };
    let words = lay_out(needed).1;
    let most = (0..32).take_while(|&more| lay_out(&wider(more)).1 == words).last();
    wider(most.unwrap_or(0))
}

/// Puts a row into words that are all 0; says whether all values fit.
#[inline]
pub(crate) fn pack(fields: &[Field], row: &[u32], words: &mut [u64]) -> bool {
    debug_assert_eq!(fields.len(), row.len());
    let mut fits = true;
    // Most rows are a single word, which can stay in a register.
    if let [word] = words {
        for (field, &value) in fields.iter().zip(row) {
            *word |= u64::from(value) << field.shift;
            fits &= u64::from(value) <= field.mask();
        }
        return fits;
    }
    for (field, &value) in fields.iter().zip(row) {
        words[field.word as usize] |= u64::from(value) << field.shift;
        fits &= u64::from(value) <= field.mask();
    }
    fits
}

/// Reads a row.
#[inline]
pub fn unpack(fields: &[Field], words: &[u64], row: &mut [u32]) {
    if let &[word] = words {
        for (field, value) in fields.iter().zip(row) {
            *value = (word >> field.shift & field.mask()) as u32;
        }
        return;
    }
    for (field, value) in fields.iter().zip(row) {
        *value = field.of(words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_that_are_left_over_are_used() {
        assert_eq!(fill_up(&[4, 1, 3]), [4, 29, 31]);
        assert_eq!(fill_up(&[4, 20, 20, 20]), [4, 20, 20, 20]);
        assert_eq!(fill_up(&[1, 30, 31]), [1, 30, 31]);
        assert_eq!(fill_up(&[1, 1, 3]), [20, 20, 22]);
        assert_eq!(fill_up(&[32, 32, 32]), [32, 32, 32]);
        assert_eq!(lay_out(&fill_up(&[5; 13])).1, lay_out(&[5; 13]).1);
        assert_eq!(fill_up(&[7]), [7]);
    }
}

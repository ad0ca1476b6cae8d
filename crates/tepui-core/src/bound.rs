//! Bounds: how much of its resource an exploration may use.

use std::fmt;

/// A bound on one resource or on several, such as contexts, or rounds and delays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bound {
    resources: &'static [&'static str],
    amounts: [u32; Self::MOST],
}

impl Bound {
    /// The most resources that a bound can limit.
    const MOST: usize = 2;

    /// A bound on resources, whose names are plural nouns; an amount for each.
    pub fn on(resources: &'static [&'static str], amounts: &[u32]) -> Self {
        assert!(resources.len() == amounts.len() && amounts.len() <= Self::MOST, "one amount for each resource");
        let mut all = [0; Self::MOST];
        all[..amounts.len()].copy_from_slice(amounts);
        Self { resources, amounts: all }
    }

    /// The resources with their amounts.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, u32)> + '_ {
        self.resources.iter().copied().zip(self.amounts)
    }

    /// The amounts.
    pub fn amounts(&self) -> &[u32] {
        &self.amounts[..self.resources.len()]
    }

    /// The amount of the first resource; many bounds have no other.
    pub fn first(&self) -> u32 {
        self.amounts[0]
    }

    /// The same resources, as much of each as a limit allows.
    #[must_use]
    pub(crate) fn raised_to(&self, limit: &[u32]) -> Self {
        let mut raised = *self;
        let last = limit.last().copied().unwrap_or(u32::MAX);
        for index in 0..self.resources.len() {
            raised.amounts[index] = *limit.get(index).unwrap_or(&last);
        }
        raised
    }

    /// Whether some amount is greater than a limit allows: one number for each resource, or one for all of them.
    pub fn exceeds(&self, limit: &[u32]) -> bool {
        let all = limit.iter().chain(std::iter::repeat(limit.last().unwrap_or(&u32::MAX)));
        self.amounts().iter().zip(all).any(|(amount, limit)| amount > limit)
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (resource, amount)) in self.parts().enumerate() {
            let and = if index > 0 { " and " } else { "" };
            let name = if amount == 1 { resource.trim_end_matches('s') } else { resource };
            write!(f, "{and}{amount} {name}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_read_well_and_are_compared_part_by_part() {
        let contexts = Bound::on(&["contexts"], &[1]);
        let delays = Bound::on(&["rounds", "delays"], &[3, 4]);
        assert_eq!(
            (contexts.to_string(), delays.to_string()),
            ("1 context".to_owned(), "3 rounds and 4 delays".to_owned())
        );
        assert!(!delays.exceeds(&[3, 4]) && delays.exceeds(&[3, 3]) && delays.exceeds(&[3]) && !delays.exceeds(&[]));
    }
}

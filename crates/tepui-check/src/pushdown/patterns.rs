//! Whether a lemma's views avoid a property, which is a list of patterns.

use tepui_model::pushdown::{Pattern, Property, Shared, Symbol};

use super::system::Rules;
use crate::lemma::{Checked, Groups};
use crate::regular;
use crate::system::System as _;

/// After how many views the caller is asked whether to stop.
const LOOK_EVERY: usize = 1_024;

/// Whether no view of a lemma violates a property.
pub(super) fn avoids(rules: &Rules<'_>, lemma: &Checked<'_, Rules<'_>>, property: &Property) -> Result<(), String> {
    let wanted: Vec<_> = property.never.iter().map(|pattern| Wanted::new(&lemma.groups, pattern)).collect();
    let mut tops = Vec::new();
    let mut violates = |row: &[u32]| wanted.iter().any(|wanted| wanted.matches(lemma, row, &mut tops));
    for (number, row) in lemma.lemma.views.iter().enumerate() {
        if number.is_multiple_of(LOOK_EVERY) && rules.stop() {
            return Ok(()); // The caller looks, too.
        }
        if violates(&row) {
            let other = if lemma.groups.are_trivial() { "" } else { ", or a permutation of it," };
            return Err(format!("the view {}{other} violates it", lemma.show(&row)));
        }
    }
    Ok(())
}

/// Whether no row of regular sets violates a property: in each group there are not enough threads with the symbols
/// wanted on top, each with one of them.
pub(super) fn rows_avoid(rows: &regular::Checked<'_, '_, Rules<'_>>, property: &Property) -> Result<(), String> {
    for row in rows.rows() {
        let tops: Vec<Vec<Symbol>> = (0..row.len() - 1)
            .map(|thread| rows.tops(thread, &row).into_iter().map(|(symbol, _)| symbol).collect())
            .collect();
        let violates = |pattern: &Pattern| {
            pattern.shared.is_none_or(|shared| shared.0 == row[0])
                && rows.can_be_placed(&|thread, place| {
                    pattern.tops[thread].is_none_or(|wanted| tops[place].contains(&wanted))
                })
        };
        if property.never.iter().any(violates) {
            return Err(format!("the row {} violates it", rows.show(&row)));
        }
    }
    Ok(())
}

/// A pattern for orbits: the symbols that it wants on top in each group, in ascending order.
struct Wanted {
    shared: Option<Shared>,
    groups: Vec<(usize, Vec<Symbol>)>,
}

impl Wanted {
    fn new(groups: &Groups, pattern: &Pattern) -> Self {
        let wanted = |leader: usize| {
            let mut symbols: Vec<_> = groups.members(leader).filter_map(|thread| pattern.tops[thread]).collect();
            symbols.sort_unstable();
            (leader, symbols)
        };
        let leaders = (0..pattern.tops.len()).filter(|&thread| groups.leader(thread) == thread);
        let groups = leaders.map(wanted).filter(|(_, symbols)| !symbols.is_empty()).collect();
        Self { shared: pattern.shared, groups }
    }

    /// Whether a view in the orbit of a row matches. Both lists of symbols ascend, so one walk along the tops finds each
    /// wanted symbol at a place of its own, if it can be found.
    fn matches(&self, lemma: &Checked<'_, Rules<'_>>, row: &[u32], tops: &mut Vec<Symbol>) -> bool {
        let top = |thread: usize| lemma.word(thread, row[thread + 1])[0];
        self.shared.is_none_or(|shared| shared.0 == row[0])
            && self.groups.iter().all(|(leader, wanted)| {
                if lemma.groups.is_alone(*leader) {
                    return wanted == &[top(*leader)];
                }
                tops.clear();
                tops.extend(lemma.groups.members(*leader).map(top));
                tops.sort_unstable();
                let mut tops = tops.iter();
                wanted.iter().all(|symbol| tops.any(|top| top == symbol))
            })
    }
}

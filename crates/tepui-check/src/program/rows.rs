//! Whether regular sets avoid what must not happen.

use tepui_model::program::step::{Point, Shared};
use tepui_model::program::{Goal, Property};
use tepui_model::pushdown::Symbol;

use super::avoids::{failed, labels, may_be_blocked, mentioned};
use super::passing::MOST_WAYS;
use super::system::Interpreted;
use crate::regular;
use crate::system::System;

/// Whether no row of regular sets violates a property. A row may be stuck if each of its threads may be unable to move, one of
/// which has not ended, or if one that is uninterrupted may be.
pub(super) fn avoid(
    system: &Interpreted<'_>,
    rows: &regular::Checked<'_, '_, Interpreted<'_>>,
    properties: &[Property],
) -> Result<(), (usize, String)> {
    failed(system, properties)?;
    let labels = labels(system, properties);
    let deadlock = properties.iter().position(|property| property.never.contains(&Goal::Deadlock));
    for row in rows.rows() {
        let tops: Vec<_> = (0..row.len() - 1).map(|thread| rows.tops(thread, &row)).collect();
        let violated = tops.iter().flatten().find_map(|(top, _)| labels[top.0 as usize]);
        let stuck_with = |values: &Shared| {
            let blocked = |(top, below): &(Symbol, Vec<Symbol>)| may_be_blocked(system, values, *top, below);
            let holds = tops.iter().flatten().any(|top| system.is_uninterrupted(top.0) && blocked(top));
            let can_rest = tops.iter().all(|tops| tops.iter().any(blocked));
            let alive = tops.iter().flatten().any(|top| !top.0.is_bottom() && blocked(top));
            holds || (can_rest && alive)
        };
        // A shared variable that has no value yet has the same one for all threads.
        let stuck = || {
            let Some(values) = system.tables.shared(row[0]) else { return true };
            let mut all = tops.iter().flatten();
            let Some(someone) = all.find_map(|(top, _)| system.tables.frame(*top)) else { return false };
            let unset = |(values, _): &Point| {
                tops.iter().flatten().find_map(|(top, below)| mentioned(system, values, *top, below))
            };
            let start = (values, someone.clone());
            system.passing().for_some(&start, MOST_WAYS, &unset, &|(values, _)| stuck_with(values))
        };
        if let Some(property) = violated.or_else(|| deadlock.filter(|_| stuck())) {
            return Err((property, format!("the row {} violates it", rows.show(&row))));
        }
        if system.tables.is_stopped() {
            return Ok(());
        }
    }
    Ok(())
}

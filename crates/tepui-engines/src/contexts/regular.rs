//! Evidence from an empty level of sets of states.
//!
//! Each context's image of a stored row is part of a stored row, and one step is part of a context. So the rows, with their
//! languages written down, are an inductive invariant, whatever the contexts were.

use tepui_cert::pushdown::{Language, Regular, RegularThread, Rows};
use tepui_core::{Budget, Evidence, Stop};

use super::languages::Languages;
use super::search::Search;
use crate::ids::Threads;
use crate::pushdown::evidence;
use crate::pushdown::top_views::TopViews;

/// The certificate of all rows that were stored.
pub fn collapsed(search: &Search<TopViews<Languages>>, budget: &mut Budget) -> Result<Evidence, Stop> {
    let (compiled, symmetry, locals) = (search.compiled(), search.symmetry(), search.locals());
    let threads = compiled.threads();
    // Only languages that occur are written, in the order in which they do.
    let mut numbers: Vec<Vec<Option<u32>>> = vec![Vec::new(); threads];
    let mut languages: Vec<Vec<Language>> = vec![Vec::new(); threads];
    let states = &search.explorer.states;
    let mut rows = Vec::with_capacity(states.len());
    let mut row = vec![0; states.width()];
    for state in states.ids() {
        budget.spend(threads as u64)?;
        states.get(state, &mut row);
        let mut cells = vec![compiled.shared(row[0]).0];
        for thread in Threads::all(threads) {
            let (leader, set) = (symmetry.leader(thread), row[thread.field()] as usize);
            let known = &mut numbers[leader.index()];
            known.resize(known.len().max(set + 1), None);
            let number = *known[set].get_or_insert_with(|| {
                let dfa = locals.set(compiled.kind_of[thread.index()], set as u32);
                let states = (0..dfa.size() as u32).map(|state| dfa.edges(state).collect()).collect();
                languages[leader.index()].push(Language { states });
                languages[leader.index()].len() as u32 - 1
            });
            cells.push(number);
        }
        symmetry.canonicalise(&mut cells); // Numbers of languages are not those of sets.
        rows.push(cells);
    }
    let parts = Threads::all(threads).zip(languages).map(|(thread, languages)| {
        let leader = symmetry.leader(thread);
        RegularThread { like: (leader != thread).then_some(leader.index()), languages }
    });
    let because = "one more context brings no state outside the sets that are known".to_owned();
    let rows = Rows::of(threads + 1, &rows);
    let evidence = evidence::regular(compiled, Regular { threads: parts.collect(), rows }, because);
    Ok(evidence::certified(evidence, &compiled.model, |property| search.violations[property].is_some()))
}

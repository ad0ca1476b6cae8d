//! A concrete trace from a chain of symbolic contexts.
//!
//! A violating view picks one stack from each set of the last state. Going back along the links, only the thread that
//! ran has another set before: there a witness of post* says from which stack of the earlier set, and by which rules,
//! the stack came about. At the first state every set is a single stack, the initial one.
//!
//! Where threads are interchangeable, a link tells a place in an ordered row. So the chain is first followed forwards,
//! to find out which thread has been at which place, and then backwards with the real threads.

use tepui_core::{Budget, Stop};
use tepui_model::pushdown::{Pattern, Symbol};

use super::languages::Languages;
use super::post_star::PostStar;
use super::search::Search;
use crate::ids::{Id, StateId, ThreadId, Threads};
use crate::pushdown::top_views::TopViews;

/// The steps (thread, rule) from the initial state to a violation of a property that was found.
pub(crate) fn concretize(
    search: &Search<TopViews<Languages>>,
    property: usize,
    budget: &mut Budget,
) -> Result<Vec<(ThreadId, usize)>, Stop> {
    let Some(violation) = search.violations[property] else { return Ok(Vec::new()) };
    let defect = || Stop::defect("a symbolic state could not be made concrete");
    let compiled = search.compiled();
    let mut view = vec![0; search.views.width()];
    search.views.get(violation.view, &mut view);
    let (state, tops) = state_with(search, violation.level, &view, budget)?.ok_or_else(defect)?;
    let chain = chain_to(search, state).ok_or_else(defect)?;
    let (threads, mut rows) = real_rows(search, &chain);
    // The tops belong to places in the last row; threads are renamed so that the property is violated as it stands.
    let patterns = &compiled.model.properties()[property].never;
    let at = places(search, rows.last().ok_or_else(defect)?);
    let mut real_tops = tops.clone();
    at.iter().zip(&tops).for_each(|(&thread, &top)| real_tops[thread.index()] = top);
    let shared = compiled.shared(view[0]);
    let covers = |pattern: &&Pattern| search.symmetry().covers(pattern, shared, |thread| real_tops[thread.index()]);
    let pattern = patterns.iter().find(covers).ok_or_else(defect)?;
    let names = search.symmetry().renaming(pattern, |thread| real_tops[thread.index()]);
    let mut stacks = Vec::new();
    let last = rows.pop().ok_or_else(defect)?;
    for (thread, &top) in Threads::all(compiled.threads()).zip(&real_tops) {
        let set = search.locals().set(compiled.kind_of[thread.index()], last[thread.field()]);
        stacks.push(set.shortest(top).ok_or_else(defect)?);
    }
    let mut contexts = Vec::new();
    let mut after = last[0];
    for (&thread, before) in threads.iter().zip(&rows).rev() {
        let kind = compiled.kind_of[thread.index()];
        let set = search.locals().set(kind, before[thread.field()]);
        let saturated = PostStar::new(&compiled.kinds[kind], before[0], set, budget)?;
        let witness = saturated.witness(after, &stacks[thread.index()], budget)?.ok_or_else(defect)?;
        stacks[thread.index()] = witness.origin;
        contexts.push((names[thread.index()], witness.rules));
        after = before[0];
    }
    let own = |thread: ThreadId, rule: u32| (thread, compiled.own_rule(thread, rule as usize));
    let steps = contexts.into_iter().rev();
    Ok(steps.flat_map(|(thread, rules)| rules.into_iter().map(move |rule| own(thread, rule))).collect())
}

/// The first state of a level that has a view, and the top that it shows at each place for it.
fn state_with(
    search: &Search<TopViews<Languages>>,
    level: usize,
    view: &[u32],
    budget: &mut Budget,
) -> Result<Option<(StateId, Vec<Symbol>)>, Stop> {
    let (compiled, symmetry) = (search.compiled(), search.symmetry());
    let mut row = vec![0; view.len()];
    for state in search.states_of(level) {
        budget.pass(1)?;
        search.explorer.states.get(state, &mut row);
        if row[0] != view[0] {
            continue;
        }
        let mut found = None;
        symmetry.unfold(view, &mut |member| {
            let shows = |thread: ThreadId| {
                search.explorer.system.system.tops(thread, row[thread.field()]).contains(&member[thread.field()])
            };
            if found.is_none() && Threads::all(compiled.threads()).all(shows) {
                found = Some(member[1..].iter().copied().map(Symbol).collect());
            }
        });
        if let Some(tops) = found {
            return Ok(Some((state, tops)));
        }
    }
    Ok(None)
}

/// The states from the initial one to a state, each but the first with the place of the thread that ran before it.
fn chain_to(search: &Search<TopViews<Languages>>, mut state: StateId) -> Option<Vec<(Option<ThreadId>, StateId)>> {
    let mut chain = Vec::new();
    while state != StateId::INITIAL {
        let link = search.links.get(state.index())?;
        chain.push((Some(link.thread), state));
        state = link.parent;
    }
    chain.push((None, StateId::INITIAL));
    chain.reverse();
    Some(chain)
}

/// Which thread really runs in each context of a chain, and the rows as they really are, one more than contexts.
fn real_rows(
    search: &Search<TopViews<Languages>>,
    chain: &[(Option<ThreadId>, StateId)],
) -> (Vec<ThreadId>, Vec<Vec<u32>>) {
    let (mut threads, mut rows) = (Vec::new(), Vec::<Vec<u32>>::new());
    for &(place, state) in chain {
        let mut row = vec![0; search.explorer.states.width()];
        search.explorer.states.get(state, &mut row);
        if let (Some(place), Some(before)) = (place, rows.last()) {
            let thread = places(search, before)[place.index()];
            let mut real = before.clone();
            (real[0], real[thread.field()]) = (row[0], new_local(search, before, thread, &row));
            threads.push(thread);
            row = real;
        }
        rows.push(row);
    }
    (threads, rows)
}

/// Which thread of a real row stands at each place of the ordered one.
fn places(search: &Search<TopViews<Languages>>, row: &[u32]) -> Vec<ThreadId> {
    let mut at: Vec<_> = Threads::of(row).collect();
    for group in search.symmetry().groups() {
        let mut members = group.clone();
        members.sort_by_key(|&member| row[member.field()]);
        group.iter().zip(members).for_each(|(&place, member)| at[place.index()] = member);
    }
    at
}

/// The local that a thread has after a context, given the real row before and the ordered one afterwards: what the
/// thread's group has gained.
fn new_local(search: &Search<TopViews<Languages>>, before: &[u32], thread: ThreadId, after: &[u32]) -> u32 {
    let own = [thread];
    let groups = search.symmetry().groups();
    let group = groups.iter().find(|group| group.contains(&thread)).map_or(&own[..], Vec::as_slice);
    let mut others: Vec<_> =
        group.iter().filter(|&&other| other != thread).map(|&other| before[other.field()]).collect();
    for &place in group {
        match others.iter().position(|&local| local == after[place.field()]) {
            Some(index) => drop(others.remove(index)),
            None => return after[place.field()],
        }
    }
    after[thread.field()]
}

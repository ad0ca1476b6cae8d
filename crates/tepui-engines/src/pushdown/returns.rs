//! Does every return lead to one place only?
//!
//! If a thread's symbols have at most one symbol each that may lie below them when they are popped, then a view says
//! what a pop will bring to light: equal views have equal successors, for every step, and one representative of each
//! view is enough. Then reachability is decidable, although stacks may grow without bound, and the closure search decides it
//! with views of depth 1. This generalises tail recursion: the recursive call may stand anywhere, as long as there is
//! only one and nothing has to be remembered across it.
//!
//! What may lie below is worked out for each thread alone, as if every rule might fire at any time.

use rustc_hash::FxHashSet;
use tepui_model::pushdown::{Action, Symbol, Thread};

use super::compiled::Compiled;

/// Whether pops of all threads bring one symbol to light each; none, if no thread ever pushes.
pub fn deterministic_returns(compiled: &Compiled) -> Option<bool> {
    let threads = compiled.model.threads().iter().zip(compiled.initial_words());
    let pushes = |thread: &Thread| {
        thread.rules.iter().any(|rule| matches!(rule.action, Action::Push { .. }) && !rule.top.is_bottom())
    };
    if !compiled.model.threads().iter().any(pushes) {
        return None;
    }
    Some(threads.into_iter().all(|(thread, stack)| is_deterministic(thread, &stack)))
}

fn is_deterministic(thread: &Thread, stack: &[Symbol]) -> bool {
    // For each symbol what may lie below it: nothing yet, one symbol, or several.
    let mut below: Vec<Vec<Symbol>> = vec![Vec::new(); thread.symbol_count() as usize];
    let mut heirs: Vec<FxHashSet<u32>> = vec![FxHashSet::default(); below.len()];
    let mut open: Vec<(Symbol, Symbol)> = stack.windows(2).map(|pair| (pair[0], pair[1])).collect();
    for rule in &thread.rules {
        match rule.action {
            Action::Pop => {}
            Action::Overwrite(symbol) => drop(heirs[rule.top.0 as usize].insert(symbol.0)),
            Action::Push { top, below: return_to } => {
                open.push((top, return_to));
                heirs[rule.top.0 as usize].insert(return_to.0);
            }
        }
    }
    while let Some((symbol, under)) = open.pop() {
        let known = &mut below[symbol.0 as usize];
        if known.len() < 2 && !known.contains(&under) {
            known.push(under);
            open.extend(heirs[symbol.0 as usize].iter().map(|&heir| (Symbol(heir), under)));
        }
    }
    let pops = thread.rules.iter().filter(|rule| rule.action == Action::Pop);
    pops.into_iter().all(|rule| below[rule.top.0 as usize].len() < 2)
}

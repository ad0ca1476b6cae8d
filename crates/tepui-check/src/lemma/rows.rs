//! Rows and words that are well formed, and which threads a row lets move.

use tepui_cert::pushdown::{Explored, Lemma};
use tepui_model::pushdown::Symbol;

use super::Groups;
use crate::system::System;

/// Who must not be interrupted.
pub(crate) enum Holders {
    Nobody,
    One(usize),
    Several,
}

impl Holders {
    /// Whether a thread may move: nobody else must not be interrupted.
    pub(crate) fn let_move(&self, thread: usize) -> bool {
        match *self {
            Self::Nobody => true,
            Self::One(holder) => holder == thread,
            Self::Several => false,
        }
    }
}

/// Whether every row names what exists, and is canonical, and they are in ascending order.
pub(super) fn check_rows(system: &impl System, lemma: &Lemma, groups: &Groups) -> Result<(), String> {
    let shared = system.shared_states();
    let words = |thread: usize| lemma.threads[groups.leader(thread)].words.len();
    let words: Vec<_> = (0..lemma.threads.len()).map(words).collect();
    let exists =
        |row: &[u32]| row[0] < shared && row[1..].iter().zip(&words).all(|(&word, &words)| (word as usize) < words);
    for row in lemma.views.iter() {
        if !exists(&row) {
            return Err(format!("the row {row:?} names a shared state or word that does not exist"));
        }
        if !groups.is_canonical(&row) {
            return Err(format!("the row {row:?} does not list interchangeable threads in ascending order"));
        }
    }
    if lemma.views.ascends() { Ok(()) } else { Err("its rows are not in ascending order".to_owned()) }
}

/// For each view the threads that are explored there, if not all are; nothing, if all are at every view.
pub(super) fn explored(lemma: &Lemma) -> Result<Vec<Option<&[usize]>>, String> {
    let mut found = if lemma.explored.is_empty() { Vec::new() } else { vec![None; lemma.views.len()] };
    for Explored { threads, views } in &lemma.explored {
        if !threads.is_sorted() || threads.iter().any(|&thread| thread >= lemma.threads.len()) {
            return Err("it explores threads that do not exist, or lists them in another order".to_owned());
        }
        for &view in views {
            let known = found.get_mut(view).ok_or("it explores threads at a view that does not exist")?;
            if known.replace(threads.as_slice()).is_some() {
                return Err(format!("it says twice which threads are explored at view {view}"));
            }
        }
    }
    Ok(found)
}

/// At most `depth` symbols, of which the last may be the marker and must be if there are fewer.
pub(super) fn is_word(word: &[Symbol], depth: u32, symbols: u32) -> bool {
    let Some((last, upper)) = word.split_last() else { return false };
    let complete = word.len() == depth as usize || (word.len() < depth as usize && last.is_bottom());
    complete && last.0 < symbols && upper.iter().all(|symbol| !symbol.is_bottom() && symbol.0 < symbols)
}

/// Symbols in ascending order, none twice.
pub(super) fn as_set(symbols: &[Symbol]) -> Vec<Symbol> {
    let mut set = symbols.to_vec();
    set.sort_unstable();
    set.dedup();
    set
}

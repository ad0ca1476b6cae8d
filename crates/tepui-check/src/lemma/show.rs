//! What is said to people when a proof is refused. Nothing here has to be believed.

use tepui_model::pushdown::Symbol;

use super::{Checked, Word};
use crate::show::Show;
use crate::system::{Move, System};

impl<S: System> Checked<'_, S> {
    /// Says what is wrong with a step of a thread, as its leader takes it.
    pub(super) fn blame(&self, row: &[u32], (thread, step): (usize, &Move), reason: &str) -> String {
        let (system, leader) = (self.system, self.groups.leader(thread));
        let taken = match thread == leader {
            true => String::new(),
            false => format!(", taken by {}", system.thread_name(thread)),
        };
        format!("at view {}, {}{taken}: {reason}", self.show(row), system.show_move(leader, step))
    }

    /// Says that a thread gets a word that is not listed.
    pub(super) fn no_view_has(&self, thread: usize, word: Word<'_>) -> String {
        let (name, word) = (self.system.thread_name(thread), show_word(self.system, thread, word));
        format!("brings {name} to {word}, which no view has")
    }

    /// Says that a symbol comes to lie below a word where it is not listed.
    pub(super) fn not_below(&self, thread: usize, word: Word<'_>, symbol: Symbol) -> String {
        let (symbol, word) = (self.system.show_symbol(thread, symbol), show_word(self.system, thread, word));
        format!("{symbol} may come to lie below {word}, which is not listed")
    }

    /// Says that a thread is explored and another one is not, but they collide.
    pub(super) fn disturbs(&self, thread: usize, other: usize) -> String {
        let [one, other] = [thread, other].map(|thread| self.system.thread_name(thread));
        format!("{one} is explored and {other} is not, but one may disturb the other")
    }

    /// Says that a thread is ignored.
    pub(super) fn ignores(&self, thread: usize, view: usize) -> String {
        let view = self.show(&self.lemma.views.get(view));
        format!("{} is ignored from the view {view} on", self.system.thread_name(thread))
    }

    /// A row, for people.
    pub(crate) fn show(&self, row: &[u32]) -> String {
        self.show_with(row, (usize::MAX, &[]))
    }

    pub(super) fn show_with(&self, row: &[u32], (changed, word): (usize, Word<'_>)) -> String {
        let system = self.system;
        let word = |thread: usize| if thread == changed { word } else { self.word(thread, row[thread + 1]) };
        let words: Vec<_> = (0..row.len() - 1).map(|thread| show_word(system, thread, word(thread))).collect();
        format!("{}|{}", system.show_shared(row[0]), words.join(","))
    }
}

/// A word for people: from bottom to top, as stacks are written, with `..` where more may lie below.
pub(super) fn show_word(system: &impl Show, thread: usize, word: &[Symbol]) -> String {
    let name = |symbol: &Symbol| system.show_symbol(thread, *symbol);
    match word.split_last() {
        Some((last, upper)) if last.is_bottom() && !upper.is_empty() => {
            upper.iter().rev().map(name).collect::<Vec<_>>().join(".")
        }
        Some((last, [])) if last.is_bottom() => "-".to_owned(),
        _ => ["..".to_owned()].into_iter().chain(word.iter().rev().map(name)).collect::<Vec<_>>().join("."),
    }
}

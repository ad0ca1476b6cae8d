//! Views of programs, in words.

use tepui_core::Budget;

use super::system::Programs;
use super::views::{FrameViews, Return};
use crate::abstraction::{Abstraction, Describe};
use crate::explorer::number_rows;
use crate::ids::{Id, ThreadId, Threads, ViewId, WordId};
use crate::packed::PackedSet;
use crate::workers::Workers;

impl Describe<Programs> for FrameViews {
    fn because(system: &Programs, depth: usize) -> String {
        match depth {
            1 if system.is_flat() => {
                "the views reached are closed under every step; no thread calls a procedure, so this is decidable"
                    .to_owned()
            }
            1 => "the views reached are closed under every step".to_owned(),
            depth => format!("the views reached, of depth {depth}, are closed under every step"),
        }
    }

    fn stored(system: &Programs) -> [&'static str; 2] {
        if system.symmetry.is_trivial() { ["state", "states"] } else { ["orbit of states", "orbits of states"] }
    }

    fn unmet(depth: usize, open: usize) -> String {
        let views = match depth {
            1 => "showing the top of each stack".to_owned(),
            depth => format!("showing the topmost {depth} frames of each stack"),
        };
        let count = match open {
            1 => "1 view that a return may lead to has not been reached".to_owned(),
            open => format!("{open} views that returns may lead to have not been reached"),
        };
        format!("with views {views}, {count}")
    }

    fn explain(&self, system: &Programs, view: &[u32], why: Return) -> String {
        let word = WordId(view[why.place.field()]);
        let (top, below) = (self.words.word(why.place, word)[0], self.words.word(why.place, why.revealed)[0]);
        let words = |thread: ThreadId| self.words.word(thread, WordId(view[thread.field()])).to_vec();
        format!(
            "at {} thread {} may return from {}; {} may lie below, but no state reached so far shows that",
            system.show_view(view[0], &Threads::of(view).map(words).collect::<Vec<_>>()),
            why.place.index() + 1,
            system.show_frame(top),
            system.show_frame(below),
        )
    }

    fn list<I: Id>(
        &self,
        system: &Programs,
        views: &PackedSet<I>,
        violating: bool,
        workers: &Workers,
        budget: &mut Budget,
    ) -> Vec<String> {
        if self.exact {
            // States are listed by their words, as views of other programs are.
            let mut words = Self::new(system, self.level());
            let mut listed = PackedSet::<ViewId>::new(words.fields(system));
            let all: Vec<_> = views.ids().collect();
            let _ = words.prepare(system, budget).and_then(|()| {
                number_rows(views, &all, &mut listed, workers, budget, |row, view| words.view(system, row, view))
            });
            return words.list(system, &listed, violating, workers, budget);
        }
        let mut listed = Vec::new();
        let (mut row, mut stopped) = (vec![0; views.width()], false);
        let word = |thread: ThreadId, row: &[u32]| self.words.word(thread, WordId(row[thread.field()])).to_vec();
        for view in views.ids() {
            views.get(view, &mut row);
            let violates = || (0..system.property_count()).any(|property| self.violates(system, property, &row));
            if !violating || violates() {
                system.symmetry.unfold(&row, &mut |row| {
                    listed.push((row[0], Threads::of(row).map(|thread| word(thread, row)).collect::<Vec<_>>()));
                });
            }
            stopped = budget.pass(16).is_err();
            if stopped {
                break;
            }
        }
        let mut shown: Vec<_> = listed.iter().map(|(shared, words)| system.show_view(*shared, words)).collect();
        shown.sort_unstable();
        shown.dedup();
        shown.extend(stopped.then(|| "# a limit was reached: the list is not complete".to_owned()));
        shown
    }
}

//! Which threads are explored at a state while the others wait: a *persistent* set, with as few threads that can move as possible.
//!
//! A set is persistent if what its threads do next does not collide with anything that others may ever do. The least one that
//! has a given thread is found by adding whoever collides. Of the sets that have fewest threads that can move, the one of
//! the thread whose step found the state is taken, else the first. So a thread runs as far as it can before others
//! begin: otherwise it would run in a circle anew wherever the others stand, and each of these circles would have to be
//! opened for them.
//!
//! What collides is the business of the system.

use crate::ids::{ThreadId, Threads};

/// Who disturbs whom at a state.
pub(crate) trait Disturbing {
    /// How many threads there are.
    fn threads(&self) -> usize;

    /// Whether what a thread does next collides with something that another one may ever do.
    fn collides(&self, thread: ThreadId, other: ThreadId) -> bool;

    /// Adds whoever collides with threads of a set, as long as all are wanted; says whether they were.
    fn close(&self, set: &mut Vec<ThreadId>, mut is_wanted: impl FnMut(ThreadId) -> bool) -> bool {
        let mut outside: Vec<_> = Threads::all(self.threads()).filter(|thread| !set.contains(thread)).collect();
        let mut next = 0;
        while let Some(&thread) = set.get(next) {
            if !is_wanted(thread) {
                return false;
            }
            outside.retain(|&other| {
                let collides = self.collides(thread, other);
                if collides {
                    set.push(other);
                }
                !collides
            });
            next += 1;
        }
        set.sort_unstable();
        true
    }

    /// The persistent set to be explored at a state that a step of some thread led to first, if any thread can move; of those sets
    /// that will do.
    fn fewest(
        &self,
        mover: ThreadId,
        mut can_move: impl FnMut(ThreadId) -> bool,
        will_do: impl Fn(&[ThreadId]) -> bool,
        chosen: &mut Vec<ThreadId>,
    ) -> bool {
        let mut enabled: Vec<Option<bool>> = vec![None; self.threads()];
        let mut can_move = |thread: ThreadId| *enabled[thread.index()].get_or_insert_with(|| can_move(thread));
        let (mut fewest, mut set) = (usize::MAX, Vec::new());
        for thread in [mover].into_iter().chain(Threads::all(self.threads()).filter(|&thread| thread != mover)) {
            if !can_move(thread) {
                continue;
            }
            set.clear();
            set.push(thread);
            let mut count = 0;
            // A set is given up as soon as it is no better than one before.
            let better = self.close(&mut set, |thread| {
                count += usize::from(can_move(thread));
                count < fewest
            });
            if better && will_do(&set) {
                fewest = count;
                std::mem::swap(chosen, &mut set);
            }
            if fewest == 1 {
                break;
            }
        }
        fewest < usize::MAX
    }
}

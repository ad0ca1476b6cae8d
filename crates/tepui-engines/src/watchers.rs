//! Which views have to be looked at again because of a fact.
//!
//! When a fact is learned, the views that were looked at before and watch its key may owe more than was known. As a rule,
//! the facts that matter are known by the time most views are looked at, and no view has to be found again. So the list of
//! a key is made when it is first asked for; until then it is enough to know which views have been looked at. Each view is
//! put into lists once.

use tepui_core::{Budget, Stop};

use crate::abstraction::Key;
use crate::ids::ViewId;
use crate::packed::PackedSet;

/// Views that were looked at, by the keys that they watch.
#[derive(Default)]
pub(crate) struct Watchers {
    /// For the thread and the number of a key, the views that watch it.
    lists: Vec<Vec<Vec<ViewId>>>,
    /// Views that are in no list yet.
    unlisted: Vec<Vec<ViewId>>,
}

impl Watchers {
    /// These views have been looked at.
    pub(crate) fn add(&mut self, views: Vec<ViewId>) {
        self.unlisted.push(views);
    }

    /// The views of a set that watch a key, if `watches` adds the keys that a view watches. Give the list back
    /// ([`put_back`](Self::put_back)): it may grow.
    pub(crate) fn take(
        &mut self,
        key: Key,
        views: &PackedSet<ViewId>,
        budget: &mut Budget,
        watches: impl Fn(ViewId, &[u32], &mut Vec<Key>),
    ) -> Result<Vec<ViewId>, Stop> {
        if !self.unlisted.is_empty() {
            self.list(views, budget, watches)?;
        }
        let list = self.lists.get_mut(key.0.index()).and_then(|lists| lists.get_mut(key.1 as usize));
        Ok(list.map(std::mem::take).unwrap_or_default())
    }

    /// Puts a list back that was taken.
    pub(crate) fn put_back(&mut self, key: Key, list: Vec<ViewId>) {
        if !list.is_empty() {
            self.lists[key.0.index()][key.1 as usize] = list;
        }
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        let lists = self.lists.iter().flatten().chain(&self.unlisted);
        lists.map(|list| list.capacity() * 4 + 24).sum()
    }

    /// Puts views into lists that are in none yet.
    fn list(
        &mut self,
        views: &PackedSet<ViewId>,
        budget: &mut Budget,
        watches: impl Fn(ViewId, &[u32], &mut Vec<Key>),
    ) -> Result<(), Stop> {
        let (mut row, mut keys) = (vec![0; views.width()], Vec::new());
        for view in std::mem::take(&mut self.unlisted).into_iter().flatten() {
            views.get(view, &mut row);
            watches(view, &row, &mut keys);
            for (thread, number) in keys.drain(..) {
                self.lists.resize(self.lists.len().max(thread.index() + 1), Vec::new());
                let lists = &mut self.lists[thread.index()];
                lists.resize(lists.len().max(number as usize + 1), Vec::new());
                lists[number as usize].push(view);
            }
            budget.pass(1)?;
        }
        Ok(())
    }
}

//! Call-return relations: which frames may come to light when a procedure returns, found in the program's text.
//!
//! * *Plain*: every frame that waits at a call of the same procedure, whatever the values of its local variables.
//! * *Local*: only frames with values that they may have at the call.
//! * *Live*: the same, where local variables that are dead after the call are not told apart.
//!
//! The first two are about a model that keeps dead values, the last about one that does not.

use rustc_hash::{FxHashMap, FxHashSet};
use tepui_model::pushdown::{Action, Symbol};

use super::{Compiled, Point};
use crate::program::layout::Head;

/// Which call-return relation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallReturn {
    /// Whatever the values of local variables.
    Plain,
    /// With values of local variables that may be.
    Local,
    /// With values of live local variables that may be.
    Live,
}

impl CallReturn {
    /// Whether it is about a model that keeps the values of dead local variables.
    pub fn keeps_dead(self) -> bool {
        self != Self::Live
    }
}

impl Compiled {
    /// For each thread, pairs of a symbol and one that may lie below it.
    pub fn call_return(&self, relation: CallReturn) -> Vec<Vec<(Symbol, Symbol)>> {
        let threads = self.model.threads().iter().zip(&self.legend.threads);
        threads
            .map(|(thread, &kind)| {
                let points = &self.legend.points[kind];
                let head = |point: &Point| Head(self.legend.tables.frames.get(point.frame)[0]);
                let of = |symbol: Symbol| head(&points[symbol.0 as usize - 1]);
                let mut waiting: FxHashMap<usize, FxHashSet<Symbol>> = FxHashMap::default();
                for rule in &thread.rules {
                    if let Action::Push { top, below } = rule.action
                        && !below.is_bottom()
                    {
                        waiting.entry(of(top).procedure()).or_default().insert(below);
                    }
                }
                if relation == CallReturn::Plain {
                    // Where a frame stands, whatever the values of its variables.
                    let place = |point: &Point| (head(point), point.doing);
                    for frames in waiting.values_mut() {
                        let places: FxHashSet<_> =
                            frames.iter().map(|&frame| place(&points[frame.0 as usize - 1])).collect();
                        let all = (1..).map(Symbol).zip(points).filter(|(_, point)| places.contains(&place(point)));
                        frames.extend(all.map(|(symbol, _)| symbol).collect::<Vec<_>>());
                    }
                }
                let mut pairs = Vec::new();
                for (symbol, head) in (1..).map(Symbol).zip(points.iter().map(head)).filter(|(_, head)| !head.is_root())
                {
                    pairs.extend(waiting.get(&head.procedure()).into_iter().flatten().map(|&frame| (symbol, frame)));
                }
                pairs.sort_unstable();
                pairs
            })
            .collect()
    }
}

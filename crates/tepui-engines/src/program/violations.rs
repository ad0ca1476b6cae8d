//! What must not happen: frames that fail or stand where they must not, and states in which nobody can move.

use tepui_model::program::Goal;
use tepui_model::pushdown::Symbol;

use super::layout::{Head, Stage};
use super::local_steps::stands;
use super::machine::{Machine, Outcome};
use super::system::Programs;
use crate::ids::ThreadId;

/// The frame on top and the one below it.
type TwoFrames<'a> = (&'a [u64], Option<&'a [u64]>);

/// Frames on top and below.
pub(super) type Shown = (Symbol, Option<Symbol>);

impl Programs {
    /// Whether a thread with a frame on top violates a property by that alone.
    pub fn is_bad(&self, property: usize, symbol: Symbol) -> bool {
        if symbol.is_bottom() {
            return false;
        }
        let head = Head(self.tables.frame(symbol)[0]);
        let Some(property) = self.properties.get(property) else { return head.stage() == Stage::Full };
        let stands = |procedure: usize, position: usize| {
            head.procedure() == procedure && stands(&self.code.program.procedures[procedure], head.position(), position)
        };
        property.never.iter().any(|goal| match *goal {
            Goal::Failure(..) | Goal::Range(..) | Goal::Index(..) => head.failure() == Some(*goal),
            Goal::Reached(procedure, position) => {
                matches!(head.stage(), Stage::Running | Stage::Asleep) && stands(procedure, position)
            }
            Goal::Deadlock => false,
        })
    }

    /// Whether a property is that threads can move.
    pub fn is_deadlock(&self, property: usize) -> bool {
        self.properties.get(property).is_some_and(|property| property.never.contains(&Goal::Deadlock))
    }

    /// Whether a thread can take a step, given the frame on top and the one below. Where that is not in sight, no frame
    /// refuses what is returned to it.
    pub fn is_enabled(&self, shared: &[u64], frame: &[u64], below: Option<&[u64]>, machine: &mut Machine) -> bool {
        let mut enabled = false;
        let mut returned: Vec<(Vec<u64>, Vec<i64>, bool)> = Vec::new();
        if !self.code.has_turn(shared, Head(frame[0])) {
            return false;
        }
        self.code.ways(shared, frame, machine, &mut |machine, outcome| match outcome {
            Outcome::Returns => {
                returned.push((machine.shared.clone(), machine.values.clone(), machine.head().insists()));
            }
            _ => enabled = true,
        });
        enabled
            || returned.iter().any(|(shared, values, insists)| {
                below.is_none_or(|below| self.code.accepts(shared, below, (values, *insists), machine))
            })
    }

    /// Whether no thread can move and one has not ended: for some values of variables that have none yet, the same for all
    /// threads. `frames` are, for each thread, its frame on top and the one below it.
    pub fn is_stuck(&self, shared: &[u64], frames: &[Option<TwoFrames<'_>>], machine: &mut Machine) -> bool {
        let ready = frames.iter().flatten().filter(|(top, _)| self.code.has_turn(shared, Head(top[0])));
        let ready: Vec<_> = ready.collect();
        // One that has failed could go on failing.
        let failed = |(top, _): &(&[u64], _)| Head(top[0]).stage().has_failed();
        if frames.iter().all(Option::is_none) || frames.iter().flatten().any(failed) {
            return false;
        }
        let mut tops: Vec<_> = ready.iter().map(|(top, _)| top.to_vec()).collect();
        let below: Vec<_> = ready.iter().map(|(_, below)| *below).collect();
        self.is_stuck_with(&mut shared.to_vec(), &mut tops, &below, machine)
    }

    /// The same. Values are given to those variables only that something really depends on: which elements of an array these
    /// are may depend on the values of others.
    fn is_stuck_with(
        &self,
        shared: &mut Vec<u64>,
        tops: &mut Vec<Vec<u64>>,
        below: &[Option<&[u64]>],
        machine: &mut Machine,
    ) -> bool {
        let open = |thread: usize| {
            let found = self.code.undecided(shared, &tops[thread], below[thread], machine);
            found.map(|variable| (thread, variable))
        };
        let Some((thread, variable)) = (0..tops.len()).find_map(open) else {
            return (0..tops.len()).all(|thread| !self.may_move(shared, &tops[thread], below[thread], machine));
        };
        let field = variable.field;
        let mut stuck = false;
        for value in 0..u64::from(field.values) {
            field.put(if variable.shared { shared } else { &mut tops[thread] }, value);
            stuck = self.is_stuck_with(shared, tops, below, machine);
            if stuck || self.code.loses_patience(machine) {
                break;
            }
        }
        field.put(if variable.shared { shared } else { &mut tops[thread] }, field.unset);
        stuck
    }

    /// Whether a thread can move whose frames have all values that it depends on, for all values of the variables that only
    /// what is enforced below depends on.
    fn may_move(&self, shared: &[u64], top: &[u64], below: Option<&[u64]>, machine: &mut Machine) -> bool {
        let Some(below) = below else { return self.is_enabled(shared, top, None, machine) };
        let mut moves = true;
        self.code.settle_enforced(shared, below, &mut |shared, below| {
            moves = moves && self.is_enabled(shared, top, Some(below), machine);
        });
        moves
    }

    /// The first stack of a thread, top first with the marker at the end.
    pub(super) fn first_word(&self, thread: ThreadId) -> Vec<Symbol> {
        self.tables.stacks(self.kind_of[thread.index()]).word(self.initial_stack(thread), usize::MAX)
    }

    /// The topmost frame of a stack, and the one below it.
    #[inline]
    pub(super) fn top_two(&self, thread: ThreadId, stack: u32) -> Shown {
        let stacks = self.tables.stacks(self.kind_of[thread.index()]);
        let (top, rest) = stacks.split(stack);
        let below = stacks.split(rest).0;
        (top, Some(below).filter(|below| !below.is_bottom()))
    }

    /// Whether a shared row and frames violate a property.
    pub(super) fn violates(&self, property: usize, shared: u32, shown: impl Iterator<Item = Shown> + Clone) -> bool {
        if shown.clone().any(|(top, _)| self.is_bad(property, top)) {
            return true;
        }
        let words = |symbol: Symbol| self.tables.frame(symbol);
        let frames = shown.map(|(top, below)| (!top.is_bottom()).then(|| (words(top), below.map(words))));
        self.is_deadlock(property)
            && self.is_stuck(self.tables.shared(shared), &frames.collect::<Vec<_>>(), &mut Machine::default())
    }

    /// A frame that sleeps on a condition, when it has been woken.
    pub(super) fn awake(&self, symbol: Symbol, condition: u32) -> Option<Vec<u64>> {
        let frame = (!symbol.is_bottom()).then(|| self.tables.frame(symbol))?;
        let head = Head(frame[0]);
        (head.stage() == Stage::Asleep && head.condition() == condition).then(|| {
            let mut awake = frame.to_vec();
            awake[0] = head.awake().0;
            awake
        })
    }
}

//! What specs make of what they are told, in all ways.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use tepui_model::queue::evaluate::Error;
use tepui_model::queue::run::{Choices, Effect, Letter, Local, Outcome};
use tepui_model::queue::state::MOST_WAYS;

use super::liveness::Passed;
use super::{Checker, TOO_MANY, Wrong};

/// Specs in some states are told something by a kind of machine.
pub(super) type Telling = (Box<[u32]>, usize, Rc<[Letter]>);

/// What may become of specs that are told something.
pub(super) enum Heard {
    /// For those that hear it the numbers of states that cover theirs; and how each was on the way.
    Goes(Vec<(usize, Vec<u32>)>, Vec<Passed>),
    /// One of them ends the execution.
    Fails(Error),
}

impl Checker<'_> {
    /// What becomes of the specs.
    pub(super) fn tell(&mut self, specs: &[u32], kind: usize, told: &Rc<[Letter]>) -> Result<Rc<[Heard]>, Wrong> {
        let key = (Box::from(specs), kind, Rc::clone(told));
        if let Some(known) = self.heard.get(&key) {
            return Ok(Rc::clone(known));
        }
        let heard: Rc<[Heard]> = self.hear(specs, kind, told)?.into();
        self.heard.insert(key, Rc::clone(&heard));
        Ok(heard)
    }

    fn hear(&mut self, specs: &[u32], kind: usize, told: &[Letter]) -> Result<Vec<Heard>, Wrong> {
        // The states that have changed, and how specs were on the way: all that may be.
        let fresh = (BTreeMap::<usize, Local>::new(), vec![Passed::default(); specs.len()]);
        let (mut goes, mut heard) = (BTreeSet::from([fresh]), Vec::new());
        for letter in told {
            for (number, spec) in self.program.specs.iter().enumerate() {
                if !spec.observes.contains(&letter.event) || !spec.hears.contains(&kind) {
                    continue;
                }
                let listed = &self.local(specs[number])?.1;
                for (changed, passed) in std::mem::take(&mut goes) {
                    for outcome in self.spec_runs(number, changed.get(&number).unwrap_or(listed), letter)? {
                        self.handled.extend(outcome.handled);
                        let (mut changed, mut passed) = (changed.clone(), passed.clone());
                        match outcome.effect {
                            Effect::Rests => {
                                passed[number].note(self.program.temperature(number, &outcome.local));
                                changed.insert(number, outcome.local);
                            }
                            Effect::Fails(..) if spec.scenario => {}
                            Effect::Fails(error, _) => {
                                heard.push(Heard::Fails(error));
                                continue;
                            }
                            _ => return Err("what a spec does cannot be said".to_owned()),
                        }
                        goes.insert((changed, passed));
                    }
                    if goes.len() + heard.len() >= MOST_WAYS {
                        return Err(TOO_MANY.to_owned());
                    }
                }
            }
        }
        let kind = |number: usize| self.program.specs[number].kind as u32;
        let covering = |(number, local)| (number, self.locals.covering(&(kind(number), local)));
        let goes = goes.into_iter();
        heard.extend(goes.map(|(changed, passed)| Heard::Goes(changed.into_iter().map(covering).collect(), passed)));
        Ok(heard)
    }

    /// What a spec does with what it is told, in all ways.
    fn spec_runs(&self, number: usize, local: &Local, letter: &Letter) -> Result<Vec<Outcome>, Wrong> {
        let (mut choices, mut outcomes) = (Choices::default(), Vec::new());
        loop {
            outcomes.push(self.program.step_of_spec(number, local, Some(letter), &mut choices));
            if outcomes.len() >= MOST_WAYS {
                return Err(TOO_MANY.to_owned());
            }
            if !choices.advance() {
                return Ok(outcomes);
            }
        }
    }
}

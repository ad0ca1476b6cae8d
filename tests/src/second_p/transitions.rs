//! How events are handled: agendas, and which event a machine takes.

use std::collections::BTreeSet;

use super::run::{Runner, Stop};
use super::state::{Agenda, Item, Machine, function_of};
use super::tree::{Action, HALT, Handler, Kind, NULL, Name, Program, What};
use super::values::{Value, Wrong};

impl Runner<'_> {
    /// Does the next part of a transition.
    pub(super) fn attend(&mut self, next: Agenda) -> Result<Option<Stop>, Wrong> {
        let kind = &self.program.kinds[self.machine.kind];
        let top = self.machine.states.last().and_then(|top| kind.states.get(top));
        match next {
            Agenda::Exit => self.start(kind, top.and_then(|top| top.exit), Value::Null),
            Agenda::Run(function, payload) => self.call(function, vec![payload]),
            Agenda::Enter(state, payload) => {
                self.machine.states.pop();
                return self.enter(kind, state, payload);
            }
            Agenda::Push(state, payload) => return self.enter(kind, state, payload),
            Agenda::Pop { asked } => {
                self.machine.states.pop();
                if asked && self.machine.states.is_empty() {
                    return Err("pop");
                }
            }
            Agenda::Handle(event, payload) => {
                self.handle(kind, event, payload)?;
                return Ok(Some(Stop::Mark));
            }
        }
        Ok(None)
    }

    fn start(&mut self, kind: &Kind, handler: Option<Handler>, payload: Value) {
        if let Some(function) = handler.and_then(|handler| function_of(kind, handler)) {
            self.call(function, vec![payload]);
        }
    }

    fn enter(&mut self, kind: &Kind, state: Name, payload: Value) -> Result<Option<Stop>, Wrong> {
        self.machine.states.push(state);
        self.start(kind, kind.states[&state].entry, payload);
        Ok(Some(Stop::Mark))
    }

    fn handle(&mut self, kind: &Kind, event: Name, payload: Value) -> Result<(), Wrong> {
        if self.machine.states.is_empty() {
            if event != HALT {
                return Err("unhandled");
            }
            self.machine.halt();
            return Ok(());
        }
        let action = action(kind, self.machine, event);
        if let Some((state, Action::Do(_) | Action::Goto(..) | Action::Push(_))) = action {
            self.program.handled.borrow_mut().insert((self.machine.kind, state, event));
        }
        match action.map(|(_, action)| action).cloned() {
            Some(Action::Ignore) => {}
            Some(Action::Do(handler)) => self.start(kind, Some(handler), payload),
            Some(Action::Push(state)) => self.machine.agenda.push(Agenda::Push(state, payload)),
            Some(Action::Goto(state, with)) => {
                self.machine.agenda.push(Agenda::Enter(state, payload.clone()));
                let function = with.and_then(|with| function_of(kind, with));
                self.machine.agenda.extend(function.map(|function| Agenda::Run(function, payload)));
                self.machine.agenda.push(Agenda::Exit);
            }
            Some(Action::Defer) | None => {
                let rest = [Agenda::Handle(event, payload), Agenda::Pop { asked: false }, Agenda::Exit];
                self.machine.agenda.extend(rest);
            }
        }
        Ok(())
    }
}

/// What the state on top does with an event: what it says itself, or what is done in the nearest state below that says
/// something, with that state. Transitions of states below are not inherited.
fn action<'a>(kind: &'a Kind, machine: &Machine, event: Name) -> Option<(Name, &'a Action)> {
    let says = |state: &Name| kind.states[state].actions.get(&event).map(|action| (*state, action));
    let mut says = machine.states.iter().rev().map(says);
    if let Some(own) = says.next()? {
        return Some(own);
    }
    says.flatten().next().filter(|(_, action)| matches!(action, Action::Do(_) | Action::Ignore))
}

/// The events that are skipped when one is taken.
fn deferred(kind: &Kind, machine: &Machine) -> BTreeSet<Name> {
    let mut all = BTreeSet::new();
    for (event, action) in machine.states.iter().flat_map(|state| &kind.states[state].actions) {
        if matches!(action, Action::Defer) {
            all.insert(*event);
        } else {
            all.remove(event);
        }
    }
    all
}

/// Lets a machine that is about to take an event take it; whether there is one.
pub(super) fn take(program: &Program, machine: &mut Machine) -> bool {
    let kind = &program.kinds[machine.kind];
    if machine.waits().is_some() {
        return receive(program, machine);
    }
    let skipped = deferred(kind, machine);
    let at = machine.queue.iter().position(|(event, _)| !skipped.contains(event));
    let letter = match at.and_then(|at| machine.queue.remove(at)) {
        Some(letter) => letter,
        None if matches!(action(kind, machine, NULL), None | Some((_, Action::Defer | Action::Ignore))) => {
            return false;
        }
        None => (NULL, Value::Null),
    };
    machine.agenda.push(Agenda::Handle(letter.0, letter.1));
    true
}

/// Takes an event in a `receive`.
fn receive(program: &Program, machine: &mut Machine) -> bool {
    let Some(stmt) = machine.waits() else { return false };
    let What::Receive(cases) = &program.stmts[stmt].what else { return false };
    let named = |event: Name| cases.iter().find(|case| case.events.contains(&event));
    let takes = |event: Name| named(event).is_some() || event == HALT && !program.old;
    let at = machine.queue.iter().position(|(event, _)| takes(*event));
    let letter = at.and_then(|at| machine.queue.remove(at)).unwrap_or((NULL, Value::Null));
    let Some(case) = named(letter.0) else {
        if letter.0 == HALT {
            machine.instead(vec![Agenda::Handle(HALT, Value::Null)]);
        }
        return letter.0 == HALT;
    };
    let Some(frame) = machine.frames.last_mut() else { return false };
    frame.items.pop();
    frame.items.push(Item::EndCase(frame.locals.len()));
    frame.items.push(Item::Rest(case.body, 0));
    frame.locals.extend(case.parameter.map(|name| (name, letter.1)));
    true
}

/// Whether a machine can do something.
pub(super) fn enabled(program: &Program, machine: &Machine) -> bool {
    !machine.halted && (!machine.about_to_take() || take(program, &mut machine.clone()))
}

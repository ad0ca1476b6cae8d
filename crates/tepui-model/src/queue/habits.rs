//! What machines of a kind make of events, whatever state they are in.

use super::{HALT, Handler, Instruction, NULL, Program, State};

/// What machines of a kind make of events.
#[derive(Clone, Debug)]
pub struct Habits {
    /// Whether they may do something because there is nothing to take.
    pub asks_for_null: bool,
    /// For each event whether there is a use for it: somewhere they do more than to ignore or defer it, or somebody counts how
    /// often they have it.
    pub uses: Vec<bool>,
}

impl Program {
    /// The habits of each kind of machine.
    pub fn habits(&self) -> Vec<Habits> {
        // Which machines call a function is not asked.
        let code = self.functions.iter().flat_map(|function| &function.code);
        let cases = code.filter_map(|instruction| match instruction {
            Instruction::Receive(cases, _) => Some(cases.iter().map(|(event, _)| *event)),
            _ => None,
        });
        let received: Vec<u32> = cases.flatten().collect();
        let habits = self.kinds.iter().map(|kind| {
            let in_some_state = |of: &dyn Fn(&State) -> bool| kind.states.iter().any(of);
            let uses = (0..).zip(&self.events).map(|(event, bound)| {
                let counted = bound.is_some() || kind.bound.is_some();
                let used = |state: &State| match state.handler(event) {
                    Some(handler) => handler != Handler::Ignore,
                    None => !state.defers.contains(&event),
                };
                event == HALT || counted || received.contains(&event) || in_some_state(&used)
            });
            let asks_for_null = received.contains(&NULL) || in_some_state(&|state| state.handler(NULL).is_some());
            Habits { asks_for_null, uses: uses.collect() }
        });
        habits.collect()
    }
}

//! Handlers that no execution comes to, or none of those that were looked at.

use std::collections::{BTreeMap, BTreeSet};

use tepui_core::text::grouped;
use tepui_model::queue::run::Handled;
use tepui_model::queue::{Handler, NULL, Program};

/// The most states whose handlers are listed.
const LISTED: usize = 8;

/// The handlers of some kinds of machines and specs. That an event is ignored is none.
pub(super) fn of(program: &Program, kinds: &BTreeSet<u32>) -> BTreeSet<Handled> {
    let mut all = BTreeSet::new();
    for &kind in kinds {
        for (number, state) in (0..).zip(&program.kinds[kind as usize].states) {
            let used = state.handlers.iter().filter(|(_, handler)| *handler != Handler::Ignore);
            all.extend(used.map(|(event, _)| (kind, number, *event)));
        }
    }
    all
}

/// Those that are not used, in words, if there are some.
pub fn missing(program: &Program, kinds: &BTreeSet<u32>, used: &BTreeSet<Handled>) -> Option<String> {
    let mut states = BTreeMap::<_, Vec<String>>::new();
    for &(kind, state, event) in of(program, kinds).difference(used) {
        let event = if event == NULL { "null".to_owned() } else { program.event_name(event) };
        states.entry((kind, state)).or_default().push(event);
    }
    let listed = states.iter().take(LISTED).map(|(&(kind, state), events)| {
        let told = &program.told.kinds[kind as usize];
        format!("{}.{} on {}", told.name, told.states[state as usize], events.join(", "))
    });
    let listed: Vec<_> = listed.collect();
    let more = match states.len() - listed.len() {
        0 => String::new(),
        more => format!("; and those of {} more states", grouped(more as u64)),
    };
    (!listed.is_empty()).then(|| format!("{}{more}", listed.join("; ")))
}

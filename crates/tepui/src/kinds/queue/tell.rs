//! Executions of programs with queues, told as stories: who takes what, where that leads, and what is sent to whom.

use std::collections::BTreeSet;

use tepui_cert::queue::Trace;
use tepui_core::Story;
use tepui_core::story::{Mark, Message, Move, Situation, Step as Told, Unit, Values};
use tepui_lang::source::Source;
use tepui_model::queue::evaluate::Error;
use tepui_model::queue::run::{Choices, Effect, Letter, Local, Site, Waiting};
use tepui_model::queue::state::{Happens, Machine, State, Step, Takes, Violation};
use tepui_model::queue::{Program, Spec};

use super::super::Detail;

/// Tells a trace: its steps are taken again. What cannot be taken is not told.
pub(super) fn story(program: &Program, sources: &[Source], trace: &Trace, detail: Detail) -> Story {
    let mut teller = Teller { program, sources, detail, actors: Vec::new(), steps: Vec::new(), end: Vec::new() };
    match program.initial(&mut Choices::of(&trace.start)) {
        Ok(state) => {
            teller.run(state, trace);
            teller.goes_round(trace);
        }
        Err(Happens::Error(violation)) => teller.end.push(teller.wrong(&violation)),
        Err(_) => {}
    }
    let (start, text) = (Situation::Values(Vec::new()), "step");
    teller.specs_come_last();
    let Teller { actors, steps, end, .. } = teller;
    Story { actors, text, unit: Unit::Steps, start, steps, end }.with_contexts()
}

/// What is said about a step behind a `#`.
pub(super) fn remark(story: &Story, number: usize) -> String {
    let Some(step) = story.steps.get(number) else { return String::new() };
    let name = |actor: usize| story.actors.get(actor).map_or("?", String::as_str);
    let mut text = step.moves.first().map_or(String::new(), |own| format!("{} {}", name(own.actor), own.text));
    for message in &step.messages {
        text += &format!(", {} to {}", message.text, name(message.to));
    }
    text
}

/// Whether a trace leads to a handler that goes on for ever.
fn is_endless(trace: &Trace) -> bool {
    trace.property == Error::Diverges.name()
}

struct Teller<'p> {
    program: &'p Program,
    sources: &'p [Source],
    detail: Detail,
    actors: Vec<String>,
    steps: Vec<Told>,
    end: Vec<String>,
}

/// Specs have numbers from here on, until it is known how many machines there are.
const SPECS: usize = usize::MAX / 2;

/// Where something stands: the file, the line and the column.
type Place = (String, usize, usize);

impl Teller<'_> {
    fn run(&mut self, mut state: State, trace: &Trace) {
        let name = |program: &Program, kind: u32, number: usize| format!("{}#{number}", kind_name(program, kind));
        self.actors.push(name(self.program, state.machines[0].kind, 0));
        for (number, step) in trace.steps.iter().enumerate() {
            // A step goes on for ever whatever the values are that do not matter.
            if let Some(circle) = trace.circle.as_ref().filter(|circle| circle.after == number && is_endless(trace)) {
                state = circle.state.clone();
            }
            if step.machine >= state.machines.len() {
                return;
            }
            let mut choices = Choices::of(&step.choices);
            let Some(taken) = self.program.step_of(&state, step.machine, usize::MAX, &mut choices) else { return };
            let told = self.step(&state, &taken);
            self.steps.push(told);
            match taken.result {
                Happens::State(next) => {
                    for (number, machine) in next.machines.iter().enumerate().skip(self.actors.len()) {
                        self.actors.push(name(self.program, machine.kind, number));
                    }
                    state = next;
                }
                Happens::Error(violation) => return self.ends_with(&violation),
                Happens::Pruned | Happens::Refused | Happens::Unknown(_) => return,
            }
        }
        let mut wrong = self.program.end(&state).into_iter();
        if let Some(violation) = wrong.find(|violation| violation.error.name() == trace.property) {
            self.ends_with(&violation);
            self.end.extend(self.waiting(&state));
        }
    }

    /// Specs that heard something are actors behind all machines.
    fn specs_come_last(&mut self) {
        let specs: BTreeSet<usize> =
            self.steps.iter().flat_map(|step| &step.messages).filter_map(|one| one.to.checked_sub(SPECS)).collect();
        let machines = self.actors.len();
        for message in self.steps.iter_mut().flat_map(|step| &mut step.messages) {
            if let Some(spec) = message.to.checked_sub(SPECS) {
                message.to = machines + specs.range(..spec).count();
            }
        }
        let name = |spec: usize| kind_name(self.program, self.program.specs[spec].kind as u32).to_owned();
        self.actors.extend(specs.into_iter().map(name));
    }

    /// What is said of an execution that never ends.
    fn goes_round(&mut self, trace: &Trace) {
        let Some(circle) = trace.circle.as_ref().filter(|_| !is_endless(trace)) else { return };
        let hot = |(spec, local): &(usize, &Local)| {
            self.program.temperature(*spec, local) == Some(tepui_model::queue::Temperature::Hot)
        };
        let specs: Vec<_> = circle.state.specs.iter().enumerate().filter(hot).map(|(spec, _)| spec).collect();
        let names = specs.iter().map(|spec| kind_name(self.program, self.program.specs[*spec].kind as u32));
        let names = names.collect::<Vec<_>>().join(", ");
        let (first, last) = (circle.after + 1, trace.steps.len());
        let steps = match first == last {
            true => format!("step {first} goes"),
            false => format!("steps {first} to {last} go"),
        };
        self.end.push(format!("{}: {steps} on for ever, and {names} stays hot", trace.property));
    }

    fn ends_with(&mut self, violation: &Violation) {
        let text = self.wrong(violation);
        self.end.push(text);
    }

    /// An error in words.
    fn wrong(&self, violation: &Violation) -> String {
        let by = violation.spec.and_then(|spec| self.program.specs.get(spec));
        let by = by.map_or(String::new(), |spec| format!("spec {}: ", kind_name(self.program, spec.kind as u32)));
        format!("{}: {by}{}", violation.error.name(), violation.message)
    }

    /// Who waits at the end, and what is left in the queues.
    fn waiting(&self, state: &State) -> Vec<String> {
        let waits = |(number, machine): (usize, &Machine)| {
            let what = match machine.local.waiting(self.program) {
                Waiting::Halted | Waiting::Busy => return None,
                Waiting::Idle => format!("is in {}", self.state_name(machine)),
                Waiting::Receive(_) => format!("waits at a receive in {}", self.state_name(machine)),
            };
            let queue: Vec<_> = machine.queue.iter().map(|letter| self.letter(letter)).collect();
            let queue = if queue.is_empty() { "its queue is empty".to_owned() } else { queue.join(", ") + " waiting" };
            Some(format!("{} {what}, {queue}", self.actors.get(number)?))
        };
        state.machines.iter().enumerate().filter_map(waits).collect()
    }

    fn state_name(&self, machine: &Machine) -> String {
        self.state_of(machine.kind as usize, &machine.local)
    }

    fn state_of(&self, kind: usize, local: &Local) -> String {
        let states = &self.program.told.kinds[kind].states;
        let top = local.states.last().and_then(|top| states.get(*top as usize));
        top.cloned().unwrap_or_else(|| "no state".to_owned())
    }

    fn letter(&self, letter: &Letter) -> String {
        let name = self.program.event_name(letter.event);
        match &letter.payload {
            tepui_model::queue::Value::Null => name,
            payload => {
                let shown = self.program.shown(payload);
                let shown = if shown.starts_with('(') { shown } else { format!("({shown})") };
                let cut = if self.detail == Detail::Short { tepui_core::text::cut(&shown) } else { shown };
                name + &cut
            }
        }
    }

    fn step(&self, before: &State, step: &Step) -> Told {
        let machine = &before.machines[step.machine];
        let takes = match (&step.taken, self.program.takes(machine)) {
            (Some(_), Takes::Null) => "takes null".to_owned(),
            (Some(letter), _) => format!("takes {}", self.letter(letter)),
            (None, _) if self.is_first(step.machine) => "starts".to_owned(),
            (None, _) => "goes on".to_owned(),
        };
        let after = match &step.result {
            Happens::State(next) => Some(&next.machines[step.machine]),
            _ => None,
        };
        let stands = |machine: &Machine| self.state_name(machine);
        let (from, to) = (stands(machine), after.map_or_else(|| stands(machine), stands));
        let text = match after {
            Some(after) if after.local.halted => format!("{takes} and halts"),
            _ if from == to => format!("{takes} in {from}"),
            _ => format!("{takes}: {from} -> {to}"),
        };
        let place = self.place_of(before, step);
        let (file, line, column) =
            place.map_or((None, 0, None), |(file, line, column)| (Some(file), line, Some(column)));
        let procedure = Some(to).filter(|_| after.is_some_and(|after| !after.local.states.is_empty()));
        let own = Move { actor: step.machine, text, procedure, file, line, column };
        let changed = after.map_or_else(Vec::new, |after| self.changed(machine, after));
        let mut told = Told::new(vec![own], Situation::Values(changed));
        told.messages = self.messages(before, step);
        if let Happens::Error(violation) = &step.result {
            told.marks.push(Mark::Violation(violation.error.name()));
        }
        told
    }

    /// Whether a machine has not moved before.
    fn is_first(&self, machine: usize) -> bool {
        !self.steps.iter().flat_map(|step| &step.moves).any(|own| own.actor == machine)
    }

    /// What specs hear, and where that leads them; the last one may fail.
    fn heard(&self, before: &State, step: &Step) -> Vec<Message> {
        let (mut specs, mut heard, mut found) = (before.specs.clone(), step.heard.iter(), Vec::new());
        let hears = before.machines[step.machine].kind as usize;
        let listens =
            |letter: &&Letter, spec: &Spec| spec.observes.contains(&letter.event) && spec.hears.contains(&hears);
        let both = step.told.iter().flat_map(|letter| (0..specs.len()).map(move |number| (letter, number)));
        let both: Vec<_> = both.filter(|(letter, number)| listens(letter, &self.program.specs[*number])).collect();
        for (letter, number) in both {
            let mut text = self.letter(letter);
            let after = heard.next();
            if let Some((_, after)) = after {
                let name = |local: &Local| self.state_of(self.program.specs[number].kind, local);
                let (from, to) = (name(&specs[number]), name(after));
                text += &if from == to { String::new() } else { format!(": {from} -> {to}") };
                specs[number] = after.clone();
            }
            found.push(Message { from: step.machine, to: SPECS + number, text });
            if after.is_none() {
                break;
            }
        }
        found
    }

    /// What is sent, who is created, what specs hear, and what is printed.
    fn messages(&self, before: &State, step: &Step) -> Vec<Message> {
        let from = step.machine;
        let mut messages: Vec<_> =
            step.says.iter().map(|text| Message { from, to: from, text: format!("\"{text}\"") }).collect();
        let sent = step.sent.as_ref().map(|(target, letter)| Message {
            from,
            to: *target as usize,
            text: self.letter(letter),
        });
        messages.extend(self.heard(before, step));
        messages.extend(sent);
        if let Happens::State(next) = &step.result {
            let created = before.machines.len()..next.machines.len();
            messages.extend(created.map(|to| Message { from, to, text: "new".to_owned() }));
        }
        messages
    }

    /// The variables that have changed.
    fn changed(&self, before: &Machine, after: &Machine) -> Values {
        let names = &self.program.told.kinds[after.kind as usize].variables;
        let pairs = before.local.variables.iter().zip(&after.local.variables).zip(names);
        let changed = pairs.filter(|((old, new), _)| old != new);
        changed.map(|((_, new), name)| (name.clone(), self.program.shown(new))).collect()
    }

    /// Where a step ends: at what it sends, or at what goes wrong.
    fn place_of(&self, before: &State, step: &Step) -> Option<Place> {
        let machine = &before.machines[step.machine];
        let (kind, number) = (machine.kind as usize, step.machine as u32);
        let mut choices = Choices::of(&step.choices);
        let outcome = self.program.step(kind, number, &machine.local, step.taken.as_ref(), &mut choices);
        if let Happens::Error(Violation { spec: Some(spec), .. }) = &step.result {
            return self.place_in_spec(&before.specs, *spec, (kind, &outcome.told), &mut choices);
        }
        outcome.at.filter(|_| !matches!(outcome.effect, Effect::Rests)).and_then(|at| self.place(at))
    }

    /// Where a spec fails, after others may have heard of the same step.
    fn place_in_spec(
        &self,
        specs: &[Local],
        fails: usize,
        told: (usize, &[Letter]),
        choices: &mut Choices,
    ) -> Option<Place> {
        let (mut specs, (kind, told)) = (specs.to_vec(), told);
        for letter in told {
            for (number, spec) in self.program.specs.iter().enumerate() {
                if !spec.observes.contains(&letter.event) || !spec.hears.contains(&kind) {
                    continue;
                }
                let outcome = self.program.step_of_spec(number, &specs[number], Some(letter), choices);
                match outcome.effect {
                    Effect::Rests => specs[number] = outcome.local,
                    _ if number == fails => return outcome.at.and_then(|at| self.place(at)),
                    _ => {}
                }
            }
        }
        None
    }

    /// Where an instruction stands in the source.
    fn place(&self, (function, instruction): Site) -> Option<Place> {
        let places = &self.program.told.functions.get(function as usize)?.places;
        let (source, start, _) = *places.get(instruction as usize)?;
        let source = self.sources.get(source as usize)?;
        let (line, column) = source.position(start as usize);
        Some((source.name.clone(), line, column))
    }
}

fn kind_name(program: &Program, kind: u32) -> &str {
    program.told.kinds.get(kind as usize).map_or("?", |kind| kind.name.as_str())
}

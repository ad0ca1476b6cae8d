//! From handshakes to actions.
//!
//! A handshake is offered by a sender and accepted by a receiver, any of those that there are; an action is for all who
//! know it. So a handshake becomes one action for each pair of a thread that sends and another one that receives, and a
//! rule that sends or receives becomes one rule for each partner.

use std::collections::BTreeSet;

use tepui_model::rendezvous::{Action, Control, Rule, Symbol, Thread};

/// A thread with handshakes.
#[derive(Clone, Debug)]
pub(super) struct Sketch {
    pub(super) name: String,
    pub(super) controls: Vec<String>,
    pub(super) symbols: Vec<String>,
    /// The actions that it knows besides its handshakes, by their numbers.
    pub(super) knows: BTreeSet<usize>,
    pub(super) rules: Vec<SketchRule>,
}

/// A rule with handshakes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct SketchRule {
    pub(super) from: Control,
    pub(super) top: Symbol,
    pub(super) label: Label,
    pub(super) to: Control,
    pub(super) right: Vec<Symbol>,
    pub(super) line: u32,
}

/// What a rule is labelled with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Label {
    /// Nothing: the step is internal.
    Internal,
    /// An action, by its number.
    Action(usize),
    /// The sending side of a handshake, by its number.
    Send(usize),
    /// The receiving side of a handshake.
    Receive(usize),
}

/// Adds an action for each pair of partners of each handshake, and gives the threads their rules.
pub(super) fn pair_up(
    mut actions: Vec<String>,
    handshakes: &[String],
    sketches: Vec<Sketch>,
) -> (Vec<String>, Vec<Thread>) {
    let has = |thread: &Sketch, label: Label| thread.rules.iter().any(|rule| rule.label == label);
    let mut pairs: Vec<(usize, usize, usize)> = Vec::new();
    let named = actions.len();
    for (handshake, name) in handshakes.iter().enumerate() {
        for (sender, sending) in sketches.iter().enumerate().filter(|(_, one)| has(one, Label::Send(handshake))) {
            for (receiver, receiving) in sketches.iter().enumerate() {
                if receiver != sender && has(receiving, Label::Receive(handshake)) {
                    pairs.push((handshake, sender, receiver));
                    actions.push(format!("{name}@{}@{}", sending.name, receiving.name));
                }
            }
        }
    }
    let number = |index: usize| Action(index as u32);
    let threads = sketches.into_iter().enumerate().map(|(index, sketch)| {
        let paired = |label: Label| -> Vec<Option<Action>> {
            let partners = pairs.iter().zip(named..).filter(|&(&(handshake, sender, receiver), _)| match label {
                Label::Send(wanted) => wanted == handshake && sender == index,
                Label::Receive(wanted) => wanted == handshake && receiver == index,
                Label::Internal | Label::Action(_) => false,
            });
            match label {
                Label::Internal => vec![None],
                Label::Action(action) => vec![Some(number(action))],
                Label::Send(_) | Label::Receive(_) => partners.map(|(_, action)| Some(number(action))).collect(),
            }
        };
        let rule = |rule: &SketchRule, action| Rule {
            from: rule.from,
            top: rule.top,
            action,
            to: rule.to,
            right: rule.right.clone(),
            line: rule.line,
        };
        let mut knows: BTreeSet<_> = sketch.knows.iter().map(|&action| number(action)).collect();
        let rules: Vec<_> = sketch
            .rules
            .iter()
            .flat_map(|one| paired(one.label).into_iter().map(move |action| rule(one, action)))
            .collect();
        knows.extend(rules.iter().filter_map(|rule| rule.action));
        let Sketch { name, controls, symbols, .. } = sketch;
        Thread { name, controls, symbols, knows, rules }
    });
    let threads = threads.collect();
    (actions, threads)
}

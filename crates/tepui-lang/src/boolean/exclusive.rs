//! `exclusive L;`: no two threads stand at the label L at the same time.
//!
//! It is made explicit, with a shared variable that says whether somebody stands there. A thread that has come to L takes the
//! place, which must be free, and leaves it again before it executes the statement. If two threads stand at L, the first takes
//! the place and stays, and the second finds it taken; and whoever finds it taken stands at L together with somebody.
//!
//! What a procedure enforces may keep a thread at L from taking the place. Labels of such procedures are refused.
//!
//! A thread that stands before an atomic block stands at its first statement, too. So the place is taken before the block if that
//! statement has the label, and inside as well, since there may be other ways to it.

use std::collections::HashSet;

use super::syntax::{Action, Declaration, Definition, Expression, KindName, Module, Name, Operation, Path, Statement};
use crate::diagnostic::{Diagnostic, Sink, quote};

/// How the properties are called.
pub(super) const PREFIX: &str = "exclusive-";

/// Writes out what `exclusive` means.
pub(super) fn write_out(module: &mut Module, sink: &mut Sink) {
    for label in std::mem::take(&mut module.exclusive) {
        let place = place(module, &label);
        let mut found = false;
        for procedure in &mut module.procedures {
            let body = std::mem::take(&mut procedure.body);
            let before = std::mem::take(&mut found);
            procedure.body = guarded(body, &label, &place, &mut found);
            if found && procedure.enforced.is_some() {
                let message = format!("{} stands in a procedure that enforces something", quote(&label.text));
                let error = Diagnostic::error(0, label.span.clone(), message, "cannot be exclusive");
                sink.push(error.hint("a thread may stand there that cannot move, and would not be seen"));
            }
            found |= before;
        }
        if !found {
            let message = format!("no statement has the label {}", quote(&label.text));
            sink.push(Diagnostic::error(0, label.span.clone(), message, "not a label"));
        }
        module.shared.push(Declaration { name: place, dimensions: Vec::new(), kind: KindName::Bool, init: None });
    }
}

/// A name that nothing else has.
fn place(module: &Module, label: &Name) -> Name {
    let defined = module.definitions.iter().map(|definition| match definition {
        Definition::Constant(name, _) | Definition::Kind(name, _) | Definition::Record(name, _) => name,
    });
    let procedures = || module.procedures.iter();
    let locals = procedures().flat_map(|procedure| procedure.parameters.iter().chain(&procedure.locals));
    let variables = module.shared.iter().chain(locals).map(|variable| &variable.name);
    let values = module.enumerations.iter().flat_map(|(name, values)| values.iter().chain([name]));
    let others = procedures().map(|procedure| &procedure.name).chain(module.conditions.iter().map(|(name, _)| name));
    let names: HashSet<&str> =
        defined.chain(variables).chain(values).chain(others).map(|name| name.text.as_str()).collect();
    // A label may be a number.
    let mut text = format!("at_{}", label.text);
    while names.contains(text.as_str()) {
        text.push('_');
    }
    Name { text, span: label.span.clone() }
}

/// Whether a statement is an atomic block whose first statement has a label.
fn begins_with(action: &Action, label: &Name) -> bool {
    let Action::Atomic(body) = action else { return false };
    let stands =
        |first: &Statement| first.labels.iter().any(|own| own.text == label.text) || begins_with(&first.action, label);
    body.first().is_some_and(stands)
}

/// A block in which each statement with a label is guarded.
fn guarded(block: Vec<Statement>, label: &Name, place: &Name, found: &mut bool) -> Vec<Statement> {
    let mut all = Vec::new();
    for Statement { labels, span, action } in block {
        let stands = labels.iter().any(|own| own.text == label.text) || begins_with(&action, label);
        let action = match action {
            Action::If(condition, then, otherwise) => {
                let [then, otherwise] = [then, otherwise].map(|block| guarded(block, label, place, found));
                Action::If(condition, then, otherwise)
            }
            Action::While(condition, body) => Action::While(condition, guarded(body, label, place, found)),
            Action::For(variable, bounds, body) => Action::For(variable, bounds, guarded(body, label, place, found)),
            Action::Atomic(body) => Action::Atomic(guarded(body, label, place, found)),
            other => other,
        };
        if !stands {
            all.push(Statement { labels, span, action });
            continue;
        }
        *found = true;
        let expression = |operation: Operation| Expression { span: span.clone(), operation };
        let path = || Path { name: place.clone(), steps: Vec::new(), span: span.clone() };
        let set = |value: bool| Action::Assign {
            targets: vec![path()],
            values: vec![expression(Operation::Truth(value))],
            constraint: None,
        };
        let statement = |action: Action| Statement { labels: Vec::new(), span: span.clone(), action };
        let free = expression(Operation::Not(Box::new(expression(Operation::Place(path())))));
        let property = Name { text: format!("{PREFIX}{}", label.text), span: label.span.clone() };
        let take = Action::Atomic(vec![statement(Action::Assert(free, Some(property))), statement(set(true))]);
        all.push(Statement { labels, span: span.clone(), action: take });
        all.push(statement(set(false)));
        all.push(statement(action));
    }
    all
}

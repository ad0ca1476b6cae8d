//! The convention of Getafix: `init` runs first; when it has returned, every procedure that nobody calls is a thread.
//!
//! It is made explicit: a procedure is added that calls `init` and starts the threads, and the program begins with it.
//! Parameters of such threads may have any values.

use super::syntax::{Action, Expression, Module, Name, Operation, Procedure, Statement};

/// Adds the procedure that the program begins with. Returns its number.
pub(super) fn add_start(module: &mut Module) -> usize {
    let mut called = Vec::new();
    module.procedures.iter().for_each(|procedure| callees(&procedure.body, &mut called));
    let statement = |procedure: &Procedure, action: Action| Statement {
        labels: Vec::new(),
        span: procedure.name.span.clone(),
        action,
    };
    let any = |procedure: &Procedure| -> Vec<_> {
        let value = |_: &_| Expression { span: procedure.name.span.clone(), operation: Operation::Any };
        procedure.parameters.iter().map(value).collect()
    };
    let (first, others): (Vec<_>, Vec<_>) =
        module.procedures.iter().partition(|procedure| procedure.name.text == "init");
    let first = first.into_iter().map(|procedure| {
        let targets = Vec::new();
        statement(procedure, Action::Call { targets, procedure: procedure.name.clone(), arguments: any(procedure) })
    });
    let others = others.into_iter().filter(|procedure| !called.contains(&procedure.name.text));
    let others = others.map(|procedure| {
        statement(
            procedure,
            Action::Start { procedure: procedure.name.clone(), arguments: any(procedure), count: None, posts: false },
        )
    });
    let body: Vec<_> = first.chain(others).collect();
    let mut text = "main".to_owned();
    while module.procedures.iter().any(|procedure| procedure.name.text == text) {
        text = if text == "main" { "start".to_owned() } else { text + "_" };
    }
    let span = body.first().map_or(0..0, |statement: &Statement| statement.span.clone());
    module.procedures.push(Procedure {
        name: Name { text, span: span.clone() },
        parameters: Vec::new(),
        locals: Vec::new(),
        results: Vec::new(),
        enforced: None,
        body,
        end: span,
    });
    module.procedures.len() - 1
}

/// The procedures that some statements call or start.
fn callees(block: &[Statement], found: &mut Vec<String>) {
    for statement in block {
        match &statement.action {
            Action::Call { procedure, .. } | Action::Start { procedure, .. } => found.push(procedure.text.clone()),
            Action::If(_, then, otherwise) => {
                callees(then, found);
                callees(otherwise, found);
            }
            Action::While(_, body) | Action::For(_, _, body) | Action::Atomic(body) => callees(body, found),
            _ => {}
        }
    }
}

//! What is odd about a program whose names are all known: ends without a value, jumps into atomic blocks, statements that
//! are never executed, variables that nobody reads or that hide others, procedures that nobody calls.

use tepui_model::program::flow::Flow;
use tepui_model::program::{Action, Declared, Procedure, Program, Slot};

use super::Dialect;
use super::syntax::{self, Module};
use crate::diagnostic::{Diagnostic, quote};

/// What is wrong or odd with the flow of control in a procedure.
pub(super) fn control(procedure: &Procedure, written: &syntax::Procedure, dialect: Dialect) -> Vec<Diagnostic> {
    let flow = Flow::of(procedure);
    let reachable = flow.reachable(procedure);
    let mut found = Vec::new();
    if !procedure.results.is_empty() && reachable[procedure.statements.len()] {
        let message = format!("{} may end without a value", quote(&procedure.name));
        found.push(
            Diagnostic::error(0, written.end.clone(), message, "the end is reached here")
                .hint("end every branch with `return`"),
        );
    }
    for (position, statement) in procedure.statements.iter().enumerate() {
        let span = statement.text.0 as usize..statement.text.1 as usize;
        let jumps: &[usize] = match &statement.action {
            Action::Goto(targets) => targets,
            Action::StartAt(target) => std::slice::from_ref(target),
            _ => &[],
        };
        let inside: Vec<_> = flow.atomics(position).collect();
        if let Action::StartAt(target) = statement.action
            && flow.atomics(target).next().is_some()
        {
            found.push(Diagnostic::error(
                0,
                span.clone(),
                "a thread cannot begin inside an atomic block",
                "starts there",
            ));
        } else if jumps.iter().any(|&to| flow.atomics(to).any(|block| !inside.contains(&block))) {
            found.push(Diagnostic::error(0, span.clone(), "a jump into an atomic block", "jumps into the block"));
        }
        let last = position.checked_sub(1);
        if !reachable[position] && last.is_none_or(|last| reachable[last]) && dialect.has_braces() {
            found.push(Diagnostic::warning(0, span, "this is never executed", "no way leads here"));
        }
    }
    found
}

/// Variables that nobody reads or that hide others, and procedures that nobody calls. Generated programs are full of
/// them: this is for programs that people write.
pub(super) fn unused(program: &Program, module: &Module) -> Vec<Diagnostic> {
    let (mut shared, mut called) = (vec![false; program.shared.len()], vec![false; program.procedures.len()]);
    let mut found = Vec::new();
    for (procedure, written) in program.procedures.iter().zip(&module.procedures) {
        let mut locals = vec![false; procedure.locals.len()];
        let mut read = |slot: Slot| match slot {
            Slot::Shared(number) => shared[number] = true,
            Slot::Local(number) => locals[number] = true,
        };
        procedure.enforced.iter().for_each(|condition| condition.slots(&mut read));
        for statement in &procedure.statements {
            statement.action.slots(&mut read);
            if let Action::Call { procedure, .. } | Action::Start { procedure, .. } = statement.action {
                called[procedure] = true;
            }
        }
        let names = || written.parameters.iter().chain(&written.locals).map(|declaration| &declaration.name);
        let unread = names().zip(&procedure.declared).filter(|(_, declared)| !is_read(program, declared, &locals));
        found.extend(unread.map(|(name, _)| (name, "is never read")));
        let hides = |name: &str| module.shared.iter().any(|declaration| declaration.name.text == name);
        found.extend(names().filter(|name| hides(&name.text)).map(|name| (name, "hides a shared variable")));
    }
    let names = module.shared.iter().map(|declaration| &declaration.name);
    let unread = names.zip(&program.declared).filter(|(_, declared)| !is_read(program, declared, &shared));
    found.extend(unread.map(|(name, _)| (name, "is never read")));
    let names = module.procedures.iter().map(|procedure| &procedure.name);
    let uncalled = names.zip(called).enumerate().filter(|(number, (_, called))| !called && *number != program.main);
    found.extend(uncalled.map(|(_, (name, _))| (name, "is never called")));
    let warning = |(name, what): (&syntax::Name, &str)| {
        let message = format!("{} {what}", quote(&name.text));
        Diagnostic::warning(0, name.span.clone(), message, "declared here")
    };
    found.into_iter().map(warning).collect()
}

/// Procedures that do something and that nobody calls, in a program that people did not write.
pub(super) fn uncalled(program: &Program, module: &Module) -> Vec<Diagnostic> {
    let statements = || program.procedures.iter().flat_map(|procedure| &procedure.statements);
    let called = |number: usize| {
        statements().any(|statement| match statement.action {
            Action::Call { procedure, .. } | Action::Start { procedure, .. } => procedure == number,
            _ => false,
        })
    };
    let acts = |procedure: &Procedure| {
        procedure.statements.iter().any(|statement| !matches!(statement.action, Action::Skip | Action::Return(_)))
    };
    let silent = |&(number, (procedure, _)): &(usize, (&Procedure, &syntax::Procedure))| {
        number != program.main && acts(procedure) && !called(number)
    };
    let procedures = program.procedures.iter().zip(&module.procedures).enumerate();
    procedures
        .filter(silent)
        .map(|(_, (_, written))| {
            let message = format!("{} is never called", quote(&written.name.text));
            Diagnostic::warning(0, written.name.span.clone(), message, "nothing in it is executed")
                .hint("`--dialect getafix` runs `init` first and then every such procedure as a thread")
        })
        .collect()
}

/// Whether some part of a variable is read.
fn is_read(program: &Program, declared: &Declared, read: &[bool]) -> bool {
    let parts = program.parts(&declared.shape);
    read[declared.first..][..parts].contains(&true)
}

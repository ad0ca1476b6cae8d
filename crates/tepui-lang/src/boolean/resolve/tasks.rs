//! Asynchronous programs: what tasks may do, and what only threads may.

use tepui_model::program::{Order, flow::Flow};

use super::*;

impl Resolver<'_, '_> {
    /// A program is asynchronous if it posts or yields somewhere, or says in which order tasks are dispatched.
    pub(super) fn order(&mut self) {
        let Some(written) = &self.module.order else {
            let tasks = |statement: &syntax::Statement| {
                matches!(statement.action, syntax::Action::Yield | syntax::Action::Start { posts: true, .. })
            };
            let asynchronous = self.module.procedures.iter().any(|procedure| syntax::any(&procedure.body, &tasks));
            self.program.order = asynchronous.then_some(Order::Bag);
            return;
        };
        self.program.order = Order::ALL.into_iter().find(|order| order.name() == written.text);
        if self.program.order.is_none() {
            let message = format!("{} is no order of tasks", quote(&written.text));
            let hint = Some("tasks are dispatched as from a `bag`, in any order, or `fifo` or `lifo`".to_owned());
            self.error_with_hint(&written.span, &message, "unknown", hint);
        }
    }

    /// What needs threads is refused where there are tasks, and what makes no difference is said.
    pub(super) fn require_tasks_alone(&mut self) {
        if self.program.order.is_none() || self.sink.has_errors() {
            return;
        }
        if let Some(label) = self.module.exclusive.first() {
            let span = label.span.clone();
            self.error(&span, "`exclusive` is for threads, and this program has tasks", "tasks run one at a time");
        }
        for procedure in &self.module.procedures {
            let mut found = Vec::new();
            syntax::each(&procedure.body, &mut |statement| found.extend(misplaced(statement)));
            found.into_iter().for_each(|diagnostic| self.sink.push(diagnostic));
        }
        let yielding = self.program.yielding();
        let mut found = Vec::new();
        for procedure in &self.program.procedures {
            let flow = Flow::of(procedure);
            for (position, statement) in procedure.statements.iter().enumerate() {
                let calls = matches!(&statement.action, Action::Call { procedure, .. } if yielding[*procedure]);
                if (calls || statement.action.may_yield()) && flow.atomics(position).next().is_some() {
                    found.push((statement.text, "a task must not yield inside of an atomic block"));
                }
            }
        }
        for ((start, end), message) in found {
            self.error(&(start as usize..end as usize), message, "it may yield here");
        }
    }
}

/// What is wrong or useless about a statement of a task.
fn misplaced(statement: &syntax::Statement) -> Option<Diagnostic> {
    use syntax::Action as Written;
    let refused = |what: &str, hint: &str| {
        let message = format!("{what} is for threads, and this program has tasks");
        Some(Diagnostic::error(0, statement.span.clone(), message, "not in a task").hint(hint))
    };
    match &statement.action {
        Written::Start { posts: false, .. } | Written::StartAt(_) => {
            refused("`thread`", "a program has threads or tasks, not both: `post f();` adds a task")
        }
        Written::Sleep | Written::SleepOn(..) => {
            refused("sleeping", "`wait(c);` yields until a condition on shared variables holds")
        }
        Written::Broadcast | Written::Wake(..) => {
            refused("waking threads", "`wait(c);` yields until a condition on shared variables holds")
        }
        Written::AtomicBegin | Written::AtomicEnd => {
            refused("`atomic_begin`", "nobody interrupts a task: it runs until it ends or yields")
        }
        Written::Atomic(_) => {
            let message = "`atomic` makes no difference in a task";
            let warning = Diagnostic::warning(0, statement.span.clone(), message, "nobody interrupts it anyway");
            Some(warning.hint("a task runs until it ends or yields"))
        }
        _ => None,
    }
}

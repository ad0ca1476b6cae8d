//! Which threads there are from the start.
//!
//! Many programs start all their threads at the beginning of `main` and nowhere else. Nothing can be seen of the order
//! in which that happens: a thread that runs before another one is started might as well run afterwards. So these
//! threads are there from the start, and values that `main` gives to shared variables before that are initial values.
//! What is left of `main`, if anything, is one more thread. Otherwise threads are created: there is a thread for
//! `main`, and there are places for others.

use tepui_model::program::{Action, Expression, Program, Slot};

/// The threads that a program begins with.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The initial values of the shared variables.
    pub shared: Vec<Option<u32>>,
    /// Where `main` goes on, if it is a thread.
    pub main: Option<usize>,
    /// The others: procedure and arguments, in the order in which they are started.
    pub started: Vec<(usize, Vec<u32>)>,
}

impl Setup {
    /// The threads of a program that creates none later.
    pub fn of(program: &Program) -> Option<Self> {
        let main = program.procedures.get(program.main)?;
        let mut setup = Self {
            shared: program.shared.iter().map(|variable| variable.init).collect(),
            main: None,
            started: Vec::new(),
        };
        if !creates_threads(program, 0) {
            setup.main = Some(main.body.first().copied().unwrap_or(main.statements.len()));
            return Some(setup);
        }
        let mut rest = main.body.iter().copied().peekable();
        while let Some(position) = rest.next_if(|&position| setup.accepts(&main.statements[position].action)) {
            setup.perform(&main.statements[position].action);
        }
        let first = rest.next().unwrap_or(main.statements.len());
        let ends = main.statements.get(first).is_none_or(|statement| statement.action == Action::Return(Vec::new()));
        setup.main = (!ends).then_some(first);
        let again = |action: &Action| match action {
            Action::Call { procedure, .. } | Action::Start { procedure, .. } => *procedure == program.main,
            _ => false,
        };
        let back = |action: &Action| match action {
            Action::Goto(targets) => targets.iter().any(|&target| target < first),
            _ => false,
        };
        let repeated = main.statements.iter().any(|statement| back(&statement.action))
            || program.procedures.iter().flat_map(|procedure| &procedure.statements).any(|s| again(&s.action));
        let watched = program.unreachable.iter().any(|target| target.procedure == program.main);
        let few = setup.started.len() <= usize::from(u16::MAX);
        (!repeated && !watched && main.enforced.is_none() && few && !creates_threads(program, first)).then_some(setup)
    }

    /// Whether a statement only prepares: it gives constants to shared variables before any thread is started, or starts
    /// threads.
    fn accepts(&self, action: &Action) -> bool {
        let constant = |value: &Expression| matches!(value, Expression::Value(..));
        match action {
            Action::Skip => true,
            Action::Assign { targets, values, constraint: None } => {
                let shared = targets.iter().all(|target| matches!(target, Some(Slot::Shared(_))));
                self.started.is_empty() && shared && values.iter().all(constant)
            }
            Action::Start { arguments, .. } => arguments.iter().all(constant),
            _ => false,
        }
    }

    fn perform(&mut self, action: &Action) {
        let value = |value: &Expression| if let Expression::Value(value, _) = value { *value } else { 0 };
        match action {
            Action::Assign { targets, values, .. } => {
                for (target, expression) in targets.iter().zip(values) {
                    if let Some(Slot::Shared(number)) = target {
                        self.shared[*number] = Some(value(expression));
                    }
                }
            }
            Action::Start { procedure, arguments, count } => {
                let thread = (*procedure, arguments.iter().map(value).collect::<Vec<_>>());
                // More threads than any model may have are refused further on.
                self.started.extend(std::iter::repeat_n(thread, (*count).min(u32::from(u16::MAX) + 1) as usize));
            }
            _ => {}
        }
    }
}

/// Whether threads are started anywhere but in `main` before a position.
fn creates_threads(program: &Program, first: usize) -> bool {
    program.procedures.iter().enumerate().any(|(number, procedure)| {
        let statements = procedure.statements.iter().enumerate();
        let later = statements.filter(|&(position, _)| number != program.main || position >= first);
        later.into_iter().any(|(_, statement)| matches!(statement.action, Action::Start { .. } | Action::StartAt(_)))
    })
}

//! Which threads there are from the start.
//!
//! Many programs start all their threads at the beginning of `main` and nowhere else. Nothing can be seen of the order
//! in which that happens: a thread that runs before another one is started might as well run afterwards. So these
//! threads are there from the start, and values that `main` gives to shared variables before that are initial values.
//! What is left of `main`, if anything, is one more thread. Otherwise threads are created: there is a thread for
//! `main`, and there are places for others.

use tepui_model::program::{Action, Expression, Kind, Operator, Place, Procedure, Program, Slot};

use super::machine::computed;

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
        while let Some(&position) = rest.peek() {
            // A statement that does more than prepare leaves everything as it was.
            let mut tried = setup.clone();
            let mut preparing = Preparing { program, main, setup: &mut tried, loops: Vec::new() };
            if preparing.perform(position).is_none() {
                break;
            }
            setup = tried;
            rest.next();
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
}

/// What `main` does before anything else happens: it gives constants to shared variables before any thread is started, and
/// starts threads. Loops are as if they were written out.
struct Preparing<'a> {
    program: &'a Program,
    main: &'a Procedure,
    setup: &'a mut Setup,
    /// The variables of the loops around, and their codes.
    loops: Vec<(usize, u32)>,
}

impl Preparing<'_> {
    /// Does what a statement does; nothing, if it does more than prepare.
    fn perform(&mut self, position: usize) -> Option<()> {
        match &self.main.statements[position].action {
            Action::Skip => Some(()),
            Action::Assign { targets, values, constraint: None } if self.setup.started.is_empty() => {
                // All are computed before any is stored; constants do not care.
                targets.iter().zip(values).try_for_each(|(target, value)| self.store(target, value))
            }
            Action::Start { procedure, arguments, count } => {
                let parameters = self.program.procedures[*procedure].locals.iter();
                let given = parameters.zip(arguments).map(|(local, value)| self.code(value, local.kind));
                let thread = (*procedure, given.collect::<Option<Vec<_>>>()?);
                // More threads than any model may have are refused further on.
                let room = (usize::from(u16::MAX) + 1).saturating_sub(self.setup.started.len());
                self.setup.started.extend(std::iter::repeat_n(thread, (*count as usize).min(room)));
                Some(())
            }
            Action::For(variable, body) => {
                let (_, body) = body.split_last()?;
                for code in 0..self.program.values(self.main.locals[*variable].kind) {
                    self.loops.push((*variable, code));
                    let done = body.iter().try_for_each(|&position| self.perform(position));
                    self.loops.pop();
                    done?;
                }
                Some(())
            }
            _ => None,
        }
    }

    fn store(&mut self, target: &Place, value: &Expression) -> Option<()> {
        let slot = match target {
            Place::Variable(slot) => *slot,
            Place::Element(element) => {
                let mut slot = element.first;
                for index in &element.indices {
                    let number = usize::try_from(self.number(&index.value)?).ok()?;
                    slot = slot.after((number < index.count as usize).then_some(number * index.stride)?);
                }
                slot
            }
            Place::Nowhere => return None,
        };
        let Slot::Shared(number) = slot else { return None };
        self.setup.shared[number] = Some(self.code(value, self.program.shared[number].kind)?);
        Some(())
    }

    /// The code of a constant that is in the range of a kind.
    fn code(&self, value: &Expression, kind: Kind) -> Option<u32> {
        let code = u32::try_from(self.number(value)? - kind.lowest()).ok()?;
        (code < self.program.values(kind)).then_some(code)
    }

    /// The value of an expression of constants and variables of loops.
    fn number(&self, value: &Expression) -> Option<i64> {
        match value {
            Expression::Value(code, kind) => Some(kind.lowest() + i64::from(*code)),
            Expression::Number(number) => Some(*number),
            Expression::Read(Slot::Local(local)) => {
                let (_, code) = self.loops.iter().find(|(variable, _)| variable == local)?;
                Some(self.main.locals[*local].kind.lowest() + i64::from(*code))
            }
            Expression::Negate(operand) => Some(-self.number(operand)?),
            Expression::Binary(operator, left, right) => {
                let (left, right) = (self.number(left)?, self.number(right)?);
                let logical = matches!(operator, Operator::And | Operator::Or | Operator::Xor | Operator::Implies);
                (!logical).then(|| computed(*operator, left, right))
            }
            _ => None,
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

//! Which sorts of errors may happen in a program, as far as its text tells: those for which it has no construct may not.

use tepui_model::queue::evaluate::Error;
use tepui_model::queue::{Among, Binary, Bound, Expression, Instruction, Part, Place, Program, Temperature, Value};

/// All sorts, in the order in which they are listed.
const ALL: [Error; 20] = [
    Error::Assert,
    Error::Unhandled,
    Error::Deadlock,
    Error::HotAtEnd,
    Error::HotForEver,
    Error::NullTarget,
    Error::NullEvent,
    Error::Null,
    Error::Index,
    Error::Key,
    Error::DuplicateKey,
    Error::Division,
    Error::Cast,
    Error::Choose,
    Error::Permission,
    Error::EventBound,
    Error::MachineBound,
    Error::Pop,
    Error::Diverges,
    Error::Invariant,
];

/// The sorts of errors that the text of a program does not exclude.
pub(super) fn possible(program: &Program) -> Vec<Error> {
    let found = Found::of(program);
    ALL.into_iter().filter(|error| found.allows(program, *error)).collect()
}

/// What occurs in the functions of a program.
#[derive(Default)]
struct Found {
    asserts: bool,
    receives: bool,
    sends: bool,
    events: bool,
    elements: bool,
    inserts: bool,
    divides: bool,
    casts: bool,
    chooses: bool,
    pops: bool,
}

impl Found {
    fn of(program: &Program) -> Self {
        let mut found = Self::default();
        program.functions.iter().flat_map(|function| &function.code).for_each(|own| found.instruction(own));
        found
    }

    fn allows(&self, program: &Program, error: Error) -> bool {
        let assert = |bound: &Option<Bound>| matches!(bound, Some(Bound::Assert(_)));
        let mut kinds = program.kinds.iter();
        match error {
            Error::Assert => self.asserts,
            Error::Unhandled | Error::Null | Error::Diverges => true,
            Error::Deadlock => program.rules.today && self.receives,
            Error::HotAtEnd | Error::HotForEver => {
                let hot = |kind: usize| {
                    program.kinds[kind].states.iter().any(|state| state.temperature == Some(Temperature::Hot))
                };
                program.specs.iter().any(|spec| !spec.scenario && hot(spec.kind))
            }
            Error::NullTarget => self.sends,
            Error::NullEvent => self.events,
            Error::Index | Error::Key => self.elements,
            Error::DuplicateKey => self.inserts,
            Error::Division => self.divides,
            Error::Cast => self.casts,
            Error::Choose => self.chooses,
            Error::Permission => kinds.any(|kind| kind.receives.is_some() || kind.sends.is_some()),
            Error::EventBound => program.events.iter().any(assert),
            Error::MachineBound => kinds.any(|kind| assert(&kind.bound)),
            Error::Pop => self.pops,
            Error::Invariant => !program.claims.is_empty() && !program.rules.assume_claims,
        }
    }

    fn instruction(&mut self, instruction: &Instruction) {
        match instruction {
            Instruction::Insert(place, key, value) => {
                (self.inserts, self.elements) = (true, true);
                self.place(place);
                self.expression(key);
                self.expression(value);
            }
            Instruction::Set(place, value) | Instruction::Add(place, value) => {
                self.place(place);
                self.expression(value);
            }
            Instruction::Remove(place, key) => {
                self.elements = true;
                self.place(place);
                self.expression(key);
            }
            Instruction::Unless(condition, _) | Instruction::Assume(condition) => self.expression(condition),
            Instruction::Call(_, arguments, _) => arguments.iter().for_each(|one| self.expression(one)),
            Instruction::Choose(among, _) => self.among(among),
            Instruction::New(_, argument, _) => self.expression(argument),
            Instruction::Send(target, event, payload) => {
                self.sends |= !matches!(target, Expression::This);
                self.expression(target);
                self.event(event, payload);
            }
            Instruction::Announce(event, payload) | Instruction::Raise(event, payload) => self.event(event, payload),
            Instruction::Goto(_, payload) | Instruction::Return(Some(payload)) | Instruction::Print(payload) => {
                self.expression(payload);
            }
            Instruction::Assert(condition, message) => {
                self.asserts = true;
                self.expression(condition);
                self.expression(message);
            }
            Instruction::Receive(..) => self.receives = true,
            Instruction::Pop => self.pops = true,
            Instruction::Jump(_) | Instruction::Return(None) => {}
        }
    }

    fn among(&mut self, among: &Among) {
        match among {
            Among::Bool { .. } => {}
            Among::Of(expression) => {
                self.chooses = true;
                self.expression(expression);
            }
            Among::These(_) | Among::Unknown(_) => self.chooses = true,
        }
    }

    fn event(&mut self, event: &Expression, payload: &Expression) {
        self.events |= !matches!(event, Expression::Value(Value::Event(_)));
        self.expression(event);
        self.expression(payload);
    }

    fn place(&mut self, place: &Place) {
        for part in &place.path {
            if let Part::At(index) = part {
                self.elements = true;
                self.expression(index);
            }
        }
    }

    fn expression(&mut self, expression: &Expression) {
        match expression {
            Expression::Value(_) | Expression::Read(_) | Expression::This => {}
            Expression::Item(of, _) | Expression::Unary(_, of) => self.expression(of),
            Expression::At(of, index) => {
                self.elements = true;
                self.expression(of);
                self.expression(index);
            }
            Expression::Binary(operator, left, right) => {
                self.divides |= matches!(operator, Binary::Divide | Binary::Modulo);
                self.expression(left);
                self.expression(right);
            }
            Expression::Cast(of, _) => {
                self.casts = true;
                self.expression(of);
            }
            Expression::Tuple(parts) | Expression::Record(_, parts) | Expression::Format(_, parts) => {
                parts.iter().for_each(|part| self.expression(part));
            }
        }
    }
}

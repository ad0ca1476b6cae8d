//! The code of one function.

use tepui_model::queue::{Expression, Function, Instruction, Part, Place as Target, Slot, ToldFunction, Value};

use super::{Compiler, Effects};
use crate::diagnostic::quote;
use crate::p::syntax::{self, Name, Place};
use crate::p::types::Type;

/// A function that is being compiled.
pub(super) struct Body<'c, 'n, 'p> {
    pub(super) compiler: &'c mut Compiler<'n, 'p>,
    /// The machine that it belongs to.
    pub(super) machine: Option<usize>,
    /// The variables of that machine.
    pub(super) variables: &'c [(String, Type)],
    /// The names that can be seen, with their slots.
    pub(super) visible: Vec<(String, usize)>,
    /// For each slot its name and type.
    pub(super) slots: Vec<(String, Type)>,
    pub(super) result: Option<Type>,
    pub(super) code: Vec<Instruction>,
    pub(super) places: Vec<Place>,
    /// The statement at hand.
    pub(super) place: Place,
    /// The jumps that leave each loop, and those that begin it anew.
    pub(super) loops: Vec<(Vec<usize>, Vec<usize>)>,
    pub(super) effects: Effects,
    /// Whether the text that comes next is for people only.
    pub(super) only_read: bool,
}

/// A value that is computed: its type, and how.
pub(super) type Typed = (Type, Expression);

impl<'n, 'p> Compiler<'n, 'p> {
    /// Compiles a function into the room that was made for it.
    pub(super) fn compile(
        &mut self,
        number: usize,
        function: &syntax::Function,
        machine: Option<usize>,
        variables: &[(String, Type)],
    ) {
        let Some(written) = &function.body else { return };
        let signature = self.signatures[number].clone();
        let place = function.name.place;
        let mut body = Body {
            compiler: self,
            machine,
            variables,
            visible: Vec::new(),
            slots: Vec::new(),
            result: signature.result.clone(),
            code: Vec::new(),
            places: Vec::new(),
            place,
            loops: Vec::new(),
            effects: Effects::default(),
            only_read: false,
        };
        for (parameter, kind) in function.parameters.iter().zip(&signature.parameters) {
            body.declare(&parameter.name, kind.clone());
        }
        body.locals(&written.locals);
        let ends = body.block(&written.statements);
        if ends && signature.result.is_some() {
            body.compiler.error(written.end, "a path ends here without `return`", "a value is expected");
        }
        if let (Some(leaves), true) = (body.effects.leaves, signature.result.is_some()) {
            body.compiler.error(leaves, "a function that returns a value may not leave the state", "not here");
        }
        let Body { slots, code, places, effects, .. } = body;
        let told = ToldFunction {
            name: function.name.text.clone(),
            slots: slots.iter().map(|(name, _)| name.clone()).collect(),
            places: places.iter().map(|place| (place.source, place.start, place.end)).collect(),
        };
        let function = Function { parameters: function.parameters.len(), slots: slots.len(), code };
        self.functions[number] = Some((function, told));
        self.effects[number] = effects;
    }
}

impl Body<'_, '_, '_> {
    pub(super) fn emit(&mut self, instruction: Instruction) -> usize {
        self.code.push(instruction);
        self.places.push(self.place);
        self.code.len() - 1
    }

    /// Makes a jump lead to what comes next.
    pub(super) fn land(&mut self, jump: usize) {
        let here = self.code.len();
        match &mut self.code[jump] {
            Instruction::Jump(to) | Instruction::Unless(_, to) => *to = here,
            _ => {}
        }
    }

    /// A slot without a name.
    pub(super) fn temporary(&mut self, kind: Type) -> usize {
        self.slots.push((String::new(), kind));
        self.slots.len() - 1
    }

    pub(super) fn declare(&mut self, name: &Name, kind: Type) -> usize {
        if self.visible.iter().any(|(other, _)| *other == name.text) {
            let message = format!("{} is declared twice", quote(&name.text));
            self.compiler.error(name.place, message, "declared again");
        }
        self.slots.push((name.text.clone(), kind));
        self.visible.push((name.text.clone(), self.slots.len() - 1));
        self.slots.len() - 1
    }

    /// Declares variables, which start with the default of their types.
    pub(super) fn locals(&mut self, fields: &[syntax::Field]) {
        for field in fields {
            let kind = self.compiler.type_of(&field.kind);
            let value = self.compiler.values().default(&kind);
            let slot = self.declare(&field.name, kind);
            self.place = field.name.place;
            self.set(Slot::Local(slot), Expression::Value(value));
        }
    }

    pub(super) fn set(&mut self, slot: Slot, value: Expression) {
        self.emit(Instruction::Set(Target { slot, path: Vec::new() }, value));
    }

    /// The slot and the type of a variable.
    pub(super) fn variable(&self, name: &str) -> Option<(Slot, Type)> {
        if let Some((_, slot)) = self.visible.iter().rev().find(|(other, _)| other == name) {
            return Some((Slot::Local(*slot), self.slots[*slot].1.clone()));
        }
        let number = self.variables.iter().position(|(other, _)| other == name)?;
        Some((Slot::Variable(number), self.variables[number].1.clone()))
    }

    /// A place that can be changed, and its type.
    pub(super) fn target(&mut self, expression: &syntax::Expression) -> Option<(Type, Target)> {
        use syntax::Form;
        let place = expression.place;
        match &expression.form {
            Form::Name(name) => {
                let Some((slot, kind)) = self.variable(name) else {
                    let name = Name { text: name.clone(), place };
                    let known: Vec<_> = self.known_names();
                    self.compiler.names.unknown(
                        "variable",
                        &name,
                        known.iter().map(String::as_str),
                        self.compiler.sink,
                    );
                    return None;
                };
                Some((kind, Target { slot, path: Vec::new() }))
            }
            Form::Field(inner, field) => {
                let (kind, mut target) = self.target(inner)?;
                let (number, kind) = self.field(&kind, field)?;
                target.path.push(Part::Item(number));
                Some((kind, target))
            }
            Form::Item(inner, number) => {
                let (kind, mut target) = self.target(inner)?;
                let kind = self.item(&kind, *number, place)?;
                target.path.push(Part::Item(*number));
                Some((kind, target))
            }
            Form::Index(inner, key) => {
                let (kind, mut target) = self.target(inner)?;
                let (found, key) = self.expression(key);
                if let Type::Set(_) = kind {
                    self.compiler.error(place, "elements of a set cannot be assigned", "this is one");
                    return None;
                }
                let kind = self.element(&kind, &found, place)?;
                target.path.push(Part::At(key));
                Some((kind, target))
            }
            _ => {
                self.compiler.error(place, "this is nothing that can be changed", "expected a variable");
                None
            }
        }
    }

    pub(super) fn known_names(&self) -> Vec<String> {
        let locals = self.visible.iter().map(|(name, _)| name.clone());
        locals.chain(self.variables.iter().map(|(name, _)| name.clone())).collect()
    }

    /// A value that is put into a slot of its own, so that later effects do not change it.
    pub(super) fn kept(&mut self, kind: Type, value: Expression) -> usize {
        let slot = self.temporary(kind);
        self.set(Slot::Local(slot), value);
        slot
    }

    pub(super) fn read(slot: usize) -> Expression {
        Expression::Read(Slot::Local(slot))
    }

    pub(super) fn constant(value: Value) -> Expression {
        Expression::Value(value)
    }
}

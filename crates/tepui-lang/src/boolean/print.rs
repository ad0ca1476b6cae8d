//! The printer: a program in the dialect of Tepui.
//!
//! Other dialects have other keywords, so a name may have to be changed. All names are changed by one map from old to new
//! names that never maps two names to one: what was hidden by a declaration is still hidden by it, and nothing else is.
//! The procedure with which a program begins is called `main` here, whatever it was called.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::Dialect;
use super::parse::is_keyword;
use tepui_model::program::{Action, Expression, Kind, Operator, Place, Procedure, Program, Slot, Variable};

/// What the procedure is called with which a program begins.
const MAIN: &str = "main";

/// The program as text that reads back as the same program.
pub fn print_program(program: &Program) -> String {
    print_with_remarks(program, &|_, _| String::new())
}

/// The same, with a remark behind each statement that there is something to say about.
pub fn print_with_remarks(program: &Program, remark: &dyn Fn(usize, usize) -> String) -> String {
    let mut printer = Printer { program, procedure: usize::MAX, text: String::new(), remark, marked: marked(program) };
    for enumeration in &program.enumerations {
        let values: Vec<_> = enumeration.values.iter().map(|value| printer.name(value)).collect();
        printer.line(0, &format!("enum {} {{ {} }}", printer.name(&enumeration.name), values.join(", ")));
    }
    for variable in &program.shared {
        let declaration = printer.declaration(variable);
        printer.line(0, &declaration);
    }
    for number in 0..program.procedures.len() {
        printer.procedure = number;
        printer.procedure(&program.procedures[number]);
    }
    printer.text.trim_start().to_owned()
}

/// A statement without the blocks that belong to it, in one line, with the names of the source.
pub fn print_head(program: &Program, procedure: usize, position: usize) -> String {
    let remark = &|_, _| String::new();
    let printer = Printer { program, procedure, text: String::new(), remark, marked: BTreeMap::new() };
    let procedure = &program.procedures[procedure];
    match procedure.statements.get(position).map(|statement| &statement.action) {
        Some(Action::If(condition, ..)) => format!("if ({})", printer.expression(condition)),
        Some(Action::While(condition, _)) => format!("while ({})", printer.expression(condition)),
        Some(Action::Atomic(_)) => "atomic".to_owned(),
        Some(action) => printer.simple(procedure, action),
        None => "end".to_owned(),
    }
}

/// New names for those that are keywords in this dialect, or `main` without being the beginning: with as many marks as no
/// other name has.
fn marked(program: &Program) -> BTreeMap<String, String> {
    let names = names(program);
    let (mut taken, mut marked) = (names.clone(), BTreeMap::new());
    let first = program.procedures.get(program.main).map(|procedure| &procedure.name).filter(|name| *name != MAIN);
    let other_main = |name: &String| first.is_some() && name == MAIN;
    for name in names.iter().filter(|name| is_keyword(name, Dialect::Tepui) || other_main(name)).cloned() {
        let mut new = format!("{name}_");
        while taken.contains(&new) || is_keyword(&new, Dialect::Tepui) {
            new.push('_');
        }
        taken.insert(new.clone());
        marked.insert(name, new);
    }
    marked.extend(first.map(|first| (first.clone(), MAIN.to_owned())));
    marked
}

/// All names of a program, of whatever kind.
fn names(program: &Program) -> BTreeSet<String> {
    let enumerations = program.enumerations.iter();
    let mut names: BTreeSet<_> = enumerations.flat_map(|one| one.values.iter().chain([&one.name]).cloned()).collect();
    names.extend(program.shared.iter().map(|variable| variable.name.clone()));
    for procedure in &program.procedures {
        names.insert(procedure.name.clone());
        names.extend(procedure.locals.iter().map(|variable| variable.name.clone()));
        names.extend(procedure.statements.iter().flat_map(|statement| statement.labels.iter().cloned()));
    }
    names
}

struct Printer<'p> {
    program: &'p Program,
    procedure: usize,
    text: String,
    remark: &'p dyn Fn(usize, usize) -> String,
    marked: BTreeMap<String, String>,
}

impl Printer<'_> {
    fn line(&mut self, depth: usize, line: &str) {
        let _ = writeln!(self.text, "{:indent$}{line}", "", indent = 2 * depth);
    }

    /// A name as it may be written.
    fn name(&self, text: &str) -> String {
        self.marked.get(text).map_or(text, String::as_str).to_owned()
    }

    fn value(&self, kind: Kind, value: u32) -> String {
        self.name(&self.program.value_name(kind, value))
    }

    fn declaration(&self, variable: &Variable) -> String {
        let head = format!("decl {}{}", self.name(&variable.name), self.of_kind(variable.kind));
        let init = variable.init.map_or("*".to_owned(), |value| self.value(variable.kind, value));
        // The first value is the default. Its name may be that of a variable, too, and would stand for that.
        match variable.init == Some(0) && matches!(variable.kind, Kind::Enumeration(_)) && self.is_variable(&init) {
            true => format!("{head};"),
            false => format!("{head} := {init};"),
        }
    }

    fn is_variable(&self, name: &str) -> bool {
        self.program.shared.iter().any(|variable| self.name(&variable.name) == name)
    }

    fn of_kind(&self, kind: Kind) -> String {
        match kind {
            Kind::Bool => String::new(),
            Kind::Enumeration(number) => format!(": {}", self.name(&self.program.enumerations[number].name)),
        }
    }

    fn procedure(&mut self, procedure: &Procedure) {
        let results = match procedure.results[..] {
            [] => "void".to_owned(),
            [Kind::Bool] => "bool".to_owned(),
            [Kind::Bool, ..] => format!("bool<{}>", procedure.results.len()),
            [Kind::Enumeration(number)] => self.name(&self.program.enumerations[number].name),
            [Kind::Enumeration(number), ..] => {
                format!("{}<{}>", self.name(&self.program.enumerations[number].name), procedure.results.len())
            }
        };
        let (parameters, locals) = procedure.locals.split_at(procedure.parameters);
        let parameters: Vec<_> = parameters
            .iter()
            .map(|variable| format!("{}{}", self.name(&variable.name), self.of_kind(variable.kind)))
            .collect();
        self.text.push('\n');
        self.line(0, &format!("{results} {}({}) {{", self.name(&procedure.name), parameters.join(", ")));
        for variable in locals {
            let declaration = self.declaration(variable);
            self.line(1, &declaration);
        }
        if let Some(condition) = &procedure.enforced {
            let condition = self.expression(condition);
            self.line(1, &format!("enforce {condition};"));
        }
        self.block(procedure, &procedure.body, 1);
        self.line(0, "}");
    }

    fn block(&mut self, procedure: &Procedure, block: &[usize], depth: usize) {
        for &position in block {
            let statement = &procedure.statements[position];
            for label in &statement.labels {
                self.line(depth.saturating_sub(1), &format!("{}:", self.name(label)));
            }
            let remark = match (self.remark)(self.procedure, position) {
                remark if remark.is_empty() => remark,
                remark => format!("  // {remark}"),
            };
            match &statement.action {
                Action::If(condition, then, otherwise) => {
                    let condition = self.expression(condition);
                    self.line(depth, &format!("if ({condition}) {{{remark}"));
                    self.block(procedure, then, depth + 1);
                    if !otherwise.is_empty() {
                        self.line(depth, "} else {");
                        self.block(procedure, otherwise, depth + 1);
                    }
                    self.line(depth, "}");
                }
                Action::While(condition, body) => {
                    let condition = self.expression(condition);
                    self.line(depth, &format!("while ({condition}) {{{remark}"));
                    self.block(procedure, body, depth + 1);
                    self.line(depth, "}");
                }
                Action::Atomic(body) => {
                    self.line(depth, &format!("atomic {{{remark}"));
                    self.block(procedure, body, depth + 1);
                    self.line(depth, "}");
                }
                action => {
                    let text = self.simple(procedure, action);
                    let property = statement.property.as_ref().map_or(String::new(), |name| format!(" \"{name}\""));
                    self.line(depth, &format!("{text}{property};{remark}"));
                }
            }
        }
    }

    fn simple(&self, procedure: &Procedure, action: &Action) -> String {
        let call = |number: usize, arguments: &[Expression]| {
            format!("{}({})", self.name(&self.program.procedures[number].name), self.expressions(arguments))
        };
        let label = |position: usize| match procedure.statements.get(position).and_then(|to| to.labels.first()) {
            Some(label) => self.name(label),
            None => position.to_string(),
        };
        match action {
            Action::Goto(targets) => {
                let labels: Vec<_> = targets.iter().map(|&position| label(position)).collect();
                format!("goto {}", labels.join(", "))
            }
            Action::Assign { targets, values, constraint } => {
                let constraint =
                    constraint.as_ref().map(|condition| format!(" constrain {}", self.expression(condition)));
                format!("{} := {}{}", self.places(targets), self.expressions(values), constraint.unwrap_or_default())
            }
            Action::Assume(condition) => format!("assume({})", self.expression(condition)),
            Action::Wait(condition) => format!("wait({})", self.expression(condition)),
            Action::Assert(condition) => format!("assert({})", self.expression(condition)),
            Action::AtomicBegin => "atomic_begin".to_owned(),
            Action::AtomicEnd => "atomic_end".to_owned(),
            Action::Lock(slot) => format!("lock({})", self.slot(*slot)),
            Action::Unlock(slot) => format!("unlock({})", self.slot(*slot)),
            Action::Call { targets, procedure, arguments } if targets.is_empty() => call(*procedure, arguments),
            Action::Call { targets, procedure, arguments } => {
                format!("{} := {}", self.places(targets), call(*procedure, arguments))
            }
            Action::Return(values) if values.is_empty() => "return".to_owned(),
            Action::Return(values) => format!("return {}", self.expressions(values)),
            Action::Start { procedure, arguments, count: 1 } => format!("thread {}", call(*procedure, arguments)),
            Action::Start { procedure, arguments, count } => {
                format!("thread {} * {count}", call(*procedure, arguments))
            }
            Action::StartAt(position) => format!("thread goto {}", label(*position)),
            Action::EndThread => "exit".to_owned(),
            Action::Sleep => "sleep".to_owned(),
            Action::Broadcast => "broadcast".to_owned(),
            Action::Dead(slots) => {
                let names: Vec<_> = slots.iter().map(|&slot| self.slot(slot)).collect();
                format!("dead {}", names.join(", "))
            }
            Action::Skip | Action::If(..) | Action::While(..) | Action::Atomic(_) => "skip".to_owned(),
        }
    }

    fn slot(&self, slot: Slot) -> String {
        self.name(&self.program.variable(self.procedure, slot).name)
    }

    fn places(&self, places: &[Place]) -> String {
        let names: Vec<_> = places.iter().map(|place| place.map_or("_".to_owned(), |slot| self.slot(slot))).collect();
        names.join(", ")
    }

    fn expressions(&self, expressions: &[Expression]) -> String {
        let texts: Vec<_> = expressions.iter().map(|expression| self.expression(expression)).collect();
        texts.join(", ")
    }

    fn expression(&self, expression: &Expression) -> String {
        self.at_level(expression, 0)
    }

    /// An expression in a place where operators that bind less tightly than a level need brackets.
    fn at_level(&self, expression: &Expression, level: usize) -> String {
        const UNARY: usize = 6;
        let (own, text) = match expression {
            Expression::Value(value, kind) => return self.value(*kind, *value),
            Expression::Any(_) => return "*".to_owned(),
            Expression::Read(slot) => return self.slot(*slot),
            Expression::New(slot) => return format!("'{}", self.slot(*slot)),
            Expression::Choose(positive, negative) => {
                return format!("schoose[{}, {}]", self.expression(positive), self.expression(negative));
            }
            Expression::Not(operand) => return format!("!{}", self.at_level(operand, UNARY)),
            Expression::Binary(operator, left, right) => {
                let (own, sign) = match operator {
                    Operator::Implies => (1, "=>"),
                    Operator::Or => (2, "|"),
                    Operator::Xor => (3, "^"),
                    Operator::And => (4, "&"),
                    Operator::Equal => (5, "="),
                    Operator::Unequal => (5, "!="),
                };
                let (left_level, right_level) = match operator {
                    Operator::Implies => (own + 1, own),
                    _ => (own, own + 1),
                };
                (own, format!("{} {sign} {}", self.at_level(left, left_level), self.at_level(right, right_level)))
            }
            Expression::Choice(condition, then, otherwise) => {
                let parts = [(condition, 1), (then, 0), (otherwise, 0)];
                let [condition, then, otherwise] = parts.map(|(part, level)| self.at_level(part, level));
                (0, format!("{condition} ? {then} : {otherwise}"))
            }
        };
        if own < level { format!("({text})") } else { text }
    }
}

//! Sequential programs as Boogie: `boogie /loopUnroll:N`.
//!
//! Every variable is an `int`, and holds a number; truth values are compared with 0. What is chosen is put into a variable of its
//! own before the statement. Procedures are inlined, up to a depth where they are recursive.

use std::fmt::Write as _;

use tepui_model::program::{
    Action, Element, Expression, Index, Kind, Operator, Place, Procedure, Program, Slot, Variable,
};

use super::{Names, plain};

/// How deep a recursive procedure is inlined.
const INLINED: u32 = 4;

/// The program in Boogie; or why that is not to be had.
pub fn print_boogie(program: &Program, head: &str) -> Result<String, String> {
    let names = Names { program, procedure: None };
    let mut printer = Printer { program, procedure: 0, names, text: String::new(), depth: 0, used: Used::default() };
    head.lines().for_each(|line| printer.line(line));
    let _ = writeln!(printer.text, "// Recursion deeper than {INLINED} is left out.");
    for declared in &program.declared {
        let sort = if names.size(declared).is_some() { "[int]int" } else { "int" };
        printer.line(&format!("var {}: {sort};", Names::of("v", declared)));
    }
    for procedure in 0..program.procedures.len() {
        printer.procedure(procedure)?;
    }
    printer.main();
    Ok(printer.text)
}

/// How many variables a procedure needs besides its own.
#[derive(Clone, Copy, Default)]
struct Used {
    /// For what is chosen.
    chosen: usize,
    /// For values that are stored at once, and for indices where they go.
    stored: usize,
}

struct Printer<'p> {
    program: &'p Program,
    procedure: usize,
    names: Names<'p>,
    text: String,
    depth: usize,
    used: Used,
}

type Written = Result<(), String>;

impl Printer<'_> {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{:indent$}{line}", "", indent = 2 * self.depth);
    }

    fn slot(&self, slot: Slot) -> String {
        let (name, part) = self.names.slot(slot);
        part.map_or(name.clone(), |part| format!("{name}[{part}]"))
    }

    /// An array, and the place of an element in it.
    fn element(&mut self, element: &Element) -> (String, String) {
        let (name, part) = self.names.slot(element.first);
        let mut place = part.unwrap_or(0).to_string();
        for Index { value, stride, .. } in &element.indices {
            let _ = write!(place, " + ({}) * {stride}", self.number(value));
        }
        (name, place)
    }

    /// Something between two numbers is chosen now.
    fn any(&mut self, (low, high): (i64, i64)) -> String {
        let name = format!("any{}", self.used.chosen);
        self.used.chosen += 1;
        self.line(&format!("havoc {name}; assume {low} <= {name} && {name} <= {high};"));
        name
    }

    /// What a variable begins with.
    fn init(&mut self, variable: &Variable) -> String {
        match variable.init {
            Some(code) => (variable.kind.lowest() + i64::from(code)).to_string(),
            None => self.any(self.program.range(variable.kind)),
        }
    }

    /// An expression as a number.
    fn number(&mut self, expression: &Expression) -> String {
        match expression {
            Expression::Value(code, kind) => number_text(kind.lowest() + i64::from(*code)),
            Expression::Number(number) => number_text(*number),
            Expression::Any(kind) => self.any(self.program.range(*kind)),
            Expression::Read(slot) | Expression::New(slot) => self.slot(*slot),
            Expression::Element(element) | Expression::NewElement(element) => {
                let (name, place) = self.element(element);
                format!("{name}[{place}]")
            }
            Expression::Negate(operand) => format!("(0 - {})", self.number(operand)),
            Expression::Choice(condition, then, otherwise) => {
                let (condition, then, otherwise) = (self.truth(condition), self.number(then), self.number(otherwise));
                format!("(if {condition} then {then} else {otherwise})")
            }
            Expression::Choose(positive, negative) => {
                let (positive, negative) = (self.truth(positive), self.truth(negative));
                format!("(if {positive} then 1 else if {negative} then 0 else {})", self.any((0, 1)))
            }
            Expression::Binary(
                operator @ (Operator::Add
                | Operator::Subtract
                | Operator::Multiply
                | Operator::Divide
                | Operator::Modulo),
                left,
                right,
            ) => {
                let (left, right) = (self.number(left), self.number(right));
                format!("({left} {} {right})", sign(*operator))
            }
            Expression::Not(_) | Expression::Binary(..) => format!("(if {} then 1 else 0)", self.truth(expression)),
        }
    }

    /// An expression as a truth value.
    fn truth(&mut self, expression: &Expression) -> String {
        match expression {
            Expression::Not(operand) => format!("!{}", self.truth(operand)),
            Expression::Binary(operator @ (Operator::And | Operator::Or | Operator::Implies), left, right) => {
                let (left, right) = (self.truth(left), self.truth(right));
                format!("({left} {} {right})", sign(*operator))
            }
            Expression::Binary(
                operator @ (Operator::Xor
                | Operator::Equal
                | Operator::Unequal
                | Operator::Less
                | Operator::AtMost
                | Operator::Greater
                | Operator::AtLeast),
                left,
                right,
            ) => {
                let (left, right) = (self.number(left), self.number(right));
                format!("({left} {} {right})", sign(*operator))
            }
            other => format!("({} != 0)", self.number(other)),
        }
    }

    fn procedure(&mut self, number: usize) -> Written {
        let procedure = &self.program.procedures[number];
        (self.procedure, self.names.procedure, self.used) = (number, Some(number), Used::default());
        let before = std::mem::take(&mut self.text);
        self.depth = 1;
        for (part, variable) in procedure.locals.iter().enumerate() {
            let value = if part < procedure.parameters { format!("p{part}") } else { self.init(variable) };
            let line = format!("{} := {value};", self.slot(Slot::Local(part)));
            self.line(&line);
        }
        self.block(procedure, &procedure.body)?;
        self.depth = 0;
        let body = std::mem::replace(&mut self.text, before);
        let typed = |sort: &'static str| move |number: usize| format!("{sort}{number}: int");
        let parameters: Vec<_> = (0..procedure.parameters).map(typed("p")).collect();
        let results: Vec<_> = (0..procedure.results.len()).map(typed("r")).collect();
        let returns = if results.is_empty() { String::new() } else { format!(" returns ({})", results.join(", ")) };
        let name = plain(&procedure.name);
        self.text.push('\n');
        let head = format!("procedure {{:inline {INLINED}}} f{number}_{name}({}){returns}", parameters.join(", "));
        self.line(&head);
        self.modifies();
        self.line("{");
        for declared in &procedure.declared {
            let sort = if self.names.size(declared).is_some() { "[int]int" } else { "int" };
            self.line(&format!("  var {}: {sort};", Names::of("l", declared)));
        }
        let names = self.names;
        for part in (0..procedure.locals.len()).filter(|&part| !names.is_declared(Slot::Local(part))) {
            let line = format!("  var {}: int;", self.slot(Slot::Local(part)));
            self.line(&line);
        }
        self.needed();
        self.text.push_str(&body);
        self.line("}");
        Ok(())
    }

    /// Declares what a procedure needs besides its own variables.
    fn needed(&mut self) {
        let Used { chosen, stored } = self.used;
        (0..chosen).for_each(|number| self.line(&format!("  var any{number}: int;")));
        (0..stored).for_each(|number| self.line(&format!("  var x{number}: int;\n  var i{number}: int;")));
    }

    /// A procedure may change every shared variable.
    fn modifies(&mut self) {
        let all: Vec<_> = self.program.declared.iter().map(|declared| Names::of("v", declared)).collect();
        if !all.is_empty() {
            self.line(&format!("  modifies {};", all.join(", ")));
        }
    }

    fn main(&mut self) {
        (self.names.procedure, self.used) = (None, Used::default());
        let before = std::mem::take(&mut self.text);
        self.depth = 1;
        for (number, variable) in self.program.shared.iter().enumerate() {
            let line = format!("{} := {};", self.slot(Slot::Shared(number)), self.init(variable));
            self.line(&line);
        }
        let main = self.program.main;
        self.line(&format!("call f{main}_{}();", plain(&self.program.procedures[main].name)));
        self.depth = 0;
        let body = std::mem::replace(&mut self.text, before);
        self.line("\nprocedure {:entrypoint} Main()");
        self.modifies();
        self.line("{");
        self.needed();
        self.text.push_str(&body);
        self.line("}");
    }

    fn block(&mut self, procedure: &Procedure, block: &[usize]) -> Written {
        block.iter().try_for_each(|&position| self.statement(procedure, position))
    }

    fn inner(&mut self, procedure: &Procedure, block: &[usize]) -> Written {
        self.depth += 1;
        self.block(procedure, block)?;
        self.depth -= 1;
        Ok(())
    }

    fn statement(&mut self, procedure: &Procedure, position: usize) -> Written {
        let statement = &procedure.statements[position];
        if is_target(procedure, position) {
            self.line(&format!("L{position}:"));
        }
        match &statement.action {
            Action::Skip | Action::Next(..) => {}
            Action::Goto(targets) => {
                if targets.iter().any(|&target| !is_around(procedure, around(procedure, target), position)) {
                    return Err(format!("line {}: Boogie does not know `goto` into a block", statement.line));
                }
                let targets: Vec<_> = targets.iter().map(|target| format!("L{target}")).collect();
                self.line(&format!("goto {};", targets.join(", ")));
            }
            Action::Assign { targets, values, constraint: None } => self.assign(targets, values, statement.line),
            Action::Unlock(place) => {
                self.assign(std::slice::from_ref(place), &[Expression::Number(0)], statement.line);
            }
            Action::Assume(condition) => {
                let condition = self.truth(condition);
                self.line(&format!("assume {condition};"));
            }
            Action::Assert(condition) => {
                let name = self.program.assertion_name(self.procedure, position);
                let condition = self.truth(condition);
                self.line(&format!("assert {{:msg {name:?}}} {condition};"));
            }
            Action::If(condition, then, otherwise) => {
                let condition = self.truth(condition);
                self.line(&format!("if ({condition}) {{"));
                self.inner(procedure, then)?;
                self.line("} else {");
                self.inner(procedure, otherwise)?;
                self.line("}");
            }
            Action::While(condition, body) => {
                self.line("while (true) {");
                self.depth += 1;
                // What is chosen is chosen again in each round.
                let condition = self.truth(condition);
                self.line(&format!("if (!{condition}) {{ break; }}"));
                self.block(procedure, body)?;
                self.depth -= 1;
                self.line("}");
            }
            Action::For(variable, body) => {
                let (low, high) = self.program.range(procedure.locals[*variable].kind);
                let name = self.slot(Slot::Local(*variable));
                self.line(&format!("{name} := {low};"));
                self.line(&format!("while ({name} <= {high}) {{"));
                self.inner(procedure, body)?;
                self.line(&format!("  {name} := {name} + 1;"));
                self.line("}");
                self.line(&format!("{name} := {low};"));
            }
            Action::Call { targets, procedure: called, arguments } => self.call(targets, *called, arguments),
            Action::Return(values) => {
                let values: Vec<_> = values.iter().map(|value| self.number(value)).collect();
                for (result, value) in values.iter().enumerate() {
                    self.line(&format!("r{result} := {value};"));
                }
                self.line("return;");
            }
            Action::Dead(slots) => {
                for &slot in slots {
                    let kind = self.program.variable(self.procedure, slot).kind;
                    let line = format!("{} := {};", self.slot(slot), self.any(self.program.range(kind)));
                    self.line(&line);
                }
            }
            _ => return Err(format!("line {} of the sequential program has no form in Boogie", statement.line)),
        }
        Ok(())
    }

    /// Assigns all values at once. Values are compared with the ranges that they go to.
    fn assign(&mut self, targets: &[Place], values: &[Expression], line: u32) {
        self.used.stored = self.used.stored.max(targets.len());
        let mut stores = Vec::new();
        for (number, (target, value)) in targets.iter().zip(values).enumerate() {
            let value = self.number(value);
            self.line(&format!("x{number} := {value};"));
            if let Some(kind @ Kind::Range(..)) = self.program.kind_of(self.procedure, target) {
                let (low, high) = self.program.range(kind);
                self.line(&format!("assert {{:msg \"range@{line}\"}} {low} <= x{number} && x{number} <= {high};"));
            }
            // Where it goes is found out before anything is stored.
            if let Some(place) = self.place(target, number) {
                stores.push(format!("{place} := x{number};"));
            }
        }
        stores.iter().for_each(|store| self.line(store));
    }

    /// Where a value goes. The place of an element is kept under a number.
    fn place(&mut self, place: &Place, number: usize) -> Option<String> {
        match place {
            Place::Nowhere => None,
            Place::Variable(slot) => Some(self.slot(*slot)),
            Place::Element(element) => {
                let (name, place) = self.element(element);
                self.line(&format!("i{number} := {place};"));
                Some(format!("{name}[i{number}]"))
            }
        }
    }

    fn call(&mut self, targets: &[Place], called: usize, arguments: &[Expression]) {
        let procedure = &self.program.procedures[called];
        self.used.stored = self.used.stored.max(procedure.results.len());
        let given: Vec<_> = arguments.iter().map(|argument| self.number(argument)).collect();
        let results: Vec<_> = (0..procedure.results.len()).map(|result| format!("x{result}")).collect();
        let results = if results.is_empty() { String::new() } else { format!("{} := ", results.join(", ")) };
        self.line(&format!("call {results}f{called}_{}({});", plain(&procedure.name), given.join(", ")));
        for (number, target) in targets.iter().enumerate() {
            if let Some(place) = self.place(target, number) {
                self.line(&format!("{place} := x{number};"));
            }
        }
    }
}

/// Whether some `goto` leads to a statement.
fn is_target(procedure: &Procedure, position: usize) -> bool {
    let leads = |action: &Action| matches!(action, Action::Goto(targets) if targets.contains(&position));
    procedure.statements.iter().any(|statement| leads(&statement.action))
}

/// The statement in whose blocks another one stands.
fn around(procedure: &Procedure, position: usize) -> Option<usize> {
    let holds = |action: &Action| match action {
        Action::If(_, then, otherwise) => then.contains(&position) || otherwise.contains(&position),
        Action::While(_, body) | Action::For(_, body) | Action::Atomic(body) => body.contains(&position),
        _ => false,
    };
    procedure.statements.iter().position(|statement| holds(&statement.action))
}

/// Whether the blocks of a statement, or of the whole procedure, are around another one.
fn is_around(procedure: &Procedure, outer: Option<usize>, position: usize) -> bool {
    let mut inner = Some(position);
    while let Some(at) = inner {
        inner = around(procedure, at);
        if inner == outer {
            return true;
        }
    }
    false
}

fn number_text(number: i64) -> String {
    if number < 0 { format!("(0 - {})", -number) } else { number.to_string() }
}

fn sign(operator: Operator) -> &'static str {
    match operator {
        Operator::And => "&&",
        Operator::Or => "||",
        Operator::Implies => "==>",
        Operator::Xor | Operator::Unequal => "!=",
        Operator::Equal => "==",
        Operator::Less => "<",
        Operator::AtMost => "<=",
        Operator::Greater => ">",
        Operator::AtLeast => ">=",
        Operator::Add => "+",
        Operator::Subtract => "-",
        Operator::Multiply => "*",
        Operator::Divide => "div",
        Operator::Modulo => "mod",
    }
}

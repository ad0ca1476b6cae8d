//! The printer: a program in the dialect of Tepui.
//!
//! Other dialects have other keywords, so a name may have to be changed. All names are changed by one map from old to new
//! names that never maps two names to one: what was hidden by a declaration is still hidden by it, and nothing else is.
//! The procedure with which a program begins is called `main` here, whatever it was called.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::Dialect;
use super::expressions::{is_order, sign};
use super::parse::is_keyword;
use super::resolve::{default_code, parts};
use tepui_model::program::{
    Action, Condition, Declared, Dimension, Element, Expression, Index, Kind, Operator, Place, Procedure, Program,
    Shape, Slot, Variable,
};

/// What the procedure is called with which a program begins.
const MAIN: &str = "main";

/// The program as text that reads back as the same program.
pub fn print_program(program: &Program) -> String {
    print_with_remarks(program, &|_, _| String::new())
}

/// The same, with a remark behind each statement that there is something to say about.
pub fn print_with_remarks(program: &Program, remark: &dyn Fn(usize, usize) -> String) -> String {
    let mut printer = Printer { remark, ..Printer::of(program) };
    let heads = printer.heads();
    printer.text.push_str(&heads);
    if let Some(order) = program.order {
        printer.line(0, &format!("tasks {};", order.name()));
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
        Some(Action::For(variable, _) | Action::Next(variable, _)) => printer.for_head(procedure, *variable),
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
    let procedures = || program.procedures.iter().map(|procedure| procedure.name.as_str());
    let is_taken = |name: &str| matches!(name, "range" | "index" | "never") && procedures().any(|other| other == name);
    let strange = |mark: char| !mark.is_ascii_alphanumeric() && mark != '_' && mark != '$';
    let odd = |name: &String| {
        is_keyword(name, Dialect::Tepui) || other_main(name) || name.contains(strange) || is_taken(name)
    };
    for name in names.iter().filter(|name| odd(name)).cloned() {
        let mut new = if name.contains(strange) { name.replace(strange, "_") } else { format!("{name}_") };
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
pub(super) fn names(program: &Program) -> BTreeSet<String> {
    let enumerations = program.enumerations.iter();
    let mut names: BTreeSet<_> = enumerations.flat_map(|one| one.values.iter().chain([&one.name]).cloned()).collect();
    names.extend(program.declared.iter().map(|declared| declared.name.clone()));
    for procedure in &program.procedures {
        names.insert(procedure.name.clone());
        names.extend(procedure.declared.iter().map(|declared| declared.name.clone()));
        names.extend(procedure.statements.iter().flat_map(|statement| statement.labels.iter().cloned()));
    }
    names
}

pub(super) struct Printer<'p> {
    program: &'p Program,
    procedure: usize,
    text: String,
    remark: &'p dyn Fn(usize, usize) -> String,
    marked: BTreeMap<String, String>,
}

impl<'p> Printer<'p> {
    /// A printer of a program, without remarks.
    pub(super) fn of(program: &'p Program) -> Self {
        let (text, marked) = (String::new(), marked(program));
        Self { program, procedure: usize::MAX, text, remark: &|_, _| String::new(), marked }
    }

    /// Calls the procedure with which the program begins something else.
    pub(super) fn rename_main(&mut self, name: &str) {
        let main = self.program.procedures[self.program.main].name.clone();
        self.marked.insert(main, name.to_owned());
    }

    /// What follows is in a procedure.
    pub(super) fn enter(&mut self, procedure: usize) {
        self.procedure = procedure;
    }

    /// A shared variable.
    pub(super) fn shared(&self, number: usize) -> String {
        self.name(&self.program.shared[number].name)
    }

    /// What stands before the procedures.
    pub(super) fn heads(&self) -> String {
        let (program, mut text) = (self.program, String::new());
        for enumeration in &program.enumerations {
            let values: Vec<_> = enumeration.values.iter().map(|value| self.name(value)).collect();
            let _ = writeln!(text, "enum {} {{ {} }}", self.name(&enumeration.name), values.join(", "));
        }
        for record in &program.records {
            let field = |(name, shape): &(String, Shape)| self.declared(name, shape);
            let fields: Vec<_> = record.fields.iter().map(field).collect();
            let _ = writeln!(text, "record {} {{ {}; }}", record.name, fields.join("; "));
        }
        for declared in &program.declared {
            let _ = writeln!(text, "{}", self.declaration(declared, &program.shared));
        }
        for conditions in &program.conditions {
            let dimensions: String = conditions.dimensions.iter().map(|&one| self.dimension(one)).collect();
            let _ = writeln!(text, "condition {}{dimensions};", conditions.name);
        }
        text
    }
}

impl Printer<'_> {
    fn line(&mut self, depth: usize, line: &str) {
        let _ = writeln!(self.text, "{:indent$}{line}", "", indent = 2 * depth);
    }

    /// A name as it may be written.
    pub(super) fn name(&self, text: &str) -> String {
        self.marked.get(text).map_or(text, String::as_str).to_owned()
    }

    pub(super) fn value(&self, kind: Kind, value: u32) -> String {
        self.name(&self.program.value_name(kind, value))
    }

    fn declaration(&self, declared: &Declared, variables: &[Variable]) -> String {
        let head = format!("decl {}", self.declared(&declared.name, &declared.shape));
        let parts = &variables[declared.first..][..self.program.parts(&declared.shape)];
        if let Shape::Scalar(kind) = declared.shape {
            let init = self.init(&declared.shape, parts);
            // The first value is the default. Its name may be that of a variable, too, and would stand for that.
            let hidden = parts[0].init == Some(0) && matches!(kind, Kind::Enumeration(_)) && self.is_variable(&init);
            return if hidden { format!("{head};") } else { format!("{head} := {init};") };
        }
        if parts.iter().all(|part| part.init.is_none()) {
            return format!("{head} := *;");
        }
        match has_records(&declared.shape) || parts.iter().all(|part| part.init == Some(default_code(part.kind))) {
            true => format!("{head};"),
            false => format!("{head} := {};", self.init(&declared.shape, parts)),
        }
    }

    /// What something starts with.
    fn init(&self, shape: &Shape, parts: &[Variable]) -> String {
        let Shape::Array(_, element) = shape else {
            return parts[0].init.map_or("*".to_owned(), |value| self.value(parts[0].kind, value));
        };
        let size = self.program.parts(element).max(1);
        let inner: Vec<_> = parts.chunks(size).map(|parts| self.init(element, parts)).collect();
        format!("[{}]", inner.join(", "))
    }

    /// A name with its dimensions and its kind.
    fn declared(&self, name: &str, shape: &Shape) -> String {
        let (mut dimensions, mut inner) = (String::new(), shape);
        while let Shape::Array(dimension, element) = inner {
            dimensions.push_str(&self.dimension(*dimension));
            inner = element;
        }
        format!("{}{dimensions}{}", self.name(name), self.of_kind(inner))
    }

    fn dimension(&self, dimension: Dimension) -> String {
        match dimension {
            Dimension::Count(count) => format!("[{count}]"),
            Dimension::Enumeration(number) => format!("[{}]", self.name(&self.program.enumerations[number].name)),
        }
    }

    fn is_variable(&self, name: &str) -> bool {
        self.program.declared.iter().any(|declared| self.name(&declared.name) == name)
    }

    pub(super) fn of_kind(&self, shape: &Shape) -> String {
        match shape {
            Shape::Scalar(Kind::Bool) => String::new(),
            shape => format!(": {}", self.kind(shape)),
        }
    }

    fn kind(&self, shape: &Shape) -> String {
        match shape {
            Shape::Scalar(Kind::Bool) | Shape::Array(..) => "bool".to_owned(),
            Shape::Scalar(Kind::Enumeration(number)) => self.name(&self.program.enumerations[*number].name),
            Shape::Scalar(Kind::Range(low, high)) => format!("{low}..{high}"),
            Shape::Record(number) => self.program.records[*number].name.clone(),
        }
    }

    /// The head of a procedure, with its variables.
    pub(super) fn procedure_head(&self, procedure: &Procedure) -> String {
        let returned = &procedure.returned;
        let results = match &returned[..] {
            [] => "void".to_owned(),
            [one] => self.kind(one),
            [first, others @ ..] if others.iter().all(|other| other == first) && !is_range(first) => {
                format!("{}<{}>", self.kind(first), returned.len())
            }
            all => format!("({})", all.iter().map(|one| self.kind(one)).collect::<Vec<_>>().join(", ")),
        };
        let parameters = procedure.declared.iter().take_while(|declared| declared.first < procedure.parameters);
        let locals: Vec<_> = procedure.declared.iter().filter(|one| one.first >= procedure.parameters).collect();
        let parameters: Vec<_> = parameters.map(|one| self.declared(&one.name, &one.shape)).collect();
        let mut head = format!("\n{results} {}({}) {{\n", self.name(&procedure.name), parameters.join(", "));
        for declared in locals {
            let _ = writeln!(head, "  {}", self.declaration(declared, &procedure.locals));
        }
        head
    }

    fn procedure(&mut self, procedure: &Procedure) {
        let head = self.procedure_head(procedure);
        self.text.push_str(&head);
        if let Some(condition) = &procedure.enforced {
            let condition = self.expression(condition);
            self.line(1, &format!("enforce {condition};"));
        }
        self.block(procedure, &procedure.body, 1);
        self.line(0, "}");
    }

    fn block(&mut self, procedure: &Procedure, block: &[usize], depth: usize) {
        for (index, &position) in block.iter().enumerate() {
            let statement = &procedure.statements[position];
            // What a thread does when it has been woken belongs to the wait.
            let before = index.checked_sub(1).map(|before| &procedure.statements[block[before]]);
            if let Some(before) = before
                && let Action::SleepOn(_, lock) = &before.action
                && statement.action == Action::Lock(lock.clone())
                && before.text == statement.text
            {
                continue;
            }
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
                Action::For(variable, body) => {
                    let head = self.for_head(procedure, *variable);
                    self.line(depth, &format!("{head} {{{remark}"));
                    let (_, body) = body.split_last().unwrap_or((&0, &[]));
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

    pub(super) fn simple(&self, procedure: &Procedure, action: &Action) -> String {
        let call = |number: usize, arguments: &[Expression]| {
            let called = &self.program.procedures[number];
            let parameters = called.declared.iter().filter(|declared| declared.first < called.parameters);
            let shapes: Vec<_> = parameters.map(|declared| declared.shape.clone()).collect();
            format!("{}({})", self.name(&called.name), self.wholes(&shapes, arguments))
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
            Action::Lock(place) => format!("lock({})", self.place(place)),
            Action::Unlock(place) => format!("unlock({})", self.place(place)),
            Action::Acquire(place) => format!("acquire({})", self.place(place)),
            Action::Call { targets, procedure, arguments } if targets.is_empty() => call(*procedure, arguments),
            Action::Call { targets, procedure, arguments } => {
                let returned = &self.program.procedures[*procedure].returned;
                format!("{} := {}", self.whole_places(returned, targets), call(*procedure, arguments))
            }
            Action::Return(values) if values.is_empty() => "return".to_owned(),
            Action::Return(values) => format!("return {}", self.wholes(&procedure.returned, values)),
            Action::Start { procedure, arguments, count } => {
                let word = if self.program.order.is_some() { "post" } else { "thread" };
                let count = if *count == 1 { String::new() } else { format!(" * {count}") };
                format!("{word} {}{count}", call(*procedure, arguments))
            }
            Action::Yield => "yield".to_owned(),
            Action::StartAt(position) => format!("thread goto {}", label(*position)),
            Action::EndThread => "exit".to_owned(),
            Action::Sleep => "sleep".to_owned(),
            Action::SleepOn(condition, lock) => {
                format!("wait({}, {})", self.condition(condition), self.place(lock))
            }
            Action::Broadcast => "broadcast".to_owned(),
            Action::Wake { condition, all: true } => format!("broadcast({})", self.condition(condition)),
            Action::Wake { condition, all: false } => format!("signal({})", self.condition(condition)),
            Action::Dead(slots) => {
                let names: Vec<_> = slots.iter().map(|&slot| self.slot(slot)).collect();
                format!("dead {}", names.join(", "))
            }
            Action::For(variable, _) | Action::Next(variable, _) => self.for_head(procedure, *variable),
            Action::Skip | Action::If(..) | Action::While(..) | Action::Atomic(_) => "skip".to_owned(),
        }
    }

    fn slot(&self, slot: Slot) -> String {
        self.name(&self.program.variable(self.procedure, slot).name)
    }

    fn places(&self, places: &[Place]) -> String {
        let names: Vec<_> = places.iter().map(|place| self.place(place)).collect();
        names.join(", ")
    }

    pub(super) fn place(&self, place: &Place) -> String {
        match place {
            Place::Nowhere => "_".to_owned(),
            Place::Variable(slot) => self.slot(*slot),
            Place::Element(element) => self.element(element),
        }
    }

    fn element(&self, element: &Element) -> String {
        self.indexed(&element.text, &element.indices)
    }

    fn condition(&self, condition: &Condition) -> String {
        self.indexed(&condition.text, &condition.indices)
    }

    fn indexed(&self, text: &[String], indices: &[Index]) -> String {
        let indices = indices.iter().map(|index| self.expression(&index.value)).chain([String::new()]);
        text.iter().zip(indices).map(|(text, index)| format!("{text}{index}")).collect()
    }

    pub(super) fn for_head(&self, procedure: &Procedure, variable: usize) -> String {
        let variable = &procedure.locals[variable];
        format!("for {} in {}", self.name(&variable.name), self.kind(&Shape::Scalar(variable.kind)))
    }

    /// Values of some shapes, each in one piece.
    fn wholes(&self, shapes: &[Shape], mut parts: &[Expression]) -> String {
        let mut texts = Vec::new();
        for shape in shapes {
            let (own, rest) = parts.split_at(self.program.parts(shape).min(parts.len()));
            texts.push(self.whole(shape, own));
            parts = rest;
        }
        texts.join(", ")
    }

    /// What the parts of an array or a record are parts of: a place, any value, or a choice.
    fn whole(&self, shape: &Shape, parts: &[Expression]) -> String {
        match parts {
            [one] if matches!(shape, Shape::Scalar(_)) => self.at_level(one, 0),
            [Expression::Any(_), ..] => "*".to_owned(),
            [Expression::Choice(condition, ..), ..] => {
                let branch = |second: bool| -> Vec<Expression> {
                    let branches = parts.iter().filter_map(|part| match part {
                        Expression::Choice(_, then, otherwise) => Some(if second { otherwise } else { then }),
                        _ => None,
                    });
                    branches.map(|branch| (**branch).clone()).collect()
                };
                let (then, otherwise) = (self.whole(shape, &branch(false)), self.whole(shape, &branch(true)));
                format!("{} ? {then} : {otherwise}", self.at_level(condition, 1))
            }
            parts => self.stem(shape, parts.first().map(|part| self.at_level(part, 0))),
        }
    }

    /// The places that results go to, each in one piece.
    fn whole_places(&self, shapes: &[Shape], mut places: &[Place]) -> String {
        let mut texts = Vec::new();
        for shape in shapes {
            let (own, rest) = places.split_at(self.program.parts(shape).min(places.len()));
            let first = own.first().map(|place| self.place(place));
            let nowhere = own.first().is_some_and(|place| !place.is_somewhere());
            texts.push(if nowhere { "_".to_owned() } else { self.stem(shape, first) });
            places = rest;
        }
        texts.join(", ")
    }

    /// The name of something, given the name of its first part.
    fn stem(&self, shape: &Shape, first: Option<String>) -> String {
        let (first, parts) = (first.unwrap_or_default(), parts(self.program, shape));
        let suffix = parts.first().map_or("", |(suffix, _)| suffix);
        first.strip_suffix(suffix).map(str::to_owned).unwrap_or(first)
    }

    fn expressions(&self, expressions: &[Expression]) -> String {
        let texts: Vec<_> = expressions.iter().map(|expression| self.expression(expression)).collect();
        texts.join(", ")
    }

    pub(super) fn expression(&self, expression: &Expression) -> String {
        self.at_level(expression, 0)
    }

    /// An expression in a place where operators that bind less tightly than a level need brackets.
    fn at_level(&self, expression: &Expression, level: u32) -> String {
        const UNARY: u32 = 8;
        let (own, text) = match expression {
            Expression::Value(value, kind) => return self.value(*kind, *value),
            Expression::Number(number) => return number.to_string(),
            Expression::Element(element) => return self.element(element),
            Expression::NewElement(element) => return format!("'{}", self.element(element)),
            Expression::Negate(operand) => return format!("-{}", self.at_level(operand, UNARY)),
            Expression::Any(_) => return "*".to_owned(),
            Expression::Read(slot) => return self.slot(*slot),
            Expression::New(slot) => return format!("'{}", self.slot(*slot)),
            Expression::Choose(positive, negative) => {
                return format!("schoose[{}, {}]", self.expression(positive), self.expression(negative));
            }
            Expression::Not(operand) => return format!("!{}", self.at_level(operand, UNARY)),
            Expression::Binary(operator, left, right) => {
                let own = level_of(*operator);
                let nested =
                    |operand: &Expression| matches!(operand, Expression::Binary(inner, ..) if is_order(*inner));
                let (left_level, right_level) = match operator {
                    Operator::Implies => (own + 1, own),
                    // Comparisons cannot be chained.
                    _ if own == COMPARISON && is_order(*operator) && nested(left) => (own + 1, own + 1),
                    _ => (own, own + 1),
                };
                let sign = sign(*operator);
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

const COMPARISON: u32 = 5;

/// How tight an operator binds.
fn level_of(operator: Operator) -> u32 {
    match operator {
        Operator::Implies => 1,
        Operator::Or => 2,
        Operator::Xor => 3,
        Operator::And => 4,
        Operator::Equal | Operator::Unequal => COMPARISON,
        Operator::Less | Operator::AtMost | Operator::Greater | Operator::AtLeast => COMPARISON,
        Operator::Add | Operator::Subtract => 6,
        Operator::Multiply | Operator::Divide | Operator::Modulo => 7,
    }
}

fn is_range(shape: &Shape) -> bool {
    matches!(shape, Shape::Scalar(Kind::Range(..)))
}

fn has_records(shape: &Shape) -> bool {
    match shape {
        Shape::Scalar(_) => false,
        Shape::Array(_, element) => has_records(element),
        Shape::Record(_) => true,
    }
}

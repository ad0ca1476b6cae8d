//! Sequential programs as C, for bounded model checkers: `cbmc --unwind N`.
//!
//! Every variable is an `int`, and holds a number. What is chosen is `any(low, high)`; results are stored through pointers.

use std::fmt::Write as _;

use tepui_model::program::{
    Action, Declared, Element, Expression, Index, Kind, Operator, Place, Procedure, Program, Slot, Variable,
};

use super::{Names, plain};

/// The program in C; or why that is not to be had.
pub fn print_c(program: &Program, head: &str) -> Result<String, String> {
    let names = Names { program, procedure: None };
    let mut printer = Printer { program, procedure: usize::MAX, names, text: String::new(), depth: 0 };
    head.lines().for_each(|line| printer.line(line));
    printer.text.push_str(PRELUDE);
    for declared in &program.declared {
        let line = format!("static int {};", printer.declared("v", declared));
        printer.line(&line);
    }
    printer.text.push('\n');
    for procedure in 0..program.procedures.len() {
        let head = printer.head(procedure);
        printer.line(&format!("{head};"));
    }
    for procedure in 0..program.procedures.len() {
        printer.procedure(procedure)?;
    }
    printer.main();
    Ok(printer.text)
}

const PRELUDE: &str = "
extern int nondet_int(void);

static int any(int low, int high) {
  int x = nondet_int();
  __CPROVER_assume(low <= x && x <= high);
  return x;
}

static int modulo(int x, int y) { return ((x % y) + y) % y; }
static int divided(int x, int y) { return (x - modulo(x, y)) / y; }

";

struct Printer<'p> {
    program: &'p Program,
    procedure: usize,
    names: Names<'p>,
    text: String,
    depth: usize,
}

type Written = Result<(), String>;

impl Printer<'_> {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{:indent$}{line}", "", indent = 2 * self.depth);
    }

    /// A variable with its size, if it has several parts.
    fn declared(&self, sort: &str, declared: &Declared) -> String {
        let size = self.names.size(declared).map_or(String::new(), |size| format!("[{size}]"));
        format!("{}{size}", Names::of(sort, declared))
    }

    fn slot(&self, slot: Slot) -> String {
        let (name, part) = self.names.slot(slot);
        part.map_or(name.clone(), |part| format!("{name}[{part}]"))
    }

    fn element(&self, element: &Element) -> String {
        let (name, part) = self.names.slot(element.first);
        let index = |index: &Index| format!(" + ({}) * {}", self.expression(&index.value), index.stride);
        format!("{name}[{}{}]", part.unwrap_or(0), element.indices.iter().map(index).collect::<String>())
    }

    fn place(&self, place: &Place) -> Option<String> {
        match place {
            Place::Nowhere => None,
            Place::Variable(slot) => Some(self.slot(*slot)),
            Place::Element(element) => Some(self.element(element)),
        }
    }

    fn any(&self, kind: Kind) -> String {
        let (low, high) = self.program.range(kind);
        format!("any({low}, {high})")
    }

    /// What a variable begins with.
    fn init(&self, variable: &Variable) -> String {
        let number = |code: u32| (variable.kind.lowest() + i64::from(code)).to_string();
        variable.init.map_or_else(|| self.any(variable.kind), number)
    }

    fn expression(&self, expression: &Expression) -> String {
        let text = |expression: &Expression| self.expression(expression);
        match expression {
            Expression::Value(code, kind) => (kind.lowest() + i64::from(*code)).to_string(),
            Expression::Number(number) => format!("({number})"),
            Expression::Any(kind) => self.any(*kind),
            Expression::Read(slot) | Expression::New(slot) => self.slot(*slot),
            Expression::Element(element) | Expression::NewElement(element) => self.element(element),
            Expression::Not(operand) => format!("!{}", text(operand)),
            Expression::Negate(operand) => format!("-({})", text(operand)),
            Expression::Choice(condition, then, otherwise) => {
                format!("({} ? {} : {})", text(condition), text(then), text(otherwise))
            }
            Expression::Choose(positive, negative) => {
                format!("({} ? 1 : {} ? 0 : any(0, 1))", text(positive), text(negative))
            }
            Expression::Binary(operator, left, right) => {
                let (left, right) = (text(left), text(right));
                match operator {
                    Operator::Implies => format!("(!{left} || {right})"),
                    Operator::Divide => format!("divided({left}, {right})"),
                    Operator::Modulo => format!("modulo({left}, {right})"),
                    operator => format!("({left} {} {right})", sign(*operator)),
                }
            }
        }
    }

    /// The head of a procedure: where its results go, then its parameters, part by part.
    fn head(&self, number: usize) -> String {
        let procedure = &self.program.procedures[number];
        let results = (0..procedure.results.len()).map(|result| format!("int *r{result}"));
        let parameters = (0..procedure.parameters).map(|part| format!("int p{part}"));
        let all: Vec<_> = results.chain(parameters).collect();
        let all = if all.is_empty() { "void".to_owned() } else { all.join(", ") };
        format!("static void f{number}_{}({all})", plain(&procedure.name))
    }

    fn procedure(&mut self, number: usize) -> Written {
        let procedure = &self.program.procedures[number];
        (self.procedure, self.names.procedure) = (number, Some(number));
        let head = self.head(number);
        self.text.push('\n');
        self.line(&format!("{head} {{"));
        self.depth = 1;
        for declared in &procedure.declared {
            let line = format!("int {};", self.declared("l", declared));
            self.line(&line);
        }
        for (part, variable) in procedure.locals.iter().enumerate() {
            let (name, init) = (self.slot(Slot::Local(part)), self.init(variable));
            let value = if part < procedure.parameters { format!("p{part}") } else { init };
            let kind = if self.names.is_declared(Slot::Local(part)) { "" } else { "int " };
            self.line(&format!("{kind}{name} = {value};"));
        }
        self.block(procedure, &procedure.body)?;
        self.depth = 0;
        self.line("}");
        Ok(())
    }

    fn main(&mut self) {
        self.text.push_str("\nint main(void) {\n");
        self.depth = 1;
        for (number, variable) in self.program.shared.iter().enumerate() {
            let line = format!("{} = {};", self.slot(Slot::Shared(number)), self.init(variable));
            self.line(&line);
        }
        let main = self.program.main;
        let name = plain(&self.program.procedures[main].name);
        self.line(&format!("f{main}_{name}();"));
        self.line("return 0;");
        self.depth = 0;
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
        let jumps = |other: &Action| matches!(other, Action::Goto(targets) if targets.contains(&position));
        if procedure.statements.iter().any(|other| jumps(&other.action)) {
            self.line(&format!("L{position}: ;"));
        }
        match &statement.action {
            Action::Skip | Action::Next(..) => {}
            Action::Goto(targets) => {
                let cases = targets.iter().enumerate().map(|(case, to)| format!("case {case}: goto L{to}; "));
                let cases: String = cases.collect();
                self.line(&format!("switch (any(0, {})) {{ {cases}}}", targets.len() - 1));
            }
            Action::Assign { targets, values, constraint: None } => self.assign(targets, values, statement.line),
            Action::Unlock(place) => {
                self.assign(std::slice::from_ref(place), &[Expression::Number(0)], statement.line);
            }
            Action::Assume(condition) => {
                let condition = self.expression(condition);
                self.line(&format!("__CPROVER_assume({condition});"));
            }
            Action::Assert(condition) => {
                let (condition, name) =
                    (self.expression(condition), self.program.assertion_name(self.procedure, position));
                self.line(&format!("__CPROVER_assert({condition}, {name:?});"));
            }
            Action::If(condition, then, otherwise) => {
                let condition = self.expression(condition);
                self.line(&format!("if ({condition}) {{"));
                self.inner(procedure, then)?;
                self.line("} else {");
                self.inner(procedure, otherwise)?;
                self.line("}");
            }
            Action::While(condition, body) => {
                let condition = self.expression(condition);
                self.line(&format!("while ({condition}) {{"));
                self.inner(procedure, body)?;
                self.line("}");
            }
            Action::For(variable, body) => {
                let (low, high) = self.program.range(procedure.locals[*variable].kind);
                let name = self.slot(Slot::Local(*variable));
                self.line(&format!("for ({name} = {low}; {name} <= {high}; {name}++) {{"));
                self.inner(procedure, body)?;
                self.line("}");
                self.line(&format!("{name} = {low};"));
            }
            Action::Call { targets, procedure: called, arguments } => self.call(targets, *called, arguments),
            Action::Return(values) => {
                let values: Vec<_> = values.iter().map(|value| self.expression(value)).collect();
                let stored: String =
                    values.iter().enumerate().map(|(result, value)| format!("int x{result} = {value}; ")).collect();
                let told: String = (0..values.len()).map(|result| format!("*r{result} = x{result}; ")).collect();
                self.line(&format!("{{ {stored}{told}return; }}"));
            }
            Action::Dead(slots) => {
                for &slot in slots {
                    let kind = self.program.variable(self.procedure, slot).kind;
                    let line = format!("{} = {};", self.slot(slot), self.any(kind));
                    self.line(&line);
                }
            }
            _ => return Err(format!("line {} of the sequential program has no form in C", statement.line)),
        }
        Ok(())
    }

    /// Assigns all values at once. Values are compared with the ranges that they go to.
    fn assign(&mut self, targets: &[Place], values: &[Expression], line: u32) {
        let mut stores = String::new();
        let mut text = String::from("{ ");
        for (number, (target, value)) in targets.iter().zip(values).enumerate() {
            let _ = write!(text, "int x{number} = {}; ", self.expression(value));
            let Some(place) = self.place(target) else { continue };
            if let Some(kind @ Kind::Range(..)) = self.program.kind_of(self.procedure, target) {
                let (low, high) = self.program.range(kind);
                let _ = write!(text, "__CPROVER_assert({low} <= x{number} && x{number} <= {high}, \"range@{line}\"); ");
            }
            // Where it goes is found out before anything is stored.
            let _ = write!(text, "int *t{number} = &{place}; ");
            let _ = write!(stores, "*t{number} = x{number}; ");
        }
        self.line(&format!("{text}{stores}}}"));
    }

    fn call(&mut self, targets: &[Place], called: usize, arguments: &[Expression]) {
        let procedure = &self.program.procedures[called];
        let results: Vec<_> = (0..procedure.results.len()).map(|result| format!("x{result}")).collect();
        let declared: String = results.iter().map(|name| format!("int {name}; ")).collect();
        let given = arguments.iter().map(|argument| self.expression(argument));
        let all: Vec<_> = results.iter().map(|name| format!("&{name}")).chain(given).collect();
        let places = targets.iter().map(|target| self.place(target));
        let stored = places.zip(&results).filter_map(|(place, name)| Some(format!("{} = {name}; ", place?)));
        let stored: String = stored.collect();
        let name = plain(&procedure.name);
        self.line(&format!("{{ {declared}f{called}_{name}({}); {stored}}}", all.join(", ")));
    }
}

fn sign(operator: Operator) -> &'static str {
    match operator {
        Operator::And => "&&",
        Operator::Or => "||",
        Operator::Xor | Operator::Unequal => "!=",
        Operator::Equal => "==",
        Operator::Less => "<",
        Operator::AtMost => "<=",
        Operator::Greater => ">",
        Operator::AtLeast => ">=",
        Operator::Add => "+",
        Operator::Subtract => "-",
        Operator::Multiply => "*",
        Operator::Implies | Operator::Divide | Operator::Modulo => "?",
    }
}

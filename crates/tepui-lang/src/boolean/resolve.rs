//! From the syntax tree to a program: names are looked up, kinds are checked, and what looks like a slip is said.
//!
//! Constants are replaced by their values, and arrays and records are taken apart: each part is a variable of its own, and
//! what is done with a whole array is done with each of its parts, all at once.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

use tepui_model::program::{
    Action, Block, Declared, Dimension, Enumeration, Expression, Kind, Operator, Procedure, Program, Shape, Slot,
    Statement, Target,
};

use super::Dialect;
use super::lints;
use super::syntax::{self, Module, Name, Operation};
use crate::diagnostic::{Diagnostic, Severity, Sink, quote};
use crate::source::Source;
use crate::suggestion::suggestion;

mod builtins;
mod declarations;
mod expressions;
mod places;
mod statements;
mod tasks;

pub(super) use declarations::default_code;
pub(super) use places::parts;

/// Looks all names up. Nothing, if that makes no sense; the sink says why.
pub(super) fn resolve(
    module: &Module,
    source: &Source,
    dialect: Dialect,
    unreachable: &[String],
    sink: &mut Sink,
) -> Option<Program> {
    let lines = source.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(offset, _)| offset);
    let mut resolver = Resolver {
        module,
        dialect,
        sink,
        program: Program::default(),
        lines: lines.collect(),
        constants: HashMap::new(),
        kinds: HashMap::new(),
        barriers: Vec::new(),
        labels: HashMap::new(),
        loop_kinds: VecDeque::new(),
        phase: None,
    };
    resolver.order();
    resolver.enumerations();
    resolver.definitions();
    resolver.shared();
    resolver.signatures();
    for (number, procedure) in module.procedures.iter().enumerate() {
        resolver.procedure(number, procedure);
    }
    resolver.results();
    resolver.main(source);
    resolver.require_tasks_alone();
    resolver.targets(unreachable);
    if !resolver.sink.has_errors() {
        let found = match dialect.has_braces() {
            true => lints::unused(&resolver.program, module),
            false => lints::uncalled(&resolver.program, module),
        };
        found.into_iter().for_each(|diagnostic| resolver.sink.push(diagnostic));
    }
    let program = resolver.program;
    (!sink.has_errors()).then_some(program)
}

struct Resolver<'m, 's> {
    module: &'m Module,
    dialect: Dialect,
    sink: &'s mut Sink,
    program: Program,
    /// Where lines end.
    lines: Vec<usize>,
    constants: HashMap<String, i64>,
    /// Kinds and records that have names.
    kinds: HashMap<String, Shape>,
    /// How many threads meet, and the record of such a place.
    barriers: Vec<(i64, usize)>,
    /// Those of the procedure at hand.
    labels: HashMap<String, Vec<Label>>,
    /// What the variables of its loops take, in the order of the loops; none, if a loop is empty.
    loop_kinds: VecDeque<Option<Kind>>,
    /// The local variable of the procedure at hand that remembers in which phase a barrier was.
    phase: Option<Slot>,
}

/// Where a label stands.
struct Label {
    position: usize,
    /// The loops around it: their positions.
    loops: Vec<usize>,
}

/// Where names are looked up.
#[derive(Clone)]
struct Scope {
    procedure: usize,
    /// Whether new values may be mentioned.
    constraint: bool,
    /// The variables of the loops around, and the positions of these, the outermost first.
    loops: Vec<(Declared, usize)>,
}

impl Scope {
    /// That of what stands outside of procedures.
    fn outside() -> Self {
        Self { procedure: usize::MAX, constraint: false, loops: Vec::new() }
    }
}

impl Resolver<'_, '_> {
    fn error(&mut self, span: &Range<usize>, message: impl Into<String>, label: impl Into<String>) {
        self.sink.push(Diagnostic::error(0, span.clone(), message, label));
    }

    fn error_with_hint(&mut self, span: &Range<usize>, message: &str, label: &str, hint: Option<String>) {
        self.sink.push(Diagnostic::error(0, span.clone(), message, label).hint_if(hint));
    }

    fn line(&self, offset: usize) -> u32 {
        self.lines.partition_point(|&end| end < offset) as u32 + 1
    }

    /// Names, parameters, local variables and results of all procedures, so that bodies can refer to them.
    fn signatures(&mut self) {
        let mut seen: HashSet<&str> = HashSet::new();
        for procedure in &self.module.procedures {
            let name = &procedure.name;
            if !seen.insert(&name.text) {
                self.error(&name.span, format!("the procedure {} is defined twice", quote(&name.text)), "again here");
            }
            if self.dialect.has_braces() && matches!(name.text.as_str(), "range" | "index" | "never") {
                self.error(
                    &name.span,
                    format!("no procedure may be called {}", quote(&name.text)),
                    "choose another name",
                );
            }
            self.warn_of_builtin(name);
            let (mut declared, mut locals) = (Vec::new(), Vec::new());
            self.declare(&procedure.parameters, &mut declared, &mut locals);
            let parameters = locals.len();
            locals.iter_mut().for_each(|parameter| parameter.init = None);
            self.declare(&procedure.locals, &mut declared, &mut locals);
            let returned: Vec<_> = procedure.results.iter().map(|kind| self.kind(kind)).collect();
            let results = returned.iter().flat_map(|shape| places::parts(&self.program, shape));
            let results = results.map(|(_, kind)| kind).collect();
            let line = self.line(name.span.start);
            self.program.procedures.push(Procedure {
                name: name.text.clone(),
                line,
                parameters,
                locals,
                declared,
                results,
                returned,
                enforced: None,
                statements: Vec::new(),
                body: Block::new(),
            });
        }
    }

    fn procedure(&mut self, number: usize, procedure: &syntax::Procedure) {
        let scope = Scope { procedure: number, constraint: false, loops: Vec::new() };
        self.remember_phase(number, &procedure.body);
        self.labels.clear();
        self.loop_kinds.clear();
        let mut next = 0;
        self.labels(&procedure.body, &mut next, &mut Vec::new());
        let enforced = procedure.enforced.as_ref().and_then(|enforced| {
            let condition = self.boolean(enforced, &scope)?;
            let mut doubtful = false;
            condition.elements(&mut |element| {
                doubtful |= element.indices.iter().any(|index| self.program.may_miss(number, index));
            });
            if doubtful {
                self.error(&enforced.span, "an index in `enforce` may be outside of its array", "nobody could tell");
            }
            Some(condition)
        });
        self.program.procedures[number].enforced = enforced;
        let mut statements = Vec::new();
        let body = self.block(&procedure.body, &mut statements, &scope);
        let done = &mut self.program.procedures[number];
        (done.statements, done.body) = (statements, body);
        if !self.sink.has_errors() {
            let found = lints::control(&self.program.procedures[number], procedure, self.dialect);
            found.into_iter().for_each(|diagnostic| self.sink.push(diagnostic));
        }
    }

    /// A result that is always out of the range of the variable that it goes to is a mistake.
    fn results(&mut self) {
        let mut wrong = Vec::new();
        for (number, procedure) in self.program.procedures.iter().enumerate() {
            for statement in &procedure.statements {
                let Action::Call { targets, procedure: called, .. } = &statement.action else { continue };
                for (result, target) in targets.iter().enumerate() {
                    let kind = self.program.kind_of(number, target);
                    let interval = self.program.result_interval(*called, result);
                    if let Some((kind, interval)) = kind.zip(interval) {
                        wrong.push((statement.text.0 as usize..statement.text.1 as usize, interval, kind));
                    }
                }
            }
        }
        for (span, interval, kind) in wrong {
            let _ = self.require_possible(&span, interval, kind);
        }
    }

    fn main(&mut self, source: &Source) {
        let named = || self.program.procedures.iter().position(|procedure| procedure.name == "main");
        let Some(main) = self.module.start.or_else(named) else {
            let end = source.text.len();
            let diagnostic = Diagnostic::error(0, end..end, "there is no procedure `main`", "at the end of the file");
            self.sink.push(diagnostic.hint("`void main() { thread f(); thread g() * 2; }` starts threads"));
            return;
        };
        self.program.main = main;
        if self.program.procedures[main].parameters > 0 {
            let span = self.module.procedures[main].name.span.clone();
            self.error(&span, "`main` takes no arguments", "nobody gives it any");
        }
    }

    fn targets(&mut self, labels: &[String]) {
        // Where the text could not be read, a label may stand in what is missing.
        let readable = !self.sink.has_errors();
        for label in labels {
            let mut targets = Vec::new();
            for (procedure, one) in self.program.procedures.iter().enumerate() {
                let labelled = (0..).zip(&one.statements).filter(|(_, statement)| statement.labels.contains(label));
                targets.extend(labelled.map(|(position, _)| Target { label: label.clone(), procedure, position }));
            }
            if targets.is_empty() && readable {
                let (message, hint) = self.missing(label);
                self.error_with_hint(&(0..0), &message, "in this program", hint);
            }
            self.program.unreachable.extend(targets);
        }
    }

    /// Why a label has no place in the program, and what may help.
    fn missing(&self, label: &str) -> (String, Option<String>) {
        let has = |statement: &syntax::Statement| statement.labels.iter().any(|name| name.text == label);
        if self.module.procedures.iter().any(|procedure| syntax::any(&procedure.body, &has)) {
            let message = format!("the label {} stands only in a loop that does nothing", quote(label));
            return (message, Some("no statement is left that it could lead to".to_owned()));
        }
        let statements = self.program.procedures.iter().flat_map(|procedure| &procedure.statements);
        let known = statements.flat_map(|statement| &statement.labels).map(String::as_str);
        let hint = suggestion(label, known, self.sink.is_full(Severity::Error));
        (format!("no label is called {}", quote(label)), hint)
    }
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("one {what}") } else { format!("{number} {what}s") }
}

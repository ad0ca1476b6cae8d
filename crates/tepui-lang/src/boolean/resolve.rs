//! From the syntax tree to a program: names are looked up, kinds are checked, and what looks like a slip is said.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use tepui_model::program::{
    Action, Block, Enumeration, Expression, Kind, Operator, Place, Procedure, Program, Slot, Statement, Target,
    Variable,
};

use super::Dialect;
use super::lints;
use super::syntax::{self, Declaration, KindName, Module, Name, Operation};
use crate::diagnostic::{Diagnostic, Severity, Sink, quote};
use crate::source::Source;
use crate::suggestion::suggestion;

mod expressions;

/// The most variables of one scope.
const MOST_VARIABLES: usize = 120;

/// Looks all names up. Nothing, if that makes no sense; the sink says why.
pub(super) fn resolve(
    module: &Module,
    source: &Source,
    dialect: Dialect,
    unreachable: &[String],
    sink: &mut Sink,
) -> Option<Program> {
    let lines = source.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(offset, _)| offset);
    let mut resolver = Resolver { module, dialect, sink, program: Program::default(), lines: lines.collect() };
    resolver.enumerations();
    resolver.program.shared = resolver.variables(&module.shared, &[]);
    resolver.signatures();
    for (number, procedure) in module.procedures.iter().enumerate() {
        resolver.procedure(number, procedure);
    }
    resolver.main(source);
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
}

/// The procedure whose names are looked up.
struct Scope {
    procedure: usize,
    labels: HashMap<String, usize>,
    /// Whether new values may be mentioned.
    constraint: bool,
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

    fn enumerations(&mut self) {
        let mut seen: HashMap<&str, &Name> = HashMap::new();
        for (name, values) in &self.module.enumerations {
            if seen.insert(&name.text, name).is_some() {
                self.error(&name.span, format!("{} is declared twice", quote(&name.text)), "again here");
            }
            let mut values_seen: HashSet<&str> = HashSet::new();
            for value in values {
                if !values_seen.insert(&value.text) {
                    self.error(&value.span, format!("the value {} occurs twice", quote(&value.text)), "again here");
                }
            }
            self.program.enumerations.push(Enumeration {
                name: name.text.clone(),
                values: values.iter().map(|value| value.text.clone()).collect(),
            });
        }
    }

    fn kind(&mut self, kind: &KindName) -> Kind {
        let KindName::Named(name) = kind else { return Kind::Bool };
        let found = self.program.enumerations.iter().position(|enumeration| enumeration.name == name.text);
        if let Some(number) = found {
            return Kind::Enumeration(number);
        }
        let known = self.program.enumerations.iter().map(|enumeration| enumeration.name.as_str()).chain(["bool"]);
        let hint = suggestion(&name.text, known, self.sink.is_full(Severity::Error));
        self.error_with_hint(&name.span, &format!("no kind is called {}", quote(&name.text)), "not declared", hint);
        Kind::Bool
    }

    /// Declared variables, after some that are there already.
    fn variables(&mut self, declared: &[Declaration], before: &[Declaration]) -> Vec<Variable> {
        let mut variables = Vec::new();
        let mut seen: HashMap<&str, ()> =
            before.iter().map(|declaration| (declaration.name.text.as_str(), ())).collect();
        for declaration in declared {
            let name = &declaration.name;
            if name.text == "_" {
                self.error(&name.span, "`_` stands for a value that is not wanted", "not a name");
            }
            if seen.insert(&name.text, ()).is_some() {
                self.error(&name.span, format!("{} is declared twice", quote(&name.text)), "again here");
            }
            let kind = self.kind(&declaration.kind);
            let init = match &declaration.init {
                Some(init) => self.constant(init, kind),
                None if self.dialect.has_braces() => Some(0),
                None => None,
            };
            variables.push(Variable { name: name.text.clone(), kind, init });
        }
        if before.len() + variables.len() > MOST_VARIABLES
            && let Some(last) = declared.last()
        {
            let message = format!("more than {MOST_VARIABLES} variables in one place are not supported");
            self.error(&last.name.span, message, "one of them");
        }
        variables
    }

    /// The value of a constant; none, if it may be any.
    fn constant(&mut self, expression: &syntax::Expression, kind: Kind) -> Option<u32> {
        let scope = Scope { procedure: usize::MAX, labels: HashMap::new(), constraint: false };
        match self.expression(expression, Some(kind), &scope)? {
            (Expression::Value(value, _), _) => Some(value),
            (Expression::Any(_), _) => None,
            _ => {
                self.error(&expression.span, "a variable starts with a constant or with `*`", "this is neither");
                None
            }
        }
    }

    /// Names, parameters, local variables and results of all procedures, so that bodies can refer to them.
    fn signatures(&mut self) {
        let mut seen: HashMap<&str, ()> = HashMap::new();
        for procedure in &self.module.procedures {
            let name = &procedure.name;
            if seen.insert(&name.text, ()).is_some() {
                self.error(&name.span, format!("the procedure {} is defined twice", quote(&name.text)), "again here");
            }
            let mut locals = self.variables(&procedure.parameters, &[]);
            locals.iter_mut().for_each(|parameter| parameter.init = None);
            locals.extend(self.variables(&procedure.locals, &procedure.parameters));
            let results = procedure.results.iter().map(|kind| self.kind(kind)).collect();
            let line = self.line(name.span.start);
            self.program.procedures.push(Procedure {
                name: name.text.clone(),
                line,
                parameters: procedure.parameters.len(),
                locals,
                results,
                enforced: None,
                statements: Vec::new(),
                body: Block::new(),
            });
        }
    }

    fn procedure(&mut self, number: usize, procedure: &syntax::Procedure) {
        let mut scope = Scope { procedure: number, labels: HashMap::new(), constraint: false };
        let mut next = 0;
        self.labels(&procedure.body, &mut next, &mut scope.labels);
        let enforced = procedure.enforced.as_ref().and_then(|enforced| self.boolean(enforced, &scope));
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

    /// Numbers statements as [`block`](Self::block) will, and notes where labels stand.
    fn labels(&mut self, block: &[syntax::Statement], next: &mut usize, labels: &mut HashMap<String, usize>) {
        for statement in block {
            let position = *next;
            *next += 1;
            for label in &statement.labels {
                if labels.insert(label.text.clone(), position).is_some_and(|other| other != position) {
                    self.error(&label.span, format!("the label {} is set twice", quote(&label.text)), "again here");
                }
            }
            match &statement.action {
                syntax::Action::If(_, then, otherwise) => {
                    self.labels(then, next, labels);
                    self.labels(otherwise, next, labels);
                }
                syntax::Action::While(_, body) | syntax::Action::Atomic(body) => self.labels(body, next, labels),
                _ => {}
            }
        }
    }

    fn block(&mut self, block: &[syntax::Statement], statements: &mut Vec<Statement>, scope: &Scope) -> Block {
        let mut positions = Block::new();
        for statement in block {
            positions.push(statements.len());
            let labels = statement.labels.iter().map(|label| label.text.clone()).collect();
            let line = self.line(statement.span.start);
            let text = (statement.span.start as u32, statement.span.end as u32);
            let position = statements.len();
            let property = match &statement.action {
                syntax::Action::Assert(_, name) => name.as_ref().map(|name| name.text.clone()),
                _ => None,
            };
            statements.push(Statement { labels, line, text, action: Action::Skip, property });
            statements[position].action = self.action(&statement.action, statements, scope).unwrap_or(Action::Skip);
        }
        positions
    }

    fn action(&mut self, action: &syntax::Action, statements: &mut Vec<Statement>, scope: &Scope) -> Option<Action> {
        Some(match action {
            syntax::Action::Skip => Action::Skip,
            syntax::Action::Goto(labels) => {
                Action::Goto(labels.iter().filter_map(|label| self.label(label, scope)).collect())
            }
            syntax::Action::Assign { targets, values, constraint } => {
                if targets.len() != values.len() {
                    let span = targets[0].span.start..values[values.len() - 1].span.end;
                    self.error(
                        &span,
                        format!("{} variables and {} values", targets.len(), values.len()),
                        "assigned here",
                    );
                    return None;
                }
                let targets = self.targets_of(targets, scope);
                let kinds: Vec<_> = targets.iter().map(|&(_, kind)| kind).collect();
                let values = self.arguments(values, &kinds, scope);
                let inner = Scope { labels: HashMap::new(), constraint: true, ..*scope };
                let constraint = constraint.as_ref().map(|constraint| self.boolean(constraint, &inner));
                Action::Assign {
                    targets: targets.into_iter().map(|(place, _)| place).collect(),
                    values: values?,
                    constraint: match constraint {
                        Some(constraint) => Some(constraint?),
                        None => None,
                    },
                }
            }
            syntax::Action::Assume(condition) => Action::Assume(self.boolean(condition, scope)?),
            syntax::Action::Wait(condition) => Action::Wait(self.boolean(condition, scope)?),
            syntax::Action::Assert(condition, _) => Action::Assert(self.boolean(condition, scope)?),
            syntax::Action::If(condition, then, otherwise) => {
                let condition = self.boolean(condition, scope);
                let then = self.block(then, statements, scope);
                let otherwise = self.block(otherwise, statements, scope);
                Action::If(condition?, then, otherwise)
            }
            syntax::Action::While(condition, body) => {
                let condition = self.boolean(condition, scope);
                let body = self.block(body, statements, scope);
                Action::While(condition?, body)
            }
            syntax::Action::Atomic(body) => Action::Atomic(self.block(body, statements, scope)),
            syntax::Action::AtomicBegin => Action::AtomicBegin,
            syntax::Action::AtomicEnd => Action::AtomicEnd,
            syntax::Action::Lock(name) => Action::Lock(self.lock(name, scope)?),
            syntax::Action::Unlock(name) => Action::Unlock(self.lock(name, scope)?),
            syntax::Action::Call { targets, procedure, arguments } => {
                let found = self.called(procedure, arguments, scope);
                let targets_found = self.targets_of(targets, scope);
                let (number, arguments) = found?;
                let results = self.program.procedures[number].results.clone();
                if targets.len() != results.len() && !targets.is_empty() {
                    let message = format!(
                        "{} returns {}, but there {} for {}",
                        quote(&procedure.text),
                        count(results.len(), "value"),
                        if targets.len() == 1 { "is a variable" } else { "are variables" },
                        targets.len()
                    );
                    self.error(&procedure.span, message, "called here");
                    return None;
                }
                let pairs = targets_found.iter().zip(&results).zip(targets);
                for ((&(_, kind), &result), name) in pairs {
                    if kind.is_some_and(|kind| kind != result) {
                        self.error(
                            &name.span,
                            format!("{} is of another kind than the result", quote(&name.text)),
                            "assigned here",
                        );
                    }
                }
                Action::Call {
                    targets: targets_found.into_iter().map(|(place, _)| place).collect(),
                    procedure: number,
                    arguments,
                }
            }
            syntax::Action::Return(values) => {
                let results = self.program.procedures[scope.procedure].results.clone();
                if values.len() != results.len() {
                    let name = &self.module.procedures[scope.procedure].name;
                    let span = values
                        .first()
                        .map_or(name.span.clone(), |first| first.span.start..values[values.len() - 1].span.end);
                    let message = format!(
                        "{} returns {}, not {}",
                        quote(&name.text),
                        count(results.len(), "value"),
                        values.len()
                    );
                    self.error(
                        &span,
                        message,
                        if values.is_empty() { "this procedure has a return without values" } else { "returned here" },
                    );
                    return None;
                }
                let kinds: Vec<_> = results.into_iter().map(Some).collect();
                Action::Return(self.arguments(values, &kinds, scope)?)
            }
            syntax::Action::Start { procedure, arguments, count } => {
                let (number, arguments) = self.called(procedure, arguments, scope)?;
                Action::Start { procedure: number, arguments, count: *count }
            }
            syntax::Action::StartAt(label) => Action::StartAt(self.label(label, scope)?),
            syntax::Action::EndThread => Action::EndThread,
            syntax::Action::Sleep => Action::Sleep,
            syntax::Action::Broadcast => Action::Broadcast,
            syntax::Action::Dead(names) => {
                let found = self.targets_of(names, scope);
                Action::Dead(found.into_iter().filter_map(|(place, _)| place).collect())
            }
        })
    }

    fn label(&mut self, label: &Name, scope: &Scope) -> Option<usize> {
        if let Some(&position) = scope.labels.get(&label.text) {
            return Some(position);
        }
        let hint = suggestion(&label.text, scope.labels.keys().map(String::as_str), self.sink.is_full(Severity::Error));
        self.error_with_hint(
            &label.span,
            &format!("no label is called {}", quote(&label.text)),
            "not set in this procedure",
            hint,
        );
        None
    }

    fn lock(&mut self, name: &Name, scope: &Scope) -> Option<Slot> {
        let (slot, kind) = self.slot(name, scope)?;
        if kind != Kind::Bool {
            self.error(&name.span, "a lock is a Boolean variable", "this is not");
        }
        if matches!(slot, Slot::Local(_)) {
            self.error(&name.span, "a lock is a shared variable", "this one is local");
        }
        Some(slot)
    }

    /// The variables that values are assigned to, `_` for none, and their kinds.
    fn targets_of(&mut self, names: &[Name], scope: &Scope) -> Vec<(Place, Option<Kind>)> {
        let mut found = Vec::new();
        for (index, name) in names.iter().enumerate() {
            if name.text == "_" {
                found.push((None, None));
                continue;
            }
            if names[..index].iter().any(|other| other.text == name.text) {
                self.error(&name.span, format!("{} is assigned twice at once", quote(&name.text)), "again here");
            }
            match self.slot(name, scope) {
                Some((slot, kind)) => found.push((Some(slot), Some(kind))),
                None => found.push((None, None)),
            }
        }
        found
    }

    fn slot(&mut self, name: &Name, scope: &Scope) -> Option<(Slot, Kind)> {
        if let Some(found) = self.lookup(&name.text, scope) {
            return Some(found);
        }
        let hint = self.similar_variable(&name.text, scope);
        self.error_with_hint(&name.span, &format!("no variable is called {}", quote(&name.text)), "not declared", hint);
        None
    }

    fn lookup(&self, name: &str, scope: &Scope) -> Option<(Slot, Kind)> {
        let find = |variables: &[Variable]| variables.iter().position(|variable| variable.name == name);
        let locals = self.program.procedures.get(scope.procedure).map_or(&[][..], |procedure| &procedure.locals);
        if let Some(number) = find(locals) {
            return Some((Slot::Local(number), locals[number].kind));
        }
        find(&self.program.shared).map(|number| (Slot::Shared(number), self.program.shared[number].kind))
    }

    fn similar_variable(&self, name: &str, scope: &Scope) -> Option<String> {
        let locals = self.program.procedures.get(scope.procedure).map_or(&[][..], |procedure| &procedure.locals);
        let known = locals.iter().chain(&self.program.shared).map(|variable| variable.name.as_str());
        suggestion(name, known, self.sink.is_full(Severity::Error))
    }

    /// The procedure that is called or started, and its arguments.
    fn called(
        &mut self,
        name: &Name,
        arguments: &[syntax::Expression],
        scope: &Scope,
    ) -> Option<(usize, Vec<Expression>)> {
        let found = self.program.procedures.iter().position(|procedure| procedure.name == name.text);
        let Some(number) = found else {
            let hint = suggestion(
                &name.text,
                self.program.procedures.iter().map(|procedure| procedure.name.as_str()),
                self.sink.is_full(Severity::Error),
            );
            self.error_with_hint(
                &name.span,
                &format!("no procedure is called {}", quote(&name.text)),
                "not defined",
                hint,
            );
            return None;
        };
        let procedure = &self.program.procedures[number];
        if procedure.parameters != arguments.len() {
            let message = format!(
                "{} takes {}, not {}",
                quote(&name.text),
                count(procedure.parameters, "argument"),
                arguments.len()
            );
            self.error(&name.span, message, "called here");
            return None;
        }
        let kinds: Vec<_> = procedure.locals[..arguments.len()].iter().map(|variable| Some(variable.kind)).collect();
        Some((number, self.arguments(arguments, &kinds, scope)?))
    }

    fn arguments(
        &mut self,
        expressions: &[syntax::Expression],
        kinds: &[Option<Kind>],
        scope: &Scope,
    ) -> Option<Vec<Expression>> {
        let found: Vec<_> =
            expressions.iter().zip(kinds).map(|(expression, &kind)| self.expression(expression, kind, scope)).collect();
        found.into_iter().map(|found| found.map(|(expression, _)| expression)).collect()
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
                let labels = self.program.procedures.iter().flat_map(|procedure| &procedure.statements);
                let known = labels.flat_map(|statement| &statement.labels).map(String::as_str);
                let hint = suggestion(label, known, self.sink.is_full(Severity::Error));
                self.error_with_hint(&(0..0), &format!("no label is called {}", quote(label)), "in this program", hint);
            }
            self.program.unreachable.extend(targets);
        }
    }
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("one {what}") } else { format!("{number} {what}s") }
}

//! What there is to say about a program without verifying it: read off its text, in time linear in it.

use tepui_core::text::count;
use tepui_engines::program::code::Code;
use tepui_engines::program::layout::bits;
use tepui_model::program::{Action, Kind, Order, Program, Variable};

use super::super::{Field, Summary};
use super::{Compiling, creates_threads};

/// The summary of a program.
pub(super) fn summary(program: &Program, code: &Code, compiling: &Compiling, digest: &str) -> Summary {
    let shared: Vec<_> = program.declared.iter().map(|declared| declared.name.clone()).collect();
    let properties = compiling.question.names(program);
    let creates = creates_threads(program, compiling.reduce);
    let threads = code.thread_names();
    let what = format!(
        "a program with {} and {}",
        count(shared.len() as u64, "shared variable"),
        count(program.procedures.len() as u64, "procedure")
    );
    let started = if creates { "as many as it starts".to_owned() } else { threads.join(", ") };
    let listed = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let facts = vec![
        ("threads", started.clone()),
        ("shared", listed(&shared)),
        ("kept", listed(&kept(code))),
        ("start", listed(&start(program))),
        ("recursion", if is_recursive(program) { "yes" } else { "no" }.to_owned()),
        ("properties", listed(&properties)),
        ("digest", digest.to_owned()),
    ];
    let texts = |names: &[String]| Field::List(names.iter().cloned().map(Field::Text).collect());
    let fields = vec![
        ("model_digest", Field::Text(digest.to_owned())),
        ("threads", texts(if creates { &[] } else { &threads })),
        ("creates_threads", Field::Flag(creates)),
        ("shared", Field::List(program.shared.iter().map(|variable| described(program, variable)).collect())),
        ("kept", texts(&kept(code))),
        ("recursive", Field::Flag(is_recursive(program))),
        ("procedures", Field::List(rows(program).into_iter().map(|(_, field)| field).collect())),
        ("properties", texts(&properties)),
    ];
    Summary { what, facts, threads: table(program), lines: Vec::new(), fields }
}

/// The summary of an asynchronous program.
pub(super) fn of_tasks(program: &Program, properties: &[String], digest: &str) -> Summary {
    let shared: Vec<_> = program.declared.iter().map(|declared| declared.name.clone()).collect();
    let what = format!(
        "an asynchronous program with {} and {}",
        count(shared.len() as u64, "shared variable"),
        count(program.procedures.len() as u64, "procedure")
    );
    let posts = |action: &Action| if let Action::Start { procedure, .. } = action { Some(*procedure) } else { None };
    let statements = || program.procedures.iter().flat_map(|procedure| &procedure.statements);
    let mut posted: Vec<_> = statements().filter_map(|statement| posts(&statement.action)).collect();
    posted.sort_unstable();
    posted.dedup();
    let posted: Vec<_> = posted.into_iter().map(|number| program.procedures[number].name.clone()).collect();
    let order = program.order.map_or("", Order::name);
    let listed = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let facts = vec![
        ("tasks", listed(&posted)),
        ("order", order.to_owned()),
        ("shared", listed(&shared)),
        ("start", listed(&start(program))),
        ("recursion", if is_recursive(program) { "yes" } else { "no" }.to_owned()),
        ("properties", listed(properties)),
        ("digest", digest.to_owned()),
    ];
    let texts = |names: &[String]| Field::List(names.iter().cloned().map(Field::Text).collect());
    let fields = vec![
        ("model_digest", Field::Text(digest.to_owned())),
        ("tasks", texts(&posted)),
        ("order", Field::Text(order.to_owned())),
        ("shared", Field::List(program.shared.iter().map(|variable| described(program, variable)).collect())),
        ("recursive", Field::Flag(is_recursive(program))),
        ("procedures", Field::List(rows(program).into_iter().map(|(_, field)| field).collect())),
        ("properties", texts(properties)),
    ];
    Summary { what, facts, threads: table(program), lines: Vec::new(), fields }
}

/// The procedures as a table.
fn table(program: &Program) -> Vec<Vec<String>> {
    let head = ["procedure", "line", "statements", "parameters", "locals", "bits"].map(str::to_owned).to_vec();
    std::iter::once(head).chain(rows(program).into_iter().map(|(row, _)| row)).collect()
}

/// The shared variables whose values matter.
fn kept(code: &Code) -> Vec<String> {
    code.kept.shared.iter().map(|number| code.program.shared[number].name.clone()).collect()
}

/// What the shared variables start with.
fn start(program: &Program) -> Vec<String> {
    let value =
        |variable: &Variable| variable.init.map_or("*".to_owned(), |code| program.value_name(variable.kind, code));
    program.shared.iter().map(|variable| format!("{} = {}", variable.name, value(variable))).collect()
}

fn described(program: &Program, variable: &Variable) -> Field {
    let kind = match variable.kind {
        Kind::Bool => "bool".to_owned(),
        Kind::Enumeration(number) => program.enumerations[number].name.clone(),
        Kind::Range(low, high) => format!("{low}..{high}"),
    };
    Field::Object(vec![
        ("name", Field::Text(variable.name.clone())),
        ("kind", Field::Text(kind)),
        ("bits", Field::Number(u64::from(bits(program, variable.kind)))),
    ])
}

/// For each procedure a row of the table, and the same for programs.
fn rows(program: &Program) -> Vec<(Vec<String>, Field)> {
    let row = |procedure: &tepui_model::program::Procedure| {
        let locals = procedure.declared.iter().filter(|declared| declared.first >= procedure.parameters).count();
        let size: u32 = procedure.locals.iter().map(|local| bits(program, local.kind)).sum();
        let numbers = [
            ("line", procedure.line as usize),
            ("statements", procedure.statements.len()),
            ("parameters", procedure.declared.len() - locals),
            ("locals", locals),
            ("bits", size as usize),
        ];
        let texts = numbers.iter().map(|(_, number)| number.to_string());
        let fields = numbers.iter().map(|&(name, number)| (name, Field::Number(number as u64)));
        let name = || procedure.name.clone();
        (
            std::iter::once(name()).chain(texts).collect(),
            Field::Object(std::iter::once(("name", Field::Text(name()))).chain(fields).collect()),
        )
    };
    program.procedures.iter().map(row).collect()
}

/// Whether a procedure may call itself, by whatever detours.
fn is_recursive(program: &Program) -> bool {
    let calls = |procedure: usize| {
        program.procedures[procedure].statements.iter().filter_map(|statement| match statement.action {
            Action::Call { procedure, .. } => Some(procedure),
            _ => None,
        })
    };
    (0..program.procedures.len()).any(|first| {
        let (mut open, mut seen) = (calls(first).collect::<Vec<_>>(), vec![false; program.procedures.len()]);
        while let Some(next) = open.pop() {
            if !std::mem::replace(&mut seen[next], true) {
                open.extend(calls(next));
            }
        }
        seen[first]
    })
}

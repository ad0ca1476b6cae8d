//! From the tree to a program: names are looked up, labels become paths, and `*` gets the values that fit its place.
//!
//! Procedures are read twice: what a call may store depends on all that the called procedure returns.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use super::Dialect;
use super::definitions::{Names, Resolved, fit};
use super::kinds::Kind;
use super::position::{atomic_blocks, gets_to_end, loops};
use super::program::{self, Doubts, Order, Path, Program, Slot, Step};
use super::terms::{Scope, Visible};
use super::tree::{Action, Block, Procedure, Statement, Tree};

/// A program, and what was counted.
pub(super) type Counted = (Program, Vec<&'static str>);

/// A procedure, and all that was noted about it.
struct Read {
    procedure: program::Procedure,
    asserts: Vec<String>,
    returns: Vec<Option<Kind>>,
    ranges: BTreeSet<(usize, usize)>,
    indices: BTreeSet<(usize, usize)>,
    counts: Vec<&'static str>,
}

/// Reads the names of a tree.
pub(super) fn resolve(tree: &Tree, dialect: Dialect) -> Resolved<Counted> {
    let names = Names::of(tree, dialect)?;
    let shared = tree.shared.iter().map(|variable| names.initial(variable)).collect::<Resolved<_>>()?;
    let all = |returned: &[Vec<Option<Kind>>]| {
        let read = tree.procedures.iter().map(|procedure| resolve_procedure(tree, &names, procedure, returned));
        read.collect::<Resolved<Vec<_>>>()
    };
    let returned: Vec<_> = all(&[])?.into_iter().map(|read| read.returns).collect();
    let (mut procedures, mut properties, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    let (mut ranges, mut indices) = (BTreeSet::new(), BTreeSet::new());
    for read in all(&returned)? {
        procedures.push(read.procedure);
        properties.extend(read.asserts);
        ranges.extend(read.ranges);
        indices.extend(read.indices);
        counts.extend(read.counts);
    }
    let mut doubts = BTreeMap::<usize, Doubts>::new();
    for (number, name) in named("range", &ranges) {
        properties.push(name.clone());
        doubts.entry(number).or_default().range = Some(name);
    }
    for (number, name) in named("index", &indices) {
        properties.push(name.clone());
        doubts.entry(number).or_default().index = Some(name);
    }
    let exclusive = tree.exclusive.clone();
    for label in &exclusive {
        let mut found = Vec::new();
        tree.procedures.iter().for_each(|procedure| labels(&procedure.body, &[], &mut found));
        // At the end of a block stands no statement.
        let ends = tree.procedures.iter().any(|procedure| ends(&procedure.body, label));
        // What is enforced may keep a thread from being seen at a label.
        let enforces = |procedure: &Procedure| {
            let mut own = Vec::new();
            labels(&procedure.body, &[], &mut own);
            !procedure.enforced.is_empty() && own.iter().any(|(own, _)| own == label)
        };
        if ends || tree.procedures.iter().any(enforces) || !found.iter().any(|(own, _)| own == label) {
            return Err(format!("no statement has the label {label}"));
        }
        properties.push(format!("exclusive-{label}"));
    }
    let (first, then, begins_with_a_call) = roots(tree, dialect)?;
    let tasks = tasks(tree)?;
    Ok((Program { shared, procedures, first, then, begins_with_a_call, doubts, properties, tasks, exclusive }, counts))
}

/// The names of the properties of statements, which are given in the order of the text with their lines.
fn named(what: &str, statements: &BTreeSet<(usize, usize)>) -> Vec<(usize, String)> {
    let mut lines = BTreeMap::<usize, usize>::new();
    let mut name = |line: usize| {
        let before = lines.entry(line).or_default();
        *before += 1;
        if *before == 1 { format!("{what}@{line}") } else { format!("{what}@{line}.{before}") }
    };
    statements.iter().map(|&(number, line)| (number, name(line))).collect()
}

/// In which order tasks are dispatched, if the program posts or yields, or says so. Then it has no threads.
fn tasks(tree: &Tree) -> Resolved<Option<Order>> {
    let any = |wanted: &dyn Fn(&Action) -> bool| {
        tree.procedures.iter().any(|procedure| has(&procedure.body, &|action| wanted(action)))
    };
    let asynchronous = |action: &Action| matches!(action, Action::Yield | Action::Start { posts: true, .. });
    if tree.tasks.is_none() && !any(&asynchronous) {
        return Ok(None);
    }
    let threads = |action: &Action| {
        matches!(
            action,
            Action::Start { posts: false, .. }
                | Action::StartAt(_)
                | Action::Sleep(_)
                | Action::Broadcast(_)
                | Action::Signal(_)
                | Action::AtomicBegin
                | Action::AtomicEnd
        )
    };
    if any(&threads) || !tree.exclusive.is_empty() {
        return Err("what is for threads in a program that has tasks".to_owned());
    }
    Ok(Some(match tree.tasks.as_deref() {
        Some("fifo") => Order::Fifo,
        Some("lifo") => Order::Lifo,
        _ => Order::Bag,
    }))
}

/// Which procedures run at first, which after them, and whether the first one is called.
fn roots(tree: &Tree, dialect: Dialect) -> Resolved<(Vec<usize>, Vec<usize>, bool)> {
    let number = |name: &str| tree.procedures.iter().position(|procedure| procedure.name == name);
    if dialect != Dialect::Getafix {
        return Ok((vec![number("main").ok_or("there is no main")?], Vec::new(), false));
    }
    let roots = uncalled(tree).filter(|procedure| procedure.name != "init");
    let roots = roots.filter_map(|procedure| number(&procedure.name)).collect();
    Ok(match number("init") {
        Some(init) => (vec![init], roots, true),
        None => (roots, Vec::new(), false),
    })
}

/// The procedures that no procedure calls or starts.
pub(super) fn uncalled(tree: &Tree) -> impl Iterator<Item = &Procedure> {
    let called = |name: &str| tree.procedures.iter().any(|procedure| calls(&procedure.body, name));
    tree.procedures.iter().filter(move |procedure| !called(&procedure.name))
}

/// Whether a procedure is called or started in a block.
pub(super) fn calls(block: &Block, name: &str) -> bool {
    has(block, &|action| match action {
        Action::Call { callee, .. } | Action::Start { callee, .. } => callee == name,
        _ => false,
    })
}

/// Whether there is a statement in a block that ends the thread.
pub(super) fn ends_thread(block: &Block) -> bool {
    has(block, &|action| matches!(action, Action::Exit))
}

/// Whether there is a call in a block that wants none of several results, or of one.
pub(super) fn drops_results(block: &Block, tree: &Tree) -> bool {
    let returns = |name: &str| tree.procedures.iter().any(|callee| callee.name == name && !callee.results.is_empty());
    has(
        block,
        &|action| matches!(action, Action::Call { targets, callee, .. } if targets.is_empty() && returns(callee)),
    )
}

fn has(block: &Block, wanted: &impl Fn(&Action) -> bool) -> bool {
    let in_blocks = |action| blocks(action).into_iter().any(|block| has(block, wanted));
    block.statements.iter().any(|statement| wanted(&statement.action) || in_blocks(&statement.action))
}

fn blocks(action: &Action) -> Vec<&Block> {
    match action {
        Action::If(_, yes, no) => vec![yes, no],
        Action::While(_, block) | Action::Atomic(block) | Action::For { body: block, .. } => vec![block],
        _ => Vec::new(),
    }
}

/// Whether a label stands at the end of a block, or of one in it.
fn ends(block: &Block, label: &String) -> bool {
    let inside = |statement: &Statement| blocks(&statement.action).into_iter().any(|inner| ends(inner, label));
    block.last.contains(label) || block.statements.iter().any(inside)
}

/// All labels in a block, with their paths.
pub(super) fn labels(block: &Block, before: &[u16], found: &mut Vec<(String, Path)>) {
    for (index, statement) in block.statements.iter().enumerate() {
        let path = [before, &[index as u16]].concat();
        found.extend(statement.labels.iter().map(|label| (label.clone(), path.clone())));
        for (branch, inner) in blocks(&statement.action).into_iter().enumerate() {
            labels(inner, &[path.as_slice(), &[branch as u16]].concat(), found);
        }
    }
    let end = [before, &[block.statements.len() as u16]].concat();
    found.extend(block.last.iter().map(|label| (label.clone(), end.clone())));
}

fn resolve_procedure(
    tree: &Tree,
    names: &Names,
    procedure: &Procedure,
    returned: &[Vec<Option<Kind>>],
) -> Resolved<Read> {
    let mut scope = scope(tree, names, procedure, returned)?;
    let parameters = procedure.parameters.iter().map(|parameter| names.variable(parameter));
    let parameters = parameters.collect::<Resolved<Vec<_>>>()?;
    let mut locals = procedure.locals.iter().map(|local| names.initial(local)).collect::<Resolved<Vec<_>>>()?;
    let results = procedure.results.iter().map(|kind| names.kind(kind)).collect::<Resolved<Vec<_>>>()?;
    let enforced = procedure.enforced.iter().map(|condition| scope.truth(condition)).collect::<Resolved<_>>()?;
    let mut asserts = Vec::new();
    let body = scope.block(&procedure.body, &mut asserts)?;
    check_jumps(&body, &body, &[])?;
    if !procedure.results.is_empty() && gets_to_end(&body) {
        return Err(format!("{}: a way through it does not end with return", procedure.name));
    }
    locals.append(&mut scope.hidden);
    Ok(Read {
        procedure: program::Procedure { parameters, locals, results, enforced, body },
        asserts,
        returns: scope.returns,
        ranges: scope.ranges.into_inner(),
        indices: scope.indices.into_inner(),
        counts: scope.counts.into_inner(),
    })
}

/// What names mean where a procedure begins.
fn scope<'a>(
    tree: &'a Tree,
    names: &'a Names,
    procedure: &'a Procedure,
    returned: &'a [Vec<Option<Kind>>],
) -> Resolved<Scope<'a>> {
    let mut found = Vec::new();
    labels(&procedure.body, &[], &mut found);
    let mut paths = BTreeMap::new();
    for (label, path) in found {
        if paths.insert(label.clone(), path.clone()).is_some_and(|other| other != path) {
            return Err(format!("{}: there are two labels {label}", procedure.name));
        }
    }
    let mut visible = Vec::new();
    for (number, variable) in tree.shared.iter().enumerate() {
        let (name, kind) = (variable.name.clone(), names.variable(variable)?);
        visible.push(Visible { name, slot: Slot::Shared(number), kind, assigned: true });
    }
    fit(visible.iter().map(|variable| &variable.kind))?;
    let locals = procedure.parameters.iter().chain(&procedure.locals);
    for (number, variable) in locals.enumerate() {
        let (name, kind) = (variable.name.clone(), names.variable(variable)?);
        visible.push(Visible { name, slot: Slot::Local(number), kind, assigned: true });
    }
    fit(visible[tree.shared.len()..].iter().map(|variable| &variable.kind))?;
    Ok(Scope {
        names,
        tree,
        procedure,
        locals: visible.len() - tree.shared.len(),
        visible,
        hidden: Vec::new(),
        labels: paths,
        asserts: BTreeMap::new(),
        returned,
        returns: vec![None; procedure.results.len()],
        statement: Cell::new(None),
        ranges: RefCell::default(),
        indices: RefCell::default(),
        counts: RefCell::default(),
    })
}

/// No jump leads into an atomic block or into a loop over values, and no thread starts inside an atomic block.
fn check_jumps(body: &program::Block, block: &program::Block, before: &[u16]) -> Resolved<()> {
    for (index, statement) in block.statements.iter().enumerate() {
        let path = [before, &[index as u16]].concat();
        let around = |block: &[u16]| path.starts_with(block);
        let fits = match &statement.step {
            Step::Goto(targets) => {
                targets.iter().all(|target| atomic_blocks(body, target).all(around) && loops(body, target).all(around))
            }
            Step::StartAt(target) => atomic_blocks(body, target).next().is_none() && loops(body, target).all(around),
            _ => true,
        };
        if !fits {
            return Err("a jump leads into an atomic block or a loop".to_owned());
        }
        for (branch, inner) in statement.step.blocks().iter().enumerate() {
            check_jumps(body, inner, &[path.as_slice(), &[branch as u16]].concat())?;
        }
    }
    Ok(())
}

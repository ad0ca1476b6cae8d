//! Where a thread stands: paths in the tree of a procedure, and how control moves along them.

use std::collections::BTreeSet;

use super::program::{Block, Path, Statement, Step};

/// The block that a path ends in, and the number in it.
fn locate<'a>(body: &'a Block, path: &[u16]) -> (&'a Block, usize) {
    let (mut block, mut rest) = (body, path);
    while let [statement, branch, inner @ ..] = rest {
        block = &block.statements[usize::from(*statement)].step.blocks()[usize::from(*branch)];
        rest = inner;
    }
    (block, usize::from(rest[0]))
}

/// The statement at a path; none at the end of a block.
pub(super) fn statement<'a>(body: &'a Block, path: &[u16]) -> Option<&'a Statement> {
    let (block, index) = locate(body, path);
    block.statements.get(index)
}

/// Whether a path leads into an atomic block.
pub(super) fn in_atomic(body: &Block, path: &[u16]) -> bool {
    atomic_blocks(body, path).next().is_some()
}

/// The paths of the atomic blocks that a path leads into, with the number of the block.
pub(super) fn atomic_blocks<'a>(body: &'a Block, path: &'a [u16]) -> impl Iterator<Item = &'a [u16]> {
    blocks_of(body, path, |step| matches!(step, Step::Atomic(_)))
}

/// The same, for the bodies of loops over values.
pub(super) fn loops<'a>(body: &'a Block, path: &'a [u16]) -> impl Iterator<Item = &'a [u16]> {
    blocks_of(body, path, |step| matches!(step, Step::For(..)))
}

fn blocks_of<'a>(body: &'a Block, path: &'a [u16], wanted: fn(&Step) -> bool) -> impl Iterator<Item = &'a [u16]> {
    let ancestors = (1..path.len()).step_by(2);
    let of = move |end: &usize| statement(body, &path[..*end]).is_some_and(|statement| wanted(&statement.step));
    ancestors.filter(of).map(|end| &path[..=end])
}

/// Whether a statement is an atomic block that can be entered: an empty one is a statement that does nothing.
fn begins(statement: &Statement) -> bool {
    matches!(&statement.step, Step::Atomic(block) if !block.statements.is_empty())
}

/// The loop over values at whose end a path is, if it is at one: to go on there is a step.
pub(super) fn round<'a>(body: &'a Block, path: &[u16]) -> Option<&'a Statement> {
    let ends = statement(body, path).is_none() && path.len() > 1;
    let around = if ends { statement(body, &path[..path.len() - 2]) } else { None };
    around.filter(|around| matches!(around.step, Step::For(..)))
}

/// Lets control go on to where there is something to execute: out of blocks that are at their end, but not out of a
/// loop over values, where that is a step. An atomic block is not entered. Returns the labels that are reached, which
/// includes those of all blocks that begin there and of the first statement in them.
pub(super) fn settle(body: &Block, path: &mut Path) -> Vec<String> {
    let mut labels = Vec::new();
    loop {
        let (block, index) = locate(body, path);
        if let Some(statement) = block.statements.get(index) {
            labels.extend(statement.labels.iter().cloned());
            if begins(statement) {
                let mut inner = [path.as_slice(), &[0, 0]].concat();
                labels.extend(settle(body, &mut inner));
            } else if let Step::Atomic(empty) = &statement.step {
                labels.extend(empty.last.iter().cloned());
            }
            return labels;
        }
        labels.extend(block.last.iter().cloned());
        if path.len() == 1 || round(body, path).is_some() {
            return labels;
        }
        path.truncate(path.len() - 2);
        let parent = statement(body, path);
        if !parent.is_some_and(|parent| matches!(parent.step, Step::While(..))) {
            advance_index(path);
        }
    }
}

fn advance_index(path: &mut Path) {
    if let Some(last) = path.last_mut() {
        *last += 1;
    }
}

/// Goes on to the next statement.
pub(super) fn advance(body: &Block, path: &mut Path) -> Vec<String> {
    advance_index(path);
    settle(body, path)
}

/// Goes into all atomic blocks that begin here, to the first statement in them.
pub(super) fn enter(body: &Block, path: &mut Path) {
    while statement(body, path).is_some_and(begins) {
        path.extend([0, 0]);
    }
}

/// Whether there is a way to the end of a procedure, if conditions may be anything.
pub(super) fn gets_to_end(body: &Block) -> bool {
    let (mut seen, mut open) = (BTreeSet::new(), vec![vec![0]]);
    while let Some(mut path) = open.pop() {
        settle(body, &mut path);
        if !seen.insert(path.clone()) {
            continue;
        }
        if round(body, &path).is_some() {
            path.truncate(path.len() - 2);
            open.push([path.as_slice(), &[0, 0]].concat());
            advance_index(&mut path);
            open.push(path);
            continue;
        }
        let Some(statement) = statement(body, &path) else { return true };
        let into = |branch: u16| [path.as_slice(), &[branch, 0]].concat();
        let mut after = path.clone();
        advance_index(&mut after);
        match &statement.step {
            Step::Return(_) | Step::Exit => {}
            Step::Goto(targets) => open.extend(targets.iter().cloned()),
            Step::StartAt(target) => open.extend([target.clone(), after]),
            Step::If(..) => open.extend([into(0), into(1)]),
            Step::While(..) => open.extend([into(0), after]),
            Step::For(_, values, _) if !values.is_empty() => open.push(into(0)),
            Step::Atomic(_) if begins(statement) => open.push(into(0)),
            _ => open.push(after),
        }
    }
    false
}

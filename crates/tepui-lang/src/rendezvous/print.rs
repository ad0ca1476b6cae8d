//! Printing in Tepui's own form: what is printed reads back as the same model.
//!
//! Sets of stacks are printed as regular expressions, which are found by taking the nodes of the automaton away one
//! after the other: what could be read through a node is written on the edges around it.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use tepui_model::rendezvous::{Local, LocalSet, Model, Property, StackSet, Target, Thread};

/// Why a model or a query cannot be printed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unprintable {
    /// A set of stacks has no expression of a reasonable length.
    TooLong,
    /// A name means something else in this form.
    Reserved(&'static str),
}

impl fmt::Display for Unprintable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "a query needs an expression of more than {LONGEST} characters"),
            Self::Reserved(name) => write!(f, "the name `{name}` means something else there"),
        }
    }
}

impl std::error::Error for Unprintable {}

/// The symbol that stands for any, and the action that is none.
const RESERVED: [&str; 2] = ["_", "tau"];

/// The longest expression that is printed, and the longest on the way to it.
const LONGEST: usize = 50_000;

/// The model in Tepui's own form.
pub fn print_rpds(model: &Model) -> Result<String, Unprintable> {
    let symbols = model.threads().iter().flat_map(|thread| &thread.symbols);
    if let Some(name) = RESERVED.into_iter().find(|name| symbols.clone().chain(model.actions()).any(|own| own == name))
    {
        return Err(Unprintable::Reserved(name));
    }
    let mut out = String::new();
    for (number, action) in model.actions().iter().enumerate() {
        let knowing = model.knowing(tepui_model::rendezvous::Action(number as u32));
        let threads: Vec<_> = knowing.map(|thread| model.threads()[thread].name.as_str()).collect();
        if !threads.is_empty() {
            let _ = writeln!(out, "action {action}: {}", threads.join(", "));
        }
    }
    for (number, (thread, local)) in model.threads().iter().zip(model.init()).enumerate() {
        let _ = writeln!(out, "\nthread {} {{", thread.name);
        let (controls, symbols) = in_order_of_use(thread, local);
        if !controls {
            let _ = writeln!(out, "  control {}", thread.controls.join(", "));
        }
        if !symbols {
            let _ = writeln!(out, "  stack {}", thread.symbols.join(", "));
        }
        let _ = writeln!(out, "  init {}", local_text(thread, local));
        for rule in &thread.rules {
            let _ = writeln!(out, "  {}", model.display_rule(number, rule));
        }
        out.push_str("}\n");
    }
    for property in model.properties() {
        let _ = writeln!(out, "\n{}", print_query(model, property)?);
    }
    Ok(out)
}

/// A property as it is written.
pub fn print_query(model: &Model, property: &Property) -> Result<String, Unprintable> {
    let targets: Vec<_> = property.never.iter().map(|target| target_text(model, target)).collect::<Result<_, _>>()?;
    let targets = if targets.is_empty() { "nothing".to_owned() } else { targets.join(" or ") };
    Ok(format!("reach {}: {targets}", property.name))
}

/// Whether control states, and symbols, are numbered in the order in which a reader comes across them.
fn in_order_of_use(thread: &Thread, local: &Local) -> (bool, bool) {
    let mut controls = vec![local.control.0];
    let mut symbols: Vec<_> = local.stack.iter().map(|symbol| symbol.0).collect();
    for rule in &thread.rules {
        controls.extend([rule.from.0, rule.to.0]);
        symbols
            .extend([rule.top].iter().chain(&rule.right).filter(|symbol| !symbol.is_bottom()).map(|symbol| symbol.0));
    }
    let in_order = |used: &[u32], first: u32, count: usize| counts_up(used, first) == Some(first + count as u32);
    (in_order(&controls, 0, thread.controls.len()), in_order(&symbols, 1, thread.symbols.len()))
}

/// The number after the last, if every number is preceded by all smaller ones.
fn counts_up(used: &[u32], first: u32) -> Option<u32> {
    used.iter().try_fold(first, |next, &number| (number <= next).then(|| next.max(number + 1)))
}

fn local_text(thread: &Thread, local: &Local) -> String {
    let symbols: Vec<_> = local.stack.iter().map(|&symbol| thread.symbol_name(symbol)).collect();
    let stack = if symbols.is_empty() { "-".to_owned() } else { symbols.join(".") };
    format!("{} {stack}", thread.control_name(local.control))
}

/// A target as it is written; sets that depend on the control state need a tuple for each of their parts.
fn target_text(model: &Model, target: &Target) -> Result<String, Unprintable> {
    let mut tuples = vec![Vec::new()];
    for (thread, set) in model.threads().iter().zip(&target.locals) {
        let Some(set) = set else { continue };
        let parts = parts(thread, set)?;
        if tuples.len().saturating_mul(parts.len()) > LONGEST / 10 {
            return Err(Unprintable::TooLong);
        }
        let extend = |tuple: &Vec<String>| {
            parts.iter().map(|part| tuple.iter().cloned().chain([part.clone()]).collect()).collect::<Vec<_>>()
        };
        tuples = tuples.iter().flat_map(extend).collect();
    }
    let text = |tuple: &Vec<String>| match tuple.is_empty() {
        true => format!("{} at *", model.threads()[0].name),
        false => tuple.join(", "),
    };
    Ok(tuples.iter().map(text).collect::<Vec<_>>().join(" or "))
}

/// A set as `thread at control stack`, once for each set of stacks that it has.
fn parts(thread: &Thread, set: &LocalSet) -> Result<Vec<String>, Unprintable> {
    let mut by_stacks: BTreeMap<&StackSet, Vec<&str>> = BTreeMap::new();
    for (control, stacks) in set {
        by_stacks.entry(stacks).or_default().push(thread.control_name(*control));
    }
    let part = |(stacks, controls): (&StackSet, Vec<&str>)| {
        let control = match controls.as_slice() {
            all if all.len() == thread.controls.len() => "*".to_owned(),
            [one] => (*one).to_owned(),
            several => format!("({})", several.join("|")),
        };
        let stack = match *stacks == StackSet::everything(thread.symbol_count()) {
            true => "*".to_owned(),
            false => expression(thread, stacks).ok_or(Unprintable::TooLong)?,
        };
        Ok(format!("{} at {control} {stack}", thread.name))
    };
    by_stacks.into_iter().map(part).collect()
}

/// Alternatives, each a regular expression that binds as strongly as a series does; the empty text is the empty word.
type Choices = Vec<String>;

/// A regular expression for a set of stacks, unless it becomes too long.
fn expression(thread: &Thread, stacks: &StackSet) -> Option<String> {
    let size = stacks.size();
    let (start, end) = (size, size + 1);
    let mut edges: BTreeMap<(usize, usize), Choices> = BTreeMap::new();
    let any = thread.symbol_count() as usize - 1;
    for node in 0..size {
        let mut by_end: BTreeMap<usize, Choices> = BTreeMap::new();
        for &(symbol, to) in stacks.edges(node as u32) {
            by_end.entry(to as usize).or_default().push(word(thread.symbol_name(symbol)));
        }
        for (to, names) in by_end {
            let choices = if names.len() == any && any > 1 { vec!["_".to_owned()] } else { names };
            edges.insert((node, to), choices);
        }
        if stacks.accepts(node as u32) {
            edges.insert((node, end), vec![String::new()]);
        }
    }
    edges.insert((start, StackSet::START as usize), vec![String::new()]);
    for node in (0..size).rev() {
        let around = edges.remove(&(node, node)).map_or(String::new(), |loops| star(&loops));
        let into: Vec<_> =
            edges.iter().filter(|(edge, _)| edge.1 == node).map(|(edge, c)| (edge.0, c.clone())).collect();
        let out: Vec<_> =
            edges.iter().filter(|(edge, _)| edge.0 == node).map(|(edge, c)| (edge.1, c.clone())).collect();
        edges.retain(|edge, _| edge.0 != node && edge.1 != node);
        for (from, before) in &into {
            for (to, after) in &out {
                let through = series(&[&group(before), &around, &group(after)]);
                let choices = edges.entry((*from, *to)).or_default();
                if !choices.contains(&through) {
                    choices.push(through);
                }
            }
        }
        let longest = edges.values().map(|choices| choices.iter().map(String::len).sum::<usize>()).max();
        if longest > Some(LONGEST) {
            return None;
        }
    }
    Some(match edges.remove(&(start, end)).unwrap_or_default().as_slice() {
        [] => "-".to_owned(),
        choices => choices.iter().map(|one| if one.is_empty() { "-" } else { one }).collect::<Vec<_>>().join("|"),
    })
}

/// A symbol in an expression; alone, `or` would begin an alternative.
fn word(name: &str) -> String {
    if name == "or" { "(or)".to_owned() } else { name.to_owned() }
}

fn series(parts: &[&str]) -> String {
    parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(".")
}

/// Alternatives as a part of a series.
fn group(choices: &Choices) -> String {
    match choices.as_slice() {
        [one] => one.clone(),
        several => {
            let names: Vec<_> = several.iter().map(|one| if one.is_empty() { "-" } else { one }).collect();
            format!("({})", names.join("|"))
        }
    }
}

fn star(choices: &Choices) -> String {
    let inner = group(choices);
    let single = !inner.contains(['.', '*', '+', '?', '|']) || (choices.len() > 1 && inner.starts_with('('));
    if single { format!("{inner}*") } else { format!("({inner})*") }
}

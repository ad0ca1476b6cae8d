//! Printing models, in both forms.
//!
//! What is printed reads back as the same model. The form with names loses nothing but the lines of the rules. The
//! numeric form has no names: there shared states become their numbers, and symbols too unless they are named by
//! numerals in increasing order, so that numbering them by value gives each its old number. Comments keep the names
//! for the human reader. Names of threads and properties that come from elsewhere may not be words of this form; they are
//! replaced by others that nobody has. A symbol that occurs in no rule, no initial stack and no property has no place in either
//! form; the readers make no such symbol.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use tepui_model::pushdown::{Action, Model, Names, Pattern, Rule, Symbol, Thread};

use crate::pushdown::names::canonical;

/// The model in the form with names.
pub fn print_cpds(model: &Model) -> String {
    let mut out = shared_line(model.shared());
    let threads = model.threads();
    let bases = writable(threads.iter().map(base), word);
    let properties = writable(model.properties().iter().map(|property| property.name.as_str()), words);
    let mut next = 0;
    while next < threads.len() {
        let count = run_length(&threads[next..]);
        let _ = write!(out, "\nthread {} {{\n  stack", header(&threads[next], &bases, count));
        threads[next].symbols.iter().for_each(|symbol| out.extend([" ", symbol]));
        out.push('\n');
        for rule in &threads[next].rules {
            let _ = writeln!(out, "  {}", model.display_rule(next, rule));
        }
        out.push_str("}\n");
        next += count;
    }
    let _ = writeln!(out, "\ninit {}", spaced(&model.display_state(model.init())));
    for (position, property) in (1..).zip(model.properties()) {
        let named = property.name != format!("never-{position}");
        let written = &properties[property.name.as_str()];
        let name = if named { format!("{written}: ") } else { String::new() };
        let patterns: Vec<_> = property.never.iter().map(|pattern| spaced(&model.display_pattern(pattern))).collect();
        if patterns.is_empty() {
            let _ = writeln!(out, "\n# never {written}: nothing in the model violates it");
            continue;
        }
        let _ = writeln!(out, "\nnever {name}{}", patterns.join(" or "));
    }
    out
}

fn shared_line(shared: &Names) -> String {
    match shared {
        Names::Numbers(count) => format!("shared 0..{}\n", count.saturating_sub(1)),
        Names::List(names) => format!("shared {}\n", names.join(" ")),
    }
}

/// A state with blanks around its marks; names contain no mark.
fn spaced(state: &str) -> String {
    state.replacen('|', " | ", 1).replace(',', ", ")
}

/// Each name as it can be written: as it is, or changed so that no two become one.
fn writable<'a>(names: impl Iterator<Item = &'a str>, write: fn(&str) -> String) -> BTreeMap<&'a str, String> {
    let names: BTreeSet<_> = names.collect();
    let mut taken: BTreeSet<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut written = BTreeMap::new();
    for name in names {
        let mut new = write(name);
        while new != name && taken.contains(&new) {
            new.push('\'');
        }
        taken.insert(new.clone());
        written.insert(name, new);
    }
    written
}

/// A text as one word: what cannot be part of it is replaced.
fn word(text: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_'@$/".contains(c);
    let word: String = text.chars().map(|c| if fits(c) { c } else { '_' }).collect();
    if word.is_empty() || word.starts_with('/') { format!("_{word}") } else { word }
}

/// A text as words joined by dashes.
fn words(text: &str) -> String {
    text.split('-').map(word).collect::<Vec<_>>().join("-")
}

/// A thread's name without its number.
fn base(thread: &Thread) -> &str {
    numbered(thread).map_or(&thread.name, |(base, _)| base)
}

/// The parts of a thread's name that stands for one of several.
fn numbered(thread: &Thread) -> Option<(&str, u32)> {
    let (base, number) = thread.name.rsplit_once('#')?;
    Some((base, canonical(number)?))
}

/// How many of the threads at the front can share one block.
fn run_length(threads: &[Thread]) -> usize {
    let Some((base, start)) = threads.first().and_then(numbered) else {
        return 1;
    };
    let follows = |(thread, offset): &(&Thread, u32)| {
        numbered(thread) == start.checked_add(*offset).map(|number| (base, number))
            && thread.symbols == threads[0].symbols
            && thread.behaves_like(&threads[0])
    };
    1 + threads[1..].iter().zip(1..).take_while(follows).count()
}

fn header(thread: &Thread, bases: &BTreeMap<&str, String>, count: usize) -> String {
    let base = &bases[base(thread)];
    match numbered(thread) {
        None => base.clone(),
        Some((_, 1)) => format!("{base} * {count}"),
        Some((_, first)) => format!("{base} * {first}..{}", first as usize + count - 1),
    }
}

/// The shared states, threads and rules of a model in the numeric form.
pub fn print_pds(model: &Model) -> String {
    let mut out = format!("{} # shared states\n", model.shared().count());
    if let Names::List(names) = model.shared() {
        legend(&mut out, names, 0);
    }
    for thread in model.threads() {
        print_thread(&mut out, thread);
    }
    out
}

fn print_thread(out: &mut String, thread: &Thread) {
    let numbers = Numbers::of(thread);
    let _ = write!(out, "\n# thread {}\n", thread.name);
    if numbers.0.is_none() {
        legend(out, &thread.symbols, 1);
    }
    let (least, largest) = match thread.symbols.len() {
        0 => ("0".to_owned(), "0".to_owned()),
        _ => (numbers.show(Symbol(1)), numbers.show(Symbol(thread.symbol_count() - 1))),
    };
    let _ = writeln!(out, "PDA {least} {largest}");
    for rule in &thread.rules {
        let _ = writeln!(out, "{}", show_rule(&numbers, rule));
    }
}

/// Which number stands for which name.
fn legend(out: &mut String, names: &[String], first: usize) {
    for (number, name) in (first..).zip(names) {
        let _ = writeln!(out, "#   {number} = {name}");
    }
}

fn show_rule(numbers: &Numbers<'_>, rule: &Rule) -> String {
    let right = match rule.action {
        Action::Pop => "-".to_owned(),
        Action::Overwrite(symbol) => numbers.show(symbol),
        Action::Push { top, below } if below.is_bottom() => numbers.show(top),
        Action::Push { top, below } => format!("{} {}", numbers.show(top), numbers.show(below)),
    };
    format!("{} {} -> {} {right}", rule.from.0, numbers.show(rule.top), rule.to.0)
}

/// The initial state of a model in the numeric form.
pub fn print_init(model: &Model) -> String {
    let show = |(stack, thread): (&Vec<Symbol>, &Thread)| {
        let numbers = Numbers::of(thread);
        let shown: Vec<_> = stack.iter().map(|&symbol| numbers.show(symbol)).collect();
        if shown.is_empty() { "-".to_owned() } else { shown.join(".") }
    };
    let stacks: Vec<_> = model.init().stacks.iter().zip(model.threads()).map(show).collect();
    format!("{}|{}\n", model.init().shared.0, stacks.join(","))
}

/// The properties of a model in the numeric form, one on each line.
pub fn print_spec(model: &Model) -> String {
    let numbers: Vec<_> = model.threads().iter().map(Numbers::of).collect();
    let mut out = String::new();
    for property in model.properties() {
        let patterns: Vec<_> = property.never.iter().map(|pattern| show_pattern(&numbers, pattern)).collect();
        let _ = write!(out, "# {}\n{}\n", property.name, patterns.join(" or "));
    }
    out
}

fn show_pattern(numbers: &[Numbers<'_>], pattern: &Pattern) -> String {
    let shared = pattern.shared.map_or("*".to_owned(), |shared| shared.0.to_string());
    let show = |(top, numbers): (&Option<Symbol>, &Numbers<'_>)| top.map_or("*".to_owned(), |top| numbers.show(top));
    let tops: Vec<_> = pattern.tops.iter().zip(numbers).map(show).collect();
    format!("{shared}|{}", tops.join(","))
}

/// The numerals that stand for a thread's symbols: its own names, or none if the symbols go by their numbers.
struct Numbers<'a>(Option<&'a [String]>);

impl<'a> Numbers<'a> {
    fn of(thread: &'a Thread) -> Self {
        let values: Option<Vec<u32>> = thread.symbols.iter().map(|name| canonical(name)).collect();
        let increasing = values.is_some_and(|values| values.windows(2).all(|pair| pair[0] < pair[1]));
        Self(increasing.then_some(&thread.symbols))
    }

    fn show(&self, symbol: Symbol) -> String {
        match self.0 {
            _ if symbol.is_bottom() => "-".to_owned(),
            Some(names) => names.get(symbol.0 as usize - 1).map_or("?", String::as_str).to_owned(),
            None => symbol.0.to_string(),
        }
    }
}

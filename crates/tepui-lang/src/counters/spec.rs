//! The form of the tool MIST: variables that count, rules with guards, where it starts, and what must not be covered.
//!
//! ```text
//! vars   idle busy
//! rules  idle >= 1 -> idle' = idle - 1, busy' = busy + 1;
//! init   idle >= 1, busy = 0
//! target busy >= 2
//! ```
//!
//! A rule takes as many threads from a variable as its guard asks for or its update subtracts, whichever is more, and puts back
//! what stays. A number can be subtracted from a sum if the guard says that one of the summands is large enough. If the old value of a variable occurs in the update of another one, everybody goes there; if it occurs nowhere,
//! everybody disappears. Values are natural numbers: a rule that would make one negative is not possible. Each line of `target`
//! is a pattern of its own. Invariants that a file claims are not believed, and left aside.

use std::collections::HashMap;

use tepui_model::counters::{Bag, Count, Net, Pattern, Property, Step};
use tepui_model::pushdown::Names;

use super::lexer::{Fallible, Mark, Token, Tokens};
use super::{MAIN, Parsed, TARGET};
use crate::diagnostic::{Diagnostic, quote};
use crate::source::Source;
use crate::suggestion::suggestion;

/// Reads a model; another text may say what must not be covered. In diagnostics source 0 is the model, and 2 that text.
pub fn read_spec(source: &Source, target: Option<&Source>) -> Result<Parsed, Vec<Diagnostic>> {
    let mut reader = Reader { names: Vec::new(), numbers: HashMap::new() };
    let read = reader.model(&mut Tokens::new(source, MAIN), source);
    let read = read.and_then(|mut net| {
        if let Some(target) = target {
            net.properties = vec![reader.targets(&mut Tokens::new(target, TARGET))?];
        }
        Ok(net)
    });
    read.map(|net| Parsed { net, warnings: Vec::new() }).map_err(|error| vec![error])
}

struct Reader<'t> {
    names: Vec<&'t str>,
    numbers: HashMap<&'t str, u32>,
}

const SECTIONS: [&str; 5] = ["vars", "rules", "init", "target", "invariants"];

/// The new value of a variable.
#[derive(Default)]
struct Update {
    /// The variables whose old values it is the sum of.
    from: Vec<u32>,
    plus: u32,
    minus: u32,
}

impl<'t> Reader<'t> {
    fn model(&mut self, tokens: &mut Tokens<'t>, source: &'t Source) -> Fallible<Net> {
        if source.text.trim().is_empty() {
            return Err(tokens
                .error(0..0, "the file is empty", "")
                .hint("it begins with `vars`, then come `rules`, `init`, `target`"));
        }
        section(tokens, "vars")?;
        while let Some(token) = tokens.peek().filter(|token| token.mark == Mark::Word && token.text != "rules") {
            if self.numbers.insert(token.text, self.names.len() as u32).is_some() {
                return Err(tokens.error(
                    token.span(),
                    format!("{} is declared twice", quote(token.text)),
                    "here again",
                ));
            }
            self.names.push(token.text);
            tokens.advance();
            tokens.accept(Mark::Comma);
        }
        section(tokens, "rules")?;
        let mut steps = Vec::new();
        while tokens.peek().is_some() && !tokens.is_word("init") {
            steps.push(self.rule(tokens)?);
        }
        section(tokens, "init")?;
        let counts = self.start(tokens)?;
        section(tokens, "target")?;
        let property = self.targets(tokens)?;
        if tokens.peek().is_some() && !tokens.is_word("invariants") {
            return Err(tokens.unexpected("`invariants` or the end"));
        }
        let names = self.names.iter().map(|name| (*name).to_owned()).collect();
        let (shared, places) = (Names::Numbers(1), Names::List(names));
        Ok(Net { shared, places, start: 0, counts, steps, properties: vec![property] })
    }

    fn variable(&self, tokens: &mut Tokens<'t>) -> Fallible<(Token<'t>, u32)> {
        let token = tokens.expect(Mark::Word, "a variable")?;
        if let Some(number) = self.numbers.get(token.text) {
            return Ok((token, *number));
        }
        let error = tokens.error(token.span(), format!("there is no variable {}", quote(token.text)), "not declared");
        Err(error.hint_if(suggestion(token.text, self.names.iter().copied(), false)))
    }

    fn rule(&self, tokens: &mut Tokens<'t>) -> Fallible<Step> {
        let line = tokens.peek().map_or(0, |token| token.line);
        let guard = self.guard(tokens)?;
        tokens.expect(Mark::Arrow, "`->`")?;
        let mut updates: HashMap<u32, Update> = HashMap::new();
        let start = tokens.peek().map_or(0, |token| token.start);
        while !tokens.accept(Mark::Semicolon) {
            let (name, number) = self.variable(tokens)?;
            let update = self.update(tokens)?;
            if updates.insert(number, update).is_some() {
                return Err(tokens.error(
                    name.span(),
                    format!("{} gets two new values", quote(name.text)),
                    "here again",
                ));
            }
            if !tokens.accept(Mark::Comma) && !tokens.is(Mark::Semicolon) {
                return Err(tokens.unexpected("`,` or `;`"));
            }
        }
        self.step(&guard, &updates, line).map_err(|message| {
            let hint =
                "each old value may go to one variable; what is subtracted is subtracted from the variable itself";
            tokens.error(start..start, message, "this rule").hint(hint)
        })
    }

    /// Conditions `x >= n`.
    fn guard(&self, tokens: &mut Tokens<'t>) -> Fallible<HashMap<u32, u32>> {
        let mut guard: HashMap<u32, u32> = HashMap::new();
        if tokens.accept_word("true") {
            return Ok(guard);
        }
        while !tokens.is(Mark::Arrow) {
            let (_, number) = self.variable(tokens)?;
            let least = at_least(tokens)?;
            let own = guard.entry(number).or_default();
            *own = (*own).max(least);
            if !tokens.accept(Mark::Comma) && !tokens.is(Mark::Arrow) {
                return Err(tokens.unexpected("`,` or `->`"));
            }
        }
        Ok(guard)
    }

    /// `' = ` and a sum.
    fn update(&self, tokens: &mut Tokens<'t>) -> Fallible<Update> {
        tokens.expect(Mark::Prime, "`'`: on the left of a rule's updates stand new values")?;
        tokens.expect(Mark::Equals, "`=`")?;
        let mut update = Update::default();
        let mut negative = tokens.accept(Mark::Minus);
        loop {
            match tokens.is(Mark::Number) {
                true if negative => update.minus = update.minus.saturating_add(tokens.number("a number")?),
                true => update.plus = update.plus.saturating_add(tokens.number("a number")?),
                false => {
                    let (name, number) = self.variable(tokens)?;
                    if negative {
                        let message = format!("the value of {} is subtracted", quote(name.text));
                        return Err(tokens.error(name.span(), message, "values are added, numbers may be subtracted"));
                    }
                    update.from.push(number);
                }
            }
            negative = tokens.is(Mark::Minus);
            if !negative && !tokens.is(Mark::Plus) {
                return Ok(update);
            }
            tokens.advance();
        }
    }

    /// The step that a rule is.
    fn step(&self, guard: &HashMap<u32, u32>, updates: &HashMap<u32, Update>, line: u32) -> Result<Step, String> {
        let name = |number: u32| quote(self.names[number as usize]);
        // Where everybody goes.
        let mut to: HashMap<u32, u32> = HashMap::new();
        for (&number, update) in updates {
            for &from in &update.from {
                if to.insert(from, number).is_some() {
                    return Err(format!("the value of {} is copied", name(from)));
                }
            }
        }
        let goes = |place: u32| match (to.get(&place), updates.contains_key(&place)) {
            (Some(to), _) => Some(*to),
            (None, true) => None,
            (None, false) => Some(place),
        };
        let mut step =
            Step { from: 0, to: 0, taken: Vec::new(), put: Vec::new(), moves: Vec::new(), others: None, line };
        let mut put: HashMap<u32, u32> = HashMap::new();
        let mut subtracted: HashMap<u32, u32> = HashMap::new();
        for (&place, update) in updates {
            let less = update.minus.saturating_sub(update.plus);
            if update.minus > 0 {
                let from = self.subtracted_from(place, update, less, guard);
                let from = from.ok_or_else(|| format!("{} gets the values of others, less a number", name(place)))?;
                *subtracted.entry(from).or_default() += less;
            }
            *put.entry(place).or_default() += update.plus.saturating_sub(update.minus);
        }
        for place in 0..self.names.len() as u32 {
            let less = subtracted.get(&place).copied().unwrap_or(0);
            let taken = guard.get(&place).copied().unwrap_or(0).max(less);
            step.taken.extend((taken > 0).then_some((place, taken)));
            // What was asked for and is not subtracted goes where everybody goes.
            if let Some(target) = goes(place) {
                *put.entry(target).or_default() += taken - less;
            }
            if goes(place) != Some(place) {
                step.moves.push((place, goes(place)));
            }
        }
        step.put = put.into_iter().filter(|(_, count)| *count > 0).collect();
        step.put.sort_unstable();
        Ok(step)
    }

    /// The variable of a sum that a number is subtracted from: the one that is updated, if the sum is its old value, or one of which
    /// the guard says that it is large enough.
    fn subtracted_from(&self, place: u32, update: &Update, less: u32, guard: &HashMap<u32, u32>) -> Option<u32> {
        let enough = |from: &&u32| guard.get(from).is_some_and(|least| *least >= less);
        let alone = Some(place).filter(|_| update.from == [place]);
        alone.or_else(|| update.from.iter().find(enough).copied())
    }

    fn start(&self, tokens: &mut Tokens<'t>) -> Fallible<Vec<Count>> {
        let mut counts: Vec<Option<Count>> = vec![None; self.names.len()];
        let begin = tokens.peek().map_or(0, |token| token.start);
        while tokens.peek().is_some_and(|token| token.text != "target") {
            let (name, number) = self.variable(tokens)?;
            let or_more = tokens.accept(Mark::AtLeast);
            if !or_more {
                tokens.expect(Mark::Equals, "`=` or `>=`")?;
            }
            let least = tokens.number("a number")?;
            if counts[number as usize].replace(Count { least, or_more }).is_some() {
                let message = format!("{} starts twice", quote(name.text));
                return Err(tokens.error(name.span(), message, "here again"));
            }
            if !tokens.accept(Mark::Comma) && !tokens.is_word("target") {
                return Err(tokens.unexpected("`,` or `target`"));
            }
        }
        match counts.iter().position(Option::is_none) {
            None => Ok(counts.into_iter().flatten().collect()),
            Some(missing) => {
                let message = format!("nothing is said about the start of {}", quote(self.names[missing]));
                Err(tokens.error(begin..begin, message, "here").hint("write `= 0`, or `>= 0` for any number"))
            }
        }
    }

    /// Patterns, one on each line.
    fn targets(&self, tokens: &mut Tokens<'t>) -> Fallible<Property> {
        let mut never = Vec::new();
        while tokens.peek().is_some() && !tokens.is_word("invariants") {
            let mut counts: HashMap<u32, u32> = HashMap::new();
            loop {
                let (_, number) = self.variable(tokens)?;
                let line = tokens.peek().map_or(0, |token| token.line);
                let least = at_least(tokens)?;
                let own = counts.entry(number).or_default();
                *own = (*own).max(least);
                if tokens.accept(Mark::Comma) {
                    continue;
                }
                match tokens.peek().filter(|token| token.line == line) {
                    Some(_) => return Err(tokens.unexpected("`,` or the end of the line")),
                    None => break,
                }
            }
            let mut counts: Bag = counts.into_iter().filter(|(_, count)| *count > 0).collect();
            counts.sort_unstable();
            never.push(Pattern { shared: 0, counts });
        }
        match never.is_empty() {
            true => Err(tokens.unexpected("a target like `x >= 1`")),
            false => Ok(Property { name: "target".to_owned(), never }),
        }
    }
}

/// `>= n`; other conditions are not about covering.
fn at_least(tokens: &mut Tokens<'_>) -> Fallible<u32> {
    if tokens.is(Mark::Equals) || tokens.is_word("in") {
        let error = tokens.unexpected("`>=`");
        return Err(error.hint(
            "with conditions that more threads can violate, such as `= 0`, it cannot be decided what is covered",
        ));
    }
    tokens.expect(Mark::AtLeast, "`>=`")?;
    tokens.number("a number")
}

fn section(tokens: &mut Tokens<'_>, name: &str) -> Fallible<()> {
    match tokens.accept_word(name) {
        true => Ok(()),
        false => Err(tokens.unexpected(&format!("`{name}`")).hint(format!("the sections are {}", SECTIONS.join(", ")))),
    }
}

//! Sets of local states as they are written: `thread at control stack`.
//!
//! The control state is a name, several of them in parentheses and separated by `|`, or `*` for any. The stack is a
//! regular expression from bottom to top over the thread's symbols, joined by dots: `|` for alternatives, `*`, `+` and
//! `?` for repetition, `_` for any symbol, `-` for nothing at all. Without a stack, or with `*`, any is meant.

use tepui_model::rendezvous::{Control, Draft, LocalSet, StackSet, Symbol, Thread};

use super::LARGEST_SET;
use crate::diagnostic::{Diagnostic, quote};
use crate::suggestion::suggestion;
use crate::token::{Fallible, Kind, Line, Token};

/// How deep parentheses may be nested.
const DEEPEST: usize = 200;

/// A set of local states in words.
#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    pub(super) thread: Token<'a>,
    /// The control states, `None` for any.
    controls: Option<Vec<Token<'a>>>,
    /// The stack, `None` for any.
    stack: Option<Expression<'a>>,
}

/// A regular expression over symbols.
#[derive(Clone, Debug)]
enum Expression<'a> {
    Nothing,
    Any,
    Symbol(Token<'a>),
    Series(Vec<Expression<'a>>),
    Choice(Vec<Expression<'a>>),
    Repeated { inner: Box<Expression<'a>>, least: bool, more: bool },
}

/// One tuple: what is said of some threads, at the same time.
pub(super) type Tuple<'a> = Vec<Entry<'a>>;

/// Reads tuples, separated by `or`, to the end of the line.
pub(super) fn tuples<'a>(line: &mut Line<'a>) -> Fallible<Vec<Tuple<'a>>> {
    let mut tuples = vec![vec![entry(line)?]];
    loop {
        if line.eat(Kind::Comma).is_some() {
            let next = entry(line)?;
            tuples.last_mut().into_iter().for_each(|tuple| tuple.push(next.clone()));
        } else if line.eat_word("or").is_some() {
            tuples.push(vec![entry(line)?]);
        } else {
            line.end()
                .map_err(|error| error.hint("what is said of threads is separated by `,`, alternatives by `or`"))?;
            return Ok(tuples);
        }
    }
}

fn entry<'a>(line: &mut Line<'a>) -> Fallible<Entry<'a>> {
    let thread = line.expect(Kind::Word, "the name of a thread")?;
    let form = "write `thread at control stack`, for example `reader at busy main._*`";
    line.eat_word("at").ok_or_else(|| line.expected("`at`").hint(form))?;
    let controls = controls(line).map_err(|error| error.hint(form))?;
    let stack = match line.peek() {
        None => None,
        Some(token) if token.kind == Kind::Comma || token.is_word("or") => None,
        Some(token) if token.kind == Kind::Star => {
            line.advance();
            None
        }
        Some(_) => Some(expression(line, 0)?),
    };
    Ok(Entry { thread, controls, stack })
}

fn controls<'a>(line: &mut Line<'a>) -> Fallible<Option<Vec<Token<'a>>>> {
    if line.eat(Kind::Star).is_some() {
        return Ok(None);
    }
    if line.eat(Kind::Left).is_none() {
        return Ok(Some(vec![line.expect(Kind::Word, "a control state or `*`")?]));
    }
    let mut names = vec![line.expect(Kind::Word, "a control state")?];
    while line.eat(Kind::Bar).is_some() {
        names.push(line.expect(Kind::Word, "a control state")?);
    }
    line.expect(Kind::Right, "`)`")?;
    Ok(Some(names))
}

/// A stack without choices, from bottom to top, as an initial state has it.
pub(super) fn plain_stack<'a>(line: &mut Line<'a>) -> Fallible<Vec<Token<'a>>> {
    if line.eat(Kind::Dash).is_some() {
        return Ok(Vec::new());
    }
    let mut symbols = vec![line.expect(Kind::Word, "a stack, or `-` for the empty one")?];
    while line.eat(Kind::Dot).is_some() {
        symbols.push(line.expect(Kind::Word, "a symbol")?);
    }
    Ok(symbols)
}

fn expression<'a>(line: &mut Line<'a>, depth: usize) -> Fallible<Expression<'a>> {
    if depth > DEEPEST {
        let message = format!("parentheses are nested more than {DEEPEST} deep");
        return Err(line
            .peek()
            .map_or_else(|| line.missing(message.clone(), ""), |token| token.error(message.clone(), "")));
    }
    let mut choices = vec![series(line, depth)?];
    while line.eat(Kind::Bar).is_some() {
        choices.push(series(line, depth)?);
    }
    Ok(if choices.len() == 1 { choices.swap_remove(0) } else { Expression::Choice(choices) })
}

fn series<'a>(line: &mut Line<'a>, depth: usize) -> Fallible<Expression<'a>> {
    let mut parts = vec![repeated(line, depth)?];
    while line.eat(Kind::Dot).is_some() {
        parts.push(repeated(line, depth)?);
    }
    Ok(if parts.len() == 1 { parts.swap_remove(0) } else { Expression::Series(parts) })
}

fn repeated<'a>(line: &mut Line<'a>, depth: usize) -> Fallible<Expression<'a>> {
    let inner = atom(line, depth)?;
    // Any number of marks says no more than: is none possible, and are several?
    let (mut marked, mut none, mut several) = (false, false, false);
    while let Some(token) = line.peek().filter(|token| matches!(token.kind, Kind::Star | Kind::Plus | Kind::Query)) {
        line.advance();
        marked = true;
        none |= token.kind != Kind::Plus;
        several |= token.kind != Kind::Query;
    }
    Ok(match marked {
        true => Expression::Repeated { inner: Box::new(inner), least: !none, more: several },
        false => inner,
    })
}

fn atom<'a>(line: &mut Line<'a>, depth: usize) -> Fallible<Expression<'a>> {
    if line.eat(Kind::Dash).is_some() {
        return Ok(Expression::Nothing);
    }
    if line.eat(Kind::Left).is_some() {
        let inner = expression(line, depth + 1)?;
        line.expect(Kind::Right, "`)`")?;
        return Ok(inner);
    }
    let word = line.expect(Kind::Word, "a symbol, `_`, `-` or `(`")?;
    Ok(if word.text == "_" { Expression::Any } else { Expression::Symbol(word) })
}

impl<'a> Entry<'a> {
    /// The set that is meant, for one thread.
    pub(super) fn set(&self, thread: &Thread, full: bool) -> Fallible<LocalSet> {
        let stacks = match &self.stack {
            None => StackSet::everything(thread.symbol_count()),
            Some(expression) => {
                let mut draft = Draft::default();
                let end = draft.node();
                expression.draw(&mut draft, (Draft::START, end), thread, full)?;
                draft.accept(end);
                draft.build(LARGEST_SET).map_err(|_| {
                    let message = format!("the automaton of this set has more than {LARGEST_SET} states");
                    self.thread.error(message, "too large")
                })?
            }
        };
        let controls = match &self.controls {
            None => (0..thread.controls.len() as u32).map(Control).collect(),
            Some(names) => names.iter().map(|name| control(name, thread, full)).collect::<Fallible<Vec<_>>>()?,
        };
        Ok(controls.into_iter().filter(|_| !stacks.is_empty()).map(|control| (control, stacks.clone())).collect())
    }
}

fn control(name: &Token<'_>, thread: &Thread, full: bool) -> Fallible<Control> {
    let known = thread.controls.iter().position(|known| known == name.text);
    known.map(|number| Control(number as u32)).ok_or_else(|| {
        let message = format!("thread {} has no control state {}", quote(&thread.name), quote(name.text));
        let hint = suggestion(name.text, thread.controls.iter().map(String::as_str), full);
        name.error(message, "unknown").hint_if(hint)
    })
}

impl Expression<'_> {
    /// Adds what the expression reads between two nodes.
    fn draw(
        &self,
        draft: &mut Draft,
        (from, to): (usize, usize),
        thread: &Thread,
        full: bool,
    ) -> Result<(), Diagnostic> {
        match self {
            Self::Nothing => draft.edge(from, None, to),
            Self::Any => (1..thread.symbol_count()).for_each(|symbol| draft.edge(from, Some(Symbol(symbol)), to)),
            Self::Symbol(name) => draft.edge(from, Some(symbol(name, thread, full)?), to),
            Self::Series(parts) => {
                let mut at = from;
                for (index, part) in parts.iter().enumerate() {
                    let next = if index + 1 == parts.len() { to } else { draft.node() };
                    part.draw(draft, (at, next), thread, full)?;
                    at = next;
                }
            }
            Self::Choice(choices) => {
                choices.iter().try_for_each(|choice| choice.draw(draft, (from, to), thread, full))?;
            }
            Self::Repeated { inner, least, more } => {
                let (start, end) = (draft.node(), draft.node());
                draft.edge(from, None, start);
                draft.edge(end, None, to);
                inner.draw(draft, (start, end), thread, full)?;
                if *more {
                    draft.edge(end, None, start);
                }
                if !least {
                    draft.edge(from, None, to);
                }
            }
        }
        Ok(())
    }
}

/// The symbol of a name.
pub(super) fn symbol(name: &Token<'_>, thread: &Thread, full: bool) -> Fallible<Symbol> {
    let known = thread.symbols.iter().position(|known| known == name.text);
    known.map(|number| Symbol(number as u32 + 1)).ok_or_else(|| {
        let message = format!("thread {} has no symbol {}", quote(&thread.name), quote(name.text));
        let hint = suggestion(name.text, thread.symbols.iter().map(String::as_str), full);
        name.error(message, "unknown").hint_if(hint)
    })
}

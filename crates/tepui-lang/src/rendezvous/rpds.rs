//! Tepui's own form: `.rpds`.
//!
//! Each `thread` has its rules in a block, `p a -> q w : label`, and its initial local state, `init p w`; it may stand for
//! several threads. `action a: T1, T2` declares an action that all of these threads take together; `handshake a` one that
//! a sender (`a!`) and a receiver (`a?`) take together, any two that offer it. A rule without a label, or with `tau`, is
//! internal. Control states and symbols may be listed (`control p, q`, `stack a, b`) and need not be. `reach name: ...`
//! asks whether threads can get into given sets of local states at the same time. A statement is a line, a block is the
//! lines between its braces, statements come in any order. What the words stand for is the business of `assemble`.

use super::Parsed;
use super::sets::{self, Tuple};
use crate::diagnostic::{Diagnostic, Sink, quote};
use crate::source::Source;
use crate::suggestion::suggestion;
use crate::token::{Fallible, Kind, Line, Lines, Token};

/// The index of the main source in diagnostics.
pub(super) const MAIN: usize = 0;
/// The index of the source with the target.
const TARGET: usize = 1;

/// The longest name, since it may be wanted many times.
const LONGEST_NAME: usize = 255;

/// The most threads that a text may stand for.
pub(super) const MOST: usize = 10_000;

const STATEMENTS: [&str; 4] = ["thread", "action", "handshake", "reach"];

/// Reads a model. A target in a source of its own replaces the queries of the file. In diagnostics source 0 is `source`
/// and 1 is `target`.
pub fn read_rpds(source: &Source, target: Option<&Source>) -> Result<Parsed, Vec<Diagnostic>> {
    let mut sink = Sink::default();
    let mut file = File::read(source, &mut sink);
    if let Some(target) = target {
        file.reaches = target_of(target, &mut sink);
    }
    let model = file.assemble(&mut sink);
    match model {
        Some(model) if !sink.has_errors() => Ok(Parsed { model, warnings: sink.into_warnings() }),
        _ => Err(sink.into_errors()),
    }
}

fn target_of<'a>(source: &'a Source, sink: &mut Sink) -> Vec<Reach<'a>> {
    let mut lines = Lines::new(source, TARGET);
    let mut reaches = Vec::new();
    while let Some(mut line) = lines.next(sink) {
        let place = line.first();
        let tuples = sink.take(sets::tuples(&mut line)).filter(|_| !line.broken);
        reaches.extend(tuples.map(|tuples| Reach { name: "target".to_owned(), place, tuples }));
    }
    if reaches.is_empty() && !sink.has_errors() {
        sink.push(Diagnostic::error(TARGET, 0..0, "the target is empty", ""));
    }
    // Several lines are alternatives of one query.
    reaches
        .into_iter()
        .reduce(|mut all, next| {
            all.tuples.extend(next.tuples);
            all
        })
        .into_iter()
        .collect()
}

/// A rule in words; `None` is `-`.
pub(super) struct RuleText<'a> {
    pub(super) line: u32,
    pub(super) from: Token<'a>,
    pub(super) top: Option<Token<'a>>,
    pub(super) to: Token<'a>,
    pub(super) right: Vec<Token<'a>>,
    pub(super) label: Option<(Token<'a>, Side)>,
}

/// How a label is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Together,
    Send,
    Receive,
}

/// A thread in words.
pub(super) struct Block<'a> {
    pub(super) name: Token<'a>,
    /// How many threads it stands for, if it says so.
    pub(super) copies: Option<u32>,
    /// Control states and symbols that are listed; others need not be.
    pub(super) controls: Vec<Token<'a>>,
    pub(super) symbols: Vec<Token<'a>>,
    pub(super) init: Option<(Token<'a>, Vec<Token<'a>>)>,
    /// Whether there is an initial local state, even if it could not be read.
    pub(super) seen_init: bool,
    pub(super) rules: Vec<RuleText<'a>>,
    /// Whether its header could be read.
    pub(super) headed: bool,
    /// Whether it has its `{`; if not, nobody misses a `}`.
    pub(super) braced: bool,
    pub(super) closed: bool,
}

impl Block<'_> {
    /// The threads that it stands for.
    pub(super) fn names(&self) -> Vec<String> {
        match self.copies {
            None => vec![self.name.text.to_owned()],
            Some(copies) => (1..=copies).map(|number| format!("{}/{number}", self.name.text)).collect(),
        }
    }
}

pub(super) struct Reach<'a> {
    pub(super) name: String,
    pub(super) place: Token<'a>,
    pub(super) tuples: Vec<Tuple<'a>>,
}

#[derive(Default)]
pub(super) struct File<'a> {
    pub(super) blocks: Vec<Block<'a>>,
    /// Actions with the threads that know them.
    pub(super) actions: Vec<(Token<'a>, Vec<Token<'a>>)>,
    pub(super) handshakes: Vec<Token<'a>>,
    pub(super) reaches: Vec<Reach<'a>>,
    /// Whether a thread was begun, even if it could not be read.
    pub(super) seen_thread: bool,
}

impl<'a> File<'a> {
    fn read(source: &'a Source, sink: &mut Sink) -> Self {
        let mut file = Self::default();
        let mut lines = Lines::new(source, MAIN);
        let mut empty = true;
        while let Some(line) = lines.next(sink) {
            empty = false;
            file.line(line, sink);
        }
        file.close(sink);
        let mut missing = |what: &str, hint: &str| sink.push(Diagnostic::error(MAIN, 0..0, what, "").hint(hint));
        if empty {
            missing("the file is empty", "a model needs at least one `thread`");
        } else if file.blocks.is_empty() && !file.seen_thread {
            missing("no thread", "a thread is written `thread name {`, `init` and rules line by line, `}`");
        }
        file
    }

    fn open(&mut self) -> Option<&mut Block<'a>> {
        self.blocks.last_mut().filter(|block| !block.closed)
    }

    fn close(&mut self, sink: &mut Sink) {
        if let Some(block) = self.open() {
            block.closed = true;
            let name = block.name;
            if !block.braced {
                return;
            }
            sink.push(
                name.error(format!("the block of thread {} is not closed", quote(name.text)), "no `}` for this one"),
            );
        }
    }

    fn line(&mut self, mut line: Line<'a>, sink: &mut Sink) {
        let opens = line.peek().is_some_and(|first| STATEMENTS.iter().any(|word| first.is_word(word)));
        if self.open().is_some() && opens && !line.has(Kind::Arrow) {
            self.close(sink);
        }
        if self.open().is_some() {
            self.block_line(line, sink);
            return;
        }
        let Some(keyword) = line.advance() else { return };
        let read = match keyword.text {
            "thread" => self.thread(&mut line, sink),
            _ if line.broken => Ok(()),
            "action" => self.action(&mut line),
            "handshake" => self.handshake(&mut line),
            "reach" => self.reach(keyword, &mut line),
            _ => Err(unknown_statement(keyword, &line)),
        };
        sink.take(read);
    }

    fn thread(&mut self, line: &mut Line<'a>, sink: &mut Sink) -> Fallible<()> {
        self.seen_thread = true;
        let name = line.expect(Kind::Word, "the name of the thread")?;
        if name.text.len() > LONGEST_NAME {
            let most = format!("at most {LONGEST_NAME} characters");
            sink.push(name.error("the name of the thread is too long", most));
        }
        let copies = sink.take(copies(line));
        self.blocks.push(Block {
            name,
            copies: copies.flatten(),
            controls: Vec::new(),
            symbols: Vec::new(),
            init: None,
            seen_init: false,
            rules: Vec::new(),
            headed: copies.is_some(),
            braced: false,
            closed: false,
        });
        if copies.is_none() {
            line.split_at(Kind::Open); // What is wrong with the number has been said.
        }
        if line.eat(Kind::Open).is_none() {
            return Err(line
                .expected("`{`")
                .hint("a thread is written `thread name {`, `init` and rules line by line, `}`"));
        }
        self.open().into_iter().for_each(|block| block.braced = true);
        if line.peek().is_some() {
            self.block_line(line.split_at(Kind::Newline), sink);
        }
        Ok(())
    }

    /// A line of a block, or what follows the brace on the header's line.
    fn block_line(&mut self, mut line: Line<'a>, sink: &mut Sink) {
        let mut statement = line.split_at(Kind::Close);
        if statement.peek().is_some() && !line.broken {
            let read = self.block_statement(&mut statement);
            sink.take(read);
        }
        if line.eat(Kind::Close).is_some() {
            self.open().into_iter().for_each(|block| block.closed = true);
            sink.take(line.end());
        }
    }

    fn block_statement(&mut self, line: &mut Line<'a>) -> Fallible<()> {
        let Some(block) = self.open() else { return Ok(()) };
        if line.has(Kind::Arrow) {
            block.rules.push(rule(line)?);
            return Ok(());
        }
        if line.eat_word("control").is_some() {
            block.controls.extend(names(line, "a control state")?);
            return line.end();
        }
        if line.eat_word("stack").is_some() {
            let names = names(line, "a symbol")?;
            if let Some(any) = names.iter().find(|symbol| symbol.text == "_") {
                return Err(any.error("`_` stands for any symbol", "choose another name"));
            }
            block.symbols.extend(names);
            return line.end();
        }
        let Some(keyword) = line.eat_word("init") else {
            let hint = "a rule is written `p a -> q w : action`, the initial local state `init p w`";
            return Err(line.expected("a rule").hint(hint));
        };
        if std::mem::replace(&mut block.seen_init, true) {
            return Err(keyword.error("the initial local state is given twice", "again here"));
        }
        let control = name(line, "a control state")?;
        let stack = sets::plain_stack(line)?;
        if let Some(any) = stack.iter().find(|symbol| symbol.text == "_") {
            return Err(any.error("`_` stands for any symbol", "an initial stack has no choices"));
        }
        line.end()?;
        block.init = Some((control, stack));
        Ok(())
    }

    fn action(&mut self, line: &mut Line<'a>) -> Fallible<()> {
        let actions = actions(line, "the name of an action")?;
        line.expect(Kind::Colon, "`:`")
            .map_err(|error| error.hint("an action is written `action a: thread, thread`"))?;
        let threads = names(line, "the name of a thread")?;
        line.end()?;
        self.actions.extend(actions.into_iter().map(|action| (action, threads.clone())));
        Ok(())
    }

    fn handshake(&mut self, line: &mut Line<'a>) -> Fallible<()> {
        let names = actions(line, "the name of a handshake")?;
        line.end().map_err(|error| error.hint("who sends and who receives shows in the rules: `a!` and `a?`"))?;
        self.handshakes.extend(names);
        Ok(())
    }

    fn reach(&mut self, keyword: Token<'a>, line: &mut Line<'a>) -> Fallible<()> {
        let form = "a query is written `reach name: thread at control stack, ...`";
        let mut name =
            line.expect(Kind::Word, "the name of the query").map_err(|error| error.hint(form))?.text.to_owned();
        while line.eat(Kind::Dash).is_some() {
            name = format!("{name}-{}", line.expect(Kind::Word, "the rest of the name")?.text);
        }
        line.expect(Kind::Colon, "`:`").map_err(|error| error.hint(form))?;
        if self.reaches.iter().any(|known| known.name == name) {
            return Err(keyword.error(format!("two queries are named {}", quote(&name)), "again here"));
        }
        let nothing = matches!(line.rest(), [word] if word.is_word("nothing"));
        let tuples = if nothing { Vec::new() } else { sets::tuples(line)? };
        self.reaches.push(Reach { name, place: keyword, tuples });
        Ok(())
    }
}

/// The complaint about a line that starts no statement.
fn unknown_statement(keyword: Token<'_>, line: &Line<'_>) -> Diagnostic {
    let error = keyword.error(format!("unknown statement {}", quote(keyword.text)), "expected a statement");
    let hint = match keyword.text {
        "never" => Some("what must not happen is asked by `reach name: thread at control stack, ...`".to_owned()),
        "shared" => Some("threads share nothing here: they meet in actions".to_owned()),
        "init" => Some("each thread has its own `init` within its block".to_owned()),
        _ if line.has(Kind::Arrow) => Some("rules stand in the block of a thread: `thread name {`".to_owned()),
        _ => suggestion(keyword.text, STATEMENTS.into_iter(), false),
    };
    error.hint_if(hint.or_else(|| Some(format!("statements are {}", STATEMENTS.join(", ")))))
}

/// A name of bounded length.
fn name<'a>(line: &mut Line<'a>, what: &str) -> Fallible<Token<'a>> {
    let name = line.expect(Kind::Word, what)?;
    match name.text.len() > LONGEST_NAME {
        true => Err(name.error(format!("{what} is too long"), format!("at most {LONGEST_NAME} characters"))),
        false => Ok(name),
    }
}

/// Names, separated by commas.
fn names<'a>(line: &mut Line<'a>, what: &str) -> Fallible<Vec<Token<'a>>> {
    let mut names = vec![name(line, what)?];
    while line.eat(Kind::Comma).is_some() {
        names.push(name(line, what)?);
    }
    Ok(names)
}

/// Names of actions, separated by commas; the word for internal steps is none.
fn actions<'a>(line: &mut Line<'a>, what: &str) -> Fallible<Vec<Token<'a>>> {
    let names = names(line, what)?;
    match names.iter().find(|name| name.text == "tau") {
        Some(tau) => Err(tau.error("`tau` is the word for internal steps", "choose another name")),
        None => Ok(names),
    }
}

/// A symbol's name; `_` stands for any symbol in queries, and for none elsewhere.
fn symbol<'a>(line: &mut Line<'a>, what: &str) -> Fallible<Token<'a>> {
    let name = name(line, what)?;
    match name.text {
        "_" => Err(name.error("`_` stands for any symbol", "choose another name")),
        _ => Ok(name),
    }
}

/// How many threads a block stands for, if it says so.
fn copies(line: &mut Line<'_>) -> Fallible<Option<u32>> {
    if line.eat(Kind::Star).is_none() {
        return Ok(None);
    }
    let word = line.expect(Kind::Word, "a number of threads")?;
    let number = word.number()?;
    match number == 0 || number as usize > MOST {
        true => Err(word.error(format!("{number} threads"), format!("from 1 to {MOST}"))),
        false => Ok(Some(number)),
    }
}

/// Reads the whole line as a rule.
fn rule<'a>(line: &mut Line<'a>) -> Fallible<RuleText<'a>> {
    let from = name(line, "a control state")?;
    let top = match line.eat(Kind::Dash) {
        Some(_) => None,
        None => Some(symbol(line, "the top of the stack")?),
    };
    line.expect(Kind::Arrow, "`->`")?;
    let to = name(line, "a control state")?;
    let mut right = Vec::new();
    if line.eat(Kind::Dash).is_none() {
        if !line.peek().is_some_and(|token| token.kind == Kind::Word) {
            let error = line.missing("the rule has no right-hand side", "expected symbols, or `-` for none");
            return Err(error.hint("a rule is written `p a -> q w : action`"));
        }
        while line.peek().is_some_and(|token| token.kind == Kind::Word) {
            right.push(symbol(line, "a symbol")?);
        }
    }
    let mut label = None;
    if line.eat(Kind::Colon).is_some() {
        let action = name(line, "an action")?;
        let side = match (line.eat(Kind::Bang), line.eat(Kind::Query)) {
            (Some(_), _) => Side::Send,
            (None, Some(_)) => Side::Receive,
            (None, None) => Side::Together,
        };
        label = Some((action, side)).filter(|(action, side)| action.text != "tau" || *side != Side::Together);
    }
    line.end()?;
    Ok(RuleText { line: line.number, from, top, to, right, label })
}

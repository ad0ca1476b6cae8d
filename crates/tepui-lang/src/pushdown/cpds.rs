//! The form with names: `.cpds`.
//!
//! One file holds it all: `shared` lists the shared states, each `thread` has its rules in a block and may stand for
//! several threads that run the same rules, `init` gives the initial state and each `never` a property. A statement
//! is a line, a block is the lines between its braces, statements come in any order. The words that open a statement
//! are not reserved: shared states and symbols may bear them, for a line of a block is a rule as soon as it has an
//! arrow.

use std::collections::HashSet;
use std::ops::Range;

use crate::diagnostic::{Diagnostic, Sink, quote};
use crate::pushdown::assemble::{Block, Draft, MOST_THREADS};
use crate::pushdown::names::{Form, LARGEST_RANGE, SharedNames};
use crate::pushdown::syntax::{self, PropertyText, StateText};
use crate::pushdown::{INIT, MAIN, Parsed, TARGETS, conclude};
use crate::source::Source;
use crate::suggestion::suggestion;
use crate::token::{Fallible, Kind, Line, Lines, Token};

/// The longest name of a thread, since it may be wanted many times.
const LONGEST_NAME: usize = 255;

const STATEMENTS: [&str; 4] = ["shared", "thread", "init", "never"];

/// Reads a model in the form with names. An initial state and targets in sources of their own replace those of the
/// file. On failure there is at least one error. In diagnostics source 0 is `source`, 1 `init`, 2 `targets` and 3
/// `matching`.
pub fn read_cpds(
    source: &Source,
    init: Option<&Source>,
    targets: Option<&Source>,
    matching: Option<&Source>,
) -> Result<Parsed, Vec<Diagnostic>> {
    let mut sink = Sink::default();
    let file = File::read(source, init.is_none(), &mut sink);
    let draft = Draft {
        form: Form::Words,
        shared: file.shared,
        blocks: file.blocks,
        counted: file.counted,
        init: match init {
            Some(source) => syntax::state_file(source, INIT, &mut sink),
            None => file.init,
        },
        properties: match targets {
            Some(source) => syntax::property_file(source, TARGETS, &mut sink),
            None => file.properties,
        },
        warn_unused: init.is_none() && targets.is_none(),
    };
    conclude(&draft, matching, sink)
}

/// The content of a file as far as it could be read.
#[derive(Default)]
struct File<'a> {
    shared: Option<SharedNames>,
    blocks: Vec<Block<'a>>,
    counted: bool,
    init: Option<StateText<'a>>,
    properties: Vec<PropertyText<'a>>,
    /// Which of the statements that may occur only once have occurred, even if they could not be read.
    seen_shared: bool,
    seen_init: bool,
    thread_names: HashSet<String>,
    open: Option<Opened<'a>>,
}

/// A block that waits for its `}`.
struct Opened<'a> {
    place: Token<'a>,
    block: Block<'a>,
    /// Whether a missing `}` is worth a message: not if the `{` was missing, too.
    braced: bool,
}

impl<'a> File<'a> {
    fn read(source: &'a Source, needs_init: bool, sink: &mut Sink) -> Self {
        let mut file = Self { counted: true, ..Self::default() };
        let mut lines = Lines::new(source, MAIN);
        let Some(first) = lines.next(sink) else {
            let error = Diagnostic::error(MAIN, 0..0, "the file is empty", "");
            sink.push(error.hint("a model needs `shared`, at least one `thread`, and `init`"));
            return file;
        };
        file.line(first, sink);
        while let Some(line) = lines.next(sink) {
            file.line(line, sink);
        }
        file.close_unclosed(sink);
        file.check_complete(needs_init, sink);
        file
    }

    fn check_complete(&self, needs_init: bool, sink: &mut Sink) {
        let mut missing = |what: &str, hint: &str| {
            sink.push(Diagnostic::error(MAIN, 0..0, what, "").hint(hint));
        };
        if !self.seen_shared {
            missing("no shared states", "declare them by a line such as `shared idle busy` or `shared 0..3`");
        }
        if self.blocks.is_empty() && self.counted {
            missing("no thread", "a thread is written `thread name {`, rules line by line, `}`");
        }
        if needs_init && !self.seen_init {
            missing("no initial state", "add a line such as `init idle | main, -`, or name a file with `--init`");
        }
    }

    fn line(&mut self, mut line: Line<'a>, sink: &mut Sink) {
        if self.open.is_some() && opens_statement(&line) {
            self.close_unclosed(sink);
        }
        if self.open.is_some() {
            self.block_line(line, sink);
            return;
        }
        let Some(keyword) = line.advance() else { return };
        let broken = line.broken;
        match keyword.text {
            "thread" => self.thread(line, sink),
            "shared" => self.shared(keyword, &mut line, sink),
            "init" => self.init(keyword, &mut line, sink),
            _ if broken => {}
            "never" => {
                let property = sink.take(property(keyword, &mut line));
                self.properties.extend(property);
            }
            _ => sink.push(unknown_statement(keyword, &line)),
        }
    }

    fn shared(&mut self, keyword: Token<'a>, line: &mut Line<'a>, sink: &mut Sink) {
        if std::mem::replace(&mut self.seen_shared, true) {
            sink.push(keyword.error("the shared states are declared twice", "again here"));
        } else if !line.broken {
            self.shared = shared(line, sink);
        }
    }

    fn init(&mut self, keyword: Token<'a>, line: &mut Line<'a>, sink: &mut Sink) {
        if std::mem::replace(&mut self.seen_init, true) {
            sink.push(keyword.error("the initial state is given twice", "again here"));
        } else if !line.broken {
            self.init = sink.take(syntax::state(line));
        }
    }

    fn thread(&mut self, mut line: Line<'a>, sink: &mut Sink) {
        let place = line.peek().unwrap_or(line.first());
        let header = sink.take(header(&mut line));
        let brace = line.eat(Kind::Open);
        let readable = header.is_some() && !line.broken;
        self.counted &= readable && (brace.is_some() || line.peek().is_none());
        if brace.is_none() && readable {
            sink.push(line.expected("`{`").hint("a thread is written `thread name {`, rules line by line, `}`"));
        }
        let threads = header.map_or_else(Vec::new, |header| self.admit(&header, sink));
        let block = Block { threads, place, stack: None, range: None, rules: Vec::new() };
        self.open = Some(Opened { place: brace.unwrap_or(place), block, braced: brace.is_some() });
        if brace.is_some() && line.peek().is_some() {
            self.block_line(line, sink);
        }
    }

    /// The names of the threads that a header stands for, as far as there is room for them.
    fn admit(&mut self, header: &Header<'a>, sink: &mut Sink) -> Vec<String> {
        let count = header.range.map_or(1, |(first, last)| u64::from(last - first) + 1);
        if self.thread_names.len() as u64 + count > u64::from(MOST_THREADS) {
            sink.push(header.name.error(format!("more than {MOST_THREADS} threads"), format!("{count} more here")));
            self.counted = false;
            return Vec::new();
        }
        let (new, known): (Vec<_>, Vec<_>) =
            header.threads().into_iter().partition(|name| self.thread_names.insert(name.clone()));
        if let Some(name) = known.first() {
            sink.push(header.name.error(format!("two threads are named {}", quote(name)), "again here"));
            self.counted = false;
        }
        new
    }

    /// A line of a block, or what follows the brace on the header's line.
    fn block_line(&mut self, mut line: Line<'a>, sink: &mut Sink) {
        let mut statement = line.split_at(Kind::Close);
        if statement.peek().is_some() && !line.broken {
            let read = self.block_statement(&mut statement);
            sink.take(read);
        }
        if line.eat(Kind::Close).is_some() {
            self.blocks.extend(self.open.take().map(|opened| opened.block));
            sink.take(line.end());
        }
    }

    fn block_statement(&mut self, line: &mut Line<'a>) -> Fallible<()> {
        let Some(opened) = &mut self.open else { return Ok(()) };
        if line.has(Kind::Arrow) {
            opened.block.rules.push(syntax::rule(line)?);
            return Ok(());
        }
        match line.eat_word("stack") {
            Some(keyword) if opened.block.stack.is_some() => {
                Err(keyword.error("the symbols are declared twice", "again here"))
            }
            Some(_) => {
                opened.block.stack = Some(symbols(line)?);
                Ok(())
            }
            None => syntax::rule(line).map(|_| ()).map_err(|error| not_a_rule(error, line)),
        }
    }

    fn close_unclosed(&mut self, sink: &mut Sink) {
        let Some(opened) = self.open.take() else { return };
        if opened.braced {
            let name = quote(opened.block.place.text);
            let error = opened.place.error(format!("the block of thread {name} is not closed"), "opened here");
            sink.push(error.hint("a block ends with `}`"));
        }
        self.blocks.push(opened.block);
    }
}

/// Whether a line inside a block can only be a statement of the outside, so that a `}` was forgotten.
fn opens_statement(line: &Line<'_>) -> bool {
    STATEMENTS.iter().any(|keyword| line.first().is_word(keyword)) && !line.has(Kind::Arrow)
}

fn unknown_statement(keyword: Token<'_>, line: &Line<'_>) -> Diagnostic {
    if keyword.kind == Kind::Close {
        return keyword.error("`}` without a block", "nothing to close here");
    }
    let hint = match line.has(Kind::Arrow) {
        true => Some("rules stand inside a block `thread name {` ... `}`".to_owned()),
        false => suggestion(keyword.text, STATEMENTS.into_iter(), false),
    };
    let message = format!("unknown statement {}", quote(keyword.text));
    keyword.error(message, "expected `shared`, `thread`, `init` or `never`").hint_if(hint)
}

fn not_a_rule(error: Diagnostic, line: &Line<'_>) -> Diagnostic {
    let stack = suggestion(line.first().text, ["stack"].into_iter(), false);
    error.hint_if(stack.or_else(|| Some("a rule is written `q a -> p b`".to_owned())))
}

/// The first line of a thread.
struct Header<'a> {
    name: Token<'a>,
    /// The first and the last number of the threads, if it stands for several.
    range: Option<(u32, u32)>,
}

impl Header<'_> {
    fn threads(&self) -> Vec<String> {
        let base = self.name.text;
        match self.range {
            None => vec![base.to_owned()],
            Some((first, last)) => (first..=last).map(|number| format!("{base}#{number}")).collect(),
        }
    }
}

fn header<'a>(line: &mut Line<'a>) -> Fallible<Header<'a>> {
    let name = line.expect(Kind::Word, "the name of the thread")?;
    if name.text.len() > LONGEST_NAME {
        return Err(name.error("the name of the thread is too long", format!("at most {LONGEST_NAME} characters")));
    }
    if line.eat(Kind::Star).is_none() {
        return Ok(Header { name, range: None });
    }
    let word = line.expect(Kind::Word, "a number of threads")?;
    let number = syntax::positive(word)?;
    if line.eat(Kind::To).is_none() {
        return Ok(Header { name, range: Some((1, number)) });
    }
    let last = line.expect(Kind::Word, "the last number")?;
    Ok(Header { name, range: Some(ordered(word, number, last)?) })
}

/// A range whose ends must be in order.
fn ordered(first: Token<'_>, number: u32, last: Token<'_>) -> Fallible<(u32, u32)> {
    let end = last.number()?;
    match number <= end {
        true => Ok((number, end)),
        false => {
            let message = format!("the range {number}..{end} is empty");
            Err(Diagnostic { span: first.up_to(&last), ..first.error(message, "the first is larger than the last") })
        }
    }
}

/// One name, or all from one number to another.
enum Item<'a> {
    Name(Token<'a>),
    Range { first: Token<'a>, last: Token<'a> },
}

fn items<'a>(line: &mut Line<'a>) -> Fallible<Vec<Item<'a>>> {
    let mut items = Vec::new();
    while line.peek().is_some() {
        let first = line.expect(Kind::Word, "a name")?;
        items.push(match line.eat(Kind::To) {
            Some(_) => Item::Range { first, last: line.expect(Kind::Word, "the last number")? },
            None => Item::Name(first),
        });
        if line.eat(Kind::Comma).is_some() && line.peek().is_none() {
            return Err(line.expected("a name after `,`"));
        }
    }
    Ok(items)
}

fn symbols<'a>(line: &mut Line<'a>) -> Fallible<Vec<Token<'a>>> {
    let name = |item| match item {
        Item::Name(name) => Ok(name),
        Item::Range { first, last } => {
            let span = first.up_to(&last);
            Err(Diagnostic { span, ..first.error("a range of symbols", "only shared states come in ranges") })
        }
    };
    items(line)?.into_iter().map(name).collect()
}

/// The rest of a `shared` line.
fn shared(line: &mut Line<'_>, sink: &mut Sink) -> Option<SharedNames> {
    let items = sink.take(items(line))?;
    if items.is_empty() {
        sink.push(line.expected("a shared state"));
        return None;
    }
    if let [Item::Range { first, last }] = items[..]
        && first.text == "0"
    {
        return sink.take(numbers(first, last));
    }
    let mut list = NameList::default();
    for item in items {
        let added = list.add(&item);
        sink.take(added)?;
    }
    Some(SharedNames::list(list.names))
}

fn numbers(first: Token<'_>, last: Token<'_>) -> Fallible<SharedNames> {
    let (_, end) = ordered(first, 0, last)?;
    let too_large = || last.error("too many shared states", format!("at most {}", u32::MAX - 1));
    end.checked_add(1).map(SharedNames::numbers).ok_or_else(too_large)
}

#[derive(Default)]
struct NameList {
    names: Vec<String>,
    known: HashSet<String>,
    from_ranges: usize,
}

impl NameList {
    fn add(&mut self, item: &Item<'_>) -> Fallible<()> {
        match *item {
            Item::Name(name) => self.add_name(name.text.to_owned(), name, name.span()),
            Item::Range { first, last } => self.add_range(first, last),
        }
    }

    fn add_range(&mut self, first: Token<'_>, last: Token<'_>) -> Fallible<()> {
        let span = first.up_to(&last);
        let (start, end) = ordered(first, first.number()?, last)?;
        self.from_ranges = self.from_ranges.saturating_add((end - start) as usize).saturating_add(1);
        if self.from_ranges > LARGEST_RANGE {
            let message = format!("ranges of more than {LARGEST_RANGE} shared states");
            let error = Diagnostic { span, ..first.error(message, "too many to be named one by one") };
            return Err(error.hint("a single range that starts at 0 may be larger"));
        }
        (start..=end).try_for_each(|number| self.add_name(number.to_string(), first, span.clone()))
    }

    fn add_name(&mut self, name: String, place: Token<'_>, span: Range<usize>) -> Fallible<()> {
        if !self.known.insert(name.clone()) {
            let message = format!("shared state {} is declared twice", quote(&name));
            return Err(Diagnostic { span, ..place.error(message, "again here") });
        }
        self.names.push(name);
        Ok(())
    }
}

/// The rest of a `never` line.
fn property<'a>(keyword: Token<'a>, line: &mut Line<'a>) -> Fallible<PropertyText<'a>> {
    let name = property_name(line);
    Ok(PropertyText { name, never: syntax::patterns(line)?, place: keyword })
}

/// The name and its colon, if the rest of the line starts with them. A name is words joined by dashes, without blanks.
fn property_name(line: &mut Line<'_>) -> Option<(String, Range<usize>)> {
    let rest = line.rest();
    let length = rest.iter().position(|token| token.kind == Kind::Colon)?;
    let (first, last) = (rest[..length].first()?, rest[..length].last()?);
    let touching = rest[..length].windows(2).all(|pair| pair[0].end() == pair[1].start);
    let kinds = rest[..length].iter().zip([Kind::Word, Kind::Dash].into_iter().cycle());
    if !touching || last.kind != Kind::Word || !kinds.into_iter().all(|(token, kind)| token.kind == kind) {
        return None;
    }
    let name = (rest[..length].iter().map(|token| token.text).collect(), first.up_to(last));
    line.skip(length + 1);
    Some(name)
}

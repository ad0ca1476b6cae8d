//! Tepui's own form: `.rpds`.
//!
//! Each `thread` has its rules in a block, `p a -> q w : label`, and its initial local state, `init p w`; it may stand for
//! several threads. `action a: T1, T2` declares an action that all of these threads take together; `handshake a` one that
//! a sender (`a!`) and a receiver (`a?`) take together, any two that offer it. A rule without a label, or with `tau`, is
//! internal. Control states and symbols may be listed (`control p, q`, `stack a, b`) and need not be. `reach name: ...` asks whether threads can get into given sets of local states at the same time. A statement
//! is a line, a block is the lines between its braces, statements come in any order.

use std::collections::{BTreeSet, HashMap, HashSet};

use tepui_model::rendezvous::{Control, Local, LocalSet, Model, Property, Symbol, Target, Thread};

use super::sets::{self, Tuple};
use super::weave::{Label, Sketch, SketchRule, weave};
use super::{Parsed, slips};
use crate::diagnostic::{Diagnostic, Severity, Sink, quote};
use crate::source::Source;
use crate::suggestion::suggestion;
use crate::token::{Fallible, Kind, Line, Lines, Token};

/// The index of the main source in diagnostics.
const MAIN: usize = 0;
/// The index of the source with the target.
const TARGET: usize = 1;

/// The longest name, since it may be wanted many times.
const LONGEST_NAME: usize = 255;

/// The most threads, and the most actions, that a text may stand for.
const MOST: usize = 10_000;

/// The most tuples that a query may stand for, and the most rules that handshakes may.
const MOST_TUPLES: usize = 1_000;
const MOST_RULES: usize = 200_000;

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
    line: u32,
    pub(super) from: Token<'a>,
    pub(super) top: Option<Token<'a>>,
    pub(super) to: Token<'a>,
    pub(super) right: Vec<Token<'a>>,
    label: Option<(Token<'a>, Side)>,
}

/// How a label is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Together,
    Send,
    Receive,
}

/// A thread in words.
pub(super) struct Block<'a> {
    name: Token<'a>,
    /// How many threads it stands for, if it says so.
    copies: Option<u32>,
    /// Control states and symbols that are listed; others need not be.
    controls: Vec<Token<'a>>,
    symbols: Vec<Token<'a>>,
    pub(super) init: Option<(Token<'a>, Vec<Token<'a>>)>,
    /// Whether there is an initial local state, even if it could not be read.
    seen_init: bool,
    pub(super) rules: Vec<RuleText<'a>>,
    /// Whether its header could be read.
    headed: bool,
    /// Whether it has its `{`; if not, nobody misses a `}`.
    braced: bool,
    closed: bool,
}

impl Block<'_> {
    fn names(&self) -> Vec<String> {
        match self.copies {
            None => vec![self.name.text.to_owned()],
            Some(copies) => (1..=copies).map(|number| format!("{}/{number}", self.name.text)).collect(),
        }
    }
}

struct Reach<'a> {
    name: String,
    place: Token<'a>,
    tuples: Vec<Tuple<'a>>,
}

#[derive(Default)]
struct File<'a> {
    blocks: Vec<Block<'a>>,
    /// Actions with the threads that know them.
    actions: Vec<(Token<'a>, Vec<Token<'a>>)>,
    handshakes: Vec<Token<'a>>,
    reaches: Vec<Reach<'a>>,
    /// Whether a thread was begun, even if it could not be read.
    seen_thread: bool,
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

    /// The model, if nothing is wrong.
    fn assemble(&self, sink: &mut Sink) -> Option<Model> {
        let count: usize = self.blocks.iter().map(|block| block.copies.unwrap_or(1) as usize).sum();
        if count > MOST {
            sink.push(Diagnostic::error(MAIN, 0..0, format!("{count} threads"), "").hint(format!("at most {MOST}")));
            return None;
        }
        let mut threads: HashMap<String, Vec<usize>> = HashMap::new();
        let mut copies = 0;
        for block in &self.blocks {
            let numbers: Vec<_> = (copies..).take(block.names().len()).collect();
            copies += numbers.len();
            let mut known = HashSet::new();
            for (name, &number) in block.names().into_iter().zip(&numbers) {
                if threads.insert(name.clone(), vec![number]).is_some() || !known.insert(name.clone()) {
                    sink.push(block.name.error(format!("two threads are named {}", quote(&name)), "again here"));
                }
            }
            if block.copies.is_some() && threads.insert(block.name.text.to_owned(), numbers).is_some() {
                sink.push(block.name.error(format!("two threads are named {}", quote(block.name.text)), "again here"));
            }
        }
        let labels = self.labels(&threads, sink);
        let mut sketches = Vec::new();
        let mut init = Vec::new();
        for block in &self.blocks {
            let first = sketches.len();
            for name in block.names() {
                let (sketch, local) = sketch(block, name, sketches.len(), &labels, first == sketches.len(), sink);
                sketches.push(sketch);
                init.push(local);
            }
            slips::warn(block, sink);
        }
        if sink.has_errors() {
            return None;
        }
        self.warn_about_labels(&sketches, &labels, sink);
        if woven_rules(&sketches, self.handshakes.len()) > MOST_RULES {
            let message = format!("handshakes between all these threads need more than {MOST_RULES} rules");
            sink.push(Diagnostic::error(MAIN, 0..0, message, ""));
            return None;
        }
        let actions = self.actions.iter().map(|(name, _)| name.text.to_owned()).collect();
        let handshakes: Vec<_> = self.handshakes.iter().map(|name| name.text.to_owned()).collect();
        let (actions, woven) = weave(actions, &handshakes, sketches);
        let mut named = HashSet::new();
        if let Some(twice) = actions.iter().find(|name| !named.insert(*name)) {
            let message = format!("two actions are named {}", quote(twice));
            sink.push(Diagnostic::error(MAIN, 0..0, message, "").hint("handshakes are named `a@sender@receiver`"));
        }
        let properties: Vec<_> =
            self.reaches.iter().filter_map(|reach| sink.take(property(reach, &threads, &woven, false))).collect();
        if sink.has_errors() {
            return None;
        }
        let model = Model::new(actions, woven, init, properties);
        sink.take(model.map_err(|malformed| Diagnostic::error(MAIN, 0..0, malformed.to_string(), "")))
    }

    fn labels(&self, threads: &HashMap<String, Vec<usize>>, sink: &mut Sink) -> Labels {
        let mut labels = Labels::default();
        for (number, (action, listed)) in self.actions.iter().enumerate() {
            let mut knowing = BTreeSet::new();
            for thread in listed {
                match threads.get(thread.text) {
                    Some(numbers) => knowing.extend(numbers),
                    None => {
                        let full = sink.is_full(Severity::Error);
                        let hint = suggestion(thread.text, threads.keys().map(String::as_str), full);
                        sink.push(
                            thread.error(format!("there is no thread {}", quote(thread.text)), "unknown").hint_if(hint),
                        );
                    }
                }
            }
            if labels.actions.insert(action.text.to_owned(), (number, knowing)).is_some() {
                sink.push(action.error(format!("action {} is declared twice", quote(action.text)), "again here"));
            }
        }
        for (number, name) in self.handshakes.iter().enumerate() {
            let twice = labels.handshakes.insert(name.text.to_owned(), number).is_some();
            if twice || labels.actions.contains_key(name.text) {
                sink.push(name.error(format!("{} is declared twice", quote(name.text)), "again here"));
            }
        }
        labels
    }

    fn warn_about_labels(&self, sketches: &[Sketch], labels: &Labels, sink: &mut Sink) {
        for (action, _) in &self.actions {
            let Some((number, knowing)) = labels.actions.get(action.text) else { continue };
            let label = Label::Action(*number);
            let without = knowing.iter().find(|&&thread| sketches[thread].rules.iter().all(|rule| rule.label != label));
            if let Some(&thread) = without {
                let message =
                    format!("thread {} knows {} but has no rule for it", sketches[thread].name, quote(action.text));
                sink.push(action.warning(message, "so this action never happens"));
            }
        }
        for (number, name) in self.handshakes.iter().enumerate() {
            let has = |one: &Sketch, label: Label| one.rules.iter().any(|rule| rule.label == label);
            let with = |label: Label| (0..sketches.len()).filter(|&one| has(&sketches[one], label)).collect::<Vec<_>>();
            let says = match (with(Label::Send(number)).as_slice(), with(Label::Receive(number)).as_slice()) {
                ([], []) => "is never used",
                (_, []) => "is sent and never received",
                ([], _) => "is received and never sent",
                ([one], [other]) if one == other => "is sent and received by one thread only",
                _ => continue,
            };
            sink.push(name.warning(format!("handshake {} {says}", quote(name.text)), "so it never happens"));
        }
    }
}

/// How many rules handshakes unfold to.
fn woven_rules(sketches: &[Sketch], handshakes: usize) -> usize {
    let (mut send, mut receive) = (vec![0_usize; handshakes], vec![0_usize; handshakes]);
    for rule in sketches.iter().flat_map(|sketch| &sketch.rules) {
        match rule.label {
            Label::Send(number) => send[number] += 1,
            Label::Receive(number) => receive[number] += 1,
            Label::Internal | Label::Action(_) => {}
        }
    }
    let plain: usize = sketches.iter().map(|sketch| sketch.rules.len()).sum();
    let pairs = send.iter().zip(&receive).map(|(send, receive)| send.saturating_mul(*receive).saturating_mul(2));
    pairs.fold(plain, usize::saturating_add)
}

/// What labels mean.
#[derive(Default)]
struct Labels {
    /// The number of each action, and the threads that know it.
    actions: HashMap<String, (usize, BTreeSet<usize>)>,
    handshakes: HashMap<String, usize>,
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

/// The thread that a block, or a copy of it, stands for. What is wrong with it is said of the first copy.
fn sketch(
    block: &Block<'_>,
    name: String,
    number: usize,
    labels: &Labels,
    first: bool,
    sink: &mut Sink,
) -> (Sketch, Local) {
    let mut scope = Scope::default();
    block.controls.iter().for_each(|control| _ = scope.control(control.text));
    block.symbols.iter().for_each(|symbol| _ = scope.symbol(symbol.text));
    let local = match &block.init {
        Some((control, stack)) => {
            let control = scope.control(control.text);
            Local { control, stack: stack.iter().map(|symbol| scope.symbol(symbol.text)).collect() }
        }
        None => {
            if first && block.headed && block.braced && !block.seen_init {
                let message = format!("thread {} has no initial local state", quote(block.name.text));
                sink.push(
                    block
                        .name
                        .error(message, "no `init` in its block")
                        .hint("write `init control stack`, `-` for the empty stack"),
                );
            }
            Local { control: Control(0), stack: Vec::new() }
        }
    };
    let mut rules = Vec::new();
    for rule in &block.rules {
        let label = label(rule, block, number, labels, sink);
        let label = sink.take(label);
        rules.push(SketchRule {
            from: scope.control(rule.from.text),
            top: rule.top.map_or(Symbol::BOTTOM, |top| scope.symbol(top.text)),
            label: label.unwrap_or(Label::Internal),
            to: scope.control(rule.to.text),
            right: rule.right.iter().map(|symbol| scope.symbol(symbol.text)).collect(),
            line: rule.line,
        });
    }
    let knows =
        labels.actions.values().filter(|(_, threads)| threads.contains(&number)).map(|(action, _)| *action).collect();
    (Sketch { name, controls: scope.controls, symbols: scope.symbols, knows, rules }, local)
}

fn label(rule: &RuleText<'_>, block: &Block<'_>, thread: usize, labels: &Labels, sink: &Sink) -> Fallible<Label> {
    let Some((action, side)) = rule.label else { return Ok(Label::Internal) };
    let (known, shaken) = (labels.actions.get(action.text), labels.handshakes.get(action.text));
    match (side, known, shaken) {
        (Side::Together, Some((number, threads)), _) if threads.contains(&thread) => Ok(Label::Action(*number)),
        (Side::Together, Some(_), _) => {
            let message = format!("thread {} does not know action {}", quote(block.name.text), quote(action.text));
            Err(action
                .error(message, "not one of its actions")
                .hint("add the thread to the line that declares the action"))
        }
        (Side::Send, _, Some(number)) => Ok(Label::Send(*number)),
        (Side::Receive, _, Some(number)) => Ok(Label::Receive(*number)),
        (Side::Together, None, Some(_)) => {
            let error = action.error(format!("{} is a handshake", quote(action.text)), "send or receive?");
            Err(error.hint(format!("write `{0}!` or `{0}?`", action.text)))
        }
        (Side::Send | Side::Receive, Some(_), None) => {
            let error = action
                .error(format!("{} is an action of all who know it", quote(action.text)), "no sender or receiver");
            Err(error.hint(format!("leave the mark away, or declare `handshake {}`", action.text)))
        }
        (_, None, None) => {
            let full = sink.is_full(Severity::Error);
            let mut names: Vec<_> = labels.actions.keys().chain(labels.handshakes.keys()).map(String::as_str).collect();
            names.sort_unstable();
            let hint = suggestion(action.text, names.into_iter(), full);
            let hint = hint.unwrap_or_else(|| format!("declare it: `action {0}: ...` or `handshake {0}`", action.text));
            Err(action.error(format!("unknown action {}", quote(action.text)), "not declared").hint(hint))
        }
    }
}

/// The names that a thread uses, numbered in the order of their first use.
#[derive(Default)]
struct Scope {
    controls: Vec<String>,
    symbols: Vec<String>,
    numbers: HashMap<(bool, String), u32>,
}

impl Scope {
    fn control(&mut self, name: &str) -> Control {
        let next = self.controls.len() as u32;
        let number = *self.numbers.entry((true, name.to_owned())).or_insert(next);
        if number == next {
            self.controls.push(name.to_owned());
        }
        Control(number)
    }

    fn symbol(&mut self, name: &str) -> Symbol {
        let next = self.symbols.len() as u32;
        let number = *self.numbers.entry((false, name.to_owned())).or_insert(next);
        if number == next {
            self.symbols.push(name.to_owned());
        }
        Symbol(number + 1)
    }
}

/// The property of a query. Where a name stands for several threads, any of them is meant, and different ones where it
/// occurs several times.
fn property(
    reach: &Reach<'_>,
    names: &HashMap<String, Vec<usize>>,
    threads: &[Thread],
    full: bool,
) -> Fallible<Property> {
    let mut never: Vec<Target> = Vec::new();
    for tuple in &reach.tuples {
        let mut partial: Vec<Vec<Option<LocalSet>>> = vec![vec![None; threads.len()]];
        for entry in tuple {
            let Some(numbers) = names.get(entry.thread.text) else {
                let hint = suggestion(entry.thread.text, names.keys().map(String::as_str), full);
                let message = format!("there is no thread {}", quote(entry.thread.text));
                return Err(entry.thread.error(message, "unknown").hint_if(hint));
            };
            let mut next = Vec::new();
            for &number in numbers {
                let set = entry.set(&threads[number], full)?;
                let free = partial.iter().filter(|locals| locals[number].is_none());
                next.extend(free.map(|locals| {
                    let mut locals = locals.clone();
                    locals[number] = Some(set.clone());
                    locals
                }));
                if next.len() > MOST_TUPLES {
                    let message = format!("the query stands for more than {MOST_TUPLES} tuples of threads");
                    return Err(reach.place.error(message, "too many"));
                }
            }
            if next.is_empty() {
                let message = format!("more is said of {} than there are threads", quote(entry.thread.text));
                return Err(entry
                    .thread
                    .error(message, "one too many")
                    .hint("several sets of one thread are written with `|`; `thread name * 2` makes two threads"));
            }
            partial = next;
        }
        for locals in partial {
            let target = Target { locals };
            if !never.contains(&target) && target.locals.iter().flatten().all(|set| !set.is_empty()) {
                never.push(target);
            }
        }
    }
    Ok(Property { name: reach.name.clone(), never })
}

//! The grammar of all dialects.
//!
//! The dialects differ in how blocks are marked, in a few keywords, and in what a variable is at first. Everything else
//! is the same, so there is one parser with a [`Dialect`]. After an error it goes on with the next statement.

use super::Dialect;
use super::expressions::Grammar;
use super::hints;
use super::syntax::{Action, Bounds, Expression, Module, Name, Operation, Path, Procedure, Statement};
use super::token::{Kind, Token};
use crate::diagnostic::{Diagnostic, Sink, quote};

mod cursor;
mod declarations;

pub(super) type Fallible<T> = Result<T, Diagnostic>;

/// How deep statements and expressions may be nested: enough for people and for generated programs, not for the stack.
pub(super) const DEEPEST: usize = 200;

/// Words that cannot be names in any dialect.
const KEYWORDS: &[&str] = &[
    "assert",
    "assume",
    "atomic_begin",
    "atomic_end",
    "bool",
    "broadcast",
    "constrain",
    "dead",
    "decl",
    "else",
    "enforce",
    "false",
    "goto",
    "if",
    "return",
    "schoose",
    "skip",
    "true",
    "void",
    "wait",
    "while",
];

/// Those of the dialect with braces, and of those with `begin` and `end`.
const WITH_BRACES: &[&str] = &[
    "atomic",
    "barrier",
    "condition",
    "const",
    "enum",
    "exit",
    "for",
    "in",
    "int",
    "kind",
    "lock",
    "record",
    "semaphore",
    "signal",
    "sleep",
    "thread",
    "unlock",
];
const WITH_WORDS: &[&str] =
    &["F", "T", "begin", "do", "elsif", "end", "end_thread", "fi", "od", "start_thread", "then"];

/// Statements of the grammars with `begin` and `end` that nobody says the meaning of.
const UNSUPPORTED: &[(&str, &str)] = &[("abortif", "the statement `abortif`"), ("sync", "the statement `sync`")];

/// Names of properties that are not assertions.
const RESERVED: &[&str] = &[super::DEADLOCK, super::THREAD_LIMIT, "views"];

/// Whether a word cannot be a name in a dialect.
pub(super) fn is_keyword(word: &str, dialect: Dialect) -> bool {
    KEYWORDS.contains(&word) || if dialect.has_braces() { WITH_BRACES } else { WITH_WORDS }.contains(&word)
}

pub(super) struct Parser<'a, 's> {
    pub(super) tokens: Vec<Token<'a>>,
    pub(super) at: usize,
    pub(super) dialect: Dialect,
    pub(super) sink: &'s mut Sink,
    pub(super) depth: usize,
    /// In the statement at hand.
    pub(super) operators: usize,
    /// How expressions may be read; if there are two ways, they must mean the same.
    pub(super) grammars: &'static [Grammar],
    /// How the expression at hand is read.
    pub(super) grammar: Option<Grammar>,
}

impl<'a, 's> Parser<'a, 's> {
    pub(super) fn new(
        tokens: Vec<Token<'a>>,
        dialect: Dialect,
        grammars: &'static [Grammar],
        sink: &'s mut Sink,
    ) -> Self {
        Self { tokens, at: 0, dialect, sink, depth: 0, operators: 0, grammars, grammar: None }
    }

    /// The whole program.
    pub(super) fn module(mut self) -> Module {
        let mut module = Module::default();
        while self.now().kind != Kind::End {
            let before = self.at;
            if let Err(error) = self.item(&mut module) {
                self.sink.push(error);
                self.recover_outside(before);
            }
        }
        module
    }

    /// `void f(a, b)` and its body.
    fn procedure(&mut self, module: &mut Module) -> Fallible<Procedure> {
        let results = self.results()?;
        let first = self.tokens[self.at.saturating_sub(1)];
        let name = self.name("the name of a procedure")?;
        if matches!(self.now().kind, Kind::Equal | Kind::Semicolon | Kind::Becomes | Kind::Comma) {
            let message = format!("expected a declaration or a procedure, found {}", quote(first.text));
            return Err(Diagnostic::error(0, first.span(), message, "not a declaration")
                .hint(format!("a variable is declared with `decl {} := 0;`", name.text)));
        }
        self.expect(Kind::Open, "`(` and the parameters")?;
        let parameters = self.parameters()?;
        match self.dialect.has_braces() {
            true => self.expect(Kind::OpenBrace, "`{` and the statements")?,
            false => self.expect_word("begin")?,
        };
        let (mut locals, mut enforced) = (Vec::new(), None);
        loop {
            let lock = self.now().text == "lock" && self.tokens[self.at + 1].kind == Kind::Word;
            if lock && self.dialect.has_braces() {
                let error = Diagnostic::error(0, self.now().span(), "a lock is a shared variable", "declared here");
                self.sink.push(error.hint("locks are declared outside of procedures"));
            }
            if self.now().text == "decl" || (lock && self.dialect.has_braces()) {
                self.declaration(&mut module.enumerations, &mut locals)?;
            } else if self.word("enforce") {
                enforced = Some(self.expression()?);
                self.semicolon()?;
            } else {
                break;
            }
        }
        let body = self.statements();
        let end = self.now().span();
        match self.dialect.has_braces() {
            true => self.expect(Kind::CloseBrace, "`}` at the end of the procedure")?,
            false => self.expect_word("end")?,
        };
        self.take(Kind::Semicolon);
        Ok(Procedure { name, parameters, locals, results, enforced, body, end })
    }

    /// Statements up to the mark that ends the block, which is left.
    fn statements(&mut self) -> Vec<Statement> {
        let mut statements = Vec::new();
        while !self.ends_block() {
            if self.take(Kind::Semicolon) {
                continue;
            }
            let before = self.at;
            match self.statement() {
                Ok(statement) => statements.push(statement),
                Err(error) => {
                    self.sink.push(error);
                    self.recover_inside(before);
                }
            }
        }
        statements
    }

    fn ends_block(&self) -> bool {
        let Token { kind, text, .. } = self.now();
        match self.dialect.has_braces() {
            true => matches!(kind, Kind::CloseBrace | Kind::End),
            false => kind == Kind::End || matches!(text, "end" | "fi" | "od" | "else" | "elsif"),
        }
    }

    fn statement(&mut self) -> Fallible<Statement> {
        let mut labels: Vec<Name> = Vec::new();
        let mut start = self.now().start;
        let mut starts_thread = false;
        while matches!(self.now().kind, Kind::Word | Kind::Number)
            && self.tokens[self.at + 1].kind == Kind::Colon
            && !is_keyword(self.now().text, self.dialect)
        {
            let label = self.word_as_name();
            self.next();
            starts_thread |= !self.dialect.has_braces() && label.text.starts_with("ASYNC_");
            // Some generators write the word itself before each label.
            let another = matches!(self.now().kind, Kind::Word | Kind::Number)
                && self.tokens[(self.at + 1).min(self.tokens.len() - 1)].kind == Kind::Colon;
            if self.dialect.has_braces() || label.text != "label" || !another {
                labels.push(label);
            }
            start = self.now().start;
        }
        self.depth += 1;
        let action = if self.depth > DEEPEST { Err(self.too_deep()) } else { self.action(starts_thread) };
        self.depth -= 1;
        let end = self.tokens[self.at - 1].span().end;
        Ok(Statement { labels, span: start..end.max(start), action: action? })
    }

    /// The error about something that is known, and is not supported.
    pub(super) fn unsupported(&self, token: Token<'_>, what: &str) -> Diagnostic {
        Diagnostic::error(0, token.span(), format!("{what} is not supported"), "here")
    }

    pub(super) fn too_deep(&self) -> Diagnostic {
        Diagnostic::error(0, self.now().span(), format!("nested more than {DEEPEST} times"), "too deep")
    }

    fn action(&mut self, starts_thread: bool) -> Fallible<Action> {
        self.operators = 0;
        let word = self.now();
        if word.kind == Kind::OpenBrace && self.dialect.has_braces() {
            return Err(Diagnostic::error(0, word.span(), "a block on its own", "here")
                .hint("a block belongs to `if`, `else`, `while` or `atomic`"));
        }
        if self.ends_block() || self.take(Kind::Semicolon) {
            return Ok(Action::Skip); // A label at the end of a block, or before an empty statement.
        }
        if let Some(action) = self.task_action()? {
            self.semicolon()?;
            return Ok(action);
        }
        if word.kind != Kind::Word || !is_keyword(word.text, self.dialect) {
            let action = self.assignment_or_call(starts_thread)?;
            self.semicolon()?;
            return Ok(action);
        }
        self.next();
        let action = match word.text {
            "skip" => Action::Skip,
            "goto" => Action::Goto(self.label_names()?),
            "assume" => Action::Assume(self.expression()?),
            "wait" if self.now().kind == Kind::Semicolon || (!self.dialect.has_braces() && self.ends_block()) => {
                Action::Sleep
            }
            "wait" => self.wait_rest()?,
            "broadcast" if self.dialect.has_braces() && self.now().kind == Kind::Open => {
                Action::Wake(self.argument_place()?, true)
            }
            "signal" if self.dialect.has_braces() => Action::Wake(self.argument_place()?, false),
            "assert" => Action::Assert(self.expression()?, self.property_name()?),
            "atomic_begin" => Action::AtomicBegin,
            "atomic_end" => Action::AtomicEnd,
            "sleep" => Action::Sleep,
            "broadcast" => Action::Broadcast,
            "end_thread" | "exit" => Action::EndThread,
            "dead" => Action::Dead(self.paths("a variable")?),
            "lock" => Action::Lock(self.argument_place()?),
            "unlock" => Action::Unlock(self.argument_place()?),
            "return" => {
                let none = self.now().kind == Kind::Semicolon || self.ends_block();
                Action::Return(if none { Vec::new() } else { self.expressions()? })
            }
            "thread" | "start_thread" if self.word("goto") => {
                let label = self.label_name()?;
                if self.now().kind == Kind::Comma {
                    return Err(self.unsupported(word, "a thread that starts at one of several labels"));
                }
                Action::StartAt(label)
            }
            "thread" | "start_thread" => self.start_rest(false)?,
            "if" => return self.if_rest(),
            "while" => return self.while_rest(),
            "for" if self.dialect.has_braces() => return self.for_rest(),
            "atomic" if self.dialect.has_braces() => return Ok(Action::Atomic(self.block()?)),
            _ => {
                self.at -= 1;
                return Err(self.unexpected("a statement"));
            }
        };
        self.semicolon()?;
        Ok(action)
    }

    /// `post f(a) * 3` or `yield`, which are no keywords: they mean this where nothing else can stand.
    fn task_action(&mut self) -> Fallible<Option<Action>> {
        let next = self.tokens[(self.at + 1).min(self.tokens.len() - 1)];
        match self.now().text {
            "yield" if self.dialect.has_braces() && next.kind == Kind::Semicolon => {
                self.next();
                Ok(Some(Action::Yield))
            }
            "post" if self.dialect.has_braces() && next.kind == Kind::Word => {
                self.next();
                self.start_rest(true).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// `f(a) * 3` after `thread` or `post`.
    fn start_rest(&mut self, posts: bool) -> Fallible<Action> {
        let begin = self.tokens[self.at - 1].start;
        let procedure = self.name("a procedure")?;
        let arguments = self.arguments()?;
        let star = self.take(Kind::Star);
        if star && self.dialect.has_braces() && self.word("any") {
            return Ok(self.started_again_and_again(begin, procedure, arguments, posts));
        }
        let count = if star { Some(self.count()?) } else { None };
        Ok(Action::Start { procedure, arguments, count, posts })
    }

    /// The name of a property, in quotes.
    fn property_name(&mut self) -> Fallible<Option<Name>> {
        if self.now().kind != Kind::Text || !self.dialect.has_braces() {
            return Ok(None);
        }
        let token = self.next();
        let text = token.text.trim_matches('"');
        let wrong = match text {
            _ if text.trim().is_empty() => "a property needs a name",
            _ if text.contains('@') => "`@` is for properties that are named after their lines",
            _ if text.contains(char::is_control) => "a name has no control characters",
            _ if RESERVED.contains(&text) => "this is the name of a property that every program has",
            _ => return Ok(Some(Name { text: text.to_owned(), span: token.span() })),
        };
        Err(Diagnostic::error(0, token.span(), wrong, "this name"))
    }

    /// How many threads or tasks: a number, the name of a constant, or anything in brackets.
    fn count(&mut self) -> Fallible<Expression> {
        match self.now().kind {
            Kind::Number | Kind::Open => self.unary(),
            Kind::Word if self.dialect.has_braces() => self.unary(),
            _ => Err(self.unexpected("how many threads")),
        }
    }

    /// `wait(c)`, or `wait(condition, lock)`.
    fn wait_rest(&mut self) -> Fallible<Action> {
        let start = self.at;
        if self.dialect.has_braces()
            && self.take(Kind::Open)
            && self.now().kind == Kind::Word
            && let Ok(condition) = self.path("a condition")
            && self.take(Kind::Comma)
        {
            let lock = self.path("a lock")?;
            self.expect(Kind::Close, "`)`")?;
            return Ok(Action::SleepOn(condition, lock));
        }
        self.at = start;
        Ok(Action::Wait(self.expression()?))
    }

    /// `(x)`.
    fn argument_place(&mut self) -> Fallible<Path> {
        self.expect(Kind::Open, "`(` and a variable")?;
        let place = self.path("a variable")?;
        self.expect(Kind::Close, "`)`")?;
        Ok(place)
    }

    fn if_rest(&mut self) -> Fallible<Action> {
        let condition = self.expression()?;
        if self.dialect.has_braces() {
            let then = self.block()?;
            let otherwise = if self.word("else") { self.block()? } else { Vec::new() };
            return Ok(Action::If(condition, then, otherwise));
        }
        self.expect_word("then")?;
        let then = self.statements();
        let elsif = self.now();
        let otherwise = if self.word("elsif") {
            self.depth += 1;
            let action = if self.depth > DEEPEST { Err(self.too_deep()) } else { self.if_rest() };
            self.depth -= 1;
            let span = elsif.start..self.tokens[self.at - 1].span().end;
            return Ok(Action::If(condition, then, vec![Statement { labels: Vec::new(), span, action: action? }]));
        } else if self.word("else") {
            self.statements()
        } else {
            Vec::new()
        };
        self.expect_word("fi")?;
        self.take(Kind::Semicolon);
        Ok(Action::If(condition, then, otherwise))
    }

    fn while_rest(&mut self) -> Fallible<Action> {
        let condition = self.expression()?;
        if self.dialect.has_braces() {
            return Ok(Action::While(condition, self.block()?));
        }
        self.expect_word("do")?;
        let body = self.statements();
        self.expect_word("od")?;
        self.take(Kind::Semicolon);
        Ok(Action::While(condition, body))
    }

    /// `thread f() * any` stands for `while (*) { thread f(); }`.
    fn started_again_and_again(
        &self,
        begin: usize,
        procedure: Name,
        arguments: Vec<Expression>,
        posts: bool,
    ) -> Action {
        let span = begin..self.tokens[self.at - 1].span().end;
        let start = Action::Start { procedure, arguments, count: None, posts };
        let body = vec![Statement { labels: Vec::new(), span: span.clone(), action: start }];
        Action::While(Expression { span, operation: Operation::Any }, body)
    }

    /// `for i in 0..3 { ... }`, or the name of a kind instead of the bounds.
    fn for_rest(&mut self) -> Fallible<Action> {
        let variable = self.name("the variable of the loop")?;
        self.expect_word("in")?;
        let after = self.tokens[(self.at + 1).min(self.tokens.len() - 1)].kind;
        let bounds = match self.now().kind == Kind::Word && after != Kind::DotDot && !after.is_arithmetic() {
            true => Bounds::Kind(self.name("an enumeration")?),
            false => {
                let (first, last) = self.range()?;
                Bounds::Range(first, last)
            }
        };
        Ok(Action::For(variable, bounds, self.block()?))
    }

    /// `{ ... }`, or a single statement.
    fn block(&mut self) -> Fallible<Vec<Statement>> {
        if self.take(Kind::Semicolon) {
            return Ok(Vec::new());
        }
        if !self.take(Kind::OpenBrace) {
            return Ok(vec![self.statement()?]);
        }
        let statements = self.statements();
        self.expect(Kind::CloseBrace, "`}` at the end of the block")?;
        Ok(statements)
    }

    /// `x, y := e, f [constrain e]`, `x := f(a)` or `f(a)`.
    fn assignment_or_call(&mut self, starts_thread: bool) -> Fallible<Action> {
        let (word, after) = (self.now(), self.tokens[(self.at + 1).min(self.tokens.len() - 1)]);
        let foreign = hints::of_word(word.text).filter(|_| word.kind == Kind::Word);
        let fits = matches!(after.kind, Kind::Becomes | Kind::Comma | Kind::Dot | Kind::OpenBracket)
            || (after.kind == Kind::Open && (!self.dialect.has_braces() || self.ends_with_semicolon()));
        if let Some(hint) = foreign.filter(|_| !fits) {
            let message = format!("{} is no statement", quote(word.text));
            return Err(Diagnostic::error(0, word.span(), message, "unknown").hint(hint));
        }
        if !self.dialect.has_braces() && !fits {
            let named = UNSUPPORTED.iter().find(|(name, _)| *name == word.text);
            if let Some((_, what)) = named.filter(|_| word.kind == Kind::Word) {
                return Err(self.unsupported(word, what));
            }
        }
        if self.now().kind == Kind::Word && self.tokens[self.at + 1].kind == Kind::Open {
            let procedure = self.name("a procedure")?;
            let arguments = self.arguments()?;
            return Ok(match starts_thread {
                true => Action::Start { procedure, arguments, count: None, posts: false },
                false => Action::Call { targets: Vec::new(), procedure, arguments },
            });
        }
        if self.now().kind != Kind::Word {
            return Err(self.unexpected("a statement"));
        }
        let targets = self.paths("a variable")?;
        self.expect(Kind::Becomes, "`:=` and a value")?;
        let call = self.now().kind == Kind::Word
            && self.tokens[self.at + 1].kind == Kind::Open
            && !is_keyword(self.now().text, self.dialect);
        if call {
            let procedure = self.name("a procedure")?;
            return Ok(Action::Call { targets, procedure, arguments: self.arguments()? });
        }
        let values = self.expressions()?;
        let constraint = if self.word("constrain") { Some(self.expression()?) } else { None };
        Ok(Action::Assign { targets, values, constraint })
    }

    pub(super) fn arguments(&mut self) -> Fallible<Vec<Expression>> {
        self.expect(Kind::Open, "`(` and the arguments")?;
        if self.take(Kind::Close) {
            return Ok(Vec::new());
        }
        let arguments = self.expressions()?;
        self.expect(Kind::Close, "`)` after the arguments")?;
        Ok(arguments)
    }

    pub(super) fn expressions(&mut self) -> Fallible<Vec<Expression>> {
        let mut expressions = vec![self.expression()?];
        while self.take(Kind::Comma) {
            expressions.push(self.expression()?);
        }
        Ok(expressions)
    }

    fn names(&mut self, what: &str) -> Fallible<Vec<Name>> {
        let mut names = vec![self.name(what)?];
        while self.take(Kind::Comma) {
            names.push(self.name(what)?);
        }
        Ok(names)
    }

    pub(super) fn name(&mut self, what: &str) -> Fallible<Name> {
        let token = self.now();
        if token.kind != Kind::Word {
            return Err(self.unexpected(what));
        }
        if is_keyword(token.text, self.dialect) {
            let constant = matches!(token.text, "T" | "F" | "true" | "false");
            let sort = if constant { "constant" } else { "keyword" };
            let message = format!("expected {what}, found the {sort} {}", quote(token.text));
            let error = Diagnostic::error(0, token.span(), message, format!("this is a {sort}"));
            let hint = "`T` and `F` are constants in programs with `begin` and `end`: choose another name";
            return Err(error.hint_if(matches!(token.text, "T" | "F").then(|| hint.to_owned())));
        }
        Ok(self.word_as_name())
    }

    fn label_names(&mut self) -> Fallible<Vec<Name>> {
        let mut names = vec![self.label_name()?];
        while self.take(Kind::Comma) {
            names.push(self.label_name()?);
        }
        Ok(names)
    }

    fn label_name(&mut self) -> Fallible<Name> {
        if self.now().kind == Kind::Number { Ok(self.word_as_name()) } else { self.name("a label") }
    }

    pub(super) fn word_as_name(&mut self) -> Name {
        let token = self.next();
        Name { text: token.text.to_owned(), span: token.span() }
    }

    /// Whether a call `f(...)` at this place is followed by a semicolon.
    fn ends_with_semicolon(&self) -> bool {
        let mut nested = 0_usize;
        for token in &self.tokens[self.at + 1..] {
            match token.kind {
                Kind::Open => nested += 1,
                Kind::Close if nested > 1 => nested -= 1,
                Kind::Close => nested = 0,
                Kind::Semicolon => return nested == 0,
                _ if nested == 0 => return false,
                _ => {}
            }
        }
        false
    }

    /// The mark that ends a statement. Where blocks end with a word, the last statement needs none.
    fn semicolon(&mut self) -> Fallible<()> {
        if self.take(Kind::Semicolon) || (!self.dialect.has_braces() && self.ends_block()) {
            return Ok(());
        }
        let end = self.tokens[self.at.saturating_sub(1)].span().end;
        let message = format!("expected `;`, found {}", self.described());
        Err(self.hinted(Diagnostic::error(0, end..end, message, "here")))
    }
}

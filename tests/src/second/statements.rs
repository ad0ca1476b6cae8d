//! Statements and blocks.

use super::lexer::Token;
use super::operations::lock_of;
use super::parser::{Parsed, Parser};
use super::tree::{Action, Block, Expression, Place, Statement};

/// A statement and what its production is called.
pub(super) type Named = Parsed<(Action, &'static str)>;

/// A statement that changes nothing, unless there is a constraint.
pub(super) fn change(targets: Vec<Place>, values: Vec<Expression>, constraint: Option<Expression>) -> Action {
    Action::Change { targets, values, constraint }
}

/// The second step of a statement that takes two.
fn second_step(statement: &Statement) -> Option<Statement> {
    let action = match &statement.action {
        Action::Sleep(Some((_, lock))) => lock_of(lock),
        Action::Arrive(barrier) => Action::Pass(barrier.clone()),
        _ => return None,
    };
    Some(Statement { labels: Vec::new(), action, ..statement.clone() })
}

impl Parser {
    /// Statements up to a word or a brace that ends them.
    pub(super) fn statements(&mut self) -> Parsed<Block> {
        let mut block = Block::default();
        loop {
            let labels = self.labels()?;
            if self.ends_block() {
                block.last.extend(labels);
                return Ok(block);
            }
            self.statement_or_nothing(labels, &mut block)?;
        }
    }

    /// A statement is added to a block; an empty one, if it has a label.
    fn statement_or_nothing(&mut self, labels: Vec<String>, block: &mut Block) -> Parsed<()> {
        if self.takes(";") {
            self.count("empty statement");
            if !labels.is_empty() {
                self.count("label on empty statement");
                let (line, number) = (self.line(), self.next_number());
                block.statements.push(Statement { labels, line, number, action: change(Vec::new(), Vec::new(), None) });
            }
            return Ok(());
        }
        let statement = self.statement(labels)?;
        let second = second_step(&statement);
        block.statements.push(statement);
        block.statements.extend(second);
        Ok(())
    }

    /// The number of a statement that begins here.
    fn next_number(&mut self) -> usize {
        self.statement_count += 1;
        self.statement_count
    }

    fn ends_block(&self) -> bool {
        match self.dialect.braces() {
            true => self.sees("}"),
            false => ["end", "fi", "od", "else", "elsif"].iter().any(|word| self.sees(word)),
        }
    }

    fn labels(&mut self) -> Parsed<Vec<String>> {
        let mut labels = Vec::new();
        while *self.second() == Token::Sign(":") {
            let label = self.label()?;
            self.expect(":")?;
            let word = label == "label" && *self.second() == Token::Sign(":");
            match (label == "label", word && !self.dialect.braces()) {
                // Where there is `begin`, `label: PC7:` is the label `PC7`, with a word before it.
                (_, true) => {
                    self.count("the word `label`");
                    continue;
                }
                (true, false) => self.count("the label `label`"),
                (false, false) => {}
            }
            labels.push(label);
        }
        if labels.len() > 1 {
            self.count("several labels");
        }
        Ok(labels)
    }

    pub(super) fn label(&mut self) -> Parsed<String> {
        let Token::Number(number) = self.token().clone() else { return self.name() };
        self.place += 1;
        self.count("a number as a label");
        Ok(number)
    }

    fn statement(&mut self, labels: Vec<String>) -> Parsed<Statement> {
        let (line, number) = (self.line(), self.next_number());
        let (mut action, mut name) = self.action()?;
        if let Action::Call { targets, callee, arguments } = &action
            && !self.dialect.braces()
            && targets.is_empty()
            && labels.iter().any(|label| label.starts_with("ASYNC_"))
        {
            let count = Expression::Number(1);
            action = Action::Start { callee: callee.clone(), arguments: arguments.clone(), count, posts: false };
            name = "ASYNC call";
        }
        self.count(name);
        if !labels.is_empty() {
            self.count(&format!("label on {name}"));
        }
        Ok(Statement { labels, line, number, action })
    }

    fn action(&mut self) -> Named {
        let Token::Word(word) = self.token().clone() else { return self.error("a statement") };
        if self.dialect.braces() && word == "yield" && *self.second() == Token::Sign(";") {
            self.place += 1;
            self.end_statement()?;
            return Ok((Action::Yield, "yield"));
        }
        if self.dialect.braces() && word == "post" && matches!(self.second(), Token::Word(_)) {
            self.place += 1;
            let (action, name) = self.start(true)?;
            self.end_statement()?;
            return Ok((action, name));
        }
        if *self.second() == Token::Sign("(") && self.is_name(&word) {
            let call = self.call(Vec::new(), "call")?;
            self.end_statement()?;
            return Ok(call);
        }
        let (action, name) = match word.as_str() {
            "if" | "while" => return self.branching(&word),
            "atomic" if self.dialect.braces() => return self.atomic(),
            "for" if self.dialect.braces() => return self.for_loop(),
            _ if self.is_name(&word) => self.assignment()?,
            _ => {
                self.place += 1;
                self.simple(&word)?
            }
        };
        self.end_statement()?;
        Ok((action, name))
    }

    /// The semicolon; where words end blocks, the last one may be missing.
    fn end_statement(&mut self) -> Parsed<()> {
        if self.dialect.braces() || !self.ends_block() {
            return self.expect(";");
        }
        self.count("no semicolon at the end of a block");
        Ok(())
    }

    /// A statement that begins with a keyword, which was read, and has no blocks.
    fn simple(&mut self, word: &str) -> Named {
        match (word, self.dialect.braces()) {
            ("skip", _) => Ok((change(Vec::new(), Vec::new(), None), "skip")),
            ("return", _) => self.returning(),
            ("goto", _) => self.goto(),
            ("assert", _) => self.assertion(),
            ("wait", false) => Ok((Action::Sleep(None), "sleep")),
            ("wait", true) if self.sees_sleep() => self.sleep_on(),
            ("assume", _) => {
                let condition = self.condition()?;
                Ok((change(Vec::new(), Vec::new(), Some(condition)), "assume"))
            }
            ("wait", true) => Ok((Action::Wait(self.condition()?), "wait for a condition")),
            ("lock" | "unlock", true) => self.locking(word == "lock"),
            ("atomic_begin", _) => Ok((Action::AtomicBegin, "atomic_begin")),
            ("atomic_end", _) => Ok((Action::AtomicEnd, "atomic_end")),
            ("sleep", true) => Ok((Action::Sleep(None), "sleep")),
            ("broadcast" | "signal", true) => self.waking(word),
            ("broadcast", false) => Ok((Action::Broadcast(None), "broadcast")),
            ("thread", true) | ("start_thread", false) => self.start(false),
            ("exit", true) | ("end_thread", false) => Ok((Action::Exit, "exit")),
            ("dead", _) => {
                let targets = self.targets()?;
                let (values, several) = (vec![Expression::Any; targets.len()], targets.len() > 1);
                Ok((change(targets, values, None), if several { "dead with several" } else { "dead" }))
            }
            _ => {
                self.place -= 1;
                self.error("a statement")
            }
        }
    }

    fn returning(&mut self) -> Named {
        let end = self.sees(";") || (!self.dialect.braces() && self.ends_block());
        let values = if end { Vec::new() } else { self.expressions()? };
        match values.len() {
            0 => {}
            1 => self.count("return of one value"),
            _ => self.count("return of several values"),
        }
        Ok((Action::Return(values), "return"))
    }

    fn goto(&mut self) -> Named {
        let mut labels = vec![self.label()?];
        while self.takes(",") {
            labels.push(self.label()?);
        }
        if labels.len() > 1 {
            self.count("goto with several labels");
        }
        Ok((Action::Goto(labels), "goto"))
    }

    fn assertion(&mut self) -> Named {
        let condition = self.condition()?;
        if let (Token::Quoted(name), true) = (self.token().clone(), self.dialect.braces()) {
            self.place += 1;
            let forbidden = |c: char| c == '@' || c == '"' || c.is_control();
            if name.is_empty() || name.contains(forbidden) {
                return Err(format!("line {}: {name:?} is no name for a property", self.line()));
            }
            return Ok((Action::Assert(condition, Some(name)), "named assert"));
        }
        Ok((Action::Assert(condition, None), "assert"))
    }

    /// What follows `thread` or `post`.
    fn start(&mut self, posts: bool) -> Named {
        if !posts && self.takes("goto") {
            return Ok((Action::StartAt(self.label()?), "start at a label"));
        }
        let callee = self.name()?;
        let arguments = self.arguments()?;
        let several = self.dialect.braces() && self.takes("*");
        if several && self.takes("any") {
            // Again and again, as often as it likes.
            let (line, number) = (self.line(), self.next_number());
            let action = Action::Start { callee, arguments, count: Expression::Number(1), posts };
            let statements = vec![Statement { labels: Vec::new(), line, number, action }];
            let body = Block { statements, last: Vec::new() };
            let name = if posts { "post of any number" } else { "start of any number" };
            return Ok((Action::While(Expression::Any, body), name));
        }
        let count = if several { self.thread_count()? } else { Expression::Number(1) };
        let name = match (posts, several) {
            (true, true) => "post of several",
            (true, false) => "post",
            (false, true) => "start of several",
            (false, false) => "start",
        };
        Ok((Action::Start { callee, arguments, count, posts }, name))
    }

    /// How many threads: a number, a name, or an expression in brackets.
    fn thread_count(&mut self) -> Parsed<Expression> {
        match self.token() {
            Token::Number(_) => Ok(Expression::Number(self.number()? as i64)),
            Token::Sign("(") => {
                self.count("start of as many as an expression says");
                self.place += 1;
                let count = self.expression()?;
                self.expect(")")?;
                Ok(count)
            }
            _ => {
                self.count("start of as many as a name says");
                Ok(Expression::Old(Place::whole(&self.name()?)))
            }
        }
    }

    pub(super) fn arguments(&mut self) -> Parsed<Vec<Expression>> {
        self.expect("(")?;
        let arguments = if self.sees(")") { Vec::new() } else { self.expressions()? };
        self.expect(")")?;
        Ok(arguments)
    }

    fn call(&mut self, targets: Vec<Option<Place>>, name: &'static str) -> Named {
        if let Some(operation) = self.sees_operation() {
            return self.operation(operation, targets);
        }
        let callee = self.name()?;
        let arguments = self.arguments()?;
        Ok((Action::Call { targets, callee, arguments }, name))
    }

    /// Places between commas.
    fn targets(&mut self) -> Parsed<Vec<Place>> {
        let mut targets = vec![self.target()?];
        while self.takes(",") {
            targets.push(self.target()?);
        }
        for target in targets.iter().filter(|target| !target.parts.is_empty()) {
            let element = matches!(target.parts.last(), Some(super::tree::Part::Element(_)));
            self.count(if element { "an element as a target" } else { "a field as a target" });
        }
        Ok(targets)
    }

    fn assignment(&mut self) -> Named {
        let targets = self.targets()?;
        self.expect(":=")?;
        if let Token::Word(word) = self.token()
            && self.is_name(word)
            && *self.second() == Token::Sign("(")
        {
            let wanted = |place: Place| (place != Place::whole("_")).then_some(place);
            let targets: Vec<_> = targets.into_iter().map(wanted).collect();
            if targets.contains(&None) {
                self.count("`_` takes a result");
            }
            let name = if targets.len() > 1 { "call with several results" } else { "call with a result" };
            return self.call(targets, name);
        }
        let values = self.expressions()?;
        if values.len() != targets.len() {
            return self.error("as many values as variables");
        }
        let constraint = if self.takes("constrain") { Some(self.expression()?) } else { None };
        let name = match (&constraint, targets.len()) {
            (Some(_), _) => "constrained assignment",
            (None, 1) => "assignment",
            (None, _) => "assignment of several",
        };
        Ok((change(targets, values, constraint), name))
    }

    fn atomic(&mut self) -> Named {
        self.expect("atomic")?;
        if !self.sees("{") {
            self.count("atomic block without braces");
        }
        let block = self.block()?;
        match block.statements.first() {
            None => {
                self.count("empty atomic block");
                if !block.last.is_empty() {
                    self.count("label in an empty atomic block");
                }
            }
            Some(first) => {
                let begins = matches!(first.action, Action::Atomic(_));
                if begins {
                    self.count("atomic block that begins an atomic block");
                }
                if matches!(&first.action, Action::Atomic(inner) if inner.statements.is_empty()) {
                    self.count("empty atomic block that begins an atomic block");
                }
                match (begins, first.labels.is_empty()) {
                    (_, true) => {}
                    (true, false) => self.count("label on a block that begins a block"),
                    (false, false) => self.count("label on the first statement of an atomic block"),
                }
            }
        }
        Ok((Action::Atomic(block), "atomic block"))
    }

    fn branching(&mut self, word: &str) -> Named {
        match (word, self.dialect.braces()) {
            ("while", braces) => {
                self.place += 1;
                let condition = self.condition()?;
                let block = if braces { self.block()? } else { self.between("do", "od")? };
                Ok((Action::While(condition, block), "while"))
            }
            (_, true) => Ok((self.braces_if()?, "if")),
            (_, false) => {
                let action = self.words_if()?;
                self.expect("fi")?;
                self.takes(";");
                Ok((action, "if"))
            }
        }
    }

    /// A block that ends with `od;`.
    fn between(&mut self, begin: &str, end: &str) -> Parsed<Block> {
        self.expect(begin)?;
        let block = self.counted_statements()?;
        self.expect(end)?;
        self.takes(";");
        Ok(block)
    }

    /// Statements in a block that is not the body of a procedure.
    fn counted_statements(&mut self) -> Parsed<Block> {
        let block = self.statements()?;
        if block.statements.is_empty() {
            self.count("empty block");
        }
        if !block.last.is_empty() {
            self.count("label at the end of a block");
        }
        Ok(block)
    }

    /// Statements in braces, or one without.
    pub(super) fn block(&mut self) -> Parsed<Block> {
        if self.takes("{") {
            let block = self.counted_statements()?;
            self.expect("}")?;
            return Ok(block);
        }
        self.count("block without braces");
        let (labels, mut block) = (self.labels()?, Block::default());
        self.statement_or_nothing(labels, &mut block)?;
        if block.statements.is_empty() {
            self.count("empty statement as a block");
        }
        Ok(block)
    }

    fn braces_if(&mut self) -> Parsed<Action> {
        self.expect("if")?;
        let condition = self.condition()?;
        let yes = self.block()?;
        if !self.takes("else") {
            self.count("no else");
            return Ok(Action::If(condition, yes, Block::default()));
        }
        if !self.sees("if") {
            self.count("else");
            return Ok(Action::If(condition, yes, self.block()?));
        }
        self.count("else if");
        let no = self.statement(Vec::new())?;
        Ok(Action::If(condition, yes, Block { statements: vec![no], last: Vec::new() }))
    }

    /// Up to `fi`, which it leaves: all that begin with `elsif` end with the same `fi`.
    fn words_if(&mut self) -> Parsed<Action> {
        let (line, number) = (self.line(), self.statement_count);
        self.place += 1;
        let condition = self.condition()?;
        self.expect("then")?;
        let yes = self.counted_statements()?;
        if self.sees("elsif") {
            self.count("elsif");
            let action = self.words_if()?;
            let no = Statement { labels: Vec::new(), line, number, action };
            return Ok(Action::If(condition, yes, Block { statements: vec![no], last: Vec::new() }));
        }
        if !self.takes("else") {
            self.count("no else");
            return Ok(Action::If(condition, yes, Block::default()));
        }
        self.count("else");
        Ok(Action::If(condition, yes, self.counted_statements()?))
    }
}

//! The language of c2s: asynchronous programs with `proc`, `begin` and `end`, `post` and `yield`.
//!
//! It is read as the syntax tree of programs. Variables may be anything at first. Integers need a range, and to leave it is a
//! violation. Tuples other than results, maps, constants without a value and named buffers are not supported.

use tepui_model::program::Operator;

use super::parse::{DEEPEST, Fallible};
use super::syntax::{
    Action, Declaration, Expression, Init, KindName, Module, Name, Operation, Path, Procedure, Statement,
};
use super::token::{Kind, Token};
use crate::diagnostic::{Diagnostic, quote};

/// Words that cannot be names.
const KEYWORDS: &[&str] = &[
    "and",
    "assert",
    "assume",
    "begin",
    "bool",
    "call",
    "const",
    "dead",
    "div",
    "do",
    "done",
    "else",
    "end",
    "false",
    "fi",
    "goto",
    "if",
    "iff",
    "implies",
    "int",
    "invariant",
    "mod",
    "new",
    "not",
    "or",
    "post",
    "proc",
    "return",
    "self",
    "skip",
    "then",
    "true",
    "type",
    "var",
    "void",
    "while",
    "yield",
];

/// Operators with two operands, those first that bind loosest.
const OPERATORS: &[&[(&str, Operator)]] = &[
    &[("<=>", Operator::Equal), ("iff", Operator::Equal), ("=>", Operator::Implies), ("implies", Operator::Implies)],
    &[("|", Operator::Or), ("||", Operator::Or), ("or", Operator::Or)],
    &[("&", Operator::And), ("&&", Operator::And), ("and", Operator::And)],
    &[
        ("=", Operator::Equal),
        ("==", Operator::Equal),
        ("!=", Operator::Unequal),
        ("<", Operator::Less),
        ("<=", Operator::AtMost),
        (">", Operator::Greater),
        (">=", Operator::AtLeast),
    ],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[
        ("*", Operator::Multiply),
        ("/", Operator::Divide),
        ("div", Operator::Divide),
        ("%", Operator::Modulo),
        ("mod", Operator::Modulo),
    ],
];

pub(super) struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    depth: usize,
    /// The numbers that integers are.
    integers: Option<(i32, i32)>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(tokens: Vec<Token<'a>>, integers: Option<(i32, i32)>) -> Self {
        Self { tokens, at: 0, depth: 0, integers }
    }

    /// The whole program.
    pub(super) fn module(mut self) -> Fallible<Module> {
        // What has no task but `main` is asynchronous, too.
        let order = Some(Name { text: "bag".to_owned(), span: 0..0 });
        let mut module = Module { order, ..Module::default() };
        while self.now().kind != Kind::End {
            match self.now().text {
                "var" => self.variables(&mut module.shared)?,
                "proc" => {
                    let procedure = self.procedure()?;
                    module.procedures.push(procedure);
                }
                "const" => return Err(self.unsupported("a constant", "nobody says what it is")),
                "type" => {
                    // Whoever uses it is told that it is not supported.
                    self.next();
                    self.name()?;
                }
                _ => return Err(self.unexpected("`var` or `proc`")),
            }
        }
        Ok(module)
    }

    fn now(&self) -> Token<'a> {
        self.tokens[self.at]
    }

    fn after(&self) -> Token<'a> {
        self.tokens[(self.at + 1).min(self.tokens.len() - 1)]
    }

    fn next(&mut self) -> Token<'a> {
        let token = self.now();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn takes(&mut self, text: &str) -> bool {
        let found = self.now().text == text && self.now().kind != Kind::End;
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, text: &str) -> Fallible<()> {
        if self.takes(text) { Ok(()) } else { Err(self.unexpected(&quote(text))) }
    }

    fn unexpected(&self, what: &str) -> Diagnostic {
        let found = if self.now().kind == Kind::End { "the end".to_owned() } else { quote(self.now().text) };
        Diagnostic::error(0, self.now().span(), format!("expected {what}, found {found}"), "here")
    }

    fn unsupported(&self, what: &str, because: &str) -> Diagnostic {
        Diagnostic::error(0, self.now().span(), format!("{what} is not supported: {because}"), "here")
    }

    fn name(&mut self) -> Fallible<Name> {
        let token = self.now();
        if token.kind != Kind::Word || KEYWORDS.contains(&token.text) {
            return Err(self.unexpected("a name"));
        }
        self.next();
        Ok(Name { text: token.text.to_owned(), span: token.span() })
    }

    fn names(&mut self) -> Fallible<Vec<Name>> {
        let mut names = vec![self.name()?];
        while self.takes(",") {
            names.push(self.name()?);
        }
        Ok(names)
    }

    fn paths(&mut self) -> Fallible<Vec<Path>> {
        Ok(self.names()?.into_iter().map(path).collect())
    }

    /// `var x, y: int`, which may be anything at first.
    fn variables(&mut self, into: &mut Vec<Declaration>) -> Fallible<()> {
        self.next();
        let names = self.names()?;
        self.expect(":")?;
        let kind = self.kind()?;
        let any = |name: &Name| Init::One(Expression { span: name.span.clone(), operation: Operation::Any });
        into.extend(names.into_iter().map(|name| {
            let init = Some(any(&name));
            Declaration { name, dimensions: Vec::new(), kind: kind.clone(), init }
        }));
        Ok(())
    }

    fn kind(&mut self) -> Fallible<KindName> {
        let token = self.now();
        match token.text {
            "bool" => {
                self.next();
                Ok(KindName::Bool)
            }
            "int" => {
                let Some((low, high)) = self.integers else {
                    let error = Diagnostic::error(0, token.span(), "an integer needs a range", "which numbers?");
                    return Err(
                        error.hint("--int-range 0..100 says which numbers there are; to leave them is a violation")
                    );
                };
                self.next();
                let number =
                    |value: i32| Expression { span: token.span(), operation: Operation::Number(i64::from(value)) };
                Ok(KindName::Range(number(low), number(high)))
            }
            "[" => Err(self.unsupported("a map", "data is finite here")),
            "(" => Err(self.unsupported("a variable that is a tuple", "write one variable for each part")),
            _ => Err(self.unsupported(&format!("the type {}", quote(token.text)), "there are `bool` and `int`")),
        }
    }

    /// `proc f (var x: int) : void begin ... end`.
    fn procedure(&mut self) -> Fallible<Procedure> {
        self.next();
        let name = self.name()?;
        self.expect("(")?;
        let mut parameters = Vec::new();
        while !self.takes(")") {
            if !matches!(self.now().text, "var" | "const") {
                return Err(self.unexpected("`var` and a parameter"));
            }
            self.variables(&mut parameters)?;
            if !self.takes(",") && self.now().text != ")" {
                return Err(self.unexpected("`,` or `)`"));
            }
        }
        self.expect(":")?;
        let results = self.results()?;
        self.expect("begin")?;
        let mut locals = Vec::new();
        while self.now().text == "var" {
            self.variables(&mut locals)?;
        }
        if self.now().text == "const" {
            return Err(self.unsupported("a constant", "nobody says what it is"));
        }
        let body = self.statements()?;
        let end = self.now().span();
        self.expect("end")?;
        Ok(Procedure { name, parameters, locals, results, enforced: None, body, end })
    }

    fn results(&mut self) -> Fallible<Vec<KindName>> {
        if self.takes("void") {
            return Ok(Vec::new());
        }
        if !self.takes("(") {
            return Ok(vec![self.kind()?]);
        }
        let mut kinds = vec![self.kind()?];
        while self.takes(",") {
            kinds.push(self.kind()?);
        }
        self.expect(")")?;
        Ok(kinds)
    }

    /// Statements up to a word that ends the block, which is left.
    fn statements(&mut self) -> Fallible<Vec<Statement>> {
        let mut statements = Vec::new();
        while !matches!(self.now().text, "end" | "else" | "fi" | "done") && self.now().kind != Kind::End {
            if self.takes(";") {
                continue;
            }
            let statement = self.statement()?;
            statements.push(statement);
            if !matches!(self.now().text, ";" | "end" | "else" | "fi" | "done") {
                return Err(self.unexpected("`;` or the end of the block"));
            }
        }
        Ok(statements)
    }

    fn statement(&mut self) -> Fallible<Statement> {
        let mut labels = Vec::new();
        while self.now().kind == Kind::Word && self.after().kind == Kind::Colon {
            labels.push(self.name()?);
            self.next();
        }
        let start = self.now().start;
        let action = self.nested(Self::action)?;
        let end = self.tokens[self.at.saturating_sub(1)].span().end;
        Ok(Statement { labels, span: start..end.max(start), action })
    }

    fn action(&mut self) -> Fallible<Action> {
        let word = self.now();
        if word.kind != Kind::Word || !KEYWORDS.contains(&word.text) {
            return self.assignment();
        }
        if word.text == "new" {
            return Err(self.unsupported("`new`", "there is one buffer, and tasks have no names"));
        }
        self.next();
        Ok(match word.text {
            "skip" => Action::Skip,
            "yield" => Action::Yield,
            "assert" => Action::Assert(self.expression()?, None),
            "assume" => Action::Assume(self.expression()?),
            "goto" => Action::Goto(self.names()?),
            "dead" => Action::Dead(self.paths()?),
            "return" => Action::Return(self.returned()?),
            "call" => self.call()?,
            "post" => {
                let procedure = self.name()?;
                let arguments = self.arguments()?;
                if self.now().kind == Kind::Word && !matches!(self.now().text, "else" | "fi" | "done" | "end") {
                    return Err(self.unsupported("a named buffer", "there is one buffer for all tasks"));
                }
                Action::Start { procedure, arguments, count: None, posts: true }
            }
            "if" => {
                let condition = self.expression()?;
                self.expect("then")?;
                let then = self.statements()?;
                let otherwise = if self.takes("else") { self.statements()? } else { Vec::new() };
                self.expect("fi")?;
                Action::If(condition, then, otherwise)
            }
            "while" => {
                let condition = self.expression()?;
                while self.takes("invariant") {
                    // It is a claim for other tools.
                    self.expression()?;
                }
                self.expect("do")?;
                let body = self.statements()?;
                self.expect("done")?;
                Action::While(condition, body)
            }
            _ => {
                self.at -= 1;
                return Err(self.unexpected("a statement"));
            }
        })
    }

    /// What is returned: nothing, a value, or several in brackets.
    fn returned(&mut self) -> Fallible<Vec<Expression>> {
        if matches!(self.now().text, ";" | "end" | "else" | "fi" | "done") {
            return Ok(Vec::new());
        }
        let before = self.at;
        if self.takes("(") {
            let mut values = vec![self.expression()?];
            while self.takes(",") {
                values.push(self.expression()?);
            }
            if values.len() > 1 {
                self.expect(")")?;
                return Ok(values);
            }
            self.at = before;
        }
        Ok(vec![self.expression()?])
    }

    /// `x, y := f(a)` or `f(a)` after `call`.
    fn call(&mut self) -> Fallible<Action> {
        let first = self.names()?;
        let (targets, procedure) = match self.takes(":=") {
            true => (first.into_iter().map(path).collect(), self.name()?),
            false => match <[Name; 1]>::try_from(first) {
                Ok([procedure]) => (Vec::new(), procedure),
                Err(_) => return Err(self.unexpected("`:=` and a procedure")),
            },
        };
        Ok(Action::Call { targets, procedure, arguments: self.arguments()? })
    }

    fn assignment(&mut self) -> Fallible<Action> {
        let targets = self.paths()?;
        if self.now().text == "[" {
            return Err(self.unsupported("a map", "data is finite here"));
        }
        self.expect(":=")?;
        let mut values = vec![self.expression()?];
        while self.takes(",") {
            values.push(self.expression()?);
        }
        Ok(Action::Assign { targets, values, constraint: None })
    }

    fn arguments(&mut self) -> Fallible<Vec<Expression>> {
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.takes(")") {
            arguments.push(self.expression()?);
            if !self.takes(",") && self.now().text != ")" {
                return Err(self.unexpected("`,` or `)`"));
            }
        }
        Ok(arguments)
    }

    fn expression(&mut self) -> Fallible<Expression> {
        self.nested(|parser| parser.binary(0))
    }

    /// Operators of a level and those that bind tighter.
    fn binary(&mut self, level: usize) -> Fallible<Expression> {
        let Some(operators) = OPERATORS.get(level) else { return self.operand() };
        let mut left = self.binary(level + 1)?;
        while let Some((length, operator)) = self.operator(operators) {
            self.at += length;
            // Implications nest to the right.
            let deeper = if operator == Operator::Implies { level } else { level + 1 };
            let right = self.binary(deeper)?;
            let span = left.span.start..right.span.end;
            let operation = Operation::Binary(operator, Box::new(left), Box::new(right));
            left = Expression { span, operation };
        }
        Ok(left)
    }

    /// The operator that comes next, and of how many tokens it is, if it is one of some.
    fn operator(&self, operators: &[(&str, Operator)]) -> Option<(usize, Operator)> {
        let iff = self.now().kind == Kind::AtMost
            && self.after().kind == Kind::Greater
            && self.now().span().end == self.after().start;
        let text = if iff { "<=>" } else { self.now().text };
        let found = operators.iter().find(|(sign, _)| *sign == text)?;
        Some((1 + usize::from(iff), found.1))
    }

    fn operand(&mut self) -> Fallible<Expression> {
        let token = self.next();
        let of = |operation: Operation| Ok(Expression { span: token.span(), operation });
        match (token.kind, token.text) {
            (Kind::Star, _) => of(Operation::Any),
            (_, "true") => of(Operation::Truth(true)),
            (_, "false") => of(Operation::Truth(false)),
            (Kind::Number, text) => match text.parse() {
                Ok(number) => of(Operation::Number(number)),
                Err(_) => Err(Diagnostic::error(0, token.span(), "this number is too large", "here")),
            },
            (Kind::Not, _) | (_, "not") | (Kind::Minus, _) => {
                let operand = self.nested(Self::operand)?;
                let span = token.start..operand.span.end;
                let operation = match token.kind {
                    Kind::Minus => Operation::Negate(Box::new(operand)),
                    _ => Operation::Not(Box::new(operand)),
                };
                Ok(Expression { span, operation })
            }
            (Kind::Open, _) => {
                let inner = self.expression()?;
                if self.now().kind == Kind::Comma {
                    return Err(self.unsupported("a tuple", "write one variable for each part"));
                }
                self.expect(")")?;
                Ok(inner)
            }
            (Kind::Word, text) if !KEYWORDS.contains(&text) => {
                if self.now().kind == Kind::OpenBracket {
                    return Err(self.unsupported("a map", "data is finite here"));
                }
                of(Operation::Place(path(Name { text: text.to_owned(), span: token.span() })))
            }
            _ => {
                self.at = self.at.saturating_sub(1);
                Err(self.unexpected("an expression"))
            }
        }
    }

    /// Reads something that may hold more of its kind.
    fn nested<T>(&mut self, read: fn(&mut Self) -> Fallible<T>) -> Fallible<T> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let message = format!("nested more than {DEEPEST} times");
            return Err(Diagnostic::error(0, self.now().span(), message, "too deep"));
        }
        let found = read(self);
        self.depth -= 1;
        found
    }
}

fn path(name: Name) -> Path {
    Path { span: name.span.clone(), name, steps: Vec::new() }
}

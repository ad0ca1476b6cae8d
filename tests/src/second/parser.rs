//! The parser: tokens, declarations and procedures. It counts the productions that it uses.

use std::collections::BTreeMap;

use super::Dialect;
use super::lexer::{Lexed, Token};
use super::productions::family;
use super::tree::{Kind, Procedure, Tree};

pub(super) type Parsed<T> = Result<T, String>;

/// Words that cannot be names in Tepui's dialect.
const BRACES: &str = "decl enum lock void bool if else while goto skip assert assume wait unlock atomic atomic_begin \
     atomic_end sleep broadcast thread exit dead return enforce constrain schoose true false const kind record for in \
     semaphore barrier condition signal int";

/// Words that mean something before a bracket, unless there is a procedure that is called so.
pub(super) const OPERATIONS: [&str; 5] = ["cas", "fetch_add", "acquire", "release", "arrive"];

/// Words that cannot be names in the others.
const WORDS: &str = "decl void bool begin end if then else elsif fi while do od goto skip assert assume wait broadcast \
     start_thread end_thread atomic_begin atomic_end dead return enforce constrain schoose true false T F";

pub(super) struct Parser {
    tokens: Vec<(Token, usize)>,
    pub(super) place: usize,
    pub(super) dialect: Dialect,
    counts: BTreeMap<String, usize>,
    /// Whether nothing is counted, because a text is read a second time.
    pub(super) quiet: bool,
    pub(super) ambiguous: bool,
    /// The operator before, at the same level of brackets.
    pub(super) operator: Option<&'static str>,
    /// Whether there was a colon and a kind after the last variable.
    pub(super) kind_before: bool,
    /// The enumerations that stand in declarations.
    pub(super) unnamed: Vec<(String, Vec<String>)>,
    /// The words for operations that are names of procedures here.
    pub(super) redefined: Vec<&'static str>,
    /// The names of records and of other kinds that are not enumerations, with what they are called in counts.
    pub(super) sorts: BTreeMap<String, &'static str>,
    /// How many statements there were.
    pub(super) statement_count: usize,
}

impl Parser {
    pub(super) fn new(lexed: Lexed, dialect: Dialect) -> Self {
        let (counts, tokens) = (BTreeMap::new(), lexed.tokens);
        let redefined = if dialect.braces() { redefined(&tokens) } else { Vec::new() };
        let mut parser = Self {
            tokens,
            place: 0,
            dialect,
            counts,
            quiet: false,
            ambiguous: false,
            operator: None,
            kind_before: false,
            unnamed: Vec::new(),
            redefined,
            sorts: BTreeMap::new(),
            statement_count: 0,
        };
        (0..lexed.line_comments).for_each(|_| parser.count("line comment"));
        (0..lexed.block_comments).for_each(|_| parser.count("block comment"));
        parser
    }

    /// What was counted, and whether an expression is read differently by the two grammars.
    pub(super) fn counted(self) -> (BTreeMap<String, usize>, bool) {
        (self.counts, self.ambiguous)
    }

    pub(super) fn count(&mut self, production: &str) {
        if !self.quiet {
            *self.counts.entry(format!("{}: {production}", family(self.dialect))).or_default() += 1;
        }
    }

    pub(super) fn token(&self) -> &Token {
        &self.tokens[self.place.min(self.tokens.len() - 1)].0
    }

    /// The token that comes after some others.
    pub(super) fn tokens_from(&self, others: usize) -> Option<&Token> {
        self.tokens.get(self.place + others).map(|(token, _)| token)
    }

    /// The token after the next one.
    pub(super) fn second(&self) -> &Token {
        &self.tokens[(self.place + 1).min(self.tokens.len() - 1)].0
    }

    pub(super) fn line(&self) -> usize {
        self.tokens[self.place.min(self.tokens.len() - 1)].1
    }

    pub(super) fn error<T>(&self, wanted: &str) -> Parsed<T> {
        Err(format!("line {}: {wanted} is wanted, not {:?}", self.line(), self.token()))
    }

    /// Whether the next token is a word or a sign.
    pub(super) fn sees(&self, text: &str) -> bool {
        match self.token() {
            Token::Word(word) => word == text,
            Token::Sign(sign) => *sign == text,
            _ => false,
        }
    }

    /// Goes past a word or a sign, if it is the next token.
    pub(super) fn takes(&mut self, text: &str) -> bool {
        let sees = self.sees(text);
        self.place += usize::from(sees);
        sees
    }

    pub(super) fn expect(&mut self, text: &str) -> Parsed<()> {
        if self.takes(text) { Ok(()) } else { self.error(&format!("`{text}`")) }
    }

    /// Whether a word can be a name here.
    pub(super) fn is_name(&self, word: &str) -> bool {
        let keywords = if self.dialect.braces() { BRACES } else { WORDS };
        !keywords.split_whitespace().any(|keyword| keyword == word)
    }

    pub(super) fn name(&mut self) -> Parsed<String> {
        let Token::Word(word) = self.token().clone() else { return self.error("a name") };
        if !self.is_name(&word) {
            return self.error("a name");
        }
        let elsewhere = if self.dialect.braces() { WORDS } else { BRACES };
        if elsewhere.split_whitespace().any(|keyword| keyword == word) {
            self.count("a name that is a keyword elsewhere");
        }
        if word == "T" || word == "F" {
            self.count("T or F as a name");
        }
        self.place += 1;
        Ok(word)
    }

    pub(super) fn program(&mut self) -> Parsed<Tree> {
        let mut tree = Tree::default();
        while *self.token() != Token::End {
            if self.sees("decl") {
                tree.shared.extend(self.declaration("shared")?);
            } else if !self.dialect.braces() || !self.definition(&mut tree)? {
                tree.procedures.push(self.procedure()?);
            }
        }
        tree.enumerations.append(&mut self.unnamed);
        self.count_whole(&tree);
        Ok(tree)
    }

    /// Counts what is seen only when all is read.
    fn count_whole(&mut self, tree: &Tree) {
        let shared = |name: &str| tree.shared.iter().any(|variable| variable.name == name);
        for procedure in &tree.procedures {
            for hiding in procedure.parameters.iter().chain(&procedure.locals) {
                if shared(&hiding.name) {
                    self.count("a local hides a shared variable");
                }
            }
            let mut labels = Vec::new();
            super::resolve::labels(&procedure.body, &[], &mut labels);
            if labels.iter().any(|(label, _)| shared(label)) {
                self.count("a label called like a variable");
            }
        }
        if self.dialect == Dialect::Getafix {
            let has = |name: &str| tree.procedures.iter().any(|procedure| procedure.name == name);
            self.count(if has("init") { "init" } else { "no init" });
            self.count(if has("main") { "main" } else { "no main" });
            let called = |name: &str| has(name) && super::resolve::uncalled(tree).all(|root| root.name != name);
            for name in ["init", "main"] {
                if called(name) {
                    self.count(&format!("{name} has a caller"));
                }
            }
            let init = tree.procedures.iter().find(|procedure| procedure.name == "init");
            if init.is_some_and(|init| super::resolve::ends_thread(&init.body)) {
                self.count("init ends its thread");
            }
        }
        for procedure in &tree.procedures {
            if super::resolve::calls(&procedure.body, &procedure.name) {
                self.count("a procedure calls itself");
            }
            if super::resolve::drops_results(&procedure.body, tree) {
                self.count("a call drops results");
            }
        }
        for root in super::resolve::uncalled(tree) {
            match self.dialect {
                Dialect::Getafix if root.parameters.is_empty() || root.name == "init" => {}
                Dialect::Getafix => self.count("a thread with parameters"),
                Dialect::Tepui => {}
                _ if root.name == "main" => {}
                _ => self.count("a procedure that nobody calls"),
            }
        }
    }

    fn procedure(&mut self) -> Parsed<Procedure> {
        let results = self.results()?;
        let name = self.procedure_name()?;
        self.expect("(")?;
        let mut parameters = Vec::new();
        if !self.sees(")") {
            parameters.push(self.variable("parameter", &Kind::Boolean)?);
            while self.takes(",") {
                parameters.push(self.variable("parameter", &Kind::Boolean)?);
            }
        }
        self.expect(")")?;
        self.count(["no parameters", "one parameter", "several parameters"][parameters.len().min(2)]);
        self.expect(if self.dialect.braces() { "{" } else { "begin" })?;
        let (mut locals, mut enforced) = (Vec::new(), Vec::new());
        loop {
            if self.sees("decl") {
                locals.extend(self.declaration("local")?);
            } else if self.takes("enforce") {
                self.count("enforce");
                enforced.push(self.expression()?);
                self.expect(";")?;
            } else {
                break;
            }
        }
        let body = self.statements()?;
        if body.statements.is_empty() {
            self.count("empty body");
        }
        if !body.last.is_empty() {
            self.count("label at the end of a procedure");
        }
        self.expect(if self.dialect.braces() { "}" } else { "end" })?;
        Ok(Procedure { name, results, parameters, locals, enforced, body })
    }

    fn procedure_name(&mut self) -> Parsed<String> {
        let name = self.name()?;
        if self.dialect.braces() && ["range", "index", "never"].contains(&name.as_str()) {
            return Err(format!("line {}: no procedure may be called {name}", self.line()));
        }
        if self.redefined.contains(&name.as_str()) {
            self.count("a procedure called like an operation");
        }
        Ok(name)
    }

    pub(super) fn number(&mut self) -> Parsed<usize> {
        let Token::Number(number) = self.token().clone() else { return self.error("a number") };
        self.place += 1;
        number.parse().map_err(|_| format!("{number} is too much"))
    }
}

/// The words for operations that are names of procedures: outside of braces a name before a bracket is one, unless it
/// is that of a barrier.
fn redefined(tokens: &[(Token, usize)]) -> Vec<&'static str> {
    let (mut depth, mut barrier, mut found) = (0_usize, false, Vec::new());
    for pair in tokens.windows(2) {
        match (&pair[0].0, &pair[1].0) {
            (Token::Sign("{"), _) => depth += 1,
            (Token::Sign("}"), _) => depth = depth.saturating_sub(1),
            (Token::Sign(";"), _) => barrier = false,
            (Token::Word(word), _) if word == "barrier" => barrier = true,
            (Token::Word(word), Token::Sign("(")) if depth == 0 && !barrier => {
                found.extend(OPERATIONS.iter().find(|operation| *operation == word));
            }
            _ => {}
        }
    }
    found
}

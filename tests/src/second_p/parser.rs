//! Reading: the words one after the other, types, and the declarations that have no states.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::lexer::{Token, lex};
use super::tree::{BlockId, Bound, Definition, ExprId, HALT, Module, NULL, Name, Program, Test, Type};
use super::values::Value;

pub(super) type Read<T> = Result<T, String>;

pub(super) struct Parser {
    tokens: Vec<(Token, usize)>,
    at: usize,
    known: HashMap<String, Name>,
    pub(super) program: Program,
    pub(super) used: BTreeMap<String, usize>,
    /// Whether what is read belongs to a machine.
    pub(super) inside: bool,
    /// Expressions that stand in brackets.
    pub(super) bracketed: BTreeSet<ExprId>,
}

impl Parser {
    pub(super) fn new(text: &str, old: bool) -> Read<Self> {
        let (tokens, comments) = lex(text)?;
        let program = Program { old, ..Program::default() };
        let (used, bracketed) = (BTreeMap::new(), BTreeSet::new());
        let mut parser = Self { tokens, at: 0, known: HashMap::new(), program, used, inside: false, bracketed };
        comments.into_iter().for_each(|comment| parser.uses(comment));
        for (word, number) in [("null", NULL), ("halt", HALT)] {
            let name = parser.intern(word);
            debug_assert_eq!(name, number);
            parser.program.constants.insert(name, if name == NULL { Value::Null } else { Value::Event(name) });
        }
        Ok(parser)
    }

    /// Counts that a production was used.
    pub(super) fn uses(&mut self, production: &str) {
        *self.used.entry(production.to_owned()).or_default() += 1;
    }

    fn intern(&mut self, word: &str) -> Name {
        let next = self.known.len() as Name;
        let name = *self.known.entry(word.to_owned()).or_insert(next);
        if name == next {
            self.program.words.push(word.to_owned());
        }
        name
    }

    pub(super) fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    pub(super) fn ahead(&self, by: usize) -> &Token {
        &self.tokens[(self.at + by).min(self.tokens.len() - 1)].0
    }

    pub(super) fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    pub(super) fn fail<T>(&self, wanted: &str) -> Read<T> {
        Err(format!("line {}: {wanted} expected, not {:?}", self.tokens[self.at].1, self.peek()))
    }

    pub(super) fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(next) if *next == sign)
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(next) if next == word)
    }

    pub(super) fn sign(&mut self, sign: &str) -> bool {
        let there = self.is_sign(sign);
        self.at += usize::from(there);
        there
    }

    pub(super) fn word(&mut self, word: &str) -> bool {
        let there = self.is_word(word);
        self.at += usize::from(there);
        there
    }

    pub(super) fn want(&mut self, sign: &str) -> Read<()> {
        if self.sign(sign) { Ok(()) } else { self.fail(sign) }
    }

    pub(super) fn want_word(&mut self, word: &str) -> Read<()> {
        if self.word(word) { Ok(()) } else { self.fail(word) }
    }

    pub(super) fn name(&mut self) -> Read<Name> {
        let Token::Word(word) = self.peek().clone() else { return self.fail("a name") };
        self.next();
        Ok(self.intern(&word))
    }

    pub(super) fn names(&mut self) -> Read<Vec<Name>> {
        let mut names = vec![self.name()?];
        while self.sign(",") {
            names.push(self.name()?);
        }
        Ok(names)
    }

    pub(super) fn digits(&mut self) -> Read<String> {
        let Token::Digits(digits) = self.peek().clone() else { return self.fail("a number") };
        self.next();
        Ok(digits)
    }

    pub(super) fn number<T: std::str::FromStr>(&mut self) -> Read<T> {
        let digits = self.digits()?;
        digits.parse().map_err(|_| format!("{digits} is too large"))
    }

    /// Types.
    pub(super) fn a_type(&mut self) -> Read<Type> {
        if self.sign("(") {
            return self.tuple_type();
        }
        let Token::Word(word) = self.peek().clone() else { return self.fail("a type") };
        let plain = match word.as_str() {
            "bool" => Some(Type::Bool),
            "int" => Some(Type::Int),
            "float" => Some(Type::Float),
            "string" => Some(Type::Text),
            "event" => Some(Type::Event),
            "machine" => Some(Type::Machine),
            "any" | "data" => Some(Type::Any),
            _ => None,
        };
        if let Some(plain) = plain {
            self.next();
            self.uses(&format!("type {word}"));
            return Ok(plain);
        }
        if matches!(self.ahead(1), Token::Sign("[")) && ["seq", "set", "map"].contains(&word.as_str()) {
            self.next();
            self.uses(&format!("type {word}"));
            return self.collection(&word);
        }
        self.uses("type by name");
        self.name().map(Type::Called)
    }

    fn collection(&mut self, word: &str) -> Read<Type> {
        self.want("[")?;
        let first = Box::new(self.a_type()?);
        let of = match word {
            "seq" => Type::Seq(first),
            "set" => Type::Set(first),
            _ => {
                self.want(",")?;
                Type::Map(first, Box::new(self.a_type()?))
            }
        };
        self.want("]")?;
        Ok(of)
    }

    fn tuple_type(&mut self) -> Read<Type> {
        let named = matches!((self.peek(), self.ahead(1)), (Token::Word(_), Token::Sign(":")));
        self.uses(if named { "type of named tuples" } else { "type of tuples" });
        let (mut names, mut parts) = (Vec::new(), Vec::new());
        while !self.sign(")") {
            if named {
                names.push(self.name()?);
                self.want(":")?;
            }
            parts.push(self.a_type()?);
            if !self.sign(",") && !self.is_sign(")") {
                return self.fail(")");
            }
        }
        Ok(if named { Type::Named(names.into_iter().zip(parts).collect()) } else { Type::Tuple(parts) })
    }

    /// All declarations.
    pub(super) fn declarations(&mut self) -> Read<()> {
        while *self.peek() != Token::End {
            let Token::Word(word) = self.next() else { return self.fail("a declaration") };
            match word.as_str() {
                "type" => self.type_declaration()?,
                "enum" => self.enumeration()?,
                "event" => self.event()?,
                "eventset" => self.event_set()?,
                "interface" => self.interface()?,
                "machine" | "spec" | "scenario" => self.kind(&word)?,
                "fun" => self.global_function()?,
                "module" => self.module_declaration()?,
                "test" | "implementation" => self.test(&word)?,
                other => return Err(format!("line {}: {other} is not read here", self.tokens[self.at].1)),
            }
        }
        Ok(())
    }

    fn type_declaration(&mut self) -> Read<()> {
        let name = self.name()?;
        let definition = if self.sign("=") {
            self.uses("another name for a type");
            Definition::Other(self.a_type()?)
        } else {
            Definition::Foreign
        };
        self.program.types.insert(name, definition);
        self.want(";")
    }

    fn enumeration(&mut self) -> Read<()> {
        let name = self.name()?;
        self.want("{")?;
        let mut numbers = Vec::new();
        while !self.sign("}") {
            let constant = self.name()?;
            let numbered = self.sign("=");
            self.uses(if numbered { "enumeration with numbers" } else { "enumeration" });
            let number = if numbered { self.number()? } else { numbers.len() as i64 };
            numbers.push(number);
            self.program.constants.insert(constant, Value::Enum(name, number));
            if !self.sign(",") && !self.is_sign("}") {
                return self.fail("}");
            }
        }
        self.program.types.insert(name, Definition::Enum(numbers));
        Ok(())
    }

    /// `assume N` or `assert N`, in the old dialect.
    pub(super) fn bound(&mut self) -> Read<Option<Bound>> {
        if !self.program.old {
            return Ok(None);
        }
        if self.word("assume") {
            self.uses("old: assume N");
            return Ok(Some(Bound::Assume(self.number()?)));
        }
        if self.word("assert") {
            self.uses("old: assert N");
            return Ok(Some(Bound::Assert(self.number()?)));
        }
        Ok(None)
    }

    fn event(&mut self) -> Read<()> {
        let name = self.name()?;
        if let Some(bound) = self.bound()? {
            self.program.bounds.insert(name, bound);
        }
        if self.sign(":") {
            self.uses("event with a payload");
            self.a_type()?;
        } else {
            self.uses("event without a payload");
        }
        self.program.constants.insert(name, Value::Event(name));
        self.want(";")
    }

    fn event_set(&mut self) -> Read<()> {
        self.uses("eventset");
        let name = self.name()?;
        self.want("=")?;
        self.want("{")?;
        let names = self.names()?;
        self.want("}")?;
        self.program.sets.insert(name, names);
        self.want(";")
    }

    /// Events, or names of sets of them.
    pub(super) fn events(&mut self) -> Read<BTreeSet<Name>> {
        let mut all = BTreeSet::new();
        for name in self.names()? {
            match self.program.sets.get(&name) {
                Some(events) => all.extend(events),
                None => _ = all.insert(name),
            }
        }
        Ok(all)
    }

    fn interface(&mut self) -> Read<()> {
        self.uses("interface");
        let name = self.name()?;
        self.want("(")?;
        if !self.sign(")") {
            self.a_type()?;
            self.want(")")?;
        }
        self.want_word("receives")?;
        let events = if self.is_sign(";") { BTreeSet::new() } else { self.events()? };
        self.program.interfaces.insert(name, events);
        self.program.types.insert(name, Definition::Reference);
        self.want(";")
    }

    fn module_declaration(&mut self) -> Read<()> {
        self.uses("module");
        let name = self.name()?;
        self.want("=")?;
        let module = self.module()?;
        self.program.modules.insert(name, module);
        self.want(";")
    }

    fn test(&mut self, word: &str) -> Read<()> {
        self.uses(word);
        let name = self.name()?;
        let mut main = None;
        if self.sign("[") {
            self.want_word("main")?;
            self.want("=")?;
            main = Some(self.name()?);
            self.want("]")?;
        }
        self.want(":")?;
        if self.program.old && self.word("main") {
            self.uses("old: main M in");
            main = Some(self.name()?);
            self.want_word("in")?;
        }
        let module = self.module()?;
        let main = main.ok_or("a test without a main machine")?;
        self.program.tests.insert(name, Test { main, module });
        self.want(";")
    }

    fn module(&mut self) -> Read<Module> {
        if self.sign("(") {
            let module = self.module()?;
            self.want(")")?;
            return Ok(module);
        }
        if self.sign("{") {
            return self.bindings();
        }
        if self.word("assert") {
            self.uses("assert .. in");
            let specs = self.names()?;
            self.want_word("in")?;
            return Ok(Module::Attach(specs, Box::new(self.module()?)));
        }
        let union = self.is_word("union");
        if self.word("union") || self.word("compose") {
            self.uses(if union { "union" } else { "compose" });
            let mut parts = vec![self.module()?];
            while self.sign(",") {
                parts.push(self.module()?);
            }
            return Ok(Module::Union(parts));
        }
        self.uses("module by name");
        self.name().map(Module::Called)
    }

    fn bindings(&mut self) -> Read<Module> {
        let mut all = Vec::new();
        while !self.sign("}") {
            let left = self.name()?;
            if self.sign("->") {
                self.uses(if self.program.old { "old: interface -> machine" } else { "machine -> interface" });
                let right = self.name()?;
                all.push(if self.program.old { (left, right) } else { (right, left) });
            } else {
                self.uses("bound to itself");
                all.push((left, left));
            }
            if !self.sign(",") && !self.is_sign("}") {
                return self.fail("}");
            }
        }
        Ok(Module::Bind(all))
    }

    fn global_function(&mut self) -> Read<()> {
        self.uses("global function");
        self.inside = false;
        let function = self.function()?;
        self.program.globals.extend(function);
        Ok(())
    }

    pub(super) fn new_block(&mut self, statements: Vec<usize>) -> BlockId {
        self.program.blocks.push(statements);
        self.program.blocks.len() - 1
    }
}

//! The grammar of both dialects.
//!
//! One parser reads the union of them and notes where it meets something that only one has; which dialect a project is
//! written in is decided afterwards. After an error it goes on with the next statement or declaration.

use super::syntax::{
    Action, Bound, Enumeration, Event, EventSet, Expression, Field, Function, Interface, Name, Particular, Place,
    Project, Type, TypeDeclaration, TypeForm,
};
use super::token::{Kind, Token};
use crate::diagnostic::{Diagnostic, Sink, quote};

mod cursor;
mod expressions;
mod machines;
mod modules;
mod statements;

type Fallible<T> = Result<T, Diagnostic>;

/// How deep statements, expressions and types may be nested: enough for people and for generated programs, not for the
/// stack.
const DEEPEST: usize = 200;

/// Words that cannot be names.
const KEYWORDS: &[&str] = &[
    "announce",
    "any",
    "as",
    "assert",
    "bool",
    "break",
    "case",
    "cold",
    "continue",
    "data",
    "default",
    "defer",
    "do",
    "else",
    "entry",
    "enum",
    "event",
    "eventset",
    "exit",
    "false",
    "float",
    "foreach",
    "format",
    "fun",
    "goto",
    "halt",
    "hot",
    "if",
    "ignore",
    "in",
    "int",
    "interface",
    "keys",
    "machine",
    "map",
    "module",
    "new",
    "null",
    "observes",
    "on",
    "print",
    "raise",
    "receive",
    "return",
    "send",
    "seq",
    "set",
    "sizeof",
    "spec",
    "start",
    "state",
    "string",
    "this",
    "to",
    "true",
    "type",
    "values",
    "var",
    "while",
    "with",
];

/// What begins a declaration.
const DECLARATIONS: &[&str] = &[
    "type",
    "enum",
    "event",
    "eventset",
    "interface",
    "machine",
    "spec",
    "scenario",
    "fun",
    "module",
    "test",
    "implementation",
    "param",
];

pub(super) struct Parser<'a, 's> {
    tokens: Vec<Token<'a>>,
    at: usize,
    depth: usize,
    project: &'s mut Project,
    sink: &'s mut Sink,
}

impl<'a, 's> Parser<'a, 's> {
    pub(super) fn new(tokens: Vec<Token<'a>>, project: &'s mut Project, sink: &'s mut Sink) -> Self {
        Self { tokens, at: 0, depth: 0, project, sink }
    }

    /// All declarations of a source.
    pub(super) fn source(mut self) {
        while self.now().kind != Kind::End {
            let before = self.at;
            if let Err(error) = self.declaration() {
                self.sink.push(error);
                self.recover_outside(before);
            }
        }
    }

    fn declaration(&mut self) -> Fallible<()> {
        let token = self.now();
        if self.deductive()? {
            return Ok(());
        }
        match token.text {
            "type" => self.type_declaration()?,
            "enum" => self.enumeration()?,
            "event" => self.event()?,
            "eventset" => self.event_set()?,
            "interface" => self.interface()?,
            "machine" | "spec" | "scenario" => {
                let machine = self.machine()?;
                self.project.machines.push(machine);
            }
            "fun" => {
                let function = self.function()?;
                self.project.functions.push(function);
            }
            "module" => self.module()?,
            "test" | "implementation" => self.test()?,
            "param" => self.parameters_of_tests()?,
            _ => return Err(self.unexpected("a declaration")),
        }
        Ok(())
    }

    /// Passes over what only the deductive back end of P reads.
    fn deductive(&mut self) -> Fallible<bool> {
        let (token, next) = (self.now(), self.peek());
        let named = next.kind == Kind::Word;
        let has_block = matches!(token.text, "Lemma" | "Theorem" | "Proof") && (named || next.kind == Kind::OpenBrace);
        let has_line = matches!(token.text, "pure" | "axiom" | "invariant") && named
            || token.is("axiom")
            || token.is("init") && next.kind == Kind::Minus;
        if !has_block && !has_line {
            return Ok(false);
        }
        self.project.deductive.get_or_insert(token.place);
        if has_block {
            while self.now().kind != Kind::OpenBrace && self.now().kind != Kind::End {
                self.next();
            }
            self.pass_block()?;
        } else {
            self.pass_line()?;
        }
        Ok(true)
    }

    fn type_declaration(&mut self) -> Fallible<()> {
        self.next();
        let name = self.name("the name of a type")?;
        let meaning = if self.take(Kind::Becomes) { Some(self.type_()?) } else { None };
        self.semicolon()?;
        self.project.types.push(TypeDeclaration { name, meaning });
        Ok(())
    }

    fn enumeration(&mut self) -> Fallible<()> {
        self.next();
        let name = self.name("the name of an enumeration")?;
        self.expect(Kind::OpenBrace, "`{` and the constants")?;
        let mut constants = Vec::new();
        loop {
            let constant = self.name("a constant")?;
            let number = if self.take(Kind::Becomes) { Some(self.signed()?) } else { None };
            constants.push((constant, number));
            if !self.take(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::CloseBrace, "`,` or `}`")?;
        self.project.enums.push(Enumeration { name, constants });
        Ok(())
    }

    fn signed(&mut self) -> Fallible<i64> {
        let negative = self.take(Kind::Minus);
        let number = self.integer("a number")?;
        Ok(if negative { -number } else { number })
    }

    /// `assume N` or `assert N`, of the old dialect.
    fn bound(&mut self) -> Fallible<Option<Bound>> {
        let token = self.now();
        if !(token.is("assume") || token.is("assert")) {
            return Ok(None);
        }
        self.particular(true, "a bound on the number of instances", token.place);
        self.next();
        let number = self.integer("the largest number")?;
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        Ok(Some(if token.text == "assume" { Bound::Assume(number) } else { Bound::Assert(number) }))
    }

    fn event(&mut self) -> Fallible<()> {
        self.next();
        let name = self.name("the name of an event")?;
        let bound = self.bound()?;
        let payload = if self.take(Kind::Colon) { Some(self.type_()?) } else { None };
        self.semicolon()?;
        self.project.events.push(Event { name, bound, payload });
        Ok(())
    }

    fn event_set(&mut self) -> Fallible<()> {
        self.next();
        let name = self.name("the name of a set of events")?;
        self.expect(Kind::Becomes, "`=` and `{`")?;
        self.expect(Kind::OpenBrace, "`{` and events")?;
        let events = self.events_before(Kind::CloseBrace)?;
        self.expect(Kind::CloseBrace, "`,` or `}`")?;
        self.semicolon()?;
        self.project.sets.push(EventSet { name, events });
        Ok(())
    }

    fn interface(&mut self) -> Fallible<()> {
        self.next();
        let name = self.name("the name of an interface")?;
        self.expect(Kind::Open, "`(` and perhaps a type")?;
        let payload = if self.now().kind == Kind::Close { None } else { Some(self.type_()?) };
        self.expect(Kind::Close, "`)`")?;
        let receives = if self.word("receives") { Some(self.events_before(Kind::Semicolon)?) } else { None };
        self.semicolon()?;
        self.project.interfaces.push(Interface { name, payload, receives });
        Ok(())
    }

    fn parameters_of_tests(&mut self) -> Fallible<()> {
        let token = self.next();
        self.particular(false, "`param`", token.place);
        let fields = self.fields()?;
        self.semicolon()?;
        self.project.parameters.extend(fields);
        Ok(())
    }

    /// `x, y: T`.
    fn fields(&mut self) -> Fallible<Vec<Field>> {
        let names = self.names()?;
        self.expect(Kind::Colon, "`:` and the type")?;
        let kind = self.type_()?;
        Ok(names.into_iter().map(|name| Field { name, kind: kind.clone() }).collect())
    }

    fn type_(&mut self) -> Fallible<Type> {
        self.nested(|parser| {
            let token = parser.now();
            let form = match token.text {
                "seq" => TypeForm::Seq(Box::new(parser.element()?)),
                "set" => {
                    parser.particular(false, "a set", token.place);
                    TypeForm::Set(Box::new(parser.element()?))
                }
                "map" => {
                    parser.next();
                    parser.expect(Kind::OpenBracket, "`[` and the type of the keys")?;
                    let key = parser.type_()?;
                    parser.expect(Kind::Comma, "`,` and the type of the values")?;
                    let value = parser.type_()?;
                    parser.expect(Kind::CloseBracket, "`]`")?;
                    TypeForm::Map(Box::new(key), Box::new(value))
                }
                "(" => parser.tuple_type()?,
                "any" | "bool" | "data" | "event" | "float" | "int" | "machine" | "string" => {
                    TypeForm::Named(parser.next().text.to_owned())
                }
                _ => TypeForm::Named(parser.name("a type")?.text),
            };
            Ok(Type { place: token.place.to(parser.before().place), form })
        })
    }

    /// `seq[T]`.
    fn element(&mut self) -> Fallible<Type> {
        self.next();
        self.expect(Kind::OpenBracket, "`[` and the type of the elements")?;
        let element = self.type_()?;
        self.expect(Kind::CloseBracket, "`]`")?;
        Ok(element)
    }

    /// `(T, U)` or `(x: T, y: U)`.
    fn tuple_type(&mut self) -> Fallible<TypeForm> {
        self.next();
        let named = self.now().kind == Kind::Word && self.peek().kind == Kind::Colon;
        let (mut types, mut names) = (Vec::new(), Vec::new());
        while self.now().kind != Kind::Close || types.is_empty() {
            if named {
                names.push(self.name("the name of a field")?);
                self.expect(Kind::Colon, "`:` and its type")?;
            }
            types.push(self.type_()?);
            if !self.take(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::Close, "`,` or `)`")?;
        Ok(if named { TypeForm::Record(names.into_iter().zip(types).collect()) } else { TypeForm::Tuple(types) })
    }
}

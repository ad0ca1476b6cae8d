//! What P programs are made of, as they are written.

use std::ops::Range;

use tepui_model::queue::Binary;

use crate::diagnostic::Diagnostic;

/// A place in one of the sources of a project.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub(super) struct Place {
    pub(super) source: u32,
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Place {
    /// Sources are shorter than 4 GiB: longer ones are refused before.
    pub(super) fn new(source: usize, span: Range<usize>) -> Self {
        Self { source: source as u32, start: span.start as u32, end: span.end as u32 }
    }

    pub(super) fn span(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// From here to another place of the same source.
    pub(super) fn to(self, other: Self) -> Self {
        Self { end: other.end.max(self.end), ..self }
    }

    pub(super) fn error(self, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        Diagnostic::error(self.source as usize, self.span(), message, label)
    }

    pub(super) fn warning(self, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        Diagnostic::warning(self.source as usize, self.span(), message, label)
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) place: Place,
}

/// Everything that is declared in a project, in the order of its sources.
#[derive(Default, Debug)]
pub(super) struct Project {
    pub(super) types: Vec<TypeDeclaration>,
    pub(super) enums: Vec<Enumeration>,
    pub(super) events: Vec<Event>,
    pub(super) sets: Vec<EventSet>,
    pub(super) interfaces: Vec<Interface>,
    pub(super) machines: Vec<Machine>,
    pub(super) functions: Vec<Function>,
    pub(super) parameters: Vec<Field>,
    pub(super) modules: Vec<(Name, ModuleExpression)>,
    pub(super) tests: Vec<Test>,
    /// Constructs that only one of the dialects has.
    pub(super) particular: Vec<Particular>,
    /// Where something is that only the deductive back end of P reads.
    pub(super) deductive: Option<Place>,
}

/// A construct that only one of the dialects has.
#[derive(Clone, Debug)]
pub(super) struct Particular {
    pub(super) old: bool,
    pub(super) what: &'static str,
    pub(super) place: Place,
}

/// `type T = U;` or, for a foreign type, `type T;`.
#[derive(Debug)]
pub(super) struct TypeDeclaration {
    pub(super) name: Name,
    pub(super) meaning: Option<Type>,
}

#[derive(Debug)]
pub(super) struct Enumeration {
    pub(super) name: Name,
    /// The constants; all of them have numbers or none.
    pub(super) constants: Vec<(Name, Option<i64>)>,
}

/// How many there may be, in the old dialect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Bound {
    Assume(u32),
    Assert(u32),
}

#[derive(Debug)]
pub(super) struct Event {
    pub(super) name: Name,
    pub(super) bound: Option<Bound>,
    pub(super) payload: Option<Type>,
}

#[derive(Debug)]
pub(super) struct EventSet {
    pub(super) name: Name,
    pub(super) events: Vec<Name>,
}

#[derive(Debug)]
pub(super) struct Interface {
    pub(super) name: Name,
    pub(super) payload: Option<Type>,
    pub(super) receives: Option<Vec<Name>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    Machine,
    Spec,
    Scenario,
}

#[derive(Debug)]
pub(super) struct Machine {
    pub(super) role: Role,
    pub(super) name: Name,
    pub(super) bound: Option<Bound>,
    pub(super) receives: Option<Vec<Name>>,
    pub(super) sends: Option<Vec<Name>>,
    /// Of a spec.
    pub(super) observes: Vec<Name>,
    pub(super) variables: Vec<Field>,
    pub(super) functions: Vec<Function>,
    pub(super) states: Vec<State>,
}

/// A name with a type.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: Name,
    pub(super) kind: Type,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Temperature {
    Hot,
    Cold,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) name: Name,
    pub(super) start: bool,
    pub(super) temperature: Option<(Temperature, Place)>,
    pub(super) items: Vec<(Item, Place)>,
}

/// What stands in a state.
#[derive(Debug)]
pub(super) enum Item {
    Entry(Handler),
    Exit(Handler),
    Defer(Vec<Name>),
    Ignore(Vec<Name>),
    Do(Vec<Name>, Handler),
    Goto(Vec<Name>, Name, Option<Handler>),
    Push(Vec<Name>, Name),
}

#[derive(Debug)]
pub(super) enum Handler {
    Named(Name),
    Written(Box<Function>),
}

/// A function, or a handler without a name.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: Name,
    pub(super) parameters: Vec<Field>,
    pub(super) result: Option<Type>,
    pub(super) creates: Vec<Name>,
    /// None for a foreign one.
    pub(super) body: Option<Body>,
}

#[derive(Debug)]
pub(super) struct Body {
    pub(super) locals: Vec<Field>,
    pub(super) statements: Vec<Statement>,
    /// The brace that ends it.
    pub(super) end: Place,
}

#[derive(Debug)]
pub(super) struct Statement {
    pub(super) place: Place,
    pub(super) action: Action,
}

#[derive(Debug)]
pub(super) enum Action {
    Nothing,
    Block(Vec<Statement>),
    Assign(Expression, Expression),
    /// `s += (i, e);`
    Insert(Expression, Expression, Expression),
    /// `s += (e);`
    Add(Expression, Expression),
    /// `s -= e;`
    Remove(Expression, Expression),
    If(Expression, Box<Statement>, Option<Box<Statement>>),
    While(Expression, Box<Statement>),
    Foreach(Name, Expression, Box<Statement>),
    Break,
    Continue,
    Return(Option<Expression>),
    Call(Name, Vec<Expression>),
    New(Name, Vec<Expression>),
    Send(Expression, Expression, Vec<Expression>),
    Announce(Expression, Vec<Expression>),
    Raise(Expression, Vec<Expression>),
    Goto(Name, Vec<Expression>),
    Pop,
    Receive(Vec<(Vec<Name>, Function)>),
    Assert(Expression, Option<Expression>),
    Assume(Expression, Option<Expression>),
    Print(Expression),
}

#[derive(Clone, Debug)]
pub(super) struct Type {
    pub(super) place: Place,
    pub(super) form: TypeForm,
}

#[derive(Clone, Debug)]
pub(super) enum TypeForm {
    /// A word of the language or a declared name.
    Named(String),
    Tuple(Vec<Type>),
    Record(Vec<(Name, Type)>),
    Seq(Box<Type>),
    Set(Box<Type>),
    Map(Box<Type>, Box<Type>),
}

#[derive(Clone, Debug)]
pub(super) struct Expression {
    pub(super) place: Place,
    pub(super) form: Form,
}

#[derive(Clone, Debug)]
pub(super) enum Form {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Null,
    This,
    Name(String),
    /// `$`, or `$$`, which is fair.
    Either {
        fair: bool,
    },
    Choose(Option<Box<Expression>>),
    Field(Box<Expression>, Name),
    Item(Box<Expression>, usize),
    Index(Box<Expression>, Box<Expression>),
    Call(Name, Vec<Expression>),
    New(Name, Vec<Expression>),
    Not(Box<Expression>),
    Minus(Box<Expression>),
    Binary(Binary, Box<Expression>, Box<Expression>),
    Cast(Box<Expression>, Type),
    Convert(Box<Expression>, Type),
    Keys(Box<Expression>),
    Values(Box<Expression>),
    Size(Box<Expression>),
    Default(Type),
    Tuple(Vec<Expression>),
    Record(Vec<(Name, Expression)>),
    Format(Name, Vec<Expression>),
}

#[derive(Debug)]
pub(super) struct ModuleExpression {
    pub(super) place: Place,
    pub(super) form: ModuleForm,
}

#[derive(Debug)]
pub(super) enum ModuleForm {
    Named(String),
    /// Names left and right of the arrows; one name stands for itself.
    Bindings(Vec<(Name, Option<Name>)>),
    Union(Vec<ModuleExpression>),
    Assert(Vec<Name>, Box<ModuleExpression>),
    /// `main M in m` of the old dialect.
    Main(Name, Box<ModuleExpression>),
    /// What is known and not supported.
    Unsupported(&'static str),
}

#[derive(Debug)]
pub(super) struct Test {
    pub(super) name: Name,
    pub(super) main: Option<Name>,
    pub(super) module: ModuleExpression,
    pub(super) implementation: bool,
    pub(super) refines: Option<Place>,
    pub(super) parametric: Option<Parametric>,
}

/// `param (x in [1, 2]) assume (e) (2 wise)`.
#[derive(Debug)]
pub(super) struct Parametric {
    pub(super) values: Vec<(Name, Vec<Expression>)>,
    pub(super) assume: Option<Expression>,
    pub(super) wise: Option<(u32, Place)>,
}

//! A program as its text says it: declarations by name, statements and expressions in tables, so that a place in the
//! text is a number. Nothing is compiled: machines stand at places in this tree.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::values::Value;

/// A word of the text, by its number among the words.
pub(super) type Name = u32;

/// The event `null`, which no queue has.
pub(super) const NULL: Name = 0;

/// The event that ends a machine.
pub(super) const HALT: Name = 1;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Type {
    Bool,
    Int,
    Float,
    Text,
    Event,
    Machine,
    Any,
    Called(Name),
    Tuple(Vec<Type>),
    Named(Vec<(Name, Type)>),
    Seq(Box<Type>),
    Set(Box<Type>),
    Map(Box<Type>, Box<Type>),
}

/// What a name of a type stands for.
#[derive(Clone, Debug)]
pub(super) enum Definition {
    Other(Type),
    /// An enumeration: its numbers.
    Enum(Vec<i64>),
    Reference,
    Foreign,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operator {
    Times,
    Over,
    Rest,
    Plus,
    Minus,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    Equal,
    Unequal,
    And,
    Or,
}

pub(super) type ExprId = usize;

#[derive(Clone, Debug)]
pub(super) enum Expr {
    Constant(Value),
    Name(Name),
    This,
    /// `$`, or `$$` if it is fair.
    Either(bool),
    Choose(ExprId),
    Field(ExprId, Name),
    Position(ExprId, usize),
    Index(ExprId, ExprId),
    Call(Name, Vec<ExprId>),
    New(Name, Vec<ExprId>),
    Negative(ExprId),
    Not(ExprId),
    Binary(Operator, ExprId, ExprId),
    Cast(ExprId, Type),
    Convert(ExprId, Type),
    Size(ExprId),
    Keys(ExprId),
    Values(ExprId),
    Default(Type),
    Tuple(Vec<ExprId>),
    Named(Rc<[Name]>, Vec<ExprId>),
    Format(String, Vec<ExprId>),
}

/// A place that can be assigned to: a variable, and the way into it. Indices are evaluated with the statement, in order.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) variable: Name,
    pub(super) way: Vec<Access>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Access {
    Field(Name),
    Position(usize),
    Index,
}

pub(super) type BlockId = usize;
pub(super) type StmtId = usize;

/// A statement, with the expressions that are evaluated before anything else happens.
#[derive(Clone, Debug)]
pub(super) struct Stmt {
    pub(super) what: What,
    pub(super) exprs: Vec<ExprId>,
    /// What is done before the rest of the expressions reads variables, in order.
    pub(super) effects: Vec<ExprId>,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    Declare(Vec<Name>, Type),
    Assign(Place),
    Insert(Place),
    Add(Place),
    Remove(Place),
    Block(BlockId),
    If(BlockId, Option<BlockId>),
    While(BlockId),
    Foreach(Name, BlockId),
    Break,
    Continue,
    Return,
    /// A call or `new` whose value nobody wants.
    Do,
    Send,
    Announce,
    Raise,
    Goto(Name),
    Pop,
    Receive(Vec<Case>),
    Assert,
    Assume,
    Print,
}

#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) events: Vec<Name>,
    pub(super) parameter: Option<Name>,
    pub(super) body: BlockId,
}

#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) parameters: Vec<Name>,
    pub(super) body: BlockId,
    /// Whether it sees the variables of a machine.
    pub(super) inside: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Action {
    Do(Handler),
    Goto(Name, Option<Handler>),
    Push(Name),
    Defer,
    Ignore,
}

/// A function where events are handled: written there, or by name.
#[derive(Clone, Copy, Debug)]
pub(super) enum Handler {
    Here(usize),
    Called(Name),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Temperature {
    Hot,
    Cold,
}

#[derive(Clone, Debug, Default)]
pub(super) struct StateOf {
    pub(super) entry: Option<Handler>,
    pub(super) exit: Option<Handler>,
    pub(super) actions: BTreeMap<Name, Action>,
    pub(super) temperature: Option<Temperature>,
}

/// A bound of the old dialect.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bound {
    Assume(usize),
    Assert(usize),
}

/// What a declaration with states is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sort {
    Machine,
    Spec,
    Scenario,
}

#[derive(Clone, Debug)]
pub(super) struct Kind {
    pub(super) name: Name,
    pub(super) sort: Sort,
    pub(super) variables: Vec<(Name, Type)>,
    pub(super) functions: BTreeMap<Name, usize>,
    pub(super) states: BTreeMap<Name, StateOf>,
    pub(super) start: Name,
    pub(super) observes: BTreeSet<Name>,
    pub(super) receives: Option<BTreeSet<Name>>,
    pub(super) sends: Option<BTreeSet<Name>>,
    pub(super) bound: Option<Bound>,
}

#[derive(Clone, Debug)]
pub(super) enum Module {
    /// What is made where a name is created: name and machine.
    Bind(Vec<(Name, Name)>),
    Union(Vec<Module>),
    Attach(Vec<Name>, Box<Module>),
    Called(Name),
}

#[derive(Clone, Debug)]
pub(super) struct Test {
    pub(super) main: Name,
    pub(super) module: Module,
}

/// A text that was read.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub(super) old: bool,
    pub(super) words: Vec<String>,
    pub(super) types: BTreeMap<Name, Definition>,
    /// Constants of enumerations, and events.
    pub(super) constants: BTreeMap<Name, Value>,
    pub(super) bounds: BTreeMap<Name, Bound>,
    pub(super) sets: BTreeMap<Name, Vec<Name>>,
    pub(super) interfaces: BTreeMap<Name, BTreeSet<Name>>,
    pub(super) kinds: Vec<Kind>,
    pub(super) globals: BTreeMap<Name, usize>,
    /// Functions that are written elsewhere, with the types of their results.
    pub(super) foreign: BTreeMap<Name, Option<Type>>,
    pub(super) functions: Vec<Function>,
    pub(super) blocks: Vec<Vec<StmtId>>,
    pub(super) stmts: Vec<Stmt>,
    pub(super) exprs: Vec<Expr>,
    pub(super) modules: BTreeMap<Name, Module>,
    pub(super) tests: BTreeMap<Name, Test>,
    /// Whether something depends on the order of sets and maps.
    pub(super) ordered: bool,
    /// The handlers that were used: a kind, a state and an event.
    pub(super) handled: RefCell<BTreeSet<(usize, Name, Name)>>,
}

impl Program {
    /// Whether texts are made that are not only told.
    pub(super) fn keeps_texts(&self) -> bool {
        let told = self.stmts.iter().filter(|stmt| matches!(stmt.what, What::Assert | What::Assume | What::Print));
        let told: BTreeSet<_> = told.filter_map(|stmt| stmt.exprs.last()).collect();
        let texts = (0..self.exprs.len()).filter(|&number| matches!(self.exprs[number], Expr::Format(..)));
        texts.into_iter().any(|number| !told.contains(&number))
    }

    pub(super) fn kind(&self, name: Name) -> Option<usize> {
        self.kinds.iter().position(|kind| kind.name == name)
    }

    /// What an expression does before its rest reads variables, in order: calls, new machines and choices. An operator
    /// that may leave out its second operand counts as a whole if that operand does something.
    pub(super) fn effects(&self, id: ExprId, found: &mut Vec<ExprId>) {
        use Expr::{Binary, Call, Choose, Either, New};
        if let Binary(Operator::And | Operator::Or, left, right) = self.exprs[id] {
            self.effects(left, found);
            let mut inner = Vec::new();
            self.effects(right, &mut inner);
            found.extend((!inner.is_empty()).then_some(id));
            return;
        }
        for part in self.parts(id) {
            self.effects(part, found);
        }
        if matches!(self.exprs[id], Either(_) | Choose(_) | Call(..) | New(..)) {
            found.push(id);
        }
    }

    /// The expressions directly inside one.
    fn parts(&self, id: ExprId) -> Vec<ExprId> {
        use Expr::{
            Binary, Call, Cast, Choose, Constant, Convert, Default, Either, Field, Format, Index, Keys, Named,
            Negative, New, Not, Position, Size, This, Tuple, Values,
        };
        match &self.exprs[id] {
            Constant(_) | Expr::Name(_) | This | Either(_) | Default(_) => Vec::new(),
            Choose(one) | Field(one, _) | Position(one, _) | Negative(one) | Not(one) => vec![*one],
            Cast(one, _) | Convert(one, _) | Size(one) | Keys(one) | Values(one) => vec![*one],
            Index(one, two) | Binary(_, one, two) => vec![*one, *two],
            Call(_, all) | New(_, all) | Tuple(all) | Named(_, all) | Format(_, all) => all.clone(),
        }
    }
}

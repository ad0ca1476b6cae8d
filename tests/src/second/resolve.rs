//! From the tree to a program: names are looked up, labels become paths, and `*` gets the values that fit its place.

use std::collections::{BTreeMap, BTreeSet};

use super::Dialect;
use super::position::{atomic_blocks, gets_to_end};
use super::program::{self, Path, Program, Set, Slot, Step, Term};
use super::tree::{Action, Block, Expression, Initial, Kind, Operator, Procedure, Tree, Variable};

type Resolved<T> = Result<T, String>;

/// Reads the names of a tree.
pub(super) fn resolve(tree: &Tree, dialect: Dialect) -> Resolved<Program> {
    let global = Scope { tree, dialect, procedure: None, labels: BTreeMap::new(), asserts: BTreeMap::new() };
    let shared = tree.shared.iter().map(|variable| global.initial(variable)).collect::<Resolved<_>>()?;
    let (mut procedures, mut properties) = (Vec::new(), Vec::new());
    for procedure in &tree.procedures {
        let (procedure, names) = resolve_procedure(tree, dialect, procedure)?;
        procedures.push(procedure);
        properties.extend(names);
    }
    let number = |name: &str| tree.procedures.iter().position(|procedure| procedure.name == name);
    let (first, then) = match (dialect, number("init")) {
        (Dialect::Getafix, init) => {
            let roots = uncalled(tree).filter(|procedure| procedure.name != "init");
            let roots = roots.filter_map(|procedure| number(&procedure.name)).collect();
            match init {
                Some(init) => (vec![init], roots),
                None => (roots, Vec::new()),
            }
        }
        _ => (vec![number("main").ok_or("there is no main")?], Vec::new()),
    };
    let begins_with_a_call = dialect == Dialect::Getafix && number("init").is_some();
    Ok(Program { shared, procedures, first, then, begins_with_a_call, properties })
}

/// The procedures that no procedure calls or starts.
pub(super) fn uncalled(tree: &Tree) -> impl Iterator<Item = &Procedure> {
    let called = |name: &str| tree.procedures.iter().any(|procedure| calls(&procedure.body, name));
    tree.procedures.iter().filter(move |procedure| !called(&procedure.name))
}

/// Whether a procedure is called or started in a block.
pub(super) fn calls(block: &Block, name: &str) -> bool {
    has(block, &|action| match action {
        Action::Call { callee, .. } | Action::Start { callee, .. } => callee == name,
        _ => false,
    })
}

/// Whether there is a statement in a block that ends the thread.
pub(super) fn ends_thread(block: &Block) -> bool {
    has(block, &|action| matches!(action, Action::Exit))
}

/// Whether there is a call in a block that wants none of several results, or of one.
pub(super) fn drops_results(block: &Block, tree: &Tree) -> bool {
    let returns = |name: &str| tree.procedures.iter().any(|callee| callee.name == name && !callee.results.is_empty());
    has(
        block,
        &|action| matches!(action, Action::Call { targets, callee, .. } if targets.is_empty() && returns(callee)),
    )
}

fn has(block: &Block, wanted: &impl Fn(&Action) -> bool) -> bool {
    let in_blocks = |action| blocks(action).into_iter().any(|block| has(block, wanted));
    block.statements.iter().any(|statement| wanted(&statement.action) || in_blocks(&statement.action))
}

/// A variable is assigned once at a time.
fn once<'a>(targets: impl IntoIterator<Item = &'a String>) -> Resolved<()> {
    let mut seen = BTreeSet::new();
    match targets.into_iter().find(|name| !seen.insert(name.as_str())) {
        Some(name) => Err(format!("{name} is assigned twice at a time")),
        None => Ok(()),
    }
}

fn blocks(action: &Action) -> Vec<&Block> {
    match action {
        Action::If(_, yes, no) => vec![yes, no],
        Action::While(_, block) | Action::Atomic(block) => vec![block],
        _ => Vec::new(),
    }
}

/// All labels in a block, with their paths.
pub(super) fn labels(block: &Block, before: &[u16], found: &mut Vec<(String, Path)>) {
    for (index, statement) in block.statements.iter().enumerate() {
        let path = [before, &[index as u16]].concat();
        found.extend(statement.labels.iter().map(|label| (label.clone(), path.clone())));
        for (branch, inner) in blocks(&statement.action).into_iter().enumerate() {
            labels(inner, &[path.as_slice(), &[branch as u16]].concat(), found);
        }
    }
    let end = [before, &[block.statements.len() as u16]].concat();
    found.extend(block.last.iter().map(|label| (label.clone(), end.clone())));
}

fn resolve_procedure(
    tree: &Tree,
    dialect: Dialect,
    procedure: &Procedure,
) -> Resolved<(program::Procedure, Vec<String>)> {
    let mut found = Vec::new();
    labels(&procedure.body, &[], &mut found);
    let mut paths = BTreeMap::new();
    for (label, path) in found {
        if paths.insert(label.clone(), path.clone()).is_some_and(|other| other != path) {
            return Err(format!("{}: there are two labels {label}", procedure.name));
        }
    }
    let mut scope = Scope { tree, dialect, procedure: Some(procedure), labels: paths, asserts: BTreeMap::new() };
    let parameters = procedure.parameters.iter().map(|parameter| scope.all(&parameter.kind));
    let locals = procedure.locals.iter().map(|local| scope.initial(local));
    let locals = parameters.chain(locals).collect::<Resolved<_>>()?;
    let results = procedure.results.iter().map(|kind| scope.all(kind)).collect::<Resolved<_>>()?;
    let enforced = procedure.enforced.iter().map(|condition| scope.truth(condition)).collect::<Resolved<_>>()?;
    let mut properties = Vec::new();
    let body = scope.block(&procedure.body, &mut properties)?;
    check_jumps(&body, &body, &[])?;
    if !procedure.results.is_empty() && gets_to_end(&body) {
        return Err(format!("{}: a way through it does not end with return", procedure.name));
    }
    let parameters = procedure.parameters.len();
    Ok((program::Procedure { parameters, locals, results, enforced, body }, properties))
}

/// No jump leads into an atomic block, and no thread starts inside one.
fn check_jumps(body: &program::Block, block: &program::Block, before: &[u16]) -> Resolved<()> {
    for (index, statement) in block.statements.iter().enumerate() {
        let path = [before, &[index as u16]].concat();
        let fits = match &statement.step {
            Step::Goto(targets) => {
                targets.iter().all(|target| atomic_blocks(body, target).all(|block| path.starts_with(block)))
            }
            Step::StartAt(target) => atomic_blocks(body, target).next().is_none(),
            _ => true,
        };
        if !fits {
            return Err("a jump leads into an atomic block".to_owned());
        }
        for (branch, inner) in statement.step.blocks().iter().enumerate() {
            check_jumps(body, inner, &[path.as_slice(), &[branch as u16]].concat())?;
        }
    }
    Ok(())
}

/// What names mean in a procedure.
struct Scope<'a> {
    tree: &'a Tree,
    dialect: Dialect,
    procedure: Option<&'a Procedure>,
    labels: BTreeMap<String, Path>,
    /// How many assertions there are on each line.
    asserts: BTreeMap<usize, usize>,
}

impl Scope<'_> {
    fn values_of(&self, enumeration: &str) -> Resolved<&Vec<String>> {
        let found = self.tree.enumerations.iter().find(|(name, _)| name == enumeration);
        found.map(|(_, values)| values).ok_or_else(|| format!("no enumeration is called {enumeration}"))
    }

    /// All values of a kind.
    fn all(&self, kind: &Kind) -> Resolved<Set> {
        Ok(match kind {
            Kind::Boolean => 0b11,
            Kind::Enumeration(name) => (1 << self.values_of(name)?.len()) - 1,
        })
    }

    /// What a variable may be at first.
    fn initial(&self, variable: &Variable) -> Resolved<Set> {
        match &variable.initial {
            Initial::Unsaid if self.dialect.braces() => Ok(1),
            Initial::Unsaid => self.all(&variable.kind),
            Initial::Value(value) => match self.term(value, &variable.kind)? {
                Term::Constant(value) => Ok(1 << value),
                Term::Any(set) => Ok(set),
                _ => Err(format!("{} is not a constant at first", variable.name)),
            },
        }
    }

    /// A variable and its kind. A local one hides a shared one.
    fn variable(&self, name: &str) -> Option<(Slot, &Kind)> {
        let local =
            self.procedure.into_iter().flat_map(|procedure| procedure.parameters.iter().chain(&procedure.locals));
        let local = local.enumerate().find(|(_, variable)| variable.name == name);
        let shared = self.tree.shared.iter().enumerate().find(|(_, variable)| variable.name == name);
        let local = local.map(|(index, variable)| (Slot::Local(index), &variable.kind));
        local.or_else(|| shared.map(|(index, variable)| (Slot::Shared(index), &variable.kind)))
    }

    fn target(&self, name: &str) -> Resolved<(Slot, &Kind)> {
        self.variable(name).ok_or_else(|| format!("no variable is called {name}"))
    }

    /// The enumeration that has a value, and its number there.
    fn constant(&self, name: &str) -> Option<(Kind, u8)> {
        self.tree.enumerations.iter().find_map(|(enumeration, values)| {
            let number = values.iter().position(|value| value == name)?;
            Some((Kind::Enumeration(enumeration.clone()), number as u8))
        })
    }

    /// What an expression is; unknown for `*`.
    fn kind(&self, expression: &Expression) -> Option<Kind> {
        match expression {
            Expression::Any => None,
            Expression::Name(name) | Expression::New(name) => match self.variable(name) {
                Some((_, kind)) => Some(kind.clone()),
                None => self.constant(name).map(|(kind, _)| kind),
            },
            Expression::Choice(parts) => self.kind(&parts[1]).or_else(|| self.kind(&parts[2])),
            _ => Some(Kind::Boolean),
        }
    }

    fn truth(&self, expression: &Expression) -> Resolved<Term> {
        self.term(expression, &Kind::Boolean)
    }

    /// An expression that has to be of a kind.
    fn term(&self, expression: &Expression, kind: &Kind) -> Resolved<Term> {
        if self.kind(expression).is_some_and(|own| own != *kind) {
            return Err(format!("{expression:?} is not {kind:?}"));
        }
        Ok(match expression {
            Expression::Constant(value) => Term::Constant(u8::from(*value)),
            Expression::Any => Term::Any(self.all(kind)?),
            Expression::New(name) => Term::New(self.target(name)?.0),
            Expression::Name(name) => match (self.variable(name), self.constant(name)) {
                (Some((slot, _)), _) => Term::Old(slot),
                (None, Some((_, number))) => Term::Constant(number),
                (None, None) => return Err(format!("no variable is called {name}")),
            },
            Expression::Not(inner) => Term::Not(Box::new(self.truth(inner)?)),
            Expression::Binary(operator, left, right) => {
                let compares = matches!(operator, Operator::Equal | Operator::Unequal);
                let of_operands = self.kind(left).or_else(|| self.kind(right)).filter(|_| compares);
                let of_operands = of_operands.unwrap_or(Kind::Boolean);
                let side = |side| self.term(side, &of_operands).map(Box::new);
                Term::Binary(*operator, side(left)?, side(right)?)
            }
            Expression::Choice(parts) => {
                let [condition, yes, no] = &**parts;
                Term::Choice(Box::new([self.truth(condition)?, self.term(yes, kind)?, self.term(no, kind)?]))
            }
            Expression::Schoose(parts) => Term::Schoose(Box::new([self.truth(&parts[0])?, self.truth(&parts[1])?])),
        })
    }

    fn block(&mut self, block: &Block, properties: &mut Vec<String>) -> Resolved<program::Block> {
        let mut statements = Vec::new();
        for statement in &block.statements {
            let step = self.step(&statement.action, statement.line, properties)?;
            statements.push(program::Statement { labels: statement.labels.clone(), step });
        }
        Ok(program::Block { statements, last: block.last.clone() })
    }

    fn step(&mut self, action: &Action, line: usize, properties: &mut Vec<String>) -> Resolved<Step> {
        Ok(match action {
            Action::Change { targets, values, constraint } => {
                once(targets)?;
                let targets = targets.iter().map(|name| self.target(name)).collect::<Resolved<Vec<_>>>()?;
                let values = values.iter().zip(&targets).map(|(value, (_, kind))| self.term(value, kind));
                let values = values.collect::<Resolved<_>>()?;
                let constraint = constraint.as_ref().map(|constraint| self.truth(constraint)).transpose()?;
                Step::Change { targets: targets.into_iter().map(|(slot, _)| slot).collect(), values, constraint }
            }
            Action::Call { targets, callee, arguments } => self.call(targets, callee, arguments)?,
            Action::Return(values) => {
                let results = self.procedure.map(|procedure| procedure.results.as_slice()).unwrap_or_default();
                if values.len() != results.len() {
                    return Err(format!("line {line}: another number of results is wanted"));
                }
                let values = values.iter().zip(results).map(|(value, kind)| self.term(value, kind));
                Step::Return(values.collect::<Resolved<_>>()?)
            }
            Action::If(condition, yes, no) => {
                let condition = self.truth(condition)?;
                Step::If(condition, Box::new([self.block(yes, properties)?, self.block(no, properties)?]))
            }
            Action::While(condition, block) => Step::While(self.truth(condition)?, self.block(block, properties)?),
            Action::Goto(labels) => Step::Goto(labels.iter().map(|label| self.path(label)).collect::<Resolved<_>>()?),
            Action::Assert(condition, name) => {
                let name = name.clone().unwrap_or_else(|| self.assert_name(line));
                properties.push(name.clone());
                Step::Assert(self.truth(condition)?, name)
            }
            Action::Atomic(block) => Step::Atomic(self.block(block, properties)?),
            Action::AtomicBegin => Step::AtomicBegin,
            Action::AtomicEnd => Step::AtomicEnd,
            Action::Sleep => Step::Sleep,
            Action::Broadcast => Step::Broadcast,
            Action::Start { callee, arguments, count } => {
                let (callee, arguments) = self.passed(callee, arguments)?;
                Step::Start { callee, arguments, count: *count }
            }
            Action::StartAt(label) => Step::StartAt(self.path(label)?),
            Action::Exit => Step::Exit,
        })
    }

    fn path(&self, label: &str) -> Resolved<Path> {
        self.labels.get(label).cloned().ok_or_else(|| format!("no label is called {label}"))
    }

    /// `procedure@line`, with a number where there are several on the line.
    fn assert_name(&mut self, line: usize) -> String {
        let before = self.asserts.entry(line).or_default();
        *before += 1;
        let procedure = self.procedure.map_or("", |procedure| procedure.name.as_str());
        if *before == 1 { format!("{procedure}@{line}") } else { format!("{procedure}@{line}.{before}") }
    }

    /// The number of a procedure, and the arguments that it takes.
    fn passed(&self, callee: &str, arguments: &[Expression]) -> Resolved<(usize, Vec<Term>)> {
        let number = self.tree.procedures.iter().position(|procedure| procedure.name == callee);
        let number = number.ok_or_else(|| format!("no procedure is called {callee}"))?;
        let parameters = &self.tree.procedures[number].parameters;
        if parameters.len() != arguments.len() {
            return Err(format!("{callee} takes another number of arguments"));
        }
        let arguments = arguments.iter().zip(parameters).map(|(value, parameter)| self.term(value, &parameter.kind));
        Ok((number, arguments.collect::<Resolved<_>>()?))
    }

    fn call(&self, targets: &[Option<String>], callee: &str, arguments: &[Expression]) -> Resolved<Step> {
        let (callee, arguments) = self.passed(callee, arguments)?;
        let results = &self.tree.procedures[callee].results;
        once(targets.iter().flatten())?;
        // A call without targets wants none of the results.
        if targets.is_empty() {
            return Ok(Step::Call { targets: vec![None; results.len()], callee, arguments });
        }
        if results.len() != targets.len() {
            return Err(format!("{} returns another number of results", self.tree.procedures[callee].name));
        }
        let slot = |(target, kind): (&Option<String>, &Kind)| {
            let Some(name) = target else { return Ok(None) };
            let (slot, own) = self.target(name)?;
            if own == kind { Ok(Some(slot)) } else { Err(format!("{name} does not take the result")) }
        };
        let targets = targets.iter().zip(results).map(slot).collect::<Resolved<_>>()?;
        Ok(Step::Call { targets, callee, arguments })
    }
}

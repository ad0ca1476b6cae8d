//! Statements that look like calls: `cas`, `fetch_add`, semaphores and barriers.
//!
//! They stand for assignments. A procedure of the program may take over the name.

use tepui_model::program::{Place, Variable};

use super::expressions::Sort;
use super::places::read;
use super::syntax::Path;
use super::*;

const BUILTINS: &[&str] = &["cas", "fetch_add", "acquire", "release", "arrive"];

impl Resolver<'_, '_> {
    /// Whether a name means what it means in every program, and is a certain one.
    pub(super) fn is_builtin(&self, name: &str, wanted: &str) -> bool {
        name == wanted
            && self.dialect.has_braces()
            && self.module.procedures.iter().all(|procedure| procedure.name.text != name)
    }

    /// A procedure may take over the name of a statement.
    pub(super) fn warn_of_builtin(&mut self, name: &Name) {
        if self.dialect.has_braces() && BUILTINS.contains(&name.text.as_str()) {
            let message = format!("{} means this procedure now", quote(&name.text));
            let label = "elsewhere it is a statement";
            self.sink.push(Diagnostic::warning(0, name.span.clone(), message, label));
        }
    }

    /// Where `arrive` occurs, a local variable remembers in which phase the barrier was.
    pub(super) fn remember_phase(&mut self, procedure: usize, body: &[syntax::Statement]) {
        self.phase = None;
        if !self.is_builtin("arrive", "arrive") || !arrives(body) {
            return;
        }
        let mut name = "phase".to_owned();
        let scope = Scope { procedure, constraint: false, loops: Vec::new() };
        while self.is_known(&name, &scope) || mentions_loop(body, &name) {
            name.push('_');
        }
        let procedure = &mut self.program.procedures[procedure];
        let first = procedure.locals.len();
        procedure.locals.push(Variable { name: name.clone(), kind: Kind::Bool, init: Some(0) });
        procedure.declared.push(Declared { name, shape: Shape::Scalar(Kind::Bool), first });
        self.phase = Some(Slot::Local(first));
    }

    /// What such a statement stands for, if it is one. `arrive` is not, since it stands for two.
    pub(super) fn builtin(
        &mut self,
        targets: &[Path],
        name: &Name,
        arguments: &[syntax::Expression],
        scope: &Scope,
    ) -> Option<Option<Action>> {
        let wanted = BUILTINS.iter().find(|builtin| self.is_builtin(&name.text, builtin))?;
        let arity = match *wanted {
            "cas" => 3,
            "fetch_add" => 2,
            _ => 1,
        };
        if !self.has_arguments(name, arguments, arity) {
            return Some(None);
        }
        let [first, rest @ ..] = arguments else { return Some(None) };
        let Operation::Place(path) = &first.operation else {
            self.error(&first.span, "a variable is wanted here", "this is none");
            return Some(None);
        };
        Some(match *wanted {
            "cas" => self.compare_and_swap(targets, path, first, rest, scope),
            "fetch_add" => self.fetch_and_add(targets, path, first, rest, scope),
            "acquire" if self.has_no_result(targets, name) => {
                self.shared_place(path, scope, "semaphore", &Sort::Number).map(Action::Acquire)
            }
            "release" if self.has_no_result(targets, name) => {
                let place = self.shared_place(path, scope, "semaphore", &Sort::Number);
                place.map(|place| {
                    let one = Box::new(Expression::Number(1));
                    let more = Expression::Binary(Operator::Add, Box::new(read(place.clone(), false)), one);
                    Action::Assign { targets: vec![place], values: vec![more], constraint: None }
                })
            }
            _ => None,
        })
    }

    fn has_arguments(&mut self, name: &Name, arguments: &[syntax::Expression], arity: usize) -> bool {
        if arguments.len() != arity {
            let message = format!("{} takes {}, not {}", quote(&name.text), count(arity, "argument"), arguments.len());
            self.error(&name.span, message, "here");
        }
        arguments.len() == arity
    }

    fn has_no_result(&mut self, targets: &[Path], name: &Name) -> bool {
        if let Some(target) = targets.first() {
            self.error(&target.span, format!("{} has no result", quote(&name.text)), "assigned here");
        }
        targets.is_empty()
    }

    /// Where the result goes, with its kind if it goes anywhere.
    fn result_place(&mut self, targets: &[Path], wanted: &Sort, scope: &Scope) -> Option<Option<Place>> {
        let [target] = targets else {
            if targets.len() > 1 {
                self.error(&targets[1].span, "there is one result", "one variable too many");
                return None;
            }
            return Some(None);
        };
        let Some((parts, shape)) = self.targets_of(targets, scope).pop().flatten() else {
            return (target.name.text == "_").then_some(None);
        };
        if Sort::of(&shape) != *wanted {
            let message = format!("the result is {}", self.sort_name(wanted));
            self.error(&target.span, message, "of another kind");
            return None;
        }
        Some(parts.into_iter().next())
    }

    /// `ok := cas(x, e, d)`: `ok, x := x = e, x = e ? d : x`.
    fn compare_and_swap(
        &mut self,
        targets: &[Path],
        path: &Path,
        first: &syntax::Expression,
        rest: &[syntax::Expression],
        scope: &Scope,
    ) -> Option<Action> {
        let [expected, desired] = rest else { return None };
        [first, expected].into_iter().for_each(|used| self.forbid_any(used));
        let result = self.result_place(targets, &Sort::Bool, scope);
        let places = self.targets_of(std::slice::from_ref(path), scope).pop().flatten();
        let (places, shape) = places?;
        let expected = match &shape {
            Shape::Scalar(_) => self.scalar(expected, &Sort::of(&shape), None, scope).map(|(found, _)| vec![found]),
            shape => self.value(expected, shape, scope),
        };
        let (expected, desired) = (expected?, self.value(desired, &shape, scope)?);
        let equal = |(place, value): (&Place, Expression)| {
            Expression::Binary(Operator::Equal, Box::new(read(place.clone(), false)), Box::new(value))
        };
        let both = |one, other| Expression::Binary(Operator::And, Box::new(one), Box::new(other));
        let same = places.iter().zip(expected).map(equal).reduce(both)?;
        let next = |(place, value): (&Place, &Expression)| {
            let (value, old) = (Box::new(value.clone()), Box::new(read(place.clone(), false)));
            Expression::Choice(Box::new(same.clone()), value, old)
        };
        let mut values: Vec<_> = places.iter().zip(&desired).map(next).collect();
        let mut targets = places;
        for value in desired {
            // The last argument is evaluated in any case, and an index in it may be outside of its array.
            let mut doubtful = false;
            value.elements(&mut |element| {
                doubtful |= element.indices.iter().any(|index| self.program.may_miss(scope.procedure, index));
            });
            if doubtful {
                targets.push(Place::Nowhere);
                values.push(value);
            }
        }
        self.with_result(result?, same, (targets, values), &path.span)
    }

    /// `old := fetch_add(x, e)`: `old, x := x, x + e`.
    fn fetch_and_add(
        &mut self,
        targets: &[Path],
        path: &Path,
        first: &syntax::Expression,
        rest: &[syntax::Expression],
        scope: &Scope,
    ) -> Option<Action> {
        self.forbid_any(first);
        let result = self.result_place(targets, &Sort::Number, scope);
        let (place, kind) = self.assigned(path, scope)?;
        if Sort::of(&Shape::Scalar(kind)) != Sort::Number {
            self.error(&path.span, "only numbers can be added", "this is none");
            return None;
        }
        let (added, _) = self.scalar(rest.first()?, &Sort::Number, None, scope)?;
        let old = read(place.clone(), false);
        let next = Expression::Binary(Operator::Add, Box::new(old.clone()), Box::new(added));
        let interval = self.program.interval(scope.procedure, &next);
        self.require_possible(&path.span, interval, kind)?;
        self.with_result(result?, old, (vec![place], vec![next]), &path.span)
    }

    /// A place that is one value and that is assigned.
    fn assigned(&mut self, path: &Path, scope: &Scope) -> Option<(Place, Kind)> {
        let (parts, shape) = self.targets_of(std::slice::from_ref(path), scope).pop().flatten()?;
        let Shape::Scalar(kind) = shape else {
            self.error(&path.span, "a single value is wanted here", "this is a whole array or record");
            return None;
        };
        Some((parts.into_iter().next()?, kind))
    }

    /// Stores a result and new values at once.
    fn with_result(
        &mut self,
        result: Option<Place>,
        told: Expression,
        (mut targets, mut values): (Vec<Place>, Vec<Expression>),
        span: &Range<usize>,
    ) -> Option<Action> {
        if let Some(result) = result {
            let taken: HashSet<_> = targets.iter().flat_map(Place::slots).collect();
            if result.slots().iter().any(|slot| taken.contains(slot)) {
                self.error(span, "this is assigned twice at once", "it is also where the result goes");
                return None;
            }
            targets.insert(0, result);
            values.insert(0, told);
        }
        Some(Action::Assign { targets, values, constraint: None })
    }

    /// `arrive(b)`: counts the thread and remembers the phase, then waits for the next one.
    pub(super) fn arrive(
        &mut self,
        targets: &[Path],
        name: &Name,
        arguments: &[syntax::Expression],
        scope: &Scope,
    ) -> Option<Vec<Action>> {
        if !self.has_arguments(name, arguments, 1) || !self.has_no_result(targets, name) {
            return None;
        }
        let Operation::Place(path) = &arguments[0].operation else {
            self.error(&arguments[0].span, "a barrier is wanted here", "this is none");
            return None;
        };
        self.forbid_any(&arguments[0]);
        let placed = self.placed(path, scope)?;
        let barriers = self.barriers.iter().find(|(_, record)| placed.shape == Shape::Record(*record));
        let Some(&(threads, _)) = barriers else {
            self.error(&path.span, format!("{} is no barrier", quote(&path.name.text)), "not declared with `barrier`");
            return None;
        };
        let [(counted, _), (phase, _)] = <[_; 2]>::try_from(placed.parts(&self.program)).ok()?;
        let mine = self.phase?;
        let binary = |operator, left, right| Expression::Binary(operator, Box::new(left), Box::new(right));
        let count = || read(counted.clone(), false);
        let open = || read(phase.clone(), false);
        let more = binary(Operator::Add, count(), Expression::Number(1));
        let next_count = binary(Operator::Modulo, more, Expression::Number(threads));
        let is_last = binary(Operator::Equal, count(), Expression::Number(threads - 1));
        let turned = Expression::Not(Box::new(open()));
        let next_phase = Expression::Choice(Box::new(is_last), Box::new(turned), Box::new(open()));
        let arrives = Action::Assign {
            targets: vec![Place::Variable(mine), counted.clone(), phase.clone()],
            values: vec![open(), next_count, next_phase],
            constraint: None,
        };
        Some(vec![arrives, Action::Wait(binary(Operator::Unequal, open(), Expression::Read(mine)))])
    }
}

/// Whether a block has an `arrive` somewhere.
fn arrives(block: &[syntax::Statement]) -> bool {
    syntax::any(
        block,
        &|statement| matches!(&statement.action, syntax::Action::Call { procedure, .. } if procedure.text == "arrive"),
    )
}

/// Whether a loop in a block has a variable of that name.
fn mentions_loop(block: &[syntax::Statement], name: &str) -> bool {
    syntax::any(
        block,
        &|statement| matches!(&statement.action, syntax::Action::For(variable, ..) if variable.text == name),
    )
}

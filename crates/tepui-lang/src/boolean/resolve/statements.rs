//! Statements: where they stand, where they lead to, and what they do.

use tepui_model::program::{Place, Variable};

use super::expressions::Sort;
use super::syntax::{Bounds, Path};
use super::*;

impl Resolver<'_, '_> {
    /// Numbers statements as [`block`](Self::block) will, and notes where labels stand and what loops run through.
    pub(super) fn labels(&mut self, block: &[syntax::Statement], next: &mut usize, loops: &mut Vec<usize>) {
        for statement in block {
            let position = *next;
            *next += 1;
            for label in &statement.labels {
                let places = self.labels.entry(label.text.clone()).or_default();
                let again = places.iter().any(|other| other.position != position);
                places.push(Label { position, loops: loops.clone() });
                if again && self.dialect.has_braces() {
                    self.error(&label.span, format!("the label {} is set twice", quote(&label.text)), "again here");
                }
            }
            match &statement.action {
                syntax::Action::If(_, then, otherwise) => {
                    self.labels(then, next, loops);
                    self.labels(otherwise, next, loops);
                }
                syntax::Action::While(_, body) | syntax::Action::Atomic(body) => self.labels(body, next, loops),
                syntax::Action::For(_, bounds, body) => {
                    let kind = self.loop_kind(bounds);
                    self.loop_kinds.push_back(kind);
                    if kind.is_some() {
                        loops.push(position);
                        self.labels(body, next, loops);
                        loops.pop();
                        *next += 1; // What comes after each round.
                    }
                }
                syntax::Action::SleepOn(..) => *next += 1,
                syntax::Action::Call { procedure, .. } if self.is_builtin(&procedure.text, "arrive") => *next += 1,
                _ => {}
            }
        }
    }

    /// What the variable of a loop takes; none, if there is nothing or if the bounds are wrong.
    fn loop_kind(&mut self, bounds: &Bounds) -> Option<Kind> {
        match bounds {
            Bounds::Kind(name) => match self.kind(&syntax::KindName::Named(name.clone())) {
                Shape::Scalar(kind @ (Kind::Enumeration(_) | Kind::Range(..))) => Some(kind),
                _ => {
                    self.error(&name.span, "a loop runs through numbers or an enumeration", "this is neither");
                    None
                }
            },
            Bounds::Range(first, last) => {
                let span = first.span.start..last.span.end;
                let (low, high) = self.constant(first).zip(self.constant(last))?;
                if low > high {
                    let message = "this loop does nothing";
                    let label = format!("there is no number from {low} to {high}");
                    self.sink.push(Diagnostic::warning(0, span, message, label));
                    return None;
                }
                Some(self.range(low, high, &span))
            }
        }
    }

    pub(super) fn block(
        &mut self,
        block: &[syntax::Statement],
        statements: &mut Vec<Statement>,
        scope: &Scope,
    ) -> Block {
        let mut positions = Block::new();
        for statement in block {
            positions.push(statements.len());
            let labels = statement.labels.iter().map(|label| label.text.clone()).collect();
            let line = self.line(statement.span.start);
            let text = (statement.span.start as u32, statement.span.end as u32);
            let position = statements.len();
            let property = match &statement.action {
                syntax::Action::Assert(_, name) => name.as_ref().map(|name| name.text.clone()),
                _ => None,
            };
            statements.push(Statement { labels, line, text, action: Action::Skip, property });
            let actions = self.actions(&statement.action, statements, scope);
            let mut actions = actions.into_iter();
            statements[position].action = actions.next().unwrap_or(Action::Skip);
            for action in actions {
                positions.push(statements.len());
                statements.push(Statement { labels: Vec::new(), line, text, action, property: None });
            }
        }
        positions
    }

    /// What a statement stands for: one action, or two for some.
    fn actions(&mut self, action: &syntax::Action, statements: &mut Vec<Statement>, scope: &Scope) -> Vec<Action> {
        match action {
            syntax::Action::SleepOn(condition, lock) => {
                let condition = self.condition(condition, scope);
                let lock = self.shared_place(lock, scope, "lock", &Sort::Bool);
                let (Some(condition), Some(lock)) = (condition, lock) else { return vec![Action::Skip, Action::Skip] };
                vec![Action::SleepOn(condition, lock.clone()), Action::Lock(lock)]
            }
            syntax::Action::Call { targets, procedure, arguments } if self.is_builtin(&procedure.text, "arrive") => {
                self.arrive(targets, procedure, arguments, scope).unwrap_or_else(|| vec![Action::Skip, Action::Skip])
            }
            action => self.action(action, statements, scope).into_iter().collect(),
        }
    }

    fn action(&mut self, action: &syntax::Action, statements: &mut Vec<Statement>, scope: &Scope) -> Option<Action> {
        Some(match action {
            syntax::Action::Skip => Action::Skip,
            syntax::Action::Goto(labels) => {
                Action::Goto(labels.iter().filter_map(|label| self.label(label, scope)).collect())
            }
            syntax::Action::Assign { targets, values, constraint } => {
                self.assignment(targets, values, constraint.as_ref(), scope)?
            }
            syntax::Action::Assume(condition) => Action::Assume(self.boolean(condition, scope)?),
            syntax::Action::Wait(condition) => Action::Wait(self.boolean(condition, scope)?),
            syntax::Action::Assert(condition, _) => Action::Assert(self.boolean(condition, scope)?),
            syntax::Action::If(condition, then, otherwise) => {
                let condition = self.boolean(condition, scope);
                let then = self.block(then, statements, scope);
                let otherwise = self.block(otherwise, statements, scope);
                Action::If(condition?, then, otherwise)
            }
            syntax::Action::While(condition, body) => {
                let condition = self.boolean(condition, scope);
                let body = self.block(body, statements, scope);
                Action::While(condition?, body)
            }
            syntax::Action::For(variable, _, body) => self.repeated(variable, body, statements, scope)?,
            syntax::Action::Atomic(body) => Action::Atomic(self.block(body, statements, scope)),
            syntax::Action::AtomicBegin => Action::AtomicBegin,
            syntax::Action::AtomicEnd => Action::AtomicEnd,
            syntax::Action::Lock(path) => Action::Lock(self.shared_place(path, scope, "lock", &Sort::Bool)?),
            syntax::Action::Unlock(path) => Action::Unlock(self.shared_place(path, scope, "lock", &Sort::Bool)?),
            syntax::Action::Call { targets, procedure, arguments } => {
                // What is printed is not looked at.
                let defined = |text: &str| self.program.procedures.iter().any(|one| one.name == text);
                if procedure.text == "print" && !self.dialect.has_braces() && !defined("print") {
                    return Some(Action::Skip);
                }
                match self.builtin(targets, procedure, arguments, scope) {
                    Some(found) => found?,
                    None => self.call(targets, procedure, arguments, scope)?,
                }
            }
            syntax::Action::Return(values) => self.returned(values, scope)?,
            syntax::Action::Start { procedure, arguments, count, .. } => {
                let started = self.called(procedure, arguments, scope);
                let count = count.as_ref().map_or(Some(1), |count| self.thread_count(count));
                let (number, arguments) = started?;
                Action::Start { procedure: number, arguments, count: count? }
            }
            syntax::Action::StartAt(label) => Action::StartAt(self.label(label, scope)?),
            syntax::Action::EndThread => Action::EndThread,
            syntax::Action::Yield => Action::Yield,
            syntax::Action::Sleep => Action::Sleep,
            syntax::Action::Broadcast => Action::Broadcast,
            syntax::Action::Wake(condition, all) => {
                Action::Wake { condition: self.condition(condition, scope)?, all: *all }
            }
            syntax::Action::Dead(paths) => self.dead(paths, scope),
            syntax::Action::SleepOn(..) => return None,
        })
    }

    fn thread_count(&mut self, written: &syntax::Expression) -> Option<u32> {
        let count = match &written.operation {
            // In the dialects with `begin` and `end` there is only this one number.
            Operation::Truth(true) => 1,
            _ => self.constant(written)?,
        };
        if !(1..=1000).contains(&count) {
            self.error(&written.span, "so many cannot be started at once", "1 to 1000");
            return None;
        }
        Some(count as u32)
    }

    fn assignment(
        &mut self,
        targets: &[Path],
        values: &[syntax::Expression],
        constraint: Option<&syntax::Expression>,
        scope: &Scope,
    ) -> Option<Action> {
        if targets.len() != values.len() {
            let span = targets[0].span.start..values[values.len() - 1].span.end;
            let message = format!("{} variables and {} values", targets.len(), values.len());
            self.error(&span, message, "assigned here");
            return None;
        }
        let places = self.targets_of(targets, scope);
        let (mut stored, mut found) = (Vec::new(), Vec::new());
        for (place, value) in places.into_iter().zip(values) {
            // What goes nowhere may be of any kind.
            let nowhere = || {
                let sort = self.sort_of(value, scope).unwrap_or(Sort::Bool);
                self.shape_of_place(value, scope).unwrap_or(match sort {
                    Sort::Number => Shape::Scalar(Kind::Range(i32::MIN, i32::MAX)),
                    Sort::Enumeration(number) => Shape::Scalar(Kind::Enumeration(number)),
                    _ => Shape::Scalar(Kind::Bool),
                })
            };
            let (parts, shape) = match place {
                Some((parts, shape)) => (parts, shape),
                None => {
                    let shape = nowhere();
                    (vec![Place::Nowhere; self.program.parts(&shape)], shape)
                }
            };
            if let Some(values) = self.value(value, &shape, scope) {
                stored.extend(parts);
                found.push(values);
            }
        }
        let inner = Scope { constraint: true, ..scope.clone() };
        let constraint = constraint.map(|constraint| self.boolean(constraint, &inner));
        if found.len() < values.len() {
            return None;
        }
        let constraint = match constraint {
            Some(constraint) => Some(constraint?),
            None => None,
        };
        Some(Action::Assign { targets: stored, values: found.concat(), constraint })
    }

    /// The places that values are assigned to, with what they are made of; none for `_`, or where a name is wrong.
    pub(super) fn targets_of(&mut self, paths: &[Path], scope: &Scope) -> Vec<Option<(Vec<Place>, Shape)>> {
        let (mut found, mut taken) = (Vec::new(), HashSet::new());
        for path in paths {
            if path.name.text == "_" && path.steps.is_empty() {
                found.push(None);
                continue;
            }
            if scope.loops.iter().any(|(declared, _)| declared.name == path.name.text) {
                self.error(&path.span, "the loop alone changes its variable", "assigned here");
            }
            let Some(placed) = self.placed(path, scope) else {
                found.push(None);
                continue;
            };
            let places: Vec<_> = placed.parts(&self.program).into_iter().map(|(place, _)| place).collect();
            let slots: HashSet<_> = places.iter().flat_map(Place::slots).collect();
            if slots.iter().any(|slot| taken.contains(slot)) {
                let message = format!("{} is assigned twice at once", quote(&path.name.text));
                self.error(&path.span, message, "again here");
            }
            taken.extend(slots);
            found.push(Some((places, placed.shape)));
        }
        found
    }

    fn dead(&mut self, paths: &[Path], scope: &Scope) -> Action {
        let places = self.targets_of(paths, scope).into_iter().flatten();
        let places: Vec<_> = places.flat_map(|(places, _)| places).collect();
        if places.iter().any(|place| matches!(place, Place::Element(_))) {
            self.error(&paths[0].span, "`dead` needs constant indices", "here");
        }
        Action::Dead(places.iter().flat_map(Place::slots).collect())
    }

    /// A loop over the values of a variable that it declares.
    fn repeated(
        &mut self,
        name: &Name,
        body: &[syntax::Statement],
        statements: &mut Vec<Statement>,
        scope: &Scope,
    ) -> Option<Action> {
        let kind = self.loop_kinds.pop_front().flatten()?;
        if self.is_known(&name.text, scope) {
            let message = format!("{} is known here already", quote(&name.text));
            self.error(&name.span, message, "a loop needs a name of its own");
        }
        let position = statements.len() - 1;
        let locals = &mut self.program.procedures[scope.procedure].locals;
        let first = locals.len();
        locals.push(Variable { name: name.text.clone(), kind, init: Some(0) });
        let mut inner = scope.clone();
        inner.loops.push((Declared { name: name.text.clone(), shape: Shape::Scalar(kind), first }, position));
        let mut block = self.block(body, statements, &inner);
        let (line, text) = (statements[position].line, statements[position].text);
        block.push(statements.len());
        let action = Action::Next(first, block[0]);
        statements.push(Statement { labels: Vec::new(), line, text, action, property: None });
        Some(Action::For(first, block))
    }

    fn call(
        &mut self,
        targets: &[Path],
        procedure: &Name,
        arguments: &[syntax::Expression],
        scope: &Scope,
    ) -> Option<Action> {
        let found = self.called(procedure, arguments, scope);
        let places = self.targets_of(targets, scope);
        let (number, arguments) = found?;
        let results = self.program.procedures[number].returned.clone();
        if targets.len() != results.len() && !targets.is_empty() {
            let message = format!(
                "{} returns {}, but there {} for {}",
                quote(&procedure.text),
                count(results.len(), "value"),
                if targets.len() == 1 { "is a variable" } else { "are variables" },
                targets.len()
            );
            self.error(&procedure.span, message, "called here");
            return None;
        }
        let mut stored = Vec::new();
        for ((place, result), path) in places.into_iter().zip(&results).zip(targets) {
            let Some((parts, shape)) = place else {
                stored.extend(vec![Place::Nowhere; self.program.parts(result)]);
                continue;
            };
            if Sort::of(&shape) != Sort::of(result) {
                let message = format!("{} is of another kind than the result", quote(&path.name.text));
                self.error(&path.span, message, "assigned here");
            }
            stored.extend(parts);
        }
        Some(Action::Call { targets: stored, procedure: number, arguments })
    }

    fn returned(&mut self, values: &[syntax::Expression], scope: &Scope) -> Option<Action> {
        let results = self.program.procedures[scope.procedure].returned.clone();
        if values.len() != results.len() {
            let name = &self.module.procedures[scope.procedure].name;
            let span =
                values.first().map_or(name.span.clone(), |first| first.span.start..values[values.len() - 1].span.end);
            let message =
                format!("{} returns {}, not {}", quote(&name.text), count(results.len(), "value"), values.len());
            let label = if values.is_empty() { "this procedure has a return without values" } else { "returned here" };
            self.error(&span, message, label);
            return None;
        }
        self.arguments(values, &results, scope).map(Action::Return)
    }

    pub(super) fn label(&mut self, label: &Name, scope: &Scope) -> Option<usize> {
        let around = |place: &Label| {
            scope.loops.iter().map(|(_, position)| *position).take(place.loops.len()).eq(place.loops.iter().copied())
        };
        let (positions, inside) = match self.labels.get(&label.text) {
            Some(places) => {
                let mut positions: Vec<_> = places.iter().map(|place| place.position).collect();
                positions.dedup();
                (positions, places.iter().all(around))
            }
            None => (Vec::new(), true),
        };
        match positions[..] {
            [] => {
                let mut known: Vec<_> = self.labels.keys().map(String::as_str).collect();
                known.sort_unstable();
                let hint = suggestion(&label.text, known.into_iter(), self.sink.is_full(Severity::Error));
                let message = format!("no label is called {}", quote(&label.text));
                self.error_with_hint(&label.span, &message, "not set in this procedure", hint);
                None
            }
            [position] if inside => Some(position),
            [_] => {
                self.error(&label.span, "a jump into a loop", "the loop would not know where it is");
                None
            }
            _ => {
                let message = format!("several statements have the label {}", quote(&label.text));
                self.error(&label.span, message, "which one is meant?");
                None
            }
        }
    }

    /// The procedure that is called or started, and its arguments.
    pub(super) fn called(
        &mut self,
        name: &Name,
        arguments: &[syntax::Expression],
        scope: &Scope,
    ) -> Option<(usize, Vec<Expression>)> {
        let found = self.program.procedures.iter().position(|procedure| procedure.name == name.text);
        let Some(number) = found else {
            let known = self.program.procedures.iter().map(|procedure| procedure.name.as_str());
            let hint = suggestion(&name.text, known, self.sink.is_full(Severity::Error));
            let message = format!("no procedure is called {}", quote(&name.text));
            self.error_with_hint(&name.span, &message, "not defined", hint);
            return None;
        };
        let procedure = &self.program.procedures[number];
        let parameters = procedure.declared.iter().filter(|declared| declared.first < procedure.parameters);
        let shapes: Vec<_> = parameters.map(|declared| declared.shape.clone()).collect();
        if shapes.len() != arguments.len() {
            let wanted = count(shapes.len(), "argument");
            let message = format!("{} takes {wanted}, not {}", quote(&name.text), arguments.len());
            self.error(&name.span, message, "called here");
            return None;
        }
        Some((number, self.arguments(arguments, &shapes, scope)?))
    }

    fn arguments(
        &mut self,
        expressions: &[syntax::Expression],
        shapes: &[Shape],
        scope: &Scope,
    ) -> Option<Vec<Expression>> {
        let pairs = expressions.iter().zip(shapes);
        let found: Vec<_> = pairs.map(|(expression, shape)| self.value(expression, shape, scope)).collect();
        found.into_iter().collect::<Option<Vec<_>>>().map(|parts| parts.concat())
    }
}

//! The model: threads with rules, properties, names for everything.

use rustc_hash::FxHashMap;
use tepui_model::program::{Goal, Variable};
use tepui_model::pushdown::{Action, Model, Names, Pattern, Property, Rule, Shared, State, Symbol, Thread};

use super::pairs::{Exploration, Threads};
use super::{Compiled, Doing, Global, Legend, Mode, Point, THREAD_LIMIT, Uncompiled};
use crate::program::layout::{Field, Head, Stage};
use crate::program::local_steps::stands;
use crate::program::variables::Variables;

impl Exploration<'_> {
    /// The model of what was found.
    pub(super) fn compiled(mut self) -> Result<Compiled, Uncompiled> {
        let thread_names = self.steps.code.thread_names();
        let mut symbols: Vec<_> =
            (self.kinds.iter()).map(|kind| names(kind.points.iter().map(|point| self.point_name(point)))).collect();
        self.tell_kinds_apart(&mut symbols);
        let threads = self.threads.iter().zip(thread_names).map(|(&kind, name)| Thread {
            name,
            symbols: symbols[kind].clone(),
            rules: self.kinds[kind].rules.clone(),
        });
        let threads = threads.collect();
        let shared = Names::List(names(self.globals.iter().map(|global| self.global_name(global))));
        let stack = |&kind: &usize| match self.kinds[kind].first {
            0 => Vec::new(),
            first => vec![Symbol(first)],
        };
        let init = State { shared: Shared(0), stacks: self.threads.iter().map(stack).collect() };
        let model = Model::new(shared, threads, init, self.properties());
        let model = model.map_err(|malformed| Uncompiled::Unsupported(malformed.to_string()))?;
        Ok(Compiled { model, legend: self.legend() })
    }

    /// Threads of different kinds are not interchangeable, even if their rules happen to be alike: a proof tells which
    /// procedure a thread is in. Where they are alike, one gets a symbol that never occurs, with a rule.
    fn tell_kinds_apart(&mut self, symbols: &mut [Vec<String>]) {
        let meaning = |rules: &[Rule]| {
            let mut rules: Vec<_> = rules.iter().map(|rule| (rule.from, rule.top, rule.to, rule.action)).collect();
            rules.sort_unstable();
            rules.dedup();
            rules
        };
        for kind in 1..self.kinds.len() {
            let like = |kinds: &[Threads], symbols: &[Vec<String>], other: usize| {
                let (one, two) = (&kinds[other].rules, &kinds[kind].rules);
                symbols[other].len() == symbols[kind].len() && meaning(one) == meaning(two)
            };
            while (0..kind).any(|other| like(&self.kinds, symbols, other)) {
                symbols[kind].push(format!("never$${}", symbols[kind].len()));
                let (shared, symbol) = (Shared(0), Symbol(symbols[kind].len() as u32));
                let action = Action::Overwrite(symbol);
                self.kinds[kind].rules.push(Rule { from: shared, top: symbol, to: shared, action, line: 0 });
            }
        }
    }

    fn legend(self) -> Legend {
        let code = &self.steps.code;
        Legend {
            globals: self.globals.into_items(),
            tables: self.steps.tables.borrow().clone(),
            points: self.kinds.into_iter().map(|kind| kind.points.into_items()).collect(),
            shared: code.shared.fields.clone(),
            locals: code.procedures.iter().map(|procedure| procedure.layout.fields.clone()).collect(),
            kept: code.kept.clone(),
            threads: self.threads,
            creates: self.creates,
            main: self.main,
        }
    }

    /// One property for each assertion, named after its procedure and line, and for each label that must not be reached,
    /// also where nothing can violate it; that some thread can move, if it is asked for; and that there are enough
    /// places, where that is in doubt.
    fn properties(&self) -> Vec<Property> {
        const STANDING: &[Stage] = &[Stage::Running, Stage::Asleep];
        let (count, program) = (self.threads.len(), &self.steps.code.program);
        let patterns = |stages: &[Stage], (procedure, position): (usize, usize)| -> Vec<Pattern> {
            let mut found = Vec::new();
            for (thread, &kind) in self.threads.iter().enumerate() {
                let stands = |point: &Point| {
                    let head = self.steps.head(*point);
                    point.doing != Doing::Probed
                        && head.procedure() == procedure
                        && stages.contains(&head.stage())
                        && stands(&program.procedures[procedure], head.position(), position)
                };
                for (symbol, _) in (1..).zip(self.kinds[kind].points.iter()).filter(|(_, point)| stands(point)) {
                    let mut tops = vec![None; count];
                    tops[thread] = Some(Symbol(symbol));
                    found.push(Pattern { shared: None, tops });
                }
            }
            found
        };
        let with_mode = |mode: Mode| -> Vec<_> {
            let globals = (0..).zip(self.globals.iter()).filter(move |(_, global)| global.mode == mode);
            globals.map(|(global, _)| Pattern { shared: Some(Shared(global)), tops: vec![None; count] }).collect()
        };
        let never = |goal: &Goal| match *goal {
            Goal::Failure(procedure, position) => patterns(&[Stage::Failed], (procedure, position)),
            Goal::Range(procedure, position) => patterns(&[Stage::OutOfRange], (procedure, position)),
            Goal::Index(procedure, position) => patterns(&[Stage::OutOfArray], (procedure, position)),
            Goal::Reached(procedure, position) => patterns(STANDING, (procedure, position)),
            Goal::Deadlock => with_mode(Mode::Stuck),
        };
        let mut properties: Vec<Property> = (program.properties(self.steps.code.options.deadlock).into_iter())
            .map(|property| Property { never: property.never.iter().flat_map(never).collect(), name: property.name })
            .collect();
        let never = with_mode(Mode::Full);
        if !never.is_empty() {
            properties.push(Property { name: THREAD_LIMIT.to_owned(), never });
        }
        properties
    }

    fn global_name(&self, global: &Global) -> String {
        let code = &self.steps.code;
        let tables = self.steps.tables.borrow();
        let row = tables.rows.get(global.shared);
        let values = (code.program.shared.iter().zip(&code.shared.fields).enumerate())
            .filter(|(number, _)| code.kept.shared.contains(*number))
            .map(|(_, (variable, field))| format!("{}_{}", variable.name, self.value_name(variable, *field, row)));
        let mode = match global.mode {
            Mode::Open => self.steps.is_held(global.shared).then_some("atomic"),
            Mode::Returned(..) => Some("returned"),
            Mode::Starting { .. } => Some("starting"),
            Mode::Waking => Some("waking"),
            Mode::Refusing { .. } => Some("refusing"),
            Mode::Ending => Some("ending"),
            Mode::Full => Some("full"),
            Mode::Probing(_) => Some("probing"),
            Mode::Stuck => Some("stuck"),
        };
        let live = (self.creates && self.threads.len() > 1).then(|| format!("threads_{}", global.live));
        let parts: Vec<_> = values.chain(mode.map(str::to_owned)).chain(live).collect();
        if parts.is_empty() { "calm".to_owned() } else { parts.join("'") }
    }

    fn value_name(&self, variable: &Variable, field: Field, row: &[u64]) -> String {
        field.value(row).map_or("any".to_owned(), |value| self.steps.code.program.value_name(variable.kind, value))
    }

    fn point_name(&self, point: &Point) -> String {
        if point.doing == Doing::Probed {
            return "blocked".to_owned();
        }
        let (code, tables) = (&self.steps.code, self.steps.tables.borrow());
        let frame = tables.frames.get(point.frame);
        let (head, none) = (Head(frame[0]), Variables::default());
        let (number, position) = (head.procedure(), head.position());
        let procedure = &code.program.procedures[number];
        let mut name = match procedure.statements.get(position) {
            Some(statement) => format!("{}@{}", procedure.name, statement.line),
            None => format!("{}@end", procedure.name),
        };
        let kept = match head.stage() {
            Stage::Failed | Stage::OutOfRange | Stage::OutOfArray => {
                name += "'failed";
                &none
            }
            Stage::Storing => &code.kept.during[number][position],
            _ => &code.kept.at[number][position],
        };
        for local in kept.iter() {
            let (variable, field) = (&procedure.locals[local], code.procedures[number].layout.fields[local]);
            name += &format!("'{}_{}", variable.name, self.value_name(variable, field, frame));
        }
        name
    }
}

/// Names in the alphabet of models, each one once.
fn names(wanted: impl Iterator<Item = String>) -> Vec<String> {
    let mut used: FxHashMap<String, u32> = FxHashMap::default();
    let fits = |mark: char| mark.is_ascii_alphanumeric() || "_'@$".contains(mark);
    let unique = |name: String| {
        let name: String = name.chars().map(|mark| if fits(mark) { mark } else { '_' }).collect();
        let count = used.entry(name.clone()).or_insert(0);
        *count += 1;
        if *count == 1 { name } else { format!("{name}$${count}") }
    };
    wanted.map(unique).collect()
}

//! Which shared states and points occur together, and the model that follows.

use std::collections::{HashMap, HashSet};

use tepui_model::program::Action;
use tepui_model::pushdown::{self, Model, Names, Pattern, Property, Rule, Shared, State, Symbol, Thread};

use super::steps::Steps;
use super::{Effect, Global, Mode, Point, Stage, THREAD_LIMIT, TooLarge};

/// The most rules of a model.
const MOST_RULES: usize = 20_000_000;

/// Which pairs of shared states and points may occur, and the rules for them.
pub(super) struct Exploration<'s, 'p> {
    steps: &'s Steps<'p>,
    globals: Numbered<Global>,
    /// The first thread, and the others.
    kinds: [Threads; 2],
    /// For each shared state, those that some step leads to from it, and which kind of thread takes it.
    changes: Vec<Vec<(u32, usize)>>,
    /// How many threads there are besides the first.
    others: usize,
    open: Vec<(usize, u32, u32)>,
}

/// What is known of threads of one kind. Point 0 is that of a thread without frames.
#[derive(Default)]
struct Threads {
    points: Numbered<Point>,
    pairs: HashSet<(u32, u32)>,
    /// For each shared state the points that may occur with it.
    at: Vec<Vec<u32>>,
    /// For each procedure the frames below it, and the shared states in which it returns.
    frames: HashMap<u32, Vec<u32>>,
    returns: HashMap<u32, Vec<u32>>,
    rules: Vec<Rule>,
}

/// Things with numbers, in the order in which they were found.
struct Numbered<T> {
    numbers: HashMap<T, u32>,
    list: Vec<T>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { numbers: HashMap::new(), list: Vec::new() }
    }
}

impl<T: Copy + Eq + std::hash::Hash> Numbered<T> {
    fn number(&mut self, item: T) -> u32 {
        let next = self.list.len() as u32;
        let number = *self.numbers.entry(item).or_insert(next);
        if number == next {
            self.list.push(item);
        }
        number
    }
}

impl<'s, 'p> Exploration<'s, 'p> {
    pub(super) fn new(steps: &'s Steps<'p>, places: usize) -> Self {
        Self {
            steps,
            globals: Numbered::default(),
            kinds: [Threads::default(), Threads::default()],
            changes: Vec::new(),
            others: places.saturating_sub(1),
            open: Vec::new(),
        }
    }

    pub(super) fn run(mut self) -> Result<Model, TooLarge> {
        let nowhere = Point {
            procedure: 0,
            position: 0,
            locals: 0,
            root: true,
            under: false,
            within: false,
            insists: false,
            stage: Stage::Begin,
        };
        let begin = self.globals.number(Global { shared: 0, mode: Mode::Begin, live: 1 });
        let first = 1 + self.kinds[0].points.number(nowhere);
        self.add(0, begin, first);
        if self.others > 0 {
            self.add(1, begin, 0);
        }
        while let Some((kind, global, point)) = self.open.pop() {
            self.expand(kind, global, point);
            if self.kinds.iter().map(|threads| threads.rules.len()).sum::<usize>() > MOST_RULES {
                return Err(TooLarge(format!("the program has more than {MOST_RULES} rules")));
            }
        }
        self.model()
    }

    /// A thread of some kind may be at a point in a shared state, and in all that others make of it.
    fn add(&mut self, kind: usize, global: u32, point: u32) {
        let mut todo = vec![(kind, global, point)];
        while let Some((kind, global, point)) = todo.pop() {
            let threads = &mut self.kinds[kind];
            if !threads.pairs.insert((global, point)) {
                continue;
            }
            if threads.at.len() <= global as usize {
                threads.at.resize(global as usize + 1, Vec::new());
            }
            threads.at[global as usize].push(point);
            self.open.push((kind, global, point));
            for &(to, by) in self.changes.get(global as usize).into_iter().flatten() {
                if disturbs(by, kind, self.others) {
                    todo.push((kind, to, point));
                }
            }
        }
    }

    /// A thread of some kind may change the shared state.
    fn change(&mut self, kind: usize, from: u32, to: u32) {
        if self.changes.len() <= from as usize {
            self.changes.resize(from as usize + 1, Vec::new());
        }
        if from == to || self.changes[from as usize].contains(&(to, kind)) {
            return;
        }
        self.changes[from as usize].push((to, kind));
        for other in 0..2 {
            if disturbs(kind, other, self.others) {
                let points = self.kinds[other].at.get(from as usize).cloned().unwrap_or_default();
                points.into_iter().for_each(|point| self.add(other, to, point));
            }
        }
    }

    fn expand(&mut self, kind: usize, global: u32, point: u32) {
        let from = self.globals.list[global as usize];
        // With the threads apart from each other, pairs come up that cannot be: a thread where none is left, a free place
        // where all are taken.
        if (point == 0 && from.live as usize > self.others) || (point > 0 && from.live == 0) {
            return;
        }
        if point == 0 {
            for ((shared, mode), first) in self.steps.awaken(from) {
                let to = self.globals.number(Global { shared, mode, live: from.live + 1 });
                let top = 1 + self.kinds[kind].points.number(first);
                let action = pushdown::Action::Push { top: Symbol(top), below: Symbol::BOTTOM };
                self.rule(kind, (global, point), to, action, self.steps.line(&first));
                self.add(kind, to, top);
            }
            return;
        }
        let frame = self.kinds[kind].points.list[point as usize - 1];
        let line = if frame.stage == Stage::Begin { 0 } else { self.steps.line(&frame) };
        for ((shared, mode), effect) in self.steps.steps(from, frame) {
            let mode = match mode {
                Mode::Starting { count, .. } if (from.live + count) as usize > 1 + self.others => Mode::Full,
                mode => mode,
            };
            let live = from.live - u32::from(frame.root && matches!(effect, Effect::Leave));
            let to = self.globals.number(Global { shared, mode, live });
            match effect {
                Effect::Become(next) => {
                    let next = 1 + self.kinds[kind].points.number(next);
                    self.rule(kind, (global, point), to, pushdown::Action::Overwrite(Symbol(next)), line);
                    self.add(kind, to, next);
                }
                Effect::Call { callee, caller } => {
                    let (top, below) =
                        (1 + self.kinds[kind].points.number(callee), 1 + self.kinds[kind].points.number(caller));
                    let action = pushdown::Action::Push { top: Symbol(top), below: Symbol(below) };
                    self.rule(kind, (global, point), to, action, line);
                    self.add(kind, to, top);
                    let frames = self.kinds[kind].frames.entry(callee.procedure).or_default();
                    if !frames.contains(&below) {
                        frames.push(below);
                        let returns = self.kinds[kind].returns.get(&callee.procedure).cloned().unwrap_or_default();
                        returns.into_iter().for_each(|global| self.add(kind, global, below));
                    }
                }
                Effect::Leave => {
                    self.rule(kind, (global, point), to, pushdown::Action::Pop, line);
                    if frame.root {
                        self.add(kind, to, 0);
                        continue;
                    }
                    let returns = self.kinds[kind].returns.entry(frame.procedure).or_default();
                    if !returns.contains(&to) {
                        returns.push(to);
                        let frames = self.kinds[kind].frames.get(&frame.procedure).cloned().unwrap_or_default();
                        frames.into_iter().for_each(|below| self.add(kind, to, below));
                    }
                }
            }
        }
    }

    fn rule(&mut self, kind: usize, (from, top): (u32, u32), to: u32, action: pushdown::Action, line: u32) {
        self.kinds[kind].rules.push(Rule { from: Shared(from), top: Symbol(top), to: Shared(to), action, line });
        self.change(kind, from, to);
    }

    fn model(self) -> Result<Model, TooLarge> {
        let count = 1 + self.others;
        let mut threads = Vec::new();
        for index in 0..count {
            let kind = &self.kinds[index.min(1)];
            let name = if index == 0 { "main".to_owned() } else { format!("thread#{index}") };
            let symbols = names(kind.points.list.iter().map(|point| self.point_name(point)));
            threads.push(Thread { name, symbols, rules: kind.rules.clone() });
        }
        let shared = Names::List(names(self.globals.list.iter().map(|global| self.global_name(global))));
        let init = State {
            shared: Shared(0),
            stacks: (0..count).map(|index| if index == 0 { vec![Symbol(1)] } else { Vec::new() }).collect(),
        };
        Model::new(shared, threads, init, self.properties()).map_err(|malformed| TooLarge(malformed.to_string()))
    }

    /// One property for each assertion, named after its procedure and line, and for each label that must not be reached, also
    /// where nothing can violate it; and that there are enough places, where that is in doubt.
    fn properties(&self) -> Vec<Property> {
        const STANDING: &[Stage] = &[Stage::Running, Stage::Asleep, Stage::Waking];
        let (program, count) = (self.steps.program, 1 + self.others);
        let mut wanted: Vec<(String, (usize, usize), &[Stage])> = Vec::new();
        for (number, procedure) in program.procedures.iter().enumerate() {
            for (position, statement) in procedure.statements.iter().enumerate() {
                if matches!(statement.action, Action::Assert(_)) {
                    let name = format!("{}@{}", procedure.name, statement.line);
                    wanted.push((name, (number, position), &[Stage::Failed]));
                }
            }
        }
        for target in &program.unreachable {
            wanted.push((target.label.clone(), (target.procedure, target.position), STANDING));
        }
        let mut properties: Vec<Property> = Vec::new();
        for (name, at, stages) in wanted {
            let number = properties.iter().position(|property| property.name == name).unwrap_or(properties.len());
            if number == properties.len() {
                properties.push(Property { name, never: Vec::new() });
            }
            for thread in 0..count {
                let points = (1..).zip(&self.kinds[thread.min(1)].points.list);
                for (symbol, _) in points.filter(|(_, point)| stages.contains(&point.stage) && self.stands(point, at)) {
                    let mut tops = vec![None; count];
                    tops[thread] = Some(Symbol(symbol));
                    properties[number].never.push(Pattern { shared: None, tops });
                }
            }
        }
        let full = (0..).zip(&self.globals.list).filter(|(_, global)| global.mode == Mode::Full);
        let never: Vec<_> =
            full.map(|(global, _)| Pattern { shared: Some(Shared(global)), tops: vec![None; count] }).collect();
        if !never.is_empty() {
            properties.push(Property { name: THREAD_LIMIT.to_owned(), never });
        }
        properties
    }

    /// Whether a point is at a statement, or at an atomic block that begins with it.
    fn stands(&self, point: &Point, (procedure, position): (usize, usize)) -> bool {
        let at = point.position as usize;
        point.procedure as usize == procedure && (at == position || self.steps.first_of(procedure, at) == position)
    }

    fn global_name(&self, global: &Global) -> String {
        let program = self.steps.program;
        let variables = program.shared.iter().enumerate();
        let values = variables.map(|(number, variable)| {
            let value = self.steps.shared.get(global.shared, number);
            format!("{}_{}", variable.name, program.value_name(variable.kind, value))
        });
        let mode = match global.mode {
            Mode::Calm => None,
            Mode::Atomic => Some("atomic"),
            Mode::Returned(..) => Some("returned"),
            Mode::Starting { .. } => Some("starting"),
            Mode::Waking(_) => Some("waking"),
            Mode::Ending => Some("ending"),
            Mode::Full => Some("full"),
            Mode::Begin => return "begin".to_owned(),
        };
        let live = (self.others > 0).then(|| format!("threads_{}", global.live));
        let parts: Vec<_> = values.chain(mode.map(str::to_owned)).chain(live).collect();
        if parts.is_empty() { "calm".to_owned() } else { parts.join("'") }
    }

    fn point_name(&self, point: &Point) -> String {
        if point.stage == Stage::Begin {
            return "begin".to_owned();
        }
        let (number, program) = (point.procedure as usize, self.steps.program);
        let procedure = &program.procedures[number];
        let mut name = match procedure.statements.get(point.position as usize) {
            Some(statement) => format!("{}@{}", procedure.name, statement.line),
            None => format!("{}@end", procedure.name),
        };
        if point.stage == Stage::Failed {
            return name + "'failed";
        }
        for (local, variable) in procedure.locals.iter().enumerate() {
            let value = self.steps.locals[number].get(point.locals, local);
            name += &format!("'{}_{}", variable.name, program.value_name(variable.kind, value));
        }
        name
    }
}

/// Whether steps of threads of one kind happen while a thread of another, or another of the same, stands still.
fn disturbs(by: usize, kind: usize, others: usize) -> bool {
    by != kind || (kind == 1 && others > 1)
}

/// Names in the alphabet of models, each one once.
fn names(wanted: impl Iterator<Item = String>) -> Vec<String> {
    let mut used: HashMap<String, u32> = HashMap::new();
    let fits = |mark: char| mark.is_ascii_alphanumeric() || "_'@$".contains(mark);
    let unique = |name: String| {
        let name: String = name.chars().map(|mark| if fits(mark) { mark } else { '_' }).collect();
        let count = used.entry(name.clone()).or_insert(0);
        *count += 1;
        if *count == 1 { name } else { format!("{name}$${count}") }
    };
    wanted.map(unique).collect()
}

//! What `tepui show` says about a test.

use tepui_core::text::count;
use tepui_model::queue::Program;

use super::super::{Field, Summary};

/// What there is to say about a test: its machines with their states, its specs, its events.
pub(super) fn summary(program: &Program, test: Option<&str>, asked: &[String]) -> Summary {
    let specs: Vec<_> = program.specs.iter().map(|spec| spec.kind).collect();
    let used = used(program);
    let machines: Vec<_> = used.iter().copied().filter(|kind| !specs.contains(kind)).collect();
    let (mut threads, mut list) = (vec![row(["machine", "states", "variables", "handles"])], Vec::new());
    for &kind in &machines {
        let (told, own) = (&program.told.kinds[kind], &program.kinds[kind]);
        let handled = handled(program, kind);
        let numbers = [own.states.len(), own.variables.len(), handled.len()].map(|number| number.to_string());
        let [states, variables, handles] = numbers;
        threads.push(vec![told.name.clone(), states, variables, format!("{handles} events")]);
        let texts = |names: &[String]| Field::List(names.iter().cloned().map(Field::Text).collect());
        list.push(Field::Object(vec![
            ("name", Field::Text(told.name.clone())),
            ("states", texts(&told.states)),
            ("variables", texts(&told.variables)),
            ("handles", texts(&handled)),
        ]));
    }
    let names = |kinds: &[usize]| kinds.iter().map(|kind| program.told.kinds[*kind].name.clone()).collect::<Vec<_>>();
    let dialect = if program.rules.today { "today's" } else { "the old one" };
    let mut facts = Vec::new();
    facts.extend(test.map(|test| ("test", test.to_owned())));
    facts.push(("dialect", dialect.to_owned()));
    facts.push(("main", program.told.kinds[program.main].name.clone()));
    facts.push(("specs", if specs.is_empty() { "none".to_owned() } else { names(&specs).join(", ") }));
    let events: Vec<_> = program.told.events.iter().skip(2).cloned().collect();
    let split = "in two steps: specs hear of an event, others may move, and it is put into the queue";
    let sends = if program.rules.split_sends { split } else { "in one step" };
    facts.push(("sends", sends.to_owned()));
    facts.push(("asked for", asked.join(", ")));
    let lines = vec![format!("{}: {}", count(events.len() as u64, "event"), events.join(", "))];
    let texts = |names: Vec<String>| Field::List(names.into_iter().map(Field::Text).collect());
    let fields = vec![
        ("kind", Field::Text("p".to_owned())),
        ("test", Field::Text(test.unwrap_or_default().to_owned())),
        ("main", Field::Text(program.told.kinds[program.main].name.clone())),
        ("machines", Field::List(list)),
        ("specs", texts(names(&specs))),
        ("events", texts(events)),
        ("properties", texts(asked.to_vec())),
    ];
    Summary { what: super::ENTRY.what.to_owned(), facts, threads, lines, fields }
}

fn row(cells: [&str; 4]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

/// The kinds of machines that may come to be, and the specs.
fn used(program: &Program) -> Vec<usize> {
    use tepui_model::queue::{Handler, Instruction};
    let mut used: Vec<usize> = Vec::new();
    let mut open: Vec<usize> = std::iter::once(program.main).collect();
    let mut functions = vec![false; program.functions.len()];
    while let Some(kind) = open.pop() {
        if used.contains(&kind) {
            continue;
        }
        used.push(kind);
        let mut calls: Vec<usize> = Vec::new();
        for state in &program.kinds[kind].states {
            calls.extend(state.entry.iter().chain(&state.exit));
            calls.extend(state.handlers.iter().filter_map(|(_, handler)| match handler {
                Handler::Do(function) | Handler::Goto(_, Some(function)) => Some(*function),
                Handler::Ignore | Handler::Goto(_, None) | Handler::Push(_) => None,
            }));
        }
        while let Some(function) = calls.pop() {
            if std::mem::replace(&mut functions[function], true) {
                continue;
            }
            for instruction in &program.functions[function].code {
                match instruction {
                    Instruction::Call(other, ..) => calls.push(*other),
                    Instruction::New(kind, ..) => open.push(*kind),
                    _ => {}
                }
            }
        }
    }
    used.extend(program.specs.iter().map(|spec| spec.kind));
    used.sort_unstable();
    used.dedup();
    used
}

/// The events that a kind of machine handles in some state.
fn handled(program: &Program, kind: usize) -> Vec<String> {
    let states = program.kinds[kind].states.iter();
    let mut events: Vec<_> = states.flat_map(|state| state.handlers.iter().map(|(event, _)| *event)).collect();
    events.sort_unstable();
    events.dedup();
    events.into_iter().map(|event| program.event_name(event)).collect()
}

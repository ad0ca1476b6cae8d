//! How evidence about programs with queues is read. What is read has the right shape; whether it is right is for the
//! checker to say.

use tepui_model::queue::Value;
use tepui_model::queue::run::{Frame, Letter, Local, Task};
use tepui_model::queue::state::{Machine, State};

use super::terms::{Term, text_of};
use super::{Certificate, Circle, Order, Precision, Queue, Step, Trace};
use crate::read::{Lines, Unreadable, check_seal, read_list};

impl Certificate {
    /// Reads the text form.
    pub fn from_text(text: &str) -> Result<Self, Unreadable> {
        let mut lines = Lines::new(text);
        if lines.next_line() != Some(Self::HEAD) {
            return Err(lines.error(format!("this is no such certificate: it does not start with `{}`", Self::HEAD)));
        }
        check_seal(text)?;
        let program = lines.expect("program")?;
        let program = program.parse().map_err(|message| lines.error(message))?;
        let mut properties = Vec::new();
        while let Some(name) = lines.accept("property") {
            properties.push(name.to_owned());
        }
        let symmetric = lines.accept("symmetric").is_some();
        let partial_order = lines.accept("partial-order").is_some();
        let mut atoms = Vec::new();
        while let Some(place) = lines.accept("atom") {
            let [function, at] = read_numbers(&lines, place)?[..] else {
                return Err(lines.error("expected `atom FUNCTION INSTRUCTION`"));
            };
            atoms.push((function as usize, at as usize));
        }
        let precision = read_list(&mut lines, "kinds", read_precision)?;
        let letters = read_list(&mut lines, "letters", |lines, text| terms(lines, text, read_letter))?;
        let locals = read_list(&mut lines, "locals", |lines, text| terms(lines, text, read_local))?;
        let queues = read_list(&mut lines, "queues", |lines, text| terms(lines, text, read_queue))?;
        let rows = read_list(&mut lines, "rows", |lines, text| read_numbers(lines, text).map(Vec::into_boxed_slice))?;
        let mut named = Vec::new();
        while let Some(pair) = lines.accept("named") {
            let [row, by] = read_numbers(&lines, pair)?[..] else {
                return Err(lines.error("expected `named ROW ROW`"));
            };
            named.push((row, by));
        }
        lines.end()?;
        Ok(Self {
            program,
            properties,
            symmetric,
            partial_order,
            atoms,
            precision,
            letters,
            locals,
            queues,
            rows,
            named,
        })
    }
}

impl Trace {
    /// Reads one trace after the other.
    pub fn from_text(text: &str) -> Result<Vec<Self>, Unreadable> {
        let (mut traces, mut rest, mut before) = (Vec::new(), text, 0);
        loop {
            let (own, others) = rest.split_at(end_of_first(rest));
            let misplaced = |error: Unreadable| Unreadable { line: error.line + before, ..error };
            traces.push(Self::one_from_text(own).map_err(misplaced)?);
            if others.trim().is_empty() {
                return Ok(traces);
            }
            (rest, before) = (others, before + own.lines().count());
        }
    }

    fn one_from_text(text: &str) -> Result<Self, Unreadable> {
        let mut lines = Lines::new(text);
        if lines.next_line() != Some(Self::HEAD) {
            return Err(lines.error(format!("this is no such trace: it does not start with `{}`", Self::HEAD)));
        }
        check_seal(text)?;
        let program = lines.expect("program")?;
        let program = program.parse().map_err(|message| lines.error(message))?;
        let property = lines.expect("property")?.to_owned();
        let start = lines.accept("start").map(|text| read_numbers(&lines, text)).transpose()?.unwrap_or_default();
        let steps = read_list(&mut lines, "steps", |lines, text| {
            let (machine, choices) = text.split_once(':').ok_or_else(|| lines.error("expected `MACHINE : CHOICES`"))?;
            Ok(Step { machine: lines.number(machine)?, choices: read_numbers(lines, choices)? })
        })?;
        let circle = lines.accept("circle").map(|after| lines.number(after)).transpose()?;
        let circle = circle.map(|after| Ok(Circle { after, state: read_state(&mut lines)? })).transpose()?;
        lines.end().map(|()| Self { program, property, start, steps, circle })
    }
}

fn read_state(lines: &mut Lines<'_>) -> Result<State, Unreadable> {
    let machines = read_list(lines, "machines", |lines, text| terms(lines, text, read_local))?;
    let queues = read_list(lines, "queues", |lines, text| terms(lines, text, read_letters))?;
    let specs = read_list(lines, "specs", |lines, text| terms(lines, text, read_local))?;
    if machines.len() != queues.len() {
        return Err(lines.error("there is not one queue for each machine"));
    }
    let machine = |((kind, local), queue)| Machine { kind, local, queue };
    let machines = machines.into_iter().zip(queues).map(machine).collect();
    Ok(State { machines, specs: specs.into_iter().map(|(_, local)| local).collect() })
}

fn read_letters(terms: &[Term<'_>]) -> Option<Vec<Letter>> {
    let [Term::List(list)] = terms else { return None };
    list.chunks(2).map(read_letter).collect()
}

/// Where the first of several sealed texts ends.
fn end_of_first(text: &str) -> usize {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        if line.starts_with("end ") {
            return at;
        }
    }
    at
}

fn read_numbers(lines: &Lines<'_>, text: &str) -> Result<Vec<u32>, Unreadable> {
    text.split_ascii_whitespace().map(|number| lines.number(number)).collect()
}

fn terms<T>(lines: &Lines<'_>, text: &str, read: impl FnOnce(&[Term<'_>]) -> Option<T>) -> Result<T, Unreadable> {
    let terms = Term::read(text);
    terms.and_then(|terms| read(&terms)).ok_or_else(|| lines.error("this line has not the form that is due here"))
}

fn read_precision(lines: &Lines<'_>, text: &str) -> Result<Precision, Unreadable> {
    let words: Vec<_> = text.split_ascii_whitespace().collect();
    let [prefix, order, cap] = words.as_slice() else { return Err(lines.error("expected `PREFIX ORDER CAP`")) };
    let prefix = if *prefix == "all" { None } else { Some(lines.number(prefix)?) };
    let order = match *order {
        "bag" => Order::Bag,
        "list" => Order::List,
        "ends" => Order::Ends,
        _ => return Err(lines.error("the order is `bag`, `list` or `ends`")),
    };
    Ok(Precision { prefix, order, cap: lines.number(cap)? })
}

fn read_queue(terms: &[Term<'_>]) -> Option<Queue> {
    let [prefix, marks, counts] = terms else { return None };
    let mark = |term: &Term<'_>| -> Option<(u32, bool)> {
        let word = term.word()?;
        let first = word.strip_suffix('\'').unwrap_or(word);
        Some((first.parse().ok()?, first.len() < word.len()))
    };
    let count = |term: &Term<'_>| -> Option<(u32, u8)> {
        let (letter, count) = term.word()?.split_once(':')?;
        Some((letter.parse().ok()?, count.parse().ok()?))
    };
    Some(Queue {
        prefix: prefix.list()?.iter().map(Term::number).collect::<Option<_>>()?,
        marks: marks.list()?.iter().map(mark).collect::<Option<_>>()?,
        counts: counts.list()?.iter().map(count).collect::<Option<_>>()?,
    })
}

fn read_letter(terms: &[Term<'_>]) -> Option<Letter> {
    let [event, payload] = terms else { return None };
    Some(Letter { event: event.number()?, payload: read_value(payload)? })
}

fn read_values(terms: &[Term<'_>]) -> Option<Vec<Value>> {
    terms.iter().map(read_value).collect()
}

fn read_value(term: &Term<'_>) -> Option<Value> {
    let list = match term {
        Term::Word(word) => return read_word(word),
        Term::List(list) => list,
    };
    let (head, rest) = list.split_first()?;
    Some(match (head.word()?, rest) {
        ("constant", [of, number]) => Value::Constant { of: of.number()?, number: number.number()? },
        ("tuple", parts) => Value::Tuple(read_values(parts)?.into()),
        ("record", [names, parts @ ..]) => Value::Record(names.number()?, read_values(parts)?.into()),
        ("seq", parts) => Value::Seq(read_values(parts)?.into()),
        ("set", parts) => Value::Set(read_values(parts)?.into()),
        ("map", parts) if parts.len() % 2 == 0 => {
            let parts = read_values(parts)?;
            Value::Map(parts.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect())
        }
        _ => return None,
    })
}

fn read_word(word: &str) -> Option<Value> {
    let number = |prefix: char| word.strip_prefix(prefix);
    Some(match word {
        "_" => Value::Forgotten,
        "null" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ if word.starts_with('"') => Value::text(&text_of(word)?),
        _ if word.starts_with('~') => Value::Distance(number('~')?.parse().ok()?),
        _ if word.starts_with('^') => Value::Name(number('^')?.parse().ok()?),
        _ if word.starts_with(['@', '$']) => {
            let (class, number) = word[1..].split_once('.')?;
            Value::Atom { class: class.parse().ok()?, number: number.parse().ok()?, text: word.starts_with('$') }
        }
        _ if word.starts_with('f') => Value::Float(u64::from_str_radix(number('f')?, 16).ok()?),
        _ if word.starts_with('e') => Value::Event(number('e')?.parse().ok()?),
        _ if word.starts_with('m') => Value::Machine(number('m')?.parse().ok()?),
        _ => Value::Int(word.parse().ok()?),
    })
}

fn read_local(terms: &[Term<'_>]) -> Option<(u32, Local)> {
    let [kind, halted, states, frames, agenda, variables, pending] = terms else { return None };
    let halted = match halted.word()? {
        "halted" => true,
        "alive" => false,
        _ => return None,
    };
    let pending = match pending.list()? {
        [] => None,
        [target, letter @ ..] => Some((target.number()?, read_letter(letter)?)),
    };
    let local = Local {
        states: states.list()?.iter().map(Term::number).collect::<Option<_>>()?,
        frames: frames.list()?.iter().map(read_frame).collect::<Option<_>>()?,
        agenda: agenda.list()?.iter().map(read_task).collect::<Option<_>>()?,
        variables: read_values(variables.list()?)?,
        pending,
        halted,
    };
    Some((kind.number()?, local))
}

fn read_frame(term: &Term<'_>) -> Option<Frame> {
    let [function, at, into, slots @ ..] = term.list()? else { return None };
    let into = if into.word()? == "-" { None } else { Some(into.number()?) };
    Some(Frame { function: function.number()?, at: at.number()?, slots: read_values(slots)?, into })
}

fn read_task(term: &Term<'_>) -> Option<Task> {
    let (head, rest) = term.list()?.split_first()?;
    Some(match (head.word()?, rest) {
        ("exit", []) => Task::Exit,
        ("leave", []) => Task::Leave,
        ("enter", [state]) => Task::Enter(state.number()?),
        ("entry", [payload]) => Task::Entry(read_value(payload)?),
        ("run", [function, payload]) => Task::Run(function.number()?, read_value(payload)?),
        ("handle", letter) => Task::Handle(read_letter(letter)?),
        ("below", []) => Task::Below,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tepui_model::Digest;

    #[test]
    fn written_and_read_again() {
        let value = Value::Map(
            [
                (Value::Tuple([Value::Null, Value::Bool(true)].into()), Value::text("a (b) %\n\u{e9}#")),
                (Value::Record(2, [Value::Constant { of: 1, number: -3 }].into()), Value::float(-1.5)),
                (
                    Value::Seq([Value::Event(3), Value::Machine(0)].into()),
                    Value::Set([Value::Int(-7), Value::Forgotten].into()),
                ),
            ]
            .into(),
        );
        let letter = Letter { event: 4, payload: value.clone() };
        let tasks = [
            Task::Exit,
            Task::Leave,
            Task::Enter(1),
            Task::Entry(Value::Null),
            Task::Run(3, value.clone()),
            Task::Handle(letter.clone()),
            Task::Below,
        ];
        let local = Local {
            states: vec![0, 2],
            frames: vec![
                Frame {
                    function: 1,
                    at: 2,
                    slots: vec![
                        value,
                        Value::Forgotten,
                        Value::Distance(-2),
                        Value::Name(-3),
                        Value::Atom { class: 1, number: 7, text: true },
                    ],
                    into: None,
                },
                Frame { function: 0, at: 0, slots: Vec::new(), into: Some(3) },
            ],
            agenda: tasks.into(),
            variables: vec![Value::Int(i64::MIN)],
            pending: Some((1, letter.clone())),
            halted: false,
        };
        let certificate = Certificate {
            program: Digest::of(b"p"),
            properties: vec!["assert".to_owned()],
            symmetric: true,
            partial_order: true,
            atoms: vec![(3, 1), (0, 12)],
            precision: vec![
                Precision { prefix: None, order: Order::Ends, cap: 0 },
                Precision { prefix: Some(2), order: Order::Bag, cap: 3 },
            ],
            letters: vec![letter],
            locals: vec![(1, local)],
            queues: vec![Queue { prefix: vec![0, 0], marks: vec![(0, false), (0, true)], counts: vec![(0, 2)] }],
            rows: vec![vec![0, 0].into()],
            named: vec![(1, 0)],
        };
        assert_eq!(Certificate::from_text(&certificate.to_text()).as_ref(), Ok(&certificate));
        let steps = vec![Step { machine: 0, choices: vec![1, 0] }, Step { machine: 2, choices: Vec::new() }];
        let (program, property) = (Digest::of(b"p"), "assert".to_owned());
        let trace = Trace { program, property, start: Vec::new(), steps, circle: None };
        let (kind, local) = certificate.locals[0].clone();
        let machine = |queue: &[Letter]| Machine { kind, local: local.clone(), queue: queue.to_vec() };
        let machines = vec![machine(&[]), machine(&[certificate.letters[0].clone(), certificate.letters[0].clone()])];
        let circle = Some(Circle { after: 1, state: State { machines, specs: vec![local.clone()] } });
        let round = Trace { circle, start: vec![0, 2], ..trace.clone() };
        let text = |trace: &Trace| trace.to_text(|_| "a\nb".to_owned());
        assert_eq!(Trace::from_text(&(text(&trace) + &text(&round))), Ok(vec![trace, round]));
    }

    #[test]
    fn nonsense_is_refused() {
        for line in ["", "( ", ")", "( ( )", "1 2 3", "x 1", "1 ( tuple", "1 ( map 1 )", "1 ( record )", "1 \"%4"] {
            assert!(Term::read(line).and_then(|terms| read_letter(&terms)).is_none(), "{line}");
        }
        let deep = format!("1 {}{}", "( seq ".repeat(300), ") ".repeat(300));
        assert!(Term::read(&deep).is_none());
    }
}

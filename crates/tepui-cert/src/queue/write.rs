//! How evidence about programs with queues is written.

use std::fmt::Write as _;

use tepui_model::queue::Value;
use tepui_model::queue::run::{Frame, Letter, Local, Task};

use super::terms::word_of;
use super::{Certificate, Circle, Order, Precision, Queue, Trace};
use crate::write::{comment_text, sealed};

impl Certificate {
    /// The text form.
    pub fn to_text(&self) -> String {
        let mut out = format!("{}\nprogram {}\n", Self::HEAD, self.program);
        self.properties.iter().for_each(|property| _ = writeln!(out, "property {property}"));
        if self.symmetric {
            out.push_str("symmetric\n");
        }
        if self.partial_order {
            out.push_str("partial-order\n");
        }
        self.atoms.iter().for_each(|(function, at)| _ = writeln!(out, "atom {function} {at}"));
        list(&mut out, "kinds", &self.precision, precision);
        list(&mut out, "letters", &self.letters, letter);
        list(&mut out, "locals", &self.locals, |(kind, local)| format!("{kind} {}", machine(local)));
        list(&mut out, "queues", &self.queues, queue);
        list(&mut out, "rows", &self.rows, |row| numbers(row));
        self.named.iter().for_each(|(row, by)| _ = writeln!(out, "named {row} {by}"));
        sealed(&out)
    }
}

impl Trace {
    /// The text form; `remark` says something about each step, for people.
    pub fn to_text(&self, remark: impl Fn(usize) -> String) -> String {
        let mut out = format!("{}\nprogram {}\nproperty {}\n", Self::HEAD, self.program, self.property);
        if !self.start.is_empty() {
            let _ = writeln!(out, "start {}", numbers(&self.start));
        }
        let _ = writeln!(out, "steps {}", self.steps.len());
        for (number, step) in self.steps.iter().enumerate() {
            let remark = comment_text(&remark(number));
            let _ = writeln!(out, "{} : {} # {remark}", step.machine, numbers(&step.choices));
        }
        if let Some(Circle { after, state }) = &self.circle {
            let _ = writeln!(out, "circle {after}");
            list(&mut out, "machines", &state.machines, |own| format!("{} {}", own.kind, machine(&own.local)));
            list(&mut out, "queues", &state.machines, |own| {
                format!("( {})", own.queue.iter().map(|one| letter(one) + " ").collect::<String>())
            });
            list(&mut out, "specs", &state.specs, |own| format!("0 {}", machine(own)));
        }
        sealed(&out)
    }
}

fn list<T>(out: &mut String, word: &str, items: &[T], line: impl Fn(&T) -> String) {
    let _ = writeln!(out, "{word} {}", items.len());
    items.iter().for_each(|item| _ = writeln!(out, "{}", line(item)));
}

fn numbers(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}

fn precision(precision: &Precision) -> String {
    let order = match precision.order {
        Order::Bag => "bag",
        Order::List => "list",
        Order::Ends => "ends",
    };
    let prefix = precision.prefix.map_or("all".to_owned(), |prefix| prefix.to_string());
    format!("{prefix} {order} {}", precision.cap)
}

fn queue(queue: &Queue) -> String {
    let marks = queue.marks.iter().map(|(letter, last)| format!("{letter}{}", if *last { "'" } else { "" }));
    let counts = queue.counts.iter().map(|(letter, count)| format!("{letter}:{count}"));
    let (marks, counts) = (marks.collect::<Vec<_>>().join(" "), counts.collect::<Vec<_>>().join(" "));
    format!("( {} ) ( {marks} ) ( {counts} )", numbers(&queue.prefix))
}

fn letter(letter: &Letter) -> String {
    format!("{} {}", letter.event, value(&letter.payload))
}

fn values(parts: &[Value]) -> String {
    parts.iter().map(|part| value(part) + " ").collect()
}

fn value(one: &Value) -> String {
    match one {
        Value::Forgotten => "_".to_owned(),
        Value::Distance(number) => format!("~{number}"),
        Value::Name(number) => format!("^{number}"),
        Value::Atom { class, number, text } => format!("{}{class}.{number}", if *text { '$' } else { '@' }),
        Value::Null => "null".to_owned(),
        Value::Bool(holds) => holds.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Float(bits) => format!("f{bits:016x}"),
        Value::Text(text) => word_of(text),
        Value::Constant { of, number } => format!("( constant {of} {number} )"),
        Value::Event(event) => format!("e{event}"),
        Value::Machine(machine) => format!("m{machine}"),
        Value::Tuple(parts) => format!("( tuple {})", values(parts)),
        Value::Record(names, parts) => format!("( record {names} {})", values(parts)),
        Value::Seq(parts) => format!("( seq {})", values(parts)),
        Value::Set(parts) => format!("( set {})", values(parts)),
        Value::Map(entries) => {
            let entries: String =
                entries.iter().map(|(key, found)| format!("{} {} ", value(key), value(found))).collect();
            format!("( map {entries})")
        }
    }
}

fn machine(local: &Local) -> String {
    let frames: String = local.frames.iter().map(frame).collect();
    let agenda: String = local.agenda.iter().map(task).collect();
    let pending = local.pending.as_ref().map(|(target, own)| format!("{target} {} ", letter(own))).unwrap_or_default();
    let halted = if local.halted { "halted" } else { "alive" };
    format!(
        "{halted} ( {} ) ( {frames}) ( {agenda}) ( {}) ( {pending})",
        numbers(&local.states),
        values(&local.variables)
    )
}

fn frame(frame: &Frame) -> String {
    let into = frame.into.map_or("-".to_owned(), |into| into.to_string());
    format!("( {} {} {into} {}) ", frame.function, frame.at, values(&frame.slots))
}

fn task(task: &Task) -> String {
    match task {
        Task::Exit => "( exit ) ".to_owned(),
        Task::Leave => "( leave ) ".to_owned(),
        Task::Enter(state) => format!("( enter {state} ) "),
        Task::Entry(payload) => format!("( entry {} ) ", value(payload)),
        Task::Run(function, payload) => format!("( run {function} {} ) ", value(payload)),
        Task::Handle(own) => format!("( handle {} ) ", letter(own)),
        Task::Below => "( below ) ".to_owned(),
    }
}

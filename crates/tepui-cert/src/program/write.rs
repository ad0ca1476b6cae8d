//! How certificates about programs are written.

use std::fmt::Write as _;

use tepui_model::Digest;
use tepui_model::program::Goal;
use tepui_model::program::step::{Frame, Stage, Value};

use super::{ANY, Certificate, Crowd, Kept, Marking, Node, Pending, Tasks};
use crate::write::sealed;

/// How a value is written that is forgotten, and one that is not there yet.
pub(super) const FORGOTTEN: &str = "-";
pub(super) const UNSET: &str = "?";

/// How any number of tasks is written.
pub(super) const ANY_NUMBER: &str = "any";

/// The words for what a frame does. One that sleeps on a condition adds its number: `sleeps@2`.
pub(super) const STAGES: [(Stage, &str); 6] = [
    (Stage::Running, "runs"),
    (Stage::Asleep(0), "sleeps"),
    (Stage::Storing, "stores"),
    (Stage::Waiting, "waits"),
    (Stage::Posted, "posted"),
    (Stage::Yielded, "yielded"),
];
pub(super) const ON: &str = "sleeps@";

/// How many bits the numbers of so many values have.
pub fn bits_of(values: u32) -> u32 {
    u32::BITS - values.saturating_add(1).leading_zeros()
}

impl Certificate {
    /// The first line.
    pub const HEAD: &'static str = "tepui certificate of a program 1";

    /// The first lines that a text may have.
    pub const HEADS: &[&str] = &[Self::HEAD];

    /// The program that the proof is about.
    pub fn model(&self) -> Digest {
        self.program
    }

    /// The text form.
    pub fn to_text(&self) -> String {
        let mut out = format!("{}\nprogram {}\n", Self::HEAD, self.program);
        for property in &self.properties {
            let _ = writeln!(out, "property {}", property.name);
            for goal in &property.never {
                let _ = match goal {
                    Goal::Failure(procedure, position) => writeln!(out, "never fails {procedure} {position}"),
                    Goal::Range(procedure, position) => writeln!(out, "never leaves-range {procedure} {position}"),
                    Goal::Index(procedure, position) => writeln!(out, "never leaves-array {procedure} {position}"),
                    Goal::Reached(procedure, position) => writeln!(out, "never reaches {procedure} {position}"),
                    Goal::Deadlock => writeln!(out, "never stuck"),
                };
            }
        }
        self.kept.write(&mut out);
        let _ = writeln!(out, "shared {}", self.shared.len());
        for state in self.shared.iter() {
            let values: Vec<_> = state.iter().copied().map(Value::of).collect();
            out.push_str(&format!("{}\n", values_text(&values)));
        }
        let _ = writeln!(out, "frames {}", self.frames.len());
        self.frames.iter().for_each(|frame| write_frame(&mut out, frame));
        self.lemmas.iter().for_each(|lemma| lemma.write(&mut out));
        self.regular.iter().for_each(|regular| regular.write(&mut out));
        self.crowd.iter().for_each(|crowd| crowd.write(&mut out));
        self.tasks.iter().for_each(|tasks| tasks.write(&mut out));
        sealed(&out)
    }
}

impl Crowd {
    fn write(&self, out: &mut String) {
        let _ = writeln!(out, "crowd depth {}", self.depth);
        self.threads.iter().enumerate().for_each(|(number, thread)| thread.write(number, out));
        let _ = writeln!(out, "states {}", self.states.len());
        for (shared, held, main) in &self.states {
            let _ = writeln!(out, "{shared} {} {main}", u8::from(*held));
        }
        self.lemmas.iter().for_each(|lemma| lemma.write(out));
    }
}

impl Tasks {
    fn write(&self, out: &mut String) {
        let _ = writeln!(out, "tasks {}", if self.counted { "counted" } else { "listed" });
        let _ = writeln!(out, "stacks {}", self.stacks.len());
        for stack in &self.stacks {
            let frames: String = stack.iter().map(|symbol| format!(" {}", symbol.0)).collect();
            let _ = writeln!(out, ":{frames}");
        }
        for entry in &self.entries {
            let _ = writeln!(out, "entry {} {}\nnodes {}", entry.shared, entry.stack, entry.nodes.len());
            for Node { shared, stack, posted } in &entry.nodes {
                let posted: Vec<_> = posted.iter().map(pending_text).collect();
                let _ = writeln!(out, "{shared} {stack} :{}", posted.join(" |"));
            }
        }
        let _ = writeln!(out, "markings {}", self.markings.len());
        for Marking { shared, pending } in &self.markings {
            let _ = writeln!(out, "{shared} :{}", pending_text(pending));
        }
    }
}

fn pending_text(pending: &Pending) -> String {
    let one = |&(stack, count): &(u32, u32)| match count {
        1 => format!(" {stack}"),
        ANY => format!(" {stack}*{ANY_NUMBER}"),
        _ => format!(" {stack}*{count}"),
    };
    pending.iter().map(one).collect()
}

impl Kept {
    fn write(&self, out: &mut String) {
        let _ = writeln!(out, "keeps : {}", numbers_text(&self.shared));
        for (procedure, (locals, storing)) in self.locals.iter().zip(&self.storing).enumerate() {
            let _ = writeln!(out, "procedure {procedure}");
            for (word, lists) in [("at", locals), ("storing", storing)] {
                for (position, kept) in lists {
                    let _ = writeln!(out, "{word} {position} : {}", numbers_text(kept));
                }
            }
        }
    }
}

fn write_frame(out: &mut String, frame: &Frame) {
    let stage = match frame.stage {
        Stage::Asleep(condition @ 1..) => format!("{ON}{condition}"),
        stage => STAGES.iter().find(|(other, _)| *other == stage).map_or("", |(_, word)| word).to_owned(),
    };
    let _ = write!(out, "{stage} {} {}", frame.procedure, frame.position);
    for (flag, word) in [(frame.root, "root"), (frame.under, "under"), (frame.insists, "insists")] {
        if flag {
            let _ = write!(out, " {word}");
        }
    }
    let _ = writeln!(out, " {}", values_text(&frame.locals));
}

fn numbers_text(numbers: &[usize]) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(" ")
}

/// Values, `-` where one is forgotten, `?` where there is none yet.
pub(super) fn values_text(values: &[Value]) -> String {
    let value = |value: &Value| match value {
        Value::Known(value) => value.to_string(),
        Value::Forgotten => FORGOTTEN.to_owned(),
        Value::Unset => UNSET.to_owned(),
    };
    format!(": {}", values.iter().map(value).collect::<Vec<_>>().join(" "))
}

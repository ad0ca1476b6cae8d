//! Random programs, as text: plain ones, and ones that use all that the dialects have.

mod apart;
mod data;
mod expressions;
mod idioms;
mod jumps;
mod numbers;
mod operations;
mod plain;
mod procedures;
mod statements;

use fastrand::Rng;

use crate::second::{Dialect, read};
pub use apart::{Apart, apart};
pub use plain::{fixed_program, program};

/// A program.
#[derive(Clone, Debug)]
pub struct Random {
    /// What it says.
    pub text: String,
    /// The dialect that it is in.
    pub dialect: Dialect,
    /// Whether it must be said which dialect that is, because its look is not enough or an expression needs it.
    pub forced: bool,
    /// Labels to ask for.
    pub labels: Vec<String>,
    /// Whether to ask for deadlocks.
    pub deadlock: bool,
}

/// Writes a small program that uses what a dialect has, labels and odd names in particular.
pub fn write(rng: &mut Rng) -> Random {
    let dialect = match rng.usize(..9) {
        0..=3 => Dialect::Tepui,
        4 => Dialect::Satabs,
        5 | 6 => Dialect::Boppo,
        _ => Dialect::Getafix,
    };
    let mut writer = Writer::new(rng, dialect);
    writer.program();
    let Writer { text, mut known, favoured, enforces, .. } = writer;
    let text = with_exclusive(text, dialect, &known, rng);
    let ambiguous = read(&text, dialect).is_ok_and(|reading| reading.ambiguous);
    let forced = ambiguous || dialect == Dialect::Getafix || rng.bool();
    rng.shuffle(&mut known);
    if rng.bool() {
        known.splice(0..0, favoured);
    }
    known.truncate(rng.usize(..=2));
    known.sort();
    known.dedup();
    Random { text, dialect, forced, labels: known, deadlock: rng.usize(..3) == 0 || (enforces && rng.bool()) }
}

/// A program in which, at times, no two threads may stand at some labels.
fn with_exclusive(text: String, dialect: Dialect, labels: &[String], rng: &mut Rng) -> String {
    let tasks = ["post ", "yield;", "tasks "].iter().any(|word| text.contains(word));
    if dialect != Dialect::Tepui || tasks || labels.is_empty() || rng.usize(..4) > 0 {
        return text;
    }
    let mut chosen: Vec<_> = (0..rng.usize(1..=2)).map(|_| labels[rng.usize(..labels.len())].clone()).collect();
    chosen.dedup();
    let more = format!("exclusive {};\n{text}", chosen.join(", "));
    if read(&more, dialect).is_ok() { more } else { text }
}

/// A comment that looks like the end of something.
const COMMENT: &str = " // }} end;\n";

/// The values of the enumeration without a name.
const LIGHTS: [&str; 2] = ["low", "high"];

/// What a variable takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Boolean,
    /// An enumeration with a name.
    Colour,
    /// An enumeration that stands in the declaration of the only variable that takes its values.
    Light,
    /// Numbers, an array or a record: one of the shapes that there are.
    Data(usize),
}

#[derive(Clone, Debug)]
struct Variable {
    name: String,
    kind: Kind,
}

#[derive(Clone, Debug)]
struct Signature {
    name: String,
    parameters: Vec<Kind>,
    results: Vec<Kind>,
}

struct Writer<'r> {
    rng: &'r mut Rng,
    dialect: Dialect,
    text: String,
    shared: Vec<Variable>,
    procedures: Vec<Signature>,
    /// The values of the enumeration with a name, if there is one.
    colours: Vec<String>,
    /// Whether the enumeration without a name is still to be written.
    light: bool,
    /// Names that are keywords in other dialects and that nothing has yet.
    odd: Vec<&'static str>,
    /// How many expressions of three have brackets wherever they could.
    bracketed: usize,
    /// Whether there are tasks instead of threads.
    tasks: bool,
    /// Whether threads sleep.
    sleeping: bool,
    /// How many further threads may be started.
    starts: usize,
    /// Whether some procedure enforces something.
    enforces: bool,
    /// Whether there is a shared variable `raised`, which becomes true and never false again.
    raised: bool,
    /// Numbers, arrays and records, if there are any.
    rich: bool,
    data: data::Data,
    /// A shared variable that only one procedure mentions, and the number of that.
    private: Option<(String, usize)>,
    /// All labels, and those of blocks that begin other blocks.
    known: Vec<String>,
    favoured: Vec<String>,
    /// The number of the next label that is called after its number.
    label: usize,
    now: Now,
}

/// What is known of the procedure at hand.
#[derive(Default)]
struct Now {
    /// Its number; those below may be called.
    number: usize,
    locals: Vec<Variable>,
    results: Vec<Kind>,
    /// Whether there is a variable `told` that nobody has written yet.
    told: bool,
    /// Whether a single statement is wanted.
    only: bool,
    /// A variable that is there to be returned.
    returned: Option<String>,
    /// How many statements may still be written.
    left: usize,
    /// Where its statements begin.
    start: usize,
    /// The atomic blocks around, and how many there have been.
    around: Vec<usize>,
    blocks: usize,
    /// Labels with the atomic blocks around them, and their places in the text.
    labels: Vec<(String, Vec<usize>, usize)>,
    /// The variables of the loops around, with their numbers, or without where they take values of an enumeration.
    loops: Vec<(String, Option<(i64, i64)>)>,
    /// Whether it is `main`, before the threads are started.
    alone: bool,
    /// Whether no index may be in doubt.
    certain: bool,
    /// Whether no index may have a `*` in it.
    starless: bool,
    /// Jumps that have no target yet, with the atomic blocks around them.
    jumps: Vec<jumps::Jump>,
}

impl<'r> Writer<'r> {
    fn new(rng: &'r mut Rng, dialect: Dialect) -> Self {
        let mut odd = match dialect {
            Dialect::Tepui => {
                vec!["begin", "end", "fi", "then", "do", "od", "T", "F", "elsif", "start_thread", "end_thread"]
            }
            _ => vec![
                "atomic", "enum", "exit", "lock", "sleep", "thread", "unlock", "kind", "record", "for", "in", "int",
            ],
        };
        rng.shuffle(&mut odd);
        let light = dialect == Dialect::Tepui && rng.usize(..4) == 0;
        let rich = dialect == Dialect::Tepui && rng.bool();
        let tasks = dialect == Dialect::Tepui && rng.usize(..6) == 0;
        let (bracketed, sleeping) = (rng.usize(..=3), rng.usize(..3) == 0 && !tasks);
        let starts = rng.usize(..=if tasks { 4 } else { 2 });
        let bracketed = if rich { bracketed / 2 } else { bracketed };
        Self {
            rng,
            dialect,
            text: String::new(),
            shared: Vec::new(),
            procedures: Vec::new(),
            colours: Vec::new(),
            light,
            odd,
            bracketed,
            tasks,
            sleeping,
            starts,
            enforces: false,
            raised: false,
            rich,
            data: data::Data::default(),
            private: None,
            known: Vec::new(),
            favoured: Vec::new(),
            label: 0,
            now: Now::default(),
        }
    }

    fn braces(&self) -> bool {
        self.dialect == Dialect::Tepui
    }

    /// Whether a shared variable may be mentioned in the procedure at hand.
    fn may_mention(&self, name: &str) -> bool {
        self.private.as_ref().is_none_or(|(private, owner)| private != name || *owner == self.now.number)
    }

    /// Whether something is done that is done once in a while.
    fn one_in(&mut self, many: usize) -> bool {
        self.rng.usize(..many) == 0
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.rng.usize(..choices.len())]
    }

    /// A name: usually the one that is given, at times one that is a keyword in another dialect.
    fn name(&mut self, usual: String) -> String {
        if self.one_in(5) { self.odd.pop().map_or(usual, str::to_owned) } else { usual }
    }

    /// Leaves out the semicolon that was just written, at times, where a block ends and the dialect allows that.
    fn end_block(&mut self, end: &str) {
        let last = self.text.trim_end();
        let statement = last.len() > self.now.start && last.ends_with(';');
        if !self.braces() && statement && !last.ends_with(COMMENT.trim_end()) && self.rng.usize(..4) == 0 {
            self.text.truncate(last.len() - 1);
            self.text.push(' ');
        }
        self.put(end);
    }

    /// Writes, and goes on to a new line, as a rule.
    fn put(&mut self, text: &str) {
        self.text.push_str(text);
        if self.rich && self.rng.usize(..6) == 0 {
            return self.text.push(' ');
        }
        let separators = ["\n", "\n", "\n", "\n", "\n", "\n", "\n", "\n", " ", COMMENT, " /* void begin { */ "];
        let separator = self.pick(&separators);
        self.text.push_str(separator);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::second::{Limits, explore};

    /// All that is written is read.
    #[test]
    fn random_programs_are_programs() {
        let mut wrong = Vec::new();
        let most = std::env::var("TEPUI_RANDOM_PROGRAMS").ok().and_then(|most| most.parse().ok()).unwrap_or(2_000);
        for seed in 0..most {
            let random = write(&mut Rng::with_seed(seed));
            if let Err(why) = read(&random.text, random.dialect) {
                wrong.push(format!("seed {seed}: {why}\n{}", random.text));
            }
        }
        let shown = wrong.iter().take(5).cloned().collect::<Vec<_>>().join("\n\n");
        assert!(wrong.is_empty(), "{} are not read:\n{shown}", wrong.len());
    }

    /// How many states there are, in programs with numbers and in others, and how long it takes to find them.
    #[test]
    fn random_programs_are_small() {
        let (mut rich, mut others) = (Measured::default(), Measured::default());
        for seed in 0..400 {
            let random = write(&mut Rng::with_seed(seed));
            let Ok(reading) = read(&random.text, random.dialect) else { continue };
            let data = reading.program.properties().iter().any(|name| name.starts_with("range@"));
            let measured = if data { &mut rich } else { &mut others };
            let start = std::time::Instant::now();
            let found = explore(&reading.program, &[], Limits { threads: 3, frames: 4, states: 4_000 });
            measured.microseconds += start.elapsed().as_micros();
            measured.programs += 1;
            measured.complete += usize::from(found.complete);
            measured.states += found.states;
            let known = |name: &String| reading.program.properties().contains(name);
            let odd: Vec<_> = found.violated.iter().filter(|name| !known(name)).collect();
            assert!(odd.is_empty(), "seed {seed}: {odd:?}\n{}", random.text);
            measured.violated += usize::from(found.violated.iter().any(|name| name.contains("range@")));
        }
        eprintln!("with numbers: {rich:?}; others: {others:?}");
        assert!(3 * rich.complete > rich.programs, "{rich:?}");
        assert!(3 * others.complete > others.programs, "{others:?}");
    }

    #[derive(Default, Debug)]
    struct Measured {
        programs: usize,
        complete: usize,
        states: usize,
        violated: usize,
        microseconds: u128,
    }

    /// In a third of the programs there is a shared variable that only one procedure mentions.
    #[test]
    fn some_variables_belong_to_one_procedure() {
        let texts: Vec<_> = (0..1_000).map(|seed| write(&mut Rng::with_seed(seed)).text).collect();
        let private = texts.iter().filter(|text| text.contains("own :=")).count();
        assert!(3 * private > texts.len(), "{private} of {}", texts.len());
    }
}

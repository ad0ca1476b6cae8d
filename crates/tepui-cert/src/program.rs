//! Certificates about programs: inductive sets of views of the source.
//!
//! A certificate says what it keeps: which shared variables, and for each position of a procedure which local ones. It
//! has a table of shared states, with a value for each variable that is kept, and one of [`Frame`]s: a position of a
//! procedure with values, and what is going on there. Lemmas are those of [pushdown proofs](crate::pushdown), over the
//! numbers of these tables: the n-th shared state is n - 1, the n-th frame is the symbol n, and 0 is the end of a stack.
//!
//! What is not in the tables a thread must pass without being seen. The steps of the program are nowhere in a
//! certificate: the checker takes them from the interpreter.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tepui_model::Digest;
use tepui_model::program::step::{Frame, Stage, Value};
use tepui_model::program::{Goal, Property};

use crate::pushdown::{Lemma, Regular};
use crate::text::{Lines, Unreadable, check_seal, read_list, read_values, sealed, values_text};

/// A proof about a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certificate {
    /// The program.
    pub program: Digest,
    /// What is proved; nothing, if the proof is only that the views of the last lemma are all there are.
    pub properties: Vec<Property>,
    /// Which values are told apart.
    pub kept: Kept,
    /// The shared states.
    pub shared: Vec<Vec<Value>>,
    /// The frames.
    pub frames: Vec<Frame>,
    /// The lemmas, each relative to those before it.
    pub lemmas: Vec<Lemma>,
    /// Regular sets, instead of lemmas.
    pub regular: Option<Regular>,
}

/// Which variables are kept, by number, in ascending order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Kept {
    /// The shared ones.
    pub shared: Vec<usize>,
    /// For each procedure, and positions of it, the local ones; none, where a position is not mentioned.
    pub locals: Vec<Positions>,
    /// The same while a frame waits at that position for results that it stores.
    pub storing: Vec<Positions>,
}

/// Variables that are kept at positions of a procedure.
pub type Positions = BTreeMap<usize, Vec<usize>>;

impl Certificate {
    /// The first line.
    pub const HEAD: &'static str = "tepui certificate of a program 1";

    /// The text form.
    pub fn to_text(&self) -> String {
        let mut out = format!("{}\nprogram {}\n", Self::HEAD, self.program);
        for property in &self.properties {
            let _ = writeln!(out, "property {}", property.name);
            for goal in &property.never {
                let _ = match goal {
                    Goal::Failure(procedure, position) => writeln!(out, "never fails {procedure} {position}"),
                    Goal::Reached(procedure, position) => writeln!(out, "never reaches {procedure} {position}"),
                    Goal::Deadlock => writeln!(out, "never stuck"),
                };
            }
        }
        self.kept.write(&mut out);
        let _ = writeln!(out, "shared {}", self.shared.len());
        self.shared.iter().for_each(|values| out.push_str(&format!("{}\n", values_text(values))));
        let _ = writeln!(out, "frames {}", self.frames.len());
        self.frames.iter().for_each(|frame| write_frame(&mut out, frame));
        self.lemmas.iter().for_each(|lemma| lemma.write(&mut out));
        self.regular.iter().for_each(|regular| regular.write(&mut out));
        sealed(&out)
    }

    /// Reads the text form. What is read has the right shape; whether it is right is for the checker to say.
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
            properties.push(Property { name: name.to_owned(), never: read_goals(&mut lines)? });
        }
        let kept = Kept::read(&mut lines)?;
        let shared = read_list(&mut lines, "shared", read_values)?;
        let frames = read_list(&mut lines, "frames", read_frame)?;
        let mut lemmas = Vec::new();
        while let Some(head) = lines.accept("lemma") {
            lemmas.push(Lemma::read(&mut lines, head)?);
        }
        let regular = match lines.accept("regular") {
            Some(head) => Some(Regular::read(&mut lines, head)?),
            None => None,
        };
        lines.end().map(|()| Self { program, properties, kept, shared, frames, lemmas, regular })
    }
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

    fn read(lines: &mut Lines<'_>) -> Result<Self, Unreadable> {
        let shared = lines.expect("keeps")?;
        let shared = shared.strip_prefix(':').ok_or_else(|| lines.error("expected `keeps : VARIABLES`"))?;
        let mut kept = Self { shared: read_numbers(lines, shared)?, ..Self::default() };
        while let Some(number) = lines.accept("procedure") {
            if lines.number::<usize>(number)? != kept.locals.len() {
                return Err(lines.error(format!("expected procedure {}", kept.locals.len())));
            }
            kept.locals.push(read_positions(lines, "at")?);
            kept.storing.push(read_positions(lines, "storing")?);
        }
        Ok(kept)
    }
}

fn read_positions(lines: &mut Lines<'_>, word: &str) -> Result<Positions, Unreadable> {
    let mut positions = Positions::new();
    while let Some(text) = lines.accept(word) {
        let (position, kept) = text.split_once(':').ok_or_else(|| lines.error("expected `POSITION : VARIABLES`"))?;
        let kept = read_numbers(lines, kept)?;
        if positions.insert(lines.number(position)?, kept).is_some() {
            return Err(lines.error("a position is mentioned twice"));
        }
    }
    Ok(positions)
}

fn numbers_text(numbers: &[usize]) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(" ")
}

fn read_numbers(lines: &Lines<'_>, text: &str) -> Result<Vec<usize>, Unreadable> {
    text.split_ascii_whitespace().map(|number| lines.number(number)).collect()
}

fn read_goals(lines: &mut Lines<'_>) -> Result<Vec<Goal>, Unreadable> {
    let mut goals = Vec::new();
    while let Some(text) = lines.accept("never") {
        let fields: Vec<_> = text.split_whitespace().collect();
        goals.push(match fields.as_slice() {
            ["fails", procedure, position] => Goal::Failure(lines.number(procedure)?, lines.number(position)?),
            ["reaches", procedure, position] => Goal::Reached(lines.number(procedure)?, lines.number(position)?),
            ["stuck"] => Goal::Deadlock,
            _ => return Err(lines.error("expected `never fails P L`, `never reaches P L` or `never stuck`")),
        });
    }
    Ok(goals)
}

const STAGES: [(Stage, &str); 4] =
    [(Stage::Running, "runs"), (Stage::Asleep, "sleeps"), (Stage::Storing, "stores"), (Stage::Waiting, "waits")];

fn write_frame(out: &mut String, frame: &Frame) {
    let stage = STAGES.iter().find(|(stage, _)| *stage == frame.stage).map_or("", |(_, word)| word);
    let _ = write!(out, "{stage} {} {}", frame.procedure, frame.position);
    for (flag, word) in [(frame.root, "root"), (frame.under, "under"), (frame.insists, "insists")] {
        if flag {
            let _ = write!(out, " {word}");
        }
    }
    let _ = writeln!(out, " {}", values_text(&frame.locals));
}

fn read_frame(lines: &Lines<'_>, text: &str) -> Result<Frame, Unreadable> {
    let colon = text.find(':').ok_or_else(|| lines.error("expected `STAGE PROCEDURE POSITION : VALUES`"))?;
    let (head, values) = text.split_at(colon);
    let fields: Vec<_> = head.split_whitespace().collect();
    let [stage, procedure, position, flags @ ..] = fields.as_slice() else {
        return Err(lines.error("expected `STAGE PROCEDURE POSITION : VALUES`"));
    };
    let stage = STAGES.iter().find(|(_, word)| word == stage).map(|(stage, _)| *stage);
    let stage = stage.ok_or_else(|| lines.error("a frame runs, sleeps, stores or waits"))?;
    if let Some(flag) = flags.iter().find(|flag| !["root", "under", "insists"].contains(flag)) {
        return Err(lines.error(format!("`{flag}` is nothing that a frame is")));
    }
    Ok(Frame {
        procedure: lines.number(procedure)?,
        position: lines.number(position)?,
        locals: read_values(lines, values)?,
        stage,
        root: flags.contains(&"root"),
        under: flags.contains(&"under"),
        insists: flags.contains(&"insists"),
    })
}

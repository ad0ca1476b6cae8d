//! How certificates about programs are read.

use tepui_model::program::step::{Frame, Stage, Value};
use tepui_model::program::{Goal, Property};
use tepui_model::pushdown::Symbol;

use super::write::{ANY_NUMBER, FORGOTTEN, ON, STAGES, UNSET};
use super::{ANY, Certificate, Crowd, Entry, Kept, Marking, Node, Pending, Positions, Tasks};
use crate::counters;
use crate::pushdown::{Lemma, LemmaThread, Regular, Row, Rows};
use crate::read::{Lines, Unreadable, check_seal, read_list};

impl Certificate {
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
        let shared = read_shared(&mut lines)?;
        let frames = read_list(&mut lines, "frames", read_frame)?;
        let mut lemmas = Vec::new();
        while let Some(head) = lines.accept("lemma") {
            lemmas.push(Lemma::read(&mut lines, head)?);
        }
        let regular = match lines.accept("regular") {
            Some(head) => Some(Regular::read(&mut lines, head)?),
            None => None,
        };
        let crowd = match lines.accept("crowd") {
            Some(head) => Some(Box::new(Crowd::read(&mut lines, head)?)),
            None => None,
        };
        let tasks = match lines.accept("tasks") {
            Some(head) => Some(Box::new(Tasks::read(&mut lines, head)?)),
            None => None,
        };
        lines.end().map(|()| Self { program, properties, kept, shared, frames, lemmas, regular, crowd, tasks })
    }
}

impl Crowd {
    fn read(lines: &mut Lines<'_>, head: &str) -> Result<Self, Unreadable> {
        let depth = head.strip_prefix("depth").ok_or_else(|| lines.error("expected `crowd depth B`"))?;
        let depth = lines.number(depth)?;
        let main = LemmaThread::read(lines, &[])?;
        let others = LemmaThread::read(lines, std::slice::from_ref(&main))?;
        let states = read_list(lines, "states", |lines, line| {
            match *line.split_ascii_whitespace().collect::<Vec<_>>().as_slice() {
                [shared, held @ ("0" | "1"), main] => Ok((lines.number(shared)?, held == "1", lines.number(main)?)),
                _ => Err(lines.error("expected `SHARED HELD MAIN`, where HELD is 0 or 1")),
            }
        })?;
        let mut lemmas = Vec::new();
        while let Some(head) = lines.accept("lemma") {
            lemmas.push(counters::Lemma::read(lines, head)?);
        }
        Ok(Self { depth, threads: [main, others], states, lemmas })
    }
}

impl Tasks {
    fn read(lines: &mut Lines<'_>, head: &str) -> Result<Self, Unreadable> {
        let counted = match head {
            "counted" => true,
            "listed" => false,
            _ => return Err(lines.error("tasks are `counted` or `listed`")),
        };
        let stacks = read_list(lines, "stacks", |lines, line| {
            let frames = line.strip_prefix(':').ok_or_else(|| lines.error("expected `: FRAMES`"))?;
            frames.split_ascii_whitespace().map(|frame| lines.number(frame).map(Symbol)).collect()
        })?;
        let mut entries = Vec::new();
        while let Some(head) = lines.accept("entry") {
            let (shared, stack) = read_point(lines, head)?;
            let nodes = read_list(lines, "nodes", |lines, line| {
                let (point, posted) = line.split_once(':').ok_or_else(|| lines.error("expected `POINT : POSTED`"))?;
                let (shared, stack) = read_point(lines, point)?;
                let posted = posted.split('|').map(|one| read_pending(lines, one)).collect::<Result<_, _>>()?;
                Ok(Node { shared, stack, posted })
            })?;
            entries.push(Entry { shared, stack, nodes });
        }
        let markings = read_list(lines, "markings", |lines, line| {
            let (shared, pending) = line.split_once(':').ok_or_else(|| lines.error("expected `SHARED : PENDING`"))?;
            Ok(Marking { shared: lines.number(shared)?, pending: read_pending(lines, pending)? })
        })?;
        Ok(Self { counted, stacks, entries, markings })
    }
}

/// Reads a shared state and a stack.
fn read_point(lines: &Lines<'_>, text: &str) -> Result<(u32, u32), Unreadable> {
    match *text.split_ascii_whitespace().collect::<Vec<_>>().as_slice() {
        [shared, stack] => Ok((lines.number(shared)?, lines.number(stack)?)),
        _ => Err(lines.error("expected `SHARED STACK`")),
    }
}

fn read_pending(lines: &Lines<'_>, text: &str) -> Result<Pending, Unreadable> {
    let one = |part: &str| {
        let (stack, count) = part.split_once('*').unwrap_or((part, "1"));
        Ok((lines.number(stack)?, if count == ANY_NUMBER { ANY } else { lines.number(count)? }))
    };
    text.split_ascii_whitespace().map(one).collect()
}

/// Reads the shared states. Most variables are Boolean, and the table grows for others.
fn read_shared(lines: &mut Lines<'_>) -> Result<Rows, Unreadable> {
    let mut states: Option<Rows> = None;
    read_list(lines, "shared", |lines, text| {
        let values = read_values(lines, text)?;
        let states = states.get_or_insert_with(|| Rows::with_bits(&vec![2; values.len()]));
        if values.len() != states.width() {
            return Err(lines.error(format!("expected {} values, as before", states.width())));
        }
        states.push(values.into_iter().map(Value::number).collect::<Row>());
        Ok(())
    })?;
    Ok(states.unwrap_or_else(|| Rows::new(0)))
}

impl Kept {
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
            ["leaves-range", procedure, position] => Goal::Range(lines.number(procedure)?, lines.number(position)?),
            ["leaves-array", procedure, position] => Goal::Index(lines.number(procedure)?, lines.number(position)?),
            ["stuck"] => Goal::Deadlock,
            _ => return Err(lines.error("expected `never fails P L`, `never reaches P L`, `never leaves-range P L`, `never leaves-array P L` or `never stuck`")),
        });
    }
    Ok(goals)
}

fn read_frame(lines: &Lines<'_>, text: &str) -> Result<Frame, Unreadable> {
    let colon = text.find(':').ok_or_else(|| lines.error("expected `STAGE PROCEDURE POSITION : VALUES`"))?;
    let (head, values) = text.split_at(colon);
    let fields: Vec<_> = head.split_whitespace().collect();
    let [stage, procedure, position, flags @ ..] = fields.as_slice() else {
        return Err(lines.error("expected `STAGE PROCEDURE POSITION : VALUES`"));
    };
    let stage = match stage.strip_prefix(ON) {
        Some(condition) => Some(Stage::Asleep(lines.number(condition)?)),
        None => STAGES.iter().find(|(_, word)| word == stage).map(|(stage, _)| *stage),
    };
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

/// Reads values.
pub(super) fn read_values(lines: &Lines<'_>, text: &str) -> Result<Vec<Value>, Unreadable> {
    let text = text.trim().strip_prefix(':').ok_or_else(|| lines.error("expected `: VALUES`"))?;
    let value = |text: &str| match text {
        FORGOTTEN => Ok(Value::Forgotten),
        UNSET => Ok(Value::Unset),
        text => lines.number(text).map(Value::Known),
    };
    text.split_ascii_whitespace().map(value).collect()
}

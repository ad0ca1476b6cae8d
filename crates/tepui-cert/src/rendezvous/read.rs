//! How certificates about threads that meet are read.

use tepui_model::pushdown::Symbol;
use tepui_model::rendezvous::{Action, Control};

use super::languages::{Automaton, Claim, Direction, Languages};
use super::views::{Forbidden, Frame, Views};
use crate::pushdown::Lemma;
use crate::read::{Lines, Unreadable, check_seal, read_list, read_values};

impl Languages {
    /// Reads the text form. What is read has the right shape; whether it is right is for the checker to say.
    pub fn from_text(text: &str) -> Result<Self, Unreadable> {
        let mut lines = Lines::new(text);
        if lines.next_line() != Some(Self::HEAD) {
            return Err(lines.error(format!("this is no certificate: it does not start with `{}`", Self::HEAD)));
        }
        check_seal(text)?;
        let model = lines.expect("model")?;
        let model = model.parse().map_err(|message| lines.error(message))?;
        let mut certificate = Self { model, claims: Vec::new() };
        while let Some(name) = lines.accept("property") {
            let never = lines.expect("never")?;
            let never = never.parse().map_err(|message| lines.error(message))?;
            let mut claim = Claim { name: name.to_owned(), never, targets: Vec::new() };
            while let Some(head) = lines.accept("target") {
                claim.targets.push(read_target(&mut lines, head)?);
            }
            certificate.claims.push(claim);
        }
        lines.end().map(|()| certificate)
    }
}

fn read_target(lines: &mut Lines<'_>, head: &str) -> Result<Vec<Vec<Automaton>>, Unreadable> {
    let count: u16 = read_count(lines, head, "threads")?;
    let mut threads = Vec::new();
    for _ in 0..count {
        let head = lines.expect("thread")?;
        let count: u16 = read_count(lines, head, "automata")?;
        let mut automata = Vec::new();
        for _ in 0..count {
            automata.push(Automaton::read(lines)?);
        }
        threads.push(automata);
    }
    Ok(threads)
}

fn read_count<T: std::str::FromStr>(lines: &Lines<'_>, head: &str, what: &str) -> Result<T, Unreadable> {
    let fields: Vec<_> = head.split_whitespace().collect();
    match *fields.as_slice() {
        [word, count] if word == what => lines.number(count),
        _ => Err(lines.error(format!("expected `{what} N`"))),
    }
}

impl Automaton {
    fn read(lines: &mut Lines<'_>) -> Result<Self, Unreadable> {
        let head = lines.expect("automaton")?;
        let fields: Vec<_> = head.split_whitespace().collect();
        let (direction, reads_all, count) = match *fields.as_slice() {
            [direction @ ("forward" | "backward"), reads @ ("own" | "all"), count] => {
                let direction = if direction == "forward" { Direction::Forward } else { Direction::Backward };
                (direction, reads == "all", lines.number::<u32>(count)?)
            }
            _ => return Err(lines.error("an automaton starts with `automaton forward|backward own|all N`")),
        };
        let mut states = Vec::new();
        for _ in 0..count {
            let (accepting, edges) = match lines.accept("accept") {
                Some(edges) => (true, edges),
                None => (false, lines.expect("reject")?),
            };
            let edges = edges.split_ascii_whitespace().map(|edge| read_edge(lines, edge, count));
            let edges: Vec<_> = edges.collect::<Result<_, _>>()?;
            if !edges.is_sorted_by(|one, other| one.0 < other.0) {
                return Err(lines.error("the edges of a state are in ascending order of their actions, one for each"));
            }
            states.push((accepting, edges));
        }
        Ok(Self { direction, reads_all, states })
    }
}

fn read_edge(lines: &Lines<'_>, text: &str, states: u32) -> Result<(Action, u32), Unreadable> {
    let (action, to) = text.split_once('>').ok_or_else(|| lines.error("an edge has the form `A>S`"))?;
    let to = lines.number(to)?;
    match to < states {
        true => Ok((Action(lines.number(action)?), to)),
        false => Err(lines.error(format!("an edge leads to state {to} of {states}"))),
    }
}

impl Views {
    /// Reads the text form. What is read has the right shape; whether it is right is for the checker to say.
    pub fn from_text(text: &str) -> Result<Self, Unreadable> {
        let mut lines = Lines::new(text);
        if lines.next_line() != Some(Self::HEAD) {
            return Err(lines.error(format!("this is no such certificate: it does not start with `{}`", Self::HEAD)));
        }
        check_seal(text)?;
        let model = lines.expect("model")?;
        let model = model.parse().map_err(|message| lines.error(message))?;
        let mut views = Self { model, claims: Vec::new(), frames: Vec::new(), lemmas: Vec::new() };
        while let Some(name) = lines.accept("property") {
            let never = lines.expect("never")?;
            let never = never.parse().map_err(|message| lines.error(message))?;
            views.claims.push(Forbidden { name: name.to_owned(), never });
        }
        let threads = lines.expect("threads")?;
        for _ in 0..lines.number::<u16>(threads)? {
            views.frames.push(read_list(&mut lines, "frames", Frame::read)?);
        }
        while let Some(head) = lines.accept("lemma") {
            views.lemmas.push(Lemma::read(&mut lines, head)?);
        }
        lines.end().map(|()| views)
    }
}

impl Frame {
    fn read(lines: &Lines<'_>, text: &str) -> Result<Self, Unreadable> {
        let form = || lines.error("expected `CONTROL SYMBOL : NODES`");
        let (head, nodes) = text.split_at(text.find(':').ok_or_else(form)?);
        let (control, symbol) = head.trim().split_once(' ').ok_or_else(form)?;
        let control = if control == "-" { None } else { Some(Control(lines.number(control)?)) };
        Ok(Self { control, symbol: Symbol(lines.number(symbol)?), nodes: read_values(lines, nodes)? })
    }
}

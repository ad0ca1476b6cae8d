//! How certificates about counters are read.

use std::str::FromStr;

use tepui_model::counters::{Pattern, Property};

use super::{Certificate, Lemma, Row, Views, Weight};
use crate::read::{Lines, Unreadable, check_seal, read_list};

impl Certificate {
    /// Reads the text form. What is read has the right shape; whether it is right is for the checker to say.
    pub fn from_text(text: &str) -> Result<Self, Unreadable> {
        let mut lines = Lines::new(text);
        if lines.next_line() != Some(Self::HEAD) {
            return Err(lines.error(format!("this is no certificate: it does not start with `{}`", Self::HEAD)));
        }
        check_seal(text)?;
        let model = lines.expect("model")?;
        let model = model.parse().map_err(|message| lines.error(message))?;
        let mut certificate = Self { model, claims: Vec::new(), lemmas: Vec::new() };
        while let Some(name) = lines.accept("property") {
            let name = name.to_owned();
            certificate.claims.push(Property { name, never: read_patterns(&mut lines)? });
        }
        while let Some(head) = lines.accept("lemma") {
            certificate.lemmas.push(Lemma::read(&mut lines, head)?);
        }
        lines.end().map(|()| certificate)
    }
}

impl Lemma {
    pub(crate) fn read(lines: &mut Lines<'_>, head: &str) -> Result<Self, Unreadable> {
        match *head.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["never"] => Ok(Self::Never(read_patterns(lines)?)),
            ["weight", bound] => {
                let bound = lines.number(bound)?;
                let text = lines.expect("weigh")?;
                let (shared, places) = parts(lines, text)?;
                Ok(Self::Weight(Weight {
                    bound,
                    shared: read_times(lines, shared)?,
                    places: read_times(lines, places)?,
                }))
            }
            ["views", size] => {
                let size = lines.number::<u8>(size)?.into();
                let groups = read_list(lines, "rows", |lines, line| read_rows(lines, line, size))?;
                Ok(Self::Views(Views { size, rows: groups.into_iter().flatten().collect() }))
            }
            _ => Err(lines.error("a lemma is `never`, `weight B` or `views K`")),
        }
    }
}

fn read_patterns(lines: &mut Lines<'_>) -> Result<Vec<Pattern>, Unreadable> {
    let mut patterns = Vec::new();
    while let Some(text) = lines.accept("never") {
        let (shared, counts) = parts(lines, text)?;
        patterns.push(Pattern { shared: lines.number(shared)?, counts: read_times(lines, counts)? });
    }
    Ok(patterns)
}

fn parts<'t>(lines: &Lines<'_>, text: &'t str) -> Result<(&'t str, &'t str), Unreadable> {
    text.split_once('|').ok_or_else(|| lines.error("a `|` stands before places"))
}

/// Numbers with how often they count, in ascending order.
pub(super) fn read_times<N: FromStr + Default + PartialEq>(
    lines: &Lines<'_>,
    text: &str,
) -> Result<Vec<(u32, N)>, Unreadable> {
    let one = |part: &str| {
        let (number, count) = part.split_once('*').ok_or_else(|| lines.error("expected `PLACE*COUNT`"))?;
        Ok((lines.number(number)?, lines.number(count)?))
    };
    let counts: Vec<(u32, N)> = text.split_whitespace().map(one).collect::<Result<_, _>>()?;
    let ascending = counts.is_sorted_by(|one, other| one.0 < other.0);
    match ascending && counts.iter().all(|(_, count)| *count != N::default()) {
        true => Ok(counts),
        false => Err(lines.error("places are in ascending order, and none counts 0 times")),
    }
}

/// The most rows that one line stands for.
const LONGEST_RANGE: u32 = 1 << 20;

fn read_rows(lines: &Lines<'_>, line: &str, size: usize) -> Result<Vec<Row>, Unreadable> {
    let (shared, rest) = parts(lines, line)?;
    let (first, lasts) = rest.split_once(':').ok_or_else(|| lines.error("a `:` stands before the last places"))?;
    let shared = lines.number(shared)?;
    let first: Vec<u32> = first.split_whitespace().map(|place| lines.number(place)).collect::<Result<_, _>>()?;
    if first.len() + 1 != size {
        return Err(lines.error(format!("a row has {size} places")));
    }
    let mut rows = Vec::new();
    for part in lasts.split_whitespace() {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to) = (lines.number::<u32>(from)?, lines.number::<u32>(to)?);
        if to < from || to - from > LONGEST_RANGE {
            return Err(lines.error(format!("{from}-{to} is no range of places")));
        }
        rows.extend((from..=to).map(|last| (shared, first.iter().copied().chain([last]).collect())));
    }
    Ok(rows)
}

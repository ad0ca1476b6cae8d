//! How certificates of pushdown proofs are read.

use tepui_model::pushdown::Symbol;

use super::certificate::{Certificate, HEAD};
use super::lemma::{Explored, Lemma, LemmaThread};
use super::regular::{Language, Regular, RegularThread};
use super::rows::Rows;
use crate::read::{Lines, Unreadable, check_seal, read_patterns, strip_keyword};

impl Certificate {
    /// Reads the text form. What is read has the right shape; whether it is right is for the checker to say.
    pub fn from_text(text: &str) -> Result<Self, Unreadable> {
        let mut lines = Lines::new(text);
        if lines.next_line() != Some(HEAD) {
            return Err(lines.error(format!("this is no certificate: it does not start with `{HEAD}`")));
        }
        check_seal(text)?;
        let model = lines.expect("model")?;
        let model = model.parse().map_err(|message| lines.error(message))?;
        let mut certificate = Self { model, properties: Vec::new(), lemmas: Vec::new(), regular: None };
        while let Some(name) = lines.accept("property") {
            certificate.properties.push(read_patterns(&mut lines, name)?);
        }
        while let Some(head) = lines.accept("lemma") {
            certificate.lemmas.push(Lemma::read(&mut lines, head)?);
        }
        if let Some(head) = lines.accept("regular") {
            certificate.regular = Some(Regular::read(&mut lines, head)?);
        }
        lines.end().map(|()| certificate)
    }
}

impl Lemma {
    pub(crate) fn read(lines: &mut Lines<'_>, head: &str) -> Result<Self, Unreadable> {
        let fields: Vec<_> = head.split_whitespace().collect();
        let &["depth", depth, "threads", threads] = fields.as_slice() else {
            return Err(lines.error("a lemma starts with `lemma depth B threads N`"));
        };
        let (depth, count) = (lines.number(depth)?, lines.number::<u16>(threads)?);
        let mut threads: Vec<LemmaThread> = Vec::new();
        for _ in 0..count {
            threads.push(LemmaThread::read(lines, &threads)?);
        }
        if threads.is_empty() {
            return Err(lines.error("a lemma speaks of at least one thread"));
        }
        let words: Vec<_> =
            threads.iter().map(|part| part.like.map_or(part, |leader| &threads[leader]).words.len()).collect();
        let rows = lines.expect("views")?;
        let rows = lines.number(rows)?;
        let views = read_rows(lines, rows, &words)?;
        let mut explored = Vec::new();
        while let Some(text) = lines.accept("explored") {
            explored.push(Explored::read(lines, text, views.len())?);
        }
        Ok(Self { depth, threads, views, explored })
    }
}

impl Explored {
    fn read(lines: &Lines<'_>, text: &str, most: usize) -> Result<Self, Unreadable> {
        let (threads, ranges) =
            text.split_once(':').ok_or_else(|| lines.error("expected `explored THREADS : VIEWS`"))?;
        let from_one =
            |text| lines.number::<usize>(text)?.checked_sub(1).ok_or_else(|| lines.error("numbers start at 1"));
        let threads = threads.split_ascii_whitespace().map(from_one).collect::<Result<_, _>>()?;
        let mut views = Vec::new();
        for range in ranges.split_ascii_whitespace() {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let (first, last) = (lines.number::<usize>(first)?, lines.number::<usize>(last)?);
            if first > last || last >= most || views.last().is_some_and(|&before| before >= first) {
                return Err(lines.error(format!("`{range}` does not go on in ascending order among {most} views")));
            }
            views.extend(first..=last);
        }
        Ok(Self { threads, views })
    }
}

impl LemmaThread {
    /// Reads the part of the thread that comes after some others.
    pub(crate) fn read(lines: &mut Lines<'_>, earlier: &[Self]) -> Result<Self, Unreadable> {
        let like = read_thread(lines, earlier.len(), |leader| earlier[leader].like.is_none())?;
        if like.is_some() {
            return Ok(Self { like, ..Self::default() });
        }
        let words = lines.expect("words")?;
        let words = words.split_whitespace().map(|word| read_word(lines, word)).collect::<Result<_, _>>()?;
        let mut below = Vec::new();
        while let Some(text) = lines.accept("below") {
            let (word, symbols) = text.split_once(':').ok_or_else(|| lines.error("expected `below WORD : SYMBOLS`"))?;
            let symbols = symbols.split_whitespace().map(|symbol| Ok(Symbol(lines.number(symbol)?)));
            below.push((read_word(lines, word)?, symbols.collect::<Result<_, _>>()?));
        }
        Ok(Self { like, words, below })
    }
}

/// Reads `thread N` of the thread that comes after some others, or `thread N like M`, where M must be one of those that lead.
fn read_thread(
    lines: &mut Lines<'_>,
    earlier: usize,
    leads: impl Fn(usize) -> bool,
) -> Result<Option<usize>, Unreadable> {
    let head = lines.expect("thread")?;
    let (number, rest) = head.split_once(char::is_whitespace).unwrap_or((head, ""));
    if lines.number::<usize>(number)? != earlier + 1 {
        return Err(lines.error(format!("expected thread {}", earlier + 1)));
    }
    if rest.is_empty() {
        return Ok(None);
    }
    let leader = strip_keyword(rest.trim_start(), "like").ok_or_else(|| lines.error("expected `thread N like M`"))?;
    let leader = lines.number::<usize>(leader)?.checked_sub(1).filter(|&leader| leader < earlier && leads(leader));
    let wrong = "a thread can only be like an earlier one that is like no other";
    leader.map(Some).ok_or_else(|| lines.error(wrong))
}

fn read_word(lines: &Lines<'_>, text: &str) -> Result<Vec<Symbol>, Unreadable> {
    text.split('.').map(|symbol| Ok(Symbol(lines.number(symbol)?))).collect()
}

/// Reads rows in ascending order about threads with so many words each. The last number is below that, so that no short text
/// unfolds into an endless range, nor many times into the same.
fn read_rows(lines: &mut Lines<'_>, count: usize, words: &[usize]) -> Result<Rows, Unreadable> {
    let bits = words.iter().map(|&words| (usize::BITS - words.saturating_sub(1).leading_zeros()).clamp(1, 32));
    let mut rows = Rows::with_bits(&[32].into_iter().chain(bits).collect::<Vec<_>>());
    let (width, words) = (rows.width(), words.last().copied().unwrap_or(0));
    let (mut row, mut before) = (Vec::with_capacity(width), Vec::new());
    while rows.len() < count {
        let line = lines.next_line().ok_or_else(|| lines.error("the text ends among the views"))?;
        let (prefix, ranges) = line.split_once(':').ok_or_else(|| lines.error("expected a row of views"))?;
        row.clear();
        for cell in prefix.split_ascii_whitespace() {
            row.push(lines.number::<u32>(cell)?);
        }
        if row.len() + 1 != width {
            return Err(lines.error(format!("a view has {width} parts, this row gives {}", row.len() + 1)));
        }
        for range in ranges.split_ascii_whitespace() {
            let (first, end) = range.split_once('-').unwrap_or((range, range));
            let (first, end) = (lines.number::<u32>(first)?, lines.number::<u32>(end)?);
            let size = u64::from(end.saturating_sub(first)) + 1;
            if first > end || end as usize >= words || rows.len() as u64 + size > count as u64 {
                return Err(
                    lines.error(format!("`{range}` does not fit the {words} words and {count} views announced"))
                );
            }
            row.push(first);
            if before >= row {
                return Err(lines.error("the rows are not in ascending order, each of them once"));
            }
            for last in first..=end {
                row[width - 1] = last;
                rows.push(&row);
            }
            before.clone_from(&row);
            row.pop();
        }
    }
    Ok(rows)
}

impl Regular {
    pub(crate) fn read(lines: &mut Lines<'_>, head: &str) -> Result<Self, Unreadable> {
        let count = head.strip_prefix("threads").ok_or_else(|| lines.error("expected `regular threads N`"))?;
        let count = lines.number::<u16>(count)?;
        let mut threads: Vec<RegularThread> = Vec::new();
        for _ in 0..count {
            threads.push(RegularThread::read(lines, &threads)?);
        }
        if threads.is_empty() {
            return Err(lines.error("a proof speaks of at least one thread"));
        }
        let languages: Vec<_> =
            threads.iter().map(|part| part.like.map_or(part, |leader| &threads[leader]).languages.len()).collect();
        let rows = lines.expect("rows")?;
        let rows = lines.number(rows)?;
        let rows = read_rows(lines, rows, &languages)?;
        Ok(Self { threads, rows })
    }
}

impl RegularThread {
    fn read(lines: &mut Lines<'_>, earlier: &[Self]) -> Result<Self, Unreadable> {
        let like = read_thread(lines, earlier.len(), |leader| earlier[leader].like.is_none())?;
        if like.is_some() {
            return Ok(Self { like, ..Self::default() });
        }
        let mut languages = Vec::new();
        while let Some(count) = lines.accept("language") {
            let count = lines.number::<usize>(count)?;
            languages.push(Language::read(lines, count)?);
        }
        Ok(Self { like, languages })
    }
}

impl Language {
    fn read(lines: &mut Lines<'_>, count: usize) -> Result<Self, Unreadable> {
        let mut states = Vec::new();
        while states.len() < count {
            let line = lines.next_line().ok_or_else(|| lines.error("the text ends among the states of a language"))?;
            let edges = line.strip_prefix(':').ok_or_else(|| lines.error("expected `: SYMBOL>STATE ...`"))?;
            let edge = |text: &str| match text.split_once('>') {
                Some((symbol, to)) => Ok((Symbol(lines.number(symbol)?), Some(lines.number(to)?))),
                None => Ok((Symbol(lines.number(text)?), None)),
            };
            states.push(edges.split_ascii_whitespace().map(edge).collect::<Result<_, _>>()?);
        }
        Ok(Self { states })
    }
}

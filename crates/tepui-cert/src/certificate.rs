//! Certificates of pushdown proofs: inductive sets of views, lemma by lemma.
//!
//! A lemma of depth `b` is a pair of sets. *Views*: a shared state and, for each thread, a *word*: the topmost `b`
//! symbols of its stack, top first, where the marker 0 ends a stack that is lower. *Below*: for each thread, which
//! symbols (or the marker) may lie directly beneath a word of `b` real symbols, anywhere in the stack. A lemma claims
//! that its views contain the view of every reachable state. It is proved by induction: the initial view is there,
//! and every step from a view leads to a view that is there as well or that an *earlier* lemma excludes. The last
//! lemma avoids the properties.
//!
//! The text form gives shared states, threads and symbols as numbers of the model, whose digest stands in the head.
//! The last line holds the digest of all text above it, so that truncation and accidents are found before any
//! reasoning; it is no defence against a forger, who is left to the checker.

use std::borrow::Cow;
use std::fmt::Write as _;

use tepui_model::Digest;
use tepui_model::pushdown::{Property, Symbol};

use crate::text::{Lines, Unreadable, read_patterns, write_property};

/// A proof that no reachable view violates the properties.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certificate {
    /// The model that the proof is about.
    pub model: Digest,
    /// What is proved; nothing, if the proof is only that the views of the last lemma are all there are.
    pub properties: Vec<Property>,
    /// The lemmas, each relative to those before it.
    pub lemmas: Vec<Lemma>,
}

/// One inductive set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lemma {
    /// How many symbols of each stack a view shows.
    pub depth: u32,
    /// The words and the symbols below them, for each thread.
    pub threads: Vec<LemmaThread>,
    /// The views: a shared state, then for each thread the index of a word.
    pub views: Rows,
}

/// One thread's part of a lemma.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LemmaThread {
    /// An earlier thread with which this one is interchangeable: the words and what lies below them are listed there.
    pub like: Option<usize>,
    /// The words that occur in views, top first.
    pub words: Vec<Vec<Symbol>>,
    /// For words of `depth` real symbols, what may lie directly beneath.
    pub below: Vec<(Vec<Symbol>, Vec<Symbol>)>,
}

/// A table of numbers with rows of equal width.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rows {
    width: usize,
    cells: Vec<u32>,
}

impl Rows {
    /// An empty table. A row has at least one cell.
    pub fn new(width: usize) -> Self {
        assert!(width > 0, "a row has at least one cell");
        Self { width, cells: Vec::new() }
    }

    /// An empty table with room for a number of rows.
    pub fn with_capacity(width: usize, rows: usize) -> Self {
        Self { cells: Vec::with_capacity(width * rows), ..Self::new(width) }
    }

    /// Adds a row.
    pub fn push(&mut self, row: impl IntoIterator<Item = u32>) {
        self.cells.extend(row);
        assert!(self.cells.len().is_multiple_of(self.width), "a row has {} cells", self.width);
    }

    /// Removes the last row.
    pub fn pop(&mut self) {
        self.cells.truncate(self.cells.len().saturating_sub(self.width));
    }

    /// The number of cells in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.cells.len() / self.width
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// All rows.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.cells.chunks_exact(self.width)
    }

    /// One row.
    pub fn get(&self, row: usize) -> &[u32] {
        &self.cells[row * self.width..][..self.width]
    }

    /// The same rows in ascending order.
    pub fn sorted(&self) -> Cow<'_, Self> {
        if self.iter().is_sorted() {
            return Cow::Borrowed(self);
        }
        let mut order: Vec<_> = (0..self.len()).collect();
        order.sort_unstable_by_key(|&row| self.get(row));
        let cells = order.into_iter().flat_map(|row| self.get(row)).copied().collect();
        Cow::Owned(Self { width: self.width, cells })
    }
}

const HEAD: &str = "tepui certificate 1";

impl Certificate {
    /// The text form.
    pub fn to_text(&self) -> String {
        let mut out = format!("{HEAD}\nmodel {}\n", self.model);
        self.properties.iter().for_each(|property| write_property(&mut out, property));
        self.lemmas.iter().for_each(|lemma| lemma.write(&mut out));
        let seal = Digest::of(out.as_bytes());
        let _ = writeln!(out, "end {seal}");
        out
    }

    /// Reads the text form. What is read has the right shape; whether it is right is for the checker to say.
    pub fn from_text(text: &str) -> Result<Self, Unreadable> {
        let mut lines = Lines::new(text);
        if lines.next_line() != Some(HEAD) {
            return Err(lines.error(format!("this is no certificate: it does not start with `{HEAD}`")));
        }
        check_seal(text)?;
        let model = lines.expect("model")?;
        let model = model.parse().map_err(|message| lines.error(message))?;
        let mut certificate = Self { model, properties: Vec::new(), lemmas: Vec::new() };
        while let Some(name) = lines.accept("property") {
            certificate.properties.push(read_patterns(&mut lines, name)?);
        }
        while let Some(head) = lines.accept("lemma") {
            certificate.lemmas.push(Lemma::read(&mut lines, head)?);
        }
        lines.expect("end")?;
        match lines.next_line() {
            Some(_) => Err(lines.error("text after the end")),
            None => Ok(certificate),
        }
    }
}

/// Before anything is unfolded: the last line must hold the digest of all lines before it.
fn check_seal(text: &str) -> Result<(), Unreadable> {
    let (body, last) = match text.trim_end().rfind('\n') {
        Some(end) => text.split_at(end + 1),
        None => ("", text),
    };
    if last.trim_end().strip_prefix("end ") == Some(Digest::of(body.as_bytes()).to_string().as_str()) {
        return Ok(());
    }
    let message = "the text is incomplete or was changed: its last line is not the digest of the lines before";
    Err(Unreadable { line: text.lines().count(), message: message.to_owned() })
}

impl Lemma {
    fn write(&self, out: &mut String) {
        let _ = writeln!(out, "lemma depth {} threads {}", self.depth, self.threads.len());
        for (number, thread) in self.threads.iter().enumerate() {
            let words: Vec<_> = thread.words.iter().map(|word| word_text(word)).collect();
            let _ = writeln!(out, "thread {}\nwords {}", number + 1, words.join(" "));
            for (word, below) in &thread.below {
                let below: Vec<_> = below.iter().map(|symbol| symbol.0.to_string()).collect();
                let _ = writeln!(out, "below {} : {}", word_text(word), below.join(" "));
            }
        }
        let _ = writeln!(out, "views {}", self.views.len());
        write_rows(out, &self.views.sorted());
    }

    fn read(lines: &mut Lines<'_>, head: &str) -> Result<Self, Unreadable> {
        let fields: Vec<_> = head.split_whitespace().collect();
        let &["depth", depth, "threads", threads] = fields.as_slice() else {
            return Err(lines.error("a lemma starts with `lemma depth B threads N`"));
        };
        let (depth, count) = (lines.number(depth)?, lines.number::<u16>(threads)?);
        let threads: Vec<_> = (1..=count).map(|number| LemmaThread::read(lines, number)).collect::<Result<_, _>>()?;
        let Some(last) = threads.last() else { return Err(lines.error("a lemma speaks of at least one thread")) };
        let rows = lines.expect("views")?;
        let rows = lines.number(rows)?;
        let views = read_rows(lines, threads.len() + 1, rows, last.words.len())?;
        Ok(Self { depth, threads, views })
    }
}

impl LemmaThread {
    fn read(lines: &mut Lines<'_>, number: u16) -> Result<Self, Unreadable> {
        let found = lines.expect("thread")?;
        if lines.number::<u16>(found)? != number {
            return Err(lines.error(format!("expected thread {number}")));
        }
        let words = lines.expect("words")?;
        let words = words.split_whitespace().map(|word| read_word(lines, word)).collect::<Result<_, _>>()?;
        let mut below = Vec::new();
        while let Some(text) = lines.accept("below") {
            let (word, symbols) = text.split_once(':').ok_or_else(|| lines.error("expected `below WORD : SYMBOLS`"))?;
            let symbols = symbols.split_whitespace().map(|symbol| Ok(Symbol(lines.number(symbol)?)));
            below.push((read_word(lines, word)?, symbols.collect::<Result<_, _>>()?));
        }
        Ok(Self { like: None, words, below })
    }
}

fn word_text(word: &[Symbol]) -> String {
    word.iter().map(|symbol| symbol.0.to_string()).collect::<Vec<_>>().join(".")
}

fn read_word(lines: &Lines<'_>, text: &str) -> Result<Vec<Symbol>, Unreadable> {
    text.split('.').map(|symbol| Ok(Symbol(lines.number(symbol)?))).collect()
}

/// Rows that differ in the last cell only share a line, and neighbouring last cells share a range.
fn write_rows(out: &mut String, rows: &Rows) {
    let last = rows.width() - 1;
    let mut row = 0;
    while row < rows.len() {
        let prefix = &rows.get(row)[..last];
        for cell in prefix {
            let _ = write!(out, "{cell} ");
        }
        out.push(':');
        while row < rows.len() && rows.get(row)[..last] == *prefix {
            let first = rows.get(row)[last];
            let mut end = first;
            row += 1;
            while row < rows.len()
                && rows.get(row)[..last] == *prefix
                && Some(rows.get(row)[last]) == end.checked_add(1)
            {
                end += 1;
                row += 1;
            }
            let _ = if end > first { write!(out, " {first}-{end}") } else { write!(out, " {first}") };
        }
        out.push('\n');
    }
}

/// Reads rows whose last cell is below `words`, so that no short text unfolds into an endless range.
fn read_rows(lines: &mut Lines<'_>, width: usize, count: usize, words: usize) -> Result<Rows, Unreadable> {
    let mut rows = Rows::new(width);
    let mut row = Vec::with_capacity(width);
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
            (first..=end).for_each(|last| rows.push(row.iter().copied().chain([last])));
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tepui_model::pushdown::{Pattern, Shared};

    fn sample() -> Certificate {
        let words = vec![vec![Symbol(1), Symbol(2)], vec![Symbol(1), Symbol(0)], vec![Symbol(0)]];
        let below = vec![(vec![Symbol(1), Symbol(2)], vec![Symbol(0), Symbol(2)])];
        let mut views = Rows::new(3);
        for row in [[0, 0, 0], [0, 0, 1], [0, 0, 2], [0, 1, 2], [3, 0, 0], [3, 0, 2]] {
            views.push(row);
        }
        let thread = LemmaThread { like: None, words, below };
        let pattern = Pattern { shared: None, tops: vec![Some(Symbol(2)), None] };
        Certificate {
            model: Digest::of(b"model"),
            properties: vec![Property { name: "no clash".to_owned(), never: vec![pattern] }],
            lemmas: vec![Lemma { depth: 2, threads: vec![thread.clone(), thread], views }],
        }
    }

    #[test]
    fn printing_and_reading_agree() {
        let certificate = sample();
        let text = certificate.to_text();
        assert!(text.contains("\n0 0 : 0-2\n0 1 : 2\n3 0 : 0 2\n"), "{text}");
        assert_eq!(Certificate::from_text(&text), Ok(certificate));
        let pattern = &Certificate::from_text(&text).unwrap().properties[0].never[0];
        assert!(pattern.matches(Shared(9), |thread| Symbol(2 + thread as u32)));
    }

    #[test]
    fn every_changed_byte_and_every_truncation_is_noticed() {
        let text = sample().to_text();
        for cut in 0..text.len() - 1 {
            assert!(Certificate::from_text(&text[..cut]).is_err(), "cut at {cut}");
        }
        for at in 0..text.len() - 1 {
            for byte in [b'0', b'7', b' ', b'\n', b'x'] {
                let mut bytes = text.clone().into_bytes();
                if bytes[at] == byte {
                    continue;
                }
                bytes[at] = byte;
                let changed = String::from_utf8(bytes).unwrap();
                assert!(Certificate::from_text(&changed).is_err(), "{byte} at {at}");
            }
        }
    }

    #[test]
    fn an_announced_number_allocates_nothing() {
        let text = format!(
            "{HEAD}\nmodel {}\nlemma depth 1 threads 1\nthread 1\nwords 1\nviews 9999999999999\n0 : 0-4000000000\n",
            Digest::of(b"")
        );
        let short = text.replace("9999999999999", "2");
        assert!(Certificate::from_text(&short).is_err());
    }
}

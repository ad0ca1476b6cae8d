//! Certificates of pushdown proofs: inductive sets of views, lemma by lemma.
//!
//! A lemma of depth `b` is a pair of sets. *Views*: a shared state and, for each thread, a *word*: the topmost `b`
//! symbols of its stack, top first, where the marker 0 ends a stack that is lower. *Below*: for each thread, which
//! symbols (or the marker) may lie directly beneath a word of `b` real symbols, anywhere in the stack. A lemma claims
//! that its views contain the view of every reachable state. It is proved by induction: the initial view is there,
//! and every step from a view leads to a view that is there as well or that an *earlier* lemma excludes. The last
//! lemma avoids the properties.
//!
//! Threads that are interchangeable form a *group*: its first thread, the leader, lists words and what lies below
//! them for all of them, and each of the others says that it is *like* the leader. A row of views then has the cells
//! of a group in ascending order along its threads, and stands for all rows that arise by permuting them.
//!
//! The text form gives shared states, threads and symbols as numbers of the model, whose digest stands in the head.
//! The last line holds the digest of all text above it, so that truncation and accidents are found before any
//! reasoning; it is no defence against a forger, who is left to the checker.

use std::borrow::Cow;
use std::fmt::Write as _;

use tepui_model::Digest;
use tepui_model::pushdown::{Property, Symbol};

use super::regular::Regular;
use crate::text::{Lines, Unreadable, check_seal, read_patterns, sealed, strip_keyword, write_property};

/// A proof that no reachable view violates the properties.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certificate {
    /// The model that the proof is about.
    pub model: Digest,
    /// What is proved; nothing, if the proof is only that the views of the last lemma are all there are.
    pub properties: Vec<Property>,
    /// The lemmas, each relative to those before it.
    pub lemmas: Vec<Lemma>,
    /// Regular sets, instead of lemmas.
    pub regular: Option<Regular>,
}

/// One inductive set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lemma {
    /// How many symbols of each stack a view shows.
    pub depth: u32,
    /// The words and the symbols below them, for each thread.
    pub threads: Vec<LemmaThread>,
    /// The views: a shared state, then for each thread the index of a word in its own list or that of its leader. Each
    /// row stands for all that arise by permuting cells within groups, and has them in ascending order.
    pub views: Rows,
}

/// One thread's part of a lemma.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LemmaThread {
    /// An earlier thread with which this one is interchangeable, and which is like no other itself: the words and what
    /// lies below them are listed there, and nothing here.
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

    /// A table with the cells of one row after the other.
    pub fn from_cells(width: usize, cells: Vec<u32>) -> Self {
        assert!(cells.len().is_multiple_of(width), "a row has {width} cells");
        Self { cells, ..Self::new(width) }
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
        self.regular.iter().for_each(|regular| regular.write(&mut out));
        sealed(&out)
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
    pub(crate) fn write(&self, out: &mut String) {
        let _ = writeln!(out, "lemma depth {} threads {}", self.depth, self.threads.len());
        for (number, thread) in self.threads.iter().enumerate() {
            if let Some(leader) = thread.like {
                let _ = writeln!(out, "thread {} like {}", number + 1, leader.saturating_add(1));
                continue;
            }
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
        let Some(last) = threads.last() else { return Err(lines.error("a lemma speaks of at least one thread")) };
        let words = last.like.map_or(last, |leader| &threads[leader]).words.len();
        let rows = lines.expect("views")?;
        let rows = lines.number(rows)?;
        let views = read_rows(lines, threads.len() + 1, rows, words)?;
        Ok(Self { depth, threads, views })
    }
}

impl LemmaThread {
    /// Reads the part of the thread that comes after some others.
    fn read(lines: &mut Lines<'_>, earlier: &[Self]) -> Result<Self, Unreadable> {
        let head = lines.expect("thread")?;
        let (found, leader) = match head.split_once(char::is_whitespace) {
            Some((found, rest)) => {
                let leads = |leader: usize| earlier.get(leader).is_some_and(|thread| thread.like.is_none());
                (found, Some(read_leader(lines, rest, leads)?))
            }
            None => (head, None),
        };
        if lines.number::<usize>(found)? != earlier.len() + 1 {
            return Err(lines.error(format!("expected thread {}", earlier.len() + 1)));
        }
        match leader {
            Some(leader) => Ok(Self { like: Some(leader), ..Self::default() }),
            None => Self::read_lists(lines),
        }
    }

    fn read_lists(lines: &mut Lines<'_>) -> Result<Self, Unreadable> {
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

/// Reads `like N`, where N must be an earlier thread with words of its own.
pub(super) fn read_leader(lines: &Lines<'_>, text: &str, leads: impl Fn(usize) -> bool) -> Result<usize, Unreadable> {
    let number = strip_keyword(text.trim_start(), "like").ok_or_else(|| lines.error("expected `thread N like M`"))?;
    let leader = lines.number::<usize>(number)?.checked_sub(1);
    let leader = leader.filter(|&leader| leads(leader));
    leader.ok_or_else(|| lines.error("a thread can only be like an earlier one that is like no other"))
}

fn word_text(word: &[Symbol]) -> String {
    word.iter().map(|symbol| symbol.0.to_string()).collect::<Vec<_>>().join(".")
}

fn read_word(lines: &Lines<'_>, text: &str) -> Result<Vec<Symbol>, Unreadable> {
    text.split('.').map(|symbol| Ok(Symbol(lines.number(symbol)?))).collect()
}

/// Rows that differ in the last cell only share a line, and neighbouring last cells share a range.
pub(super) fn write_rows(out: &mut String, rows: &Rows) {
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
pub(super) fn read_rows(lines: &mut Lines<'_>, width: usize, count: usize, words: usize) -> Result<Rows, Unreadable> {
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
            regular: None,
        }
    }

    /// Threads 1, 3 and 4 are interchangeable, and thread 2 has one word only.
    fn symmetric() -> Certificate {
        let mut certificate = sample();
        let leader = certificate.lemmas[0].threads[0].clone();
        let alone = LemmaThread { words: vec![vec![Symbol(1), Symbol(0)]], ..LemmaThread::default() };
        let follower = LemmaThread { like: Some(0), ..LemmaThread::default() };
        let mut views = Rows::new(5);
        for row in [[0, 0, 0, 0, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, 2], [1, 0, 0, 2, 2], [1, 1, 0, 1, 2]] {
            views.push(row);
        }
        certificate.lemmas[0].threads = vec![leader, alone, follower.clone(), follower];
        certificate.lemmas[0].views = views;
        certificate
    }

    /// A text whose seal is right.
    fn sealed(body: &str) -> String {
        format!("{body}end {}\n", Digest::of(body.as_bytes()))
    }

    /// A text with one piece replaced and the seal put right.
    fn replaced(text: &str, from: &str, to: &str) -> String {
        let body = &text[..text.rfind("end ").unwrap()];
        assert!(body.contains(from), "{from} is not in {text}");
        sealed(&body.replacen(from, to, 1))
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
    fn a_thread_that_is_like_another_takes_one_line() {
        let certificate = symmetric();
        let text = certificate.to_text();
        assert!(text.contains("\nthread 2\nwords 1.0\nthread 3 like 1\nthread 4 like 1\nviews 5\n"), "{text}");
        assert!(text.contains("\n0 0 0 0 : 0-2\n1 0 0 2 : 2\n1 1 0 1 : 2\nend "), "{text}");
        assert_eq!(Certificate::from_text(&text), Ok(certificate.clone()));
        let spaced = replaced(&text, "thread 3 like 1", "  thread  3 \t like  1  # the same words");
        assert_eq!(Certificate::from_text(&spaced), Ok(certificate));
    }

    #[test]
    fn a_thread_is_like_an_earlier_leader_only() {
        let text = symmetric().to_text();
        for (changed, place) in [
            ("thread 4 like 0", "like no other"),
            ("thread 4 like 3", "like no other"),
            ("thread 4 like 4", "like no other"),
            ("thread 4 like 5", "like no other"),
            ("thread 4 like 18446744073709551615", "like no other"),
            ("thread 4 like 18446744073709551616", "not a number"),
            ("thread 4 like -1", "not a number"),
            ("thread 4 like 1 1", "not a number"),
            ("thread 4 like", "not a number"),
            ("thread 4 likes 1", "expected `thread N like M`"),
            ("thread 4 1", "expected `thread N like M`"),
            ("thread 3 like 1", "expected thread 4"),
            ("thread like 1", "expected `thread N like M`"),
            ("thread 4 like 1\nwords 1.0", "expected `views`"),
            ("thread 4 like 1\nbelow 1.2 : 0", "expected `views`"),
            ("thread 4", "expected `words`"),
        ] {
            let error = Certificate::from_text(&replaced(&text, "thread 4 like 1", changed)).unwrap_err();
            assert!(error.message.contains(place), "{changed}: {error}");
        }
    }

    #[test]
    fn the_words_of_the_leader_bound_the_last_cell() {
        let text = symmetric().to_text();
        assert!(Certificate::from_text(&replaced(&text, "1 0 0 2 : 2", "1 0 0 2 : 1")).is_ok());
        let error = Certificate::from_text(&replaced(&text, "1 0 0 2 : 2", "1 0 0 2 : 3")).unwrap_err();
        assert!(error.message.contains("does not fit the 3 words"), "{error}");
        // Thread 2, which is no leader of thread 4, has one word.
        let error = Certificate::from_text(&replaced(&text, "thread 4 like 1", "thread 4 like 2")).unwrap_err();
        assert!(error.message.contains("does not fit the 1 words"), "{error}");
    }

    #[test]
    fn no_value_upsets_the_writer() {
        for like in [0, 1, 2, 3, 4, 5, usize::MAX] {
            let mut certificate = symmetric();
            certificate.lemmas[0].threads[2].like = Some(like);
            let legal = like < 2;
            assert_eq!(Certificate::from_text(&certificate.to_text()).is_ok(), legal, "{like}");
            certificate.lemmas[0].threads[0].like = Some(like);
            assert!(Certificate::from_text(&certificate.to_text()).is_err(), "{like}");
        }
    }

    #[test]
    fn every_changed_byte_and_every_truncation_is_noticed() {
        for certificate in [sample(), symmetric()] {
            notices_every_change(&certificate.to_text());
        }
    }

    fn notices_every_change(text: &str) {
        for cut in 0..text.len() - 1 {
            assert!(Certificate::from_text(&text[..cut]).is_err(), "cut at {cut}");
        }
        for at in 0..text.len() - 1 {
            for byte in [b'0', b'7', b' ', b'\n', b'x'] {
                let mut bytes = text.as_bytes().to_vec();
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
        let head = format!("{HEAD}\nmodel {}\n", Digest::of(b""));
        let alone = "lemma depth 1 threads 1\nthread 1\nwords 1\n";
        let pair = "lemma depth 1 threads 2\nthread 1\nwords 1\nthread 2 like 1\n";
        let many = "lemma depth 1 threads 65535\nthread 1\nwords 1\nthread 2 like 1\n";
        for rows in ["views 9999999999999\n", "views 2\n", "views 18446744073709551615\n"] {
            for body in [format!("{alone}{rows}0 : 0-4000000000\n"), format!("{pair}{rows}0 0 : 0-4000000000\n")] {
                let error = Certificate::from_text(&sealed(&format!("{head}{body}"))).unwrap_err();
                assert!(error.message.contains("does not fit the 1 words"), "{error}");
            }
            let error = Certificate::from_text(&sealed(&format!("{head}{many}{rows}"))).unwrap_err();
            assert!(error.message.contains("expected `thread`"), "{error}");
        }
    }

    #[test]
    fn as_many_threads_as_there_can_be_are_read() {
        let threads = (2..=65535).map(|number| format!("thread {number} like 1\n")).collect::<String>();
        let row = "0 ".repeat(65535);
        let head = format!("{HEAD}\nmodel {}\nlemma depth 1 threads 65535\nthread 1\nwords 0 1\n", Digest::of(b""));
        let text = sealed(&format!("{head}{threads}views 2\n{row}: 0-1\n"));
        let certificate = Certificate::from_text(&text).unwrap();
        assert_eq!((certificate.lemmas[0].threads.len(), certificate.lemmas[0].views.len()), (65535, 2));
        assert_eq!(certificate.to_text(), text);
    }
}

//! What all text forms share where they are read: lines with their numbers, numbers, patterns, and the error that names a line.

use std::fmt;

use tepui_model::Digest;
use tepui_model::pushdown::{Pattern, Property, Shared, Symbol};

/// Why a text is not a certificate or a trace, and at which line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unreadable {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for Unreadable {}

/// Before anything is unfolded: the last line must hold the digest of all lines before it.
pub(crate) fn check_seal(text: &str) -> Result<(), Unreadable> {
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

/// Walks through the lines of a text; comments (`#` to the end of the line) and blank lines are skipped.
pub(crate) struct Lines<'a> {
    rest: &'a str,
    number: usize,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { rest: text, number: 0 }
    }

    /// The next line with content, without consuming it.
    pub(crate) fn peek(&self) -> Option<&'a str> {
        Self { ..*self }.next_line()
    }

    /// The next line with content.
    pub(crate) fn next_line(&mut self) -> Option<&'a str> {
        while !self.rest.is_empty() {
            let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
            self.rest = rest;
            self.number += 1;
            let content = line.split_once('#').map_or(line, |(content, _)| content).trim();
            if !content.is_empty() {
                return Some(content);
            }
        }
        None
    }

    /// The next line, which must start with a keyword: what follows the keyword.
    pub(crate) fn expect(&mut self, keyword: &str) -> Result<&'a str, Unreadable> {
        let line = self.next_line().ok_or_else(|| self.error(format!("the text ends where `{keyword}` is due")))?;
        strip_keyword(line, keyword).ok_or_else(|| self.error(format!("expected `{keyword}`, found `{}`", clip(line))))
    }

    /// The next line if it starts with a keyword: what follows the keyword.
    pub(crate) fn accept(&mut self, keyword: &str) -> Option<&'a str> {
        let rest = strip_keyword(self.peek()?, keyword)?;
        self.next_line();
        Some(rest)
    }

    /// There is nothing left but the seal.
    pub(crate) fn end(&mut self) -> Result<(), Unreadable> {
        self.expect("end")?;
        match self.next_line() {
            Some(_) => Err(self.error("text after the end")),
            None => Ok(()),
        }
    }

    /// An error at the line that was read last.
    pub(crate) fn error(&self, message: impl Into<String>) -> Unreadable {
        Unreadable { line: self.number.max(1), message: message.into() }
    }

    /// A number in the line that was read last.
    pub(crate) fn number<T: std::str::FromStr>(&self, text: &str) -> Result<T, Unreadable> {
        let text = text.trim();
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = if digits { text.parse().ok() } else { None };
        number.ok_or_else(|| self.error(format!("`{}` is not a number of the right size", clip(text))))
    }
}

/// What follows a keyword at the start of a line.
pub(crate) fn strip_keyword<'a>(line: &'a str, keyword: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(keyword)?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| rest.trim_start())
}

fn clip(text: &str) -> String {
    if text.chars().count() <= 40 { text.to_owned() } else { text.chars().take(40).chain(['…']).collect() }
}

/// Reads a property whose name was read already.
pub(crate) fn read_patterns(lines: &mut Lines<'_>, name: &str) -> Result<Property, Unreadable> {
    let mut property = Property { name: name.to_owned(), never: Vec::new() };
    while let Some(text) = lines.accept("never") {
        let (shared, tops) = text.split_once('|').ok_or_else(|| lines.error("a pattern has the form `q | a b ...`"))?;
        let part = |text: &str| if text == "*" { Ok(None) } else { lines.number(text).map(Some) };
        let tops = tops.split_whitespace().map(|top| Ok(part(top)?.map(Symbol))).collect::<Result<_, _>>()?;
        property.never.push(Pattern { shared: part(shared.trim())?.map(Shared), tops });
    }
    Ok(property)
}

/// As many lines as announced.
pub(crate) fn read_list<T>(
    lines: &mut Lines<'_>,
    word: &str,
    mut read: impl FnMut(&Lines<'_>, &str) -> Result<T, Unreadable>,
) -> Result<Vec<T>, Unreadable> {
    let count = lines.expect(word)?;
    let count = lines.number::<usize>(count)?;
    let mut items = Vec::new();
    while items.len() < count {
        let line = lines.next_line().ok_or_else(|| lines.error(format!("the text ends among the {word}")))?;
        items.push(read(lines, line)?);
    }
    Ok(items)
}

/// Reads values.
pub(crate) fn read_values(lines: &Lines<'_>, text: &str) -> Result<Vec<Option<u32>>, Unreadable> {
    let text = text.trim().strip_prefix(':').ok_or_else(|| lines.error("expected `: VALUES`"))?;
    let number = |text: &str| if text == "-" { Ok(None) } else { lines.number(text).map(Some) };
    text.split_ascii_whitespace().map(number).collect()
}

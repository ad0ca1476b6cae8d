//! Words and marks, line by line.
//!
//! All forms of pushdown systems are line-oriented over the same few tokens, so there is one lexer: it delivers the
//! lines that hold anything, one at a time, so that memory is bounded by the longest line and an error costs no more
//! than its line. A token borrows its text and remembers its place; numbers are words, the forms judge them.

use std::collections::HashSet;
use std::ops::Range;

use logos::{Lexer, Logos};

use crate::diagnostic::{Diagnostic, Severity, Sink, quote};
use crate::source::Source;
use crate::suggestion::suggestion;

/// What a reading step gives: its value, or the error that ends the line.
pub(crate) type Fallible<T> = Result<T, Diagnostic>;

#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip r"[ \t\r]+", skip(r"#[^\n]*", allow_greedy = true))]
pub(crate) enum Kind {
    #[regex(r"[A-Za-z0-9_'@$][A-Za-z0-9_'@$/]*")]
    Word,
    #[token("->")]
    Arrow,
    #[token("-")]
    Dash,
    #[token("|")]
    Bar,
    #[token(",")]
    Comma,
    #[token("..")]
    To,
    #[token(".")]
    Dot,
    #[token("*")]
    Star,
    #[token(":")]
    Colon,
    #[token("{")]
    Open,
    #[token("}")]
    Close,
    #[token("(")]
    Left,
    #[token(")")]
    Right,
    #[token("+")]
    Plus,
    #[token("?")]
    Query,
    #[token("!")]
    Bang,
    #[token("\n")]
    Newline,
}

/// A word or mark and where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    pub(crate) start: usize,
    pub(crate) source: usize,
}

impl<'a> Token<'a> {
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub(crate) fn span(&self) -> Range<usize> {
        self.start..self.end()
    }

    /// From the start of this token to the end of another.
    pub(crate) fn up_to(&self, last: &Token<'_>) -> Range<usize> {
        self.start..last.end().max(self.end())
    }

    pub(crate) fn is_word(&self, text: &str) -> bool {
        self.kind == Kind::Word && self.text == text
    }

    pub(crate) fn error(&self, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        Diagnostic::error(self.source, self.span(), message, label)
    }

    pub(crate) fn warning(&self, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        Diagnostic::warning(self.source, self.span(), message, label)
    }

    /// The number that the word spells in decimal digits.
    pub(crate) fn number(&self) -> Fallible<u32> {
        if !self.text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(self.error(format!("expected a number, found {}", quote(self.text)), "not a number"));
        }
        let too_large = || self.error(format!("the number {} is too large", quote(self.text)), "");
        self.text.parse().map_err(|_| Diagnostic { label: format!("at most {}", u32::MAX), ..too_large() })
    }

    /// The word without the zeros that do not change the number it spells.
    pub(crate) fn digits(&self) -> &'a str {
        match self.text.trim_start_matches('0') {
            "" => "0",
            digits => digits,
        }
    }
}

/// A line that holds something, and how far it has been read.
#[derive(Clone, Debug)]
pub(crate) struct Line<'a> {
    /// The line's number, from 1.
    pub(crate) number: u32,
    /// Whether something on the line was no token; that has been reported.
    pub(crate) broken: bool,
    tokens: Vec<Token<'a>>,
    next: usize,
    place: Token<'a>,
}

impl<'a> Line<'a> {
    /// The first token of the whole line, or the place where it would be.
    pub(crate) fn first(&self) -> Token<'a> {
        self.tokens.first().copied().unwrap_or(self.place)
    }

    /// The tokens that are still to be read.
    pub(crate) fn rest(&self) -> &[Token<'a>] {
        &self.tokens[self.next..]
    }

    pub(crate) fn has(&self, kind: Kind) -> bool {
        self.tokens.iter().any(|token| token.kind == kind)
    }

    pub(crate) fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.next).copied()
    }

    pub(crate) fn advance(&mut self) -> Option<Token<'a>> {
        let token = self.peek()?;
        self.next += 1;
        Some(token)
    }

    pub(crate) fn skip(&mut self, count: usize) {
        self.next = (self.next + count).min(self.tokens.len());
    }

    pub(crate) fn eat(&mut self, kind: Kind) -> Option<Token<'a>> {
        self.peek().filter(|token| token.kind == kind)?;
        self.advance()
    }

    pub(crate) fn eat_word(&mut self, text: &str) -> Option<Token<'a>> {
        self.peek().filter(|token| token.is_word(text))?;
        self.advance()
    }

    /// The next token, which must be of a kind; `what` names it in the message.
    pub(crate) fn expect(&mut self, kind: Kind, what: &str) -> Fallible<Token<'a>> {
        self.eat(kind).ok_or_else(|| self.expected(what))
    }

    /// The complaint that something else was to come here.
    pub(crate) fn expected(&self, what: &str) -> Diagnostic {
        match self.peek() {
            Some(token) => token.error(format!("expected {what}, found {}", quote(token.text)), "unexpected"),
            None => self.missing(format!("expected {what}"), format!("the line ends before {what}")),
        }
    }

    /// A complaint about the end of what has been read.
    pub(crate) fn missing(&self, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        let end = self.last().end();
        Diagnostic::error(self.place.source, end..end, message, label)
    }

    /// The last token that has been read, or the place before the line.
    pub(crate) fn last(&self) -> Token<'a> {
        self.tokens[..self.next].last().copied().unwrap_or(self.place)
    }

    /// Complains about anything that is left of the line.
    pub(crate) fn end(&self) -> Fallible<()> {
        match self.rest() {
            [] => Ok(()),
            [first, .., last] => Err(Diagnostic { span: first.up_to(last), ..self.stray(first) }),
            [first] => Err(self.stray(first)),
        }
    }

    /// Takes the tokens up to the first of a kind off the front, as a line of their own; the rest stays, this token
    /// first.
    pub(crate) fn split_at(&mut self, kind: Kind) -> Line<'a> {
        let length = self.rest().iter().position(|token| token.kind == kind).unwrap_or(self.rest().len());
        let tokens = self.rest()[..length].to_vec();
        let place = Token { start: self.last().end(), ..self.place };
        self.next += length;
        Line { number: self.number, broken: self.broken, tokens, next: 0, place }
    }

    fn stray(&self, first: &Token<'_>) -> Diagnostic {
        first.error(
            format!("unexpected {} after the end of the statement", quote(first.text)),
            "nothing may follow here",
        )
    }
}

/// The lines of a source that hold anything. What is no token is reported and left out.
pub(crate) struct Lines<'a> {
    lexer: Lexer<'a, Kind>,
    source: usize,
    number: u32,
}

impl<'a> Lines<'a> {
    /// Starts at the top of a source, which goes by `index` in diagnostics.
    pub(crate) fn new(source: &'a Source, index: usize) -> Self {
        Self { lexer: Kind::lexer(&source.text), source: index, number: 1 }
    }

    /// The next line that holds something, if any.
    pub(crate) fn next(&mut self, sink: &mut Sink) -> Option<Line<'a>> {
        let mut tokens = Vec::new();
        let mut junk = Junk::default();
        while let Some(found) = self.lexer.next() {
            let token = self.token(found.unwrap_or(Kind::Word));
            match found {
                Ok(Kind::Newline) if tokens.is_empty() && !junk.any => self.number = self.number.saturating_add(1),
                Ok(Kind::Newline) => return Some(self.line(tokens, &junk)),
                Ok(_) => tokens.push(token),
                Err(()) => junk.report(token, sink),
            }
        }
        (!tokens.is_empty() || junk.any).then(|| self.line(tokens, &junk))
    }

    fn token(&self, kind: Kind) -> Token<'a> {
        Token { kind, text: self.lexer.slice(), start: self.lexer.span().start, source: self.source }
    }

    fn line(&mut self, tokens: Vec<Token<'a>>, junk: &Junk) -> Line<'a> {
        let number = self.number;
        self.number = number.saturating_add(1);
        let start = tokens.first().map_or(junk.end, |token| token.start);
        let place = Token { kind: Kind::Newline, text: "", start, source: self.source };
        Line { number, broken: junk.any, tokens, next: 0, place }
    }
}

/// What the lexer does not know, on one line. Neighbours make one report.
#[derive(Default)]
struct Junk {
    any: bool,
    end: usize,
}

impl Junk {
    fn report(&mut self, token: Token<'_>, sink: &mut Sink) {
        if !self.any || self.end != token.start {
            sink.push(unknown(token));
        }
        self.any = true;
        self.end = token.end();
    }
}

fn unknown(token: Token<'_>) -> Diagnostic {
    let first = token.text.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER);
    let hint = match first {
        '→' | '⇒' | '>' => Some("an arrow is written `->`"),
        '/' => Some("comments start with `#`"),
        '−' | '–' | '—' => Some("the empty stack is written `-`"),
        _ => None,
    };
    let message = match first {
        char::REPLACEMENT_CHARACTER => "the text is not valid UTF-8".to_owned(),
        other => format!("unexpected character `{}`", other.escape_debug()),
    };
    token.error(message, "not part of any word or mark").hint_if(hint.map(str::to_owned))
}

/// One warning for each name that is none of those known, at its first place: the rule there does nothing, because
/// `what` with this name.
pub(crate) fn tell_unknown<'a>(
    places: impl Iterator<Item = Token<'a>>,
    known: &HashSet<&str>,
    what: &str,
    does_nothing: &str,
    sink: &mut Sink,
) {
    let mut told = HashSet::new();
    for place in places {
        if !known.contains(place.text) && told.insert(place.text) {
            let full = sink.is_full(Severity::Warning);
            let mut names: Vec<_> = known.iter().copied().filter(|_| !full).collect();
            names.sort_unstable();
            let hint = suggestion(place.text, names.into_iter(), full);
            let message = format!("{what} {}, so this rule {does_nothing}", quote(place.text));
            sink.push(place.warning(message, "a slip of the pen?").hint_if(hint));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> (Vec<(u32, Vec<&str>)>, Vec<Diagnostic>) {
        let source = Source::new("x", text.as_bytes());
        let mut sink = Sink::default();
        let mut reader = Lines::new(&source, 0);
        let mut found = Vec::new();
        while let Some(line) = reader.next(&mut sink) {
            let texts = line.rest().iter().map(|token| &text[token.span()]).collect();
            found.push((line.number, texts));
        }
        (found, sink.into_errors())
    }

    #[test]
    fn lines_hold_tokens() {
        let (found, errors) = lines("# nothing\n\n0 a'->1 -# x\r\n\tx..y|*, -.:{}\n\n");
        assert_eq!(
            found,
            [(3, vec!["0", "a'", "->", "1", "-"]), (4, vec!["x", "..", "y", "|", "*", ",", "-", ".", ":", "{", "}"])]
        );
        assert_eq!(errors, []);
    }

    #[test]
    fn neighbouring_junk_is_one_report() {
        let source = b"0 %%\xff 1 & # \xff\n\xff";
        let (_, errors) = lines(&String::from_utf8_lossy(source));
        let spans: Vec<_> = errors.iter().map(|error| (error.span.clone(), error.message.as_str())).collect();
        assert_eq!(
            spans,
            [
                (2..3, "unexpected character `%`"),
                (10..11, "unexpected character `&`"),
                (18..21, "the text is not valid UTF-8")
            ]
        );
    }

    #[test]
    fn length_costs_no_stack() {
        for piece in ["#", "a", " ", "# x\n", "%", "%%\n", "- ", "\r \t", "é"] {
            lines(&piece.repeat(3_000_000));
        }
    }
}

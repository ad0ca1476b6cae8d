//! Words, numbers and marks of the forms of counters.

use std::ops::Range;

use logos::Logos;

use crate::diagnostic::{Diagnostic, quote};
use crate::source::Source;

#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip r"[ \t\r\n\u{c}]+", skip(r"#[^\n]*", allow_greedy = true))]
pub(super) enum Mark {
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
    Word,
    #[regex(r"[0-9]+")]
    Number,
    #[token("->")]
    Arrow,
    #[token("+>")]
    Starts,
    #[token(">=")]
    AtLeast,
    #[token("=")]
    Equals,
    #[token("'")]
    Prime,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token("|")]
    Bar,
    #[token("[")]
    Open,
    #[token("]")]
    Close,
    /// Anything that no form knows.
    Other,
}

/// A word, number or mark with its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'t> {
    pub(super) mark: Mark,
    pub(super) text: &'t str,
    pub(super) start: usize,
    /// The line, counted from 1.
    pub(super) line: u32,
}

impl Token<'_> {
    pub(super) fn span(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }
}

/// Goes through the tokens of a text.
pub(super) struct Tokens<'t> {
    all: Vec<Token<'t>>,
    next: usize,
    source: usize,
    end: usize,
}

/// A value, or what is wrong.
pub(super) type Fallible<T> = Result<T, Diagnostic>;

impl<'t> Tokens<'t> {
    pub(super) fn new(source: &'t Source, number: usize) -> Self {
        let text = &source.text;
        let (mut line, mut counted) = (1, 0);
        let mut all = Vec::new();
        for (mark, span) in Mark::lexer(text).spanned() {
            line += text[counted..span.start].bytes().filter(|byte| *byte == b'\n').count() as u32;
            counted = span.start;
            all.push(Token { mark: mark.unwrap_or(Mark::Other), text: &text[span.clone()], start: span.start, line });
        }
        Self { all, next: 0, source: number, end: text.len() }
    }

    pub(super) fn peek(&self) -> Option<Token<'t>> {
        self.all.get(self.next).copied()
    }

    pub(super) fn is(&self, mark: Mark) -> bool {
        self.peek().is_some_and(|token| token.mark == mark)
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        self.peek().is_some_and(|token| token.text == word)
    }

    pub(super) fn advance(&mut self) {
        self.next += 1;
    }

    pub(super) fn accept(&mut self, mark: Mark) -> bool {
        let found = self.is(mark);
        self.next += usize::from(found);
        found
    }

    pub(super) fn accept_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.next += usize::from(found);
        found
    }

    /// The next token, which must be of a sort.
    pub(super) fn expect(&mut self, mark: Mark, what: &str) -> Fallible<Token<'t>> {
        match self.peek().filter(|token| token.mark == mark) {
            Some(token) => {
                self.next += 1;
                Ok(token)
            }
            None => Err(self.unexpected(what)),
        }
    }

    pub(super) fn number(&mut self, what: &str) -> Fallible<u32> {
        let token = self.expect(Mark::Number, what)?;
        let number = token.text.parse().ok().filter(|number| *number <= super::MOST);
        number.ok_or_else(|| self.error(token.span(), "the number is too large", format!("at most {}", super::MOST)))
    }

    /// Something else than what is due.
    pub(super) fn unexpected(&self, what: &str) -> Diagnostic {
        match self.peek() {
            Some(token) => {
                let message = format!("expected {what}, found {}", quote(token.text));
                self.error(token.span(), message, "here".to_owned())
            }
            None => self.error(self.end..self.end, format!("the text ends where {what} is due"), String::new()),
        }
    }

    pub(super) fn error(&self, span: Range<usize>, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        Diagnostic::error(self.source, span, message, label)
    }
}

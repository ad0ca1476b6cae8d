//! Words and marks of SPADE files.
//!
//! Line ends mean nothing to the grammar, but a token remembers its line: rules are quoted by it, and reading resumes at
//! the next line after an error. Comments nest, so they are passed over by counting.

use std::ops::Range;

use logos::Logos;

use crate::diagnostic::{Diagnostic, Sink, quote};
use crate::source::Source;

/// What a reading step gives: its value, or the error that ends the statement.
pub(super) type Fallible<T> = Result<T, Diagnostic>;

#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip r"[ \t\r\n\f]+")]
pub(super) enum Kind {
    #[regex(r"[A-Za-z0-9_']+")]
    Word,
    #[token("->")]
    Arrow,
    #[token(":")]
    Colon,
    #[token(",")]
    Comma,
    #[token("(")]
    Open,
    #[token(")")]
    Close,
    #[token("!")]
    Send,
    #[token("?")]
    Receive,
    /// The start of a comment; never delivered.
    #[token("(*")]
    Comment,
    /// After the last one.
    End,
}

/// A word or mark and where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    pub(super) start: usize,
    /// The line, from 1.
    pub(super) line: u32,
}

impl Token<'_> {
    pub(super) fn span(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    /// From the start of this token to the end of another.
    pub(super) fn up_to(&self, last: &Token<'_>) -> Range<usize> {
        self.start..last.span().end.max(self.span().end)
    }

    pub(super) fn is_word(&self, text: &str) -> bool {
        self.kind == Kind::Word && self.text == text
    }

    pub(super) fn error(&self, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        Diagnostic::error(0, self.span(), message, label)
    }

    /// The refusal of something that SPADE knows and this reader does not.
    pub(super) fn unsupported(&self, what: &str, label: impl Into<String>) -> Diagnostic {
        self.error(format!("not supported: {what}"), label)
    }
}

/// All tokens of a text; at the end stands one that says so. What is no token is reported and left out.
pub(super) fn tokens<'a>(source: &'a Source, sink: &mut Sink) -> Vec<Token<'a>> {
    let mut tokens = Vec::new();
    let mut lexer = Kind::lexer(&source.text);
    let (mut line, mut counted, mut junk_end) = (1_u32, 0, None);
    while let Some(kind) = lexer.next() {
        let (text, start) = (lexer.slice(), lexer.span().start);
        line = line.saturating_add(newlines(&source.text[counted..start]));
        counted = start;
        let token = |kind| Token { kind, text, start, line };
        match kind {
            Ok(Kind::Comment) => match comment_end(lexer.remainder()) {
                Some(length) => lexer.bump(length),
                None => {
                    sink.push(unfinished(token(Kind::Comment)));
                    lexer.bump(lexer.remainder().len());
                }
            },
            Ok(kind) => tokens.push(token(kind)),
            Err(()) => {
                if junk_end != Some(start) {
                    sink.push(unknown(token(Kind::Word)));
                }
                junk_end = Some(lexer.span().end);
            }
        }
    }
    let line = line.saturating_add(newlines(&source.text[counted..]));
    tokens.push(Token { kind: Kind::End, text: "", start: source.text.len(), line });
    tokens
}

fn newlines(text: &str) -> u32 {
    u32::try_from(text.bytes().filter(|&byte| byte == b'\n').count()).unwrap_or(u32::MAX)
}

/// Where a comment ends whose opening mark stands just before the text.
fn comment_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 1_usize);
    while let Some(pair) = bytes.get(at..at + 2) {
        at += match pair {
            b"(*" => {
                depth += 1;
                2
            }
            b"*)" => {
                depth -= 1;
                2
            }
            _ => 1,
        };
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

fn unfinished(token: Token<'_>) -> Diagnostic {
    let hint = "comments nest: each `(*` needs a `*)` of its own";
    token.error("this comment does not end", "it begins here").hint(hint)
}

fn unknown(token: Token<'_>) -> Diagnostic {
    let first = token.text.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER);
    let hint = match first {
        '→' | '⇒' | '>' | '-' => Some("an arrow is written `->`"),
        '/' | '#' => Some("comments are written `(* ... *)`"),
        '*' => Some("a comment starts with `(*`"),
        _ => None,
    };
    let message = match first {
        char::REPLACEMENT_CHARACTER => "the text is not valid UTF-8".to_owned(),
        _ => format!("{} does not belong here", quote(token.text)),
    };
    token.error(message, "not part of any word or mark").hint_if(hint.map(str::to_owned))
}

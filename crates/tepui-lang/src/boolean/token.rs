//! Words and marks of programs.
//!
//! All dialects are made of the same tokens. Keywords are words; the parser knows which.

use std::ops::Range;

use logos::Logos;

use super::hints;
use crate::diagnostic::{Diagnostic, Sink, quote};
use crate::source::Source;

#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip r"[ \t\r\n\f]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
#[logos(skip(r"/\*([^*]|\*+[^*/])*\*+/"))]
pub(super) enum Kind {
    #[regex(r"[A-Za-z_$][A-Za-z0-9_$.]*")]
    Word,
    #[regex(r"[0-9]+")]
    Number,
    #[token(":=")]
    Becomes,
    #[token("==")]
    #[token("=")]
    Equal,
    #[token("!=")]
    Unequal,
    #[token("=>")]
    #[token("==>")]
    Implies,
    #[token("!")]
    #[token("~")]
    Not,
    #[token("&")]
    #[token("&&")]
    And,
    #[token("|")]
    #[token("||")]
    Or,
    #[token("^")]
    Xor,
    #[token("?")]
    Question,
    #[token(":")]
    Colon,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token("(")]
    Open,
    #[token(")")]
    Close,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token("<")]
    Less,
    #[token(">")]
    Greater,
    #[token("<=")]
    AtMost,
    #[token(">=")]
    AtLeast,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token(".")]
    Dot,
    #[token("..")]
    DotDot,
    #[token("*")]
    Star,
    #[token("'")]
    Prime,
    #[regex(r#""[^"\n]*""#)]
    Text,
    /// After the last one.
    End,
}

impl Kind {
    /// Whether it joins two numbers.
    pub(super) fn is_arithmetic(self) -> bool {
        matches!(self, Self::Plus | Self::Minus | Self::Star | Self::Slash | Self::Percent)
    }
}

/// A word or mark and where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    pub(super) start: usize,
}

impl Token<'_> {
    pub(super) fn span(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }
}

/// All tokens of a text; at the end stands one that says so.
pub(super) fn tokens<'a>(source: &'a Source, sink: &mut Sink) -> Vec<Token<'a>> {
    let mut tokens = Vec::new();
    let mut lexer = Kind::lexer(&source.text);
    while let Some(kind) = lexer.next() {
        let (text, span) = (lexer.slice(), lexer.span());
        match kind {
            Ok(kind) => tokens.push(Token { kind, text, start: span.start }),
            Err(()) if text.starts_with("/*") => {
                sink.push(Diagnostic::error(0, span, "this comment does not end", "it begins here"));
            }
            Err(()) => {
                let message = format!("{} does not belong here", quote(text));
                let error = Diagnostic::error(0, span, message, "unexpected");
                sink.push(match hints::of_stray(text) {
                    Some(hint) => error.hint(hint),
                    None => error,
                });
            }
        }
    }
    tokens.push(Token { kind: Kind::End, text: "", start: source.text.len() });
    tokens
}

/// The same where what stands between braces, in one line, is a name.
pub(super) fn with_braced_names<'a>(tokens: Vec<Token<'a>>, source: &'a Source) -> Vec<Token<'a>> {
    let mut joined: Vec<Token<'a>> = Vec::with_capacity(tokens.len());
    // Where the last brace was opened, and how many tokens there were before it.
    let mut open: Option<(usize, usize)> = None;
    for token in tokens {
        open = open.filter(|(start, _)| !source.text[*start..token.start].contains('\n'));
        match (token.kind, open) {
            (Kind::OpenBrace, None) => {
                let values = joined.last().is_some_and(|last| last.text == "enum");
                open = (!values).then_some((token.start, joined.len()));
                joined.push(token);
            }
            (Kind::CloseBrace, Some((start, before))) => {
                joined.truncate(before);
                joined.push(Token { kind: Kind::Word, text: &source.text[start..=token.start], start });
                open = None;
            }
            _ => joined.push(token),
        }
    }
    joined
}

/// The same where names have no dots: a dot leads to a field, and two stand between the bounds of a range.
pub(super) fn without_dots(tokens: Vec<Token<'_>>) -> Vec<Token<'_>> {
    let mut split = Vec::with_capacity(tokens.len());
    for token in tokens {
        if token.kind != Kind::Word || !token.text.contains('.') {
            split.push(token);
            continue;
        }
        let mut rest = token;
        while !rest.text.is_empty() {
            let dots = rest.text.len() - rest.text.trim_start_matches('.').len();
            let (kind, length) = match dots {
                0 if rest.text.starts_with(|first: char| first.is_ascii_digit()) => {
                    (Kind::Number, rest.text.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.text.len()))
                }
                0 => (Kind::Word, rest.text.find('.').unwrap_or(rest.text.len())),
                2 => (Kind::DotDot, 2),
                _ => (Kind::Dot, 1),
            };
            let (text, after) = rest.text.split_at(length);
            split.push(Token { kind, text, start: rest.start });
            rest = Token { text: after, start: rest.start + length, ..rest };
        }
    }
    split
}

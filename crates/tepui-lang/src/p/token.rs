//! Words and marks of P.
//!
//! Both dialects are made of the same tokens. Most of P's words are words only where the grammar expects them: programs
//! use them as names elsewhere. So keywords are words here; the parser knows which.

use logos::Logos;

use super::syntax::Place;
use crate::diagnostic::{Diagnostic, Sink, quote};
use crate::source::Source;

#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip r"[ \t\r\n\f]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
#[logos(skip(r"/\*([^*]|\*+[^*/])*\*+/"))]
pub(super) enum Kind {
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
    Word,
    #[regex(r"[0-9]+")]
    Number,
    #[regex(r#""([^"\\\r\n]|\\[^\r\n])*""#)]
    Text,
    #[token("$")]
    Dollar,
    #[token("$$")]
    Dollars,
    #[token("->")]
    Arrow,
    #[token("+=")]
    Insert,
    #[token("-=")]
    Remove,
    #[token("=")]
    Becomes,
    #[token("==")]
    Equal,
    #[token("!=")]
    Unequal,
    #[token("==>")]
    #[token("<==>")]
    Implies,
    #[token("<")]
    Less,
    #[token(">")]
    Greater,
    #[token("<=")]
    AtMost,
    #[token(">=")]
    AtLeast,
    #[token("&&")]
    And,
    #[token("||")]
    Or,
    #[token("!")]
    Not,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token(".")]
    Dot,
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
    /// After the last one.
    End,
}

/// A word or mark and where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    pub(super) place: Place,
}

impl Token<'_> {
    pub(super) fn is(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text == word
    }
}

/// All tokens of a source; at the end stands one that says so.
pub(super) fn tokens<'a>(number: usize, source: &'a Source, sink: &mut Sink) -> Vec<Token<'a>> {
    let mut tokens = Vec::new();
    let mut lexer = Kind::lexer(&source.text);
    while let Some(kind) = lexer.next() {
        let (text, place) = (lexer.slice(), Place::new(number, lexer.span()));
        match kind {
            Ok(kind) => tokens.push(Token { kind, text, place }),
            Err(()) if text.starts_with("/*") => {
                sink.push(place.error("this comment does not end", "it begins here"));
            }
            Err(()) if text.starts_with('"') => {
                sink.push(place.error("this text does not end", "it begins here"));
            }
            Err(()) => sink.push(stray(text, place)),
        }
    }
    let end = source.text.len();
    tokens.push(Token { kind: Kind::End, text: "", place: Place::new(number, end..end) });
    tokens
}

fn stray(text: &str, place: Place) -> Diagnostic {
    let error = place.error(format!("{} does not belong here", quote(text)), "unexpected");
    let hint = match text {
        "&" => Some("both of two conditions: `a && b`"),
        "|" => Some("one of two conditions: `a || b`"),
        _ => None,
    };
    error.hint_if(hint.map(str::to_owned))
}

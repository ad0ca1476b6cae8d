//! From text to words, numbers, names in quotes and signs, each with its line.

/// A token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Token {
    /// A word: a name or a keyword, which depends on the dialect and on the place.
    Word(String),
    Number(String),
    Quoted(String),
    Sign(&'static str),
    End,
}

/// The tokens of a text, with their lines, and how many comments of each kind there are.
pub(super) struct Lexed {
    pub(super) tokens: Vec<(Token, usize)>,
    pub(super) line_comments: usize,
    pub(super) block_comments: usize,
}

/// All signs; the longer ones first, so that none hides another one.
const SIGNS: [&str; 33] = [
    ":=", "!=", "==", "=>", "&&", "||", "<=", ">=", "..", "(", ")", "{", "}", "[", "]", "<", ">", ";", ",", ":", "?",
    "!", "=", "&", "|", "^", "*", "'", ".", "+", "-", "/", "%",
];

pub(super) fn lex(text: &str) -> Result<Lexed, String> {
    let mut lexed = Lexed { tokens: Vec::new(), line_comments: 0, block_comments: 0 };
    let (mut rest, mut line) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            lexed.line_comments += 1;
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            lexed.block_comments += 1;
            comment.find("*/").ok_or("a comment does not end")? + 4
        } else if first.is_whitespace() {
            first.len_utf8()
        } else {
            let (token, length) = token(rest).ok_or_else(|| format!("line {line}: what is {first:?}?"))?;
            lexed.tokens.push((token, line));
            length
        };
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    lexed.tokens.push((Token::End, line));
    Ok(lexed)
}

/// The token that a text begins with, and its length.
fn token(text: &str) -> Option<(Token, usize)> {
    let run = |belongs: fn(char) -> bool| text.find(|c| !belongs(c)).unwrap_or(text.len());
    let first = text.chars().next()?;
    if first.is_ascii_digit() {
        let length = run(|c| c.is_ascii_digit());
        return Some((Token::Number(text[..length].to_owned()), length));
    }
    if first.is_ascii_alphabetic() || first == '_' {
        let length = run(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$');
        return Some((Token::Word(text[..length].to_owned()), length));
    }
    if let Some(quoted) = text.strip_prefix('"') {
        let length = quoted.find('"')?;
        return Some((Token::Quoted(quoted[..length].to_owned()), length + 2));
    }
    let sign = SIGNS.iter().find(|sign| text.starts_with(**sign))?;
    Some((Token::Sign(sign), sign.len()))
}

//! The words of a text. Numbers are kept as they are written: `x.0.1` has two positions, and `0.1` is one number.

/// A word.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token {
    /// A name, or a word of the language.
    Word(String),
    Digits(String),
    Text(String),
    Sign(&'static str),
    End,
}

/// Signs, longer ones first.
const SIGNS: &[&str] = &[
    "==", "!=", "<=", ">=", "&&", "||", "+=", "-=", "->", "$$", "=", "!", "<", ">", "+", "-", "*", "/", "%", "(", ")",
    "{", "}", "[", "]", ",", ";", ":", ".", "$",
];

/// Words, with their lines.
pub(super) type Words = Vec<(Token, usize)>;

/// All words with the lines that they are on, and what sorts of comments there are.
pub(super) fn lex(text: &str) -> Result<(Words, Vec<&'static str>), String> {
    let (mut rest, mut line) = (text, 1);
    let (mut tokens, mut comments) = (Vec::new(), Vec::new());
    while let Some(first) = rest.chars().next() {
        let length = if let Some(comment) = rest.strip_prefix("//") {
            comments.push("line comment");
            2 + comment.find('\n').unwrap_or(comment.len())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comments.push("block comment");
            4 + comment.find("*/").ok_or("a comment does not end")?
        } else if first.is_whitespace() || first == '\u{feff}' {
            first.len_utf8()
        } else {
            let (token, length) = token(rest, first).ok_or_else(|| format!("line {line}: {first}"))?;
            tokens.push((token, line));
            length
        };
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    tokens.push((Token::End, line));
    Ok((tokens, comments))
}

fn token(rest: &str, first: char) -> Option<(Token, usize)> {
    let while_true = |wanted: fn(char) -> bool| rest.find(|c| !wanted(c)).unwrap_or(rest.len());
    if first == '"' {
        return string(rest);
    }
    if first.is_ascii_digit() {
        let length = while_true(|c| c.is_ascii_digit());
        return Some((Token::Digits(rest[..length].to_owned()), length));
    }
    if first.is_alphabetic() || first == '_' {
        let length = while_true(|c| c.is_alphanumeric() || c == '_');
        return Some((Token::Word(rest[..length].to_owned()), length));
    }
    SIGNS.iter().find(|sign| rest.starts_with(**sign)).map(|sign| (Token::Sign(sign), sign.len()))
}

fn string(rest: &str) -> Option<(Token, usize)> {
    let mut text = String::new();
    let mut characters = rest.char_indices().skip(1);
    while let Some((place, character)) = characters.next() {
        match character {
            '"' => return Some((Token::Text(text), place + 1)),
            '\\' => text.push(match characters.next()?.1 {
                'n' => '\n',
                't' => '\t',
                other => other,
            }),
            _ => text.push(character),
        }
    }
    None
}

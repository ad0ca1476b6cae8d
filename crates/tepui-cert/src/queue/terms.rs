//! Words and lists of words: what values and states of machines are written with.

/// A word, or a list in parentheses.
#[derive(Debug)]
pub(super) enum Term<'a> {
    Word(&'a str),
    List(Vec<Term<'a>>),
}

/// How deep lists may be nested.
const DEEPEST: usize = 200;

impl<'a> Term<'a> {
    /// The terms of a line; none, if parentheses do not match or are nested too deep.
    pub(super) fn read(line: &'a str) -> Option<Vec<Self>> {
        let mut open: Vec<Vec<Self>> = vec![Vec::new()];
        for word in line.split_ascii_whitespace() {
            match word {
                "(" if open.len() > DEEPEST => return None,
                "(" => open.push(Vec::new()),
                ")" => {
                    let list = open.pop()?;
                    open.last_mut()?.push(Self::List(list));
                }
                word => open.last_mut()?.push(Self::Word(word)),
            }
        }
        let terms = open.pop()?;
        open.is_empty().then_some(terms)
    }

    pub(super) fn word(&self) -> Option<&'a str> {
        if let Self::Word(word) = self { Some(word) } else { None }
    }

    pub(super) fn list(&self) -> Option<&[Self]> {
        if let Self::List(list) = self { Some(list) } else { None }
    }

    pub(super) fn number<T: std::str::FromStr>(&self) -> Option<T> {
        self.word()?.parse().ok()
    }
}

/// A text as one word: everything but letters, digits and a few marks is spelled out.
pub(super) fn word_of(text: &str) -> String {
    let mut word = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.' => word.push(byte as char),
            other => word.push_str(&format!("%{other:02x}")),
        }
    }
    word
}

/// The text that a word stands for.
pub(super) fn text_of(word: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::new(), word.strip_prefix('"')?.as_bytes());
    while let Some((first, more)) = rest.split_first() {
        rest = more;
        if *first == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

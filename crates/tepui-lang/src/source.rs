//! Texts to be read, and places in them.
//!
//! A source is text in UTF-8 whatever its file held: bytes that are not UTF-8 become U+FFFD, which no form knows, so
//! that readers complain about it where it matters and pass over it in comments. Places are byte offsets into this
//! text, never into the file.

/// A named text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// What messages call the text, usually the path of its file.
    pub name: String,
    /// The text.
    pub text: String,
}

impl Source {
    /// Takes the content of a file. A byte order mark at the start is dropped.
    pub fn new(name: impl Into<String>, bytes: &[u8]) -> Self {
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        Self { name: name.into(), text: String::from_utf8_lossy(bytes).into_owned() }
    }

    /// Line and column of a byte offset, both from 1, columns in characters. An offset beyond the end means the end.
    pub fn position(&self, offset: usize) -> (usize, usize) {
        let boundary = (0..=offset.min(self.text.len())).rev().find(|&at| self.text.is_char_boundary(at));
        let before = &self.text[..boundary.unwrap_or(0)];
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_text() {
        let text = |bytes: &[u8]| Source::new("x", bytes).text;
        assert_eq!(text(b"a\xffb"), "a\u{fffd}b");
        assert_eq!(text("\u{feff}4\n".as_bytes()), "4\n");
    }

    #[test]
    fn positions_count_characters_from_one() {
        let source = Source::new("x", "aé\nb".as_bytes());
        let positions: Vec<_> = [0, 1, 2, 3, 4, 5, 99].map(|offset| source.position(offset)).into();
        assert_eq!(positions, [(1, 1), (1, 2), (1, 2), (1, 3), (2, 1), (2, 2), (2, 2)]);
    }
}

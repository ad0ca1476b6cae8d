//! Text of an input on its way to a reader: characters that would act on a terminal stand as pictures of themselves.
//!
//! Names, comments, file names and messages about them may come from anywhere, and a terminal obeys the control
//! characters in them: they can wipe the verdict and write another one. Every renderer for people sends what it did
//! not write itself through [`visible`]. One character stands for one, so that columns and carets stay where they are.

use std::borrow::Cow;

use tepui_lang::diagnostic::is_hidden;

/// The text on one line.
pub fn visible(text: &str) -> Cow<'_, str> {
    replaced(text, |_, _| false)
}

/// The text on as many lines as it has. Tabs stay as well, and carriage returns that belong to a line's end.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    replaced(text, |c, rest| matches!(c, '\n' | '\t') || (c == '\r' && rest.starts_with('\n')))
}

/// A finished report: lines and the colours that the renderers put there stay. This is the last guard, for what should
/// have been made visible before: whatever slips through can be coloured at most.
pub fn guarded(report: &str) -> Cow<'_, str> {
    replaced(report, |c, rest| matches!(c, '\n' | '\t') || (c == '\u{1b}' && begins_colour(rest)))
}

/// JSON with escapes for the characters that its writer leaves alone: only strings can hold them.
pub(crate) fn visible_json(json: &str) -> Cow<'_, str> {
    if !json.chars().any(|c| is_hidden(c) && c != '\n') {
        return Cow::Borrowed(json);
    }
    let escaped = |c: char| match is_hidden(c) && c != '\n' {
        true => format!("\\u{:04x}", u32::from(c)),
        false => c.to_string(),
    };
    json.chars().map(escaped).collect()
}

/// Whether what follows an escape makes it a colour, as in `ESC [ 1 ; 3 2 m`.
fn begins_colour(rest: &str) -> bool {
    let numbers = rest.strip_prefix('[').map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';'));
    numbers.is_some_and(|rest| rest.starts_with('m'))
}

/// The text with a picture for each hidden character, unless it may stay where it is, given what follows it.
fn replaced(text: &str, stays: impl Fn(char, &str) -> bool) -> Cow<'_, str> {
    let is_bad = |place: usize, c: char| is_hidden(c) && !stays(c, &text[place + c.len_utf8()..]);
    if !text.char_indices().any(|(place, c)| is_bad(place, c)) {
        return Cow::Borrowed(text);
    }
    text.char_indices().map(|(place, c)| if is_bad(place, c) { picture(c) } else { c }).collect()
}

/// Unicode has pictures of the ASCII controls; others are replaced as bytes that are no text are.
fn picture(c: char) -> char {
    match u32::from(c) {
        code @ 0..=0x1f => char::from_u32(0x2400 + code).unwrap_or(char::REPLACEMENT_CHARACTER),
        0x7f => '\u{2421}',
        _ => char::REPLACEMENT_CHARACTER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_become_pictures_of_the_same_width() {
        assert_eq!(visible("a\u{1b}[2K\rb\u{7}\u{8}\u{7f}\n"), "a␛[2K␍b␇␈␡␊");
        assert_eq!(visible("\u{9b}31m \u{202e}x\u{2069}\u{200f}"), "\u{fffd}31m \u{fffd}x\u{fffd}\u{fffd}");
        assert!(matches!(visible("plain, é → ␛"), Cow::Borrowed(_)));
    }

    #[test]
    fn lines_stay_lines() {
        assert_eq!(visible_lines("a\tb\r\nc\rd\n"), "a\tb\r\nc␍d\n");
    }

    #[test]
    fn only_colours_pass_the_guard() {
        let coloured = "\u{1b}[1;32mSAFE\u{1b}[0m\n";
        assert_eq!(guarded(coloured), coloured);
        assert_eq!(guarded("\u{1b}[2J\u{1b}]0;x\u{7}\u{1b}[1;\u{1b}"), "␛[2J␛]0;x␇␛[1;␛");
    }

    #[test]
    fn json_keeps_its_meaning() {
        let text = "\u{1b}\u{7f}\u{9b}\u{202e}é\n";
        let json = serde_json::to_string_pretty(&[text]).expect("a list");
        let shown = visible_json(&json);
        assert!(!shown.chars().any(|c| is_hidden(c) && c != '\n'), "{shown:?}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&shown).expect("a list"), [text]);
    }
}

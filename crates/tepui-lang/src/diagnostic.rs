//! What readers have to say about their input.
//!
//! A diagnostic is plain data: which source, which bytes of it, a message, a label for the marked place and perhaps a
//! hint what to do. Rendering is left to others. Readers go on after an error and report what else they find, up to a
//! limit: a file of the wrong kind would otherwise earn a complaint for each of its lines.

use std::ops::Range;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// The input is refused.
    Error,
    /// The input is accepted, but may not say what its author meant.
    Warning,
    /// Harmless, and common in files that programs have written.
    Note,
}

/// A message about a place in a source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Which of the reader's sources is meant; each reader documents their order.
    pub source: usize,
    /// The bytes of the source's text that are meant: on character boundaries, empty where something is missing.
    pub span: Range<usize>,
    /// What is wrong, in one line.
    pub message: String,
    /// What to write next to the marked place; may be empty.
    pub label: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// An error without a hint.
    pub fn error(source: usize, span: Range<usize>, message: impl Into<String>, label: impl Into<String>) -> Self {
        let (message, label) = (message.into(), label.into());
        Self { severity: Severity::Error, source, span, message, label, hint: None }
    }

    /// A warning without a hint.
    pub fn warning(source: usize, span: Range<usize>, message: impl Into<String>, label: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(source, span, message, label) }
    }

    /// The same as a mere note.
    #[must_use]
    pub fn note(self) -> Self {
        Self { severity: Severity::Note, ..self }
    }

    /// The same with a hint.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        self.hint_if(Some(hint.into()))
    }

    /// The same with a hint, if there is one.
    #[must_use]
    pub(crate) fn hint_if(self, hint: Option<String>) -> Self {
        Self { hint, ..self }
    }
}

/// How many errors, and how many warnings, are kept before the rest is only counted.
pub const LIMIT: usize = 20;

/// Collects diagnostics up to the limit.
#[derive(Default, Debug)]
pub(crate) struct Sink {
    errors: Bounded,
    warnings: Bounded,
}

impl Sink {
    /// Takes a diagnostic.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        match diagnostic.severity {
            Severity::Error => self.errors.push(diagnostic),
            Severity::Warning | Severity::Note => self.warnings.push(diagnostic),
        }
    }

    /// The value of a fallible step; its error is kept.
    pub(crate) fn take<T>(&mut self, result: Result<T, Diagnostic>) -> Option<T> {
        result.map_err(|diagnostic| self.push(diagnostic)).ok()
    }

    /// Whether the input is refused.
    pub(crate) fn has_errors(&self) -> bool {
        !self.errors.kept.is_empty()
    }

    /// Whether further diagnostics would only be counted, so that no effort on hints is worth while.
    pub(crate) fn is_full(&self, severity: Severity) -> bool {
        match severity {
            Severity::Error => self.errors.kept.len() >= LIMIT,
            Severity::Warning | Severity::Note => self.warnings.kept.len() >= LIMIT,
        }
    }

    /// The errors in the order of the sources, the count of those left out last.
    pub(crate) fn into_errors(self) -> Vec<Diagnostic> {
        self.errors.finish("error")
    }

    /// The warnings in the order of the sources, the count of those left out last.
    pub(crate) fn into_warnings(self) -> Vec<Diagnostic> {
        self.warnings.finish("warning")
    }
}

/// The first diagnostics of one severity, and how many more there were.
#[derive(Default, Debug)]
struct Bounded {
    kept: Vec<Diagnostic>,
    left_out: usize,
    next: Option<Diagnostic>,
}

impl Bounded {
    /// Takes a diagnostic, unless it repeats one: what is repeated in a model need not be repeated about it.
    fn push(&mut self, diagnostic: Diagnostic) {
        if self.kept.contains(&diagnostic) {
            return;
        }
        if self.kept.len() < LIMIT {
            self.kept.push(diagnostic);
            return;
        }
        self.left_out += 1;
        self.next.get_or_insert(diagnostic);
    }

    fn finish(mut self, what: &str) -> Vec<Diagnostic> {
        self.kept.sort_by_key(|diagnostic| (diagnostic.source, diagnostic.span.start));
        let plural = if self.left_out == 1 { "" } else { "s" };
        self.kept.extend(self.next.map(|next| Diagnostic {
            message: format!("and {} more {what}{plural}", self.left_out),
            label: "the next one is here".to_owned(),
            hint: None,
            ..next
        }));
        self.kept
    }
}

/// Whether a character acts on a terminal instead of showing there: controls, and marks that turn the order of what
/// follows around.
pub fn is_hidden(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Text of the input as it is quoted in messages: whole if it is short, else its beginning. What cannot be seen is
/// spelled out.
pub(crate) fn quote(text: &str) -> String {
    const LONGEST: usize = 40;
    let beginning = text.chars().take(LONGEST);
    let shown: String =
        beginning.map(|c| if is_hidden(c) { c.escape_default().to_string() } else { c.to_string() }).collect();
    let more = if text.chars().nth(LONGEST).is_some() { "..." } else { "" };
    format!("`{shown}{more}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_counts_what_it_drops() {
        let mut sink = Sink::default();
        for start in (0..LIMIT + 5).rev() {
            sink.push(Diagnostic::error(0, start..start, "wrong", ""));
        }
        let errors = sink.into_errors();
        assert_eq!(errors.len(), LIMIT + 1);
        assert_eq!(errors[0].span, 5..5);
        assert_eq!(errors[LIMIT].message, "and 5 more errors");
        assert_eq!(errors[LIMIT].span, 4..4);
    }

    #[test]
    fn long_text_is_cut() {
        assert_eq!(quote("abc"), "`abc`");
        assert_eq!(quote(&"é".repeat(90)), format!("`{}...`", "é".repeat(40)));
    }

    #[test]
    fn what_cannot_be_seen_is_spelled_out() {
        assert_eq!(quote("\u{1b}[31m\r\u{9b}\u{202e}é"), "`\\u{1b}[31m\\r\\u{9b}\\u{202e}é`");
    }
}

//! Tokens one after the other: looking, taking, complaining, and going on after an error.

use super::*;

impl<'a> Parser<'a, '_> {
    pub(in crate::boolean) fn now(&self) -> Token<'a> {
        self.tokens[self.at]
    }

    pub(in crate::boolean) fn next(&mut self) -> Token<'a> {
        let token = self.now();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    pub(in crate::boolean) fn take(&mut self, kind: Kind) -> bool {
        let there = self.now().kind == kind;
        if there {
            self.next();
        }
        there
    }

    pub(in crate::boolean) fn word(&mut self, word: &str) -> bool {
        let there = self.now().kind == Kind::Word && self.now().text == word;
        if there {
            self.next();
        }
        there
    }

    pub(in crate::boolean) fn expect(&mut self, kind: Kind, what: &str) -> Fallible<Token<'a>> {
        if self.now().kind == kind { Ok(self.next()) } else { Err(self.unexpected(what)) }
    }

    pub(in crate::boolean) fn expect_word(&mut self, word: &str) -> Fallible<Token<'a>> {
        let token = self.now();
        if self.word(word) { Ok(token) } else { Err(self.unexpected(&format!("`{word}`"))) }
    }

    pub(in crate::boolean) fn described(&self) -> String {
        if self.now().kind == Kind::End { "the end of the file".to_owned() } else { quote(self.now().text) }
    }

    pub(in crate::boolean) fn unexpected(&self, what: &str) -> Diagnostic {
        let message = format!("expected {what}, found {}", self.described());
        self.hinted(Diagnostic::error(0, self.now().span(), message, "unexpected"))
    }

    /// An error at this place, with a hint where the word or the mark is known from other languages.
    pub(in crate::boolean) fn hinted(&self, error: Diagnostic) -> Diagnostic {
        let (before, now) = (self.tokens[self.at.saturating_sub(1)], self.now());
        let word = |token: &Token<'_>| hints::of_word(token.text).filter(|_| token.kind == Kind::Word);
        let declares = now.text == "decl" || now.text == "enum";
        let hint = match declares {
            true => Some("declarations come before the statements of a procedure"),
            false => word(&now).or_else(|| word(&before)).or_else(|| hints::of_mark(now.kind, now.text)),
        };
        match hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }

    /// After an error in a statement: goes to the next one, or to the end of the block.
    pub(in crate::boolean) fn recover_inside(&mut self, before: usize) {
        if self.at == before {
            self.next();
        }
        let mut nested = 0_usize;
        while self.now().kind != Kind::End {
            match self.now().kind {
                Kind::Semicolon if nested == 0 => {
                    self.next();
                    return;
                }
                Kind::OpenBrace => nested += 1,
                Kind::CloseBrace if nested == 0 => return,
                Kind::CloseBrace => {
                    nested -= 1;
                    if nested == 0 {
                        self.next();
                        return;
                    }
                }
                _ if !self.dialect.has_braces() && self.ends_block() => return,
                _ => {}
            }
            self.next();
        }
    }

    /// After an error between procedures: goes to what looks like the next declaration or procedure.
    pub(in crate::boolean) fn recover_outside(&mut self, before: usize) {
        if self.at == before {
            self.next();
        }
        while self.now().kind != Kind::End && !matches!(self.now().text, "decl" | "enum" | "void" | "bool") {
            self.next();
        }
    }
}

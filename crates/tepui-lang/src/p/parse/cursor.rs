//! Tokens one after the other: looking, taking, complaining, and going on after an error.

use super::*;

impl<'a> Parser<'a, '_> {
    pub(super) fn now(&self) -> Token<'a> {
        self.tokens[self.at]
    }

    pub(super) fn peek(&self) -> Token<'a> {
        self.tokens[(self.at + 1).min(self.tokens.len() - 1)]
    }

    pub(super) fn before(&self) -> Token<'a> {
        self.tokens[self.at.saturating_sub(1)]
    }

    pub(super) fn next(&mut self) -> Token<'a> {
        let token = self.now();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    pub(super) fn take(&mut self, kind: Kind) -> bool {
        let there = self.now().kind == kind;
        if there {
            self.next();
        }
        there
    }

    pub(super) fn word(&mut self, word: &str) -> bool {
        let there = self.now().is(word);
        if there {
            self.next();
        }
        there
    }

    pub(super) fn expect(&mut self, kind: Kind, what: &str) -> Fallible<Token<'a>> {
        if self.now().kind == kind { Ok(self.next()) } else { Err(self.unexpected(what)) }
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Fallible<Token<'a>> {
        let token = self.now();
        if self.word(word) { Ok(token) } else { Err(self.unexpected(&format!("`{word}`"))) }
    }

    pub(super) fn semicolon(&mut self) -> Fallible<()> {
        self.expect(Kind::Semicolon, "`;`").map(|_| ())
    }

    pub(super) fn name(&mut self, what: &str) -> Fallible<Name> {
        let token = self.now();
        if token.kind != Kind::Word {
            return Err(self.unexpected(what));
        }
        if KEYWORDS.contains(&token.text) {
            return Err(self.unexpected(what).hint(format!("{} is a word of the language", quote(token.text))));
        }
        self.next();
        Ok(Name { text: token.text.to_owned(), place: token.place })
    }

    /// `a, b, c`.
    pub(super) fn names(&mut self) -> Fallible<Vec<Name>> {
        let mut names = vec![self.name("a name")?];
        while self.take(Kind::Comma) {
            names.push(self.name("a name")?);
        }
        Ok(names)
    }

    /// An event: `null` and `halt` are two.
    pub(super) fn event_name(&mut self) -> Fallible<Name> {
        let token = self.now();
        if token.is("null") || token.is("halt") {
            self.next();
            return Ok(Name { text: token.text.to_owned(), place: token.place });
        }
        self.name("an event")
    }

    /// Events up to a mark, which stays; there may be none.
    pub(super) fn events_before(&mut self, end: Kind) -> Fallible<Vec<Name>> {
        let mut events = Vec::new();
        while self.now().kind != end {
            events.push(self.event_name()?);
            if !self.take(Kind::Comma) {
                break;
            }
        }
        Ok(events)
    }

    pub(super) fn integer(&mut self, what: &str) -> Fallible<i64> {
        let token = self.expect(Kind::Number, what)?;
        match token.text.parse::<i32>() {
            Ok(number) => Ok(i64::from(number)),
            Err(_) => Err(token.place.error("a number must fit into 32 bits", "too large")),
        }
    }

    fn described(&self) -> String {
        if self.now().kind == Kind::End { "the end of the file".to_owned() } else { quote(self.now().text) }
    }

    pub(super) fn unexpected(&self, what: &str) -> Diagnostic {
        self.now().place.error(format!("expected {what}, found {}", self.described()), "unexpected")
    }

    pub(super) fn particular(&mut self, old: bool, what: &'static str, place: Place) {
        self.project.particular.push(Particular { old, what, place });
    }

    /// One level deeper.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Fallible<T>) -> Fallible<T> {
        if self.depth >= DEEPEST {
            let message = format!("more than {DEEPEST} levels of nesting");
            return Err(self.now().place.error(message, "too deep"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Passes over a block in braces.
    pub(super) fn pass_block(&mut self) -> Fallible<()> {
        self.expect(Kind::OpenBrace, "`{`")?;
        let mut open = 1_usize;
        while open > 0 {
            match self.next().kind {
                Kind::OpenBrace => open += 1,
                Kind::CloseBrace => open -= 1,
                Kind::End => return Err(self.unexpected("`}`")),
                _ => {}
            }
        }
        Ok(())
    }

    /// Passes over everything up to the next semicolon.
    pub(super) fn pass_line(&mut self) -> Fallible<()> {
        while !matches!(self.now().kind, Kind::Semicolon | Kind::End | Kind::OpenBrace | Kind::CloseBrace) {
            self.next();
        }
        self.semicolon()
    }

    /// After an error in a block: goes to the next statement, or to the end of the block.
    pub(super) fn recover_inside(&mut self, before: usize) {
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
                _ => {}
            }
            self.next();
        }
    }

    /// After an error between declarations: goes to what looks like the next one.
    pub(super) fn recover_outside(&mut self, before: usize) {
        if self.at == before {
            self.next();
        }
        let begins = |token: &Token<'_>| token.kind == Kind::Word && DECLARATIONS.contains(&token.text);
        while self.now().kind != Kind::End {
            let after = self.before().kind;
            if begins(&self.now()) && matches!(after, Kind::Semicolon | Kind::CloseBrace) {
                return;
            }
            self.next();
        }
    }
}

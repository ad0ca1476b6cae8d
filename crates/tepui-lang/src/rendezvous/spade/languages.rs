//! From tokens to what a file says: the sets of terms `init` and `bad`.

use crate::diagnostic::quote;
use crate::suggestion::suggestion;

use super::parse::Parser;
use super::syntax::{Automaton, Body, Language, Transition};
use super::terms::Node;
use super::token::{Fallible, Kind, Token};

impl<'a> Parser<'a, '_> {
    /// Everything behind the rules.
    pub(super) fn languages(&mut self) {
        while self.now().kind != Kind::End {
            if let Err(error) = self.language() {
                self.sink.push(error);
                self.statements(|parser| {
                    parser.advance();
                    Ok(())
                });
            }
        }
        let quiet = self.sink.has_errors();
        for (name, missing) in [("init", self.file.init.is_none()), ("bad", self.file.bad.is_none())] {
            if missing && !quiet {
                let error = self.now().error(format!("there is no `{name}`"), "the text ends here");
                self.sink.push(error.hint(format!("give it by `Set {name}` or `Automaton {name}`")));
            }
        }
    }

    fn language(&mut self) -> Fallible<()> {
        let keyword = self.advance();
        let is_set = keyword.is_word("Set");
        if !is_set && !keyword.is_word("Automaton") {
            let message = format!("expected `Set` or `Automaton`, found {}", quote(keyword.text));
            let hint = suggestion(keyword.text, ["Set", "Automaton"].into_iter(), false);
            return Err(keyword.error(message, "unexpected").hint_if(hint));
        }
        let name = self.expect(Kind::Word, "`init` or `bad`")?;
        let place = match name.text {
            "init" => &self.file.init,
            "bad" => &self.file.bad,
            _ => {
                let message = format!("expected `init` or `bad`, found {}", quote(name.text));
                let hint = suggestion(name.text, ["init", "bad"].into_iter(), false);
                return Err(name.error(message, "no other set of terms has a meaning").hint_if(hint));
            }
        };
        if place.is_some() {
            return Err(name.error(format!("`{}` is given twice", name.text), "again here"));
        }
        let body = if is_set { self.set() } else { Body::Automaton(self.automaton()?) };
        let language = Some(Language { name, body });
        match name.text {
            "init" => self.file.init = language,
            _ => self.file.bad = language,
        }
        Ok(())
    }

    fn set(&mut self) -> Body<'a> {
        let mut terms = Vec::new();
        self.statements(|parser| {
            let term = parser.term()?;
            if let Some(par) = term.nested {
                parser.sink.push(par.unsupported("par below seq", "only `par` may stand above `par`"));
            }
            terms.push(term);
            Ok(())
        });
        Body::Set(terms)
    }

    fn automaton(&mut self) -> Fallible<Automaton<'a>> {
        let mut automaton = Automaton::default();
        self.keyword("States")?;
        for state in self.words("Final") {
            automaton.states.declare(state, "state", self.sink);
        }
        self.keyword("Final")?;
        self.keyword("States")?;
        for state in self.words("Transitions") {
            let found = automaton.states.find(state, "state", self.sink);
            automaton.accepting.extend(self.sink.take(found));
        }
        self.keyword("Transitions")?;
        self.statements(|parser| {
            let transition = parser.transition(&automaton)?;
            automaton.transitions.push(transition);
            Ok(())
        });
        Ok(automaton)
    }

    fn keyword(&mut self, text: &str) -> Fallible<()> {
        let hint = suggestion(self.now().text, [text].into_iter(), false);
        self.eat_word(text).map(|_| ()).ok_or_else(|| self.expected(&format!("`{text}`")).hint_if(hint))
    }

    /// The words up to a certain one.
    fn words(&mut self, end: &str) -> Vec<Token<'a>> {
        let mut words = Vec::new();
        while self.now().kind == Kind::Word && !self.at_section() && !self.now().is_word(end) {
            words.push(self.advance());
        }
        words
    }

    fn transition(&mut self, automaton: &Automaton<'a>) -> Fallible<Transition> {
        let head = self.expect(Kind::Word, "a transition such as `x -> q` or `seq(p, q) -> r`")?;
        let node = match self.now().kind {
            Kind::Open => self.over_states(head, automaton)?,
            _ if self.file.constants.get(head.text).is_none() && automaton.states.get(head.text).is_some() => {
                let label = "this is a state, not a constant";
                return Err(head.unsupported("a transition from a state to a state", label));
            }
            _ => self.leaf(head)?,
        };
        self.expect(Kind::Arrow, "`->`")?;
        let to = self.state(automaton)?;
        Ok(Transition { node, to })
    }

    fn over_states(&mut self, head: Token<'a>, automaton: &Automaton<'a>) -> Fallible<Node<usize>> {
        let make = match head.text {
            "seq" => Node::Seq,
            "par" => Node::Par,
            _ => {
                let hint = suggestion(head.text, ["seq", "par"].into_iter(), false);
                let message = format!("{} is not an operator with arguments", quote(head.text));
                return Err(head.error(message, "expected `seq` or `par`").hint_if(hint));
            }
        };
        self.expect(Kind::Open, "`(`")?;
        let first = self.state(automaton)?;
        self.expect(Kind::Comma, "`,` and the second state")?;
        let second = self.state(automaton)?;
        self.expect(Kind::Close, "`)`")?;
        Ok(make(first, second))
    }

    fn state(&mut self, automaton: &Automaton<'a>) -> Fallible<usize> {
        let token = self.expect(Kind::Word, "a state")?;
        automaton.states.find(token, "state", self.sink)
    }
}

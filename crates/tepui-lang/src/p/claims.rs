//! What is claimed of queues: `Client: #DONE <= 1`, one claim a line.
//!
//! A claim is a formula about the queue of each machine of a kind, or of one of them: `Client#2`. An event stands for itself at the head; `#e` counts; `X`,
//! `F` and `G` speak of suffixes; `!`, `&`, `|` and `=>` are what they are, from the tightest to the loosest.

use tepui_model::queue::Program;
use tepui_model::queue::formula::{Claim, Comparison, Formula};

use crate::diagnostic::quote;

/// What is wrong with a claim, and where in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unclear {
    /// The byte where it begins.
    pub at: usize,
    /// What it is.
    pub message: String,
}

/// How deep formulas may be nested.
const DEEPEST: usize = 100;

/// The claims in the comments of a source, each with the byte where it begins: lines that start with `// invariant:`.
pub fn in_comments(text: &str) -> Vec<(usize, &str)> {
    let mut at = 0;
    let mut found = Vec::new();
    for line in text.split_inclusive('\n') {
        if let Some(claim) = line.trim_start().strip_prefix("// invariant:") {
            found.push((at + line.len() - claim.len(), claim));
        }
        at += line.len();
    }
    found
}

/// Reads a claim about queues of a program.
pub fn read_claim(text: &str, program: &Program) -> Result<Claim, Unclear> {
    let unclear = |at: usize, message: String| Unclear { at, message };
    let Some((name, _)) = text.split_once(':') else {
        return Err(unclear(0, "expected `MACHINE: FORMULA`".to_owned()));
    };
    let (own, machine) = name.trim().split_once('#').map_or((name.trim(), None), |(own, number)| (own, Some(number)));
    let machine = machine.map(|number| {
        let at = name.find('#').map_or(0, |at| at + 1);
        number.parse::<u32>().map_err(|_| unclear(at, "expected the number of a machine, as in `Client#2`".to_owned()))
    });
    let specs: Vec<_> = program.specs.iter().map(|spec| spec.kind).collect();
    let kinds = program.told.kinds.iter().enumerate().filter(|(kind, _)| !specs.contains(kind));
    let Some((kind, _)) = kinds.into_iter().find(|(_, kind)| kind.name == own) else {
        return Err(unclear(name.len() - name.trim_start().len(), format!("there is no machine {}", quote(own))));
    };
    let mut reader = Reader { text, at: name.len() + 1, program, depth: 0 };
    let formula = reader.implication()?;
    reader.skip();
    if reader.at < text.len() {
        return Err(reader.unclear("expected the end of the formula"));
    }
    if !formula.holds(std::iter::empty()) {
        let message = "it is not true of the empty queue, with which every machine begins".to_owned();
        return Err(unclear(name.len() + 1, message));
    }
    Ok(Claim { kind, machine: machine.transpose()?, formula })
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    program: &'t Program,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn unclear(&self, message: impl Into<String>) -> Unclear {
        Unclear { at: self.at, message: message.into() }
    }

    fn skip(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn accept(&mut self, mark: &str) -> bool {
        self.skip();
        let found = self.text[self.at..].starts_with(mark);
        self.at += if found { mark.len() } else { 0 };
        found
    }

    fn word(&mut self) -> Option<&'t str> {
        self.skip();
        let rest = &self.text[self.at..];
        let end = rest.find(|mark: char| !mark.is_ascii_alphanumeric() && mark != '_').unwrap_or(rest.len());
        self.at += end;
        Some(&rest[..end]).filter(|word| !word.is_empty())
    }

    fn implication(&mut self) -> Result<Formula, Unclear> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.unclear("the formula is nested too deep"));
        }
        let left = self.either()?;
        let formula = match self.accept("=>") {
            true => Formula::Or(Box::new(Formula::Not(Box::new(left))), Box::new(self.implication()?)),
            false => left,
        };
        self.depth -= 1;
        Ok(formula)
    }

    fn either(&mut self) -> Result<Formula, Unclear> {
        let mut left = self.both()?;
        while self.accept("|") {
            left = Formula::Or(Box::new(left), Box::new(self.both()?));
        }
        Ok(left)
    }

    fn both(&mut self) -> Result<Formula, Unclear> {
        let mut left = self.prefixed()?;
        while self.accept("&") {
            left = Formula::And(Box::new(left), Box::new(self.prefixed()?));
        }
        Ok(left)
    }

    fn prefixed(&mut self) -> Result<Formula, Unclear> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.unclear("the formula is nested too deep"));
        }
        let formula = self.simple()?;
        self.depth -= 1;
        Ok(formula)
    }

    fn simple(&mut self) -> Result<Formula, Unclear> {
        if self.accept("!") {
            return Ok(Formula::Not(Box::new(self.prefixed()?)));
        }
        if self.accept("(") {
            let inner = self.implication()?;
            return if self.accept(")") { Ok(inner) } else { Err(self.unclear("expected `)`")) };
        }
        if self.accept("#") {
            return self.count();
        }
        self.skip();
        let start = self.at;
        let Some(word) = self.word() else {
            return Err(self.unclear("expected an event, `#`, `X`, `F`, `G`, `!`, `(`, `empty`, `true` or `false`"));
        };
        Ok(match word {
            "true" => Formula::True,
            "false" => Formula::Not(Box::new(Formula::True)),
            "empty" => Formula::Empty,
            "X" => Formula::Next(Box::new(self.prefixed()?)),
            "F" => Formula::Some(Box::new(self.prefixed()?)),
            "G" => Formula::All(Box::new(self.prefixed()?)),
            name => Formula::Head(self.event(name, start)?),
        })
    }

    fn count(&mut self) -> Result<Formula, Unclear> {
        self.skip();
        let start = self.at;
        let name = self.word().ok_or_else(|| self.unclear("expected an event"))?;
        let event = self.event(name, start)?;
        let comparisons = [
            ("<=", Comparison::AtMost),
            (">=", Comparison::AtLeast),
            ("!=", Comparison::Unequal),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
            ("=", Comparison::Equal),
        ];
        let found = comparisons.into_iter().find(|(mark, _)| self.accept(mark));
        let (_, comparison) = found.ok_or_else(|| self.unclear("expected `<`, `<=`, `=`, `!=`, `>=` or `>`"))?;
        self.skip();
        let start = self.at;
        let number = self.word().and_then(|word| word.parse::<u8>().ok());
        let number = number.ok_or(Unclear { at: start, message: "expected a number up to 255".to_owned() })?;
        Ok(Formula::Count(event, comparison, u32::from(number)))
    }

    fn event(&self, name: &str, at: usize) -> Result<u32, Unclear> {
        let found = self.program.told.events.iter().position(|other| other == name);
        let unknown = || Unclear { at, message: format!("there is no event {}", quote(name)) };
        found.map(|event| event as u32).ok_or_else(unknown)
    }
}

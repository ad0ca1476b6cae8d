//! Operations on locks, semaphores, barriers, conditions and numbers, and `for`.

use super::lexer::Token;
use super::parser::{OPERATIONS, Parser};
use super::statements::Named;
use super::tree::{Action, Expression, Kind, Operation, Place};

/// Waits until a lock is free, and takes it.
pub(super) fn lock_of(lock: &Place) -> Action {
    operate(Operation::Lock, lock.clone(), Vec::new())
}

/// An operation whose result nobody wants.
fn operate(operation: Operation, place: Place, operands: Vec<Expression>) -> Action {
    Action::Operate { operation, target: None, place, operands }
}

impl Parser {
    /// The word for an operation, if one comes next that is not the name of a procedure.
    pub(super) fn sees_operation(&self) -> Option<&'static str> {
        let found = OPERATIONS.into_iter().find(|operation| self.sees(operation))?;
        (self.dialect.braces() && !self.redefined.contains(&found)).then_some(found)
    }

    /// `cas(x, e, d)` and the others; the result goes to the target, if there is one.
    pub(super) fn operation(&mut self, word: &str, targets: Vec<Option<Place>>) -> Named {
        self.place += 1;
        self.expect("(")?;
        let place = self.target()?;
        let operands = if self.takes(",") { self.expressions()? } else { Vec::new() };
        self.expect(")")?;
        let (returns, wanted) = (word == "cas" || word == "fetch_add", operand_count(word));
        if operands.len() != wanted || targets.len() > usize::from(returns) {
            return self.error(&format!("another number of arguments or results of {word}"));
        }
        let stands_alone = targets.is_empty();
        let target = targets.into_iter().next().flatten();
        Ok(match word {
            "cas" => (
                Action::Operate { operation: Operation::Cas, target, place, operands },
                if stands_alone { "cas" } else { "cas with a result" },
            ),
            "fetch_add" => (
                Action::Operate { operation: Operation::FetchAdd, target, place, operands },
                if stands_alone { "fetch_add" } else { "fetch_add with a result" },
            ),
            "acquire" => (operate(Operation::Acquire, place, operands), "acquire"),
            "release" => (operate(Operation::FetchAdd, place, vec![Expression::Number(1)]), "release"),
            _ => (Action::Arrive(place), "arrive"),
        })
    }

    pub(super) fn locking(&mut self, lock: bool) -> Named {
        self.expect("(")?;
        let place = self.target()?;
        self.expect(")")?;
        if !place.parts.is_empty() {
            self.count("lock of an array");
        }
        let operation = if lock { Operation::Lock } else { Operation::Unlock };
        Ok((operate(operation, place, Vec::new()), if lock { "lock" } else { "unlock" }))
    }

    /// Whether `(c, l)` comes next, after `wait`.
    pub(super) fn sees_sleep(&mut self) -> bool {
        let start = self.place;
        let quiet = std::mem::replace(&mut self.quiet, true);
        let sees = self.takes("(") && self.target().is_ok() && self.takes(",");
        (self.place, self.quiet) = (start, quiet);
        sees
    }

    /// Sleeps on a condition.
    pub(super) fn sleep_on(&mut self) -> Named {
        self.expect("(")?;
        let condition = self.target()?;
        self.expect(",")?;
        let lock = self.target()?;
        self.expect(")")?;
        if !condition.parts.is_empty() {
            self.count("condition of an array");
        }
        Ok((Action::Sleep(Some((condition, lock))), "wait on a condition"))
    }

    /// `signal(c)`, `broadcast(c)` or `broadcast`.
    pub(super) fn waking(&mut self, word: &str) -> Named {
        if word == "broadcast" && !self.sees("(") {
            return Ok((Action::Broadcast(None), "broadcast"));
        }
        self.expect("(")?;
        let condition = self.target()?;
        self.expect(")")?;
        match word {
            "signal" => Ok((Action::Signal(condition), "signal")),
            _ => Ok((Action::Broadcast(Some(condition)), "broadcast on a condition")),
        }
    }

    pub(super) fn for_loop(&mut self) -> Named {
        self.expect("for")?;
        let variable = self.name()?;
        self.expect("in")?;
        let over = self.kind("for")?;
        let name = match &over {
            Kind::Named(name) if self.sorts.get(name).is_none_or(|sort| *sort == "an enumeration") => {
                "for over an enumeration"
            }
            Kind::Named(_) => "for over a kind",
            Kind::Range(..) => "for over numbers",
            _ => return self.error("numbers or values"),
        };
        if *self.token() != Token::Sign("{") {
            self.count("for without braces");
        }
        Ok((Action::For { variable, over, body: self.block()? }, name))
    }
}

/// How many operands there are beside the place.
fn operand_count(word: &str) -> usize {
    match word {
        "cas" => 2,
        "fetch_add" => 1,
        _ => 0,
    }
}

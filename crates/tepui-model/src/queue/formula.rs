//! What is claimed of queues.
//!
//! A formula is about a queue from a place on, a *suffix*: whether its head is an event, how often an event occurs in it, and
//! what is true of shorter suffixes. Suffixes that are asked for with `F` and `G` are not empty; the empty queue is one of
//! its own, of which `X` and `F` say nothing and `G` everything. Formulas are evaluated from the end of a queue: what is
//! true with one more event at the head depends on that event and on what was true before.

/// A formula.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Formula {
    /// Always true.
    True,
    /// There is nothing.
    Empty,
    /// The head is this event.
    Head(u32),
    /// The event occurs so often.
    Count(u32, Comparison, u32),
    /// It is not true.
    Not(Box<Formula>),
    /// Both are true.
    And(Box<Formula>, Box<Formula>),
    /// One is true.
    Or(Box<Formula>, Box<Formula>),
    /// There is a head, and it is true behind it.
    Next(Box<Formula>),
    /// It is true of some suffix that is not empty.
    Some(Box<Formula>),
    /// It is true of every suffix that is not empty.
    All(Box<Formula>),
}

/// How a number compares with another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum Comparison {
    Less,
    AtMost,
    Equal,
    Unequal,
    AtLeast,
    Greater,
}

/// A claim about the queues of a kind of machine.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Claim {
    /// The kind.
    pub kind: usize,
    /// The number of the machine, if it is about one only.
    pub machine: Option<u32>,
    /// What is claimed.
    pub formula: Formula,
}

impl Claim {
    /// Whether it is about the queue of a machine of a kind.
    pub fn is_about(&self, kind: usize, machine: usize) -> bool {
        self.kind == kind && self.machine.is_none_or(|own| own as usize == machine)
    }
}

/// What is true of a suffix: for each part of the formula, parts before wholes, whether it is, and a number for those that
/// count, not above what decides.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Truth(Vec<(bool, u32)>);

impl Formula {
    /// What is true of the empty queue.
    pub fn of_empty(&self) -> Truth {
        self.read(None, None)
    }

    /// What is true with one more event at the head.
    pub fn with_head(&self, behind: &Truth, event: u32) -> Truth {
        self.read(Some(event), Some(behind))
    }

    /// Whether the formula is true.
    pub fn is_true(&self, truth: &Truth) -> bool {
        truth.0.last().is_some_and(|(holds, _)| *holds)
    }

    /// Whether it is true of a queue.
    pub fn holds(&self, events: impl DoubleEndedIterator<Item = u32>) -> bool {
        let truth = events.rev().fold(self.of_empty(), |behind, event| self.with_head(&behind, event));
        self.is_true(&truth)
    }

    fn read(&self, head: Option<u32>, behind: Option<&Truth>) -> Truth {
        let mut truth = Truth(Vec::new());
        self.part(head, behind, &mut truth);
        truth
    }

    /// Adds the truth of all parts; says whether the whole is true.
    fn part(&self, head: Option<u32>, behind: Option<&Truth>, truth: &mut Truth) -> bool {
        let mut count = 0;
        let holds = match self {
            Self::True => true,
            Self::Empty => head.is_none(),
            Self::Head(event) => head == Some(*event),
            Self::Count(event, comparison, number) => {
                let before = behind.map_or(0, |behind| behind.0[truth.0.len()].1);
                count = (before + u32::from(head == Some(*event))).min(number.saturating_add(1));
                match comparison {
                    Comparison::Less => count < *number,
                    Comparison::AtMost => count <= *number,
                    Comparison::Equal => count == *number,
                    Comparison::Unequal => count != *number,
                    Comparison::AtLeast => count >= *number,
                    Comparison::Greater => count > *number,
                }
            }
            Self::Not(inner) => !inner.part(head, behind, truth),
            Self::And(left, right) => left.part(head, behind, truth) & right.part(head, behind, truth),
            Self::Or(left, right) => left.part(head, behind, truth) | right.part(head, behind, truth),
            Self::Next(inner) => {
                inner.part(head, behind, truth);
                let own = truth.0.len() - 1;
                head.is_some() && behind.is_some_and(|behind| behind.0[own].0)
            }
            Self::Some(inner) | Self::All(inner) => {
                let here = inner.part(head, behind, truth);
                let later = behind.is_some_and(|behind| behind.0[truth.0.len()].0);
                match (self, head) {
                    (Self::All(_), None) => true,
                    (_, None) => false,
                    (Self::All(_), Some(_)) => here && later,
                    (_, Some(_)) => here || later,
                }
            }
        };
        truth.0.push((holds, count));
        holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(event: u32) -> Box<Formula> {
        Box::new(Formula::Head(event))
    }

    #[test]
    fn the_empty_queue_is_one_of_its_own() {
        let not_next = Formula::Not(Box::new(Formula::Next(Box::new(Formula::True))));
        let holds = |formula: &Formula, events: &[u32]| formula.holds(events.iter().copied());
        assert!(holds(&not_next, &[]) && !holds(&not_next, &[1]) && !holds(&not_next, &[1, 2]));
        assert!(holds(&Formula::All(head(1)), &[]) && !holds(&Formula::Some(head(1)), &[]));
        assert!(holds(&Formula::Empty, &[]) && !holds(&Formula::Empty, &[1]) && !holds(&Formula::Head(1), &[]));
    }

    #[test]
    fn suffixes_are_asked_for() {
        // Behind a 1 there is no 2.
        let none_after = Formula::All(Box::new(Formula::Or(
            Box::new(Formula::Not(head(1))),
            Box::new(Formula::All(Box::new(Formula::Not(head(2))))),
        )));
        assert!(none_after.holds([2, 2, 1, 1].into_iter()) && !none_after.holds([2, 1, 3, 2].into_iter()));
        let last = Formula::Some(Box::new(Formula::And(
            head(3),
            Box::new(Formula::Not(Box::new(Formula::Next(Box::new(Formula::Some(Box::new(Formula::True))))))),
        )));
        assert!(last.holds([1, 3].into_iter()) && !last.holds([3, 1].into_iter()));
        let counts = Formula::All(Box::new(Formula::Count(1, Comparison::Unequal, 2)));
        assert!(counts.holds([1, 2].into_iter()) && !counts.holds([1, 1, 1].into_iter()));
    }
}

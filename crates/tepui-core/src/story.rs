//! Executions, told.
//!
//! Every kind of model tells its traces as a [`Story`], and whatever people or programs are shown of an execution (text,
//! JSON) is rendered from stories and nothing else. A story knows actors, steps and values; it does not know what kind of
//! model it is about.

/// An execution that ends in a violation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Story {
    /// Who acts: threads, machines, tasks.
    pub actors: Vec<String>,
    /// What the text of a move is called: a rule, a statement.
    pub text: &'static str,
    /// What the length of the story is measured in.
    pub unit: Unit,
    /// How things stand at the start.
    pub start: Situation,
    /// What happens.
    pub steps: Vec<Step>,
    /// What is wrong at the end, where the last step does not show it.
    pub end: Vec<String>,
}

/// What the length of a story is measured in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Contexts: one actor acts until another one goes on.
    Contexts,
    /// Steps, where actors act together.
    Steps,
}

/// How things stand: variables with values, or a state in the notation of the model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Situation {
    /// Variables with their values.
    Values(Values),
    /// A state.
    State(String),
}

/// Variables with their values.
pub type Values = Vec<(String, String)>;

/// A step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// What each actor does that takes part: one, or several where they act together.
    pub moves: Vec<Move>,
    /// In what they meet, where they do.
    pub action: Option<String>,
    /// What has changed, or how things stand afterwards.
    pub after: Situation,
    /// The calls that the actor is in afterwards, each with its line, the innermost last.
    pub stack: Vec<(String, usize)>,
    /// Which way a branch went, if that makes a difference.
    pub branch: Option<bool>,
    /// What is sent from one actor to another.
    pub messages: Vec<Message>,
    /// What is remarkable about it.
    pub marks: Vec<Mark>,
}

/// What one actor does in a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Move {
    /// The actor's number.
    pub actor: usize,
    /// The rule or the statement.
    pub text: String,
    /// The procedure that it stands in, where there are procedures.
    pub procedure: Option<String>,
    /// The file that it stands in, where there may be several.
    pub file: Option<String>,
    /// Its line in the source, from 1; 0, if it has none.
    pub line: usize,
    /// Its column, if that is known.
    pub column: Option<usize>,
}

/// A message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// Who sends it.
    pub from: usize,
    /// Who gets it.
    pub to: usize,
    /// What it says.
    pub text: String,
}

/// What is remarkable about a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// Another actor goes on than before, or the first one begins: it is the context with this number, from 1.
    Switch(u32),
    /// The property is violated in this very step: how, in words.
    Violation(&'static str),
    /// The step does nothing but go on.
    Idle,
    /// The scheduler passed an actor by before this step: its number.
    Delayed(usize),
}

impl Default for Story {
    fn default() -> Self {
        let start = Situation::State(String::new());
        Self { actors: Vec::new(), text: "rule", unit: Unit::Steps, start, steps: Vec::new(), end: Vec::new() }
    }
}

impl Story {
    /// The story of a trace that is not one of the model at hand.
    pub fn untold() -> Self {
        debug_assert!(false, "a trace is told by another model");
        Self::default()
    }

    /// How many contexts there are: maximal runs of steps of the same actors; 0, where it is not told who takes which step.
    pub fn contexts(&self) -> u32 {
        let switches = self.steps.iter().flat_map(|step| &step.marks);
        switches
            .filter_map(|mark| if let Mark::Switch(context) = mark { Some(*context) } else { None })
            .max()
            .unwrap_or(0)
    }

    /// How long it is, in its own unit, and the word for one of them.
    pub fn length(&self) -> (u64, &'static str) {
        match self.unit {
            Unit::Contexts => (u64::from(self.contexts()), "context"),
            Unit::Steps => (self.steps.len() as u64, "step"),
        }
    }

    /// Marks the steps with which a context begins.
    #[must_use]
    pub fn with_contexts(mut self) -> Self {
        let (mut before, mut context) = (Vec::new(), 0_u32);
        for step in &mut self.steps {
            let actors: Vec<_> = step.moves.iter().map(|own| own.actor).collect();
            if actors != before {
                context = context.saturating_add(1);
                step.marks.push(Mark::Switch(context));
                before = actors;
            }
        }
        self
    }
}

impl Step {
    /// A step of which only the moves and the situation after it are told.
    pub fn new(moves: Vec<Move>, after: Situation) -> Self {
        let (stack, messages, marks) = (Vec::new(), Vec::new(), Vec::new());
        Self { moves, action: None, after, stack, branch: None, messages, marks }
    }

    /// Whether it has a mark.
    pub fn is(&self, mark: Mark) -> bool {
        self.marks.contains(&mark)
    }

    /// How the property is violated in it, in words.
    pub fn violation(&self) -> Option<&'static str> {
        self.marks.iter().find_map(|mark| if let Mark::Violation(how) = mark { Some(*how) } else { None })
    }

    /// The actors that the scheduler passed by before it, in order.
    pub fn delayed(&self) -> impl Iterator<Item = usize> {
        self.marks.iter().filter_map(|mark| if let Mark::Delayed(actor) = mark { Some(*actor) } else { None })
    }

    /// The context that begins with it, if one does.
    pub fn context(&self) -> Option<u32> {
        self.marks.iter().find_map(|mark| if let Mark::Switch(context) = mark { Some(*context) } else { None })
    }
}

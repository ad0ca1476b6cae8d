//! Labels and jumps. A jump is written when all labels of its procedure are known; until then there is a mark.

use super::{Kind, Writer};

/// A jump without target.
pub(super) struct Jump {
    /// The atomic blocks around.
    around: Vec<usize>,
    /// Whether a thread is started there, rather than this one going on there.
    starts: bool,
}

impl Writer<'_> {
    /// The labels of the next statement, as a rule none.
    pub(super) fn labels(&mut self) {
        while self.one_in(4) {
            let Some(label) = self.new_label() else { return };
            self.put_label(&label);
        }
    }

    /// A label that the procedure does not have yet.
    fn new_label(&mut self) -> Option<String> {
        self.label += 1;
        let variable = self.variable(Kind::Boolean);
        let label = match (self.rng.usize(..12), variable) {
            (0, _) => "label".to_owned(),
            (1 | 2, Some(variable)) => variable,
            (4, _) => self.rng.usize(..12).to_string(),
            (3, _) => self.odd.last().map_or("M".to_owned(), |odd| (*odd).to_owned()),
            _ => format!("L{}", self.label),
        };
        let new = self.now.labels.iter().all(|(other, ..)| *other != label);
        new.then_some(label)
    }

    pub(super) fn put_label(&mut self, label: &str) {
        if !self.braces() {
            // A label that is called so would be a word before this one.
            if self.text.trim_end().ends_with("label:") {
                self.text.push_str("; ");
            }
            if self.one_in(8) {
                self.text.push_str("label: ");
            }
        }
        self.now.labels.push((label.to_owned(), self.now.around.clone(), self.text.len()));
        self.known.push(label.to_owned());
        let separator = self.pick(&[" ", " ", "\n"]);
        self.text.push_str(&format!("{label}:{separator}"));
    }

    /// A label that makes a call the start of a thread, in the dialects where it does.
    pub(super) fn put_async_label(&mut self) {
        let number = self.rng.usize(1..=9);
        let label = format!("ASYNC_{number}");
        let label = if self.now.labels.iter().any(|(other, ..)| *other == label) {
            self.label += 1;
            format!("ASYNC_1{}", self.label)
        } else {
            label
        };
        self.put_label(&label);
    }

    /// Starts a thread at the label that comes next.
    pub(super) fn put_start_here(&mut self) {
        let label = self.new_label().filter(|_| self.now.around.is_empty());
        let Some(label) = label else { return self.put_jump(true) };
        let word = if self.braces() { "thread" } else { "start_thread" };
        self.put(&format!("{word} goto {label};"));
        self.put_label(&label);
    }

    /// Marks the place of a jump.
    pub(super) fn put_jump(&mut self, starts: bool) {
        let mark = format!("\u{1}{}\u{2}", self.now.jumps.len());
        self.now.jumps.push(Jump { around: self.now.around.clone(), starts });
        self.put(&format!("{mark};"));
    }

    /// Writes the jumps of the procedure.
    pub(super) fn write_jumps(&mut self) {
        for (number, jump) in std::mem::take(&mut self.now.jumps).into_iter().enumerate() {
            let mark = format!("\u{1}{number}\u{2}");
            let place = self.text.find(&mark).unwrap_or_default();
            let statement = self.jump(&jump, place);
            self.text = self.text.replacen(&mark, &statement, 1);
        }
    }

    /// A jump to where it may lead: not into an atomic block. As a rule it leads forwards.
    fn jump(&mut self, jump: &Jump, place: usize) -> String {
        let forwards = jump.starts && !self.one_in(8) || !self.one_in(3);
        let may = |(label, around, at): &(String, Vec<usize>, usize)| {
            let outside = if jump.starts { around.is_empty() } else { jump.around.starts_with(around) };
            (outside && (*at > place || !forwards)).then(|| label.clone())
        };
        let mut targets: Vec<_> = self.now.labels.iter().filter_map(may).collect();
        self.rng.shuffle(&mut targets);
        if targets.is_empty() {
            return "skip".to_owned();
        }
        let several = if self.one_in(3) { 2 } else { 1 };
        match (jump.starts, self.braces()) {
            (true, true) => format!("thread goto {}", targets[0]),
            (true, false) => format!("start_thread goto {}", targets[0]),
            (false, _) => format!("goto {}", targets[..several.min(targets.len())].join(", ")),
        }
    }
}

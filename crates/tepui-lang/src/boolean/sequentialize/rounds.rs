//! What posts and yields become: guesses, delays, and values that are exchanged.

use tepui_model::program::Expression;

use super::{Mark, Mistake, Writer, Written};

impl Writer<'_> {
    pub(super) fn assume_guess(&mut self) {
        let same = self.same(&|own, number| own.shared(number), &|own, number| own.copy("guess", number));
        self.line(&format!("assume({same});"));
    }

    /// Any number of delays, each of which leads to the next round.
    pub(super) fn delays(&mut self, round: &str) {
        let (left, most) = (self.own("left"), self.sequential.delays);
        if most > 0 {
            let size = most + 1;
            self.line(&format!("while (* & {left} > 0) {{"));
            self.line(&format!("  {left} := ({left} + {most}) % {size};"));
            self.line(&format!("  {round} := ({round} + 1) % {size};"));
            self.line("}");
        }
    }

    /// Whether what is next in a round is simulated.
    pub(super) fn decide(&mut self, at: &str) {
        let [go, round, past] = ["go", "round", "past"].map(|name| self.own(name));
        match self.is_for_violations() {
            true => self.line(&format!("{go} := {at} < {round} | {at} = {round} & !{past} & *;")),
            false => self.line(&format!("{go} := 1;")),
        }
    }

    /// What comes next in a round finds what was left behind, and leaves a new guess behind.
    pub(super) fn exchange(&mut self, at: &str, mark: Option<Mark>) {
        let any = |_: &Self, _: usize| "*".to_owned();
        self.assign(&|own, number| own.copy("guess", number), &any);
        mark.into_iter().for_each(|mark| self.mark(mark));
        for round in 0..=self.sequential.delays {
            let next = move |own: &Self, number: usize| own.copy(&format!("next{round}"), number);
            self.line(&format!("if ({at} = {round}) {{"));
            self.depth += 1;
            self.assign(&|own, number| own.shared(number), &next);
            self.assign(&next, &|own, number| own.copy("guess", number));
            self.depth -= 1;
            self.line("}");
        }
    }

    pub(super) fn post(&mut self, task: usize, arguments: &[Expression], from: &str) {
        let late = self.sequential.mistake == Some(Mistake::LateArguments);
        let [k, later, mine, go, stop, round, past] =
            ["k", "later", "mine", "go", "stop", "round", "past"].map(|name| self.own(name));
        let name = self.printer.name(&self.program.procedures[task].name);
        let names: Vec<_> = (0..arguments.len()).map(|index| self.argument(task, index)).collect();
        let given: Vec<_> = arguments.iter().map(|argument| self.printer.expression(argument)).collect();
        let give = |own: &mut Self| {
            for (name, value) in names.iter().zip(&given) {
                own.line(&format!("{name} := {value};{from}"));
            }
        };
        if !late {
            give(self);
        }
        self.line(&format!("{later} := {k};"));
        self.delays(&later);
        self.decide(&later);
        self.mark(Mark::Post);
        self.line(&format!("if ({go}) {{{from}"));
        self.depth += 1;
        self.assign(&|own, number| own.copy("kept", number), &|own, number| own.shared(number));
        self.assign(&|own, number| own.copy("mine", number), &|own, number| own.copy("guess", number));
        self.line(&format!("{mine} := {k};"));
        self.exchange(&later, None);
        self.line(&format!("{k} := {later};"));
        if late {
            give(self);
        }
        self.mark(Mark::Begin);
        self.line(&format!("{name}({});{from}", names.join(", ")));
        self.mark(Mark::End);
        let same = self.same(&|own, number| own.shared(number), &|own, number| own.copy("guess", number));
        match self.is_for_violations() {
            true => self.line(&format!("if ({stop}) {{ {stop} := 0; }} else {{ assume({same}); }}")),
            false => self.line(&format!("assume({same});")),
        }
        self.assign(&|own, number| own.shared(number), &|own, number| own.copy("kept", number));
        self.assign(&|own, number| own.copy("guess", number), &|own, number| own.copy("mine", number));
        self.line(&format!("{k} := {mine};"));
        self.depth -= 1;
        if self.is_for_violations() {
            self.line(&format!("}} else if ({later} = {round}) {{"));
            self.line(&format!("  {past} := 1;"));
        }
        self.line("}");
    }

    pub(super) fn yields(&mut self, procedure: usize, from: &str) -> Written {
        let [k, go, round, past] = ["k", "go", "round", "past"].map(|name| self.own(name));
        self.mark(Mark::Yield);
        self.assume_guess();
        self.delays(&k);
        self.decide(&k);
        self.line(&format!("if ({go}) {{{from}"));
        self.depth += 1;
        self.exchange(&k, Some(Mark::Resume));
        self.depth -= 1;
        if self.is_for_violations() {
            self.line("} else {");
            self.line(&format!("  if ({k} = {round}) {{ {past} := 1; }}"));
            self.stop(procedure)?;
        }
        self.line("}");
        Ok(())
    }

    pub(super) fn wait(&mut self, procedure: usize, condition: &str, from: &str) -> Written {
        self.line(&format!("if (!({condition})) {{{from}"));
        self.depth += 1;
        self.yields(procedure, from)?;
        self.line(&format!("assume({condition});"));
        self.depth -= 1;
        self.line("}");
        Ok(())
    }
}

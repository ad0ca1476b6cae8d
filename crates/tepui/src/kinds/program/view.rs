//! Views of a compiled program, in the terms of its source.

use std::collections::HashMap;

use tepui_engines::program::table::{Compiled, Frame, Meaning};
use tepui_model::program::step::Stage;
use tepui_model::program::{Program, Variable};
use tepui_model::pushdown::{Shared, Symbol};

/// Views in the model's notation, as positions of threads and variables with their values. What the legend does not know
/// stays as it is.
pub(super) fn tell(program: &Program, compiled: &Compiled, views: &[String]) -> Vec<String> {
    let Compiled { model, .. } = compiled;
    let shared: HashMap<_, _> =
        (0..model.shared().count()).map(Shared).map(|number| (model.shared_name(number), number)).collect();
    let symbols: Vec<HashMap<&str, Symbol>> = model
        .threads()
        .iter()
        .map(|thread| thread.symbols.iter().map(String::as_str).zip((1..).map(Symbol)).collect())
        .collect();
    let teller = Teller { program, compiled, shared, symbols };
    views.iter().map(|view| teller.tell(view)).collect()
}

struct Teller<'a, N> {
    program: &'a Program,
    compiled: &'a Compiled,
    shared: HashMap<N, Shared>,
    symbols: Vec<HashMap<&'a str, Symbol>>,
}

impl<N: std::borrow::Borrow<str> + std::hash::Hash + Eq> Teller<'_, N> {
    fn tell(&self, view: &str) -> String {
        let Some((shared, words)) = view.split_once('|') else { return view.to_owned() };
        let values = self
            .shared
            .get(shared)
            .map(|&number| values(self.program, &self.program.shared, &self.compiled.legend.shared(number)));
        let threads = words.split(',').enumerate().map(|(thread, word)| self.place(thread, word));
        let threads = threads.collect::<Vec<_>>().join(", ");
        match values {
            None => format!("{shared}; {threads}"),
            Some(values) if values.is_empty() => threads,
            Some(values) => format!("{threads}; {values}"),
        }
    }

    /// Where a thread stands whose stack is shown from the bottom up.
    fn place(&self, thread: usize, word: &str) -> String {
        let top = word.rsplit('.').next().unwrap_or(word);
        let symbol = self.symbols.get(thread).and_then(|symbols| symbols.get(top));
        match symbol.and_then(|&symbol| self.compiled.legend.frame(thread, symbol)) {
            Some(frame) => frame_text(self.program, &frame),
            None => word.to_owned(),
        }
    }
}

fn frame_text(program: &Program, frame: &Frame) -> String {
    let procedure = &program.procedures[frame.procedure];
    let place = match procedure.statements.get(frame.position) {
        Some(statement) => format!("{}:{}", procedure.name, statement.line),
        None => format!("{}:end", procedure.name),
    };
    let doing = match frame {
        Frame { failed: Some(_), .. } => " fails",
        Frame { stage: Stage::Asleep(_), .. } => " asleep",
        _ => "",
    };
    match values(program, &procedure.locals, &frame.locals) {
        locals if locals.is_empty() => format!("{place}{doing}"),
        locals => format!("{place}{doing} ({locals})"),
    }
}

/// The values that are known.
fn values(program: &Program, variables: &[Variable], values: &Meaning) -> String {
    let known = variables.iter().zip(values).filter_map(|(variable, value)| Some((variable, value.known()?)));
    let texts =
        known.map(|(variable, value)| format!("{} = {}", variable.name, program.value_name(variable.kind, value)));
    texts.collect::<Vec<_>>().join(", ")
}

//! Views of a compiled program, in the terms of its source.

use tepui_engines::program::table::{Compiled, Frame, Legend, Meaning};
use tepui_model::program::step::Stage;
use tepui_model::program::{Program, Variable};
use tepui_model::pushdown::{Model, Shared, Symbol};

/// A view in the model's notation, as variables with their values and positions of threads. What the legend does not know
/// stays as it is.
pub(super) fn tell(program: &Program, compiled: &Compiled, view: &str) -> String {
    let Compiled { model, legend } = compiled;
    let Some((shared, words)) = view.split_once('|') else { return view.to_owned() };
    let number = (0..model.shared().count()).map(Shared).find(|&number| model.shared_name(number) == shared);
    let values = number.map(|number| values(program, &program.shared, &legend.shared(number)));
    let threads = words.split(',').enumerate().map(|(thread, word)| place(program, model, legend, thread, word));
    let threads = threads.collect::<Vec<_>>().join(", ");
    match values {
        None => format!("{shared}; {threads}"),
        Some(values) if values.is_empty() => threads,
        Some(values) => format!("{threads}; {values}"),
    }
}

/// Where a thread stands whose stack is shown from the bottom up.
fn place(program: &Program, model: &Model, legend: &Legend, thread: usize, word: &str) -> String {
    let top = word.rsplit('.').next().unwrap_or(word);
    let symbols = model.threads().get(thread).map_or(&[][..], |thread| &thread.symbols);
    let number = symbols.iter().position(|name| name == top).map(|index| Symbol(index as u32 + 1));
    match number.and_then(|symbol| legend.frame(thread, symbol)) {
        Some(frame) => frame_text(program, &frame),
        // Where threads are created, it is a place that may never have had a thread.
        None if word == "-" && !legend.creates_threads() => "ended".to_owned(),
        None => word.to_owned(),
    }
}

fn frame_text(program: &Program, frame: &Frame) -> String {
    let procedure = &program.procedures[frame.procedure];
    let place = match procedure.statements.get(frame.position) {
        Some(statement) => format!("{}:{}", procedure.name, statement.line),
        None => format!("{}:end", procedure.name),
    };
    let doing = match frame {
        Frame { failed: true, .. } => " fails",
        Frame { stage: Stage::Asleep, .. } => " asleep",
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

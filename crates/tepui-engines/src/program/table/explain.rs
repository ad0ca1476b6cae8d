//! What the reductions do to a program, in words.

use tepui_model::program::Program;

use super::setup::Setup;
use super::steps::Steps;
use super::{Options, Point, Stage, Uncompiled};

/// What is said of a program as a whole, and of each statement.
pub struct Explained<'p> {
    /// Which threads there are, and what they start with.
    pub head: Vec<String>,
    steps: Steps<'p>,
}

/// Remarks on a program: which threads there are, which variables are kept where, which steps are not seen.
pub fn explain(program: &Program, options: Options) -> Result<Explained<'_>, Uncompiled> {
    let steps = Steps::new(program, options, &|| false)?;
    let mut head: Vec<String> = Vec::new();
    let setup = Setup::of(program).filter(|setup| options.reduce || setup.started.is_empty());
    head.push(match &setup {
        Some(setup) => {
            let main = setup.main.map(|_| program.main);
            let all = main.into_iter().chain(setup.started.iter().map(|(procedure, _)| *procedure));
            let names: Vec<_> = all.map(|procedure| program.procedures[procedure].name.as_str()).collect();
            format!("threads, from the start: {}", names.join(", "))
        }
        None => format!("threads are created; there are places for {}", options.places),
    });
    let given = setup.iter().flat_map(|setup| program.shared.iter().zip(&setup.shared));
    for (variable, value) in given.filter(|(variable, value)| variable.init != **value) {
        let value = value.map_or("*".to_owned(), |value| program.value_name(variable.kind, value));
        head.push(format!("at the start, {} is {value}", variable.name));
    }
    let forgotten: Vec<_> = (steps.shared.meaning(0, steps.kept.shared).iter().zip(&program.shared))
        .filter(|(kept, _)| kept.is_none())
        .map(|(_, variable)| variable.name.as_str())
        .collect();
    if !forgotten.is_empty() {
        head.push(format!("nothing depends on {}", forgotten.join(", ")));
    }
    Ok(Explained { head, steps })
}

impl Explained<'_> {
    /// What is said of the statement at a position of a procedure.
    pub fn remark(&self, procedure: usize, position: usize) -> String {
        remark(&self.steps, procedure, position)
    }
}

fn remark(steps: &Steps<'_>, number: usize, position: usize) -> String {
    let procedure = &steps.program.procedures[number];
    let kept = steps.locals[number].meaning(0, steps.kept.at[number][position]);
    let kept: Vec<_> = (procedure.locals.iter().zip(kept))
        .filter(|(_, kept)| kept.is_some())
        .map(|(variable, _)| variable.name.as_str())
        .collect();
    let inside = steps.flows[number].atomics(position).next().is_some();
    let point = Point {
        procedure: number as u32,
        position: position as u32,
        locals: 0,
        root: true,
        under: false,
        within: inside,
        insists: false,
        stage: Stage::Running,
    };
    let block = steps.flows[number].atomics(position).next();
    let first = block.is_some_and(|block| steps.first_of(number, block) == position);
    let unseen = match (steps.options.reduce && !steps.options.keep_steps, inside) {
        (false, _) => false,
        (true, true) => !first && steps.goes_on_inside(&point),
        (true, false) => steps.goes_on_alone(&point),
    };
    let keeps = (!procedure.locals.is_empty()).then(|| match kept.as_slice() {
        [] => "keeps nothing".to_owned(),
        names => format!("keeps {}", names.join(", ")),
    });
    let unseen = unseen.then(|| "part of the step before".to_owned());
    keeps.into_iter().chain(unseen).collect::<Vec<_>>().join("; ")
}

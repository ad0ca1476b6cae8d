//! What the reductions do to a program, in words.

use tepui_model::program::Program;

use super::{Options, Uncompiled};
use crate::program::code::Code;
use crate::program::local_steps::Passed;
use crate::program::{Face, Patience};

/// What is said of a program as a whole, and of each statement.
pub struct Explained {
    /// Which threads there are, and what they start with.
    pub head: Vec<String>,
    code: Code,
}

/// Remarks on a program: which threads there are, which variables are kept where, which steps are not seen.
pub fn explain(program: &Program, options: Options) -> Result<Explained, Uncompiled> {
    let code = Code::new(program, options, Face::Composed, Patience::default())
        .map_err(|why| Uncompiled::Unsupported(why.0))?;
    let mut head: Vec<String> = Vec::new();
    let setup = &code.setup;
    head.push(match setup {
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
    let forgotten = program.shared.iter().enumerate().filter(|(number, _)| !code.kept.shared.contains(*number));
    let forgotten: Vec<_> = forgotten.map(|(_, variable)| variable.name.as_str()).collect();
    if !forgotten.is_empty() {
        head.push(format!("nothing depends on {}", forgotten.join(", ")));
    }
    Ok(Explained { head, code })
}

impl Explained {
    /// What is said of the statement at a position of a procedure.
    pub fn remark(&self, procedure: usize, position: usize) -> String {
        remark(&self.code, procedure, position)
    }
}

fn remark(code: &Code, number: usize, position: usize) -> String {
    let procedure = &code.program.procedures[number];
    let kept: Vec<_> =
        code.kept.at[number][position].iter().map(|local| procedure.locals[local].name.as_str()).collect();
    let instruction = &code.procedures[number].instructions[position];
    // An atomic block is entered with its first statement, which is a step of its own.
    let instructions = &code.procedures[number].instructions;
    let enters = instructions.iter().any(|other| other.at == position && !other.inside && instruction.inside);
    let unseen = !enters && instruction.passed[usize::from(instruction.inside)] != Passed::Never;
    let keeps = (!procedure.locals.is_empty()).then(|| match kept.as_slice() {
        [] => "keeps nothing".to_owned(),
        names => format!("keeps {}", names.join(", ")),
    });
    let unseen = unseen.then(|| "part of the step before".to_owned());
    keeps.into_iter().chain(unseen).collect::<Vec<_>>().join("; ")
}

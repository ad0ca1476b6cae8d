//! What there is to say about a pushdown system, and its forms.

use tepui_core::text::grouped;
use tepui_engines::pushdown::compiled::Compiled;
use tepui_engines::pushdown::finite_context::finite_context;
use tepui_lang::pushdown::{print_cpds, print_init, print_pds, print_spec};
use tepui_model::Digest;
use tepui_model::pushdown::{Action, Model, Thread};

use crate::kinds::{Field, Printed, Summary};

/// A model in one of the forms; that with numbers comes with the initial state and the properties.
pub(in crate::kinds) fn print(model: &Model, form: &str) -> Option<Vec<Printed>> {
    let (init, spec) = (|| print_init(model), || print_spec(model));
    let printed = |extension: &'static str, text: String| Printed { extension, text };
    Some(match form {
        "cpds" => vec![printed("cpds", print_cpds(model))],
        "pds" => {
            let properties = (!model.properties().is_empty()).then(|| printed("spec", spec()));
            [printed("pds", print_pds(model)), printed("init", init())].into_iter().chain(properties).collect()
        }
        "init" => vec![printed("init", init())],
        "spec" => vec![printed("spec", spec())],
        _ => return None,
    })
}

/// What there is to say about a model, whatever it was made from.
pub(in crate::kinds) fn summary(model: &Model, digest: Digest) -> Summary {
    let compiled = Compiled::new(model);
    let finite = finite_context(&compiled);
    let all_finite = finite.iter().all(|&finite| finite);
    let mut facts = vec![
        ("shared states", grouped(u64::from(model.shared().count()))),
        ("threads", model.threads().len().to_string()),
        ("initial state", model.display_state(model.init())),
        ("views", format!("at most {}", conceivable_views(model))),
        ("finite context", if all_finite { FINITE } else { INFINITE }.to_owned()),
    ];
    for group in compiled.symmetry().groups() {
        let names: Vec<_> = group.iter().map(|&thread| model.threads()[thread.index()].name.as_str()).collect();
        facts.push(("alike", names.join(", ")));
    }
    facts.push(("digest", digest.to_string()));
    let head = ["thread", "symbols", "rules", "pop", "overwrite", "push", "on empty", "finite context"];
    let mut threads = vec![head.map(str::to_owned).to_vec()];
    for (thread, finite) in model.threads().iter().zip(&finite) {
        let numbers = sizes(thread).map(|(_, number)| number.to_string());
        let finite = if *finite { "yes" } else { "no" };
        threads.push([thread.name.clone()].into_iter().chain(numbers).chain([finite.to_owned()]).collect());
    }
    Summary { what: String::new(), facts, threads, lines: properties(model), fields: fields(model, digest, &finite) }
}

const FINITE: &str = "yes: a context reaches finitely many states";
const INFINITE: &str = "no: a context may reach infinitely many states, so contexts-explicit does not apply";

fn properties(model: &Model) -> Vec<String> {
    if model.properties().is_empty() {
        return vec!["no property: `tepui verify` computes all views".to_owned()];
    }
    let never = |property: &tepui_model::pushdown::Property| {
        let patterns: Vec<_> = property.never.iter().map(|pattern| model.display_pattern(pattern)).collect();
        let patterns = match patterns.as_slice() {
            [] => "nothing in the model can violate it".to_owned(),
            patterns => patterns.join(" or "),
        };
        format!("never {}: {patterns}", property.name)
    };
    model.properties().iter().map(never).collect()
}

fn fields(model: &Model, digest: Digest, finite: &[bool]) -> Vec<(&'static str, Field)> {
    let thread = |(thread, finite): (&Thread, &bool)| {
        let sizes = sizes(thread).map(|(name, number)| (name, Field::Number(number as u64)));
        let name = ("name", Field::Text(thread.name.clone()));
        Field::Object([name].into_iter().chain(sizes).chain([("finite_context", Field::Flag(*finite))]).collect())
    };
    let property = |property: &tepui_model::pushdown::Property| {
        let never = property.never.iter().map(|pattern| Field::Text(model.display_pattern(pattern)));
        let never = ("never", Field::List(never.collect()));
        Field::Object(vec![("name", Field::Text(property.name.clone())), never])
    };
    vec![
        ("model_digest", Field::Text(digest.to_string())),
        ("shared_states", Field::Number(u64::from(model.shared().count()))),
        ("init", Field::Text(model.display_state(model.init()))),
        ("finite_context", Field::Flag(finite.iter().all(|&finite| finite))),
        ("threads", Field::List(model.threads().iter().zip(finite).map(thread).collect())),
        ("properties", Field::List(model.properties().iter().map(property).collect())),
    ]
}

/// How many symbols and rules a thread has, and how many of those pop, overwrite, push, and start from the empty stack.
fn sizes(thread: &Thread) -> [(&'static str, usize); 6] {
    let counts = |wanted: fn(&Action) -> bool| {
        thread.rules.iter().filter(|rule| !rule.top.is_bottom() && wanted(&rule.action)).count()
    };
    [
        ("symbols", thread.symbols.len()),
        ("rules", thread.rules.len()),
        ("pop", counts(|action| matches!(action, Action::Pop))),
        ("overwrite", counts(|action| matches!(action, Action::Overwrite(_)))),
        ("push", counts(|action| matches!(action, Action::Push { .. }))),
        ("on_empty", thread.rules.iter().filter(|rule| rule.top.is_bottom()).count()),
    ]
}

/// The number of views that shared states and symbols allow for.
fn conceivable_views(model: &Model) -> String {
    let mut factors = model.threads().iter().map(|thread| u64::from(thread.symbol_count()));
    let exact = factors.try_fold(u64::from(model.shared().count()), u64::checked_mul);
    exact.map_or_else(|| "more than 10^19".to_owned(), grouped)
}

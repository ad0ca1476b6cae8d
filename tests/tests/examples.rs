//! Every example with every engine: the answers must be those that the example's header promises.
//!
//! The header's lines: `# expect: PROPERTY safe`, `# expect: PROPERTY unsafe CONTEXTS`, `# expect: PROPERTY unknown`,
//! `# cutoff: CONTEXTS`, `# views: NUMBER` and, where a proof needs more than the tops of the stacks,
//! `# depth: NUMBER`. A model without properties promises `views safe`. Cutoff and views may be missing only where a
//! property stays unknown.
//!
//! What an engine owes is decided by rule. An engine that enumerates states does not apply where a context is infinite.
//! One that waits for the states to collapse owes a proof where they do, which the oracle knows; elsewhere it stays
//! unknown.

use std::path::{Path, PathBuf};

use tepui::{AUTO, CLOSURE, DELAYS, EXPLICIT, Facts, Options, RENDEZVOUS, STATES, VIEWS};
use tepui_core::{Budget, Limit, Outcome, Reason, Status, Verdict};
use tepui_lang::pushdown::read_cpds;
use tepui_lang::source::Source;
use tepui_model::pushdown::Model;
use tepui_tests::facade::{self_check, verify};
use tepui_tests::oracle::{self, Cap};

/// More than any example needs, and little enough for those that never end.
const BOUND_LIMIT: u32 = 18;
/// High enough for every finite example and for every violation; where a cap cuts something off, the oracle says so.
const CAP: Cap = Cap { height: 9, states: 20_000 };

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    Safe,
    Unsafe(u32),
    Unknown,
}

#[derive(Default, Debug)]
struct Header {
    expect: Vec<(String, Answer)>,
    cutoff: Option<u32>,
    views: Option<u64>,
    depth: Option<u32>,
}

impl Header {
    fn of(text: &str) -> Result<Self, String> {
        let mut header = Self::default();
        for line in text.lines().map_while(|line| line.strip_prefix('#')) {
            let Some((key, value)) = line.trim().split_once(':') else { continue };
            match key {
                "expect" => header.expect.push(expectation(value)?),
                "cutoff" => header.cutoff = Some(number(value)?),
                "views" => header.views = Some(number(value)?),
                "depth" => header.depth = Some(number(value)?),
                _ => {}
            }
        }
        let open = header.expect.iter().any(|(_, answer)| *answer == Answer::Unknown);
        let complete = header.cutoff.is_some() && header.views.is_some();
        match () {
            () if header.expect.is_empty() => Err("the header lacks `# expect:`".to_owned()),
            () if !open && !complete => Err("the header lacks `# cutoff:` or `# views:`".to_owned()),
            () => Ok(header),
        }
    }
}

fn expectation(value: &str) -> Result<(String, Answer), String> {
    let fields: Vec<_> = value.split_whitespace().collect();
    let (name, answer) = match fields.as_slice() {
        [name, "safe"] => (name, Answer::Safe),
        [name, "unsafe", contexts] => (name, Answer::Unsafe(number(contexts)?)),
        [name, "unknown"] => (name, Answer::Unknown),
        _ => return Err(format!("`# expect:{value}` cannot be read")),
    };
    Ok(((*name).to_owned(), answer))
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| format!("`{}` is not a number", text.trim()))
}

/// An example and what the rules need to know of it.
struct Example {
    name: String,
    header: Header,
    model: Model,
    /// Whether every context reaches finitely many states.
    finite_contexts: bool,
    /// The number of states and of views, where there are finitely many states.
    finite: Option<(usize, usize)>,
}

impl Example {
    fn read(path: &Path) -> Self {
        let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
        let source = Source::new(name.as_str(), &std::fs::read(path).expect("examples are readable"));
        let header = Header::of(&source.text).unwrap_or_else(|why| panic!("{name}: {why}"));
        let parsed = read_cpds(&source, None, None, None).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
        assert_eq!(parsed.warnings, [], "{name}");
        let model = parsed.model;
        let threads = oracle::finite_context(&model, 100_000);
        let finite_contexts = threads.iter().all(|finite| finite.expect("examples are small"));
        let (states, exact) = oracle::reachable(&model, CAP);
        let finite = exact.then(|| (states.len(), oracle::views(&states).len()));
        Self { name, header, model, finite_contexts, finite }
    }

    fn run(&self, model: &Model, engine: &'static Facts) -> Outcome {
        let options = Options { engine, bound_limit: Some(vec![BOUND_LIMIT]), ..Options::default() };
        let mut outcome = verify(model, &options, &Budget::unlimited()).expect("there is no matching");
        self_check(model, &mut outcome).unwrap_or_else(|why| panic!("{} with {engine:?}: {why}", self.name));
        outcome
    }

    fn applies(&self, engine: &'static Facts) -> bool {
        self.finite_contexts || ![&EXPLICIT, &STATES, &VIEWS].contains(&engine)
    }

    /// Whether the engine counts contexts.
    fn counts_contexts(engine: &'static Facts) -> bool {
        ![&AUTO, &CLOSURE, &DELAYS].contains(&engine)
    }

    /// Whether an engine owes a proof of what holds.
    fn owes_proofs(&self, engine: &'static Facts) -> bool {
        engine != &STATES || self.finite.is_some()
    }
}

fn examples() -> Vec<Example> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests lie in the project").join("examples");
    let entries = std::fs::read_dir(directory).expect("there are examples").flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|ext| ext == "cpds")).collect();
    paths.sort();
    assert!(paths.len() >= 10, "{paths:?}");
    paths.iter().map(|path| Example::read(path)).collect()
}

fn for_each_run(test: impl Fn(&Example, &'static Facts, &str)) {
    for example in examples() {
        for engine in tepui::engines().filter(|engine| *engine.facts != RENDEZVOUS) {
            test(&example, engine.facts, &format!("{} with {}", example.name, engine.facts.name));
        }
    }
}

fn is_unknown(verdict: &Verdict, why: impl Fn(&Reason) -> bool) -> bool {
    matches!(verdict, Verdict::Unknown(reason) if why(reason))
}

#[test]
fn properties_are_answered_as_the_header_says() {
    for_each_run(|example, engine, place| {
        let outcome = example.run(&example.model, engine);
        let names: Vec<_> = outcome.properties.iter().map(|property| &property.name).collect();
        let expected: Vec<_> = example.header.expect.iter().map(|(name, _)| name).collect();
        assert_eq!(names, expected, "{place}");
        for (property, (name, expected)) in outcome.properties.iter().zip(&example.header.expect) {
            let (place, verdict) = (format!("{place}: {name}"), &property.verdict);
            if !example.applies(engine) {
                assert!(is_unknown(verdict, |why| matches!(why, Reason::NotApplicable(_))), "{place}: {verdict:?}");
                continue;
            }
            match (expected, verdict) {
                (Answer::Safe, Verdict::Safe(proven)) => {
                    let depth = example.header.depth.unwrap_or(1);
                    // Sets of stacks that collapse are a proof without views.
                    let regular = proven.evidence().kind == "regular-sets";
                    assert!(
                        proven.evidence().view_depth == Some(depth) || regular || !Example::counts_contexts(engine),
                        "{place}"
                    );
                }
                (Answer::Unsafe(contexts), Verdict::Unsafe(refuted)) => {
                    let found = refuted.trace().contexts();
                    assert!(found >= *contexts, "{place}");
                    if Example::counts_contexts(engine) {
                        let bound = refuted.bound().map(|bound| bound.first());
                        assert_eq!((bound, found), (Some(*contexts), *contexts), "{place}");
                    }
                }
                (Answer::Safe, _) if example.owes_proofs(engine) => panic!("{place}: {verdict:?}"),
                (Answer::Safe | Answer::Unknown, _) => {
                    assert!(is_unknown(verdict, |why| *why == Reason::Limit(Limit::Bound)), "{place}: {verdict:?}");
                }
                (Answer::Unsafe(_), _) => panic!("{place}: {verdict:?}"),
            }
        }
    });
}

#[test]
fn cutoffs_and_views_are_those_of_the_header() {
    for_each_run(|example, engine, place| {
        let Header { cutoff: Some(cutoff), views: Some(views), .. } = example.header else { return };
        if !example.applies(engine) || !example.owes_proofs(engine) {
            return;
        }
        let bare = example.model.clone().with_properties(Vec::new()).unwrap();
        for outcome in [example.run(&bare, engine), example.run(&example.model, engine)] {
            let proved = outcome.properties.iter().any(|property| property.verdict.status() == Status::Safe);
            assert!(proved || !outcome.properties.iter().any(|property| property.name == "views"), "{place}");
            if proved {
                if Example::counts_contexts(engine) {
                    assert_eq!(outcome.cutoff.map(|k| k.first()), Some(cutoff), "{place}");
                }
                assert_eq!(outcome.iterations.last().unwrap().views, views, "{place}");
            }
        }
    });
}

/// Where stacks are unbounded the oracle sees only the low ones: what it finds is real, and fewer contexts or a
/// violation of a safe property would refute the header, but that it finds nothing proves nothing.
/// Who explores within a bound wants to see all of it, also where a proof would end the search.
#[test]
fn exploration_ends_at_every_bound() {
    for_each_run(|example, engine, place| {
        for bound in [0, 1, 2, 3, 5] {
            let options = Options { engine, bound_limit: Some(vec![bound]), prove: false, ..Options::default() };
            let outcome =
                verify(&example.model, &options, &Budget::unlimited()).unwrap_or_else(|error| panic!("{error}"));
            let safe = outcome.properties.iter().any(|property| property.verdict.status() == Status::Safe);
            assert!(!safe, "{place}: exploration proves nothing");
        }
    });
}

#[test]
fn the_oracle_agrees_with_the_headers() {
    for example in examples() {
        let place = &example.name;
        if let (Some((_, views)), Some(promised)) = (example.finite, example.header.views) {
            assert_eq!(views as u64, promised, "{place}");
        }
        let most = example.header.expect.iter().filter_map(|(_, answer)| match answer {
            Answer::Unsafe(contexts) => Some(*contexts as usize),
            Answer::Safe | Answer::Unknown => None,
        });
        let depth = most.max().unwrap_or(0).max(4);
        let levels = oracle::contexts(&example.model, depth, CAP);
        for (property, (name, answer)) in example.model.properties().iter().zip(&example.header.expect) {
            let found = levels.first_violation(property).map(|contexts| contexts as u32);
            match answer {
                Answer::Unsafe(contexts) => assert_eq!(found, Some(*contexts), "{place}: {name}"),
                Answer::Safe | Answer::Unknown => assert_eq!(found, None, "{place}: {name}"),
            }
        }
    }
}

#[test]
fn headers_are_read_and_gaps_are_noticed() {
    let header =
        Header::of("# text: more\n# expect: p unsafe 4\n#\n# cutoff: 5\n# views: 8\n\n# expect: q safe").unwrap();
    assert_eq!(header.expect, [("p".to_owned(), Answer::Unsafe(4))]);
    assert_eq!((header.cutoff, header.views, header.depth), (Some(5), Some(8), None));
    assert!(Header::of("# expect: p unknown\nshared a").is_ok());
    for bad in
        ["", "# cutoff: 1\n# views: 1", "# expect: p safe\n# cutoff: 1", "# expect: p", "# expect: p unsafe many"]
    {
        assert!(Header::of(bad).is_err(), "{bad}");
    }
}

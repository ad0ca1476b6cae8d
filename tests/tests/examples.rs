//! Every example with every engine that applies to it: the answers must be those that the example's header states.
//!
//! `tepui_tests::examples` says how a header is written. An engine must find every answer, unless the header names it as
//! one to which a property is unknown; then it must not find that answer, so that the list stays true. What is safe has
//! a certificate that survives being written and read, what is unsafe has a trace that does.
//!
//! The rest compares headers with what shares no code with an engine: the oracle for pushdown systems, the interpreter
//! for programs.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::Mutex;

use tepui::{
    AUTO, CONTEXTS, COUNTING, COVERABILITY, Certificate, EngineInfo, Input, Options, Policy, Problem, Reading,
    Refinement, STATES, WALK, Walking,
};
use tepui_core::{Budget, Limit, Outcome, Reason, Status, Verdict};
use tepui_lang::boolean::read_program;
use tepui_lang::pushdown::read_cpds;
use tepui_lang::source::Source;
use tepui_model::Digest;
use tepui_model::program::Program;
use tepui_model::program::run::State;
use tepui_model::program::step::Frame;
use tepui_model::pushdown::Model;
use tepui_tests::examples::{Example, Expectation, examples};
use tepui_tests::facade::verify_program;
use tepui_tests::oracle::{self, Cap};
use tepui_tests::programs::{Limits, explore, explore_with};

/// The last bound of an engine that does not find every answer; the smallest bound of every violation is below.
const BOUND_LIMIT: u32 = 18;
/// Three times the work of any answer that is found by one engine. Where two run one after the other, the first may do
/// four million units alone.
const WORK_LIMIT: u64 = 6_000_000;
/// High enough for every finite example and for every violation; where a cap cuts something off, the oracle says so.
const CAP: Cap = Cap { height: 9, states: 20_000 };
/// Without reduction, all threads of a program are created by `main`, and are counted with it.
const MAX_THREADS: u32 = 6;

/// One way to ask about an example.
struct Run<'a> {
    example: &'a Example,
    engine: &'static EngineInfo,
    problem: &'a Problem,
    options: Options,
    place: String,
}

/// Calls back for every example with every engine that applies to it.
fn for_each_run(test: impl Fn(&Run<'_>) + Sync) {
    let left = Mutex::new(examples().into_iter());
    let work = || {
        // The others go on while this one is looked at.
        while let Some(example) = { left.lock().unwrap().next() } {
            let problem = example.problem();
            for engine in engines(&example, &problem) {
                let place = format!("{} with {}", example.name, engine.facts.name);
                let options = options(&example, engine);
                test(&Run { example: &example, engine, problem: &problem, options, place });
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
}

/// The engines that apply to the kind of an example.
fn engines(example: &Example, problem: &Problem) -> Vec<&'static EngineInfo> {
    let fits = |engine: &&EngineInfo| problem.require_fitting(&example.file, engine.facts, &[]).is_ok();
    // Where threads sleep on conditions, there is no table of rules for the others.
    let sleeps = example.text.contains("\ncondition ");
    // Proofs for any number of threads are for programs that create them.
    let any = !example.file.ends_with(".bp") || example.header.expected.iter().any(|one| one.any);
    let fits = |engine: &&EngineInfo| fits(engine) && (any || *engine.facts != COVERABILITY);
    // Most engines have nothing to say about any number of threads, and take long to do so.
    let crowd = any && example.file.ends_with(".bp");
    let apt = |engine: &EngineInfo| matches!(engine.facts.name, "auto" | "closure" | "coverability");
    let fits = |engine: &&EngineInfo| fits(engine) && (!crowd || apt(engine));
    let fits = |engine: &&EngineInfo| fits(engine) && (!sleeps || apt(engine));
    tepui::engines().filter(fits).collect()
}

/// Whether an option of the command line means something to an engine on an example.
fn knows(run: &Run<'_>, flag: &str) -> bool {
    run.problem.require_fitting(&run.example.file, run.engine.facts, &[flag]).is_ok()
}

/// Whether an engine finds all that the header states.
fn finds_all(example: &Example, engine: &EngineInfo) -> bool {
    example.header.expected.iter().all(|one| one.of_engine(engine.facts.name) != Status::Unknown)
}

fn options(example: &Example, engine: &'static EngineInfo) -> Options {
    let bounded = *engine.facts != WALK && !finds_all(example, engine);
    let bound_limit = bounded.then(|| vec![BOUND_LIMIT]);
    let walking = Walking { schedules: 300, steps: 100, ..Walking::default() };
    Options { engine: engine.facts, bound_limit, walking, ..Options::default() }
}

fn verify(problem: &Problem, options: &Options, place: &str) -> Outcome {
    let answer = tepui::verify(problem, options, &Budget::unlimited().with_work(WORK_LIMIT));
    answer.unwrap_or_else(|error| panic!("{place}: {error}")).outcome
}

/// Verifies, and compares the answers with the header; their evidence must hold.
fn answered(run: &Run<'_>, problem: &Problem, options: &Options, place: &str) -> Outcome {
    let outcome = verify(problem, options, place);
    let name = run.engine.facts.name;
    let found = outcome.properties.iter().map(|own| (own.name.as_str(), own.verdict.status()));
    let found: BTreeMap<_, _> = found.collect();
    let expected = run.example.header.expected.iter().map(|one| (one.property.as_str(), one.of_engine(name)));
    assert_eq!(found, expected.collect(), "{place}: {:?}", outcome.properties);
    evidence_survives(problem, &outcome, place);
    outcome
}

/// Certificate and traces are written, read, checked and executed.
fn evidence_survives(problem: &Problem, outcome: &Outcome, place: &str) {
    if let Some(evidence) = outcome.evidence() {
        let text = evidence.certificate.to_text();
        let read = Certificate::from_text(&text).unwrap_or_else(|why| panic!("{place}: {why}"));
        assert!(read.to_text() == text, "{place}: the certificate is another one when it is read");
        let checked = problem.check_some(&read, &|name| outcome.is_safe(name), &|| false);
        checked.unwrap_or_else(|why| panic!("{place}: {why}"));
    }
    for property in &outcome.properties {
        let Verdict::Unsafe(refuted) = &property.verdict else { continue };
        let replayed = tepui::replay(problem, &problem.trace_text(refuted.trace()));
        let replayed = replayed.unwrap_or_else(|why| panic!("{place}: {why}"));
        let [replayed] = replayed.as_slice() else { panic!("{place}: {replayed:?}") };
        assert_eq!((&replayed.property, replayed.contexts), (&property.name, refuted.trace().contexts()), "{place}");
    }
}

#[test]
fn properties_are_answered_as_the_header_says() {
    for_each_run(|run| {
        let outcome = answered(run, run.problem, &run.options, &run.place);
        for property in &outcome.properties {
            let place = format!("{}: {}", run.place, property.name);
            let expected = run.example.header.expected.iter().find(|one| one.property == property.name).unwrap();
            match &property.verdict {
                Verdict::Safe(proven) => has_depth(run, &outcome, proven.evidence(), &place),
                Verdict::Unsafe(refuted) => {
                    has_contexts(expected, &outcome, refuted, &place);
                    has_delays(expected, refuted, &place);
                }
                Verdict::Unknown(reason) => is_limit(reason, run.engine, &place),
            }
        }
    });
}

/// A proof has views of the depth that belongs to the views of the header.
fn has_depth(run: &Run<'_>, outcome: &Outcome, evidence: &tepui_core::Evidence, place: &str) {
    let header = &run.example.header;
    // Regular sets of stacks that collapse are a proof without views.
    if header.views.is_some() && counts_contexts(outcome) && evidence.kind != "regular-sets" {
        assert_eq!(evidence.view_depth, Some(header.depth.unwrap_or(1)), "{place}");
    }
}

/// No trace has fewer contexts than the header says, and an engine that counts contexts finds one that has as many.
fn has_contexts(expected: &Expectation, outcome: &Outcome, refuted: &tepui_core::Refuted, place: &str) {
    let Some(contexts) = expected.contexts else { return };
    let found = refuted.trace().contexts();
    assert!(found >= contexts, "{place}");
    if counts_contexts(outcome) {
        let bound = refuted.bound().map(|bound| bound.first());
        assert_eq!((bound, found), (Some(contexts), contexts), "{place}");
    }
}

/// A violation has as many delays of tasks as the header says.
fn has_delays(expected: &Expectation, refuted: &tepui_core::Refuted, place: &str) {
    if let Some(delays) = expected.delays {
        let found = refuted.bound().map(|bound| bound.amounts()[1]);
        assert_eq!(found, Some(delays), "{place}");
    }
}

/// Whether the bounds of a run are numbers of contexts.
fn counts_contexts(outcome: &Outcome) -> bool {
    outcome.raised.resources == ["contexts"]
}

/// What is unknown has reached a limit, or the engine has a condition that does not hold.
fn is_limit(reason: &Reason, engine: &EngineInfo, place: &str) {
    let expected = match reason {
        Reason::Limit(limit) => matches!(limit, Limit::Bound | Limit::Work),
        Reason::NotApplicable(_) => engine.condition.is_some(),
        Reason::GaveUp(_) => [&WALK, &COVERABILITY, &COUNTING].contains(&engine.facts),
        _ => false,
    };
    assert!(expected, "{place}: {reason:?}");
}

#[test]
fn answers_do_not_depend_on_policies() {
    for_each_run(|run| {
        if knows(run, "--policy") {
            for (name, policy) in Policy::ALL {
                let refinement = Refinement { policy, ..Refinement::default() };
                let options = Options { refinement, ..run.options.clone() };
                answered(run, run.problem, &options, &format!("{}, {name}", run.place));
            }
        }
    });
}

/// Examples that take long without the reduction of programs.
const LONG: [&str; 4] = ["thieves.bp", "allocator.bp", "allocator-broken.bp", "deque.bp"];

#[test]
fn answers_do_not_depend_on_the_reduction_of_programs() {
    for_each_run(|run| {
        let is_long = LONG.iter().any(|name| run.example.file.ends_with(name));
        if knows(run, "--no-reduction") && run.engine.facts == &AUTO && !is_long {
            let max_threads = Some(MAX_THREADS);
            let reading = Reading { no_reduction: true, max_threads, ..run.example.header.reading.clone() };
            let problem = run.example.read_as(&reading).unwrap();
            answered(run, &problem, &run.options, &format!("{}, not reduced", run.place));
        }
    });
}

#[test]
fn cutoffs_and_views_are_those_of_the_header() {
    for_each_run(|run| {
        let header = &run.example.header;
        let (Some(cutoff), Some(views)) = (header.cutoff, header.views) else { return };
        if !finds_all(run.example, run.engine) {
            return;
        }
        let bare = run.example.read_as(&Reading { all_views: true, ..header.reading.clone() }).unwrap();
        let whole = verify(&bare, &run.options, &run.place);
        assert_eq!(whole.status(), Status::Safe, "{}", run.place);
        for outcome in [whole, verify(run.problem, &run.options, &run.place)] {
            if outcome.evidence().is_none() {
                continue;
            }
            assert_eq!(outcome.iterations.last().unwrap().views, views, "{}", run.place);
            if counts_contexts(&outcome) {
                assert_eq!(outcome.cutoff.map(|k| k.first()), Some(cutoff), "{}", run.place);
            }
        }
    });
}

/// Bounded exploration ends at every bound and proves nothing, also where a proof would end the search.
#[test]
fn exploration_ends_at_every_bound() {
    for_each_run(|run| {
        // Where the views are not listed in the header, there are many, and each bound takes its time.
        let bounds: &[u32] = if run.example.header.views.is_some() { &[0, 1, 2, 3, 5] } else { &[1, 4] };
        for &bound in bounds {
            let options = Options { bound_limit: Some(vec![bound]), prove: false, ..run.options.clone() };
            let outcome = verify(run.problem, &options, &run.place);
            let safe = outcome.properties.iter().any(|property| property.verdict.status() == Status::Safe);
            assert!(!safe, "{}: exploration proves nothing", run.place);
        }
    });
}

/// Bounded exploration of a program that creates threads goes on with more of them after a violation, and its trace is
/// that of the model in which it was found.
#[test]
fn exploration_of_created_threads_has_a_trace() {
    let flood = examples().into_iter().find(|example| example.name == "flood.bp").unwrap();
    let options = Options { engine: &CONTEXTS, prove: false, bound_limit: Some(vec![12]), ..Options::default() };
    let outcome = verify(&flood.problem(), &options, "flood.bp");
    assert_eq!(outcome.status(), Status::Unsafe);
    evidence_survives(&flood.problem(), &outcome, "flood.bp");
}

/// What a problem is after it was printed in a form and read again.
fn printed_and_read(problem: &Problem, form: &str, reading: &Reading) -> Problem {
    let printed = problem.print(form).unwrap();
    let beside = |extension: &str| {
        let found = printed.iter().skip(1).find(|one| one.extension == extension)?;
        Some(Source::new(format!("printed.{extension}"), found.text.as_bytes()))
    };
    let main = &printed[0];
    let input = Input {
        init: beside("init"),
        target: beside("spec"),
        ..Input::new(format!("printed.{}", main.extension), &main.text)
    };
    Problem::read(&input, reading).unwrap_or_else(|error| panic!("{form}: {error}\n{}", main.text))
}

/// The forms of a problem that are languages, each with the digest of what is read again.
fn digests(problem: &Problem, reading: &Reading) -> Vec<(&'static str, Digest)> {
    let is_language = |extension: &str| tepui::languages().any(|language| language.extension == extension);
    // There is no table of rules for some programs. The properties of a pushdown system alone are no model.
    let readable =
        |form: &&str| *form != "spec" && problem.print(form).is_ok_and(|printed| is_language(printed[0].extension));
    let digest = |form| (form, printed_and_read(problem, form, reading).digest());
    problem.forms().filter(readable).map(digest).collect()
}

#[test]
fn what_is_printed_and_read_again_is_the_same_model() {
    for example in examples() {
        for no_reduction in [false, true] {
            let reading = Reading { no_reduction, ..example.header.reading.clone() };
            let problem = example.read_as(&reading).unwrap();
            let all = digests(&problem, &reading);
            for (form, digest) in &all {
                let again = printed_and_read(&problem, form, &reading);
                // What a model is compiled to has a digest of its own, which is the same for all that it is printed in.
                if again.what() == problem.what() {
                    assert_eq!(
                        (*digest, &digests(&again, &reading)),
                        (problem.digest(), &all),
                        "{}, {form}",
                        example.name
                    );
                } else {
                    let own = digests(&again, &reading);
                    assert!(own.iter().all(|(_, own)| own == digest), "{}, {form}", example.name);
                }
            }
            assert!(
                problem.forms().next().is_none() || all.iter().any(|(_, digest)| *digest == problem.digest()),
                "{} has no form of its own",
                example.name
            );
        }
    }
}

#[test]
fn every_language_of_ours_has_examples() {
    let mut files: Vec<_> = examples().into_iter().map(|example| example.file).collect();
    files.dedup();
    for (extension, least) in [(".bp", 16), (".cpds", 14), (".rpds", 10), (".p", 11)] {
        let found = files.iter().filter(|file| file.ends_with(extension)).count();
        assert!(found >= least, "{found} files {extension}");
    }
}

/// The examples that are pushdown systems as they stand.
fn pushdown_examples() -> Vec<(Example, Model)> {
    let pushdown = |example: Example| {
        let source = Source::new(example.file.as_str(), example.text.as_bytes());
        let parsed = example.file.ends_with(".cpds").then(|| read_cpds(&source, None, None, None))?;
        let parsed = parsed.unwrap_or_else(|errors| panic!("{}: {errors:?}", example.name));
        assert_eq!(parsed.warnings, [], "{}", example.name);
        Some((example, parsed.model))
    };
    examples().into_iter().filter_map(pushdown).collect()
}

/// Where stacks are unbounded the oracle sees only the low ones: what it finds is real, and fewer contexts or a
/// violation of a safe property would refute the header, but that it finds nothing proves nothing.
#[test]
fn the_oracle_agrees_with_the_headers() {
    for (example, model) in pushdown_examples() {
        let most = example.header.expected.iter().filter_map(|one| one.contexts).max().unwrap_or(0);
        let levels = oracle::contexts(&model, most.max(4) as usize, CAP);
        for property in model.properties() {
            let expected = example.header.expected.iter().find(|one| one.property == property.name).unwrap();
            let found = levels.first_violation(property).map(|contexts| contexts as u32);
            assert_eq!(found, expected.contexts, "{}: {}", example.name, property.name);
            assert_eq!(found.is_some(), expected.status == Status::Unsafe, "{}: {}", example.name, property.name);
        }
    }
}

/// The engines that enumerate states apply where every context is finite, and one that waits for the states to collapse
/// finds proofs where they do. Both the oracle knows.
#[test]
fn the_oracle_knows_which_engines_find_answers() {
    for (example, model) in pushdown_examples() {
        let (header, place) = (&example.header, &example.name);
        let (states, exact) = oracle::reachable(&model, CAP);
        if header.expected.iter().any(|one| one.status == Status::Unknown) {
            assert!(!exact, "{place}");
            continue;
        }
        assert!(!exact || header.views == Some(oracle::views(&states).len() as u64), "{place}");
        assert!(header.cutoff.is_some(), "{place}: the header lacks `cutoff:` and `views:`");
        let finite = oracle::finite_context(&model, 100_000).iter().all(|finite| finite.expect("examples are small"));
        let safe = header.expected.iter().any(|one| one.status == Status::Safe);
        let others = [&COVERABILITY, &COUNTING];
        let of_models = |engine: &&EngineInfo| engine.condition.is_some() && !others.contains(&engine.facts);
        for engine in tepui::engines().filter(of_models) {
            let collapses = engine.facts != &STATES || exact || !safe;
            assert_eq!(finds_all(&example, engine), finite && collapses, "{place}: {}", engine.facts.name);
        }
    }
}

fn program(name: &str, text: &str) -> Program {
    let source = Source::new(name, text.as_bytes());
    let parsed = read_program(&source, None, &[]).unwrap_or_else(|errors| panic!("{name}: {errors:#?}"));
    parsed.program
}

/// The examples that are programs.
fn program_examples() -> Vec<(Example, Program)> {
    let programs = examples().into_iter().filter(|example| example.file.ends_with(".bp"));
    programs.map(|example| (program(&example.name, &example.text), example)).map(|(one, other)| (other, one)).collect()
}

#[test]
fn the_interpreter_agrees_with_the_headers() {
    for (example, program) in program_examples() {
        let found = explore(&program, Limits { threads: MAX_THREADS as usize, frames: 3, states: 40_000 });
        let wrong = found.bad() || (example.header.reading.deadlock && found.stuck);
        let expected = example.header.expected.iter().any(|one| one.status == Status::Unsafe);
        assert!(if found.complete { wrong == expected } else { !wrong || expected }, "{}", example.name);
    }
}

/// Threads that run different procedures and are interchangeable nevertheless.
const TWINS: &str = "lock m;
void reader() { lock(m); unlock(m); }
void writer() { lock(m); unlock(m); }
void other() { decl x := 0; x := m; x := 0; }
void main() { thread reader(); thread writer(); thread reader(); thread other(); }";

/// A place in a source: the procedure, the line, and the number of the statement in the line; no line after the last
/// statement.
type Place = (String, Option<u64>, Option<u64>);

/// What a proof says about a program, in the terms of its source.
struct Stated<'a> {
    name: &'a str,
    program: &'a Program,
    always: &'a serde_json::Value,
    lines: Vec<(Place, &'a serde_json::Value)>,
    pairs: Vec<((Place, Place), &'a serde_json::Value)>,
}

impl<'a> Stated<'a> {
    fn of(name: &'a str, program: &'a Program, invariant: &'a serde_json::Value) -> Self {
        let at = |value: &serde_json::Value| {
            (value["procedure"].as_str().unwrap().to_owned(), value["line"].as_u64(), value["number"].as_u64())
        };
        let lines = invariant["lines"].as_array().unwrap().iter().map(|line| (at(line), line)).collect();
        let pairs = invariant["pairs"].as_array().unwrap().iter();
        let pairs = pairs.map(|pair| ((at(&pair["first"]), at(&pair["second"])), pair)).collect();
        Self { name, program, always: &invariant["always"], lines, pairs }
    }

    fn place(&self, frame: &Frame) -> Place {
        let procedure = &self.program.procedures[frame.procedure];
        let line = procedure.statements.get(frame.position).map(|statement| statement.line);
        let before = procedure.statements[..frame.position].iter().filter(|other| Some(other.line) == line).count();
        (procedure.name.clone(), line.map(u64::from), line.map(|_| before as u64 + 1))
    }

    /// Whether the values in a state, and in a frame, are those that a part of the invariant states.
    fn agrees(&self, values: &serde_json::Value, state: &State, frame: Option<&Frame>) -> bool {
        let shared = self.program.shared.iter().zip(state.shared.iter());
        let local = frame
            .into_iter()
            .flat_map(|frame| self.program.procedures[frame.procedure].locals.iter().zip(&frame.locals));
        shared.chain(local).all(|(variable, &value)| {
            let found = value.known().map(|value| self.program.value_name(variable.kind, value));
            values[&variable.name].as_str().is_none_or(|stated| Some(stated) == found.as_deref())
        })
    }

    /// All of the invariant must hold in a state. Returns how many pairs of threads there are in it.
    fn holds_in(&self, state: &State) -> usize {
        let name = self.name;
        let tops = state.threads.iter().filter_map(|thread| thread.last());
        let tops: Vec<_> = tops.filter(|frame| frame.procedure != self.program.main).collect();
        assert!(self.agrees(self.always, state, None), "{name}: {state:?}");
        let mut pairs = 0;
        for (index, frame) in tops.iter().enumerate() {
            let (_, line) = self.lines.iter().find(|(line, _)| *line == self.place(frame)).unwrap();
            assert!(self.agrees(&line["values"], state, Some(frame)), "{name}: {line} {state:?}");
            for other in &tops[index + 1..] {
                let pair = self.pair(self.place(frame), self.place(other));
                assert!(pair["together"].as_bool().unwrap(), "{name}: {pair} {state:?}");
                assert!(self.agrees(&pair["values"], state, None), "{name}: {pair} {state:?}");
                pairs += 1;
            }
        }
        pairs
    }

    fn pair(&self, one: Place, other: Place) -> &serde_json::Value {
        let (there, back) = ((one.clone(), other.clone()), (other, one));
        let pair = self.pairs.iter().find(|(places, _)| *places == there || *places == back);
        pair.unwrap_or_else(|| panic!("{}: no pair {there:?}", self.name)).1
    }
}

#[test]
fn invariants_hold_in_every_state() {
    let safe = |example: &Example| example.header.expected.iter().all(|one| one.status == Status::Safe && !one.any);
    // The threads of pool.bp are created, and the interpreter does not use their places again. Proofs about tasks tell none.
    let fits =
        |example: &Example, program: &Program| example.name != "pool.bp" && program.order.is_none() && safe(example);
    let chosen = program_examples().into_iter().filter(|(example, program)| fits(example, program));
    let chosen = chosen.map(|(example, program)| (example.name, program));
    let mut pairs = 0;
    for (name, program) in chosen.chain([("twins".to_owned(), program("twins", TWINS))]) {
        let options = Options { invariant: true, ..Options::default() };
        let verified = verify_program(&program, &Reading::default(), &options, &Budget::unlimited()).unwrap();
        let invariant = tepui_report::json::invariant(&verified.invariant.unwrap());
        let stated = Stated::of(&name, &program, &invariant);
        let limits = Limits { threads: MAX_THREADS as usize, frames: 3, states: 3_000 };
        explore_with(&program, limits, &mut |state| pairs += stated.holds_in(state));
    }
    assert!(pairs > 10_000, "{pairs}");
}

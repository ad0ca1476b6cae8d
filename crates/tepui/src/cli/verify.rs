//! `tepui verify` and `tepui explore`.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use tepui::{Abstraction, Choice, Cores, ENGINES, Minimal, Options, Refinement, UnsupportedMatching, Verified};
use tepui_cert::{Trace, program};
use tepui_core::{Budget, Facts, Limit, Outcome, Query, Reason, Status, Verdict};
use tepui_lang::boolean::{CallReturn, Compiled, Legend, THREAD_LIMIT, creates_threads};
use tepui_model::{Model, pushdown};
use tepui_report::about::{About, may_block};
use tepui_report::invariant::Invariant;
use tepui_report::program::{Run, tell};
use tepui_report::schedule;
use tepui_report::{Report, visible};

use super::args::{AbstractionName, CallReturnName, ExploreArgs, Format, ModelArgs, Resource, RunArgs, VerifyArgs};
use super::input::{Loaded, LoadedProgram, Subject, again, load};
use super::limits::{Limits, Watch, while_watched};
use super::{Exit, evidence, output, print, shown};

/// Runs `tepui verify`.
pub(crate) fn verify(args: &VerifyArgs) -> Result<Exit> {
    let clock = Clock::start(&args.run);
    let mut loaded = match clock.load(&args.model, args.matching.as_deref())? {
        Ok(loaded) => loaded,
        Err(limit) => return clock.unread(&args.model, &args.run, limit),
    };
    let by_contexts = [Choice::Delays, Choice::Contexts, Choice::Explicit, Choice::Views, Choice::Symbolic];
    only_for("--call-return", args.call_return.is_some(), args.run.choice(), &by_contexts)?;
    match (&mut loaded.subject, args.call_return) {
        (Subject::Program(program), relation) => {
            program.compiling.call_return = relation.map(call_return);
            program.compiling.every_step = args.invariant;
        }
        (Subject::Model(_), _) if args.invariant => {
            bail!("--invariant is only for programs, and {} is no .bp file", visible(&loaded.file))
        }
        (Subject::Model(_), Some(_)) => {
            bail!("--call-return is only for programs, and {} is no .bp file", visible(&loaded.file))
        }
        (Subject::Model(_), None) => {}
    }
    if let Subject::Program(LoadedProgram { program, compiling, .. }) = &loaded.subject
        && args.minimal.is_some()
        && creates_threads(program, compiling.reduce)
    {
        bail!("--minimal is not for programs that create threads: their bound is the number of threads");
    }
    if args.minimal.is_some() && matches!(&loaded.subject, Subject::Model(Model::Rendezvous(_))) {
        bail!(
            "--minimal is only for threads that share a variable, and those of {} meet in actions",
            visible(&loaded.file)
        );
    }
    only_for("--minimal", args.minimal.is_some(), args.run.choice(), &[Choice::Auto])?;
    if args.minimal == Some(Resource::Contexts) && args.run.view_depth > 1 {
        bail!("--minimal with --view-depth is only for --minimal=delays: the context engines see one symbol");
    }
    let tested = [Choice::Delays, Choice::Contexts, Choice::Explicit, Choice::Views, Choice::Symbolic, Choice::Auto];
    only_for("--z-depth", args.z_depth > 1, args.run.choice(), &tested)?;
    only_for("--closure-every-iteration", args.closure_every_iteration, args.run.choice(), &[Choice::Delays])?;
    let minimal = args.minimal.map(|resource| match resource {
        Resource::Contexts => Minimal::Contexts,
        Resource::Delays => Minimal::Delays,
    });
    let options = Options {
        minimal,
        stop_at_first: args.stop_at_first,
        test_always: args.closure_every_iteration,
        bound_limit: args.bound_limit.map(|limit| vec![limit]),
        z_depth: usize::from(args.z_depth),
        matching: loaded.matching.clone(),
        ..base_options(&args.run, args.run.choice())?
    };
    run(clock, &loaded, &args.run, &options, args.certificate.as_deref(), args.invariant)
}

fn call_return(name: CallReturnName) -> CallReturn {
    match name {
        CallReturnName::Plain => CallReturn::Plain,
        CallReturnName::Local => CallReturn::Local,
        CallReturnName::Live => CallReturn::Live,
    }
}

/// Runs `tepui explore`.
pub(crate) fn explore(args: &ExploreArgs) -> Result<Exit> {
    let clock = Clock::start(&args.run);
    let loaded = match clock.load(&args.model, None)? {
        Ok(loaded) => loaded,
        Err(limit) => return clock.unread(&args.model, &args.run, limit),
    };
    only_for("--rounds", args.rounds.is_some(), args.run.choice(), &[Choice::Auto, Choice::Delays])?;
    let limit = match (args.bound, args.rounds, args.delays) {
        (Some(bound), ..) => vec![bound],
        (None, Some(rounds), Some(delays)) => vec![rounds, delays],
        _ => bail!("give --bound K, or --rounds R and --delays D: exploration needs a bound"),
    };
    // Without a choice, the engine is one whose bound limits schedules.
    let engine = match args.run.choice() {
        Choice::Auto if matches!(&loaded.subject, Subject::Model(Model::Rendezvous(_))) => Choice::Rendezvous,
        Choice::Auto if args.rounds.is_some() => Choice::Delays,
        Choice::Auto => Choice::Contexts,
        chosen => chosen,
    };
    let options = Options { bound_limit: Some(limit), prove: false, ..base_options(&args.run, engine)? };
    run(clock, &loaded, &args.run, &options, None, false)
}

fn base_options(args: &RunArgs, engine: Choice) -> Result<Options> {
    let defaults = Options::default();
    let by_languages = [Choice::Auto, Choice::Rendezvous];
    only_for("--policy", args.policy.is_some(), engine, &by_languages)?;
    only_for("--abstraction", args.abstraction.is_some(), engine, &by_languages)?;
    only_for("--shuffle-first", args.shuffle_first, engine, &by_languages)?;
    only_for("--no-frontier", args.no_frontier, engine, &[Choice::Delays])?;
    only_for("--view-depth", args.view_depth > 1, engine, &[Choice::Auto, Choice::Closure, Choice::Delays])?;
    Ok(Options {
        engine,
        // More threads than cores would only get in each other's way.
        cores: args
            .threads
            .map_or(defaults.cores, |threads| Cores::new(usize::from(threads).min(defaults.cores.threads.max(2)))),
        list_views: args.views.is_some(),
        view_depth: usize::from(args.view_depth),
        symmetry: !args.no_symmetry,
        from_scratch: args.no_frontier,
        rendezvous: refinement(args),
        ..defaults
    })
}

fn refinement(args: &RunArgs) -> Refinement {
    let defaults = Refinement::default();
    Refinement {
        policy: args.chosen_policy().unwrap_or(defaults.policy),
        abstraction: match args.abstraction {
            None => defaults.abstraction,
            Some(AbstractionName::Prefix) => Abstraction::Prefix,
            Some(AbstractionName::Suffix) => Abstraction::Suffix,
            Some(AbstractionName::Bifix) => Abstraction::Bifix,
        },
        shuffle_first: args.shuffle_first,
    }
}

/// Refuses engines and options that mean nothing to the kind of model.
fn require_fitting(loaded: &Loaded, args: &RunArgs, engine: Choice) -> Result<()> {
    let meets = matches!(&loaded.subject, Subject::Model(Model::Rendezvous(_)));
    if meets && !tepui::applies_to_rendezvous(engine) {
        bail!(
            "--engine {} is for threads that share a variable, and those of {} meet in actions; \
             `tepui show --format cpds` makes a pushdown system of their product",
            args.engine,
            visible(&loaded.file)
        );
    }
    if !meets && engine == Choice::Rendezvous {
        bail!(
            "--engine rendezvous is for threads that meet in actions, and those of {} share variables",
            visible(&loaded.file)
        );
    }
    let by_languages = [
        ("--policy", args.policy.is_some()),
        ("--abstraction", args.abstraction.is_some()),
        ("--shuffle-first", args.shuffle_first),
    ];
    let by_views = [("--views", args.views.is_some()), ("--view-depth", args.view_depth > 1)];
    let wrong = if meets { by_views.as_slice() } else { by_languages.as_slice() };
    if let Some((option, _)) = wrong.iter().find(|(_, given)| *given) {
        let only = if meets { "share a variable" } else { "meet in actions" };
        bail!("{option} is only for models whose threads {only}");
    }
    Ok(())
}

/// Refuses an option that means nothing to the chosen engine.
fn only_for(option: &str, given: bool, engine: Choice, engines: &[Choice]) -> Result<()> {
    if !given || engines.contains(&engine) {
        return Ok(());
    }
    let fitting = ENGINES.iter().filter(|info| engines.contains(&info.choice)).map(|info| info.facts.name);
    bail!("{option} is only for --engine {}", fitting.collect::<Vec<_>>().join(", "))
}

/// What reading may take when a limit is reached: what is short is read, so that there is something to speak of.
const GRACE: Duration = Duration::from_millis(100);

/// The limits of a run. They hold from the first byte that is read.
struct Clock {
    start: Instant,
    budget: Budget,
    watch: Watch,
}

impl Clock {
    fn start(args: &RunArgs) -> Self {
        let budget = args.work.map_or_else(Budget::unlimited, |work| Budget::unlimited().with_work(work));
        let watch = Watch::start(&budget, Limits::of(&args.limits, args.format == Format::Human));
        Self { start: Instant::now(), budget, watch }
    }

    /// Reads a model, unless a limit is reached before.
    fn load(&self, model: &ModelArgs, matching: Option<&Path>) -> Result<Result<Loaded, Limit>> {
        let (model, matching) = (model.clone(), matching.map(Path::to_owned));
        match while_watched(&self.budget, GRACE, move |_| load(&model, matching.as_deref())) {
            Ok(loaded) => loaded.map(Ok),
            Err(limit) => Ok(Err(limit)),
        }
    }

    /// Says that a limit was reached before the model was read.
    fn unread(self, model: &ModelArgs, args: &RunArgs, limit: Limit) -> Result<Exit> {
        let (file, again) = (model.model.display().to_string(), again(model));
        let outcome = nothing_known(&Reason::Limit(limit));
        let report = Report {
            seconds: self.start.elapsed().as_secs_f64(),
            peak_memory_bytes: self.watch.peak_memory(),
            asked: (false, args.trace.is_some()),
            ..Report::new(&file, &again, &outcome)
        };
        drop(self.watch);
        say(&report, args.format)?;
        Ok(Exit::Unknown)
    }
}

/// Prints a report.
fn say(report: &Report<'_>, format: Format) -> Result<()> {
    let text = match format {
        Format::Human => tepui_report::human::render(report),
        Format::Json => tepui_report::json::render(report) + "\n",
    };
    Ok(print(&text)?)
}

/// Runs the engines and reports.
fn run(
    Clock { start, budget, watch }: Clock,
    loaded: &Loaded,
    args: &RunArgs,
    options: &Options,
    certificate: Option<&Path>,
    invariant: bool,
) -> Result<Exit> {
    require_fitting(loaded, args, options.engine)?;
    if args.stacks && loaded.program().is_none() {
        bail!("--stacks is only for programs, and {} is no .bp file", visible(&loaded.file));
    }
    let outputs = [certificate, args.trace.as_deref(), args.views.as_deref()];
    output::prepare(&loaded.inputs, &outputs.into_iter().flatten().map(Path::to_owned).collect::<Vec<_>>())?;
    watch.pause(|| loaded.warn());
    let asks_nothing = options.prove && !loaded.asks_something() && args.views.is_none() && !invariant;
    let answer = match asks_nothing {
        true => no_answer(loaded, &budget),
        false => answer(loaded, options, args.self_check, &budget)?,
    };
    let Answer { model, smaller, outcome, runs, legend, proof, about } = answer;
    // That there are places for all threads is no property of the program.
    let model = model.map(|model| model.restricted(|name| name != THREAD_LIMIT));
    let asked_invariant = invariant;
    let certified = outcome.evidence().and_then(|evidence| evidence.certificate.as_pushdown());
    let lemma = certified.and_then(|certificate| certificate.lemmas.first()).filter(|_| asked_invariant);
    let invariant = loaded.program().zip(legend.as_ref()).zip(lemma).and_then(|((loaded, legend), lemma)| {
        let stopper = budget.stopper();
        Invariant::of(&loaded.program, legend, lemma, &|| stopper.stopped().is_some())
    });
    let peak_memory_bytes = watch.peak_memory();
    drop(watch);
    let seconds = start.elapsed().as_secs_f64();
    let written = write_files((model.as_ref(), &smaller), &runs, args, (certificate, proof.as_ref()), &outcome);
    let path = |path: Option<&Path>| path.filter(|_| written.is_ok()).map(|path| path.display().to_string());
    let asked = (certificate.is_some(), args.trace.is_some());
    let certificate = path(certificate.filter(|_| outcome.evidence().is_some()));
    let trace = path(args.trace.as_deref().filter(|_| outcome.status() == Status::Unsafe));
    let views = path(args.views.as_deref());
    let told = told_views(loaded, model.as_ref(), legend.as_ref(), &outcome);
    let report = Report {
        violating: &told,
        about,
        digest: loaded.digest(),
        model: model.as_ref(),
        invariant,
        asked_invariant,
        runs: &runs,
        is_program: loaded.program().is_some(),
        stacks: args.stacks,
        file: &loaded.file,
        again: &loaded.again,
        warnings: &loaded.warning_lines,
        views: views.as_deref(),
        asked: if written.is_ok() { asked } else { (false, false) },
        outcome: &outcome,
        seconds,
        peak_memory_bytes,
        certificate: certificate.as_deref(),
        trace: trace.as_deref(),
        self_checked: args.self_check,
        proving: options.prove,
    };
    say(&report, args.format)?;
    written?;
    Ok(match outcome.status() {
        Status::Safe => Exit::Good,
        Status::Unsafe => Exit::Bad,
        Status::Unknown => Exit::Unknown,
    })
}

/// The violating views of a program, in the terms of its source.
fn told_views(loaded: &Loaded, model: Option<&Model>, legend: Option<&Legend>, outcome: &Outcome) -> Vec<String> {
    match (loaded.program(), model, legend) {
        (Some(LoadedProgram { program, .. }), Some(Model::Pushdown(model)), Some(legend)) => {
            outcome.violating.iter().map(|view| tepui_report::view::tell(program, model, legend, view)).collect()
        }
        _ => Vec::new(),
    }
}

/// An outcome, the model that it is about, and for a program the executions that violate its properties.
struct Answer {
    /// None, if a program could not be compiled within the limits.
    model: Option<Model>,
    /// Other models of a program that traces are about.
    smaller: Vec<pushdown::Model>,
    outcome: Outcome,
    runs: Vec<Option<Run>>,
    legend: Option<Legend>,
    /// The proof about a program.
    proof: Option<program::Certificate>,
    /// What an answer about a program is about.
    about: Option<About>,
}

/// What is known where no engine was asked.
fn nothing_known(why: &Reason) -> Outcome {
    static NONE: Facts = Facts::unbounded("none", &["symbols"]);
    Outcome::without_answer(&NONE, &Query::new(vec!["views".to_owned()]), why)
}

/// What is said about a model of which nothing is asked.
fn no_answer(loaded: &Loaded, budget: &Budget) -> Answer {
    let outcome = nothing_known(&Reason::NothingAsked);
    let about = loaded.program().map(|LoadedProgram { program, compiling, .. }| {
        let stuck = if may_block(program) { tepui::gets_stuck(program, compiling, None, budget) } else { Some(false) };
        About { stuck, ..About::default() }
    });
    Answer { model: None, smaller: Vec::new(), outcome, runs: Vec::new(), legend: None, proof: None, about }
}

/// The threads of a program, in words.
fn threads(compiled: &Compiled) -> String {
    let threads = compiled.model.threads();
    match (compiled.legend.creates_threads(), threads) {
        (true, all) => format!("as many threads as it starts, at most {} at the same time", all.len()),
        (false, [one]) => format!("one thread ({})", one.name),
        (false, all) => {
            let shown: Vec<_> = all.iter().take(8).map(|thread| thread.name.as_str()).collect();
            let more = if all.len() > shown.len() { ", ..." } else { "" };
            format!("{} threads ({}{more})", all.len(), shown.join(", "))
        }
    }
}

fn answer(loaded: &Loaded, options: &Options, self_check: bool, budget: &Budget) -> Result<Answer> {
    let LoadedProgram { program, source, compiling, .. } = match &loaded.subject {
        Subject::Program(program) => program,
        Subject::Model(model) => {
            let mut outcome = match model {
                Model::Pushdown(model) => {
                    tepui::verify(model, options, budget).map_err(|missing| explain_matching(model, &missing))?
                }
                Model::Rendezvous(model) => tepui::verify_rendezvous(model, options, budget),
            };
            if self_check {
                // A failed check shows in the verdict: the answers it concerns become unknown.
                let _ = tepui::self_check(model, &mut outcome);
            }
            return Ok(Answer {
                model: Some(model.clone()),
                smaller: Vec::new(),
                outcome,
                runs: Vec::new(),
                legend: None,
                proof: None,
                about: None,
            });
        }
    };
    let mut verified = tepui::verify_program(program, compiling, options, budget)?;
    if self_check {
        let _ = tepui::self_check_program(program, compiling, &mut verified);
    }
    let Verified { outcome, compiled, smaller, executions, certificate, unreached } = verified;
    let properties = compiling.properties(program);
    let about = compiled.as_ref().filter(|_| options.prove).map(|compiled| {
        let look = !compiling.deadlock && outcome.conclusive();
        let stuck = match look && may_block(program) {
            true => tepui::gets_stuck(program, compiling, Some(compiled), budget),
            false => look.then_some(false),
        };
        let about = About { threads: threads(compiled), stuck, ..About::default() };
        about.with_unreached(program, source, &properties, &outcome, &unreached)
    });
    let run = |execution: &Option<_>| execution.as_ref().map(|execution| tell(program, source, execution));
    let runs = executions.iter().map(run).collect();
    let (model, legend) = match compiled {
        Some(Compiled { model, legend }) => (Some(Model::Pushdown(model)), Some(legend)),
        None => (None, None),
    };
    let smaller = smaller.into_iter().map(|compiled| compiled.model).collect();
    Ok(Answer { model, smaller, outcome, runs, legend, proof: certificate, about })
}

fn write_files(
    (model, smaller): (Option<&Model>, &[pushdown::Model]),
    runs: &[Option<Run>],
    args: &RunArgs,
    (certificate, proof): (Option<&Path>, Option<&program::Certificate>),
    outcome: &Outcome,
) -> Result<()> {
    if let (Some(path), Some(evidence)) = (certificate, outcome.evidence()) {
        let text = proof.map_or_else(|| evidence.certificate.to_text(), program::Certificate::to_text);
        evidence::write(path, &text)?;
    }
    if let (Some(path), Some(model)) = (&args.trace, model) {
        let traces: String = match path.extension().is_some_and(|extension| extension == "json") {
            true => tepui_report::json::traces(model, outcome, runs),
            false => outcome.properties.iter().filter_map(|p| trace_text((model, smaller), &p.verdict)).collect(),
        };
        if outcome.status() == Status::Unsafe {
            evidence::write(path, &traces)?;
        }
    }
    if let Some(path) = &args.views {
        evidence::write(path, &outcome.views.iter().map(|view| format!("{view}\n")).collect::<String>())?;
    }
    Ok(())
}

fn trace_text((model, smaller): (&Model, &[pushdown::Model]), verdict: &Verdict) -> Option<String> {
    let Verdict::Unsafe(refuted) = verdict else { return None };
    match (model, refuted.trace()) {
        (Model::Pushdown(model), Trace::Pushdown(trace)) => {
            let model = smaller.iter().find(|smaller| smaller.digest() == trace.model).unwrap_or(model);
            Some(trace.to_text(|step| schedule::pushdown_comment(model, step)))
        }
        (Model::Rendezvous(model), Trace::Rendezvous(trace)) => {
            Some(trace.to_text(|step| schedule::rendezvous_comment(model, step)))
        }
        _ => None,
    }
}

fn explain_matching(model: &pushdown::Model, missing: &UnsupportedMatching) -> anyhow::Error {
    let thread = &model.threads()[missing.thread];
    let (popped, revealed) = (thread.symbol_name(missing.popped), thread.symbol_name(missing.revealed));
    anyhow::anyhow!(
        "the matching omits a pair that is needed: in thread {}, {revealed} may come to light after {popped} is popped\n  \
         help: add the line `{popped} {revealed}`, or leave --matching out: what may come to light is worked out anyway",
        thread.name
    )
}

/// Reads a whole file as text.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("cannot read {}", shown(path)))
}

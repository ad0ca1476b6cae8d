//! `tepui verify` and `tepui explore`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use tepui::{
    AUTO, Abstraction, Answer, Budget, CallReturn, Cores, DELAYS, Detail, Dispatcher, Facts, Limit, Minimal, Options,
    Outcome, PartialOrder, Problem, QueueOrder, QueuePrecision, Reason, Refinement, Schedulers, Status, Story, Verdict,
    WALK, Walking,
};
use tepui_report::{Report, count};

use super::args::{
    AbstractionName, CallReturnName, ExploreArgs, Format, ModelArgs, Resource, RunArgs, SummaryName, VerifyArgs,
};
use super::input::{Loaded, again, load_all};
use super::limits::{Limits, Watch, while_watched};
use super::show::value;
use super::{Exit, bounding, evidence, output, print, shown};

/// Runs `tepui verify`.
pub(crate) fn verify(args: &VerifyArgs) -> Result<Exit> {
    let clock = Clock::start(&args.run);
    let all = match clock.load(&args.model, args.matching.as_deref())? {
        Ok(all) => all,
        Err(limit) => return clock.unread(&args.model, &args.run, limit),
    };
    let engine = args.run.chosen();
    let given = [
        ("--call-return", args.call_return.is_some()),
        ("--no-partial-order", args.no_partial_order),
        ("--minimal", args.minimal.is_some()),
        ("--z-depth", args.z_depth > 1),
        ("--closure-every-iteration", args.closure_every_iteration),
        ("--invariant", args.invariant),
    ];
    require_fitting(&all[0], &args.run, engine, &given)?;
    if args.minimal == Some(Resource::Contexts) && args.run.view_depth > 1 {
        bail!("--minimal with --view-depth is only for --minimal=delays: the context engines see one symbol");
    }
    let options = Options {
        minimal: args.minimal.map(|resource| match resource {
            Resource::Contexts => Minimal::Contexts,
            Resource::Delays => Minimal::Delays,
        }),
        stop_at_first: args.stop_at_first,
        test_always: args.closure_every_iteration,
        bound_limit: args.bound_limit.map(|limit| vec![limit]),
        z_depth: usize::from(args.z_depth),
        invariant: args.invariant,
        partial_order: if args.no_partial_order { PartialOrder::Off } else { PartialOrder::Auto },
        call_return: args.call_return.map(call_return),
        ..base_options(&args.run, engine)
    };
    run_all(clock, &all, &args.run, &options, args.certificate.as_deref())
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
    if !args.bounding.is_empty() {
        return bounding::compare(args);
    }
    let clock = Clock::start(&args.run);
    let all = match clock.load(&args.model, None)? {
        Ok(all) => all,
        Err(limit) => return clock.unread(&args.model, &args.run, limit),
    };
    let limit = match (args.bound, args.rounds.or(args.tasks), args.delays) {
        (Some(bound), ..) => vec![bound],
        (None, Some(first), Some(delays)) => vec![first, delays],
        // Random executions have a number of their own.
        _ if *args.run.chosen() == WALK => vec![args.run.schedules.unwrap_or(Walking::default().schedules)],
        _ => bail!(
            "give --bound K, or --rounds R and --delays D, or --tasks B and --delays D: exploration needs a bound"
        ),
    };
    // Without a choice, the engine is one whose bound limits schedules.
    let chosen = args.run.chosen();
    let engine = if *chosen != AUTO {
        chosen
    } else if args.rounds.is_some() {
        &DELAYS
    } else {
        all[0].problem.bounded_engine()
    };
    require_fitting(
        &all[0],
        &args.run,
        engine,
        &[("--rounds", args.rounds.is_some()), ("--tasks", args.tasks.is_some())],
    )?;
    let options = Options { bound_limit: Some(limit), prove: false, ..base_options(&args.run, engine) };
    run_all(clock, &all, &args.run, &options, None)
}

fn base_options(args: &RunArgs, engine: &'static Facts) -> Options {
    let defaults = Options::default();
    Options {
        engine,
        // More threads than cores would only get in each other's way.
        cores: args
            .threads
            .map_or(defaults.cores, |threads| Cores::new(usize::from(threads).min(defaults.cores.threads.max(2)))),
        list_views: args.views.is_some(),
        view_depth: usize::from(args.view_depth),
        symmetry: !args.no_symmetry,
        from_scratch: args.no_frontier,
        refinement: refinement(args),
        self_check: args.self_check,
        queue_precision: precision(args),
        walking: Walking {
            seed: args.seed.unwrap_or(defaults.walking.seed),
            schedules: args.schedules.unwrap_or(defaults.walking.schedules),
            steps: args.steps.unwrap_or(defaults.walking.steps),
        },
        schedulers: match args.scheduler.as_slice() {
            [] => defaults.schedulers,
            names => Schedulers(names.iter().filter_map(|name| Dispatcher::named(name)).collect()),
        },
        ..defaults
    }
}

/// How precisely queues are known, if that is not left to the engine.
fn precision(args: &RunArgs) -> Option<QueuePrecision> {
    let given = args.summary.is_some() || args.prefix.is_some() || args.cap.is_some();
    let order = match args.summary {
        Some(SummaryName::Bag) => QueueOrder::Bag,
        Some(SummaryName::List) => QueueOrder::List,
        Some(SummaryName::Ends) | None => QueueOrder::Ends,
    };
    let (prefix, cap) = (usize::from(args.prefix.unwrap_or(0)), args.cap.unwrap_or(0));
    given.then_some(QueuePrecision { prefix, order, cap })
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

/// Refuses an engine and options that mean nothing to the model or to the engine.
fn require_fitting(
    loaded: &Loaded,
    args: &RunArgs,
    engine: &'static Facts,
    others: &[(&'static str, bool)],
) -> Result<()> {
    let given = [
        ("--policy", args.policy.is_some()),
        ("--abstraction", args.abstraction.is_some()),
        ("--shuffle-first", args.shuffle_first),
        ("--no-frontier", args.no_frontier),
        ("--views", args.views.is_some()),
        ("--view-depth", args.view_depth > 1),
        ("--stacks", args.stacks),
        ("--no-symmetry", args.no_symmetry),
        ("--summary", args.summary.is_some()),
        ("--prefix", args.prefix.is_some()),
        ("--cap", args.cap.is_some()),
        ("--schedules", args.schedules.is_some()),
        ("--steps", args.steps.is_some()),
        ("--seed", args.seed.is_some()),
        ("--scheduler", !args.scheduler.is_empty()),
        ("--svg", args.svg.is_some()),
    ];
    let given = given.iter().chain(others).filter(|(_, given)| *given).map(|(option, _)| *option);
    Ok(loaded.problem.require_fitting(&loaded.file, engine, &given.collect::<Vec<_>>())?)
}

/// What reading may take when a limit is reached: what is short is read, so that there is something to speak of.
const GRACE: Duration = Duration::from_millis(100);

/// The limits of a run. They hold from the first byte that is read.
pub(crate) struct Clock {
    start: Instant,
    pub(crate) budget: Budget,
    watch: Watch,
}

impl Clock {
    pub(crate) fn start(args: &RunArgs) -> Self {
        let budget = args.work.map_or_else(Budget::unlimited, |work| Budget::unlimited().with_work(work));
        let watch = Watch::start(&budget, Limits::of(&args.limits, args.format == Format::Human));
        Self { start: Instant::now(), budget, watch }
    }

    /// Nothing is watched any more.
    pub(crate) fn finish(self) {
        drop(self.watch);
    }

    /// A clock for one of several tests: it may take an equal share of the time that is left.
    fn share(&self, args: &RunArgs, tests_left: usize) -> Self {
        let work = args.work.map_or_else(Budget::unlimited, |work| Budget::unlimited().with_work(work));
        let mut limits = Limits::of(&args.limits, args.format == Format::Human);
        let left = |timeout: Duration| timeout.saturating_sub(self.start.elapsed()) / tests_left as u32;
        (limits.timeout, limits.whole) = (limits.timeout.map(left), Some(self.budget.stopper()));
        let watch = Watch::start(&work, limits);
        Self { start: Instant::now(), budget: work, watch }
    }

    /// Reads a model, unless a limit is reached before.
    pub(crate) fn load(&self, model: &ModelArgs, matching: Option<&Path>) -> Result<Result<Vec<Loaded>, Limit>> {
        let (model, matching) = (model.clone(), matching.map(Path::to_owned));
        match while_watched(&self.budget, GRACE, move |_| load_all(&model, matching.as_deref())) {
            Ok(loaded) => loaded.map(Ok),
            Err(limit) => Ok(Err(limit)),
        }
    }

    /// Says that a limit was reached before the model was read.
    pub(crate) fn unread(self, model: &ModelArgs, args: &RunArgs, limit: Limit) -> Result<Exit> {
        let (file, again) = (model.name(), again(model, None));
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
    Ok(print(&rendered(report, format))?)
}

fn rendered(report: &Report<'_>, format: Format) -> String {
    match format {
        Format::Human => tepui_report::human::render(report),
        Format::Json => tepui_report::json::render(report) + "\n",
    }
}

/// What came of one problem: what is said about it, how it ended, and whether files could be written.
struct Ended {
    says: String,
    status: Status,
    /// Whether something that was given to help is wrong.
    misled: bool,
    written: Result<()>,
}

/// Runs the engines on a problem, or on each test, and reports. Of several tests the worst counts.
fn run_all(
    clock: Clock,
    all: &[Loaded],
    args: &RunArgs,
    options: &Options,
    certificate: Option<&Path>,
) -> Result<Exit> {
    let files: Vec<_> = all.iter().map(|loaded| Files::of(args, certificate, loaded, all.len() > 1)).collect();
    let outputs: Vec<_> = files.iter().flat_map(Files::all).cloned().collect();
    output::prepare(&all[0].inputs, &outputs)?;
    clock.watch.pause(|| all[0].warn());
    let (mut statuses, mut misled, mut texts, mut written) = (Vec::new(), false, Vec::new(), Ok(()));
    for (number, (loaded, files)) in all.iter().zip(&files).enumerate() {
        let ended = match all.len() {
            1 => run(&clock, loaded, args, options, files, false)?,
            tests => {
                clock.watch.hide();
                run(&clock.share(args, tests - number), loaded, args, options, files, true)?
            }
        };
        statuses.push(ended.status);
        misled |= ended.misled;
        written = written.and(ended.written);
        match args.format {
            Format::Human if all.len() > 1 => clock.watch.pause(|| print(&ended.says))?,
            Format::Human | Format::Json => texts.push(ended.says),
        }
    }
    drop(clock.watch);
    let status = Status::of_all(statuses.iter().copied());
    print(&match (args.format, texts.as_slice()) {
        (Format::Human, []) => tally(&statuses),
        (_, [only]) => only.clone(),
        _ => tepui_report::json::tests(&all[0].file, status, &texts),
    })?;
    written?;
    Ok(match status {
        _ if misled => Exit::Misled,
        Status::Safe => Exit::Good,
        Status::Unsafe => Exit::Bad,
        Status::Unknown => Exit::Unknown,
    })
}

/// How many tests ended how.
fn tally(statuses: &[Status]) -> String {
    let number = |status: Status| statuses.iter().filter(|own| **own == status).count();
    let parts = [Status::Safe, Status::Unsafe, Status::Unknown].into_iter().filter(|status| number(*status) > 0);
    let parts: Vec<_> = parts.map(|status| format!("{} {}", number(status), status.word())).collect();
    format!("{}: {}\n", count(statuses.len() as u64, "test"), parts.join(", "))
}

/// Runs the engines on one problem.
fn run(
    clock: &Clock,
    loaded: &Loaded,
    args: &RunArgs,
    options: &Options,
    files: &Files,
    several: bool,
) -> Result<Ended> {
    let problem = &loaded.problem;
    let asks_nothing = options.prove && !loaded.asks_something() && args.views.is_none() && !options.invariant;
    let answer = match asks_nothing {
        true => {
            let (outcome, about) = (nothing_known(&Reason::NothingAsked), problem.about(&clock.budget));
            Answer { outcome, about, invariant: None, violating: Vec::new() }
        }
        false => tepui::verify(problem, options, &clock.budget)?,
    };
    let Answer { outcome, about, invariant, violating } = &answer;
    let peak_memory_bytes = clock.watch.peak_memory();
    let seconds = clock.start.elapsed().as_secs_f64();
    let detail =
        if args.format == Format::Json || is_json(args.trace.as_deref()) { Detail::Full } else { Detail::Short };
    let stories: Vec<_> = outcome.properties.iter().map(|property| story(problem, &property.verdict, detail)).collect();
    let written = files.write(problem, outcome, &stories);
    let path = |path: Option<&PathBuf>| path.filter(|_| written.is_ok()).map(|path| path.display().to_string());
    let asked = (files.certificate.is_some(), args.trace.is_some());
    let certificate = path(files.certificate.as_ref().filter(|_| outcome.evidence().is_some()));
    let trace = path(files.trace.as_ref().filter(|_| outcome.status() == Status::Unsafe));
    let views = path(files.views.as_ref());
    let svg = path(files.svg.as_ref().filter(|_| outcome.status() == Status::Unsafe));
    let advice = problem.advice(outcome);
    let report = Report {
        test: problem.test_case(),
        brief: several,
        violating,
        about: about.as_ref(),
        digest: Some(problem.digest().to_string()),
        open: problem.asked().is_empty(),
        ask: problem.how_to_ask(),
        advice: &advice,
        invariant: invariant.as_ref(),
        asked_invariant: options.invariant,
        stories: &stories,
        stacks: args.stacks,
        warnings: &loaded.warning_lines,
        views: views.as_deref(),
        asked: if written.is_ok() { asked } else { (false, false) },
        seconds,
        peak_memory_bytes,
        certificate: certificate.as_deref(),
        trace: trace.as_deref(),
        svg: svg.as_deref(),
        self_checked: args.self_check,
        proving: options.prove,
        ..Report::new(&loaded.file, &loaded.again, outcome)
    };
    let (says, misled) = (rendered(&report, args.format), problem.misled(outcome));
    Ok(Ended { says, status: outcome.status(), misled, written })
}

/// The execution that violates a property.
fn story(problem: &Problem, verdict: &Verdict, detail: Detail) -> Option<Story> {
    match verdict {
        Verdict::Unsafe(refuted) => Some(problem.tell(refuted.trace(), detail)),
        Verdict::Safe(_) | Verdict::Unknown(_) => None,
    }
}

/// What is known where no engine was asked.
fn nothing_known(why: &Reason) -> Outcome {
    Outcome::without_answer(&NONE, &["views".to_owned()], why)
}

/// No engine.
static NONE: Facts = Facts::unbounded("none", &["symbols"]);

fn is_json(path: Option<&Path>) -> bool {
    path.and_then(Path::extension).is_some_and(|extension| extension == "json")
}

/// Whether a trace is to be written as other tools for the language write it.
fn is_log(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(".trace.json"))
}

/// The files that a run writes.
struct Files {
    certificate: Option<PathBuf>,
    trace: Option<PathBuf>,
    views: Option<PathBuf>,
    svg: Option<PathBuf>,
}

impl Files {
    /// Those that were asked for. Where there are several tests, the name of the test is put before the extension.
    fn of(args: &RunArgs, certificate: Option<&Path>, loaded: &Loaded, several: bool) -> Self {
        let test = loaded.problem.test_case().filter(|_| several);
        let own = |path: Option<&Path>| path.map(|path| test.map_or_else(|| path.to_owned(), |test| named(path, test)));
        Self {
            certificate: own(certificate),
            trace: own(args.trace.as_deref()),
            views: own(args.views.as_deref()),
            svg: own(args.svg.as_deref()),
        }
    }

    fn all(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.certificate, &self.trace, &self.views, &self.svg].into_iter().flatten()
    }

    fn write(&self, problem: &Problem, outcome: &Outcome, stories: &[Option<Story>]) -> Result<()> {
        if let (Some(path), Some(evidence)) = (&self.certificate, outcome.evidence()) {
            evidence::write(path, &evidence.certificate.to_text())?;
        }
        if let Some(path) = self.trace.as_deref().filter(|_| outcome.status() == Status::Unsafe) {
            let text = |verdict: &Verdict| match verdict {
                Verdict::Unsafe(refuted) => Some(problem.trace_text(refuted.trace())),
                Verdict::Safe(_) | Verdict::Unknown(_) => None,
            };
            let log = outcome.trace().filter(|_| is_log(path)).and_then(|trace| problem.log(trace));
            let traces: String = match (log, is_json(Some(path))) {
                (Some(entries), _) => {
                    let entries: serde_json::Value = entries.into_iter().map(value).collect();
                    format!("{entries:#}\n")
                }
                (None, true) => tepui_report::json::traces(outcome, stories),
                (None, false) => outcome.properties.iter().filter_map(|property| text(&property.verdict)).collect(),
            };
            evidence::write(path, &traces)?;
        }
        if let Some(path) = &self.views {
            evidence::write(path, &outcome.views.iter().map(|view| format!("{view}\n")).collect::<String>())?;
        }
        match (&self.svg, stories.iter().flatten().next()) {
            (Some(path), Some(story)) => evidence::write(path, &tepui_report::chart::svg(story)),
            _ => Ok(()),
        }
    }
}

/// A file's name with that of a test in it.
fn named(path: &Path, test: &str) -> PathBuf {
    let plain: String = test.chars().map(|c| if c.is_alphanumeric() || "_-".contains(c) { c } else { '_' }).collect();
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let at = name.find('.').filter(|at| *at > 0).unwrap_or(name.len());
    path.with_file_name(format!("{}.{plain}{}", &name[..at], &name[at..]))
}

/// Reads a whole file as text.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("cannot read {}", shown(path)))
}

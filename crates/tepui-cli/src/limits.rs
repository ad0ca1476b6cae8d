//! Watching the world while an engine works: time, memory, Ctrl-C; and telling a terminal how far it is.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use tepui::{Budget, Limit, Stopper};
use tepui_report::{bytes, grouped};

use super::args::LimitArgs;

const LOOK_EVERY: Duration = Duration::from_millis(10);
const SHOW_AFTER: Duration = Duration::from_millis(300);
const SHOW_EVERY: Duration = Duration::from_millis(100);

/// A running watch; dropping it ends it.
pub(crate) struct Watch {
    done: Arc<AtomicBool>,
    peak: Arc<AtomicU64>,
    bar: ProgressBar,
    thread: Option<JoinHandle<()>>,
}

/// What to watch for.
pub(crate) struct Limits {
    /// The time that may pass.
    pub(crate) timeout: Option<Duration>,
    /// The memory that the process may hold.
    pub(crate) memory: Option<u64>,
    /// Whether progress may be shown, if there is a terminal.
    pub(crate) progress: bool,
    /// Whose limits hold as well, where this is a part of a run.
    pub(crate) whole: Option<Stopper>,
}

impl Limits {
    /// Those that the user asks for.
    pub(crate) fn of(args: &LimitArgs, progress: bool) -> Self {
        Self { timeout: args.timeout, memory: args.memory, progress, whole: None }
    }
}

impl Watch {
    /// Starts watching for a budget.
    pub(crate) fn start(budget: &Budget, limits: Limits) -> Self {
        let (done, peak) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let stopper = budget.stopper();
        let bar = if limits.progress { new_bar() } else { ProgressBar::hidden() };
        if limits.whole.is_none() {
            interrupt_on_ctrl_c(stopper.clone(), bar.clone());
        }
        // The watch itself may come too late for a short run.
        if limits.timeout.is_some_and(|timeout| timeout.is_zero()) {
            stopper.stop(Limit::Time);
        }
        if limits.memory.is_some_and(|limit| resident() >= limit) {
            stopper.stop(Limit::Memory);
        }
        let watched = (Arc::clone(&done), Arc::clone(&peak));
        let shown = bar.clone();
        let thread = std::thread::spawn(move || watch(&stopper, &limits, &shown, &watched.0, &watched.1));
        Self { done, peak, bar, thread: Some(thread) }
    }

    /// Prints something while no progress is on the screen.
    pub(crate) fn pause<T>(&self, print: impl FnOnce() -> T) -> T {
        match self.bar.elapsed() < SHOW_AFTER {
            true => print(), // Before it is shown, taking it away would show it.
            false => self.bar.suspend(print),
        }
    }

    /// Shows no progress any more.
    pub(crate) fn hide(&self) {
        self.bar.finish_and_clear();
    }

    /// The largest amount of memory that the process held.
    pub(crate) fn peak_memory(&self) -> u64 {
        let sampled = self.peak.load(Ordering::Relaxed).max(resident());
        high_water_mark().unwrap_or(0).max(sampled)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

/// What deep recursion may need: as much as the first thread of a process has on most systems, and then some.
const STACK: usize = 64 << 20;

/// Does some work within limits of its own.
pub(crate) fn within<T: Send + 'static>(
    limits: Limits,
    work: impl FnOnce(&dyn Fn() -> bool) -> T + Send + 'static,
) -> Result<T, Limit> {
    let budget = Budget::unlimited();
    let _watch = Watch::start(&budget, limits);
    while_watched(&budget, Duration::ZERO, work)
}

/// Does some work in a thread of its own. When a limit is reached, it may have a little more time; then it is left behind,
/// and ends with the process.
pub(crate) fn while_watched<T: Send + 'static>(
    budget: &Budget,
    grace: Duration,
    work: impl FnOnce(&dyn Fn() -> bool) -> T + Send + 'static,
) -> Result<T, Limit> {
    let (stopper, signal) = (budget.stopper(), budget.stopper());
    let (done, result) = mpsc::sync_channel(1);
    let worker = std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || _ = done.send(work(&|| signal.stopped().is_some())))
        .map_err(|_| Limit::Memory)?;
    let mut reached = None;
    loop {
        if let Some(limit) = stopper.stopped()
            && reached.get_or_insert_with(Instant::now).elapsed() >= grace
        {
            return Err(limit);
        }
        match result.recv_timeout(LOOK_EVERY / 10) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => {}
            // It has panicked.
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => return Err(Limit::Interrupt),
            },
        }
    }
}

/// The first interrupt ends the run with what was learned, the second one ends the process.
fn interrupt_on_ctrl_c(stopper: Stopper, bar: ProgressBar) {
    let pressed = AtomicBool::new(false);
    let handler = move || {
        let again = pressed.swap(true, Ordering::Relaxed);
        stopper.stop(Limit::Interrupt);
        bar.finish_and_clear();
        if again {
            std::process::exit(130);
        }
    };
    // A second run in the same process keeps the first handler; the command line runs once.
    let _ = ctrlc::set_handler(handler);
}

fn watch(stopper: &Stopper, limits: &Limits, bar: &ProgressBar, done: &AtomicBool, peak: &AtomicU64) {
    let start = Instant::now();
    let memory_limit = limits.memory.or_else(|| available_memory().map(|available| available / 10 * 9));
    let mut shown = start;
    while !done.load(Ordering::Relaxed) {
        let held = resident();
        peak.fetch_max(held, Ordering::Relaxed);
        if limits.timeout.is_some_and(|timeout| start.elapsed() >= timeout) {
            stopper.stop(Limit::Time);
        }
        if memory_limit.is_some_and(|limit| held >= limit) {
            stopper.stop(Limit::Memory);
        }
        if let Some(limit) = limits.whole.as_ref().and_then(Stopper::stopped) {
            stopper.stop(limit);
            bar.finish_and_clear();
        }
        if start.elapsed() >= SHOW_AFTER && shown.elapsed() >= SHOW_EVERY && !bar.is_finished() {
            shown = Instant::now();
            bar.set_message(progress_line(stopper, start, held));
            bar.tick();
            if !bar.is_hidden() {
                // At the end of a full line, the echo of Ctrl-C would begin another one, and this one would stay.
                eprint!("\r");
            }
        }
        std::thread::park_timeout(LOOK_EVERY);
    }
    bar.finish_and_clear();
}

fn new_bar() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        bar.set_style(style);
    }
    bar
}

fn progress_line(stopper: &Stopper, start: Instant, held: u64) -> String {
    let progress = stopper.progress();
    let get = |number: &AtomicU64| number.load(Ordering::Relaxed);
    let elapsed = start.elapsed().as_secs_f64();
    if get(&progress.work) == 0 {
        return format!("reading, {}, {elapsed:.1} s", bytes(held));
    }
    let rate = get(&progress.work) as f64 / elapsed;
    let open = match get(&progress.open) {
        0 => String::new(),
        open => format!(" ({} open)", grouped(open)),
    };
    format!(
        "bound {}, {} states, {} views{open}, {} images/s, {}, {elapsed:.1} s",
        get(&progress.bound),
        grouped(get(&progress.states)),
        grouped(get(&progress.views)),
        grouped(rate as u64),
        bytes(held),
    )
}

fn resident() -> u64 {
    memory_stats::memory_stats().map_or(0, |stats| stats.physical_mem as u64)
}

/// The value of a line like `VmHWM:  1234 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|number| number * 1024)
}

fn high_water_mark() -> Option<u64> {
    kilobytes(&std::fs::read_to_string("/proc/self/status").ok()?, "VmHWM")
}

fn available_memory() -> Option<u64> {
    kilobytes(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable")
}

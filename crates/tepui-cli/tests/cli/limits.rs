//! Runs that end before their answer: time, memory, Ctrl-C. They end with what was learned.
//!
//! `heights.cpds` and `words.cpds` can be explored for ever: no bound violates their property, none proves it.
//! Nothing here depends on how fast the machine is, apart from [`PATIENCE`].

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Room;
use crate::json::document;

/// No run of these takes so long, unless it does not end at all.
const PATIENCE: Duration = Duration::from_secs(60);

/// Limits of time, until one is enough for a bound.
const TIMEOUTS: [&str; 3] = ["0.3s", "3s", "20s"];

#[track_caller]
fn expect_unknown(document: &Value, kind: &str) {
    assert_eq!((&document["verdict"], &document["reason"]["kind"]), (&"unknown".into(), &kind.into()), "{document}");
    assert!(document["cutoff"].is_null() && document["certificate"].is_null(), "{document}");
}

#[track_caller]
fn expect_some_bound(document: &Value) {
    assert!(!document["bound_reached"].is_null(), "{document}");
}

#[test]
fn a_timeout_ends_with_the_bound_reached() {
    let room = Room::new();
    for engine in
        ["auto", "closure", "delays", "contexts-explicit", "contexts-states", "contexts-views", "contexts-symbolic"]
    {
        // A machine that is busy may need longer for the first bound.
        let reached = TIMEOUTS.iter().any(|timeout| {
            let start = Instant::now();
            let document = document(&room, &format!("verify heights.cpds --engine {engine} --timeout {timeout}"), 3);
            let took = start.elapsed();
            assert!(took >= Duration::from_millis(300) && took < PATIENCE, "{engine}: {took:?}");
            expect_unknown(&document, "timeout");
            !document["bound_reached"].is_null()
        });
        assert!(reached, "{engine}");
    }
}

#[test]
fn a_timeout_is_explained() {
    let room = Room::new();
    let explained = TIMEOUTS.iter().any(|timeout| {
        let run = room.expect(&format!("verify heights.cpds --engine contexts --timeout {timeout}"), 3);
        for part in ["UNKNOWN  heights.cpds", "the time limit was reached", "--timeout"] {
            assert!(run.stdout.contains(part), "{part}: {}", run.stdout);
        }
        assert_eq!(run.stderr, "");
        run.stdout.contains("explored completely up to")
    });
    assert!(explained);
}

#[test]
fn no_time_at_all_is_a_clean_unknown() {
    expect_unknown(&document(&Room::new(), "verify heights.cpds --timeout 0", 3), "timeout");
}

/// Unlike time, work ends a run at the same point every time, whoever does it.
#[test]
fn a_limit_on_work_ends_at_the_same_point() {
    let room = Room::new();
    for engine in ["auto", "closure", "delays", "contexts", "contexts-symbolic"] {
        let run = |threads: usize| {
            document(&room, &format!("verify heights.cpds --engine {engine} --work 50000 --threads {threads}"), 3)
        };
        let (one, two) = (run(1), run(2));
        expect_unknown(&one, "work-limit");
        for field in ["engine", "bound_reached", "states", "views", "steps"] {
            assert_eq!(one[field], two[field], "{engine}: {field}");
        }
    }
}

/// Limits hold from the first byte on.
#[test]
fn a_file_that_takes_long_to_read_is_a_clean_unknown() {
    let room = Room::new();
    let body = "s := !s; if (s) { s := s | !s; } assume(s | !s); ".repeat(400_000);
    std::fs::write(room.path("long.bp"), format!("decl s; void main() {{ {body} assert(s); }}")).unwrap();
    let started = Instant::now();
    expect_unknown(&document(&room, "verify long.bp --timeout 0.2s", 3), "timeout");
    expect_unknown(&document(&room, "verify long.bp --memory 100MB", 3), "memory-limit");
    let run = room.expect("verify long.bp --timeout 0.2s", 3);
    assert!(run.stdout.contains("the time limit was reached"), "{}", run.stdout);
    assert!(started.elapsed() < PATIENCE);
}

#[test]
fn a_memory_limit_ends_with_the_bound_reached() {
    let room = Room::new();
    for engine in ["auto", "contexts-states"] {
        let document = document(&room, &format!("verify words.cpds --engine {engine} --memory 30MB --timeout 300s"), 3);
        expect_unknown(&document, "memory-limit");
        expect_some_bound(&document);
        // The system's own account of the peak may lag behind what was sampled.
        assert!(document["peak_memory_bytes"].as_u64().unwrap() >= 20_000_000, "{document}");
    }
}

#[test]
fn a_memory_limit_is_explained() {
    let run = Room::new().expect("verify words.cpds --engine contexts-states --memory 60MB", 3);
    for part in ["UNKNOWN  words.cpds", "the memory limit was reached", "explored completely up to", "--memory"] {
        assert!(run.stdout.contains(part), "{part}: {}", run.stdout);
    }
    assert_eq!(run.stderr, "");
}

#[test]
fn no_memory_at_all_is_a_clean_unknown() {
    expect_unknown(&document(&Room::new(), "verify heights.cpds --memory 1B", 3), "memory-limit");
}

#[cfg(target_os = "linux")]
mod signals {
    use std::process::{Child, Command, Stdio};

    use super::*;
    use crate::Run;
    use crate::json::check;

    /// Processor time in clock ticks (of 10 ms) after which a run is well under way.
    const UNDER_WAY: u64 = 20;

    fn wait_until_under_way(child: &Child) {
        let start = Instant::now();
        while ticks(child.id()).is_none_or(|ticks| ticks < UNDER_WAY) {
            assert!(start.elapsed() < PATIENCE, "the run does not get going");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The processor time that a process has used in its own code: the 12th field after the name, which is in brackets.
    fn ticks(id: u32) -> Option<u64> {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(11)?.parse().ok()
    }

    fn interrupted(line: &str, signal: &str) -> Run {
        let room = Room::new();
        let child = room.command(line).spawn().unwrap();
        wait_until_under_way(&child);
        let kill = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        Run::from(child.wait_with_output().unwrap())
    }

    #[test]
    fn an_interrupt_ends_with_the_bound_reached() {
        for signal in ["INT", "TERM"] {
            let run = interrupted("verify heights.cpds --engine contexts --timeout 300s --format json", signal);
            assert_eq!((run.code, run.stderr.as_str()), (Some(3), ""), "{signal}: {}", run.stdout);
            let document: Value = serde_json::from_str(&run.stdout).unwrap();
            check("verify heights.cpds", &document);
            expect_unknown(&document, "interrupted");
            expect_some_bound(&document);
        }
    }

    /// On a terminal, which echoes the key, maybe in the middle of a line that is being drawn: the line is cleared as a whole,
    /// and nothing of it is left above the report.
    #[test]
    fn an_interrupt_clears_the_progress() {
        use std::io::{Read as _, Write as _};
        let room = Room::new();
        let command = format!("'{}' verify heights.cpds --engine contexts --timeout 300s", env!("CARGO_BIN_EXE_tepui"));
        let mut script = Command::new("script");
        script.args(["-qc", &command, "/dev/null"]).current_dir(room.folder.path()).env("TERM", "xterm");
        let Ok(mut child) = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() else { return };
        let (mut keyboard, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (mut shown, mut buffer) = (Vec::new(), [0; 4096]);
        let is_under_way = |shown: &[u8]| String::from_utf8_lossy(shown).matches("images/s").count() > 3;
        while !is_under_way(&shown) {
            let read = screen.read(&mut buffer).unwrap();
            assert!(read > 0, "no progress: {:?}", String::from_utf8_lossy(&shown));
            shown.extend(&buffer[..read]);
        }
        keyboard.write_all(&[3]).unwrap();
        screen.read_to_end(&mut shown).unwrap();
        child.wait().unwrap();
        let shown = String::from_utf8_lossy(&shown);
        let (_, after) = shown.split_once("^C").unwrap_or_else(|| panic!("no echo: {shown:?}"));
        let (cleared, report) = after.split_once("UNKNOWN").unwrap();
        let colours = cleared.rfind("\u{1b}[2K").unwrap_or_else(|| panic!("nothing is cleared: {shown:?}"));
        assert!(!cleared[colours..].contains("images/s"), "{shown:?}");
        assert!(!report.contains("images/s"), "{shown:?}");
    }

    #[test]
    fn an_interrupt_is_explained() {
        let run = interrupted("explore words.cpds --bound 1000000 --timeout 300s", "INT");
        assert_eq!(run.code, Some(3), "{}", run.stdout);
        for part in ["UNKNOWN  words.cpds", "interrupted", "explored completely up to"] {
            assert!(run.stdout.contains(part), "{part}: {}", run.stdout);
        }
    }
}

//! Sequential programs in other languages, run or judged by other tools, compared with executions one by one.
//!
//! C is compiled with a harness that tries all choices. CBMC and Boogie are asked where they are installed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use fastrand::Rng;
use tepui::{Problem, SequentialForm};
use tepui_tests::random_tasks::{Shape, tasks};

use super::sequential::depth_first;
use super::{program, programs};

/// Tries all choices, one after the other, and prints what fails.
const HARNESS: &str = r#"
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
static jmp_buf out;
static int tape[200], length, at, cut;
static const char *failed[100];
static int failures;
int program(void);
int nondet_int(void) {
  if (at == length) {
    if (length == 200) { cut = 1; longjmp(out, 1); }
    tape[length++] = 0;
  }
  return tape[at++];
}
void __CPROVER_assume(int c) { if (!c) longjmp(out, 1); }
void __CPROVER_assert(int c, const char *name) {
  if (c) return;
  for (int i = 0; i < failures; i++) if (!strcmp(failed[i], name)) longjmp(out, 1);
  failed[failures++] = name;
  longjmp(out, 1);
}
int main(void) {
  for (long runs = 0; ; runs++) {
    if (runs == 3000000) { cut = 1; break; }
    at = 0;
    if (!setjmp(out)) program();
    length = at;
    while (length > 0 && tape[length - 1] == 2) length--;
    if (length == 0) break;
    tape[length - 1]++;
  }
  for (int i = 0; i < failures; i++) puts(failed[i]);
  return cut;
}
"#;

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Whether a tool is there.
fn has(tool: &str) -> bool {
    let found =
        Command::new(tool).arg("--version").output().is_ok() || Command::new(tool).arg("/help").output().is_ok();
    if !found {
        println!("skipped: there is no {tool}");
    }
    found
}

/// What a random program violates with some delays, and the sequential program in another language.
fn sequential(seed: u64, delays: u32, form: SequentialForm) -> Option<(BTreeSet<String>, String, String)> {
    let shape = Shape {
        yields: !seed.is_multiple_of(4),
        waits: seed.is_multiple_of(3),
        recursion: false,
        asserts: true,
        endless: false,
        values: 2,
    };
    let text = tasks(&mut Rng::with_seed(seed), shape);
    let source = program(&text);
    let expected = depth_first(&source, delays);
    let violated = expected.violated.keys().filter(|name| name.contains('@'));
    let violated = violated.map(|name| name.replace('@', " at line ")).collect();
    let printed = Problem::from(source).sequential(delays, form).unwrap().text;
    expected.complete.then_some((violated, printed, text))
}

/// What a compiled program does, with all choices, is what executions do.
#[test]
fn c_does_the_same() {
    if !has("cc") {
        return;
    }
    let folder = folder("c");
    std::fs::write(folder.join("harness.c"), HARNESS).unwrap();
    let (mut compared, mut unsafe_ones) = (0, 0);
    for seed in 0..programs(24) {
        let delays = u32::from(seed % 3 == 0);
        let Some((violated, printed, text)) = sequential(seed, delays, SequentialForm::C) else { continue };
        std::fs::write(folder.join("program.c"), printed).unwrap();
        let files = ["-Dmain=program", "-c", "program.c"];
        let compiled = Command::new("cc").current_dir(&folder).args(["-O1", "-w"]).args(files).status().unwrap();
        assert!(compiled.success(), "seed {seed}\n{text}");
        let files = ["-o", "run", "harness.c", "program.o"];
        assert!(Command::new("cc").current_dir(&folder).args(["-O1", "-w"]).args(files).status().unwrap().success());
        let ran = Command::new(folder.join("run")).output().unwrap();
        let found: BTreeSet<_> = String::from_utf8(ran.stdout).unwrap().lines().map(str::to_owned).collect();
        assert!(found.is_subset(&violated), "seed {seed}, {delays} delays: {found:?} and {violated:?}\n{text}");
        if ran.status.success() {
            assert_eq!(found, violated, "seed {seed}, {delays} delays\n{text}");
            (compared, unsafe_ones) = (compared + 1, unsafe_ones + usize::from(!violated.is_empty()));
        }
    }
    println!("{compared} compared, {unsafe_ones} violated");
    assert!(compared > 8 && unsafe_ones > 1, "{compared} {unsafe_ones}");
}

/// Another tool that finds a failure or not.
fn agrees(form: SequentialForm, file: &str, count: u64, fails: impl Fn(&Path) -> bool) {
    let path = folder("judged").join(file);
    let (mut compared, mut unsafe_ones) = (0, 0);
    for seed in 0..programs(count) {
        let delays = u32::from(seed % 3 == 0);
        let Some((violated, printed, text)) = sequential(seed, delays, form) else { continue };
        std::fs::write(&path, printed).unwrap();
        assert_eq!(fails(&path), !violated.is_empty(), "seed {seed}, {delays} delays\n{text}");
        (compared, unsafe_ones) = (compared + 1, unsafe_ones + usize::from(!violated.is_empty()));
    }
    println!("{compared} compared, {unsafe_ones} violated");
}

#[test]
fn cbmc_agrees() {
    if has("cbmc") {
        agrees(SequentialForm::C, "program.c", 20, |path| {
            let ran = Command::new("cbmc").args(["--unwind", "6"]).arg(path).output().unwrap();
            let text = String::from_utf8_lossy(&ran.stdout).into_owned();
            assert!(text.contains("VERIFICATION"), "{text}");
            text.contains("VERIFICATION FAILED")
        });
    }
}

#[test]
fn boogie_agrees() {
    if has("boogie") {
        agrees(SequentialForm::Boogie, "program.bpl", 8, |path| {
            let ran = Command::new("boogie").arg("/loopUnroll:6").arg(path).output().unwrap();
            let text = String::from_utf8_lossy(&ran.stdout).into_owned();
            assert!(text.contains("finished with"), "{text}");
            !text.contains(" 0 errors")
        });
    }
}

//! The rules of ARCHITECTURE.md that types cannot enforce.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// All crates of the workspace that a crate needs, directly or not, outside its tests.
fn depends_on(package: &str) -> Vec<String> {
    let arguments = ["tree", "--package", package, "--edges", "normal,build", "--prefix", "none", "--offline"];
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let names = String::from_utf8(output.stdout).unwrap();
    let names = names.lines().filter_map(|line| line.split(' ').next()).filter(|name| name.starts_with("tepui"));
    names.filter(|&name| name != package).map(str::to_owned).collect()
}

fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push((path.clone(), fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found
}

#[test]
fn the_checker_depends_on_the_model_and_the_vocabulary_only() {
    let mut needs = depends_on("tepui-check");
    needs.sort();
    needs.dedup();
    assert_eq!(needs, ["tepui-cert", "tepui-model"]);
}

#[test]
fn the_library_is_small() {
    let arguments = ["tree", "--package", "tepui", "--edges", "normal,no-proc-macro", "--prefix", "none", "--offline"];
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut crates: Vec<_> = text.lines().map(|line| line.trim_end_matches(" (*)")).collect();
    crates.sort_unstable();
    crates.dedup();
    assert!((5..30).contains(&crates.len()), "{crates:?}");
}

#[test]
fn engines_know_no_language_and_no_checker() {
    for forbidden in ["tepui-lang", "tepui-check", "tepui-report", "tepui"] {
        assert!(!depends_on("tepui-engines").iter().any(|name| name == forbidden), "{forbidden}");
    }
}

#[test]
fn the_loop_over_bounds_exists_once() {
    let loops: Vec<_> = sources("crates").into_iter().filter(|(_, text)| text.contains(".explore(")).collect();
    let mut files: Vec<_> = loops.iter().map(|(path, _)| path.file_name().unwrap().to_str().unwrap()).collect();
    files.sort_unstable();
    // The others are engines around engines: they pass the question on.
    assert_eq!(
        files,
        [
            "contract.rs",
            "creating.rs",
            "decorator.rs",
            "driver.rs",
            "engine.rs",
            "growing.rs",
            "portfolio.rs",
            "workers.rs"
        ]
    );
    // Engines are driven by the facade, and by nothing else.
    let product = |text: &String| text.split("#[cfg(test)]").next().unwrap().contains("drive(&mut");
    let drivers = sources("crates").into_iter().filter(|(_, text)| product(text));
    for (path, _) in drivers {
        assert!(path.starts_with(root().join("crates/tepui/src")), "{}", path.display());
    }
}

#[test]
fn only_the_binary_touches_the_world() {
    let worldly = ["std::fs", "std::env", "std::process", "println!", "eprintln!", "stdout()", "stderr()"];
    for (path, text) in sources("crates") {
        let place = path.strip_prefix(root()).unwrap().display().to_string();
        if place.starts_with("crates/tepui-cli/")
            || place.starts_with("crates/tepui-bench/")
            || place.contains("/tests/")
        {
            continue;
        }
        let product = code(&text);
        for word in worldly {
            assert!(!product.contains(word), "{place} mentions {word}");
        }
    }
}

/// The list of kinds: the names of their variants and of their modules.
fn kinds() -> Vec<(String, String)> {
    let model = read("crates/tepui-model/src/lib.rs");
    let list = model.split("$each! {").nth(1).and_then(|rest| rest.split('}').next()).unwrap();
    let kinds = list.split(',').map(|kind| kind.split_once("=>").unwrap());
    kinds.map(|(variant, module)| (variant.trim().to_owned(), module.trim().to_owned())).collect()
}

/// The code of a file: without comments, tests and what stands between quotes.
fn code(text: &str) -> String {
    let product = text.split("#[cfg(test)]").next().unwrap();
    let lines = product.lines().map(|line| line.split("//").next().unwrap());
    let quoted = |line: &str| line.split('"').step_by(2).collect::<Vec<_>>().join("\"\"");
    lines.map(|line| quoted(line) + "\n").collect()
}

/// Whether a kind is named: by its variant, or by a path through its module.
fn names_a_kind(code: &str, (variant, module): &(String, String)) -> bool {
    let words: Vec<&str> = code.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let path = [format!("{module}::"), format!("::{module};"), format!("::{module}}}"), format!("::{module},")];
    words.contains(&variant.as_str()) || path.iter().any(|path| code.contains(path))
}

#[test]
fn only_kinds_name_kinds() {
    let folders = ["crates/tepui-cli/src", "crates/tepui-report/src", "crates/tepui-core/src", "crates/tepui/src"];
    assert!(kinds().len() >= 3, "{:?}", kinds());
    for (path, text) in folders.into_iter().flat_map(sources) {
        let place = path.strip_prefix(root()).unwrap();
        if place.starts_with("crates/tepui/src/kinds") {
            continue;
        }
        for kind in kinds() {
            assert!(!names_a_kind(&code(&text), &kind), "{} names {kind:?}", place.display());
        }
    }
}

#[test]
fn names_of_kinds_are_recognized() {
    let kind = ("Queue".to_owned(), "queue".to_owned());
    for text in ["Model::Queue(model)", "use tepui_model::queue::Model;", "use tepui_model::queue;"] {
        assert!(names_a_kind(&code(text), &kind), "{text}");
    }
    for text in ["// a Queue", "let queue = 1;", "let text = \"Queue\";", "struct Queued;"] {
        assert!(!names_a_kind(&code(text), &kind), "{text}");
    }
}

/// Whoever looks at evidence of one kind and at all others together would not notice a new kind.
#[test]
fn no_arm_is_for_all_other_kinds() {
    for (path, text) in sources("crates") {
        let lines: Vec<&str> = text.lines().collect();
        let indentation = |line: &str| line.len() - line.trim_start().len();
        let is_arm = |line: &str| {
            let enums = ["Certificate::", "Trace::"].into_iter();
            let mut arms =
                enums.flat_map(|own| kinds().into_iter().map(move |(variant, _)| format!("{own}{variant}(")));
            line.contains("=>") && arms.any(|arm| line.trim_start().starts_with(&arm))
        };
        for (number, line) in lines.iter().enumerate().filter(|(_, line)| is_arm(line)) {
            let rest = lines[number + 1..].iter().take_while(|next| indentation(next) >= indentation(line));
            let wild = |next: &&&str| indentation(next) == indentation(line) && next.trim_start().starts_with("_ ");
            assert!(rest.filter(wild).count() == 0, "{}:{}", path.display(), number + 1);
        }
    }
}

#[test]
fn every_path_that_the_map_names_exists() {
    let map = read("ARCHITECTURE.md");
    let quoted = map.split('`').skip(1).step_by(2);
    let paths: Vec<_> = quoted.filter(|text| looks_like_a_path(text)).collect();
    assert!(paths.len() > 20, "only {} paths were recognized", paths.len());
    for path in paths {
        assert!(root().join(path).exists(), "ARCHITECTURE.md names {path}, which does not exist");
    }
}

fn looks_like_a_path(text: &str) -> bool {
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
    plain && (text.contains('/') || [".md", ".rs", ".toml"].iter().any(|end| text.ends_with(end)))
}

/// The semantics of programs.
const SEMANTICS: &[&str] = &[
    "crates/tepui-model/src/program/mod.rs",
    "crates/tepui-model/src/program/data.rs",
    "crates/tepui-model/src/program/flow.rs",
    "crates/tepui-model/src/program/intervals.rs",
    "crates/tepui-model/src/program/property.rs",
    "crates/tepui-model/src/program/step.rs",
    "crates/tepui-model/src/program/step",
];

/// What every proof about threads of a program rests on, besides.
const OF_THREADS: &[&str] = &[
    "crates/tepui-cert/src/program/mod.rs",
    "crates/tepui-check/src/lib.rs",
    "crates/tepui-check/src/system.rs",
    "crates/tepui-check/src/program/avoids.rs",
    "crates/tepui-check/src/program/mod.rs",
    "crates/tepui-check/src/program/passing.rs",
    "crates/tepui-check/src/program/start.rs",
    "crates/tepui-check/src/program/system.rs",
    "crates/tepui-check/src/program/tables.rs",
];

/// A kind of proof, the most lines, and where they are.
type Trusted = (&'static str, usize, &'static [&'static [&'static str]], &'static [&'static str]);

/// What has to be believed of one kind of proof about one kind of model: the semantics, the form of its certificates, the
/// checker. Their text does not: what is judged is what was read, and a proof that is misread is judged as the proof that it has
/// become. Nor do digests, since all that a certificate mentions is held against the model at hand, nor what things are
/// called, nor what is said to people when a proof is refused, nor what traces are replayed with.
const TRUSTED: &[Trusted] = &[
    (
        "programs, by views",
        3_500,
        &[SEMANTICS, OF_THREADS],
        &[
            "crates/tepui-check/src/program/footprints.rs",
            "crates/tepui-cert/src/pushdown/lemma.rs",
            "crates/tepui-cert/src/pushdown/rows.rs",
            "crates/tepui-check/src/lemma",
        ],
    ),
    (
        "programs, by regular sets",
        3_000,
        &[SEMANTICS, OF_THREADS],
        &[
            "crates/tepui-check/src/program/rows.rs",
            "crates/tepui-cert/src/pushdown/regular.rs",
            "crates/tepui-cert/src/pushdown/rows.rs",
            "crates/tepui-check/src/regular.rs",
        ],
    ),
    (
        "programs, any number of threads",
        4_500,
        &[SEMANTICS, OF_THREADS],
        &[
            "crates/tepui-cert/src/program/crowd.rs",
            "crates/tepui-check/src/program/crowd.rs",
            "crates/tepui-cert/src/pushdown/lemma.rs",
            "crates/tepui-cert/src/pushdown/rows.rs",
            "crates/tepui-check/src/lemma",
            "crates/tepui-model/src/counters",
            "crates/tepui-cert/src/counters/mod.rs",
            "crates/tepui-check/src/counters",
        ],
    ),
    (
        "programs, tasks",
        3_000,
        &[SEMANTICS],
        &[
            "crates/tepui-model/src/program/tasks.rs",
            "crates/tepui-cert/src/program/mod.rs",
            "crates/tepui-cert/src/program/tasks.rs",
            "crates/tepui-cert/src/pushdown/rows.rs",
            "crates/tepui-check/src/lib.rs",
            "crates/tepui-check/src/program/mod.rs",
            "crates/tepui-check/src/program/tables.rs",
            "crates/tepui-check/src/program/tasks.rs",
        ],
    ),
    (
        "pushdown",
        3_000,
        &[],
        &[
            "crates/tepui-model/src/pushdown.rs",
            "crates/tepui-cert/src/pushdown/certificate.rs",
            "crates/tepui-cert/src/pushdown/lemma.rs",
            "crates/tepui-cert/src/pushdown/rows.rs",
            "crates/tepui-cert/src/pushdown/regular.rs",
            "crates/tepui-check/src/lib.rs",
            "crates/tepui-check/src/system.rs",
            "crates/tepui-check/src/lemma",
            "crates/tepui-check/src/regular.rs",
            "crates/tepui-check/src/pushdown",
        ],
    ),
    (
        "rendezvous",
        3_000,
        &[],
        &[
            "crates/tepui-model/src/rendezvous",
            "crates/tepui-cert/src/pushdown/lemma.rs",
            "crates/tepui-cert/src/pushdown/rows.rs",
            "crates/tepui-cert/src/rendezvous/mod.rs",
            "crates/tepui-cert/src/rendezvous/languages.rs",
            "crates/tepui-cert/src/rendezvous/views.rs",
            "crates/tepui-check/src/lib.rs",
            "crates/tepui-check/src/system.rs",
            "crates/tepui-check/src/lemma",
            "crates/tepui-check/src/rendezvous",
        ],
    ),
    (
        "queues",
        4_250,
        &[],
        &[
            "crates/tepui-model/src/queue",
            "crates/tepui-cert/src/queue/mod.rs",
            "crates/tepui-cert/src/queue/language.rs",
            "crates/tepui-check/src/lib.rs",
            "crates/tepui-check/src/queue",
        ],
    ),
    (
        "counters",
        1_000,
        &[],
        &[
            "crates/tepui-model/src/counters",
            "crates/tepui-cert/src/counters/mod.rs",
            "crates/tepui-check/src/lib.rs",
            "crates/tepui-check/src/counters",
        ],
    ),
];

/// What nobody has to believe, in folders of the others.
const NOT_BELIEVED: &[&str] = &["show.rs", "replay.rs"];

/// Lines that say something to the compiler.
fn lines_of_code(text: &str) -> usize {
    let product = text.split("#[cfg(test)]").next().unwrap_or_default();
    product.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

#[test]
fn little_has_to_be_believed() {
    for (kind, most, common, places) in TRUSTED {
        let mut lines = 0;
        for place in common.iter().copied().flatten().chain(*places) {
            let believed = |(path, _): &(PathBuf, String)| !NOT_BELIEVED.iter().any(|name| path.ends_with(name));
            lines += match root().join(place).is_dir() {
                true => sources(place).iter().filter(|file| believed(file)).map(|(_, text)| lines_of_code(text)).sum(),
                false => lines_of_code(&read(place)),
            };
        }
        println!("{kind}: {lines} lines");
        assert!(lines < *most, "{kind}: {lines} lines have to be believed");
    }
}

#[test]
fn files_are_short() {
    for (path, text) in ["crates", "tests"].into_iter().flat_map(sources) {
        let lines = text.lines().count();
        assert!(lines < 600, "{} has {lines} lines", path.display());
    }
}

//! The JSON of `verify` and `explore`: the names that programs rely on, and what stands under them.

use serde_json::Value;

use crate::Room;

/// A name of the contract, what may stand under it, and that in words.
type Field = (&'static str, fn(&Value) -> bool, &'static str);

const DOCUMENT: &[Field] = &[
    ("tepui_version", |value| value == env!("CARGO_PKG_VERSION"), "the version"),
    ("file", Value::is_string, "a string"),
    ("model_digest", |value| value.is_null() || is_digest(value), "nothing, or 64 hexadecimal digits"),
    ("verdict", |value| ["safe", "unsafe", "unknown"].iter().any(|word| value == word), "a verdict"),
    ("reason", |value| value.is_null() || holds(value, REASON), "nothing, or a reason"),
    ("engine", is_engine, "an engine"),
    ("resource", |value| ["contexts", "symbols", "rounds and delays"].iter().any(|word| value == word), "a resource"),
    ("cutoff", |value| value.is_null() || is_bound(value), "nothing, or a bound"),
    ("bound_reached", |value| value.is_null() || is_bound(value), "nothing, or a bound"),
    ("views", Value::is_u64, "a number"),
    ("view_depth", is_number_or_null, "nothing, or a number"),
    ("states", Value::is_u64, "a number"),
    ("steps", Value::is_u64, "a number"),
    ("seconds", is_seconds, "seconds"),
    ("bytes_per_state", |value| value.is_null() || value.is_f64(), "nothing, or a number"),
    ("obstacles", Value::is_array, "a list"),
    ("violating_views", Value::is_array, "a list"),
    ("peak_memory_bytes", |value| value.as_u64().is_some_and(|bytes| bytes > 0), "a positive number"),
    ("self_checked", Value::is_boolean, "true or false"),
    ("trace", is_string_or_null, "nothing, or a path"),
    ("certificate", is_string_or_null, "nothing, or a path"),
    ("properties", |value| is_list_of(value, PROPERTY), "a list of properties"),
    ("iterations", |value| is_list_of(value, ITERATION), "a list of iterations"),
];

const REASON: &[Field] = &[("kind", Value::is_string, "a word"), ("message", Value::is_string, "a sentence")];

const PROPERTY: &[Field] = &[("name", Value::is_string, "a name"), ("verdict", Value::is_string, "a verdict")];

const ITERATION: &[Field] = &[
    ("bound", is_bound, "a bound"),
    ("open", Value::is_u64, "a number"),
    ("states", Value::is_u64, "a number"),
    ("new_states", Value::is_u64, "a number"),
    ("views", Value::is_u64, "a number"),
    ("new_views", Value::is_u64, "a number"),
    ("steps", Value::is_u64, "a number"),
    ("seconds", is_seconds, "seconds"),
    ("tested", Value::is_boolean, "true or false"),
    ("complete", Value::is_boolean, "true or false"),
];

const STEP: &[Field] = &[
    ("thread", Value::is_string, "a name"),
    ("rule", Value::is_string, "a rule"),
    ("line", Value::is_u64, "a line"),
    ("state", Value::is_string, "a state"),
];

fn is_digest(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn is_engine(value: &Value) -> bool {
    value.as_str().is_some_and(|name| name.starts_with("contexts") || ["closure", "delays", "none"].contains(&name))
}

/// A number, or an object of numbers.
fn is_bound(value: &Value) -> bool {
    value.is_u64() || value.as_object().is_some_and(|parts| parts.len() == 2 && parts.values().all(Value::is_u64))
}

fn is_seconds(value: &Value) -> bool {
    value.as_f64().is_some_and(|seconds| seconds >= 0.0)
}

fn is_number_or_null(value: &Value) -> bool {
    value.is_null() || value.is_u64()
}

fn is_string_or_null(value: &Value) -> bool {
    value.is_null() || value.is_string()
}

fn holds(value: &Value, fields: &[Field]) -> bool {
    fields.iter().all(|(name, is_right, _)| value.get(name).is_some_and(is_right))
}

fn is_list_of(value: &Value, fields: &[Field]) -> bool {
    value.as_array().is_some_and(|list| list.iter().all(|entry| holds(entry, fields)))
}

/// Runs a line, and reads its document, which must keep the contract.
#[track_caller]
pub(crate) fn document(room: &Room, line: &str, code: i32) -> Value {
    let run = room.expect(&format!("{line} --format json"), code);
    let document: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{line}: {error}"));
    check(line, &document);
    document
}

/// Checks a document against the contract.
#[track_caller]
pub(crate) fn check(line: &str, document: &Value) {
    for (name, is_right, words) in DOCUMENT {
        let value = document.get(name).unwrap_or_else(|| panic!("{line}: {name} is missing"));
        assert!(is_right(value), "{line}: {name} should be {words}, not {value}");
    }
    assert!(document["model_digest"].is_string() || document["engine"] == "none", "{line}: {document}");
    let unknown = properties(document).iter().any(|property| property["verdict"] == "unknown");
    assert_eq!(!document["reason"].is_null(), unknown, "{line}: there is a reason if and only if something is unknown");
    check_iterations(line, document);
}

/// Records go by bounds. Those of a long plateau may be thinned out, so that states are found between two of them.
#[track_caller]
fn check_iterations(line: &str, document: &Value) {
    let list = document["iterations"].as_array().unwrap();
    let number = |iteration: &Value, name: &str| iteration[name].as_u64().unwrap();
    let bound = |iteration: &Value| -> Vec<u64> {
        match &iteration["bound"] {
            Value::Object(parts) => ["rounds", "delays"].map(|name| parts[name].as_u64().unwrap()).to_vec(),
            number => vec![number.as_u64().unwrap()],
        }
    };
    let counts = document["resource"] != "symbols";
    assert!(!counts || list.first().is_none_or(|first| bound(first)[0] == 0), "{line}: the first bound is 0");
    for (before, after) in list.iter().zip(list.iter().skip(1)) {
        let growth = |name: &str| number(after, name) - number(before, name);
        let step: u64 = bound(after).iter().zip(bound(before)).map(|(after, before)| after - before).sum();
        assert!(step > 0 || !counts, "{line}: bounds ascend");
        assert_eq!(growth("views"), number(after, "new_views"), "{line}: {after}");
        match step {
            1 => assert_eq!(growth("states"), number(after, "new_states"), "{line}: {after}"),
            _ => assert!(growth("states") >= number(after, "new_states"), "{line}: {after}"),
        }
    }
    for name in ["states", "views", "steps"] {
        assert_eq!(number(document, name), list.last().map_or(0, |last| number(last, name)), "{line}: {name}");
    }
}

fn properties(document: &Value) -> &[Value] {
    document["properties"].as_array().unwrap()
}

/// A line, its exit status, and fields of its document.
type Case = (&'static str, i32, &'static [(&'static str, &'static str)]);

const CASES: &[Case] = &[
    (
        "verify lock.cpds",
        0,
        &[
            ("/verdict", r#""safe""#),
            ("/file", r#""lock.cpds""#),
            ("/reason", "null"),
            ("/engine", r#""closure""#),
            ("/resource", r#""symbols""#),
            ("/cutoff", "null"),
            ("/bound_reached", "1"),
            ("/views", "7"),
            ("/view_depth", "1"),
            ("/obstacles", "[]"),
            ("/self_checked", "false"),
            ("/trace", "null"),
            ("/certificate", "null"),
            ("/properties", r#"[{"name":"both-work","verdict":"safe"},{"name":"both-leave","verdict":"safe"}]"#),
        ],
    ),
    (
        "verify lock.cpds --certificate x.cert --trace x.trace --self-check",
        0,
        &[("/certificate", r#""x.cert""#), ("/trace", "null"), ("/self_checked", "true")],
    ),
    (
        "verify mixed.cpds --property server-gone --engine contexts-symbolic --z-depth 4",
        0,
        &[("/engine", r#""contexts-symbolic""#), ("/cutoff", "3"), ("/view_depth", "null"), ("/views", "5")],
    ),
    (
        "verify lock.cpds --engine contexts-explicit --no-symmetry",
        0,
        &[
            ("/engine", r#""contexts-explicit""#),
            ("/cutoff", "1"),
            ("/bound_reached", "2"),
            ("/views", "7"),
            ("/states", "7"),
        ],
    ),
    ("verify lock.cpds --minimal", 0, &[("/resource", r#""contexts""#), ("/cutoff", "1"), ("/views", "7")]),
    (
        "verify lock.cpds --minimal=delays",
        0,
        &[("/engine", r#""delays""#), ("/resource", r#""rounds and delays""#), ("/views", "7")],
    ),
    (
        "verify race.cpds --engine delays",
        1,
        &[("/properties/0/bound/rounds", "2"), ("/properties/0/contexts", "4"), ("/engine", r#""delays""#)],
    ),
    (
        "explore race.cpds --rounds 2 --delays 0",
        1,
        &[("/engine", r#""delays""#), ("/violating_views", r#"["set|critical,critical"]"#)],
    ),
    ("verify open.cpds --all-views", 0, &[("/verdict", r#""safe""#), ("/views", "2")]),
    ("verify open.cpds", 3, &[("/verdict", r#""unknown""#), ("/reason/kind", r#""nothing-to-prove""#)]),
    ("verify race.cpds --all-views", 0, &[("/verdict", r#""safe""#), ("/views", "13")]),
    (
        "verify race.cpds --trace y.trace --certificate y.cert --minimal",
        1,
        &[
            ("/verdict", r#""unsafe""#),
            ("/reason", "null"),
            ("/cutoff", "null"),
            ("/view_depth", "null"),
            ("/trace", r#""y.trace""#),
            ("/certificate", "null"),
            ("/properties/0/name", r#""both-critical""#),
            ("/properties/0/verdict", r#""unsafe""#),
            ("/properties/0/bound", "3"),
            ("/properties/0/contexts", "3"),
            ("/properties/0/start", r#""clear|test,test""#),
        ],
    ),
    (
        "verify mixed.cpds --trace z.trace --certificate z.cert --engine contexts",
        1,
        &[
            ("/verdict", r#""unsafe""#),
            ("/cutoff", "3"),
            ("/trace", r#""z.trace""#),
            ("/certificate", r#""z.cert""#),
            ("/properties/0/verdict", r#""safe""#),
            ("/properties/1/verdict", r#""unsafe""#),
        ],
    ),
    (
        "verify race.cpds --bound-limit 2 --engine contexts",
        3,
        &[
            ("/verdict", r#""unknown""#),
            ("/reason/kind", r#""bound-limit""#),
            ("/cutoff", "null"),
            ("/bound_reached", "2"),
            ("/view_depth", "null"),
            ("/properties/0/reason/kind", r#""bound-limit""#),
        ],
    ),
    (
        "verify mixed.cpds --bound-limit 1 --engine contexts",
        3,
        &[("/verdict", r#""unknown""#), ("/reason/kind", r#""bound-limit""#), ("/bound_reached", "1")],
    ),
    (
        "verify mixed.cpds --engine contexts-states",
        3,
        &[
            ("/verdict", r#""unknown""#),
            ("/engine", r#""contexts-states""#),
            ("/reason/kind", r#""not-applicable""#),
            ("/bound_reached", "null"),
            ("/iterations", "[]"),
        ],
    ),
    (
        "verify mixed.cpds --engine contexts-views",
        3,
        &[("/engine", r#""contexts-views""#), ("/reason/kind", r#""not-applicable""#)],
    ),
    (
        "explore lock.cpds --bound 4",
        3,
        &[("/verdict", r#""unknown""#), ("/reason/kind", r#""bound-limit""#), ("/bound_reached", "4")],
    ),
    ("explore race.cpds --bound 3", 1, &[("/verdict", r#""unsafe""#), ("/properties/0/bound", "3")]),
];

#[test]
fn documents_keep_the_contract() {
    let room = Room::new();
    for &(line, code, expected) in CASES {
        let document = document(&room, line, code);
        for &(pointer, value) in expected {
            let found = document.pointer(pointer).map(Value::to_string);
            assert_eq!(found.as_deref(), Some(value), "tepui {line}: {pointer}");
        }
    }
}

#[test]
fn the_paths_in_a_document_are_those_of_files() {
    let room = Room::new();
    for &(line, code, _) in CASES {
        let document = document(&room, line, code);
        for name in ["trace", "certificate"] {
            assert!(document[name].as_str().is_none_or(|path| room.path(path).is_file()), "tepui {line}: {name}");
        }
    }
}

#[test]
fn a_violation_comes_with_its_steps() {
    let document = document(&Room::new(), "verify race.cpds --engine contexts", 1);
    let steps = &properties(&document)[0]["steps"];
    assert!(is_list_of(steps, STEP), "{steps}");
    let shown: Vec<_> = steps.as_array().unwrap().iter().map(|step| step["state"].as_str().unwrap()).collect();
    assert_eq!(shown, ["clear|take,test", "clear|take,take", "set|take,critical", "set|critical,critical"]);
}

#[test]
fn the_digest_is_that_of_show_and_of_nothing_else() {
    let room = Room::new();
    let shown = |line: &str| {
        let run = room.expect(&format!("show {line} --format json"), 0);
        serde_json::from_str::<Value>(&run.stdout).unwrap()["model_digest"].clone()
    };
    let verified = document(&room, "verify lock.cpds", 0)["model_digest"].clone();
    assert_eq!(shown("lock.cpds"), verified);
    assert_eq!(shown("lock.cpds --target 'free|*,*'"), verified, "properties are no part of the model");
    assert_ne!(shown("lock.cpds --init 'held|work,idle'"), verified);
    assert_ne!(shown("race.cpds"), verified);
}

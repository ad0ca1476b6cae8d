//! Inputs that speak to the terminal: wherever they put their control characters, none comes out, neither in a pipe nor on
//! a terminal. What comes out besides text are the tool's own colours.

use std::process::{Command, Stdio};

use crate::Room;

/// Something for every kind of terminal: cursor and colour sequences, a title, a bare carriage return, a backspace, the
/// one-character form of the sequences, and marks that turn the order of characters around.
const POISON: &str =
    "\u{1b}[2K\u{1b}[1;32mSAFE\u{1b}[0m\r\u{1b}]0;title\u{7}\u{8}\u{7f}\u{9b}31m\u{85}\u{202e}\u{2066}\u{200f}";

/// Characters that no reader may get to see, once colours and line ends are taken away.
fn is_harmful(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text without the colours that reports have: bold, dim and the eight colours, also bright, alone or together.
fn without_colours(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let numbers = piece.find(|c: char| !c.is_ascii_digit() && c != ';');
        match numbers.map(|end| (&piece[..end], &piece[end..])) {
            Some((_, rest)) if rest.starts_with('m') => out += &rest[1..],
            _ => out += &format!("\u{1b}[{piece}"),
        }
    }
    out
}

#[track_caller]
fn expect_harmless(line: &str, way: &str, output: &str) {
    let rest = without_colours(&output.replace("\r\n", "\n"));
    let found = rest.chars().find(|&c| is_harmful(c) && c != '\n');
    assert_eq!(found, None, "tepui {line}, {way}: {output:?}");
    // What the input says about the verdict is never in the tool's own colours.
    assert!(!output.contains("\u{1b}[1;32mSAFE"), "tepui {line}, {way}: {output:?}");
}

/// Runs a line in a pipe, with colours forced, and on a terminal.
#[track_caller]
fn run_everywhere(room: &Room, line: &str) -> String {
    let both = |forced: bool| {
        let mut command = room.command(line);
        if forced {
            command.env("CLICOLOR_FORCE", "1");
        }
        let output = command.output().unwrap();
        assert!(output.status.code().is_some_and(|code| code <= 3), "tepui {line}: {:?}", output.status);
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
    };
    let plain = both(false);
    assert!(!plain.contains(['\u{1b}', '\r']), "tepui {line}, in a pipe: {plain:?}");
    expect_harmless(line, "in a pipe", &plain);
    expect_harmless(line, "with colours", &both(true));
    if let Some(shown) = on_a_terminal(room, line) {
        expect_harmless(line, "on a terminal", after_progress(&shown));
    }
    plain
}

/// What is shown after the last line of progress has been cleared, if the run took so long that there was one.
fn after_progress(shown: &str) -> &str {
    let progress = ["images/s", " reading, "].iter().filter_map(|words| shown.rfind(words)).max();
    let Some(progress) = progress else { return shown };
    shown[progress..].split_once("\u{1b}[2K").map_or("", |(_, report)| report)
}

/// What a terminal gets, if there is `script` to make one.
pub(crate) fn on_a_terminal(room: &Room, line: &str) -> Option<String> {
    let quoted = |word: &String| format!("'{}'", word.replace('\'', "'\\''"));
    let words: Vec<_> = crate::words(line).iter().map(quoted).collect();
    let command = format!("'{}' {}", env!("CARGO_BIN_EXE_tepui"), words.join(" "));
    let mut script = Command::new("script");
    script.args(["-qc", &command, "/dev/null"]).current_dir(room.folder.path()).stdin(Stdio::null());
    script.env("TERM", "xterm").env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    Some(String::from_utf8(script.output().ok()?.stdout).unwrap())
}

/// The files of a kind with the poison at the start, at the end, and after each line, blank and mark.
fn poisoned(room: &Room, name: &str) -> Vec<String> {
    let text = room.read_text(name);
    let (stem, ending) = name.rsplit_once('.').unwrap();
    let places = text.char_indices().filter(|(_, c)| !c.is_ascii_alphanumeric()).map(|(place, c)| place + c.len_utf8());
    let all: Vec<_> = [0].into_iter().chain(places).collect();
    // A dozen places tell as much as all of them.
    let step = all.len().div_ceil(12).max(1);
    let chosen = all.iter().step_by(step);
    (0..)
        .zip(chosen)
        .map(|(number, &place): (usize, _)| {
            let file = format!("{stem}-{number}.{ending}");
            room.write(&file, format!("{}{POISON}{}", &text[..place], &text[place..]));
            file
        })
        .collect()
}

pub(crate) const SPADE: &str = "\
Ops seq:2 par:2 idle:0 call:0 free:0
Acts go
SPAD
call -> idle : go!
free -> idle : go?
Set init par(call, free)
Set bad par(idle, idle)
";

#[test]
fn models_with_controls_anywhere_do_no_harm() {
    let room = Room::new();
    room.write("hello.spad", SPADE);
    room.write(
        "race.bp",
        "decl s; // a comment\nvoid p() { s := 1; /* why */ L: skip; }\nvoid main() { thread p(); assert(!s); }\n",
    );
    for model in ["race.cpds", "race.bp", "begin.bp", "doors.rpds", "hello.spad", "lonely.pds"] {
        for file in poisoned(&room, model) {
            run_everywhere(&room, &format!("verify {file} --timeout 5s"));
            run_everywhere(&room, &format!("show {file}"));
            room.run(&format!("explore {file} --bound 2 --timeout 5s"));
        }
    }
}

#[test]
fn comments_with_controls_do_no_harm() {
    let room = Room::new();
    let programs = [
        ("esc.bp", room.read_text("esc.bp")),
        (
            "begin-esc.bp",
            format!("decl s; // {POISON}\nvoid main() begin s := /*{POISON}*/ 1; assert(!s /*{POISON}*/); end\n"),
        ),
    ];
    for (name, text) in programs {
        room.write(name, text);
        for line in [
            "verify",
            "verify --deadlock --stacks",
            "explore --bound 3",
            "show",
            "show --format bp",
            "show --format reduced",
        ] {
            let (command, options) = line.split_once(' ').unwrap_or((line, ""));
            let shown = run_everywhere(&room, &format!("{command} {name} {options}"));
            assert!(!shown.is_empty());
        }
        assert!(room.run(&format!("verify {name}")).stdout.contains('␛'), "{name}");
    }
    let cpds = room.read_text("race.cpds").replace('\n', &format!(" # {POISON}\n"));
    room.write("commented.cpds", cpds);
    run_everywhere(&room, "verify commented.cpds");
}

#[test]
fn companions_and_texts_with_controls_do_no_harm() {
    let room = Room::new();
    for (file, text) in [("relay.init", format!("0|1{POISON},1")), ("relay.spec", format!("{POISON}2|3,-"))] {
        let good = room.read_text(file);
        room.write(file, text);
        run_everywhere(&room, "verify relay.pds");
        room.write(file, good);
    }
    room.write("lock-bad.mch", format!("a {POISON} b\n{POISON}"));
    run_everywhere(&room, "verify lock.cpds --matching lock-bad.mch");
    for line in [
        format!("verify lock.cpds --property {POISON}"),
        format!("verify lock.cpds --target {POISON}|"),
        format!("verify lock.cpds --init 'held|{POISON}'"),
        format!("verify lock.cpds --engine {POISON}"),
        format!("verify lock.cpds {POISON}"),
        format!("verify begin.bp --label {POISON}"),
        POISON.to_owned(),
    ] {
        run_everywhere(&room, &line.replace('\0', ""));
    }
}

#[test]
fn evidence_with_controls_does_no_harm() {
    let room = Room::new();
    room.expect("verify race.cpds --trace race.trace", 1);
    room.expect("verify lock.cpds --certificate lock.cert", 0);
    room.expect(
        "verify doors.rpds --trace doors.trace --certificate doors.cert",
        room.run("verify doors.rpds").code.unwrap(),
    );
    for (evidence, line) in [("race.trace", "replay {} race.cpds"), ("lock.cert", "check {} lock.cpds")] {
        for file in poisoned(&room, evidence) {
            run_everywhere(&room, &line.replace("{}", &file));
        }
    }
    for evidence in ["doors.trace", "doors.cert"] {
        if room.path(evidence).exists() {
            let command = if evidence.ends_with("cert") { "check" } else { "replay" };
            for file in poisoned(&room, evidence) {
                run_everywhere(&room, &format!("{command} {file} doors.rpds"));
            }
        }
    }
}

/// A property whose name wipes the line and writes another verdict.
#[test]
fn a_trace_cannot_write_its_own_verdict() {
    let room = Room::new();
    room.write("server.cpds", include_str!("../../../../examples/server.cpds"));
    let shown = run_everywhere(&room, "replay fake.trace server.cpds");
    assert!(shown.starts_with("REJECTED  property ␛[G␍␛[2K"), "{shown:?}");
    assert_eq!(room.run("replay fake.trace server.cpds").code, Some(1));
}

/// The names of files come from archives and repositories that somebody else made.
#[test]
fn names_of_files_with_controls_do_no_harm() {
    let room = Room::new();
    let name = format!("{}\n", POISON.replace('/', ""));
    for ending in ["cpds", "bp", "pds", "rpds", "txt"] {
        let file = format!("{name}.{ending}");
        let like = ["race.cpds", "begin.bp", "relay.pds", "doors.rpds", "notes.txt"];
        let like = like.iter().find(|like| like.ends_with(&format!(".{ending}"))).unwrap();
        room.write(&file, room.read(like));
        for line in
            ["verify", "show", "verify --deadlock", "verify --stacks", "show --format json", "verify --format json"]
        {
            let (command, options) = line.split_once(' ').unwrap_or((line, ""));
            run_everywhere(&room, &format!("{command} '{file}' {options}"));
        }
    }
    let (model, trace) = (format!("{name}.cpds"), format!("{name}.trace"));
    let report = run_everywhere(&room, &format!("verify '{model}' --trace '{trace}' --views '{name}.views'"));
    // The command that is suggested can be pasted into a shell.
    assert!(report.contains("next: tepui replay $'\\u001b[2K"), "{report:?}");
    run_everywhere(&room, &format!("replay '{trace}' '{model}'"));
    run_everywhere(&room, &format!("check '{model}' '{model}'"));
    run_everywhere(&room, &format!("verify '{model}' --trace '{model}'"));
    run_everywhere(&room, &format!("verify 'no-{model}'"));
    run_everywhere(&room, &format!("show '{model}' --format cpds --output 'no/{model}'"));
    run_everywhere(&room, &format!("bench '{model}' --table engines --runs 1 --engine closure"));
}

#[test]
fn json_escapes_what_terminals_obey() {
    let room = Room::new();
    room.write("c1.bp", format!("decl x; void main() {{ x := /*{POISON}*/ 1; assert(!x); }}"));
    let json = run_everywhere(&room, "verify c1.bp --format json");
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    let statement = document["properties"][0]["steps"][0]["statement"].as_str().unwrap();
    assert!(statement.contains('\u{9b}') && statement.contains('\u{202e}'), "{statement:?}");
    room.expect("verify c1.bp --trace c1.json", 1);
    expect_harmless("--trace c1.json", "in a file", &room.read_text("c1.json"));
}

/// Lines that end as on Windows are lines.
#[test]
fn carriage_returns_at_line_ends_are_not_shown() {
    let room = Room::new();
    room.write("windows.bp", "decl x;\r\nvoid main() {\r\n  y := 1;\r\n  x := /* \r */ 1\r\n}\r\n");
    room.write("windows.cpds", room.read_text("broken.cpds").replace('\n', "\r\n"));
    for line in ["verify windows.bp", "verify windows.cpds", "show windows.bp"] {
        assert!(!run_everywhere(&room, line).contains("␍\n"), "{line}");
    }
}

/// The caret stands below the character that it means, and the column counts characters.
#[test]
fn carets_stay_in_place() {
    let room = Room::new();
    room.write("caret.bp", "decl x;\nvoid main() { /*\u{1b}\u{9b}\u{202e}*/ y := 1; }\n");
    let shown = run_everywhere(&room, "verify caret.bp");
    let lines: Vec<_> = shown.lines().collect();
    let source = lines.iter().position(|line| line.contains("y := 1")).unwrap_or_else(|| panic!("{shown}"));
    let column = |line: &str, mark: char| line.chars().position(|c| c == mark);
    assert_eq!(column(lines[source + 1], '^'), column(lines[source], 'y').filter(|&at| at > 0), "{shown}");
    assert!(shown.contains("caret.bp:2:23"), "{shown}");
}

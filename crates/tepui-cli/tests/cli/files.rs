//! What the tool says about itself, and the forms that it converts models between.

use crate::Room;

const COMMANDS: [&str; 10] =
    ["verify", "explore", "check", "replay", "show", "bench", "engines", "languages", "completions", "man"];

#[test]
fn every_command_has_help() {
    let room = Room::new();
    let all = room.expect("--help", 0).stdout;
    for command in COMMANDS {
        assert!(all.contains(&format!("\n  {command} ")), "{command}: {all}");
        let help = room.expect(&format!("{command} --help"), 0).stdout;
        assert!(help.contains(&format!("Usage: tepui {command}")), "{help}");
        assert_eq!(room.expect(&format!("help {command}"), 0).stdout, help);
    }
}

#[test]
fn no_command_at_all_is_answered_with_help() {
    let room = Room::new();
    let run = room.expect("", 2);
    assert!(run.stderr.contains("Usage: tepui <COMMAND>"), "{}", run.stderr);
}

#[test]
fn completions_know_commands_options_and_engines() {
    let room = Room::new();
    for (shell, mark) in [("bash", "complete -F _tepui"), ("zsh", "#compdef tepui"), ("fish", "complete -c tepui")] {
        let script = room.expect(&format!("completions {shell}"), 0).stdout;
        assert!(script.contains(mark), "{shell}");
        for word in COMMANDS.iter().chain(&["bound-limit", "certificate", "contexts-symbolic", "self-check"]) {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn there_is_a_manual_page_for_each_command() {
    let room = Room::new();
    let page = room.expect("man", 0).stdout;
    assert!(page.contains(".TH tepui 1") && page.contains("Exit status"), "{page}");
    let run = room.expect("man --dir new/folder", 0);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
    let pages = COMMANDS.map(|command| format!("tepui-{command}"));
    for name in pages.iter().map(String::as_str).chain(["tepui"]) {
        let page = room.read_text(&format!("new/folder/{name}.1"));
        assert!(page.contains(&format!(".TH {name} 1")), "{name}: {page}");
    }
    room.expect("man --dir lock.cpds", 2);
}

/// Between `.nf` and `.fi` lines are not joined.
#[test]
fn examples_keep_their_lines_in_manual_pages() {
    let room = Room::new();
    room.expect("man --dir pages", 0);
    let printed = room.expect("man", 0).stdout;
    assert!(printed.contains(".nf\nExamples:\n  tepui verify driver.bp "), "{printed}");
    for name in ["tepui", "tepui-verify", "tepui-explore", "tepui-check", "tepui-replay", "tepui-show"] {
        let page = room.read_text(&format!("pages/{name}.1"));
        let (before, rest) = page.split_once(".nf\n").unwrap_or_else(|| panic!("{name}: {page}"));
        let (examples, after) = rest.split_once("\n.fi\n").unwrap_or_else(|| panic!("{name}: {page}"));
        assert!(examples.starts_with("Example") && examples.contains("\n  tepui "), "{name}: {examples}");
        assert!(!before.contains("\n  tepui ") && !after.contains("\n  tepui "), "{name}: {page}");
    }
}

/// The options below a heading of the help, by the lines that begin with them.
fn below<'a>(help: &'a str, heading: &str) -> Vec<&'a str> {
    let lines = help.lines().skip_while(|line| *line != format!("{heading}:")).skip(1);
    let section = lines.take_while(|line| line.is_empty() || line.starts_with(' '));
    let words = section.filter_map(|line| line.trim().strip_prefix("--"));
    words.map(|word| word.split([' ', '[', '=']).next().unwrap()).collect()
}

#[test]
fn options_stand_below_their_headings() {
    let room = Room::new();
    let program = ["label", "deadlock", "max-threads", "no-reduction"];
    let model = ["init", "target", "property", "all-views", "dialect"];
    let machines = ["test-case", "send", "ignore-bounds", "all-instances", "attach-specs"];
    for command in ["verify", "explore", "check", "replay", "show"] {
        let help = room.expect(&format!("{command} -h"), 0).stdout;
        assert_eq!(below(&help, "Boolean programs"), program, "{command}");
        assert_eq!(below(&help, "Asynchronous programs")[..2], ["order", "int-range"], "{command}");
        assert_eq!(below(&help, "P programs")[..machines.len()], machines, "{command}");
        assert_eq!(below(&help, "Options"), model, "{command}");
    }
    let help = |command: &str| room.expect(&format!("{command} -h"), 0).stdout;
    assert_eq!(below(&help("verify"), "Limits"), ["timeout", "memory", "work", "bound-limit", "stop-at-first"]);
    assert_eq!(below(&help("verify"), "Threads that meet in actions"), ["policy", "abstraction", "shuffle-first"]);
    let output = ["svg", "format", "trace", "views", "self-check", "stacks", "invariant", "certificate"];
    assert_eq!(below(&help("verify"), "Output"), output);
    assert_eq!(below(&help("explore"), "Limits"), ["timeout", "memory", "work", "bound", "rounds", "delays", "tasks"]);
    assert_eq!(below(&help("check"), "Limits"), ["timeout", "memory"]);
    assert_eq!(below(&help("replay"), "Limits"), ["timeout", "memory"]);
    assert_eq!(below(&help("show"), "Output"), ["format", "output"]);
}

/// The model in the form with numbers, as far as that goes without files beside it.
fn numbers(room: &Room, model: &str) -> [String; 3] {
    ["pds", "init", "spec"].map(|format| room.expect(&format!("show {model} --format {format}"), 0).stdout)
}

/// The lines of a text without comments, which keep names.
fn uncommented(text: &str) -> Vec<&str> {
    text.lines().map(|line| line.split('#').next().unwrap_or("").trim()).filter(|line| !line.is_empty()).collect()
}

#[test]
fn models_survive_the_way_to_numbers_and_back() {
    let room = Room::new();
    for name in ["lock", "race", "mixed", "heights", "words", "crowd", "doubtful", "open"] {
        room.expect(&format!("show {name}.cpds --format pds --output there.pds"), 0);
        room.expect("show there.pds --format cpds --output back.cpds", 0);
        let (first, second) = (numbers(&room, &format!("{name}.cpds")), numbers(&room, "back.cpds"));
        for (first, second) in first.iter().zip(&second) {
            assert_eq!(uncommented(first), uncommented(second), "{name}");
        }
        let verdict = |model: &str| room.run(&format!("verify {model} --bound-limit 4")).code;
        assert_eq!(verdict(&format!("{name}.cpds")), verdict("there.pds"), "{name}");
        std::fs::remove_file(room.path("there.spec")).ok();
    }
}

/// In the printed dialect `lock` is a keyword, and `lock_` is another variable already.
#[test]
fn a_printed_program_has_the_same_verdict() {
    let room = Room::new();
    room.write(
        "kws.bp",
        "decl lock_;\nvoid main() begin\n  decl lock;\n  lock := 1;\n  lock_ := 0;\n  assert(lock);\nend\n",
    );
    room.expect("verify kws.bp", 0);
    room.expect("show kws.bp --format bp --output printed.bp", 0);
    room.expect("verify printed.bp", 0);
}

#[test]
fn the_form_with_names_prints_as_it_reads() {
    let room = Room::new();
    for model in ["lock.cpds", "mixed.cpds", "crowd.cpds", "relay.pds"] {
        let once = room.expect(&format!("show {model} --format cpds --output once.cpds"), 0);
        assert_eq!(once.stdout, "");
        let twice = room.expect("show once.cpds --format cpds", 0);
        assert_eq!(twice.stdout, room.read_text("once.cpds"), "{model}");
    }
}

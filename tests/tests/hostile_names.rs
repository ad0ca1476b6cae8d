//! Programs with names that mean something in another dialect, or that differ in a mark that the printer adds: what is
//! printed reads back as the same program, but for names.

#![allow(clippy::unwrap_used)]

use fastrand::Rng;
use tepui::{Options, Reading};
use tepui_core::Budget;
use tepui_engines::program::Patience;
use tepui_engines::program::table::{self, compile};
use tepui_lang::boolean::{Dialect, print_program, read_program};
use tepui_lang::pushdown::{print_cpds, read_cpds};
use tepui_lang::source::Source;
use tepui_model::program::Program;
use tepui_tests::facade::verify_program;
use tepui_tests::random_programs;
use tepui_tests::second::Dialect as Second;

/// Names for the dialect with braces: keywords of the others, and words that other languages have.
const WITH_BRACES: [&str; 22] = [
    "begin",
    "end",
    "fi",
    "od",
    "do",
    "then",
    "elsif",
    "end_thread",
    "start_thread",
    "T",
    "F",
    "cas",
    "var",
    "label",
    "lock_",
    "lock__",
    "atomic_",
    "release",
    "$",
    "ASYNC_x",
    "_x",
    "begin_",
];

/// Names for the dialects with `begin` and `end`: keywords of the one with braces, with and without the printer's mark.
const WITH_WORDS: [&str; 22] = [
    "lock", "lock_", "lock__", "unlock", "unlock_", "atomic", "atomic_", "atomic__", "enum", "enum_", "exit", "exit_",
    "sleep", "sleep_", "thread", "thread_", "thread__", "int", "a.b", "$", "_x", "main_",
];

fn read(text: &str, dialect: Option<Dialect>) -> Program {
    let source = Source::new("hostile", text.as_bytes());
    let parsed = read_program(&source, dialect, &[]);
    parsed.unwrap_or_else(|errors| panic!("{errors:#?}\n{text}")).program
}

/// The text with the names of random programs replaced, each by another one.
fn renamed(rng: &mut Rng, text: &str, pool: &[&'static str]) -> String {
    let mut pool = pool.to_vec();
    rng.shuffle(&mut pool);
    let own = ["s0", "s1", "s2", "l", "p0", "p1", "p2", "x0", "x1", "L0", "L1", "L2", "last"];
    let mut out = String::new();
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for piece in text.split_inclusive(|c: char| !is_part(c)) {
        let word = piece.trim_end_matches(|c: char| !is_part(c));
        let new = own.iter().position(|name| *name == word).map_or(word, |index| pool[index]);
        out += new;
        out += &piece[word.len()..];
    }
    out
}

/// A program of the dialect with braces in that with `begin` and `end`.
fn with_words(text: &str) -> String {
    let (mut out, mut open) = (String::new(), Vec::new());
    for line in text.lines() {
        let closes = |open: &mut Vec<&'static str>| open.pop().unwrap();
        let (now, opens) = match line {
            "}" => (closes(&mut open).to_owned(), None),
            "} else {" => ("else".to_owned(), None),
            "atomic {" => ("atomic_begin;".to_owned(), Some("atomic_end;")),
            "lock l;" => ("decl l := 0;".to_owned(), None),
            "lock(l);" => ("atomic_begin; assume(!l); l := 1; atomic_end;".to_owned(), None),
            "unlock(l);" => ("l := 0;".to_owned(), None),
            "exit;" => ("end_thread;".to_owned(), None),
            "sleep;" => ("wait;".to_owned(), None),
            line if line.ends_with("; }") => (line.replace(" {", " then").replace(" }", " fi;"), None),
            line if line.starts_with("if ") => (line.replace(" {", " then"), Some("fi;")),
            line if line.starts_with("while ") => (line.replace(" {", " do"), Some("od;")),
            line if line.ends_with('{') => (line.replace(" {", " begin"), Some("end")),
            line => (line.replace("thread p", "start_thread p"), None),
        };
        open.extend(opens);
        out += &(now + "\n");
    }
    out
}

/// The program without its names and without what depends on its layout.
fn nameless(mut program: Program) -> Program {
    let number = |names: &mut dyn Iterator<Item = &mut String>| {
        (0..).zip(names).for_each(|(number, name): (usize, _)| *name = number.to_string());
    };
    for enumeration in &mut program.enumerations {
        number(&mut enumeration.values.iter_mut());
    }
    number(&mut program.enumerations.iter_mut().map(|enumeration| &mut enumeration.name));
    number(&mut program.shared.iter_mut().map(|variable| &mut variable.name));
    number(&mut program.declared.iter_mut().map(|declared| &mut declared.name));
    number(&mut program.procedures.iter_mut().map(|procedure| &mut procedure.name));
    for procedure in &mut program.procedures {
        number(&mut procedure.locals.iter_mut().map(|variable| &mut variable.name));
        number(&mut procedure.declared.iter_mut().map(|declared| &mut declared.name));
        procedure.locals[..procedure.parameters].iter_mut().for_each(|parameter| parameter.init = None);
        procedure.line = 0;
        for statement in &mut procedure.statements {
            (statement.line, statement.text) = (0, (0, 0));
            number(&mut statement.labels.iter_mut());
        }
    }
    program
}

/// Prints a program, reads it again as anyone would, and compares; the same for what it is compiled to.
#[track_caller]
fn check(text: &str, program: &Program) {
    let printed = print_program(program);
    let again = read(&printed, None);
    assert_eq!(nameless(again), nameless(program.clone()), "{text}\nprinted:\n{printed}");
    let options = table::Options { places: 2, reduce: true, deadlock: false, keep_dead: false, keep_steps: false };
    let model = compile(program, options, &Patience::default()).unwrap().model;
    let cpds = print_cpds(&model);
    let source = Source::new("compiled", cpds.as_bytes());
    let read = read_cpds(&source, None, None, None).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}\n{cpds}"));
    assert_eq!(read.model.digest(), model.digest(), "{text}\n{cpds}");
}

#[test]
fn programs_with_braces_survive() {
    for seed in 0..400 {
        let mut rng = Rng::with_seed(seed);
        let text = random_programs::program(&mut rng);
        let text = renamed(&mut rng, &text, &WITH_BRACES);
        check(&text, &read(&text, Some(Dialect::Tepui)));
    }
}

#[test]
fn programs_with_begin_and_end_survive() {
    for seed in 0..400 {
        let mut rng = Rng::with_seed(seed);
        let text = with_words(&random_programs::program(&mut rng));
        let text = renamed(&mut rng, &text, &WITH_WORDS);
        check(&text, &read(&text, Some(Dialect::Boppo)));
    }
}

/// Programs that use all that the dialects have; those of Getafix begin with a procedure that they do not have, besides `main`.
#[test]
fn programs_of_every_dialect_survive() {
    let mut compared = [0; 4];
    for seed in 0..1_500 {
        let random = random_programs::write(&mut Rng::with_seed(seed));
        let (number, dialect) = match random.dialect {
            Second::Tepui => (0, Dialect::Tepui),
            Second::Satabs => (1, Dialect::Satabs),
            Second::Boppo => (2, Dialect::Boppo),
            Second::Getafix => (3, Dialect::Getafix),
        };
        let source = Source::new("random", random.text.as_bytes());
        let Ok(parsed) = read_program(&source, Some(dialect), &[]) else { continue };
        let printed = print_program(&parsed.program);
        let again = read(&printed, None);
        assert_eq!(again.digest(), parsed.program.digest(), "seed {seed}\n{}\nprinted:\n{printed}", random.text);
        compared[number] += 1;
    }
    assert!(compared.iter().all(|&count| count > 50), "{compared:?}");
}

/// A local variable that is called `lock` must not hide the shared one that is called `lock_`.
#[test]
fn a_mark_hides_nothing() {
    let text = "decl lock_;\nvoid main() begin\n  decl lock;\n  lock := 1;\n  lock_ := 0;\n  assert(lock);\nend\n";
    let program = read(text, None);
    check(text, &program);
    let status = |program: &Program| {
        let verified = verify_program(program, &Reading::default(), &Options::default(), &Budget::unlimited());
        verified.unwrap().outcome.status()
    };
    assert_eq!(status(&read(&print_program(&program), None)), status(&program));
}

/// The default value of a variable may have the name of another variable, which would be read instead of it.
#[test]
fn a_default_value_is_not_taken_for_a_variable() {
    let text = "enum sort { a, b }\ndecl a;\ndecl x: sort;\nvoid main() { a := 1; x := b; assert(a); }\n";
    check(text, &read(text, None));
}

#[test]
fn values_of_enumerations_are_names_too() {
    let text = "decl x: enum { lock, lock_, enum_ };\nvoid main() begin x := lock_; assert(x = lock); end\n";
    check(text, &read(text, Some(Dialect::Boppo)));
}

//! Boolean programs: what is read, and what it does.

#![allow(clippy::unwrap_used)]

use tepui_lang::boolean::{Dialect, print_program, read_program};
use tepui_lang::source::Source;
use tepui_model::program::Program;
use tepui_tests::corpus::corpus_dir;
use tepui_tests::programs::{Limits, explore};

/// A program of the corpus with the answer that is known.
struct Row {
    file: String,
    verdict: String,
    program: Program,
}

fn read(name: &str, text: &[u8], labels: &[String]) -> Program {
    let source = Source::new(name, text);
    match read_program(&source, Dialect::of(&source), labels) {
        Ok(parsed) => parsed.program,
        Err(errors) => panic!("{name}: {errors:#?}"),
    }
}

fn corpus() -> Vec<Row> {
    let Some(directory) = corpus_dir().map(|directory| directory.join("bp")) else {
        eprintln!("SKIPPED: there is no corpus here (set TEPUI_CORPUS)");
        return Vec::new();
    };
    let table = std::fs::read_to_string(directory.join("expected.tsv")).unwrap();
    let row = |line: &str| {
        let cells: Vec<_> = line.split('\t').collect();
        let flags: Vec<_> = cells[3].split_whitespace().collect();
        let labels = flags.windows(2).filter(|pair| pair[0] == "-l").map(|pair| pair[1].to_owned());
        let text = std::fs::read(directory.join(cells[0])).unwrap();
        let program = read(cells[0], &text, &labels.collect::<Vec<_>>());
        Row { file: cells[0].to_owned(), verdict: cells[1].to_owned(), program }
    };
    table.lines().skip(1).map(row).collect()
}

/// The program without what depends on how it was laid out.
fn bare(mut program: Program) -> Program {
    program.unreachable.clear();
    for procedure in &mut program.procedures {
        procedure.line = 0;
        procedure.statements.iter_mut().for_each(|statement| (statement.line, statement.text) = (0, (0, 0)));
    }
    program
}

#[test]
fn what_is_printed_reads_back() {
    for row in corpus() {
        let text = print_program(&row.program);
        assert_eq!(bare(read(&row.file, text.as_bytes(), &[])), bare(row.program), "{}:\n{text}", row.file);
    }
}

#[test]
fn the_interpreter_agrees_with_the_corpus() {
    for row in corpus() {
        let limits = |threads| Limits { threads, frames: 4, states: 60_000 };
        let bad =
            (1..=4).map(|threads| explore(&row.program, limits(threads))).find(|found| found.bad() || found.complete);
        match row.verdict.as_str() {
            "UNSAFE" => assert!(bad.is_none_or(|found| found.bad()), "{}: no bug found", row.file),
            _ => assert!(bad.is_none_or(|found| !found.bad()), "{}: a bug found", row.file),
        }
    }
}

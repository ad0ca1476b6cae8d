//! Models of others, with the answers that are known.

use tepui::{Input, Options, Problem, Reading, ThreadsAtStart};
use tepui_core::{Budget, Verdict};
use tepui_engines::counters::views::Views;
use tepui_lang::counters::{AtStart, read_tts};
use tepui_lang::source::Source;
use tepui_tests::corpus::corpus_dir;

fn source(path: &std::path::Path) -> Source {
    Source::new(path.display().to_string(), &std::fs::read(path).unwrap())
}

fn solve(name: &str, at_start: ThreadsAtStart) -> (Option<bool>, Option<u32>) {
    let path = corpus_dir().unwrap().join("coverability").join(name);
    let target = name.ends_with(".tts").then(|| source(&path.with_extension("prop")));
    let input = Input { target, ..Input::new(name, std::fs::read(&path).unwrap()) };
    let reading = Reading { threads_at_start: at_start, ..Reading::default() };
    let problem = Problem::read(&input, &reading).unwrap();
    let options = Options { self_check: true, ..Options::default() };
    let outcome = tepui::verify(&problem, &options, &Budget::unlimited()).unwrap().outcome;
    match &outcome.properties[0].verdict {
        Verdict::Safe(_) => (Some(false), None),
        Verdict::Unsafe(refuted) => (Some(true), refuted.bound().map(|bound| bound.first())),
        Verdict::Unknown(_) => (None, None),
    }
}

#[test]
#[ignore = "needs the corpus"]
fn all_answers_are_right() {
    let table = std::fs::read_to_string(corpus_dir().unwrap().join("coverability/expected.tsv")).unwrap();
    let mut answers = 0;
    for line in table.lines().skip(1) {
        let fields: Vec<_> = line.split('\t').collect();
        let expected = |field: &str| Some(field == "unsafe");
        let (found, _) = solve(fields[0], ThreadsAtStart::Any);
        assert_eq!(found, expected(fields[2]), "{}", fields[0]);
        answers += 1;
        if fields[3] != "-" {
            let (found, threads) = solve(fields[0], ThreadsAtStart::One);
            assert_eq!(found, expected(fields[3]), "{} from one thread", fields[0]);
            assert_eq!(threads, fields[4].parse().ok(), "{} from one thread", fields[0]);
            answers += 1;
        }
    }
    assert_eq!(answers, 86);
}

#[test]
#[ignore = "needs the corpus"]
fn views_of_two_threads_are_as_many_as_others_count() {
    for (name, expected) in [
        ("09_Stack-L_satabs.3", 9_114),
        ("10_Stack-C_satabs.2", 3_937),
        ("03_PrngSimp-C_satabs.2", 26_615),
        ("16_QRCU-2_satabs.16", 16_689),
        ("16_QRCU-2_satabs.5", 59_901),
        ("dekker_vs_satabs.2", 313),
        ("peterson_vs_satabs.2", 324),
        ("spin2003_vs_satabs.2", 257),
    ] {
        let path = corpus_dir().unwrap().join("coverability/tts").join(format!("{name}.tts"));
        let net = read_tts(&source(&path), None, AtStart::One).unwrap().net;
        let mut views = Views::of(&net, 2).unwrap();
        views.close(&net, &mut Budget::unlimited()).unwrap();
        assert_eq!(views.len(), expected, "{name}");
    }
}

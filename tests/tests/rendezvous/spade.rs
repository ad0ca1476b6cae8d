//! The corpus of SPADE files, if it is there: every row that is a set of pushdown threads, with every engine.

use tepui::{AUTO, RENDEZVOUS, Refinement};
use tepui_core::Status;
use tepui_lang::rendezvous::{print_rpds, read_rpds, read_spade};
use tepui_lang::source::Source;
use tepui_tests::corpus;

use super::{run, unknown};

#[test]
#[ignore = "needs the corpus"]
fn the_corpus_is_answered_as_expected() {
    let folder = corpus::corpus().join("spade");
    let table = std::fs::read_to_string(folder.join("expected.tsv")).unwrap();
    let mut answered = 0;
    for row in table.lines().skip(1) {
        let fields: Vec<_> = row.split('\t').collect();
        let bytes = std::fs::read(folder.join(fields[0])).unwrap();
        let parsed = read_spade(&Source::new(fields[0], &bytes));
        if !fields[2].starts_with("yes") {
            let errors = parsed.unwrap_err();
            assert!(errors[0].message.starts_with("not supported: "), "{}: {errors:?}", fields[0]);
            continue;
        }
        let model = parsed.unwrap().model;
        let expected = if fields[1].starts_with("REACHABLE") { Status::Unsafe } else { Status::Safe };
        assert_eq!(run(&model, &AUTO, Refinement::default(), None).status(), expected, "{}", fields[0]);
        assert_eq!(run(&model, &RENDEZVOUS, Refinement::default(), None).status(), expected, "{}", fields[0]);
        let alone = run(&model, &RENDEZVOUS, Refinement::default(), Some(25));
        assert!(unknown(&alone) || alone.status() == expected, "{}", fields[0]);
        // Printed in our own form, it is the same model.
        let printed = print_rpds(&model).unwrap();
        let again = read_rpds(&Source::new("printed", printed.as_bytes()), None).unwrap().model;
        assert_eq!(again.properties()[0].digest(), model.properties()[0].digest(), "{}", fields[0]);
        answered += 1;
    }
    assert_eq!(answered, 9);
}

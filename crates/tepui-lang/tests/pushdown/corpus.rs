//! Models that others wrote: in the folder named by `TEPUI_CORPUS`, else beside the project.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Texts, roundtrip};

fn folder() -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let corpus = std::env::var_os("TEPUI_CORPUS").map_or(beside, PathBuf::from);
    corpus.join("cpds")
}

/// Reads a model of the corpus: threads, shared states and rules, as the table gives them.
fn summary(folder: &Path, name: &str) -> String {
    let source = |extension: &str| fs::read(folder.join(format!("{name}.{extension}"))).ok();
    let [pds, init, spec, matching] = ["pds", "init", "spec", "mch"].map(source);
    let texts = Texts::new(&pds.unwrap(), init.as_deref(), spec.as_deref(), matching.as_deref());
    let parsed = texts.cuba();
    texts.said(&parsed).iter().for_each(|said| eprintln!("{name}: {said}"));
    let parsed = parsed.unwrap();
    assert_eq!(parsed.matching.is_some(), matching.is_some());
    assert_eq!(parsed.model.properties().len(), usize::from(spec.is_some()));
    roundtrip::check(&parsed.model);
    let rules: Vec<_> = parsed.model.threads().iter().map(|thread| thread.rules.len().to_string()).collect();
    format!("{}\t{}\t{}", rules.len(), parsed.model.shared().count(), rules.join("+"))
}

#[test]
#[ignore = "needs the corpus"]
fn the_corpus_is_understood() {
    let folder = folder();
    let table = fs::read_to_string(folder.join("expected.tsv")).unwrap();
    let rows: Vec<_> = table.lines().skip(1).map(|row| row.split('\t').collect::<Vec<_>>()).collect();
    for row in &rows {
        assert_eq!(summary(&folder, row[0]), row[1..4].join("\t"), "{}", row[0]);
    }
    let files = fs::read_dir(&folder).unwrap().filter_map(Result::ok).map(|entry| entry.path());
    assert_eq!(files.filter(|path| path.extension().is_some_and(|extension| extension == "pds")).count(), rows.len());
}

//! Readers and printers of pushdown systems, as their users see them.
//!
//! Most tests are data: a text and what the reader has to say about it, one line for each diagnostic, as
//! `source line:column message | label | hint`.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod corpus;
mod cpds;
mod cuba;
mod fuzz;
mod random;
mod roundtrip;

use tepui_lang::diagnostic::{Diagnostic, Severity};
use tepui_lang::pushdown::{CubaInput, Parsed, read_cpds, read_cuba};
use tepui_lang::source::Source;
use tepui_model::pushdown::{Model, Rule, Thread};

/// The texts for one reading: the main one, then initial state, targets and matching, empty if not given.
#[derive(Clone, Debug)]
struct Texts([Option<Source>; 4]);

impl Texts {
    fn new(main: &[u8], init: Option<&[u8]>, targets: Option<&[u8]>, matching: Option<&[u8]>) -> Self {
        let names = ["main", "init", "targets", "matching"];
        let mut texts = [Some(main), init, targets, matching].into_iter().zip(names);
        Self(std::array::from_fn(|_| texts.next().and_then(|(text, name)| Some(Source::new(name, text?)))))
    }

    fn main(&self) -> &Source {
        self.0[0].as_ref().unwrap()
    }

    fn cuba(&self) -> Result<Parsed, Vec<Diagnostic>> {
        let [_, init, targets, matching] = self.0.each_ref().map(Option::as_ref);
        read_cuba(CubaInput { pds: self.main(), init, targets, matching })
    }

    fn cpds(&self) -> Result<Parsed, Vec<Diagnostic>> {
        let [_, init, targets, matching] = self.0.each_ref().map(Option::as_ref);
        read_cpds(self.main(), init, targets, matching)
    }

    /// A diagnostic on one line.
    fn show(&self, diagnostic: &Diagnostic) -> String {
        let source = self.0[diagnostic.source].as_ref().unwrap();
        let (line, column) = source.position(diagnostic.span.start);
        let mut shown = format!("{} {line}:{column} {}", source.name, diagnostic.message);
        for part in [Some(&diagnostic.label), diagnostic.hint.as_ref()].into_iter().flatten().filter(|p| !p.is_empty())
        {
            shown.push_str(" | ");
            shown.push_str(part);
        }
        shown
    }

    /// What the reader said: its errors, or its warnings if it succeeded.
    fn said(&self, result: &Result<Parsed, Vec<Diagnostic>>) -> Vec<String> {
        let said = match result {
            Ok(parsed) => &parsed.warnings,
            Err(errors) => errors,
        };
        let is_error = |diagnostic: &Diagnostic| diagnostic.severity == Severity::Error;
        assert!(said.iter().all(|diagnostic| is_error(diagnostic) == result.is_err()));
        said.iter().map(|diagnostic| self.show(diagnostic)).collect()
    }
}

/// The lines of an expectation, without the indentation of the test.
fn lines(expected: &str) -> Vec<&str> {
    expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

/// The model without the lines of its rules.
fn without_lines(model: &Model) -> Model {
    let strip = |rule: &Rule| Rule { line: 0, ..*rule };
    let thread = |thread: &Thread| Thread { rules: thread.rules.iter().map(strip).collect(), ..thread.clone() };
    let threads = model.threads().iter().map(thread).collect();
    Model::new(model.shared().clone(), threads, model.init().clone(), model.properties().to_vec()).unwrap()
}

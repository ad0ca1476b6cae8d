//! Numbers, arrays, records and what threads wait for: small programs whose answers follow from the book's page on
//! them.
//!
//! Each case pins down a sentence of the page. The second reading and Tepui answer them all.

#![allow(clippy::unwrap_used)]

mod cases;

use std::collections::BTreeSet;

use tepui::{Options, Reading};
use tepui_core::{Budget, Status};
use tepui_lang::boolean::{DEADLOCK, read_program};
use tepui_lang::source::Source;
use tepui_tests::facade::verify_program;
use tepui_tests::second::{Dialect, Found, Limits, Program, explore, read};

use cases::{CASES, Case};

fn program(text: &str) -> Result<Program, String> {
    read(text, Dialect::Tepui).map(|reading| reading.program)
}

fn found(program: &Program) -> Found {
    explore(program, &[], Limits { threads: 7, frames: 4, states: 100_000 })
}

/// The properties of a program that are not assertions.
fn doubts(program: &Program) -> BTreeSet<String> {
    let doubts = program.properties().iter();
    doubts.filter(|name| name.starts_with("range@") || name.starts_with("index@")).cloned().collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// What is wrong about a case.
fn check(case: &Case) -> Result<(), String> {
    let program = program(case.text)?;
    let found = found(&program);
    if !found.complete || found.violated != set(case.violated) || found.stuck != case.deadlock {
        return Err(format!("the second reading finds {found:?}"));
    }
    if doubts(&program) != set(case.doubts) {
        return Err(format!("the second reading doubts {:?}", doubts(&program)));
    }
    check_tool(case)
}

/// The same of Tepui.
fn check_tool(case: &Case) -> Result<(), String> {
    let program = tool(case.text)?;
    let names = |violated: bool| -> Result<BTreeSet<String>, String> {
        let reading = Reading { deadlock: true, max_threads: Some(7), ..Reading::default() };
        let answer = verify_program(&program, &reading, &Options::default(), &Budget::unlimited());
        let outcome = answer.map_err(|why| why.to_string())?.outcome;
        let properties = outcome.properties.into_iter();
        let wanted = properties.filter(|property| !violated || property.verdict.status() == Status::Unsafe);
        Ok(wanted.map(|property| property.name).collect())
    };
    let stuck = case.deadlock.then(|| DEADLOCK.to_owned());
    let expected: BTreeSet<_> = set(case.violated).into_iter().chain(stuck).collect();
    if names(true)? != expected {
        return Err(format!("Tepui finds {:?}", names(true)?));
    }
    let mut doubts = names(false)?;
    doubts.retain(|name| name.starts_with("range@") || name.starts_with("index@"));
    if doubts != set(case.doubts) {
        return Err(format!("Tepui doubts {doubts:?}"));
    }
    Ok(())
}

fn tool(text: &str) -> Result<tepui_model::program::Program, String> {
    let parsed = read_program(&Source::new("case.bp", text.as_bytes()), None, &[]);
    parsed.map(|parsed| parsed.program).map_err(|errors| format!("Tepui does not read it: {errors:?}"))
}

#[test]
fn sentences_of_the_page_hold() {
    let wrong = CASES.iter().filter_map(|case| check(case).err().map(|why| (case, why)));
    let wrong: Vec<_> = wrong.map(|(case, why)| format!("{}: {why}\n{}", case.why, case.text)).collect();
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), CASES.len(), wrong.join("\n\n"));
}

/// Texts that the page calls errors.
const REFUSED: &[&str] = &[
    "decl n: 0..3; void main() { if (n) { } }",
    "decl n: 0..3; decl ok; void main() { assert(n = ok); }",
    "decl n: 0..3; void main() { assert(0 < n < 2); }",
    "decl n: 0..3; void main() { n := true; }",
    "decl n: 0..3; void main() { n := 4; }",
    "decl n: 0..3; void main() { n := n + 4; }",
    "decl n: 0..3 := 4; void main() { }",
    "decl n: 3..0; void main() { }",
    "decl n: 0..65536; void main() { }",
    "decl n: int; void main() { }",
    "decl n: 0..3, m: 1..2; void main() { n := n / m; }",
    "decl n: 0..3; void main() { n := n % 0; }",
    "decl n: 0..3; void main() { n := * + 1; }",
    "decl n: 0..3; void main() { assert(n < *); }",
    "decl a[2]: 0..3; void main() { a[*] := 1; }",
    "decl a[2]; void main() { a[2] := 1; }",
    "decl a[2]; decl b; void main() { a[b] := 1; }",
    "decl a[2]; decl b[3]; void main() { a := b; }",
    "decl a[2]; decl b; void main() { assert(a = b); }",
    "decl a[2]; void main() { a, a[0] := a, 1; }",
    "decl a[2]; decl i: 0..1; void main() { a[i], a[i] := 0, 1; }",
    "decl a[2]; decl i: 0..2; void main() { enforce a[i]; }",
    "enum C { r, g } decl a[C]; void main() { a[0] := 1; }",
    "enum C { r, g } decl c: C; void main() { assert(c < g); }",
    "record P { x; } decl p: P; void main() { p.y := 1; }",
    "record P { x; } record Q { x; } decl p: P; decl q: Q; void main() { p := q; }",
    "record P { q: Q; } record Q { x; } void main() { }",
    "record P { x; } decl p[2]: P; decl q: P; void main() { q := * ? p[0] : p[1]; }",
    "record P { x; } decl p[2]: P; decl q: P; void main() { q := p[* ? 0 : 1]; }",
    "decl a[2]: 0..1; void main() { cas(a[* ? 0 : 1], 0, 1); }",
    "decl n: 0..1; void main() { cas(n, *, 1); }",
    "const N = M; const M = 1; void main() { }",
    "const N = 2; decl b := N; void main() { }",
    "kind K = 1..2; decl a[K]; void main() { }",
    "decl a[2] := [0, 1, 0]; void main() { }",
    "decl n: 0..3; void main() { for i in 0..n { skip; } }",
    "void main() { for i in 0..2 { i := 1; } }",
    "void main() { for i in 0..2 { fetch_add(i, 1); } }",
    "decl i; void main() { for i in 0..2 { skip; } }",
    "void main() { for i in 0..2 { for i in 0..1 { skip; } } }",
    "void main() { goto a; for i in 0..2 { a: skip; } }",
    "void f(x: 0..1) { } void main() { for i in 0..2 { skip; } f(i); }",
    "void range() { } void main() { }",
    "void index() { } void main() { }",
    "void never() { } void main() { }",
    "decl kind; void main() { }",
    "decl signal; void main() { }",
    "decl a.b; void main() { }",
    "condition c; decl x; void main() { x := c; }",
    "condition c; lock l; void main() { wait(l, c); }",
    "decl x; void main() { signal(x); }",
    "decl x; void main() { acquire(x); }",
    "decl x; void main() { arrive(x); }",
    "semaphore s := 256; void main() { }",
    "barrier b(0); void main() { }",
    "0..3 f() { return true; } void main() { f(); }",
    "decl x: 0..1; 0..7 f() { return 5; } void main() { x := f(); }",
    "decl a[5000]; void main() { }",
];

#[test]
fn errors_of_the_page_are_refused() {
    let taken: Vec<_> = REFUSED.iter().filter(|text| program(text).is_ok()).collect();
    assert!(taken.is_empty(), "the second reader takes {taken:#?}");
    let taken: Vec<_> = REFUSED.iter().filter(|text| tool(text).is_ok()).collect();
    assert!(taken.is_empty(), "Tepui takes {taken:#?}");
}

/// Texts that look odd, and that the page allows.
const TAKEN: &[&str] = &[
    "decl a[4]: 0..7 := 1, b[Colour], c[2][3]; enum Colour { red, green } void main() { }",
    "decl a[4]: 0..7 := [1, 2, 3, 4]; decl b[2][2] := [[0, 1], [1, 0]]; void main() { }",
    "kind Id = 0..2; record Node { full; value, next: Id; } decl n: Node, m[3]: Node; void main() { m[n.next] := n; }",
    "kind Id = 0..2; (bool, Id) f(x: Id, a[4]: 0..7) { return a[x] = 1, x; } void main() { decl b[4]: 0..7; f(1, b); }",
    "const N = 2; void f() { } void main() { thread f() * N; thread f() * (N - 1); thread f() * 1; }",
    "decl cas; void release(x) { } void main() { cas := 1; release(cas); }",
    "decl x := 0; decl n: 0..1; void main() { x := 0; n := 0; n := x ? 1 : 0; assert(n = (x ? 1 : 0)); x := n = 0; }",
    "decl n: 0..3; void main() { n := *; assert(n = *); assert(* != n); }",
    "decl a[2]: 0..3; void main() { a[* ? 0 : 1] := a[* ? 1 : 0]; }",
    "void main() { for i in 0..2 { goto a; a: } for i in 0..1 skip; }",
    "kind Id = 0..1; decl a[Id]; lock l[Id]; void main() { for i in Id { lock(l[i]); a[i] := 1; unlock(l[i]); } }",
];

#[test]
fn what_the_page_allows_is_read() {
    for text in TAKEN {
        program(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        tool(text).unwrap_or_else(|why| panic!("{text}: {why}"));
    }
}

//! The programs of Corral's regression tests, written again as programs with threads: a task that another one may interrupt at any
//! statement is one. Integers have ranges, and what starts with any value does so here.

use tepui::{AUTO, Problem};

use super::known::{answer, rows, status, verify};
use super::program;

#[rustfmt::skip]
const PORTS: &[(&str, &str)] = &[
    ("001.bpl",
        "decl cell: 0..2; void add() { if (*) { cell := cell + 1; } assert(cell >= 0); } \
         void main() { thread add(); thread add(); }"),
    ("003.bpl",
        "decl balance: -2..4; decl first, second; decl original: 0..2 := *; \
         void deposit(d: 0..2) { atomic { balance := balance + d; } first := 1; } \
         void withdraw(d: 0..2) { atomic { balance := balance - d; } second := 1; } \
         void check() { if (first & second) { assert(balance = original); } } \
         void main() { decl d: 0..2 := *; atomic { first, second := 0, 0; balance := original; } \
           thread deposit(d); thread withdraw(d); thread check(); }"),
    ("006.bpl",
        "decl cell: 0..3; void grow() { while (*) { if (cell < 3) { cell := cell + 1; } } } \
         void worker() { decl y: 0..3; while (*) { grow(); } y := cell; assert(y >= 0); } \
         void main() { cell := 0; thread worker(); }"),
    ("007.bpl",
        "decl balance: -2..4; decl stopped[2]; decl original: 0..2 := *; \
         void deposit(d: 0..2) { atomic { balance := balance + d; } stopped[0] := 1; } \
         void withdraw(d: 0..2) { atomic { balance := balance - d; } stopped[1] := 1; } \
         void main() { decl d: 0..2 := *; atomic { balance := original; } stopped[0], stopped[1] := 0, 0; \
           thread deposit(d); thread withdraw(d); \
           wait(stopped[0]); wait(stopped[1]); assert(balance = original); }"),
    ("009-join.bpl",
        "decl x: 0..1; decl stopped; void foo() { x := 1; stopped := 1; } \
         void main() { x := 0; stopped := 0; thread foo(); wait(stopped); assert(x = 1); }"),
    // What belongs to a thread is a local variable, and a new thread has its own.
    ("012-f1.bpl",
        "void child() { decl x: 0..2 := *; assert(x = 1); } \
         void main() { decl x: 0..2; x := 1; thread child(); x := 2; }"),
    ("015-ParAssign1.bpl",
        "lock l; decl cell: 0..20; decl left: 0..2; \
         void f() { lock(l); cell := cell + 10; unlock(l); left := left - 1; } \
         void main() { cell := 0; left := 2; thread f(); thread f(); wait(left = 0); assert(0) \"reached\"; }"),
    // Tasks that switch where they yield.
    ("020-f1.bpl",
        "decl x: 0..1; void foo() { x := 1; assert(x = 1); } void bar() { x := 0; } void main() { post foo(); post bar(); }"),
    ("022-childtid.bpl",
        "decl x: 0..2; decl stopped[2]; void foo(own: 0..1) { x := 2; stopped[own] := 1; } \
         void main() { x := 1; stopped[1] := 0; thread foo(1); wait(stopped[1]); assert(x = 2); }"),
    ("023-f.bpl",
        "void a() { assert(0) \"child\"; } void main() { thread a(); assert(0) \"parent\"; }"),
    ("loop-conc.bpl",
        "decl x: 0..10; void foo() { wait(x = 10); assert(0); } \
         void main() { decl i: 0..10; x := 0; thread foo(); i := 0; while (i < 10) { x := x + 1; i := i + 1; } }"),
];

#[test]
#[ignore = "needs the corpus"]
fn programs_of_corral() {
    let rows = rows("async/corral");
    assert_eq!(rows.len(), PORTS.len(), "each program is written again");
    for (_, cells) in rows {
        let (_, text) = PORTS.iter().find(|(name, _)| *name == cells[0]).unwrap();
        let outcome = verify(&Problem::from(program(text)), &AUTO, &[]);
        let found = if cells[0] == "015-ParAssign1.bpl" {
            // That a number leaves its range is a matter of the port.
            let reached = outcome.properties.iter().find(|property| property.name == "reached");
            reached.unwrap().verdict.status()
        } else {
            answer(&outcome).0
        };
        assert_eq!(found, status(&cells[3]), "{}: {:?}", cells[0], outcome.properties);
    }
}

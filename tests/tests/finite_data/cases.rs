//! Small programs, each with a sentence of the page that it pins down.

/// A program, and what holds of it.
pub(super) struct Case {
    /// What the page says, in short.
    pub(super) why: &'static str,
    /// The program.
    pub(super) text: &'static str,
    /// All properties that are violated.
    pub(super) violated: &'static [&'static str],
    /// The properties of ranges and indices that exist.
    pub(super) doubts: &'static [&'static str],
    /// Whether it can get stuck.
    pub(super) deadlock: bool,
}

/// Sentences of the page.
pub(super) const CASES: &[Case] = &[
    Case {
        why: "three threads count to three",
        text: "decl n: 0..3; void f() { n := n + 1; } void main() { thread f() * 3; }",
        violated: &[],
        doubts: &["range@1"],
        deadlock: false,
    },
    Case {
        why: "four do not",
        text: "decl n: 0..3; void f() { n := n + 1; } void main() { thread f() * 4; }",
        violated: &["range@1"],
        doubts: &["range@1"],
        deadlock: false,
    },
    Case {
        why: "`&` stops before the index, but only the index is read under it",
        text: "decl a[3];
decl i: 0..3;
void g() { while (i < 3 & !a[i]) { i := i + 1; } }
void main() { thread g(); }",
        violated: &[],
        doubts: &["index@3", "range@3"],
        deadlock: false,
    },
    Case {
        why: "two threads test the same index and both go on",
        text: "decl a[3];
decl i: 0..3;
void g() { while (i < 3 & !a[i]) { i := i + 1; } }
void main() { thread g() * 2; }",
        violated: &["range@3"],
        doubts: &["index@3", "range@3"],
        deadlock: false,
    },
    Case {
        why: "two threads increment with cas",
        text: "decl x: 0..2;
void inc() { decl old: 0..2; decl ok; while (!ok) { old := x; ok := cas(x, old, old + 1); } }
void main() { thread inc() * 2; }",
        violated: &[],
        doubts: &["range@2"],
        deadlock: false,
    },
    Case {
        why: "three threads increment with cas",
        text: "decl x: 0..2;
void inc() { decl old: 0..2; decl ok; while (!ok) { old := x; ok := cas(x, old, old + 1); } }
void main() { thread inc() * 3; }",
        violated: &["range@2"],
        doubts: &["range@2"],
        deadlock: false,
    },
    Case {
        why: "nobody passes a barrier before all have arrived",
        text: "decl n: 0..2; barrier b(2);
void once() { fetch_add(n, 1); arrive(b); assert(n = 2); }
void main() { thread once() * 2; }",
        violated: &[],
        doubts: &["range@2"],
        deadlock: false,
    },
    Case {
        why: "without the barrier somebody does",
        text: "decl n: 0..2;
void once() { fetch_add(n, 1); assert(n = 2); }
void main() { thread once() * 2; }",
        violated: &["once@2"],
        doubts: &["range@2"],
        deadlock: false,
    },
    Case {
        why: "five philosophers",
        text: "lock fork[5];
void eat(i: 0..4) {
  while (1) { lock(fork[i]); lock(fork[(i + 1) % 5]); unlock(fork[i]); unlock(fork[(i + 1) % 5]); }
}
void main() { for i in 0..4 { thread eat(i); } }",
        violated: &[],
        doubts: &[],
        deadlock: true,
    },
    Case {
        why: "who was woken tests again",
        text: "lock l; condition c; decl full;
void take() { lock(l); while (!full) { wait(c, l); } assert(full); full := 0; unlock(l); }
void put() { lock(l); full := 1; signal(c); unlock(l); }
void main() { thread put(); thread take() * 2; }",
        violated: &[],
        doubts: &[],
        deadlock: true,
    },
    Case {
        why: "who was woken does not test again",
        text: "lock l; condition c; decl full;
void take() { lock(l); if (!full) { wait(c, l); } assert(full); full := 0; unlock(l); }
void put() { lock(l); full := 1; signal(c); unlock(l); }
void main() { thread put(); thread take() * 2; }",
        violated: &["take@2"],
        doubts: &[],
        deadlock: true,
    },
    Case {
        why: "indices on the left are evaluated in the state before the step",
        text: "decl a[2]: 0..3; decl i: 0..1;
void main() { a[i], i := 2, 1; assert(a[0] = 2 & a[1] = 0 & i = 1); a[0], a[1] := a[1], a[0]; assert(a[1] = 2); }",
        violated: &[],
        doubts: &[],
        deadlock: false,
    },
    Case {
        why: "`|`, `=>` and `? :` stop as soon as the result is certain; `=` does not",
        text: "decl a[2]; decl i: 0..2 := 2;
void main() {
  assert(i > 1 | a[i]);
  assert(i < 2 => a[i]);
  assert(i = 2 ? 1 : a[i]);
  assert((i = 2) = a[i]);
}",
        violated: &["index@6"],
        doubts: &["index@3", "index@4", "index@5", "index@6"],
        deadlock: false,
    },
    Case {
        why: "the right side comes after the left one",
        text: "decl a[2]; decl i: 0..2 := 2;
void main() {
  assert(!(a[i] & i < 2));
}",
        violated: &["index@3"],
        doubts: &["index@3"],
        deadlock: false,
    },
    Case {
        why: "`/` and `%` round down",
        text: "decl n: -3..3 := -1;
void main() {
  assert(n / 2 = -1); assert(n % 3 = 2); n := -3; assert(n / 2 = -2 & n % 2 = 1); n := 3; assert(n / 2 = 1);
}",
        violated: &[],
        doubts: &[],
        deadlock: false,
    },
    Case {
        why: "a value out of range is a violation even if the constraint would have refused it",
        text: "decl n: 0..3 := 3;
void main() { n := n + 1 constrain 0; }",
        violated: &["range@2"],
        doubts: &["range@2"],
        deadlock: false,
    },
    Case {
        why: "an index of the constraint may be outside; in it new values have indices as they were",
        text: "decl a[2]; decl i: 0..2;
void main() {
  a[0], i := 1, 2 constrain 'a[i] & !a[i];
  i := 0 constrain a[i];
}",
        violated: &["index@4"],
        doubts: &["index@3", "index@4"],
        deadlock: false,
    },
    Case {
        why: "a cas that fails does not check",
        text: "decl x: 0..1; decl y: 0..1 := 1; decl ok;
void main() {
  ok := cas(x, 1, y + 1);
  assert(!ok);
  ok := cas(x, 0, y + 1);
}",
        violated: &["range@5"],
        doubts: &["range@3", "range@5"],
        deadlock: false,
    },
    Case {
        why: "results are checked where they are stored, at the line of the call, and not without a target",
        text: "decl n: 0..3;
0..7 f(x: 0..7) {
  return x + 1;
}
void main() {
  n := f(2);
  f(7);
  _ := f(7);
  n := f(3);
}",
        violated: &["range@9"],
        doubts: &["range@6", "range@9"],
        deadlock: false,
    },
    Case {
        why: "what a call stores is what all returns of the procedure can be",
        text: "decl n: 0..3;
0..7 f() { if (*) { return 1; } return 3; }
0..7 g() { if (0) { return 1; } return 7; }
void main() { n := f();
  if (0) { n := g(); } }",
        violated: &[],
        doubts: &["range@5"],
        deadlock: false,
    },
    Case {
        why: "arguments are checked at the call, and at the start of a thread",
        text: "decl n: 0..3 := 3;
void f(x: 0..2) { assert(x < 3); }
void main() {
  if (*) { f(n); }
  n := 2; f(n); n := 3;
  thread f(n);
}",
        violated: &["range@4", "range@6"],
        doubts: &["range@4", "range@5", "range@6"],
        deadlock: false,
    },
    Case {
        why: "a loop takes a step to begin and one after each round, and others come between",
        text: "decl n: 0..2; decl done;
void f() { for i in 1..2 { n := i; assert(n = i) \"mine\"; } done := 1; }
void main() { thread f(); wait(n = 1); assert(n = 1) \"still\"; wait(done); assert(n = 2) \"all\"; }",
        violated: &["still"],
        doubts: &[],
        deadlock: true,
    },
    Case {
        why: "the first value is there when a loop has begun, and the beginning is a step",
        text: "decl n: 0..2;
void f() { n := 1; for i in 2..2 { n := i; } }
void main() { thread f(); wait(n = 1); atomic { assume(n = 1); } assert(n = 1); }",
        violated: &["main@3"],
        doubts: &[],
        deadlock: true,
    },
    Case {
        why: "a loop over nothing is one step that does nothing",
        text: "void main() { for i in 3..2 { assert(0); } assert(1); }",
        violated: &[],
        doubts: &[],
        deadlock: false,
    },
    Case {
        why: "a loop over an enumeration goes through its values in their order",
        text: "enum Colour { red, green, blue } decl b[Colour]: 0..2; decl n: 0..3;
void main() { for c in Colour { b[c] := n; n := n + 1; } assert(b[red] = 0 & b[green] = 1 & b[blue] = 2); }",
        violated: &[],
        doubts: &["range@2", "range@2.2"],
        deadlock: false,
    },
    Case {
        why: "a signal wakes exactly one",
        text: "lock l; condition c; decl n: 0..2; decl ready: 0..2;
void f() { lock(l); ready := ready + 1; wait(c, l); n := n + 1; assert(n < 2); unlock(l); }
void main() { thread f() * 2; lock(l); wait(ready = 2); signal(c); unlock(l); }",
        violated: &[],
        doubts: &["range@2", "range@2.2"],
        deadlock: true,
    },
    Case {
        why: "a broadcast wakes all that sleep on the condition, and no others",
        text: "lock l; condition c[2]; decl n: 0..3; decl ready: 0..3; decl woken[2];
void f(i: 0..1) { lock(l); ready := ready + 1; wait(c[i], l); woken[i] := 1; n := n + 1; unlock(l); }
void main() {
  thread f(0) * 2; thread f(1);
  wait(ready = 3 & !l); broadcast(c[0]); broadcast; wait(n = 2); assert(woken[0] & !woken[1]);
  signal(c[1]); wait(n = 3);
  assert(0) \"all\";
}",
        violated: &["all"],
        doubts: &["range@2", "range@2.2"],
        deadlock: false,
    },
    Case {
        why: "a signal that nobody waits for is lost",
        text: "lock l; condition c;
void main() { signal(c); lock(l); wait(c, l); assert(0); }",
        violated: &[],
        doubts: &[],
        deadlock: true,
    },
    Case {
        why: "threads meet at a barrier again and again",
        text: "decl round[2]: 0..2; barrier b(2);
void f(i: 0..1) {
  for r in 1..2 {
    round[i] := r; arrive(b);
    assert(round[0] >= r & round[1] >= r); assert(round[0] = round[1]) \"same\";
  }
}
void main() { thread f(0); thread f(1); }",
        violated: &["same"],
        doubts: &[],
        deadlock: false,
    },
    Case {
        why: "those that are too many wait for ever",
        text: "barrier b(2); void f() { arrive(b); } void main() { thread f() * 3; }",
        violated: &[],
        doubts: &[],
        deadlock: true,
    },
    Case {
        why: "a second statement on a line that has a property has another name; those without one are not counted",
        text: "decl n: 0..3; decl a[2];
void main() { n := 3; n := n - 1; a[n] := 1; n := n + 0; a[n - 1] := 1; n := n + 1; n := n + 1; }",
        violated: &["index@2"],
        doubts: &["index@2", "index@2.2", "range@2", "range@2.2", "range@2.3"],
        deadlock: false,
    },
    Case {
        why: "names are counted over the whole file, whatever the procedures are",
        text: "decl n: 0..1 := 1; void f() { n := n + 1; } void main() { n := n - 1; n := n - 1; thread f(); }",
        violated: &["range@1.3"],
        doubts: &["range@1", "range@1.2", "range@1.3"],
        deadlock: false,
    },
    Case {
        why: "other values of `*` go on where one violates",
        text: "decl a[2]; decl n: 0..3;
void main() {
  n := *;
  a[n] := 1;
  assert(!a[0]); assert(a[0]);
}",
        violated: &["index@4", "main@5", "main@5.2"],
        doubts: &["index@4"],
        deadlock: false,
    },
    Case {
        why: "a thread does not go on after a violation, but others do",
        text: "decl n: 0..1 := 1; decl x;
void f() { n := n + 1; x := 1; }
void main() { thread f(); assert(!x); assert(!x & n = 1); }",
        violated: &["range@2"],
        doubts: &["range@2"],
        deadlock: false,
    },
    Case {
        why: "in an atomic section the section is not left",
        text: "decl n: 0..1; decl a;
void f() { atomic { a := 1; n := n - 1; a := 0; } }
void main() { thread f(); wait(a); assert(0); }",
        violated: &["range@2"],
        doubts: &["range@2"],
        deadlock: false,
    },
    Case {
        why: "an atomic section whose first statement violates has not begun",
        text: "decl n: 0..1; decl a;
void f() { atomic { n := n - 1; a := 1; } }
void main() { thread f(); a := 0; assert(0); }",
        violated: &["main@3", "range@2"],
        doubts: &["range@2"],
        deadlock: false,
    },
    Case {
        why: "whole arrays and records are stored, compared and passed; each element is checked",
        text: "record P { x; y: 0..2; z[2]: 0..1; } decl p, q: P; decl a[2]: 0..3; decl b[2]: 0..2;
P f(r: P, c[2]: 0..3) { r.y := c[1] - 1; return r; }
void main() {
  p.z[1], a := 1, b;
  q := f(p, a);
}",
        violated: &["range@2"],
        doubts: &["range@2"],
        deadlock: false,
    },
    Case {
        why: "an array of larger numbers is checked element by element",
        text: "decl a[2]: 0..3; decl b[2]: 0..2 := [2, 1];
void main() {
  a := b; assert(a = b); a[1] := 3; assert(a != b);
  b := a;
}",
        violated: &["range@4"],
        doubts: &["range@4"],
        deadlock: false,
    },
    Case {
        why: "`*` makes every part any value",
        text: "record P { x; y: 0..2; } decl p, q: P := *;
void main() {
  assert(p = q) \"same\"; assert(!(p.x & q.y = 2)) \"most\";
  p := *; assert(p.y < 3); dead q; assert(q.y != 1) \"one\";
}",
        violated: &["most", "one", "same"],
        doubts: &[],
        deadlock: false,
    },
    Case {
        why: "a semaphore lets as many in as it has permits, and waits rather than violates",
        text: "semaphore s := 2; decl n: 0..3;
void f() { acquire(s); fetch_add(n, 1); assert(n < 3) \"two\"; assert(n < 2) \"one\"; fetch_add(n, -1); release(s); }
void main() { thread f() * 3; }",
        violated: &["one"],
        doubts: &["range@2", "range@2.2", "range@2.3"],
        deadlock: false,
    },
    Case {
        why: "a semaphore has at most 255 permits",
        text: "semaphore s := 255; void main() {
  release(s);
}",
        violated: &["range@2"],
        doubts: &["range@2"],
        deadlock: false,
    },
    Case {
        why: "the result of fetch_add is what was there, and its target is checked, too",
        text: "decl n: 0..7 := 3; decl old: 0..3; void main() {
  old := fetch_add(n, 2); assert(old = 3 & n = 5);
  old := fetch_add(n, 1);
}",
        violated: &["range@3"],
        doubts: &["range@2", "range@3"],
        deadlock: false,
    },
    Case {
        why: "without a value a number starts with 0 if that is in the range, else with the lowest",
        text: "const N = 2; kind K = -N..N-1; decl a: K, b: 3..5, c[N]: -3..-1; void main() {
  assert(a = 0 & b = 3 & c[0] = -3 & c[1] = -3);
}",
        violated: &[],
        doubts: &[],
        deadlock: false,
    },
];

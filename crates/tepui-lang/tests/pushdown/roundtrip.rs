//! What is printed reads back as the same model.

use tepui_lang::pushdown::{print_cpds, print_init, print_pds, print_spec};
use tepui_model::pushdown::{Model, Pattern};

use crate::{Texts, random, without_lines};

/// Prints a model in both forms, reads it again and compares.
#[track_caller]
pub(crate) fn check(model: &Model) {
    let text = print_cpds(model);
    let texts = Texts::new(text.as_bytes(), None, None, None);
    let again = texts.cpds().unwrap_or_else(|errors| panic!("{errors:?}\n{text}")).model;
    assert_eq!(without_lines(&again), without_lines(model), "\n{text}");
    assert_eq!(print_cpds(&again), text);
    let [pds, init, spec] = [print_pds(model), print_init(model), print_spec(model)];
    let spec = (!model.properties().is_empty()).then_some(spec);
    let texts = Texts::new(pds.as_bytes(), Some(init.as_bytes()), spec.as_deref().map(str::as_bytes), None);
    let again = texts.cuba().unwrap_or_else(|errors| panic!("{errors:?}\n{pds}\n{init}\n{spec:?}")).model;
    assert_eq!(again.digest(), model.digest(), "\n{pds}\n{init}\n{spec:?}");
    assert_eq!(patterns(&again), patterns(model));
}

fn patterns(model: &Model) -> Vec<&[Pattern]> {
    model.properties().iter().map(|property| property.never.as_slice()).collect()
}

/// Reads a text in the form with names and compares what is printed.
#[track_caller]
fn check_print(text: &str, cpds: &str, pds: &str, init: &str, spec: &str) {
    let model = Texts::new(text.as_bytes(), None, None, None).cpds().unwrap().model;
    check(&model);
    assert_eq!(print_cpds(&model), cpds);
    assert_eq!((print_pds(&model), print_init(&model), print_spec(&model)), (pds.into(), init.into(), spec.into()));
}

#[test]
fn names_are_kept_or_explained() {
    check_print(
        "init idle | b.a * 2, -, -\nthread w*2 {\n idle a -> busy a b\n busy - -> idle b\n}\nthread w * 4..4 {}\nthread x { }
         shared idle busy\nnever idle | a, *, -, *\nnever all: * | * * 4 or busy | b * 2, z, -",
        "\
shared idle busy

thread w * 2 {
  stack a b
  idle a -> busy a b
  busy - -> idle b
}

thread w * 4..4 {
  stack z
}

thread x {
  stack
}

init idle | b.a, b.a, -, -

never idle | a, *, -, *

never all: * | *, *, *, * or busy | b, b, z, -
",
        "\
2 # shared states
#   0 = idle
#   1 = busy

# thread w#1
#   1 = a
#   2 = b
PDA 1 2
0 1 -> 1 1 2
1 - -> 0 2

# thread w#2
#   1 = a
#   2 = b
PDA 1 2
0 1 -> 1 1 2
1 - -> 0 2

# thread w#4
#   1 = z
PDA 1 1

# thread x
PDA 0 0
",
        "0|2.1,2.1,-,-\n",
        "# never-1\n0|1,*,-,*\n# all\n*|*,*,*,* or 1|2,2,1,-\n",
    );
}

#[test]
fn increasing_numerals_are_kept() {
    check_print(
        "shared 0..4\nthread t {\n stack 3 70 8\n 0 3 -> 4 8\n}\nthread u {\n stack 70 8\n 0 8 -> 4 70\n}\ninit 1 | 3, 8",
        "\
shared 0..4

thread t {
  stack 3 8
  0 3 -> 4 8
}

thread u {
  stack 70 8
  0 8 -> 4 70
}

init 1 | 3, 8
",
        "\
5 # shared states

# thread t
PDA 3 8
0 3 -> 4 8

# thread u
#   1 = 70
#   2 = 8
PDA 1 2
0 2 -> 4 1
",
        "1|3,2\n",
        "",
    );
}

#[test]
fn random_models_survive() {
    (0..20_000).for_each(|seed| check(&random::model(seed)));
}

#[test]
fn many_threads_survive() {
    let text = "shared q\nthread t * 65535 {\nq a -> q b\n}\ninit q | a * 65535\nnever * | b * 65535";
    check(&Texts::new(text.as_bytes(), None, None, None).cpds().unwrap().model);
}

//! Specs that stay hot for ever: what is found is replayed, what is proved is checked, and forgeries are refused.

use std::sync::Arc;

use tepui::{Budget, Options as Settings, Problem, QUEUES, Verdict, verify};
use tepui_cert::queue::{Step, Trace};
use tepui_check::queue::{check, replay};
use tepui_engines::queue::explorer::Explorer;
use tepui_engines::queue::summary::Precision;
use tepui_lang::p::{Options, read};
use tepui_lang::source::Source;
use tepui_model::queue::evaluate::Error;
use tepui_model::queue::{Program, Value};

/// A worker that is asked again and again, and answers if a choice goes one way; a clock ticks beside it.
const ASKED: &str = "
event eAsk; event eAnswer; event eTick; event eDone;
machine Main {
  var worker: machine; var rounds: int;
  start state Init { entry { new Clock(); worker = new Worker(this); send worker, eAsk; } on eDone do Again; }
  fun Again() { rounds = rounds + 1; send worker, eAsk; }
}
machine Worker {
  var boss: machine;
  start state Init { entry (m: machine) { boss = m; } on eAsk do Work; }
  fun Work() { if (CHOICE) { announce eAnswer; } send boss, eDone; }
}
machine Clock { start state Run { entry { send this, eTick; } on eTick goto Run; } }
spec Answers observes eAsk, eAnswer {
  start cold state Idle { on eAsk goto Asked; ignore eAnswer; }
  hot state Asked { ignore eAsk; on eAnswer goto Idle; }
}
test t [main=Main]: assert Answers in { Main, Worker, Clock };
";

fn program(choice: &str) -> Program {
    let text = ASKED.replace("CHOICE", choice);
    let parsed = read(&[Source::new("x.p", text.as_bytes())], Options::default()).unwrap();
    parsed.tests.into_iter().next().unwrap().program
}

/// The verdict about liveness, which has gone through the checker.
fn verdict(program: &Program) -> Verdict {
    let problem = Problem::from(program.clone());
    let options = Settings { engine: &QUEUES, self_check: true, ..Settings::default() };
    let outcome = verify(&problem, &options, &Budget::unlimited()).unwrap().outcome;
    outcome.properties.into_iter().find(|property| property.name == "liveness").unwrap().verdict
}

fn circle(program: &Program) -> Trace {
    let Verdict::Unsafe(refuted) = verdict(program) else { panic!("it is safe") };
    Trace::try_from(refuted.trace().clone()).unwrap()
}

#[test]
fn choices_are_fair_or_not() {
    assert!(matches!(verdict(&program("$$")), Verdict::Safe(_)));
    assert!(matches!(verdict(&program("true")), Verdict::Safe(_)));
    // A counter that nothing depends on grows for ever, and the circle is one all the same.
    for choice in ["$", "false"] {
        let program = program(choice);
        let trace = circle(&program);
        assert!(replay(&program, &trace).unwrap().message.contains("Answers"), "{choice}");
        let read = Trace::from_text(&trace.to_text(|_| String::new())).unwrap();
        assert_eq!(read, [trace]);
    }
}

type Forgery = (&'static str, fn(&mut Trace));

const FORGERIES: &[Forgery] = &[
    ("the circle is cut", |trace| trace.steps.truncate(trace.steps.len() - 1)),
    ("it begins a step earlier", |trace| trace.circle.iter_mut().for_each(|circle| circle.after -= 1)),
    ("it begins at the end", |trace| {
        let steps = trace.steps.len();
        trace.circle.iter_mut().for_each(|circle| circle.after = steps);
    }),
    ("nothing goes round", |trace| trace.circle = None),
    ("another property", |trace| trace.property = Error::HotAtEnd.name().to_owned()),
    ("only the clock goes on", |trace| {
        let after = trace.circle.as_ref().map_or(0, |circle| circle.after);
        trace.steps.truncate(after);
        trace.steps.push(Step { machine: 1, choices: Vec::new() });
    }),
    ("what matters is forgotten", |trace| {
        let circle = trace.circle.as_mut().unwrap();
        let machines = circle.state.machines.iter_mut();
        machines.for_each(|machine| machine.local.variables.iter_mut().for_each(|value| *value = Value::Forgotten));
    }),
    ("a machine is missing", |trace| _ = trace.circle.as_mut().unwrap().state.machines.pop()),
    ("a spec is missing", |trace| _ = trace.circle.as_mut().unwrap().state.specs.pop()),
    ("a queue is longer", |trace| {
        let circle = trace.circle.as_mut().unwrap();
        let letter = circle.state.machines.iter().find_map(|machine| machine.queue.first().cloned()).unwrap();
        circle.state.machines[0].queue.push(letter);
    }),
    ("the program has no such state", |trace| {
        trace.circle.as_mut().unwrap().state.machines[0].local.states = vec![u32::MAX];
    }),
];

#[test]
fn forged_circles_are_refused() {
    let program = program("$");
    let honest = circle(&program);
    for (what, forge) in FORGERIES {
        let mut forged = honest.clone();
        forge(&mut forged);
        assert!(forged != honest && replay(&program, &forged).is_err(), "{what}");
    }
}

/// A worker that never answers is no better with the certificate of one that does, nor with its own.
#[test]
fn what_stays_hot_is_not_proved() {
    for (choice, holds) in [("true", true), ("$$", true), ("$", false), ("false", false)] {
        let program = program(choice);
        for precision in [Precision::EXACT, Precision::ENDS] {
            let kinds = program.kinds.len();
            let mut explorer = Explorer::new(Arc::new(program.clone()), vec![precision; kinds], usize::MAX);
            assert!(explorer.run(&mut |_| false));
            let certificate = explorer.certificate(&[Error::HotForEver]);
            let judged = check(&program, &["liveness".to_owned()], &certificate, &|| false);
            assert_eq!(judged.is_ok(), holds, "{choice} {precision:?}: {judged:?}");
        }
    }
}

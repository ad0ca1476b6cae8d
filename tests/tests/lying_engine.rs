//! An engine that lies. The driver has to believe it, the self-check does not: what does not hold becomes unknown.

#![allow(clippy::unwrap_used)]

use tepui_cert::pushdown::{Certificate, Trace};
use tepui_core::{
    Bound, Budget, Decorator, Engine, Evidence, Facts, Member, Portfolio, Query, Reason, Round, Status, Stop, Verdict,
    drive,
};
use tepui_model::pushdown::Model;
use tepui_tests::facade::self_check;
use tepui_tests::systems::{handshake, never};

static LIAR: Facts = Facts::new("liar", &["lies"]);
static ACCUSER: Facts = Facts::new("accuser", &["lies"]);

/// Claims a violation of its first property, or a proof of it, with evidence that shows nothing.
struct Liar {
    model: Model,
    violated: bool,
}

impl Engine for Liar {
    fn facts(&self) -> &'static Facts {
        if self.violated { &ACCUSER } else { &LIAR }
    }

    fn next_bound(&self) -> Option<Bound> {
        Some(LIAR.bound(&[1]))
    }

    fn explore(&mut self, _: &mut Budget) -> Result<Round, Stop> {
        let violated = (0..usize::from(self.violated)).collect();
        let empty = Round::empty(self.facts(), LIAR.bound(&[1]));
        Ok(Round { views: 1, states: 1, violated, test_due: true, ..empty })
    }

    fn converged(&mut self, _: &mut Budget) -> Result<Option<Evidence>, Stop> {
        let properties = self.model.properties().to_vec();
        let certificate = Certificate { model: self.model.digest(), properties, lemmas: Vec::new(), regular: None };
        Ok(Some(Evidence::new(certificate, "I say so".to_owned(), "lie")))
    }

    fn trace(&mut self, property: usize, _: &mut Budget) -> Result<(tepui_cert::Trace, Option<Bound>), Stop> {
        let property = self.model.properties()[property].clone();
        let start = self.model.init().clone();
        Ok((Trace { model: self.model.digest(), property, start, steps: Vec::new() }.into(), None))
    }

    fn views(&self, _: bool, _: &mut Budget) -> Vec<String> {
        Vec::new()
    }
}

/// A model with properties that hold, and what is asked about it.
fn model(properties: usize) -> (Model, Query) {
    let threads = handshake().threads().len();
    let unreached = never(Some(handshake().init().shared.0), &vec![Some(0); threads]);
    let named = |number: usize| tepui_model::pushdown::Property { name: format!("p{number}"), ..unreached.clone() };
    let model = handshake().with_properties((0..properties).map(named).collect()).unwrap();
    let names = model.properties().iter().map(|property| property.name.clone()).collect();
    (model, Query::new(names))
}

#[test]
fn lies_become_unknown() {
    for (violated, claimed) in [(true, Status::Unsafe), (false, Status::Safe)] {
        let (model, query) = model(1);
        let mut outcome = drive(&mut Liar { model: model.clone(), violated }, &query, &mut Budget::unlimited());
        assert_eq!(outcome.status(), claimed);
        assert!(self_check(&model, &mut outcome).is_err());
        assert!(matches!(outcome.properties[0].verdict, Verdict::Unknown(Reason::SelfCheckFailed(_))), "{claimed:?}");
    }
}

/// Two engines that contradict each other show a defect, and none of their answers is given.
#[test]
fn contradictions_become_unknown() {
    let (model, query) = model(2);
    let member = |violated: bool| Member::new(Liar { model: model.clone(), violated });
    let outcome = drive(&mut *Portfolio::of(vec![member(true), member(false)], 2), &query, &mut Budget::unlimited());
    // The first one proves the second property: so there is nothing left that could be disputed.
    assert_eq!((outcome.status(), outcome.engine), (Status::Unsafe, &ACCUSER));
    let accuser = Member::new(Unconvinced(Liar { model: model.clone(), violated: true }));
    let outcome = drive(&mut *Portfolio::of(vec![accuser, member(false)], 2), &query, &mut Budget::unlimited());
    for property in &outcome.properties {
        let Verdict::Unknown(Reason::SelfCheckFailed(why)) = &property.verdict else { panic!("{property:?}") };
        assert!(why.contains("about p0: liar proves it, and accuser violates it"), "{why}");
    }
}

/// A liar that never proves anything.
struct Unconvinced(Liar);

impl Decorator for Unconvinced {
    fn inner(&self) -> &dyn Engine {
        &self.0
    }

    fn inner_mut(&mut self) -> &mut dyn Engine {
        &mut self.0
    }

    fn converged(&mut self, _: &mut Budget) -> Result<Option<Evidence>, Stop> {
        Ok(None)
    }
}

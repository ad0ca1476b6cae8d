//! An engine that lies. The driver has to believe it, the self-check does not: what does not hold becomes unknown.

#![allow(clippy::unwrap_used)]

use tepui::self_check;
use tepui_cert::pushdown::{Certificate, Trace};
use tepui_core::{Bound, Budget, Engine, Evidence, Outcome, Reason, Round, Status, Stop, Task, Verdict, drive};
use tepui_model::pushdown::Model;
use tepui_tests::systems::{handshake, never};

/// Claims a violation of its first property, or a proof of it, with evidence that shows nothing.
struct Liar {
    model: Model,
    violated: bool,
}

impl Engine for Liar {
    fn name(&self) -> &'static str {
        "liar"
    }

    fn resource(&self) -> &'static str {
        "lies"
    }

    fn next_bound(&self) -> Bound {
        Bound::on(&["lies"], &[1])
    }

    fn explore(&mut self, _: &mut Budget) -> Round {
        let violated = (0..usize::from(self.violated)).collect();
        Round { views: 1, states: 1, violated, test_due: true, ..Round::default() }
    }

    fn converged(&mut self, _: &mut Budget) -> Result<Option<Evidence>, Stop> {
        let properties = self.model.properties().to_vec();
        let certificate =
            Certificate { model: self.model.digest(), properties, lemmas: Vec::new(), regular: None }.into();
        Ok(Some(Evidence { certificate, because: "I say so".to_owned(), kind: "lie", view_depth: Some(1) }))
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

fn run(violated: bool) -> (Model, Outcome) {
    let threads = handshake().threads().len();
    let unreached = never(Some(handshake().init().shared.0), &vec![Some(0); threads]);
    let model = handshake().with_properties(vec![unreached]).unwrap();
    let properties = model.properties().iter().map(|property| property.name.clone()).collect();
    let task = Task { properties, bound_limit: None, prove: true, list_views: false, stop_at_first: false };
    let mut liar = Liar { model: model.clone(), violated };
    (model, drive(&mut liar, &task, &mut Budget::unlimited()))
}

#[test]
fn lies_become_unknown() {
    for (violated, claimed) in [(true, Status::Unsafe), (false, Status::Safe)] {
        let (model, mut outcome) = run(violated);
        assert_eq!(outcome.status(), claimed);
        assert!(self_check(&model.clone().into(), &mut outcome).is_err());
        assert!(matches!(outcome.properties[0].verdict, Verdict::Unknown(Reason::SelfCheckFailed(_))), "{claimed:?}");
    }
}

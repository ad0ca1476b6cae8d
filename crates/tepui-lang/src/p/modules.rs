//! Modules and tests: who is created for whom, and which specs listen.

use std::collections::{BTreeSet, HashMap};

use tepui_model::queue::{self, Function, Handler, Instruction, Kind, Program, Rules, Spec, Value};

use super::compile::{Compiled, Compiler, Setting, bound};
use super::instances::instances;
use super::names::Names;
use super::syntax::{ModuleExpression, ModuleForm, Name, Place, Role, Test};
use super::types::Type;
use super::{Send, TestCase};
use crate::diagnostic::{Sink, quote};

/// What a module denotes.
#[derive(Clone, Default)]
struct Module {
    /// What is created for machines and interfaces.
    bindings: Vec<(usize, usize)>,
    /// The specs, each with the machines that it listens to.
    specs: Vec<(usize, Vec<usize>)>,
    main: Option<usize>,
}

/// Tests under construction.
pub(super) struct Tests<'n, 'p> {
    pub(super) names: &'n Names<'p>,
    /// Everything compiled without a test, for what machines create and send.
    pub(super) compiled: &'n Compiled,
    pub(super) today: bool,
    pub(super) send: Send,
    pub(super) all_instances: bool,
    /// Whether specs that a test does not attach are attached to it all the same.
    pub(super) attach_specs: bool,
    /// The modules that the one at hand is part of.
    pub(super) around: Vec<String>,
    pub(super) sink: &'n mut Sink,
}

impl Tests<'_, '_> {
    /// All instances of all tests; where there is no test, the machine `Main` with everything bound to itself.
    pub(super) fn all(&mut self) -> Vec<TestCase> {
        let project = self.names.project;
        let has_tests = project.tests.iter().any(|test| !test.implementation);
        let mut cases = Vec::new();
        for test in &project.tests {
            let found = self.test(test);
            // An implementation is taken for a test where there is no other.
            if !test.implementation || !has_tests {
                cases.extend(found);
            }
        }
        let main = self.names.reference_named("Main").filter(|&main| !self.names.is_spec(main));
        if let (true, Some(main)) = (project.tests.is_empty(), main) {
            let machines = 0..project.machines.len();
            let module = Module { bindings: machines.map(|own| (own, own)).collect(), specs: Vec::new(), main: None };
            let others = self.others(&module);
            let module = Module { specs: others, ..module };
            cases.push(self.case(String::new(), main, &module, HashMap::new()));
        }
        self.warn_of_idle_specs(&cases);
        cases
    }

    /// What is attached to every test: scenarios, and other specs, if that is wanted.
    fn others(&self, module: &Module) -> Vec<(usize, Vec<usize>)> {
        let machines: Vec<_> = module.bindings.iter().map(|(_, machine)| *machine).collect();
        let is_other = |(own, role): &(usize, Role)| match role {
            Role::Machine => false,
            Role::Scenario => true,
            Role::Spec => self.attach_specs && !module.specs.iter().any(|(attached, _)| attached == own),
        };
        let all = self.names.project.machines.iter().map(|machine| machine.role).enumerate();
        all.filter(is_other).map(|(own, _)| (own, machines.clone())).collect()
    }

    /// A spec that no test attaches checks nothing.
    fn warn_of_idle_specs(&mut self, cases: &[TestCase]) {
        for (number, machine) in self.names.project.machines.iter().enumerate() {
            let attached = cases.iter().any(|case| case.program.specs.iter().any(|spec| spec.kind == number));
            if machine.role == Role::Spec && !attached && !cases.is_empty() {
                let message = format!("no test attaches the spec {}: it checks nothing", quote(&machine.name.text));
                let warning = machine.name.place.warning(message, "a test would name it behind `assert`");
                self.sink.push(warning.hint("--attach-specs attaches every spec to every test"));
            }
        }
    }

    fn test(&mut self, test: &Test) -> Vec<TestCase> {
        if let Some(place) = test.refines {
            self.sink.push(place.error("`refines` is not supported", "here"));
            return Vec::new();
        }
        let Some(mut module) = self.module(&test.module) else { return Vec::new() };
        let main = test.main.as_ref().map(|main| self.names.reference(main, self.sink));
        let main = main.unwrap_or(module.main);
        let Some(main) = main else {
            self.sink.push(test.name.place.error("the test does not say which machine comes first", "`[main=M]`"));
            return Vec::new();
        };
        let Some((_, first)) = module.bindings.iter().find(|(created, _)| *created == main).copied() else {
            let message = format!("{} is not in the module", quote(self.names.reference_name(main)));
            self.sink.push(test.name.place.error(message, "the first machine must be"));
            return Vec::new();
        };
        self.require_closed(&module, test.name.place);
        let others = self.others(&module);
        module.specs.extend(others);
        let assignments = match &test.parametric {
            None => vec![HashMap::new()],
            Some(parametric) => instances(parametric, self.names, self.all_instances, self.sink),
        };
        let named = |values: &HashMap<String, Value>| match &test.parametric {
            None => test.name.text.clone(),
            Some(parametric) => super::instances::named(&test.name.text, parametric, values),
        };
        let cases = assignments.into_iter().map(|values| (named(&values), values)).collect::<Vec<_>>();
        cases.into_iter().map(|(name, values)| self.case(name, first, &module, values)).collect()
    }

    fn case(&mut self, name: String, main: usize, module: &Module, parameters: HashMap<String, Value>) -> TestCase {
        let bindings = module.bindings.iter().copied().collect();
        let setting = Setting { bindings, parameters, numbered: !self.today };
        let mut sink = Sink::default();
        let compiled = Compiler::new(self.names, &setting, &mut sink).all();
        let project = self.names.project;
        for first in [main].into_iter().chain(module.specs.iter().map(|(spec, _)| *spec)) {
            let wanted = &compiled.arguments[first];
            if !wanted.takes(&Type::Null, self.names) {
                let message =
                    format!("what is there at first is given nothing, and this takes {}", self.names.shown(wanted));
                self.sink.push(project.machines[first].name.place.error(message, "this"));
            }
        }
        let spec = |(kind, hears): &(usize, Vec<usize>)| Spec {
            kind: *kind,
            observes: compiled.observes[*kind].clone(),
            hears: hears.clone(),
            scenario: project.machines[*kind].role == Role::Scenario,
        };
        let specs: Vec<_> = module.specs.iter().map(spec).collect();
        let split_sends = match self.send {
            Send::AsTheDialect => self.today,
            Send::Atomic => false,
            Send::Split => true,
        };
        let rules =
            Rules { today: self.today, split_sends, insertion_order: compiled.sees_order, assume_claims: false };
        let bounds = project.events.iter().map(|event| event.bound.map(bound));
        let events = [None, None].into_iter().chain(bounds).collect();
        let Compiled { kinds, functions, mut payloads, told, assumes, .. } = compiled;
        for (event, payload) in (0..).zip(&mut payloads) {
            if !is_looked_at(event, &kinds, &functions) {
                *payload = queue::Type::Any;
            }
        }
        let program = Program {
            rules,
            events,
            payloads,
            kinds,
            functions,
            main,
            specs,
            claims: Vec::new(),
            forgets: BTreeSet::new(),
            told,
        };
        TestCase { name, program, assumes }
    }

    /// What is created must be bound.
    fn require_closed(&mut self, module: &Module, place: Place) {
        for (_, machine) in &module.bindings {
            for created in &self.compiled.creates[*machine] {
                if !module.bindings.iter().any(|(bound, _)| bound == created) {
                    let (who, whom) = (self.names.reference_name(*machine), self.names.reference_name(*created));
                    let message = format!("{} creates {}, which is not in the module", quote(who), quote(whom));
                    self.sink.push(place.error(message, "the module of this test"));
                }
            }
        }
    }

    fn module(&mut self, expression: &ModuleExpression) -> Option<Module> {
        match &expression.form {
            ModuleForm::Named(name) => {
                let found = self.names.project.modules.iter().find(|(other, _)| other.text == *name);
                let Some((_, inner)) = found else {
                    let name = Name { text: name.clone(), place: expression.place };
                    let known = self.names.project.modules.iter().map(|(name, _)| name.text.as_str());
                    self.names.unknown("module", &name, known, self.sink);
                    return None;
                };
                if self.around.contains(name) {
                    let message = format!("the module {} is part of itself", quote(name));
                    self.sink.push(expression.place.error(message, "here"));
                    return None;
                }
                self.around.push(name.clone());
                let module = self.module(inner);
                self.around.pop();
                module
            }
            ModuleForm::Bindings(bindings) => self.bindings(bindings),
            ModuleForm::Union(parts) => {
                let parts: Option<Vec<_>> = parts.iter().map(|part| self.module(part)).collect();
                parts.map(|parts| self.united(parts, expression.place))
            }
            ModuleForm::Assert(specs, inner) => {
                let module = self.module(inner)?;
                self.attached(specs, module)
            }
            ModuleForm::Main(main, inner) => {
                let mut module = self.module(inner)?;
                module.main = self.names.reference(main, self.sink);
                Some(module)
            }
            ModuleForm::Unsupported(what) => {
                self.sink.push(expression.place.error(format!("`{what}` is not supported"), "here"));
                None
            }
        }
    }

    /// Today the machine stands left of the arrow, in the old dialect the interface.
    fn bindings(&mut self, written: &[(Name, Option<Name>)]) -> Option<Module> {
        let mut module = Module::default();
        for (left, right) in written {
            let (machine, interface) = match right {
                None => (left, left),
                Some(right) if self.today => (left, right),
                Some(right) => (right, left),
            };
            let bound = self.names.reference(machine, self.sink).zip(self.names.reference(interface, self.sink));
            let (number, created) = bound?;
            if number >= self.names.project.machines.len() || self.names.is_spec(number) {
                self.sink.push(machine.place.error(format!("{} is no machine", quote(&machine.text)), "not here"));
                return None;
            }
            let (given, taken) = (&self.compiled.arguments[created], &self.compiled.arguments[number]);
            if !taken.takes(given, self.names) {
                let (given, taken) = (self.names.shown(given), self.names.shown(taken));
                let message = format!("{} is created with {given}, and takes {taken}", quote(&machine.text));
                self.sink.push(machine.place.error(message, "bound here"));
            }
            if module.bindings.iter().any(|(other, _)| *other == created) {
                self.sink
                    .push(interface.place.error(format!("{} is bound twice", quote(&interface.text)), "again here"));
            }
            module.bindings.push((created, number));
        }
        Some(module)
    }

    fn united(&mut self, parts: Vec<Module>, place: Place) -> Module {
        let mut module = Module::default();
        for part in parts {
            for (created, machine) in part.bindings {
                if module.bindings.iter().any(|(other, _)| *other == created) {
                    let name = self.names.reference_name(created);
                    self.sink.push(place.error(format!("{} is bound twice", quote(name)), "by two of these modules"));
                }
                module.bindings.push((created, machine));
            }
            for (spec, hears) in part.specs {
                self.attach(&mut module, spec, hears, place);
            }
            module.main = module.main.or(part.main);
        }
        module
    }

    fn attach(&mut self, module: &mut Module, spec: usize, hears: Vec<usize>, place: Place) {
        if module.specs.iter().any(|(other, _)| *other == spec) {
            let name = self.names.reference_name(spec);
            self.sink.push(place.error(format!("{} is attached twice", quote(name)), "again here"));
        }
        module.specs.push((spec, hears));
    }

    /// Specs hear only machines of the module, and each event that they observe must be sent there.
    fn attached(&mut self, specs: &[Name], mut module: Module) -> Option<Module> {
        let hears: Vec<_> = module.bindings.iter().map(|(_, machine)| *machine).collect();
        for name in specs {
            let spec = self.names.reference(name, self.sink)?;
            if !self.names.is_spec(spec) {
                self.sink
                    .push(name.place.error(format!("{} is no spec", quote(&name.text)), "only specs are attached"));
                return None;
            }
            let compiled = self.compiled;
            for event in &compiled.observes[spec] {
                let sends = |machine: &usize| {
                    compiled.sends[*machine].iter().any(|sent| sent.is_none_or(|sent| sent == *event))
                };
                if !hears.iter().any(sends) {
                    let event = compiled.told.events[*event as usize].clone();
                    let message = format!(
                        "no machine of the module sends {}, which {} observes",
                        quote(&event),
                        quote(&name.text)
                    );
                    self.sink.push(name.place.warning(message, "it will never hear of it"));
                }
            }
            self.attach(&mut module, spec, hears.clone(), name.place);
        }
        Some(module)
    }
}

/// Whether a machine or spec may look at the payload of an event.
fn is_looked_at(event: u32, kinds: &[Kind], functions: &[Function]) -> bool {
    let takes = |function: usize| functions[function].parameters > 0;
    let handles = |kind: &Kind| {
        let enters = |state: usize| kind.states[state].entry.is_some_and(takes);
        kind.states.iter().filter_map(|state| state.handler(event)).any(|handler| match handler {
            Handler::Ignore => false,
            Handler::Do(function) => takes(function),
            Handler::Goto(to, function) => function.is_some_and(takes) || enters(to),
            Handler::Push(to) => enters(to),
        })
    };
    let receives = |instruction: &Instruction| matches!(instruction, Instruction::Receive(cases, _) if cases.iter().any(|(case, _)| *case == event));
    kinds.iter().any(handles) || functions.iter().flat_map(|function| &function.code).any(receives)
}

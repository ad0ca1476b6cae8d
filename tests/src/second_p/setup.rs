//! What runs: the machine that starts, what is made where a name is created, and the specs with those that they hear.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::{Module, Name, Program, Sort};

/// A test, ready to run.
pub(super) struct Setup<'a> {
    pub(super) program: &'a Program,
    pub(super) main: usize,
    pub(super) bindings: BTreeMap<Name, usize>,
    pub(super) specs: Vec<(usize, BTreeSet<usize>)>,
    /// Whether specs hear of a send before it is in the queue.
    pub(super) split: bool,
}

impl<'a> Setup<'a> {
    /// The test with a name; without a name the only one, or else all machines bound to themselves, from `Main`.
    pub(super) fn new(program: &'a Program, test: &str, split: bool) -> Result<Self, String> {
        let called = |name: &Name| program.words[*name as usize] == test;
        let mut chosen = program.tests.iter().filter(|(name, _)| test.is_empty() || called(name));
        let (first, second) = (chosen.next(), chosen.next());
        if second.is_some() {
            return Err("several tests".to_owned());
        }
        let split = split && !program.old;
        let mut setup = Self { program, main: 0, bindings: BTreeMap::new(), specs: Vec::new(), split };
        let main = match first {
            Some((_, test)) => {
                setup.attach(&test.module)?;
                test.main
            }
            None => {
                for (number, kind) in program.kinds.iter().enumerate().filter(|(_, kind)| kind.sort == Sort::Machine) {
                    setup.bindings.insert(kind.name, number);
                }
                let main = program.kinds.iter().find(|kind| program.words[kind.name as usize] == "Main");
                main.ok_or("no machine Main")?.name
            }
        };
        setup.main = *setup.bindings.get(&main).ok_or("the main machine is not bound")?;
        Ok(setup)
    }

    /// Binds and attaches what a module says; the kinds of its machines.
    fn attach(&mut self, module: &Module) -> Result<BTreeSet<usize>, String> {
        match module {
            Module::Bind(all) => {
                let mut own = BTreeSet::new();
                for (name, machine) in all {
                    let kind = self.program.kind(*machine).ok_or("an unknown machine is bound")?;
                    if self.bindings.insert(*name, kind).is_some() {
                        return Err("bound twice".to_owned());
                    }
                    own.insert(kind);
                }
                Ok(own)
            }
            Module::Union(parts) => {
                let mut all = BTreeSet::new();
                for part in parts {
                    all.extend(self.attach(part)?);
                }
                Ok(all)
            }
            Module::Attach(specs, inner) => {
                let own = self.attach(inner)?;
                for spec in specs {
                    self.specs.push((self.program.kind(*spec).ok_or("an unknown spec")?, own.clone()));
                }
                Ok(own)
            }
            Module::Called(name) => {
                let module = self.program.modules.get(name).ok_or("an unknown module")?.clone();
                self.attach(&module)
            }
        }
    }
}

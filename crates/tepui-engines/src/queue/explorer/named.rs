//! Integers that are names.

use std::collections::BTreeMap;

use std::sync::Arc;

use crate::queue::summary::Precision;
use tepui_model::Digest;
use tepui_model::queue::Program;
use tepui_model::queue::atoms::Place;
use tepui_model::queue::state::Cannot;

use super::Explorer;
use crate::queue::atoms::Atoms;
use crate::queue::names::Names;

impl Explorer {
    /// The same from the start, but integers that are only compared with each other are names, if there are such. Machines
    /// do not change places then.
    #[must_use]
    pub fn with_names(mut self) -> Self {
        if self.tables.name() {
            return Self::with(self.tables, self.precision, self.longest, Some(Names::default()));
        }
        self
    }

    /// A search at the start of a program in which numbers that are chosen at some places are atoms, if that can be.
    pub fn with_atoms(program: &Program, places: Vec<Place>, precision: Vec<Precision>) -> Option<Self> {
        let with_atoms = Arc::new(program.with_atoms(&places).filter(|_| !places.is_empty())?);
        let atoms = Some(Atoms::new(places, program.digest()));
        Some(Self { atoms, ..Self::new(with_atoms, precision, usize::MAX) })
    }

    /// Whether some numbers that are chosen are atoms.
    pub fn has_atoms(&self) -> bool {
        self.atoms.is_some()
    }

    /// The places at which they are chosen.
    pub(in crate::queue) fn chosen_at(&self) -> &[Place] {
        self.atoms.as_ref().map_or(&[], |atoms| &atoms.places)
    }

    /// The program that was given.
    pub(in crate::queue) fn digest(&self) -> Digest {
        self.atoms.as_ref().map_or_else(|| self.tables.program().digest(), |atoms| atoms.program)
    }

    /// Whether some integers are names.
    pub fn has_names(&self) -> bool {
        self.names.is_some()
    }

    /// Rows that were replaced by others, in which integers are names.
    pub(in crate::queue) fn meant(&self) -> &BTreeMap<Vec<u32>, Vec<u32>> {
        static NONE: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
        self.names.as_ref().map_or(&NONE, |names| &names.meant)
    }

    /// Whether the row that was put together stands for another one, in which there are no names.
    pub(super) fn give_names(&mut self, before: &[u32]) -> bool {
        let Some(names) = &mut self.names else { return false };
        if *before == self.next {
            return true;
        }
        let meant = names.is_meant_by(&self.tables, &self.queues, before, &self.next);
        if meant {
            let mut row = self.next.clone();
            names.reduce(&mut self.tables, &mut self.queues, &mut row);
            names.meant.insert(before.to_vec(), row);
        } else {
            self.unknown = self.unknown.or(Some(Cannot::Forgotten));
        }
        meant
    }
}

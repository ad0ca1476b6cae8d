//! Models of concurrent programs and their step semantics.
//!
//! A model says which states there are, which steps each thread may take, and which views are forbidden. Nothing here
//! parses, searches or touches a file. One module for each form of model:
//! [`pushdown`] systems that share a variable, communicating ones that meet in a [`rendezvous`], and [`program`]s with
//! variables and procedures.

mod digest;
pub mod program;
pub mod pushdown;
pub mod rendezvous;

pub use digest::Digest;

/// A model of any kind that can be verified.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Model {
    /// Threads that share a variable.
    Pushdown(pushdown::Model),
    /// Threads that meet in actions.
    Rendezvous(rendezvous::Model),
}

impl Model {
    /// The fingerprint of what the model means; names and properties do not enter it.
    pub fn digest(&self) -> Digest {
        match self {
            Self::Pushdown(model) => model.digest(),
            Self::Rendezvous(model) => model.digest(),
        }
    }

    /// The names of the properties.
    pub fn property_names(&self) -> Vec<&str> {
        match self {
            Self::Pushdown(model) => model.properties().iter().map(|property| property.name.as_str()).collect(),
            Self::Rendezvous(model) => model.properties().iter().map(|property| property.name.as_str()).collect(),
        }
    }

    /// The same model with only those of its properties whose names are wanted.
    #[must_use]
    pub fn restricted(self, wanted: impl Fn(&str) -> bool) -> Self {
        match self {
            Self::Pushdown(model) => Self::Pushdown(model.restricted(|property| wanted(&property.name))),
            Self::Rendezvous(model) => Self::Rendezvous(model.restricted(|property| wanted(&property.name))),
        }
    }
}

impl From<pushdown::Model> for Model {
    fn from(model: pushdown::Model) -> Self {
        Self::Pushdown(model)
    }
}

impl From<rendezvous::Model> for Model {
    fn from(model: rendezvous::Model) -> Self {
        Self::Rendezvous(model)
    }
}

//! A proof, whatever its certificate is.

use tepui_cert::Certificate;
use tepui_core::Evidence;

/// Why the views reached are all there are. It is [`Evidence`] for the driver if its certificate is one that the checker knows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proof<C> {
    /// What can be checked.
    pub certificate: C,
    /// The argument, in one sentence for people.
    pub because: String,
    /// One word for the argument, for machines.
    pub kind: &'static str,
    /// The level of the views that the argument needed.
    pub level: usize,
}

impl<C: Into<Certificate>> From<Proof<C>> for Evidence {
    fn from(Proof { certificate, because, kind, level }: Proof<C>) -> Self {
        Self { view_depth: Some(level as u32), ..Self::new(certificate, because, kind) }
    }
}

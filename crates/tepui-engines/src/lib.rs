//! Techniques, one folder each; none knows another. What several of them need stands beside them: [`system`] is what they
//! know of a model, [`explorer`] takes its steps on all threads of the [`crew`], [`packed`] holds states and views in a
//! few bytes each, [`symmetry`] is about interchangeable threads, and [`pushdown`] is all that has to do with stacks.

pub mod bits;
pub mod closure;
pub mod contexts;
pub mod crew;
pub mod delays;
pub mod explorer;
pub mod packed;
pub mod pushdown;
pub mod rendezvous;
pub mod symmetry;
pub mod system;

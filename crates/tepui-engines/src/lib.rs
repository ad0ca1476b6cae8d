//! Techniques, one folder each; none knows another. What several of them need lives in [`pushdown`] (compiled rules,
//! over-approximations, finiteness) and [`packed`] (sets of tuples in a few bytes each).

pub mod closure;
pub mod contexts;
pub mod crew;
pub mod delays;
pub mod explorer;
pub mod packed;
pub mod pushdown;
pub mod symmetry;
pub mod system;

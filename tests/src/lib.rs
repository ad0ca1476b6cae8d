//! What the engines are compared with: a slow reading of the definitions, random small systems to compare on, systems
//! whose answers were worked out by hand, and the exact answers known for a corpus of published systems.
//!
//! Nothing here shares code with an engine. Of the model only its data is used: steps, views and patterns are written
//! again from their definitions, and a test compares them with the model's own.

pub mod corpus;
pub mod dispatches;
pub mod examples;
pub mod facade;
pub mod live;
pub mod oracle;
pub mod parts;
pub mod programs;
pub mod queues;
pub mod random;
pub mod random_p;
pub mod random_programs;
pub mod random_tasks;
pub mod rendezvous;
pub mod second;
pub mod second_p;
pub mod shrink;
pub mod systems;

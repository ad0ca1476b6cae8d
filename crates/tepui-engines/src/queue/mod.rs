//! Programs of machines with queues.

pub mod cover;
mod evidence;
pub mod explorer;
pub mod slice;
pub mod summary;
pub mod tables;

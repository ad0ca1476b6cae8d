//! Programs of machines with queues.

mod evidence;
pub mod explorer;
pub mod slice;
pub mod summary;
pub mod tables;

//! Child processes that end with us.
//!
//! Owns what a host needs so that nothing it started outlives it: a death signal for the child
//! ([`die_with_parent`]), a thread that lasts to start it from ([`lasting`]), and everything that descends from
//! it or carries its [`Marker`] ([`Tree`]). Knows no runtime and no protocol. Invariant: a signal reaches only a
//! process that was found to belong to the tree, never one that got its number later.
//!
//! Linux has all of it. Elsewhere it is weaker, and each item says how.
#![warn(missing_docs)]

mod command;
pub mod lasting;
mod marker;
mod tree;

pub use command::die_with_parent;
pub use marker::{BadMarker, Marker};
pub use tree::{Process, Signal, Swept, Tree};

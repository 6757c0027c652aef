//! Child processes that end with us.
//!
//! Owns what a host needs so that nothing it started outlives it: a death signal for the child
//! ([`die_with_parent`]), a thread that lasts to start it from ([`lasting`]), everything that descends from
//! it or carries its [`Marker`] ([`Tree`]), and for a process that takes in its orphans, all of them
//! ([`end_descendants`]). Knows no runtime and no protocol. Invariant: a signal reaches only a
//! process that was found to belong to the tree, never one that got its number later.
//!
//! Linux has all of it. Elsewhere it is weaker, and each item says how.
#![warn(missing_docs)]

mod command;
#[cfg(unix)]
mod descriptors;
mod fork;
pub mod lasting;
mod marker;
mod memory;
mod tree;

#[cfg(target_os = "linux")]
pub use command::hear_of_parents_death;
pub use command::{be_killed_with_parent, die_with_parent};
#[cfg(unix)]
pub use descriptors::{
    DescriptorBudget, can_look, can_open, descriptor_limit, give_back_descriptor_limit,
    raise_descriptor_limit,
};
#[cfg(unix)]
pub use fork::fork;
pub use fork::{ForkError, Forked, close_inherited};
pub use marker::{BadMarker, Marker};
pub use memory::{few_heaps, return_code, return_memory};
pub use tree::{
    Holder, Process, Signal, Swept, Tree, descendants_of, descends_from, holder_of, is_from_agent,
    is_running, signal, started,
};
#[cfg(unix)]
pub use tree::{become_subreaper, end_descendants};

//! The database of a host: what is durable when, who may write, what every table promises.
//!
//! Owns the suites over the public side of the store, on real files and real processes. What needs a list of migrations of
//! its own, or another idea of a network disk, is tested beside the code.

#![expect(
    clippy::unwrap_used,
    reason = "a stage that cannot be set is a failed test"
)]

mod approvals;
mod crash;
mod disk;
mod lists;
mod lock;
mod opening;
mod outbox;
mod queue;
mod receipts;
mod search;
mod sessions;
mod stage;
mod writer;

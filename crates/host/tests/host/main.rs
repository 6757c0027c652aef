//! The host through its seam, on the scripted CLI: sessions, approvals, the queue, recovery.
//!
//! Everything is asked and told through [`countersign_host::control::Control`], as a server would.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod ahead;
mod approvals;
mod awake;
mod care;
mod crashes;
mod heard;
mod imports;
mod limits;
mod modes;
mod money;
mod questions;
mod queue;
mod recovery;
mod refusals;
mod rooms;
mod sessions;
mod stage;
mod told;
mod watching;
mod wishes;
mod worktrees;

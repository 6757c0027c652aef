//! The commands of the terminal against a daemon of their own, with scripted agents.
//!
//! Every test starts the real program in a home of its own; nothing is played but the agents' model.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod agents;
mod asking;
mod failing;
mod following;
mod sessions;
mod stage;
mod tokens;
mod worktrees;

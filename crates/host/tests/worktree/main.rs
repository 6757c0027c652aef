//! Worktrees, trash and disk use, on real git repositories and real files in a temp folder.
//!
//! Owns what a person can lose: each test says what is still there afterwards. How output of git is read is tested beside
//! the code.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod concurrent;
mod create;
mod deceived;
mod diff;
mod disk;
mod hooks;
mod list;
mod refusals;
mod remove;
mod setup;
mod stage;
mod trash;

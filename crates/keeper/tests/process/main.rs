//! The keeper as a process: real forks, locks, signals and sockets, with small shell scripts as agents.
//!
//! The host here is a bare socket, so that what is tested is the keeper alone.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on should say where"
)]

mod deaths;
mod disk;
mod ending;
mod hosts;
mod lines;
mod stage;
mod starting;

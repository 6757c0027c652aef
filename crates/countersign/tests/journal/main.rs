//! `countersign journal` as people and scripts meet it: output, exit codes, errors, on every kind of input.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(unix)]

mod agent;
mod export;
mod inputs;
mod inspect;
#[cfg(target_os = "linux")]
mod page;
mod redact;
mod replay;
mod stage;
mod verify;

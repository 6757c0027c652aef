//! The journal from outside: what a writer, readers and whoever checks it see of one another.
//!
//! Everything runs on real files in a folder of its own.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
mod concurrent;
mod fixture;
mod limits;
mod packed;
mod places;
mod properties;
mod told;
mod transfer;
mod verify;
mod ways;

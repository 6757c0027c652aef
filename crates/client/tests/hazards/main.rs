//! What clients of the CLI break at, each as a test: measured cases, complaints, listed hazards.
//!
//! `tables` says which test shows which case, and checks that it leaves nothing out and that every test it names is one
//! that runs. Every case of the three lists applies here, so none stands there with a reason in place of a test.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod complaints;
mod listed;
mod measured;
mod stage;
mod tables;

//! `countersign serve` as a stranger meets it: the real program, in a home of its own, over HTTP.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod api;
mod beginning;
mod crash;
mod descriptors;
mod disk;
mod ending;
mod forms;
mod health;
mod http;
mod ours;
mod page;
mod secrets;
mod stage;
mod starting;
mod stored;
mod tls;
mod unit;

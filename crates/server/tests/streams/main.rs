//! Streams over HTTP: records, entries and events, as readers on the network get them.
//!
//! A real host with scripted agents behind the real server; nothing is put in place of anything.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;

mod endings;
mod happenings;
mod many;
mod records;
mod transcripts;

//! Routes of what people keep beside sessions and of what agents are asked, over HTTP and a real host.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;
mod insights;
mod kept;
mod looked;
mod once;
mod opened;
mod preferred;
mod uploads;

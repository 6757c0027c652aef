//! The edges of a session: its end while something goes on, its bounds, and a CLI that comes to nothing.
//!
//! Each case is one that a session got wrong once. The far end is the test itself, the scripted CLI, or a few lines of
//! shell where it matters what a process does that no CLI should.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[cfg(feature = "blocking")]
mod blocking_drop;
mod closing;
mod crowded;
mod deaths;
mod hurry;
mod idle;
mod letting_go;
#[path = "../pair/mod.rs"]
mod pair;
mod shell;
#[path = "../hazards/stage.rs"]
#[allow(dead_code, reason = "each suite uses its part of it")]
mod stage;
mod version_probe;

/// The result of a turn, as the CLI says it.
fn result() -> serde_json::Value {
    serde_json::json!({"type": "result", "subtype": "success", "is_error": false, "result": "ok", "session_id": "s"})
}

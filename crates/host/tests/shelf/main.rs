//! What people keep beside sessions, through the seam, with the scripted CLI as the agent.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod around;
mod asked;
mod insights;
mod kept;
mod record;
mod rules;
#[path = "../host/stage.rs"]
#[expect(
    dead_code,
    reason = "shared with the other tests of the host, which use more of it"
)]
mod stage;

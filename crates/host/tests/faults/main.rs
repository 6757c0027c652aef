//! The fault suite through the whole host: hosts, keepers, guards and agents are killed, databases put back, and what was
//! promised is looked up on the disk.
//!
//! A host is a process (`examples/hosted`); between its keeper and the CLI stands a witness. Journal, witness and marks are
//! held against each other by the checks of the keeper's own suite; what the host tells of approvals, messages and receipts
//! is held against them here. `FAULTS_ROUNDS` says how many rounds there are, `FAULTS_SEED` draws the same points again.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    reason = "a stage that cannot be set is a failed test"
)]

mod accounts;
mod can_fail;
#[path = "../../../keeper/tests/faults/chain.rs"]
mod chain;
#[path = "../../../keeper/tests/faults/checks.rs"]
#[expect(dead_code, reason = "some are for tests of the keeper alone")]
mod checks;
#[path = "../../../keeper/tests/faults/evidence.rs"]
mod evidence;
#[path = "../../../keeper/tests/faults/figures.rs"]
mod figures;
mod folders;
mod hosted;
#[path = "../../examples/hosted/orders.rs"]
mod orders;
#[path = "../../../keeper/tests/faults/procs.rs"]
mod procs;
mod questions;
mod rounds_agent;
mod rounds_host;
mod scenes;
mod slow_end;
mod stage;
mod storm;
mod unread;
#[path = "../../../keeper/tests/faults/wait.rs"]
#[expect(dead_code, reason = "some are for tests of the keeper alone")]
mod wait;
mod wishes;

//! The fault suite: processes are killed, disks fill, clocks jump, and what was promised is looked up on the disk.
//!
//! Every session runs behind a witness that writes down both directions of the wire by itself; the journal is held
//! against that. `FAULTS_ROUNDS` says how many rounds there are (`cargo xtask test faults --rounds N`), `FAULTS_SEED` draws
//! the same points again. `docs/faults.md` says what each test shows.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    reason = "a stage that cannot be set is a failed test"
)]

mod barred;
mod builds;
mod can_fail;
mod chain;
mod checks;
mod checks_tests;
#[path = "../../examples/host/conversation.rs"]
mod conversation;
mod conversation_tests;
mod disk;
mod evidence;
mod figures;
mod halves;
mod host;
mod listed;
#[path = "../../examples/played/orders.rs"]
mod orders;
mod power;
mod procs;
mod quiet;
mod raw;
mod rounds_host;
mod rounds_keeper;
mod scenes;
mod stage;
mod strangers;
#[path = "../../examples/host/task.rs"]
mod task;
mod unknown;
mod upgrade;
mod wait;
mod words;

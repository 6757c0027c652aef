//! The client on the real CLI: every feature on the newest, and on older ones what they have.
//!
//! A case passes when its effect was seen: a file on disk, what the model was sent, a mode read back, a process gone.
//! A version that lacks a feature must be shown to lack it: by a typed error, by a refusal, or by the silence of a CLI
//! that answers other requests meanwhile. `cargo xtask conformance` makes docs/conformance.md of the verdicts.
//!
//! # Adding a case
//!
//! 1. Write `async fn my_case(cli: Cli) -> Verdicts` in the file of its area, or in a new file named below.
//!    `cli.stage(SCRIPT)` gives a sandbox with a scripted model (docs/model-script.md); `stage.claude()` a builder for a
//!    client in it. It fails by panicking. End with `Pass.into()`, or `NotInVersion("why".into()).into()`.
//! 2. Name it in that file's `cases!`: `my_case { "area/feature" => "one line: what was seen" }`. A case may show several
//!    features with one start of the CLI; then it returns one verdict each: `Verdicts::new().pass("area/feature")…`.
//! 3. That makes a test for each version: `area::newest::my_case` and so on. `cargo nextest run --test conformance
//!    my_case` runs them. A CLI that is not in the cache skips its tests, unless `COUNTERSIGN_REQUIRE` lists it
//!    (`claude-newest`).
//! 4. `cargo xtask conformance` writes the page.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[macro_use]
mod harness;
mod look;
mod stage;

mod absent;
mod control_files;
mod control_info;
mod control_mcp;
mod control_model;
mod control_reload;
mod control_tasks;
mod coverage;
mod ending;
mod handshake;
mod hook_events;
mod hooks;
mod input;
mod interrupts;
mod modes;
mod options;
mod options_limits;
mod output;
mod people;
mod questions;
mod sessions;
mod subagents;
mod tools;
mod updates;

//! Approvals and plan review, without an agent: questions as three versions of the CLI asked them, decisions, and what each
//! comes to.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod alike;
mod calls;
mod cards;
mod evidence;
mod family;
mod files;
mod forms;
mod gone;
mod life;
mod offers;
mod questions;
mod stage;
mod ways;
mod wire;

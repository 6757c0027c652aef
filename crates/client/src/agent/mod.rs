//! The agent's process: its start, its pipes, its stderr, its end.
//!
//! Owns the child and everything that comes from it; knows nothing of what is said over the pipes. Invariants:
//! nothing the agent started outlives an [`AgentProcess`]; its stderr is always read; no wait here depends on a
//! pipe that some grandchild holds open.

mod assigned;
mod exit;
mod ladder;
mod mask;
mod names;
mod pem;
mod pipes;
mod process;
mod spawn;
mod stderr;

#[cfg(test)]
mod tests;

pub(crate) use exit::Exit;
pub use ladder::Graces;
pub(crate) use ladder::{Ended, Rung, Running, end};
pub use mask::{LineMask, secrets_in};
pub use names::names_a_secret;
pub(crate) use pipes::Pipes;
pub(crate) use process::AgentProcess;
pub use spawn::SpawnError;
pub(crate) use spawn::{OnStderr, SpawnSpec};

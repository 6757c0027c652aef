//! The scripted CLI: a scenario file on one side, the NDJSON of `claude` on the other.
//!
//! [`Scenario::parse`] reads a scenario, [`Engine`] plays it as a pure step machine (host line, end of input, timer in;
//! bytes, timers, exit out), and two thin shells carry it: `stdio` as a process on stdin and stdout, [`play`] over
//! any async pipe inside a test. What a scenario does not say is done as the CLI of that version was measured to do it.
//! Holds no model, runs no tool, and never opens a socket.

mod act;
mod args;
pub mod builtin;
mod cast;
mod disk;
mod engine;
mod entry;
mod expect;
mod ground;
mod hands;
mod ids;
mod mind;
mod parse;
mod paths;
mod permissions;
mod play;
mod processes;
mod scenario;
mod schema;
mod source;
mod stdin;
mod stdio;
mod verdict;
mod version;
mod words;

pub use engine::{Deed, Engine, Input, Launch, ModelScript, Outcome, Output, Signal};
pub use entry::{EntryError, Setup, main_from_env, main_with};
pub(crate) use entry::{MODEL as MODEL_SCRIPT, VARS as MODEL_VARS};
pub use ground::Ground;
pub use parse::ScenarioError;
pub use play::{Ended, PlayError, play, play_with};
pub use scenario::Scenario;
pub use version::Version;
pub use words::{Place, WORDS, Word};

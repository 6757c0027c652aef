//! What the tools of the CLI do in the working folder, and what they report of it.
//!
//! [`accept`] says whether an input is one the tool takes, [`Workbench::check`] what speaks against a call before anybody
//! is asked about it, [`Workbench::run`] does it. Who may run what is decided elsewhere. Invariants: every text and
//! structure is as version 2.1.325 was measured to give it (`measured.jsonl`), and nothing here opens a socket.

mod bash;
mod beside;
mod edit;
mod inputs;
mod lines;
mod memory;
mod notebook;
mod paths;
mod quotes;
mod ran;
mod read;
mod search;
mod stop;
mod text;
mod todo;
mod undo;
mod web;
mod workbench;
mod write;

// What was measured was measured on Linux, with its shell and its tools.
#[cfg(test)]
#[cfg(target_os = "linux")]
mod replay;

pub(in crate::cli) use beside::runs_beside_others;
pub(in crate::cli) use inputs::accept;
pub(in crate::cli) use ran::Ran;
pub(in crate::cli) use stop::Stop;
pub(in crate::cli) use workbench::{Job, Task, Workbench};

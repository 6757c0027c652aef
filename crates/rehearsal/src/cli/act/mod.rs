//! What the tools of the CLI do in the working folder, and what they report of it.
//!
//! [`accept`] says whether an input is one the tool takes, [`Workbench::check`] what speaks against a call before anybody
//! is asked about it, [`Workbench::run`] does it. Who may run what is decided elsewhere. Invariants: a report has the
//! structure that the real CLI gives it, and nothing here opens a socket.

mod bash;
mod edit;
mod inputs;
mod lines;
mod memory;
mod paths;
mod ran;
mod read;
mod stop;
mod text;
mod undo;
mod web;
mod workbench;
mod write;

// Commands are run with the shell and the tools of Linux.
#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;

pub(in crate::cli) use inputs::{accept, fault_of_given, runs_beside_others};
pub(in crate::cli) use ran::Ran;
pub(in crate::cli) use stop::{Stop, end_process};
pub(in crate::cli) use workbench::{Job, Workbench};

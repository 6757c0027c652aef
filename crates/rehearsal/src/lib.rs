//! Rehearsal: running agents with no model account.
//!
//! [`model`] is a scripted model: a loopback server that speaks the streaming Messages API to the real CLI,
//! reply by reply from a script file. [`cli`] is a scripted CLI: a scenario file played on stdin and stdout as `claude` would,
//! for the tests of whoever drives it. [`real`] is how a CLI is started so that it sees the scripted model and nothing of the
//! caller. None of them reaches another machine.

pub mod cli;
pub mod model;
pub mod real;

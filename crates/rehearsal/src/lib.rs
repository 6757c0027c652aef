//! Rehearsal: running agents with no model account.
//!
//! [`model`] is a scripted model: a loopback server that speaks the streaming Messages API to the real CLI,
//! reply by reply from a script file. This crate starts no process and reaches no other machine.

pub mod model;

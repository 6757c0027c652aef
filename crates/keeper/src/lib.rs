//! One agent, kept: a small process that owns its pipes and its journal, and lives on when the host does not.
//!
//! Owns both ends of that: the process itself (guard and keeper, no runtime, one thread), and what a host does with
//! it (start, attach, recover). Invariants: one agent for a generation, whatever crashes; every frame is journalled
//! before it is passed on; no grant reaches an agent before it is on the disk; each host line is taken once.
#![warn(missing_docs)]

pub mod protocol;

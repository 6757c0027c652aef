//! A journal folded into what a person reads: text, thinking, tool calls with their results, questions, costs.
//!
//! Pure: records in, changes of entries out. Knows no clock and no runtime, and files only where [`pages`] reads a journal.
//! Invariant: the same records give the same entries with the same names, whether they were folded in one go or from a
//! checkpoint; memory depends on [`bounds`], not on the length of the session.
//!
//! [`Fold::step`] takes one record and says what changed ([`Changes`]). Whoever applies the changes ([`Entries`]) holds the
//! transcript; the fold itself keeps only entries that may still change. [`Fold::checkpoint`] stores it, and [`pages`]
//! reads a long session backwards.
#![warn(missing_docs)]

pub mod body;
pub mod bounds;
mod changes;
mod clip;
mod entry;
mod fold;
mod glance;
mod id;
mod meter;
pub mod pages;
mod totals;

pub use changes::{Change, Changes, Entries};
pub use clip::{Clip, Shown};
pub use entry::{Body, Entry, Life};
pub use fold::{BadCheckpoint, Checkpoint, Fold};
pub use id::EntryId;
pub use totals::{ApprovalCounts, ModelTotals, ToolCounts, Totals, TurnCounts};

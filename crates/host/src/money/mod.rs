//! Money and limits: what was spent, what may be, and where the account stands.
//!
//! Owns the meaning of the numbers; counts nothing itself: sums are those of `countersign_transcript`, whose meter is the
//! only reader of the CLI's running totals. Pure: time comes in. Invariant: a dollar is in one row.

pub mod budget;
pub mod limits;
mod spent;

pub use budget::{Budget, Verdict};
pub use limits::Limit;
pub use spent::{day, has_risen, rows};

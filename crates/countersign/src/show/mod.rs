//! What a person reads of a session: messages in, lines out.
//!
//! Owns the looks of text, calls, results, notices and costs. Knows no cursor, no clock and no pipe: durations come in
//! as values. Invariant: column 0 is ours. What an agent or a tool said stands two columns further right, so that it
//! cannot pass for a mark, an approval or a warning.

pub(crate) mod call;
pub(crate) mod cost;
pub(crate) mod diff;
pub(crate) mod feed;
pub(crate) mod gutter;
pub(crate) mod list;
pub(crate) mod markdown;
pub(crate) mod notice;
pub(crate) mod plan;
pub(crate) mod result;
pub(crate) mod status;
pub(crate) mod text;

#[cfg(test)]
mod tests;

pub(crate) use call::full;
pub(crate) use feed::{Feed, View};
pub(crate) use plan::plan;
pub(crate) use status::Status;

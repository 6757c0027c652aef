//! Live streams: server-sent events from a cursor on.
//!
//! Owns how records, entries and events become bytes on a connection that stays open, how many such connections there are,
//! and how they end. Reads nothing ahead: what is behind a stream is asked for when the connection takes more. Invariants:
//! every event that can be resumed from has an id; a reader that does not read costs one batch and one chunk, and nobody
//! else's time.

mod asking;
mod data;
mod frame;
mod gzip;
mod happening;
mod live;
mod range;
mod streams;
mod upserts;

pub(crate) use asking::{Asking, takes_gzip};
pub(crate) use data::{Content, leaving, of_record, problem};
pub(crate) use frame::Frame;
pub(crate) use happening::of_events;
pub(crate) use live::Opening;
pub(crate) use range::Part;
pub use streams::{Limits, Streams};
pub(crate) use upserts::of_told;

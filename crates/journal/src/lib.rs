//! The journal of a session: every frame that crossed its wire, numbered, append-only.
//!
//! Owns the files of a session's `journal` folder: their format, who may write, how they are read while they are
//! written, and what shows that they were changed. Knows no runtime and no agent. Invariants: one record is one line
//! and one number; what was appended is never changed; a reader sees whole records only; a torn tail is cut only by
//! the next writer, and only behind the last newline of the newest segment.
//!
//! Lower layers first: [`Record`] and [`Cursor`] are the words, [`KeeperEvent`] and [`Note`] what the keeper and the
//! host put between the frames.
#![warn(missing_docs)]

mod cursor;
mod event;
mod note;
mod record;

pub use cursor::{BadCursor, Cursor};
pub use event::{Exit, KeeperEvent, OpenQuestion, ProcessName, SpawnedAgent};
pub use note::Note;
pub use record::{BadRecord, Kind, MOST_AROUND, Record};

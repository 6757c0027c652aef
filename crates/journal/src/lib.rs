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
#![cfg_attr(
    not(unix),
    allow(dead_code, reason = "the writer and what only it needs are for Unix")
)]

mod chain;
mod compress;
mod cursor;
mod error;
mod event;
mod folder;
mod header;
mod heads;
mod lines;
mod marks;
mod note;
mod reader;
mod record;
pub mod seal;
mod source;
mod survey;
mod tail;
pub mod transfer;
mod verify;
#[cfg(unix)]
mod writer;

pub use compress::{CompressError, Compressed, compress_closed};
pub use cursor::{BadCursor, Cursor};
pub use error::{AppendError, OpenError, ReadError, RollError, SyncError};
pub use event::{Exit, KeeperEvent, OpenQuestion, ProcessName, SpawnedAgent};
pub use header::{BadHeader, VERSION};
pub use heads::{HeadAt, Heads, heads};
pub use note::{KEEP_PLANNING, Note};
pub use reader::{Damaged, Flaw, Large, Reader, Step, read_range};
pub use record::{BadRecord, Kind, MOST_AROUND, Record};
pub use survey::{Carried, survey};
pub use tail::Tail;
pub use verify::{Fault, Verdict, What, verify};
#[cfg(unix)]
pub use writer::{Limits, Writer};

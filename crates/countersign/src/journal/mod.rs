//! What a session did, looked at afterwards: counted, played again, written in another form, verified.
//!
//! Owns the work behind `countersign journal`. Every command reads whatever there is, a journal, a recording or plain
//! lines, through [`source`], record by record: none of them holds a whole session in memory, and none changes it.
//!
//! ```text
//! folder, segment, recording, lines ─▶ source ─▶ records ─┬─▶ tally ─▶ table, JSON
//!                                                         ├─▶ replay ─▶ terminal, or a host on stdin and stdout
//!                                                         └─▶ redact ─▶ export
//! ```

mod export;
mod inspect;
mod progress;
mod range;
mod redact;
mod replay;
mod source;
mod table;
mod tally;
mod verify;

pub(crate) use export::{Arguments as ExportArguments, export};
pub(crate) use inspect::{Arguments as InspectArguments, inspect};
pub(crate) use replay::{Arguments as ReplayArguments, replay};
pub(crate) use verify::{Arguments as VerifyArguments, verify};

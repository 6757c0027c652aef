//! The NDJSON that the `claude` CLI speaks on stdin and stdout, as types.
//!
//! Bytes become lines in [`frame`], a line is routed in [`route`] (type, subtype, ids: enough to pass it on) or
//! decoded in full in [`decode`], and a value becomes a line again in [`mod@write`]. [`CliMessage`] is what the CLI says,
//! [`HostMessage`] what the host says.
//!
//! No I/O, no runtime, no clock. Three promises, each held by a test:
//! - nothing is lost: decode then encode gives equal JSON, from the typed value, unknown fields included;
//! - nothing ends a stream: known, unknown and malformed lines are all values;
//! - what is written is ASCII, one object a line.
//!
//! ```
//! use countersign_wire::{CliMessage, decode::decode, write::to_line};
//!
//! let line = br#"{"type":"system","subtype":"session_title_changed","title":"Tidy up","x":1}"#;
//! let message: CliMessage = decode(line)?;
//! assert_eq!(message.tag(), "system");
//! assert!(to_line(&message)?.is_ascii());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_docs)]

// The derive names this crate by its full name, inside it too.
extern crate self as countersign_wire;

mod block;
pub mod calls;
pub mod cli;
pub mod content;
pub mod control;
pub mod decode;
mod extra;
mod fast;
pub mod frame;
pub mod hooks;
pub mod host;
pub mod ids;
pub mod inspect;
mod json;
pub mod mcp;
mod open;
pub mod permission;
mod places;
pub mod recording;
pub mod route;
mod scan;
#[doc(hidden)]
pub mod shape;
mod slow;
mod surrogate;
pub mod tools;
pub mod usage;
pub mod vocab;
mod walk;
pub mod write;

/// Everything the CLI is known to say and to take, as JSON: messages, control requests, hooks, tools, flags, and their fields. The
/// types of this crate are held against it.
pub const INVENTORY: &str = include_str!("../inventory.json");

pub use cli::CliMessage;
pub use extra::{Bare, Extra, Kept};
pub use host::HostMessage;
pub use json::{Json, Nullable, Num, TextOr};

//! What crosses HTTP between Countersign and its clients.
//!
//! Owns the bodies, the problems and the scopes, from which the OpenAPI document and the types of the page are made. No
//! server, no database. Invariant: a value that was written by one build is read by the next; new fields have defaults.

mod auth;
pub mod bodies;
#[cfg(feature = "client")]
pub mod client;
mod problem;
pub mod redact;
mod scope;
mod streams;

pub use auth::{LoginLink, MadeToken, Me, NewLink, NewToken, SignIn, TokenView};
/// The words of the seam that every route speaks to.
pub use countersign_host::control;
pub use problem::{Code, Problem};
pub use scope::Scope;
pub use streams::{
    Closing, EventsCaughtUp, FollowerCaughtUp, FollowerMoved, FollowerRewound, HostEvents,
    LargeRecord, RecordEvents, ToldRecord, TranscriptEvents,
};

/// Where the API begins.
pub const BASE: &str = "/api/v1";

/// The header that names a write, so that it is done once however often it comes.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// The header in which a client says what it is: `web`, `terminal`, the name of a program.
pub const CLIENT: &str = "x-countersign-client";

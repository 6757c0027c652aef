//! Secrets in what leaves: where they stand in a text, and the text without them.
//!
//! Owns what the page, the streams, exports and webhooks have in common. Pure; knows no records and no requests. What looks
//! like a secret is told by the client's list of names and shapes. Invariant: a text that was JSON is JSON afterwards, and
//! what was not a secret keeps its bytes.

mod edits;
mod handled;
mod hints;
mod names;

pub use edits::{Edit, MASKED, Wanted, apply};
pub use handled::handled;
pub use hints::may_look_like_one;

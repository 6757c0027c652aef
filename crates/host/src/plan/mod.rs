//! Plan review: the text of a plan, its versions, and the ways on from it.
//!
//! Owns what is shown of a plan ([`card`]), what a decision about one comes to, how versions are kept and compared, and the
//! search for the text where the question does not bring it ([`Tracker`]). Invariants: a plan of another session is never
//! shown; nothing here bypasses anything; without a text there is no fresh conversation.

mod card;
mod feedback;
mod tracker;
mod versions;
mod way;
mod wish;

pub use card::{Card, WayOffer, card};
pub use tracker::{CaptureError, Tracker};
pub use versions::{compare, next_version};
pub(crate) use way::decide;
pub(crate) use wish::offers;
pub use wish::{Wish, WishOffer};

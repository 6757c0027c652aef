//! HTTP, live streams and sign-in over the seam of a host.
//!
//! Owns how a request becomes a call of [`countersign_api::control::Control`] and its answer a response; knows no host, no
//! database and no journal. Invariants: nothing is answered before it is known who asks, but the page itself and whether
//! the server is up; a route's scope stands where it is registered; every write has a key; every error is a problem with a
//! code.

mod app;
pub mod auth;
mod caller;
pub mod clock;
mod doc;
mod extract;
mod health;
pub mod listen;
mod metrics;
mod openers;
#[cfg(feature = "otel")]
pub mod otel;
mod page;
mod redact;
mod refusal;
mod routes;
mod stream;
mod tagged;

pub use app::{App, router};
pub use caller::{Caller, Via};
pub use doc::document;
pub use health::Doors;
pub use metrics::{Metrics, OpenStream};
pub use openers::{OpenerSettings, Openers};
pub use page::{PageSettings, has_ui};
pub use redact::{BadPattern, Redactor};
pub use refusal::Refusal;
pub use stream::{Limits, Streams};

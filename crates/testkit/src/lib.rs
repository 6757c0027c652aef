//! What the tests of this workspace stand on: the real `claude` CLI in pinned versions, a sandbox to
//! run it in, a small language to drive it, and recordings of what crossed its wire.
//!
//! * [`fetch`] gets the CLIs from the npm registry into a cache (standard library only).
//! * [`demand`] gives a test what it needs, or skips it by the one rule.
//! * [`sandbox`] runs one with nothing of the caller in sight.
//! * [`scenario`] is the language of the `scenarios/*.scenario` files, [`drive`] plays them.
//! * [`recording`] is what is stored in `fixtures/wire`, and how two runs are compared.
//!
//! Nothing here is part of the product; no crate depends on it outside of tests and `xtask`.

#[cfg(feature = "run")]
pub mod demand;
#[cfg(feature = "run")]
pub mod drive;
#[cfg(feature = "fetch")]
pub mod fetch;
#[cfg(feature = "run")]
pub mod json;
#[cfg(feature = "run")]
pub mod recording;
#[cfg(feature = "run")]
pub mod sandbox;
#[cfg(feature = "run")]
pub mod scenario;

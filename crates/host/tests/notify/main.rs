//! Webhooks against a real server on loopback, programs that really run, and the real CLI's costs and traces.
//!
//! Owns nothing but tests. Invariants: every wait is for a condition and has a deadline; the real CLI runs in its sandbox, and
//! one that is not in the cache skips its tests with a word on stderr unless `COUNTERSIGN_REQUIRE` lists it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answers;
mod bounds;
mod money_real;
mod order;
mod posts;
#[cfg(unix)]
mod programs;
mod server;
mod stage;
mod terminals_real;
#[cfg(feature = "tls")]
mod tls;

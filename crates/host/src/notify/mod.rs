//! Tells the outside what happens: a signed POST to an address, or a program with JSON on its stdin.
//!
//! Owns targets, the jobs for them, when each is tried again, and what is said when one is given up. The core ([`Targets`],
//! [`Job`]) is pure: time and jitter come in. [`Notifier`] is the shell around it. Invariants: nothing here holds up a
//! session; each target has a bounded queue and one job under way; what is told about one session arrives in order; secrets
//! show in no log; jobs live in memory, so what waits when the host ends is given up, and that is said.
//!
//! # What a receiver gets
//!
//! `POST`, `Content-Type: application/json`, never more than 16 KiB, and these headers:
//!
//! | header | meaning |
//! |---|---|
//! | `Countersign-Event` | what happened: `needs_you`, `finished`, `failed`, … |
//! | `Countersign-Id` | the same for each try of one event: whoever has seen it can leave it |
//! | `Countersign-Attempt` | which try this is, from 1 |
//! | `Countersign-Signature` | `t=<seconds of Unix time>,v1=<hex>`: HMAC-SHA256 with the target's secret over `<t>.<body>` |
//!
//! Check the signature over the bytes of the body, and that `t` is not older than a few minutes ([`sign::verify`] does both).
//! Answer with 2xx soon. 408, 425, 429 and 5xx are tried again, a `Retry-After` of seconds is kept to; every other
//! status, redirects among them, ends the job. A program is told by its exit code: 0 is done, 75 (`EX_TEMPFAIL`) is tried
//! again, everything else ends the job.

mod delivery;
mod event;
mod job;
mod mask;
mod payload;
mod post;
mod program;
mod shell;
pub mod sign;
mod summary;
mod target;
mod targets;
#[cfg(feature = "tls")]
mod tls;

pub use delivery::{Delivered, Delivery};
pub use event::{About, Event, Kind, Question};
pub use job::{Job, Next, Outcome, Schedule};
pub use mask::Mask;
pub use post::HttpLimits;
pub use program::ProgramLimits;
pub use shell::{Left, Notifier, Outside};
pub(crate) use summary::{is_invisible, line as summary_line};
pub use target::{BadTarget, Secret, Shape, Target, To};
pub use targets::{Said, Targets};

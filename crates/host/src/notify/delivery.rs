//! What became of the last try at a target: what a person looks at who wonders whether it works.
//!
//! Owns the words for it. Pure. Invariant: no secret of the target stands in it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::event::Kind;
use super::job::{Job, Next};
use super::target::Target;

/// What became of the last try to tell somebody, since this host began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = WebhookDelivery)]
pub struct Delivery {
    /// When it ended: microseconds of Unix time.
    pub at: u64,
    /// What it told.
    pub about: Kind,
    /// Which try it was, from 1.
    pub tries: u32,
    /// What became of it.
    pub outcome: Delivered,
    /// Why it did not arrive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// When it is tried again: microseconds of Unix time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// What became of a try.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = WebhookDelivered)]
pub enum Delivered {
    /// It arrived.
    Arrived,
    /// It did not, and is tried again.
    Waits,
    /// It did not, and is not tried again.
    GaveUp,
}

impl Delivery {
    /// Of a job whose newest try ended `now`.
    pub(super) fn of(job: &Job, now: u64, next: &Next, target: &Target) -> Self {
        let (outcome, why, next) = match next {
            Next::Done => (Delivered::Arrived, None, None),
            // Nobody needs it any more.
            Next::Again { why, .. } if job.is_settled => (Delivered::GaveUp, Some(why), None),
            Next::Again { at, why } => (Delivered::Waits, Some(why), Some(*at)),
            Next::GiveUp { why } => (Delivered::GaveUp, Some(why), None),
        };
        Self {
            at: now,
            about: job.kind(),
            tries: job.tries,
            outcome,
            why: why.map(|why| target.shown(why)),
            next,
        }
    }
}

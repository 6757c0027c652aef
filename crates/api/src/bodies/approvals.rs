//! Decisions as they are sent.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::control::{Decide, Digest};

/// A decision on one approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DecideBody {
    /// The digest of what was seen.
    pub saw: Digest,
    /// What is decided.
    #[serde(flatten)]
    pub decide: Decide,
}

/// One decision on open approvals of the same kind in a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DecideAlikeBody {
    /// The digest of what was seen of the one that is named.
    pub saw: Digest,
    /// The digests of the others that were seen. A yes is for these alone.
    #[serde(default)]
    pub others: Vec<Digest>,
    /// The digests of those that were shown from beginning to end. A call that is longer than a row is allowed together
    /// with others only if its digest is among them.
    #[serde(default)]
    pub whole: Vec<Digest>,
    /// What is decided.
    #[serde(flatten)]
    pub decide: Decide,
}

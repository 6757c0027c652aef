//! What the host notes about a line it has written: the `d` record in front of it.
//!
//! Owns the fields of the note. A note names its line by number or by the question it answers, never both; the rest
//! says who decided and why, and is the host's own. What a later build adds is kept.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A `d` record.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Note {
    /// The number of the line in the host's outbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// The `request_id` of the question that the line answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Who decided: a person, or a rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// From which client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The digest of the input that was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// JSON pointers into the line to what was masked in the record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masked: Vec<String>,
    /// What this build has no name for.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

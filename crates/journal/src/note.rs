//! What the host notes about a line it has written: the `d` record in front of it.
//!
//! Owns the fields of the note. A note names its line by number or by the question it answers, never both; the rest
//! says who decided and why, and is the host's own. What a later build adds is kept.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The way on from a plan by which the agent goes on planning. The wire says no to the call, and nobody denied anything.
pub const KEEP_PLANNING: &str = "keep-planning";

/// Deciders that choose no way on: what they deny is denied.
const CHOOSE_NO_WAY: [&str; 4] = ["rule", "mode", "expired", "budget"];

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
    /// The way on from a plan that was taken: `clear-context`, `accept-edits`, `manual`, [`KEEP_PLANNING`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub way: Option<String>,
    /// JSON pointers into the line to what was masked in the record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masked: Vec<String>,
    /// What this build has no name for.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Note {
    /// Returns the way on from a plan to whose call the wire says no; none where it was denied. `note` is the note on the
    /// answer: without one, an answer that does not end the turn has the agent go on planning.
    pub fn way_of_refused_plan(note: Option<&Self>, interrupts: bool) -> Option<&str> {
        let way = note.and_then(|note| note.way.as_deref());
        let by = note.and_then(|note| note.by.as_deref());
        let is_denied = interrupts || by.is_some_and(|by| CHOOSE_NO_WAY.contains(&by));
        way.or((!is_denied).then_some(KEEP_PLANNING))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_plan_is_denied_only_where_nobody_chose_to_go_on() {
        let by = |by: &str, way: Option<&str>| Note {
            by: Some(by.to_owned()),
            way: way.map(str::to_owned),
            ..Note::default()
        };
        let way = Note::way_of_refused_plan;
        assert_eq!(way(None, false), Some(KEEP_PLANNING));
        assert_eq!(way(None, true), None);
        assert_eq!(way(Some(&by("anna", None)), true), None);
        for nobody in CHOOSE_NO_WAY {
            assert_eq!(way(Some(&by(nobody, None)), false), None, "{nobody}");
        }
        // A turn may have to end for what was said to arrive.
        let sent_back = by("anna", Some(KEEP_PLANNING));
        assert_eq!(way(Some(&sent_back), true), Some(KEEP_PLANNING));
        let afresh = by("anna", Some("clear-context"));
        assert_eq!(way(Some(&afresh), true), Some("clear-context"));
    }
}

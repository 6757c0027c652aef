//! The few fields the client itself depends on, read leniently.
//!
//! Owns what is looked up in lines that drive the session (`init`, `status`, `result`, …). Invariant: a field that is
//! missing, or not of the expected type, costs that field and never the line: a turn ends even if its `result` lacks
//! half of what it should have.

use countersign_wire::Json;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

/// Reads a value if it is what is expected, and nothing otherwise.
fn lenient<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let json = Json::deserialize(deserializer)?;
    Ok(json.to().ok())
}

/// The start of a turn.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct InitGlance {
    #[serde(deserialize_with = "lenient")]
    pub(crate) claude_code_version: Option<String>,
    #[serde(rename = "permissionMode", deserialize_with = "lenient")]
    pub(crate) permission_mode: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) model: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) capabilities: Option<Vec<String>>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) tools: Option<Vec<String>>,
}

/// A change of mode or activity.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct StatusGlance {
    #[serde(rename = "permissionMode", deserialize_with = "lenient")]
    pub(crate) permission_mode: Option<String>,
}

/// `session_state_changed`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct StateGlance {
    #[serde(deserialize_with = "lenient")]
    pub(crate) state: Option<String>,
}

/// `task_started`, `task_notification`, `task_updated`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TaskGlance {
    #[serde(deserialize_with = "lenient")]
    pub(crate) task_id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) patch: Option<TaskPatch>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) tool_use_id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) task_type: Option<String>,
}

/// The part of `task_updated` that says whether it ended.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TaskPatch {
    #[serde(deserialize_with = "lenient")]
    pub(crate) status: Option<String>,
}

/// A `user` line with results of tools.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ReportGlance {
    #[serde(deserialize_with = "lenient")]
    pub(crate) message: Option<ReportMessage>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) tool_use_result: Option<ReportStatus>,
}

/// Its blocks.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ReportMessage {
    #[serde(deserialize_with = "lenient")]
    pub(crate) content: Option<Vec<ReportBlock>>,
}

/// Which call a block is the result of.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ReportBlock {
    #[serde(deserialize_with = "lenient")]
    pub(crate) tool_use_id: Option<String>,
}

/// Whether a sub-agent has only begun.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ReportStatus {
    #[serde(deserialize_with = "lenient")]
    pub(crate) status: Option<String>,
}

/// `background_tasks_changed`: the whole live set.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TasksGlance {
    #[serde(deserialize_with = "lenient")]
    pub(crate) tasks: Option<Vec<TaskGlance>>,
}

/// `command_lifecycle`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LifecycleGlance {
    #[serde(deserialize_with = "lenient")]
    pub(crate) command_uuid: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) state: Option<String>,
}

/// Whether a `user` line is an echo of ours.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct UserGlance {
    #[serde(rename = "isReplay", deserialize_with = "lenient")]
    pub(crate) is_replay: Option<bool>,
}

/// Where the text of a delta stands.
#[derive(Debug, Deserialize)]
pub(crate) struct DeltaGlance {
    pub(crate) event: DeltaEventGlance,
}

/// The event of a delta.
#[derive(Debug, Deserialize)]
pub(crate) struct DeltaEventGlance {
    pub(crate) delta: DeltaTextGlance,
}

/// The delta itself.
#[derive(Debug, Deserialize)]
pub(crate) struct DeltaTextGlance {
    #[serde(default)]
    pub(crate) text: Option<String>,
}

/// The inside of a `control_request`, whatever it asks.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RequestGlance {
    pub(crate) request: Json,
}

/// The end of a turn.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ResultGlance {
    #[serde(deserialize_with = "lenient")]
    pub(crate) subtype: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) is_error: Option<bool>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) result: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) errors: Option<Vec<String>>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) session_id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) structured_output: Option<Json>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) total_cost_usd: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) num_turns: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) terminal_reason: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) api_error_status: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) user_message_uuid: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) user_message_uuids: Option<Vec<String>>,
}

impl ResultGlance {
    /// The messages that this result answers, as far as the CLI says so.
    pub(crate) fn answered(&self) -> Vec<&str> {
        let one = self.user_message_uuid.iter();
        let many = self.user_message_uuids.iter().flatten();
        one.chain(many).map(String::as_str).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_with_missing_and_broken_fields_is_still_read() {
        let line = r#"{"type":"result","is_error":"no","result":"hi","num_turns":"x","user_message_uuids":["a",1],"structured_output":{"a":1}}"#;
        let glance: ResultGlance = serde_json::from_str(line).unwrap();
        assert_eq!(glance.result.as_deref(), Some("hi"));
        assert_eq!(glance.is_error, None);
        assert_eq!(glance.user_message_uuids, None);
        assert!(glance.structured_output.is_some());
    }
}

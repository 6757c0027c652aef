//! What the CLI tells about itself.
//!
//! Only what is shown or changes an entry. Numbers are floats on the wire (a delay may be 581.259) and are read as such.

use serde::Deserialize;

use super::lenient;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct InitGlance {
    #[serde(rename = "permissionMode", deserialize_with = "lenient")]
    pub(crate) permission_mode: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) model: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) claude_code_version: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct StatusGlance {
    #[serde(deserialize_with = "lenient")]
    pub(crate) status: Option<String>,
    #[serde(rename = "permissionMode", deserialize_with = "lenient")]
    pub(crate) permission_mode: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) compact_result: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) compact_error: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CompactGlance {
    #[serde(deserialize_with = "lenient")]
    pub(crate) compact_metadata: Option<CompactMetadata>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CompactMetadata {
    #[serde(deserialize_with = "lenient")]
    pub(crate) trigger: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) pre_tokens: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) post_tokens: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RetryGlance {
    #[serde(deserialize_with = "lenient")]
    pub(crate) attempt: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) max_retries: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) retry_delay_ms: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) error_status: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) error: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) error_category: Option<String>,
    /// On `tool_progress`: the sub-agent of the call asks again.
    #[serde(deserialize_with = "lenient")]
    pub(crate) subagent_retry: Option<Box<RetryGlance>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LimitGlance {
    #[serde(deserialize_with = "lenient")]
    pub(crate) rate_limit_info: Option<LimitInfo>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct LimitInfo {
    #[serde(deserialize_with = "lenient")]
    pub(crate) status: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) rate_limit_type: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) utilization: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) resets_at: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ResetGlance {
    #[serde(deserialize_with = "lenient")]
    pub(crate) trigger: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) new_conversation_id: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LifecycleGlance {
    #[serde(deserialize_with = "lenient")]
    pub(crate) command_uuid: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) state: Option<String>,
}

/// Anything with words in it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct NoticeGlance {
    #[serde(deserialize_with = "lenient")]
    pub(crate) content: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) text: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) message: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) title: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) error: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) summary: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) level: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) status: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) tool_use_id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) tool_name: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) decision_reason: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) decision_reason_code: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) reason: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) error_code: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SystemHookGlance {
    #[serde(deserialize_with = "lenient")]
    pub(crate) hook_id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) hook_name: Option<String>,
    #[serde(alias = "hook_event_name", deserialize_with = "lenient")]
    pub(crate) hook_event: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) output: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) stderr: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) exit_code: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) outcome: Option<String>,
}

/// `task_started`, `task_progress`, `task_updated`, `task_notification`, and an item of the list of tasks.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TaskGlance {
    #[serde(deserialize_with = "lenient")]
    pub(crate) task_id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) tool_use_id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) task_type: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) subagent_type: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) description: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) is_backgrounded: Option<bool>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) status: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) error: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) reason: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) summary: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) output_file: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) last_tool_name: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) usage: Option<TaskUsage>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) patch: Option<Box<TaskGlance>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TaskUsage {
    #[serde(deserialize_with = "lenient")]
    pub(crate) total_tokens: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) tool_uses: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) duration_ms: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TasksGlance {
    #[serde(deserialize_with = "lenient")]
    pub(crate) tasks: Option<Vec<TaskGlance>>,
}

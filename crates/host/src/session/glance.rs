//! The fields of lines on which the state of a session depends, read leniently.
//!
//! Owns what is looked up where. Invariant: a field that is missing or not of the expected type costs that field, never the
//! line; what is not listed here is never built.

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use countersign_wire::Json;

/// Reads a value if it is what is expected, and nothing otherwise.
fn lenient<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let raw = <&RawValue>::deserialize(deserializer)?;
    Ok(read(raw.get()))
}

/// The same for a JSON text. Half a surrogate pair is read as U+FFFD.
fn read<T: DeserializeOwned>(text: &str) -> Option<T> {
    match serde_json::from_str(text) {
        Ok(value) => Some(value),
        Err(_) if text.contains("\\u") => text.parse::<Json>().ok()?.to().ok(),
        Err(_) => None,
    }
}

/// Reads a line of the agent or the host. What cannot be read at all is as if it said nothing.
pub(super) fn line<T: DeserializeOwned + Default>(payload: &[u8]) -> T {
    let text = String::from_utf8_lossy(payload);
    serde_json::from_str(&text).unwrap_or_default()
}

/// An `assistant` or `user` line.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MessageLine {
    #[serde(deserialize_with = "lenient")]
    pub(super) message: Option<Payload>,
    #[serde(deserialize_with = "lenient")]
    pub(super) error: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) tool_use_result: Option<Structured>,
}

impl MessageLine {
    pub(super) fn blocks(&self) -> &[Block] {
        let content = self.message.as_ref().and_then(|m| m.content.as_ref());
        content.map_or(&[], |content| &content.0)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Payload {
    #[serde(deserialize_with = "lenient")]
    content: Option<Blocks>,
}

/// The blocks that can be read; none of a bare text.
#[derive(Debug, Default)]
struct Blocks(Vec<Block>);

impl<'de> Deserialize<'de> for Blocks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?.get();
        let blocks: Vec<&RawValue> = serde_json::from_str(raw).unwrap_or_default();
        let blocks = blocks.iter().filter_map(|block| read(block.get()));
        Ok(Self(blocks.collect()))
    }
}

/// A block of any kind.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Block {
    #[serde(rename = "type", deserialize_with = "lenient")]
    pub(super) kind: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) name: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) tool_use_id: Option<String>,
}

/// The tool's own form of a result, as far as it says that something goes on.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Structured {
    #[serde(rename = "isAsync", deserialize_with = "lenient")]
    is_async: Option<bool>,
    #[serde(deserialize_with = "lenient")]
    status: Option<String>,
    #[serde(rename = "backgroundTaskId", deserialize_with = "lenient")]
    background_task_id: Option<IgnoredAny>,
}

impl Structured {
    pub(super) fn goes_on(&self) -> bool {
        self.is_async == Some(true)
            || self.status.as_deref() == Some("async_launched")
            || self.background_task_id.is_some()
    }
}

/// `result`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ResultLine {
    #[serde(deserialize_with = "lenient")]
    pub(super) is_error: Option<bool>,
    #[serde(deserialize_with = "lenient")]
    pub(super) result: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) errors: Option<Vec<String>>,
    #[serde(deserialize_with = "lenient")]
    pub(super) terminal_reason: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) api_error_status: Option<f64>,
}

/// `system` lines of every kind: a field that is not of the kind is absent.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SystemLine {
    #[serde(deserialize_with = "lenient")]
    pub(super) model: Option<String>,
    #[serde(rename = "permissionMode", deserialize_with = "lenient")]
    pub(super) permission_mode: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) claude_code_version: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) state: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) retry_delay_ms: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) task_id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) is_backgrounded: Option<bool>,
    #[serde(deserialize_with = "lenient")]
    pub(super) patch: Option<Patch>,
    #[serde(deserialize_with = "lenient")]
    pub(super) tasks: Option<Vec<ListedTask>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Patch {
    #[serde(deserialize_with = "lenient")]
    pub(super) status: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) is_backgrounded: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ListedTask {
    #[serde(deserialize_with = "lenient")]
    pub(super) task_id: Option<String>,
}

/// `rate_limit_event`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct LimitLine {
    #[serde(deserialize_with = "lenient")]
    pub(super) rate_limit_info: Option<LimitInfo>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct LimitInfo {
    #[serde(deserialize_with = "lenient")]
    pub(super) status: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) resets_at: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) is_using_overage: Option<bool>,
    #[serde(deserialize_with = "lenient")]
    pub(super) overage_status: Option<String>,
}

/// `command_lifecycle` and `conversation_reset`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct LifecycleLine {
    #[serde(deserialize_with = "lenient")]
    pub(super) command_uuid: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) state: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) new_conversation_id: Option<String>,
}

/// A `control_request` of the agent.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct AskLine {
    #[serde(deserialize_with = "lenient")]
    pub(super) request: Option<Ask>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Ask {
    #[serde(deserialize_with = "lenient")]
    pub(super) tool_name: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) mcp_server_name: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) dialog_kind: Option<String>,
}

/// A `control_request` of the host.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WishLine {
    #[serde(deserialize_with = "lenient")]
    pub(super) request: Option<Wish>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Wish {
    #[serde(deserialize_with = "lenient")]
    pub(super) mode: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) model: Option<String>,
}

/// A `control_response` of the host.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct AnswerLine {
    #[serde(deserialize_with = "lenient")]
    pub(super) response: Option<Envelope>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Envelope {
    #[serde(deserialize_with = "lenient")]
    pub(super) response: Option<Answer>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Answer {
    #[serde(deserialize_with = "lenient")]
    pub(super) behavior: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) interrupt: Option<bool>,
}

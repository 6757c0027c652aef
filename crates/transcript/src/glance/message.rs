//! Messages of either role, and the end of a turn.
//!
//! A block that cannot be read costs that block. Inputs and structured results stay JSON text.

use std::collections::BTreeMap;

use countersign_wire::Json;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::{lenient, read};
use crate::body::{Role, Tokens};
use crate::meter::whole;

/// An `assistant` or `user` line.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct MessageGlance {
    #[serde(deserialize_with = "lenient")]
    pub(crate) message: Option<Payload>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) uuid: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) agent_id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) subagent_type: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) task_description: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) error: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) aborted: Option<bool>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) supersedes: Option<Vec<String>>,
    #[serde(rename = "isSynthetic", deserialize_with = "lenient")]
    pub(crate) is_synthetic: Option<bool>,
    #[serde(rename = "isReplay", deserialize_with = "lenient")]
    pub(crate) is_replay: Option<bool>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) tool_use_result: Option<Json>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) tool_result_meta: Option<Vec<MetaGlance>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Payload {
    #[serde(deserialize_with = "lenient")]
    pub(crate) id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) model: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) content: Option<Content>,
}

/// A bare text, or blocks.
#[derive(Debug)]
pub(crate) enum Content {
    Text(String),
    Blocks(Vec<Block>),
}

impl<'de> Deserialize<'de> for Content {
    /// A block that cannot be read costs that block: it is there without a kind.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?.get();
        if let Some(text) = read(raw) {
            return Ok(Self::Text(text));
        }
        let blocks: Vec<&RawValue> = serde_json::from_str(raw).map_err(serde::de::Error::custom)?;
        let blocks = blocks.iter().map(|block| read(block.get()));
        Ok(Self::Blocks(
            blocks.map(Option::unwrap_or_default).collect(),
        ))
    }
}

/// A block of any kind.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Block {
    #[serde(rename = "type", deserialize_with = "lenient")]
    pub(crate) kind: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) text: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) thinking: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) name: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) server_name: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) input: Option<Json>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) tool_use_id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) content: Option<Json>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) is_error: Option<bool>,
}

impl Block {
    pub(crate) fn kind(&self) -> &str {
        self.kind.as_deref().unwrap_or_default()
    }
}

/// What the CLI adds to a result (2.1.325).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct MetaGlance {
    #[serde(deserialize_with = "lenient")]
    pub(crate) id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) permission_decision: Option<DecisionGlance>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) non_execution_kind: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct DecisionGlance {
    #[serde(deserialize_with = "lenient")]
    pub(crate) decision: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) source: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) reason_type: Option<String>,
}

/// The tool's own form of a result, as far as it says that something goes on.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct StructuredGlance {
    #[serde(rename = "isAsync", deserialize_with = "lenient")]
    pub(crate) is_async: Option<bool>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) status: Option<String>,
    #[serde(rename = "agentId", deserialize_with = "lenient")]
    pub(crate) agent_id: Option<String>,
    #[serde(rename = "backgroundTaskId", deserialize_with = "lenient")]
    pub(crate) background_task_id: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct UsageGlance {
    #[serde(deserialize_with = "lenient")]
    input_tokens: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    output_tokens: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    cache_read_input_tokens: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    cache_creation_input_tokens: Option<f64>,
}

impl UsageGlance {
    pub(crate) fn tokens(&self) -> Tokens {
        Tokens {
            input: whole(self.input_tokens),
            output: whole(self.output_tokens),
            cache_read: whole(self.cache_read_input_tokens),
            cache_write: whole(self.cache_creation_input_tokens),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct ModelGlance {
    #[serde(deserialize_with = "lenient")]
    pub(crate) input_tokens: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) output_tokens: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) cache_read_input_tokens: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) cache_creation_input_tokens: Option<f64>,
    #[serde(rename = "costUSD", deserialize_with = "lenient")]
    pub(crate) cost_usd: Option<f64>,
}

/// The end of a turn.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ResultGlance {
    #[serde(deserialize_with = "lenient")]
    pub(crate) subtype: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) is_error: Option<bool>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) result: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) structured_output: Option<Json>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) errors: Option<Vec<String>>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) api_error_status: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) terminal_reason: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) num_turns: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) duration_ms: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) duration_api_ms: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) total_cost_usd: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) usage: Option<UsageGlance>,
    #[serde(rename = "modelUsage", deserialize_with = "lenient")]
    pub(crate) model_usage: Option<BTreeMap<String, ModelGlance>>,
    /// What of it came since the last result of the process; not told before 2.1.325.
    #[serde(deserialize_with = "lenient")]
    pub(crate) model_usage_since_last_result: Option<BTreeMap<String, ModelGlance>>,
    #[serde(deserialize_with = "lenient")]
    permission_denials: Option<Vec<DenialGlance>>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) user_message_uuid: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) user_message_uuids: Option<Vec<String>>,
}

/// A call that the CLI counts as denied.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DenialGlance {
    #[serde(deserialize_with = "lenient")]
    tool_name: Option<String>,
}

impl ResultGlance {
    /// Returns how many calls were denied. The CLI lists a plan that was sent back among them: that is an answer to the
    /// plan, which its card has.
    pub(crate) fn denials(&self) -> u64 {
        let listed = self.permission_denials.iter().flatten();
        let role = |one: &DenialGlance| Role::of(one.tool_name.as_deref().unwrap_or_default());
        listed.filter(|one| role(one) != Role::Plan).count() as u64
    }
}

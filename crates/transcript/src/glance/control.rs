//! Control lines: what the agent asks, what the host asks, and the answers of either.
//!
//! One struct a direction rather than one a subtype: the subtype is known from the route, and a field that is not of it is
//! simply absent.

use countersign_wire::Json;
use serde::Deserialize;

use super::lenient;

/// A `control_request` of the agent.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct AskLine {
    #[serde(deserialize_with = "lenient")]
    pub(crate) request: Option<AskGlance>,
}

/// What it asks: fields of `can_use_tool`, `elicitation`, `request_user_dialog` and `hook_callback`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct AskGlance {
    #[serde(deserialize_with = "lenient")]
    pub(crate) tool_name: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) tool_use_id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) input: Option<Json>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) agent_id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) title: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) display_name: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) description: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) decision_reason: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) decision_reason_type: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) blocked_path: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) requires_user_interaction: Option<bool>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) permission_suggestions: Option<Json>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) mcp_server_name: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) message: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) url: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) requested_schema: Option<Json>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) dialog_kind: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) payload: Option<Json>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) callback_id: Option<String>,
}

/// A `control_request` of the host.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RequestLine {
    #[serde(deserialize_with = "lenient")]
    pub(crate) request: Option<RequestGlance>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RequestGlance {
    #[serde(deserialize_with = "lenient")]
    pub(crate) mode: Option<String>,
}

/// A `control_response` of either side.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ResponseLine {
    #[serde(deserialize_with = "lenient")]
    pub(crate) response: Option<ResponseBody>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ResponseBody {
    #[serde(deserialize_with = "lenient")]
    pub(crate) response: Option<AnswerBody>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) error: Option<String>,
}

/// The inside of an answer: to a question, to a hook, or to a request for a mode or model.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct AnswerBody {
    #[serde(deserialize_with = "lenient")]
    pub(crate) behavior: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) action: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) message: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) interrupt: Option<bool>,
    #[serde(rename = "updatedInput", deserialize_with = "lenient")]
    pub(crate) updated_input: Option<Json>,
    #[serde(rename = "updatedPermissions", deserialize_with = "lenient")]
    pub(crate) updated_permissions: Option<Json>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) content: Option<Json>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) result: Option<Json>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) mode: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) model: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) decision: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) reason: Option<String>,
    #[serde(rename = "hookSpecificOutput", deserialize_with = "lenient")]
    pub(crate) hook: Option<HookAnswer>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct HookAnswer {
    #[serde(deserialize_with = "lenient")]
    pub(crate) permission_decision: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) permission_decision_reason: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) decision: Option<HookDecision>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) additional_context: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct HookDecision {
    #[serde(deserialize_with = "lenient")]
    pub(crate) behavior: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) message: Option<String>,
}

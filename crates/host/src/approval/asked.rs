//! What an agent asks, read from the line it asked with.
//!
//! Owns [`Asked`], which is stored with the approval, and the digest that a decision must name. Invariants: a line that
//! cannot be read as a question gives none (the client refuses it on the wire); two lines that mean the same JSON have the
//! same digest.

use countersign_wire::control::{CanUseTool, CliRequest, Elicitation, RequestUserDialog};
use countersign_wire::decode::decode;
use countersign_wire::permission::PermissionUpdate;
use countersign_wire::route::Route;
use countersign_wire::{CliMessage, Json};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::canon;
use crate::control::Digest;
use crate::control::approval::Kind;

/// The tool by which a plan is presented.
const PLAN_TOOL: &str = "ExitPlanMode";

/// The tool by which a person is asked.
const QUESTION_TOOL: &str = "AskUserQuestion";

/// The tool by which plan mode is entered; only 2.0.75 asks.
const ENTER_PLAN_TOOL: &str = "EnterPlanMode";

/// A question of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// Its name on the wire.
    pub request_id: String,
    /// `can_use_tool`, `elicitation` or `request_user_dialog`.
    pub subtype: String,
    /// What kind of question it is.
    pub kind: Kind,
    /// The tool, the server or the dialog.
    pub tool: String,
    /// The call it is about.
    pub tool_use_id: Option<String>,
    /// The sub-agent that asks.
    pub agent_id: Option<String>,
    /// The input, the form or what the dialog shows.
    pub input: Value,
    /// What the CLI suggests to go with an allow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<PermissionUpdate>,
    /// What the CLI marks it with.
    #[serde(default)]
    pub marks: Marks,
    /// The path that made the CLI ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_path: Option<String>,
    /// What the CLI says about it, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    /// The text of the plan where the question did not bring it: read from the session's own file when it asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
}

/// Marks of the CLI. Each of them wants a person, whatever the rules say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Marks {
    /// A safety check.
    pub safety_check: bool,
    /// No rule may allow this.
    pub no_rule: bool,
    /// The server's policy wants a person asked every time.
    pub ask_only: bool,
    /// A plan, a question.
    pub needs_person: bool,
    /// The CLI suggests to say no.
    pub default_to_no: bool,
}

impl Marks {
    /// The first mark that is set, in words.
    pub fn first(self) -> Option<&'static str> {
        countersign_policy::Marks::from(self).first()
    }
}

impl From<countersign_policy::Marks> for Marks {
    fn from(marks: countersign_policy::Marks) -> Self {
        Self {
            safety_check: marks.safety_check,
            no_rule: marks.no_rule,
            ask_only: marks.ask_only,
            needs_person: marks.needs_person,
            default_to_no: marks.default_to_no,
        }
    }
}

impl From<Marks> for countersign_policy::Marks {
    fn from(marks: Marks) -> Self {
        Self {
            safety_check: marks.safety_check,
            no_rule: marks.no_rule,
            ask_only: marks.ask_only,
            needs_person: marks.needs_person,
            default_to_no: marks.default_to_no,
        }
    }
}

impl Asked {
    fn new(request_id: &str, subtype: &str, kind: Kind, tool: &str, input: Value) -> Self {
        Self {
            request_id: request_id.to_owned(),
            subtype: subtype.to_owned(),
            kind,
            tool: tool.to_owned(),
            tool_use_id: None,
            agent_id: None,
            input,
            suggestions: Vec::new(),
            marks: Marks::default(),
            blocked_path: None,
            remark: None,
            plan: None,
        }
    }

    /// May this call run?
    pub fn of_call(request_id: &str, ask: &CanUseTool) -> Self {
        let kind = match ask.tool_name.as_str() {
            PLAN_TOOL => Kind::Plan,
            QUESTION_TOOL => Kind::Questions,
            _ => Kind::Tool,
        };
        let input = ask.input.to().unwrap_or(Value::Null);
        Self {
            tool_use_id: ask.tool_use_id.as_ref().map(ToString::to_string),
            agent_id: ask.agent_id.as_ref().map(ToString::to_string),
            suggestions: ask.permission_suggestions.clone().unwrap_or_default(),
            marks: countersign_policy::Marks::of(ask).into(),
            blocked_path: ask.blocked_path.clone(),
            remark: ask.decision_reason.clone(),
            ..Self::new(request_id, "can_use_tool", kind, &ask.tool_name, input)
        }
    }

    /// An MCP server asks the person.
    pub fn of_form(request_id: &str, ask: &Elicitation) -> Self {
        let mut shown = match Json::of(ask).map(|json| json.to()) {
            Ok(Ok(Value::Object(fields))) => fields,
            _ => Map::new(),
        };
        shown.remove("subtype");
        shown.remove("mcp_server_name");
        let input = Value::Object(shown);
        let server = &ask.mcp_server_name;
        Self {
            remark: Some(ask.message.clone()),
            ..Self::new(request_id, "elicitation", Kind::Elicitation, server, input)
        }
    }

    /// The CLI wants a dialog shown.
    pub fn of_dialog(request_id: &str, ask: &RequestUserDialog) -> Self {
        let input = ask.payload.to().unwrap_or(Value::Null);
        let kind = &ask.dialog_kind;
        Self {
            tool_use_id: ask.tool_use_id.as_ref().map(ToString::to_string),
            ..Self::new(request_id, "request_user_dialog", Kind::Dialog, kind, input)
        }
    }

    /// With the text of the plan, as it was read from the session's own file.
    #[must_use]
    pub fn with_plan(mut self, text: Option<String>) -> Self {
        self.plan = text;
        self
    }

    /// The text of the plan that is presented: what the question brought, else what the file held.
    pub fn plan_text(&self) -> Option<&str> {
        if self.kind != Kind::Plan {
            return None;
        }
        let brought = self.input.get("plan").and_then(Value::as_str);
        let texts = [brought, self.plan.as_deref()].into_iter().flatten();
        texts.into_iter().find(|text| !text.trim().is_empty())
    }

    /// Whether an allow lets the agent into plan mode.
    pub(crate) fn enters_plan_mode(&self) -> bool {
        self.tool == ENTER_PLAN_TOOL
    }
}

/// The question in a line of an agent. None for every other line, and for requests that are not a person's to answer
/// (hooks, MCP servers of the host, what this build does not know).
pub fn asked(line: &[u8]) -> Option<Asked> {
    // Most lines are something else, and some are long.
    if Route::of(line).ok()?.kind != "control_request" {
        return None;
    }
    let CliMessage::ControlRequest(ask) = decode::<CliMessage>(line).ok()? else {
        return None;
    };
    let id = ask.request_id.as_str();
    match &ask.request {
        CliRequest::CanUseTool(call) => Some(Asked::of_call(id, call)),
        CliRequest::Elicitation(form) => Some(Asked::of_form(id, form)),
        CliRequest::RequestUserDialog(dialog) => Some(Asked::of_dialog(id, dialog)),
        _ => None,
    }
}

/// What a decision must name: the digest of what was shown. Key order and the spelling of numbers do not matter.
pub fn digest(asked: &Asked) -> Digest {
    let mut shown = vec![
        Value::from(asked.subtype.as_str()),
        Value::from(asked.tool.as_str()),
        asked.input.clone(),
    ];
    shown.extend(asked.plan.as_deref().map(Value::from));
    Digest::of(canon::text(&Value::Array(shown)).as_bytes())
}

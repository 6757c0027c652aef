//! What the CLI asks of the host, and the host's answers.
//!
//! Each of these needs exactly one answer, or the agent waits.

use countersign_wire_derive::Wire;

use crate::hooks::HookInput;
use crate::ids::{AgentId, ToolUseId};
use crate::open::open_enum;
use crate::permission::{McpServerProvenance, PermissionUpdate};
use crate::{Extra, Json};

open_enum! {
    /// Which part of the CLI decided to ask.
    pub enum DecisionReasonType {
        Rule = "rule",
        Mode = "mode",
        SubcommandResults = "subcommandResults",
        PermissionPromptTool = "permissionPromptTool",
        Hook = "hook",
        AsyncAgent = "asyncAgent",
        SandboxOverride = "sandboxOverride",
        WorkingDir = "workingDir",
        SafetyCheck = "safetyCheck",
        Classifier = "classifier",
        OtherWord = "other",
    }
}

open_enum! {
    /// Why the CLI asks, as a word for programs.
    pub enum DecisionReasonCode {
        ClassifierTranscriptTooLong = "classifier_transcript_too_long",
        OutsideReadsBlocked = "outside_reads_blocked",
        MemoryPaused = "memory_paused",
        AutoModeNoCheckInSession = "auto_mode_no_check_in_session",
        AutoModeStopNoCheckInSession = "auto_mode_stop_no_check_in_session",
        AutoModeStopNoResultForCalls = "auto_mode_stop_no_result_for_calls",
        AutoModeStopNoVerdict = "auto_mode_stop_no_verdict",
        OrgAskCeiling = "org_ask_ceiling",
    }
}

/// The ask rule that forced the question.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct MatchedAskRule {
    /// Where it comes from.
    pub source: String,
    /// Name of the tool.
    pub tool_name: String,
    /// What stands in the rule's brackets.
    pub rule_content: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The CLI asks whether a call may run. No deadline; the agent waits.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(internal(
    "decision_reason_rule_source",
    "decision_reason_hook_event",
    "decision_reason_hook_source",
    "decision_reason_hook_plugin_id",
    "plugin",
    "server_prompt",
    "computer_folder",
    "provenance_prompt_line",
    "tool_kind",
    "rule_usually_offered",
))]
pub struct CanUseTool {
    /// Name of the tool.
    pub tool_name: String,
    /// Server serving the tool.
    pub mcp_server: Option<McpServerProvenance>,
    /// The input.
    pub input: Json,
    /// Ready-made rule updates.
    pub permission_suggestions: Option<Vec<PermissionUpdate>>,
    /// Path that triggered ask.
    pub blocked_path: Option<String>,
    /// Human-readable reason.
    pub decision_reason: Option<String>,
    /// Kind of deciding component.
    pub decision_reason_type: Option<DecisionReasonType>,
    /// The reason as a word for programs.
    pub decision_reason_code: Option<DecisionReasonCode>,
    /// The server's policy wants a person to be asked every time.
    pub server_policy_ask_only: Option<bool>,
    /// Safety checks auto-approvable.
    pub classifier_approvable: Option<bool>,
    /// Offer no persistent allow.
    pub suppress_always_allow_rule: Option<bool>,
    /// Do not preselect approve.
    pub default_to_no: Option<bool>,
    /// User ask-rule that forced prompt.
    pub matched_ask_rule: Option<MatchedAskRule>,
    /// Its title.
    pub title: Option<String>,
    /// Name to show.
    pub display_name: Option<String>,
    /// The tool call. 1.0.128 leaves it out.
    pub tool_use_id: Option<ToolUseId>,
    /// Sub-agent id (same as its `task_id`).
    pub agent_id: Option<AgentId>,
    /// What it is, in words.
    pub description: Option<String>,
    /// No one-tap approve.
    pub requires_user_interaction: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A registered hook fired and waits for its answer.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(internal("issued_at", "deadline_ms",))]
pub struct HookCallback {
    /// The callback that was registered.
    pub callback_id: String,
    /// The input.
    pub input: HookInput,
    /// The tool call.
    pub tool_use_id: Option<ToolUseId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// Whether a form or a web page is wanted.
    pub enum ElicitationMode {
        Form = "form",
        Url = "url",
    }
}

/// An MCP server asks the person something.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct Elicitation {
    /// MCP server.
    pub mcp_server_name: String,
    /// The message.
    pub message: String,
    /// The mode.
    pub mode: Option<ElicitationMode>,
    /// Web address.
    pub url: Option<String>,
    /// Finished URL elicitation.
    pub elicitation_id: Option<String>,
    /// JSON schema of the form.
    pub requested_schema: Option<Json>,
    /// Order of the form's fields.
    pub property_order: Option<Vec<String>>,
    /// Its title.
    pub title: Option<String>,
    /// Name to show.
    pub display_name: Option<String>,
    /// What it is, in words.
    pub description: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// What the person did with the question.
    pub enum ElicitationAction {
        Accept = "accept",
        Decline = "decline",
        Cancel = "cancel",
    }
}

/// The answer to an elicitation.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ElicitationReply {
    /// What is done.
    pub action: ElicitationAction,
    /// Its content.
    pub content: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The CLI wants a dialog shown.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct RequestUserDialog {
    /// Which dialog.
    pub dialog_kind: String,
    /// What it shows.
    pub payload: Json,
    /// The tool call.
    pub tool_use_id: Option<ToolUseId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// How a dialog ended.
    pub enum DialogBehavior {
        Completed = "completed",
        Cancelled = "cancelled",
    }
}

/// What the person chose in a dialog.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct RequestUserDialogReply {
    /// How it ended.
    pub behavior: DialogBehavior,
    /// Final text, or error text.
    pub result: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The JSON-RPC answer of an in-process MCP server. Notifications want one too.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct McpMessageReply {
    /// The JSON-RPC answer.
    pub mcp_response: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}

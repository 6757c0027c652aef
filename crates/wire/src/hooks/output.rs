//! What a hook answers for its event (`hookSpecificOutput`).

use countersign_wire_derive::Wire;

use super::PermissionRequestDecision;
use crate::control::ElicitationAction;
use crate::open::open_enum;
use crate::permission::RuleBehavior;
use crate::{Extra, Json};

open_enum! {
    /// What a hook decides about a call.
    pub enum HookDecision {
        Allow = "allow",
        Deny = "deny",
        Ask = "ask",
        Defer = "defer",
    }
}

/// Decides about a call before it runs.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
#[wire(internal("permissionDisplay",))]
pub struct PreToolUseOutput {
    /// What is decided.
    #[wire(rename = "permissionDecision")]
    pub permission_decision: Option<HookDecision>,
    /// Why.
    #[wire(rename = "permissionDecisionReason")]
    pub permission_decision_reason: Option<String>,
    /// Input to run with instead.
    #[wire(rename = "updatedInput")]
    pub updated_input: Option<Json>,
    /// Text added for the model.
    #[wire(rename = "additionalContext")]
    pub additional_context: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Comments on a call, or changes what the model sees of it.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct PostToolUseOutput {
    /// Text added for the model.
    #[wire(rename = "additionalContext")]
    pub additional_context: Option<String>,
    /// Text added for the auto mode's judge.
    #[wire(rename = "classifierContext")]
    pub classifier_context: Option<String>,
    /// What the model sees instead.
    #[wire(rename = "updatedToolOutput")]
    pub updated_tool_output: Option<Json>,
    /// What the model sees instead, for an MCP tool.
    #[wire(rename = "updatedMCPToolOutput")]
    pub updated_mcp_tool_output: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Comments on a failed call.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct PostToolUseFailureOutput {
    /// Text added for the model.
    #[wire(rename = "additionalContext")]
    pub additional_context: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Comments on a batch of calls.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct PostToolBatchOutput {
    /// Text added for the model.
    #[wire(rename = "additionalContext")]
    pub additional_context: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Comments on a notification.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct NotificationOutput {
    /// Text added for the model.
    #[wire(rename = "additionalContext")]
    pub additional_context: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Adds to a prompt.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct UserPromptSubmitOutput {
    /// Text added for the model.
    #[wire(rename = "additionalContext")]
    pub additional_context: Option<String>,
    /// Title for the session.
    #[wire(rename = "sessionTitle")]
    pub session_title: Option<String>,
    /// Leave the prompt itself out.
    #[wire(rename = "suppressOriginalPrompt")]
    pub suppress_original_prompt: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Adds to an expanded prompt.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct UserPromptExpansionOutput {
    /// Text added for the model.
    #[wire(rename = "additionalContext")]
    pub additional_context: Option<String>,
    /// Leave the prompt itself out.
    #[wire(rename = "suppressOriginalPrompt")]
    pub suppress_original_prompt: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Adds to the start of a session.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct SessionStartOutput {
    /// Text added for the model.
    #[wire(rename = "additionalContext")]
    pub additional_context: Option<String>,
    /// First message of the session.
    #[wire(rename = "initialUserMessage")]
    pub initial_user_message: Option<String>,
    /// Title for the session.
    #[wire(rename = "sessionTitle")]
    pub session_title: Option<String>,
    /// Paths to watch.
    #[wire(rename = "watchPaths")]
    pub watch_paths: Option<Vec<String>>,
    /// Read skills again.
    #[wire(rename = "reloadSkills")]
    pub reload_skills: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Comments on the end of a turn.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct StopOutput {
    /// Text added for the model.
    #[wire(rename = "additionalContext")]
    pub additional_context: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Adds to the start of a sub-agent.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct SubagentStartOutput {
    /// Text added for the model.
    #[wire(rename = "additionalContext")]
    pub additional_context: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Comments on the end of a sub-agent.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct SubagentStopOutput {
    /// Text added for the model.
    #[wire(rename = "additionalContext")]
    pub additional_context: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Decides about a change of model.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct PreModelSwitchOutput {
    /// What is decided.
    #[wire(rename = "permissionDecision")]
    pub permission_decision: Option<RuleBehavior>,
    /// Why.
    #[wire(rename = "permissionDecisionReason")]
    pub permission_decision_reason: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Comments on a change of model.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct PostModelSwitchOutput {
    /// Text added for the model.
    #[wire(rename = "additionalContext")]
    pub additional_context: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Answers a permission request.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct PermissionRequestOutput {
    /// What is decided.
    pub decision: PermissionRequestDecision,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Reacts to a denial.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct PermissionDeniedOutput {
    /// Try the call again.
    pub retry: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Adds to a setup run.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct SetupOutput {
    /// Text added for the model.
    #[wire(rename = "additionalContext")]
    pub additional_context: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Answers an elicitation.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct ElicitationOutput {
    /// What is done.
    pub action: Option<ElicitationAction>,
    /// Its content.
    pub content: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Changes the answer to an elicitation.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct ElicitationResultOutput {
    /// What is done.
    pub action: Option<ElicitationAction>,
    /// Its content.
    pub content: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Says where the worktree is.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct WorktreeCreateOutput {
    /// Path of the worktree.
    #[wire(rename = "worktreePath")]
    pub worktree_path: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Says what to watch now.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct CwdChangedOutput {
    /// Paths to watch.
    #[wire(rename = "watchPaths")]
    pub watch_paths: Option<Vec<String>>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Says what to watch now.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct FileChangedOutput {
    /// Paths to watch.
    #[wire(rename = "watchPaths")]
    pub watch_paths: Option<Vec<String>>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Changes what is shown.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct MessageDisplayOutput {
    /// Text to show instead.
    #[wire(rename = "displayContent")]
    pub display_content: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

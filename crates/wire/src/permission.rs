//! Permission rules, updates and answers, as they travel. What they mean is the `policy` crate's business.
//!
//! Invariant: the portable answer (ground truth: every CLI version takes it) is the only one [`PermissionResult`]'s constructors build.

use countersign_wire_derive::Wire;

use crate::ids::ToolUseId;
use crate::open::open_enum;
use crate::vocab::PermissionMode;
use crate::{Extra, Json, Kept};

open_enum! {
    /// What a permission rule says.
    pub enum RuleBehavior {
        Allow = "allow",
        Deny = "deny",
        Ask = "ask",
    }
}

open_enum! {
    /// Where a permission update is kept.
    pub enum RuleDestination {
        UserSettings = "userSettings",
        ProjectSettings = "projectSettings",
        LocalSettings = "localSettings",
        Session = "session",
        CliArg = "cliArg",
    }
}

open_enum! {
    /// What the person did, for the CLI's own statistics.
    pub enum DecisionClassification {
        UserTemporary = "user_temporary",
        UserPermanent = "user_permanent",
        UserReject = "user_reject",
    }
}

/// A call that was not run, as listed in the result.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct PermissionDenial {
    /// Name of the tool.
    pub tool_name: String,
    /// The tool call.
    pub tool_use_id: ToolUseId,
    /// The tool's input.
    pub tool_input: Json,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Which MCP server serves a tool. Trust rests on `source`, never on the name.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct McpServerProvenance {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub source: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A rule as it travels in updates: a tool, and what stands in the rule's brackets.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(rename_all = "camelCase")]
pub struct PermissionRule {
    /// Name of the tool.
    pub tool_name: String,
    /// What stands in the rule's brackets; absent for the whole tool.
    pub rule_content: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Rules that are added, replaced or removed.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct RulesUpdate {
    /// The rules.
    pub rules: Vec<PermissionRule>,
    /// What they say.
    pub behavior: RuleBehavior,
    /// Where they are kept.
    pub destination: RuleDestination,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A change of mode.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ModeUpdate {
    /// The mode to change to.
    pub mode: PermissionMode,
    /// Where it is kept; `session` changes it for now.
    pub destination: RuleDestination,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Folders that are added or removed.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct DirectoriesUpdate {
    /// The folders.
    pub directories: Vec<String>,
    /// Where they are kept.
    pub destination: RuleDestination,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A change to the permission state, suggested by the CLI or sent with an allow.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum PermissionUpdate {
    /// Adds rules.
    #[wire("addRules")]
    AddRules(RulesUpdate),
    /// Replaces the rules of a destination.
    #[wire("replaceRules")]
    ReplaceRules(RulesUpdate),
    /// Removes rules.
    #[wire("removeRules")]
    RemoveRules(RulesUpdate),
    /// Changes the mode.
    #[wire("setMode")]
    SetMode(ModeUpdate),
    /// Adds folders the agent may work in.
    #[wire("addDirectories")]
    AddDirectories(DirectoriesUpdate),
    /// Removes such folders.
    #[wire("removeDirectories")]
    RemoveDirectories(DirectoriesUpdate),
    /// An update this build does not know.
    #[wire(unknown)]
    Unknown(Kept),
}

/// The call may run.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
#[wire(rename_all = "camelCase")]
pub struct Allow {
    /// Input to run with. CLIs before 2.1.325 deny the call without it, so always the full object.
    pub updated_input: Option<Json>,
    /// Changes to apply with it. Leave it out when there are none: an empty value is refused by some versions.
    pub updated_permissions: Option<Vec<PermissionUpdate>>,
    /// The tool call.
    #[wire(rename = "toolUseID")]
    pub tool_use_id: Option<ToolUseId>,
    /// What the person did.
    pub decision_classification: Option<DecisionClassification>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The call may not run.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(rename_all = "camelCase")]
pub struct Deny {
    /// What the model is told.
    pub message: String,
    /// Also end the turn; newer CLIs then replace `message`.
    pub interrupt: Option<bool>,
    /// The tool call.
    #[wire(rename = "toolUseID")]
    pub tool_use_id: Option<ToolUseId>,
    /// What the person did.
    pub decision_classification: Option<DecisionClassification>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The answer to `can_use_tool`.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(tag = "behavior")]
#[non_exhaustive]
pub enum PermissionResult {
    /// The call may run.
    #[wire("allow")]
    Allow(Allow),
    /// The call may not run.
    #[wire("deny")]
    Deny(Deny),
    /// A word this build does not know; the CLI treats it as a denial.
    #[wire(unknown)]
    Unknown(Kept),
}

impl PermissionResult {
    /// Allows the call with `input`, in the form that every CLI version takes.
    pub fn allow(input: Json) -> Self {
        Self::Allow(Allow {
            updated_input: Some(input),
            ..Allow::default()
        })
    }

    /// Denies the call, in the form that every CLI version takes.
    pub fn deny(message: impl Into<String>) -> Self {
        Self::Deny(Deny {
            message: message.into(),
            interrupt: None,
            tool_use_id: None,
            decision_classification: None,
            extra: Extra::default(),
        })
    }
}

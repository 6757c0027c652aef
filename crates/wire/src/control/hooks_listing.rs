//! `get_hooks_listing`: which hooks are configured, and who says so.

use countersign_wire_derive::Wire;

use crate::control::SettingsParseError;
use crate::{Extra, Json, Num};

/// Asks for all configured hooks.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct GetHooksListing {
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A hook event and how many hooks it has.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct HookEventSummary {
    /// Its name.
    pub name: String,
    /// A summary.
    pub summary: String,
    /// Whether a matcher applies.
    #[wire(rename = "supportsMatcher")]
    pub supports_matcher: bool,
    /// How many hooks it has.
    #[wire(rename = "hookCount")]
    pub hook_count: Num,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The configuration of a hook that can be changed.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct EditableHook {
    /// Tool names: exact, a `|` list, or a regular expression; absent, empty or `*` is all.
    pub matcher: String,
    /// How it is configured.
    pub config: Json,
    /// Headers are not shown.
    #[wire(rename = "headersRedacted")]
    pub headers_redacted: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A configured hook.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ListedHook {
    /// What happened.
    pub event: String,
    /// Tool names: exact, a `|` list, or a regular expression; absent, empty or `*` is all.
    pub matcher: String,
    /// Where it comes from.
    pub source: String,
    /// Source, to show.
    #[wire(rename = "sourceLabel")]
    pub source_label: String,
    /// Plugin it belongs to.
    #[wire(rename = "pluginName")]
    pub plugin_name: Option<String>,
    /// Its type.
    #[wire(rename = "type")]
    pub kind: String,
    /// Text to show.
    #[wire(rename = "displayText")]
    pub display_text: String,
    /// What it runs.
    #[wire(rename = "commandText")]
    pub command_text: String,
    /// What its content is.
    #[wire(rename = "contentLabel")]
    pub content_label: String,
    /// The condition that must hold.
    pub condition: Option<String>,
    /// Time limit.
    pub timeout: Option<Num>,
    /// Text while it runs.
    #[wire(rename = "statusMessage")]
    pub status_message: Option<String>,
    /// It runs once a session.
    #[wire(rename = "runsOnce")]
    pub runs_once: Option<bool>,
    /// It runs in the background.
    #[wire(rename = "runsInBackground")]
    pub runs_in_background: Option<bool>,
    /// It cannot be used now.
    pub disabled: Option<bool>,
    /// Its configuration, if it can be changed.
    pub editable: Option<EditableHook>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A hook event the CLI knows.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct HookEventInfo {
    /// Its name.
    pub name: String,
    /// A summary.
    pub summary: String,
    /// Whether a matcher applies.
    #[wire(rename = "supportsMatcher")]
    pub supports_matcher: bool,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What administrators decided about hooks.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct HooksPolicy {
    /// Administrators switched hooks off.
    #[wire(rename = "disabledByPolicy")]
    pub disabled_by_policy: bool,
    /// Only the administrator's count.
    #[wire(rename = "managedOnly")]
    pub managed_only: bool,
    /// Only plugins may bring hooks.
    #[wire(rename = "pluginOnly")]
    pub plugin_only: bool,
    /// No hook runs.
    #[wire(rename = "allDisabled")]
    pub all_disabled: bool,
    /// Hooks of administrators.
    #[wire(rename = "policyHookCount")]
    pub policy_hook_count: Num,
    /// The policy cannot be read.
    #[wire(rename = "policyUnreadable")]
    pub policy_unreadable: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What safe mode does to hooks.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct HooksSafeMode {
    /// Hooks of administrators still run.
    #[wire(rename = "managedHooksStillApply")]
    pub managed_hooks_still_apply: bool,
    /// How to leave it.
    #[wire(rename = "exitHint")]
    pub exit_hint: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What bare mode does to hooks.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct HooksBareMode {
    /// How to leave it.
    #[wire(rename = "exitHint")]
    pub exit_hint: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// All configured hooks.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct GetHooksListingReply {
    /// Events with hooks.
    pub events: Vec<HookEventSummary>,
    /// Event → callback matchers.
    pub hooks: Vec<ListedHook>,
    /// All events there are.
    #[wire(rename = "eventCatalog")]
    pub event_catalog: Vec<HookEventInfo>,
    /// What administrators decided.
    pub policy: HooksPolicy,
    /// Set in safe mode.
    #[wire(rename = "safeMode")]
    pub safe_mode: Option<HooksSafeMode>,
    /// Set in bare mode.
    #[wire(rename = "bareMode")]
    pub bare_mode: Option<HooksBareMode>,
    /// What went wrong.
    pub errors: Option<Vec<SettingsParseError>>,
    /// Fields this build does not know.
    pub extra: Extra,
}

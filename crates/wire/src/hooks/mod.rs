//! Hooks over the wire: what the CLI reports to a callback and what the callback answers.
//!
//! Owns [`HookInput`] and [`HookOutput`]; the events' own fields stand in the files beside this one. Safety must not
//! rest on callbacks: up to 2.1.197 a host that goes away turns its denials into permissions.

mod output;
mod session_events;
mod tool_events;
mod turn_events;

pub use output::*;
pub use session_events::*;
pub use tool_events::*;
pub use turn_events::*;

use countersign_wire_derive::Wire;

use crate::ids::{AgentId, SessionId};
use crate::open::open_enum;
use crate::permission::PermissionUpdate;
use crate::vocab::PermissionMode;
use crate::{Extra, Json, Kept, Num};

/// What a hook is told: the session it is about, and the event. Only the event itself must be there, so that a call can be
/// decided whatever a version leaves out.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct HookInput {
    /// The session.
    pub session_id: Option<SessionId>,
    /// File of the session's transcript.
    pub transcript_path: Option<String>,
    /// Working folder.
    pub cwd: Option<String>,
    /// The prompt that is being worked on.
    pub prompt_id: Option<String>,
    /// Permission mode.
    pub permission_mode: Option<PermissionMode>,
    /// The sub-agent it happened in.
    pub agent_id: Option<AgentId>,
    /// Type of that sub-agent.
    pub agent_type: Option<String>,
    /// How much work the model puts in.
    pub effort: Option<HookEffort>,
    /// What happened.
    #[wire(flatten)]
    pub event: HookEvent,
    /// Optional fields above that came as null.
    pub extra: Extra,
}

/// How much work the model puts in.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct HookEffort {
    /// The level.
    pub level: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(tag = "hook_event_name")]
#[non_exhaustive]
pub enum HookEvent {
    /// A tool is about to be called.
    #[wire("PreToolUse")]
    PreToolUse(PreToolUseInput),
    /// A tool was called and succeeded.
    #[wire("PostToolUse")]
    PostToolUse(PostToolUseInput),
    /// A tool was called and failed.
    #[wire("PostToolUseFailure")]
    PostToolUseFailure(PostToolUseFailureInput),
    /// All calls of one model message are done.
    #[wire("PostToolBatch")]
    PostToolBatch(PostToolBatchInput),
    /// The CLI shows a notification.
    #[wire("Notification")]
    Notification(NotificationInput),
    /// A prompt was submitted.
    #[wire("UserPromptSubmit")]
    UserPromptSubmit(UserPromptSubmitInput),
    /// A slash command became a prompt.
    #[wire("UserPromptExpansion")]
    UserPromptExpansion(UserPromptExpansionInput),
    /// A session began.
    #[wire("SessionStart")]
    SessionStart(SessionStartInput),
    /// A session ended.
    #[wire("SessionEnd")]
    SessionEnd(SessionEndInput),
    /// The model is about to end its turn.
    #[wire("Stop")]
    Stop(StopInput),
    /// A turn ended in an error.
    #[wire("StopFailure")]
    StopFailure(StopFailureInput),
    /// A sub-agent began.
    #[wire("SubagentStart")]
    SubagentStart(SubagentStartInput),
    /// A sub-agent is about to end.
    #[wire("SubagentStop")]
    SubagentStop(SubagentStopInput),
    /// The context is about to be compacted.
    #[wire("PreCompact")]
    PreCompact(PreCompactInput),
    /// The context was compacted.
    #[wire("PostCompact")]
    PostCompact(PostCompactInput),
    /// The model is about to change.
    #[wire("PreModelSwitch")]
    PreModelSwitch(PreModelSwitchInput),
    /// The model changed.
    #[wire("PostModelSwitch")]
    PostModelSwitch(PostModelSwitchInput),
    /// A call needs permission; races with `can_use_tool`.
    #[wire("PermissionRequest")]
    PermissionRequest(PermissionRequestInput),
    /// A call was denied.
    #[wire("PermissionDenied")]
    PermissionDenied(PermissionDeniedInput),
    /// A setup run began.
    #[wire("Setup")]
    Setup(SetupInput),
    /// A teammate has nothing to do.
    #[wire("TeammateIdle")]
    TeammateIdle(TeammateIdleInput),
    /// A task was put on the list.
    #[wire("TaskCreated")]
    TaskCreated(TaskCreatedInput),
    /// A task of the list is done.
    #[wire("TaskCompleted")]
    TaskCompleted(TaskCompletedInput),
    /// An MCP server asks the person something.
    #[wire("Elicitation")]
    Elicitation(ElicitationInput),
    /// A question of an MCP server was answered.
    #[wire("ElicitationResult")]
    ElicitationResult(ElicitationResultInput),
    /// A configuration file changed.
    #[wire("ConfigChange")]
    ConfigChange(ConfigChangeInput),
    /// A worktree is wanted.
    #[wire("WorktreeCreate")]
    WorktreeCreate(WorktreeCreateInput),
    /// A worktree is to be removed.
    #[wire("WorktreeRemove")]
    WorktreeRemove(WorktreeRemoveInput),
    /// An instructions file was loaded.
    #[wire("InstructionsLoaded")]
    InstructionsLoaded(InstructionsLoadedInput),
    /// The working folder changed.
    #[wire("CwdChanged")]
    CwdChanged(CwdChangedInput),
    /// A watched file changed.
    #[wire("FileChanged")]
    FileChanged(FileChangedInput),
    /// A folder was added.
    #[wire("DirectoryAdded")]
    DirectoryAdded(DirectoryAddedInput),
    /// Text is about to be shown.
    #[wire("MessageDisplay")]
    MessageDisplay(MessageDisplayInput),
    /// An event this build does not know.
    #[wire(unknown)]
    Unknown(Kept),
}

open_enum! {
    /// The older way for a hook to decide.
    pub enum LegacyDecision {
        Approve = "approve",
        Block = "block",
    }
}

/// What a hook answers. An empty one has no opinion.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
#[wire(rename_all = "camelCase")]
pub struct HookOutput {
    /// The hook goes on in the background; nothing else here counts.
    #[wire(rename = "async")]
    pub is_async: Option<bool>,
    /// How long it may, in milliseconds.
    pub async_timeout: Option<Num>,
    /// False ends the turn after this tool.
    #[wire(rename = "continue")]
    pub go_on: Option<bool>,
    /// Do not show the hook's output.
    pub suppress_output: Option<bool>,
    /// What the person is told when the turn ends.
    pub stop_reason: Option<String>,
    /// The older way to decide.
    pub decision: Option<LegacyDecision>,
    /// Text for the person.
    pub system_message: Option<String>,
    /// Terminal title or notification.
    pub terminal_sequence: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// The answer that belongs to the event.
    pub hook_specific_output: Option<HookSpecificOutput>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The answer that belongs to an event.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(tag = "hookEventName")]
#[non_exhaustive]
pub enum HookSpecificOutput {
    /// Decides about a call before it runs.
    #[wire("PreToolUse")]
    PreToolUse(PreToolUseOutput),
    /// Comments on a call, or changes what the model sees of it.
    #[wire("PostToolUse")]
    PostToolUse(PostToolUseOutput),
    /// Comments on a failed call.
    #[wire("PostToolUseFailure")]
    PostToolUseFailure(PostToolUseFailureOutput),
    /// Comments on a batch of calls.
    #[wire("PostToolBatch")]
    PostToolBatch(PostToolBatchOutput),
    /// Comments on a notification.
    #[wire("Notification")]
    Notification(NotificationOutput),
    /// Adds to a prompt.
    #[wire("UserPromptSubmit")]
    UserPromptSubmit(UserPromptSubmitOutput),
    /// Adds to an expanded prompt.
    #[wire("UserPromptExpansion")]
    UserPromptExpansion(UserPromptExpansionOutput),
    /// Adds to the start of a session.
    #[wire("SessionStart")]
    SessionStart(SessionStartOutput),
    /// Comments on the end of a turn.
    #[wire("Stop")]
    Stop(StopOutput),
    /// Adds to the start of a sub-agent.
    #[wire("SubagentStart")]
    SubagentStart(SubagentStartOutput),
    /// Comments on the end of a sub-agent.
    #[wire("SubagentStop")]
    SubagentStop(SubagentStopOutput),
    /// Decides about a change of model.
    #[wire("PreModelSwitch")]
    PreModelSwitch(PreModelSwitchOutput),
    /// Comments on a change of model.
    #[wire("PostModelSwitch")]
    PostModelSwitch(PostModelSwitchOutput),
    /// Answers a permission request.
    #[wire("PermissionRequest")]
    PermissionRequest(PermissionRequestOutput),
    /// Reacts to a denial.
    #[wire("PermissionDenied")]
    PermissionDenied(PermissionDeniedOutput),
    /// Adds to a setup run.
    #[wire("Setup")]
    Setup(SetupOutput),
    /// Answers an elicitation.
    #[wire("Elicitation")]
    Elicitation(ElicitationOutput),
    /// Changes the answer to an elicitation.
    #[wire("ElicitationResult")]
    ElicitationResult(ElicitationResultOutput),
    /// Says where the worktree is.
    #[wire("WorktreeCreate")]
    WorktreeCreate(WorktreeCreateOutput),
    /// Says what to watch now.
    #[wire("CwdChanged")]
    CwdChanged(CwdChangedOutput),
    /// Says what to watch now.
    #[wire("FileChanged")]
    FileChanged(FileChangedOutput),
    /// Changes what is shown.
    #[wire("MessageDisplay")]
    MessageDisplay(MessageDisplayOutput),
    /// An event this build does not know.
    #[wire(unknown)]
    Unknown(Kept),
}

/// How a hook answers a permission request.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(tag = "behavior")]
#[non_exhaustive]
pub enum PermissionRequestDecision {
    /// The call may run.
    #[wire("allow")]
    Allow(HookAllow),
    /// The call may not run.
    #[wire("deny")]
    Deny(HookDeny),
    /// A word this build does not know.
    #[wire(unknown)]
    Unknown(Kept),
}

/// The call may run.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
#[wire(rename_all = "camelCase")]
pub struct HookAllow {
    /// Input to run with instead.
    pub updated_input: Option<Json>,
    /// Changes to apply with it.
    pub updated_permissions: Option<Vec<PermissionUpdate>>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The call may not run.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct HookDeny {
    /// What the model is told.
    pub message: Option<String>,
    /// Also end the turn.
    pub interrupt: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

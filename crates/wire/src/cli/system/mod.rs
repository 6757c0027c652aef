//! `system` messages: everything the CLI tells about itself, by subtype.
//!
//! Owns the enum; the bodies stand in the files beside this one, by subject.

mod api;
mod hook;
mod init;
mod notice;
mod state;
mod task;

pub use api::*;
pub use hook::*;
pub use init::*;
pub use notice::*;
pub use state::*;
pub use task::*;

use countersign_wire_derive::Wire;

use crate::Kept;

/// A `system` message.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(tag = "subtype", internal = INTERNAL_SUBTYPES)]
#[non_exhaustive]
pub enum SystemMessage {
    /// The state of the session, sent at the start of *every* turn, never at process start.
    #[wire("init")]
    Init(Box<Init>),
    /// The context was compacted here.
    #[wire("compact_boundary")]
    CompactBoundary(Box<CompactBoundary>),
    /// What the CLI is busy with, and each change of the permission mode (2.1.62 and later).
    #[wire("status")]
    Status(Status),
    /// A call of the API failed and will be tried again.
    #[wire("api_retry")]
    ApiRetry(ApiRetry),
    /// Progress of a slow control request, such as `side_question`.
    #[wire("control_request_progress")]
    ControlRequestProgress(ControlRequestProgress),
    /// A refused turn was tried again on another model.
    #[wire("model_refusal_fallback")]
    ModelRefusalFallback(Box<ModelRefusalFallback>),
    /// A turn was refused and not tried again.
    #[wire("model_refusal_no_fallback")]
    ModelRefusalNoFallback(ModelRefusalNoFallback),
    /// What a slash command printed that needed no model.
    #[wire("local_command_output")]
    LocalCommandOutput(LocalCommandOutput),
    /// A hook began.
    #[wire("hook_started")]
    HookStarted(HookStarted),
    /// Output of a hook that is still running.
    #[wire("hook_progress")]
    HookProgress(HookProgress),
    /// A hook ended.
    #[wire("hook_response")]
    HookResponse(HookResponse),
    /// Progress of a plugin installation.
    #[wire("plugin_install")]
    PluginInstall(PluginInstall),
    /// A background task ended.
    #[wire("task_notification")]
    TaskNotification(Box<TaskNotification>),
    /// A task (sub-agent, shell, workflow) began.
    #[wire("task_started")]
    TaskStarted(Box<TaskStarted>),
    /// A task changed; may be the only sign that it ended.
    #[wire("task_updated")]
    TaskUpdated(TaskUpdated),
    /// Progress of a running task.
    #[wire("task_progress")]
    TaskProgress(TaskProgress),
    /// The whole set of live background tasks; replaces the one before.
    #[wire("background_tasks_changed")]
    BackgroundTasksChanged(BackgroundTasksChanged),
    /// A running estimate of the thinking tokens.
    #[wire("thinking_tokens")]
    ThinkingTokens(ThinkingTokens),
    /// The session's state changed; only when an environment variable asks for it.
    #[wire("session_state_changed")]
    SessionStateChanged(SessionStateChanged),
    /// A remote worker is going away.
    #[wire("worker_shutting_down")]
    WorkerShuttingDown(WorkerShuttingDown),
    /// The list of slash commands changed.
    #[wire("commands_changed")]
    CommandsChanged(CommandsChanged),
    /// A short notification the CLI would show.
    #[wire("notification")]
    Notification(Notification),
    /// Files were stored remotely.
    #[wire("files_persisted")]
    FilesPersisted(FilesPersisted),
    /// Memories were brought into the turn.
    #[wire("memory_recall")]
    MemoryRecall(MemoryRecall),
    /// A question that was answered on a web page is done.
    #[wire("elicitation_complete")]
    ElicitationComplete(ElicitationComplete),
    /// A call was denied without asking anyone.
    #[wire("permission_denied")]
    PermissionDenied(PermissionDenied),
    /// A batch for a session store was lost.
    #[wire("mirror_error")]
    MirrorError(MirrorError),
    /// A plain text the CLI would show.
    #[wire("informational")]
    Informational(Informational),
    /// The disk is full: lines of the transcript or the configuration are lost.
    #[wire("session_writes_lost")]
    SessionWritesLost(SessionWritesLost),
    /// The session got a title. Internal to the CLI, typed because people see titles.
    #[wire("session_title_changed")]
    SessionTitleChanged(SessionTitleChanged),
    /// A call that was allowed after its question had been closed did not run, and will not. Internal to the CLI, typed
    /// because such a call must not be taken for one that ran.
    #[wire("late_allow_not_run")]
    LateAllowNotRun(LateAllowNotRun),
    /// The folder that a command left the shell in; only where a hook matcher asks for it. Internal to the CLI.
    #[wire("shell_cwd")]
    ShellCwd(ShellCwd),
    /// A subtype that is known by name only.
    #[wire(internal)]
    Internal(Kept),
    /// A subtype this build does not know.
    #[wire(unknown)]
    Unknown(Kept),
}

/// Subtypes that are recognised, their bodies kept: internal ones, and those that only older CLIs or stored
/// transcripts have.
pub const INTERNAL_SUBTYPES: &[&str] = &[
    "cloud_session_delta",
    "code_change_published",
    "dev_intent",
    "feedback_draft_queued",
    "file_attachments_missing",
    "inherited_asks_settled",
    "instruction_size_warning",
    "peer_message_hold",
    "per_turn_effort_changed",
    "permission_check_status",
    "post_turn_summary",
    "session_metadata",
    "task_summary",
    "turn_handoff_available",
    "turn_preempted",
    "ui_focus",
    "ui_invalidate",
    "ui_log",
    "ui_notify",
    "ui_notify_cancel",
    "ui_panes",
    "ui_placed",
    "ui_scroll",
    "ui_status",
    "ui_toast",
    "vcs_state_changed",
    // older CLIs and stored transcripts
    "api_error",
    "turn_duration",
    "stop_hook_summary",
    "microcompact_boundary",
    "local_command",
    "away_summary",
    "memory_saved",
    "agents_killed",
    "permission_retry",
    "thinking",
    "scheduled_task_fire",
    "file_snapshot",
    "model_fallback",
    "model_consent_fallback",
    "bridge_status",
];

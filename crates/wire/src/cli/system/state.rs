//! System messages about the session itself: status, compaction, storage.

use countersign_wire_derive::Wire;

use crate::control::SlashCommand;
use crate::ids::{MessageUuid, SessionId};
use crate::open::open_enum;
use crate::vocab::{PermissionMode, Trigger};
use crate::{Extra, Nullable, Num};

open_enum! {
    /// What the CLI is busy with.
    pub enum StatusWord {
        Compacting = "compacting",
        Requesting = "requesting",
    }
}

open_enum! {
    /// How a compaction ended.
    pub enum CompactResult {
        Success = "success",
        Failed = "failed",
    }
}

/// What the CLI is busy with, and each change of the permission mode (2.1.62 and later).
#[derive(Debug, Clone, PartialEq, Default, Wire)]
#[wire(internal("compact_output_chars", "resume_held_for_plan",))]
pub struct Status {
    /// Compacting, requesting or null.
    pub status: Nullable<StatusWord>,
    /// Current permission mode.
    #[wire(rename = "permissionMode")]
    pub permission_mode: Option<PermissionMode>,
    /// Compaction outcome.
    pub compact_result: Option<CompactResult>,
    /// Compaction failure text.
    pub compact_error: Option<String>,
    /// The prompts this turn answers, by the host's ids (2.1.327).
    pub user_message_uuids: Option<Vec<MessageUuid>>,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A version of an artifact that had been read.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ArtifactVersion {
    /// Its name.
    pub slug: String,
    /// Its version.
    pub ver: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The stretch of messages that survived a compaction.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct PreservedSegment {
    /// First message.
    pub head_uuid: String,
    /// Message they hang on.
    pub anchor_uuid: String,
    /// Last message.
    pub tail_uuid: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The messages that survived a compaction.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct PreservedMessages {
    /// Message they hang on.
    pub anchor_uuid: String,
    /// The messages.
    pub uuids: Vec<String>,
    /// The messages and those behind them.
    pub all_uuids: Option<Vec<String>>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What a compaction did.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct CompactMetadata {
    /// What set it off.
    pub trigger: Trigger,
    /// Tokens before.
    pub pre_tokens: Num,
    /// Tokens after.
    pub post_tokens: Option<Num>,
    /// Tokens dropped by all compactions so far.
    pub cumulative_dropped_tokens: Option<Num>,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<Num>,
    /// Instructions the person gave.
    pub user_context: Option<String>,
    /// How many messages were summarised.
    pub messages_summarized: Option<Num>,
    /// The summary was made ahead.
    pub precomputed: Option<bool>,
    /// Tools that had been found before.
    pub pre_compact_discovered_tools: Option<Vec<String>>,
    /// Artifact versions that had been read.
    pub pre_compact_artifact_read_versions: Option<Vec<ArtifactVersion>>,
    /// Stretch of messages that was kept.
    pub preserved_segment: Option<PreservedSegment>,
    /// Messages that were kept.
    pub preserved_messages: Option<PreservedMessages>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The context was compacted here.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(internal("logical_parent_uuid", "historical",))]
pub struct CompactBoundary {
    /// Trigger, token counts, kept-message links.
    pub compact_metadata: CompactMetadata,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// Whether the session works, waits for a person, or rests.
    pub enum SessionState {
        Idle = "idle",
        Running = "running",
        RequiresAction = "requires_action",
    }
}

/// The session's state changed; only when an environment variable asks for it.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(internal("sdk_host_only",))]
pub struct SessionStateChanged {
    /// Idle, running or `requires_action`.
    pub state: SessionState,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A remote worker is going away.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct WorkerShuttingDown {
    /// `snake_case` teardown reason.
    pub reason: String,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The list of slash commands changed.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct CommandsChanged {
    /// Full command list; replace cache.
    pub commands: Vec<SlashCommand>,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// The error of the file system.
    pub enum LostWritesCode {
        Enospc = "ENOSPC",
        Edquot = "EDQUOT",
    }
}

open_enum! {
    /// What could not be saved.
    pub enum LostWrites {
        Transcript = "transcript",
        GlobalConfig = "global_config",
    }
}

/// The disk is full: lines of the transcript or the configuration are lost.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct SessionWritesLost {
    /// ENOSPC or EDQUOT.
    pub error_code: LostWritesCode,
    /// What was not saved.
    pub lost: Vec<LostWrites>,
    /// Sessions that lost lines.
    pub transcript_session_ids: Option<Vec<String>>,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Names a transcript in a session store.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct StoreKey {
    /// Project part of the key.
    #[wire(rename = "projectKey")]
    pub project_key: String,
    /// Session part of the key.
    #[wire(rename = "sessionId")]
    pub session_id: String,
    /// Sub-agent part of the key.
    pub subpath: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A batch for a session store was lost. Made by hosts, never by the CLI.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct MirrorError {
    /// Store failure text.
    pub error: String,
    /// Store key of lost batch.
    pub key: StoreKey,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A file that was stored.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct PersistedFile {
    /// Name of the file.
    pub filename: String,
    /// Id of the stored file.
    pub file_id: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A file that could not be stored.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct FailedFile {
    /// Name of the file.
    pub filename: String,
    /// What went wrong.
    pub error: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Files were stored remotely.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct FilesPersisted {
    /// Stored files.
    pub files: Vec<PersistedFile>,
    /// Files that failed.
    pub failed: Vec<FailedFile>,
    /// ISO processing time.
    pub processed_at: String,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// How memories were chosen.
    pub enum RecallMode {
        Select = "select",
        Synthesize = "synthesize",
    }
}

open_enum! {
    /// Whose memory it is.
    pub enum MemoryScope {
        Personal = "personal",
        Team = "team",
        Organization = "organization",
    }
}

/// A memory that was brought into the turn.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct RecalledMemory {
    /// Path of the file or folder.
    pub path: String,
    /// How far it reaches.
    pub scope: MemoryScope,
    /// Its content.
    pub content: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Memories were brought into the turn.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct MemoryRecall {
    /// Select or synthesize.
    pub mode: RecallMode,
    /// Surfaced memory entries.
    pub memories: Vec<RecalledMemory>,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// How far an installation is.
    pub enum PluginInstallStatus {
        Started = "started",
        Installed = "installed",
        Failed = "failed",
        Completed = "completed",
    }
}

/// Progress of a plugin installation.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct PluginInstall {
    /// Install phase.
    pub status: PluginInstallStatus,
    /// Marketplace name.
    pub name: Option<String>,
    /// Failure text.
    pub error: Option<String>,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The session got a title.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct SessionTitleChanged {
    /// The title.
    pub title: String,
    /// Id of this frame.
    pub uuid: Option<MessageUuid>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Fields this build does not know.
    pub extra: Extra,
}

//! What lies around sessions: templates, folders, conversations of terminals, the disk, comments that are not sent yet.
//!
//! Owns the words for all of it. Invariant: a template holds no secret, so variables and servers are not part of it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::control::approval::Comment;
use crate::control::session::NewWorktree;
use crate::control::{Mode, SessionId};

/// How a session is to begin. Variables and MCP servers, which hold secrets, are given at the start itself.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Template {
    /// The folder it works in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub cwd: Option<PathBuf>,
    /// The first message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The mode. Never hands-off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// What it may cost, in US dollars. Looked at when a turn ends; the CLI stops an agent itself at twice the amount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_usd: Option<f64>,
    /// How much work the model puts into an answer: low, medium, high, xhigh or max. Claude Code has it since 2.1.62; an
    /// earlier version is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// Maximum number of tokens to think with; 0 turns thinking off, since 2.1.62.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_thinking_tokens: Option<u32>,
    /// Maximum number of round trips of one turn, at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// Hooks by event, as in the CLI's settings. Their commands run on this machine, and answer no question in a person's
    /// place.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hooks: BTreeMap<String, Value>,
    /// Sub-agents by name, as the CLI's `--agents` takes them; without a mode, hooks and servers of their own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<String, Value>,
    /// What is added to the system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub append_system_prompt: Option<String>,
    /// More folders that count as inside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub add_dirs: Vec<PathBuf>,
    /// Own worktree on an own branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<NewWorktree>,
}

/// A template as a client sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TemplateView {
    /// Its name.
    pub name: String,
    /// When it was last put: microseconds of Unix time.
    pub at: u64,
    /// By whom.
    pub by: String,
    /// What it says.
    pub template: Template,
}

/// A folder that sessions worked in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RecentFolder {
    /// Which. For a session with a worktree: the repository.
    #[schema(value_type = String)]
    pub path: PathBuf,
    /// When one of them last did something.
    pub last: u64,
    /// How many.
    pub sessions: u32,
}

/// What lies in a folder: folders alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Browsed {
    /// Which folder, links followed; none for the list of those that one can begin from.
    #[schema(value_type = Option<String>)]
    pub path: Option<PathBuf>,
    /// The one above, where that may be looked at.
    #[schema(value_type = Option<String>)]
    pub parent: Option<PathBuf>,
    /// By name.
    pub folders: Vec<BrowsedFolder>,
    /// There are more than are listed.
    pub is_cut: bool,
}

/// A folder in a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
pub struct BrowsedFolder {
    /// Its name.
    pub name: String,
    /// All of its path.
    #[schema(value_type = String)]
    pub path: PathBuf,
    /// It is a git repository.
    pub is_repository: bool,
}

/// A file that was handed to the agent of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Upload {
    /// Its name. Another one than was asked for, where that was taken.
    pub name: String,
    /// Where the agent finds it: name this path in a message.
    #[schema(value_type = String)]
    pub path: PathBuf,
    /// How many bytes it has.
    pub bytes: u64,
    /// When it came: microseconds of Unix time.
    pub at: u64,
}

/// What the data folder holds, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DiskView {
    /// All of it.
    pub total: u64,
    /// By session, largest first.
    pub sessions: Vec<DiskUse>,
    /// What belongs to no session that is here.
    pub nobody: u64,
    /// How many files and folders could not be looked at.
    pub unread: u64,
    /// What is in the trash, oldest first.
    pub trash: Vec<InTrash>,
    /// Ended sessions in which nothing happened for longer than the preference `retention_days` says, oldest first. They could
    /// go to the trash; none goes by itself.
    #[serde(default)]
    pub proposed: Vec<Proposed>,
}

/// What one session has on the disk, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DiskUse {
    /// Which.
    pub session: SessionId,
    /// Its folder: the journal, and what its keeper left.
    pub journal: u64,
    /// Its worktree, build output included.
    pub worktree: u64,
    /// Files that were handed to its agent.
    #[serde(default)]
    pub uploads: u64,
    /// What of it is in the trash.
    pub trash: u64,
}

/// A session that could go to the trash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Proposed {
    /// Which.
    pub session: SessionId,
    /// Its name.
    pub name: String,
    /// When anything last happened in it: microseconds of Unix time.
    pub last_activity: u64,
    /// What it has on the disk, in bytes.
    pub bytes: u64,
}

/// Something in the trash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InTrash {
    /// Its name there.
    pub id: String,
    /// Where it was.
    #[schema(value_type = String)]
    pub origin: PathBuf,
    /// Why it went.
    pub why: String,
    /// Of which session.
    pub session: Option<SessionId>,
    /// When: microseconds of Unix time.
    pub at: u64,
}

/// Comments on lines of a plan that are not sent yet.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct Drafts {
    /// When they were last put; none if never.
    pub at: Option<u64>,
    /// By whom.
    pub by: Option<String>,
    /// They, by line.
    pub comments: Vec<Comment>,
}

//! What an agent can be asked, and what is known of it while none is there.
//!
//! Owns the trait [`Probe`], a part of [`super::Control`], and its answers. Nothing of it changes anything. Invariants: an
//! agent that does not answer holds nobody up for longer than a deadline; what a server is configured with, which may hold
//! secrets, is not shown.

use futures_core::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{Result, SessionId};

/// What an agent can be asked.
pub trait Probe: Send + Sync + 'static {
    /// The models that the newest agent named, of whatever session.
    fn models(&self) -> BoxFuture<'_, Result<Named>>;

    /// The slash commands of a session, as its agent last named them.
    fn commands(&self, id: SessionId) -> BoxFuture<'_, Result<Named>>;

    /// How full the context of a session is, and with what.
    fn context(&self, id: SessionId) -> BoxFuture<'_, Result<ContextView>>;

    /// The MCP servers of a session's agent.
    fn mcp(&self, id: SessionId) -> BoxFuture<'_, Result<Vec<McpServer>>>;

    /// What runs in the background of a session, and what ran lately, oldest first.
    fn tasks(&self, id: SessionId) -> BoxFuture<'_, Result<Vec<TaskView>>>;

    /// What a task has printed.
    fn task_output(&self, id: SessionId, task: String) -> BoxFuture<'_, Result<TaskOutput>>;

    /// Files and folders below the folder of a session whose path holds these letters, best first. 0 is the usual number.
    fn files(&self, id: SessionId, letters: String, most: usize) -> BoxFuture<'_, Result<Files>>;
}

/// A list that an agent named, as it did.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
pub struct Named {
    /// When: microseconds of Unix time. None: no agent has named any yet.
    pub at: Option<u64>,
    /// They, as the CLI writes them: with `name` or `value`, and `description`.
    #[schema(value_type = Vec<Object>)]
    pub items: Vec<Value>,
}

/// How full a context is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
pub struct ContextView {
    /// The agent was asked just now; else it is what its last answer told.
    pub is_live: bool,
    /// In percent.
    pub percent: Option<u8>,
    /// Tokens in use.
    pub used: Option<u64>,
    /// Tokens there is room for.
    pub window: Option<u64>,
    /// The model.
    pub model: Option<String>,
    /// What it is full of, as far as the agent was asked.
    pub parts: Vec<ContextPart>,
}

/// A share of a context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ContextPart {
    /// What it is.
    pub name: String,
    /// Tokens it takes.
    pub tokens: u64,
}

/// An MCP server of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct McpServer {
    /// Its name.
    pub name: String,
    /// `connected`, `failed`, `needs-auth`, `pending`, `disabled`.
    pub status: String,
    /// What went wrong.
    pub error: Option<String>,
    /// How the server names itself, and its version.
    pub server: Option<String>,
    /// How it is reached.
    pub transport: Option<String>,
    /// The host of its address.
    pub host: Option<String>,
    /// Which settings it comes from.
    pub scope: Option<String>,
    /// The names of its tools.
    pub tools: Vec<String>,
}

/// What is to happen to an MCP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum McpAct {
    /// It is connected to again.
    Reconnect,
    /// It is switched on.
    Enable,
    /// It is switched off.
    Disable,
}

/// Something that an agent keeps running, or kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskView {
    /// The agent's name for it.
    pub id: String,
    /// `local_agent`, `local_bash`, …
    pub kind: Option<String>,
    /// What it does.
    pub description: String,
    /// `running`, `paused`, `completed`, `failed`, `stopped`, `unknown`.
    pub state: String,
    /// The turn does not wait for it.
    pub is_background: bool,
    /// When it began: microseconds of Unix time.
    pub began: Option<u64>,
    /// When it ended.
    pub ended: Option<u64>,
    /// The call that started it.
    pub tool_use_id: Option<String>,
    /// Tokens it has used.
    pub tokens: Option<u64>,
    /// Tools it has called.
    pub tool_uses: Option<u64>,
    /// What went wrong.
    pub error: Option<String>,
}

/// What a task has printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskOutput {
    /// The end of it.
    pub output: String,
    /// How much it is in all, in bytes.
    pub total_bytes: u64,
    /// There is more than is shown.
    pub is_cut: bool,
}

/// Files and folders.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct Files {
    /// Paths from the folder of the session on; a folder ends with `/`. Best first.
    pub paths: Vec<String>,
    /// There were more files than are looked at.
    pub is_cut: bool,
}

//! Everything a client can have done.
//!
//! Owns [`Command`]. One value for each write, so that it can be stored with its key, sent to another machine and tested
//! without a server.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::approval::Decide;
use super::ids::{ApprovalId, Digest, MessageId, SessionId};
use super::probe::McpAct;
use super::session::{ForkWorktree, Message, Mode, NewSession};
use super::shelf::Keep;

/// Something a client wants done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "command", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Command {
    /// A session begins.
    Start(Box<NewSession>),
    /// A message goes behind the others in the queue.
    Send {
        /// To which session.
        session: SessionId,
        /// The message.
        message: Message,
    },
    /// A waiting message gets another text.
    EditQueued {
        /// Of which session.
        session: SessionId,
        /// Which.
        message: MessageId,
        /// Its new text.
        text: String,
    },
    /// A waiting message goes to another place.
    MoveQueued {
        /// Of which session.
        session: SessionId,
        /// Which.
        message: MessageId,
        /// In front of this one; behind all others without it.
        before: Option<MessageId>,
    },
    /// A waiting message is taken back.
    RemoveQueued {
        /// Of which session.
        session: SessionId,
        /// Which.
        message: MessageId,
    },
    /// A waiting message goes at once, into the running turn if there is one.
    SendNow {
        /// Of which session.
        session: SessionId,
        /// Which.
        message: MessageId,
    },
    /// The queue goes on after an interrupt or a failure.
    ReleaseQueue {
        /// Which session.
        session: SessionId,
    },
    /// The turn ends.
    Interrupt {
        /// Which session.
        session: SessionId,
    },
    /// The agent ends, gently.
    Stop {
        /// Which session.
        session: SessionId,
    },
    /// The agent ends, whatever it takes.
    ForceEnd {
        /// Which session.
        session: SessionId,
    },
    /// An agent takes the conversation up again.
    Resume {
        /// Which session.
        session: SessionId,
        /// What it is told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<Message>,
    },
    /// Another session goes on from this conversation.
    Fork {
        /// From which session.
        session: SessionId,
        /// The new session.
        id: SessionId,
        /// What it is told first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<Message>,
        /// Where it works, if this one has a worktree.
        #[serde(default, skip_serializing_if = "ForkWorktree::is_own")]
        worktree: ForkWorktree,
    },
    /// The files go back to how they were at a message.
    Rewind {
        /// Which session.
        session: SessionId,
        /// Before which message.
        message: MessageId,
        /// Only say what would change.
        #[serde(default)]
        dry_run: bool,
    },
    /// Another name.
    Rename {
        /// Which session.
        session: SessionId,
        /// The name.
        name: String,
    },
    /// Out of sight, or back.
    Archive {
        /// Which session.
        session: SessionId,
        /// Out of sight.
        archived: bool,
    },
    /// To the trash. Nothing is deleted.
    Trash {
        /// Which session.
        session: SessionId,
    },
    /// Removes the worktree of a session in the trash, if no work would be lost.
    RemoveWorktree {
        /// Of which session.
        session: SessionId,
    },
    /// Back from the trash.
    Restore {
        /// Which session.
        session: SessionId,
    },
    /// Another mode.
    SetMode {
        /// Which session.
        session: SessionId,
        /// The mode.
        mode: Mode,
    },
    /// Another model.
    SetModel {
        /// Which session.
        session: SessionId,
        /// The model; the CLI's own choice without one.
        model: Option<String>,
    },
    /// Other variables, by a resume at the next idle moment.
    SetEnv {
        /// Which session.
        session: SessionId,
        /// All of them.
        env: BTreeMap<String, String>,
    },
    /// Another budget; none lifts it.
    SetBudget {
        /// Which session.
        session: SessionId,
        /// In US dollars.
        budget_usd: Option<f64>,
    },
    /// Go on in spite of a limit of the account, at once.
    TryAgain {
        /// Which session.
        session: SessionId,
    },
    /// A task in the background ends.
    StopTask {
        /// Which session.
        session: SessionId,
        /// Which task.
        task: String,
    },
    /// Something happens to an MCP server of the agent.
    Mcp {
        /// Which session.
        session: SessionId,
        /// Which server.
        server: String,
        /// What.
        act: McpAct,
    },
    /// A conversation that was begun in a terminal comes under our care.
    Import {
        /// The session it becomes.
        id: SessionId,
        /// Its id in the CLI.
        conversation: String,
        /// The folder it was begun in.
        #[schema(value_type = String)]
        cwd: PathBuf,
        /// The CLI's own folder, where it is not the person's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<String>)]
        config_dir: Option<PathBuf>,
        /// The person says that no terminal runs it.
        #[serde(default)]
        confirmed: bool,
    },
    /// A decision on one approval.
    Decide {
        /// Which.
        approval: ApprovalId,
        /// What was seen.
        saw: Digest,
        /// What is decided.
        #[serde(flatten)]
        decide: Decide,
    },
    /// One decision on open approvals of the same kind in a session. A no is for all of them; a yes for those that were
    /// seen, so that a question which came meanwhile is not allowed with the others.
    DecideAlike {
        /// One of them.
        approval: ApprovalId,
        /// What was seen of it.
        saw: Digest,
        /// What was seen of the others.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        others: Vec<Digest>,
        /// Which of them were shown from beginning to end. A call that a row may cut is allowed with others only so.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        whole: Vec<Digest>,
        /// What is decided.
        #[serde(flatten)]
        decide: Decide,
    },
    /// Something is kept beside sessions, or kept no longer.
    Keep(Keep),
}

impl Command {
    /// The session it is about, where it names one.
    pub fn session(&self) -> Option<SessionId> {
        Some(match self {
            Self::Start(new) => new.id,
            Self::Send { session, .. }
            | Self::EditQueued { session, .. }
            | Self::MoveQueued { session, .. }
            | Self::RemoveQueued { session, .. }
            | Self::SendNow { session, .. }
            | Self::ReleaseQueue { session }
            | Self::Interrupt { session }
            | Self::Stop { session }
            | Self::ForceEnd { session }
            | Self::Resume { session, .. }
            | Self::Fork { session, .. }
            | Self::Rewind { session, .. }
            | Self::Rename { session, .. }
            | Self::Archive { session, .. }
            | Self::Trash { session }
            | Self::Restore { session }
            | Self::RemoveWorktree { session }
            | Self::SetMode { session, .. }
            | Self::SetModel { session, .. }
            | Self::SetEnv { session, .. }
            | Self::SetBudget { session, .. }
            | Self::TryAgain { session }
            | Self::StopTask { session, .. }
            | Self::Mcp { session, .. } => *session,
            Self::Import { id, .. } => *id,
            Self::Decide { .. } | Self::DecideAlike { .. } | Self::Keep(_) => return None,
        })
    }

    /// Returns whether it grants nothing and ends something: a no, and an interrupt. Ends of agents need no room.
    pub(crate) fn may_use_reserve(&self) -> bool {
        match self {
            Self::Interrupt { .. } => true,
            Self::Decide { decide, .. } | Self::DecideAlike { decide, .. } => {
                matches!(decide, Decide::Deny { .. } | Decide::Decline { .. })
            }
            _ => false,
        }
    }
}

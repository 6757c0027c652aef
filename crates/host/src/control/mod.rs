//! The one seam for clients: what the server, the terminal and other machines speak to.
//!
//! Owns the trait [`Control`] and its words. Knows no files, no database and no local time, so that a host on this machine
//! and one far away look the same. Invariants: every write has a key and a receipt; ids are chosen by whoever writes; a
//! decision names what was seen; long records go by reference.

pub mod approval;
mod cmd;
mod command;
mod decided;
mod ids;
mod look;
mod probe;
pub mod session;
mod shelf;

use futures_core::future::BoxFuture;
use futures_core::stream::BoxStream;

pub use approval::{ApprovalView, Decide};
pub use cmd::{Cmd, ControlError, Did, Receipt, Result};
pub use command::Command;
pub use ids::{ApprovalId, BadId, Digest, MessageId, SessionId};
pub use look::{
    Above, ApprovalFilter, Came, Earlier, EarlierPart, Followed, Found, Happened, HostEvent, Page,
    PlanVersion, Queued, SessionFilter, Spent, Told, Usage, Vitals,
};
pub use probe::{
    ContextPart, ContextView, Files, McpAct, McpServer, Named, Probe, TaskOutput, TaskView,
};
pub use session::{ForkWorktree, Message, Mode, NewSession, SessionView, State, WorktreeView};
pub use shelf::{
    Acts, Browsed, BrowsedFolder, ChangeRule, DecidedBy, DecisionFilter, DecisionView, DiskUse,
    DiskView, Drafts, Explain, Explained, ImportFilter, Importable, InTrash, Insights, Keep,
    NewRule, Part, PatchPreferences, Period, Preferences, Proposed, PutWebhook, RecentFolder,
    RuleEffect, RuleView, Shelf, Speed, Template, TemplateView, Upload, WaitedAt, WaitedFor,
    WaitedIn, Waits, WebhookView,
};

pub(crate) use shelf::MAX_AGENTS;

pub use countersign_transcript::{Entry, EntryId, Totals};

/// Now, in microseconds of Unix time.
pub(crate) fn now() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |now| now.as_micros() as u64)
}

/// What clients speak to.
pub trait Control: Probe + Shelf {
    /// Has something done. The same key gives the same receipt.
    fn execute(&self, cmd: Cmd, command: Command) -> BoxFuture<'_, Result<Receipt>>;

    /// Sessions, newest activity first.
    fn sessions(&self, filter: SessionFilter) -> BoxFuture<'_, Result<Page<SessionView>>>;

    /// One session.
    fn session(&self, id: SessionId) -> BoxFuture<'_, Result<SessionView>>;

    /// The messages that wait, first to go first.
    fn queue(&self, id: SessionId) -> BoxFuture<'_, Result<Vec<Queued>>>;

    /// Approvals, oldest open first, then newest.
    fn approvals(&self, filter: ApprovalFilter) -> BoxFuture<'_, Result<Page<ApprovalView>>>;

    /// One approval.
    fn approval(&self, id: ApprovalId) -> BoxFuture<'_, Result<ApprovalView>>;

    /// The versions of the plan that an approval is about, oldest first.
    fn plans(&self, id: SessionId) -> BoxFuture<'_, Result<Vec<PlanVersion>>>;

    /// A page of the transcript, read backwards: what stands before an entry, or the newest. 0 is the usual number, and 500
    /// the most.
    fn transcript(
        &self,
        id: SessionId,
        before: Option<EntryId>,
        most: usize,
    ) -> BoxFuture<'_, Result<Above<Entry>>>;

    /// The conversation that a session was forked or imported from, as it was then. None if it goes on from no other.
    fn earlier(&self, id: SessionId, part: EarlierPart) -> BoxFuture<'_, Result<Option<Earlier>>>;

    /// What changes in the transcript behind a record, as it changes. Costs a page to begin with, however long the session is.
    fn transcript_follow(
        &self,
        id: SessionId,
        after: Option<String>,
    ) -> BoxFuture<'_, Result<BoxStream<'static, Result<Told>>>>;

    /// The sums of a session.
    fn totals(&self, id: SessionId) -> BoxFuture<'_, Result<Totals>>;

    /// The records of a session from a cursor on, as they come. Records longer than `max_inline` by reference.
    fn follow(
        &self,
        id: SessionId,
        after: Option<String>,
        max_inline: usize,
    ) -> BoxFuture<'_, Result<BoxStream<'static, Result<Followed>>>>;

    /// Bytes of one record.
    fn read(
        &self,
        id: SessionId,
        cursor: String,
        range: std::ops::Range<u64>,
    ) -> BoxFuture<'_, Result<Vec<u8>>>;

    /// The number of the last event that happened; 0 before the first.
    fn last_event(&self) -> BoxFuture<'_, Result<u64>>;

    /// What happened in all sessions, from a number on, as it happens.
    fn events(&self, after: Option<u64>) -> BoxFuture<'_, Result<BoxStream<'static, HostEvent>>>;

    /// Transcripts that hold these words.
    fn search(&self, words: String, most: usize) -> BoxFuture<'_, Result<Vec<Found>>>;

    /// What was spent, by day and model.
    fn usage(&self, since: u64) -> BoxFuture<'_, Result<Usage>>;

    /// How the host is doing, in figures.
    fn vitals(&self) -> BoxFuture<'_, Result<Vitals>>;

    /// The difference of a session's worktree to its base.
    fn diff(&self, id: SessionId) -> BoxFuture<'_, Result<String>>;

    /// The worktree of a session: what is in it that is nowhere else.
    fn worktree(&self, id: SessionId) -> BoxFuture<'_, Result<WorktreeView>>;
}

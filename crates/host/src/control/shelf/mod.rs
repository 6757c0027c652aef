//! What people keep beside sessions: rules, the record of decisions, whom to tell, preferences, templates, drafts; and what
//! lies around them: folders, conversations of terminals, the disk.
//!
//! Owns the trait [`Shelf`], a part of [`super::Control`], and [`Keep`], the writes of it. Invariants: a secret goes in and
//! never comes out; every write is a command with a key and a receipt like any other.

mod around;
mod decisions;
mod insights;
mod preferences;
mod rules;
mod webhooks;

use std::path::PathBuf;

use futures_core::future::BoxFuture;
use futures_core::stream::BoxStream;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

pub use around::{
    Browsed, BrowsedFolder, DiskUse, DiskView, Drafts, InTrash, Proposed, RecentFolder, Template,
    TemplateView, Upload,
};
pub use decisions::{DecisionFilter, DecisionView};
pub use insights::{
    Acts, DecidedBy, Insights, Period, Speed, WaitedAt, WaitedFor, WaitedIn, Waits,
};
pub(crate) use preferences::MAX_AGENTS;
pub use preferences::{PatchPreferences, Preferences};
pub use rules::{ChangeRule, Explain, Explained, NewRule, Part, RuleEffect, RuleView};
pub use webhooks::{PutWebhook, WebhookView};

use super::approval::Comment;
use super::{ApprovalId, Cmd, Page, Receipt, Result, SessionId};
pub use crate::import::{ImportFilter, Importable};

/// What people keep beside sessions.
pub trait Shelf: Send + Sync + 'static {
    /// The rules that people made, oldest first; those whose time is over, too.
    fn rules(&self) -> BoxFuture<'_, Result<Vec<RuleView>>>;

    /// What policy says about a call, and why. Nothing runs.
    fn explain(&self, what: Explain) -> BoxFuture<'_, Result<Explained>>;

    /// What was decided, by people and by rules, newest first.
    fn decisions(&self, filter: DecisionFilter) -> BoxFuture<'_, Result<Page<DecisionView>>>;

    /// Who decided in a period, and what agents waited for.
    fn insights(&self, period: Period) -> BoxFuture<'_, Result<Insights>>;

    /// Who is told outside of this machine.
    fn webhooks(&self) -> BoxFuture<'_, Result<Vec<WebhookView>>>;

    /// What this host goes by.
    fn preferences(&self) -> BoxFuture<'_, Result<Preferences>>;

    /// How sessions can begin, by name.
    fn templates(&self) -> BoxFuture<'_, Result<Vec<TemplateView>>>;

    /// Folders that sessions worked in, newest first.
    fn recent_folders(&self) -> BoxFuture<'_, Result<Vec<RecentFolder>>>;

    /// Folders in a folder of the host's machine; without one, those that one can begin from.
    fn folders(&self, path: Option<PathBuf>) -> BoxFuture<'_, Result<Browsed>>;

    /// Conversations that were begun in a terminal and can come under our care, newest first.
    fn importable(&self, filter: ImportFilter) -> BoxFuture<'_, Result<Vec<Importable>>>;

    /// What the data folder holds. Looks at every file the first time.
    fn disk(&self) -> BoxFuture<'_, Result<DiskView>>;

    /// The comments on a plan that are not sent yet.
    fn drafts(&self, plan: ApprovalId) -> BoxFuture<'_, Result<Drafts>>;

    /// Hands a file to the agent of a session. A write like any other, but for its bytes, which no receipt holds.
    fn upload(
        &self,
        cmd: Cmd,
        session: SessionId,
        name: String,
        bytes: Vec<u8>,
    ) -> BoxFuture<'_, Result<Receipt>>;

    /// The files that were handed to the agent of a session, oldest first.
    fn uploads(&self, session: SessionId) -> BoxFuture<'_, Result<Vec<Upload>>>;

    /// The files of a session's journal as they lie on the disk, in one tar archive. Nothing of it is masked.
    fn journal(
        &self,
        session: SessionId,
    ) -> BoxFuture<'_, Result<BoxStream<'static, Result<Vec<u8>>>>>;
}

/// Something that is to be kept, or kept no longer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "keep", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Keep {
    /// A rule.
    AddRule {
        /// What it says, and where.
        rule: NewRule,
    },
    /// A rule says something else from now on.
    ChangeRule {
        /// Its number.
        id: u64,
        /// What changes.
        change: ChangeRule,
    },
    /// A rule holds no longer.
    RemoveRule {
        /// Its number.
        id: u64,
    },
    /// Somebody is told from now on, or otherwise than before.
    PutWebhook {
        /// By which it is known.
        name: String,
        /// Whom, and about what.
        webhook: PutWebhook,
    },
    /// Somebody is told no longer.
    RemoveWebhook {
        /// By which it is known.
        name: String,
    },
    /// Somebody is told something, to see whether it arrives.
    TestWebhook {
        /// By which it is known.
        name: String,
    },
    /// A way for sessions to begin, in place of the one of its name.
    PutTemplate {
        /// Its name.
        name: String,
        /// What it says.
        template: Box<Template>,
    },
    /// A template is kept no longer.
    RemoveTemplate {
        /// Its name.
        name: String,
    },
    /// The comments on a plan that are not sent yet are these.
    PutComments {
        /// The approval of the plan.
        approval: ApprovalId,
        /// All of them; none takes them away.
        comments: Vec<Comment>,
    },
    /// A file that was handed to an agent goes to the trash.
    RemoveUpload {
        /// Of which session.
        session: SessionId,
        /// Its name.
        name: String,
    },
    /// Other preferences.
    Prefer {
        /// What changes.
        change: PatchPreferences,
    },
}

/// Tells what is taken away (`null`) from what is left as it is (absent).
pub(super) fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(from).map(Some)
}

//! Sessions: list, look, begin, change, put away, read.

use countersign_transcript::{Entry, EntryId};
use hyper::Method;

use super::error::ClientError;
use super::events::Events;
use super::exchange::Ask;
use super::query::Target;
use super::{Client, NOTHING};
use crate::bodies::{ImportBody, PatchSession, StartBody};
use crate::control::{
    Above, Earlier, Found, Page, Queued, Receipt, SessionFilter, SessionId, SessionView, Usage,
    WorktreeView,
};

/// Where a stream of a session begins.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Which {
    /// Behind this record: `generation-seq`. From the beginning without one.
    pub after: Option<String>,
    /// Records that are longer come by reference.
    pub max_inline: Option<usize>,
}

impl Client {
    /// A page of sessions, newest activity first.
    ///
    /// # Errors
    /// When the server is not there, or says no.
    pub async fn sessions(&self, filter: &SessionFilter) -> Result<Page<SessionView>, ClientError> {
        let states = (!filter.states.is_empty()).then(|| filter.states.join(","));
        let target = Target::api("/sessions")
            .with("state", states)
            .with("archived", filter.archived.then_some(true))
            .with("trashed", filter.trashed.then_some(true))
            .with("most", (filter.most > 0).then_some(filter.most))
            .with("after", filter.after.as_deref());
        self.get(target).await
    }

    /// All sessions that fit, page by page.
    ///
    /// # Errors
    /// When the server is not there, or says no.
    pub async fn all_sessions(
        &self,
        mut filter: SessionFilter,
    ) -> Result<Vec<SessionView>, ClientError> {
        let mut all = Vec::new();
        loop {
            let page = self.sessions(&filter).await?;
            all.extend(page.items);
            match page.next {
                None => return Ok(all),
                next => filter.after = next,
            }
        }
    }

    /// One session.
    ///
    /// # Errors
    /// When it is not there, or the server is not.
    pub async fn session(&self, id: SessionId) -> Result<SessionView, ClientError> {
        self.get(Target::api("/sessions").part(id)).await
    }

    /// Begins a session.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn start(&self, body: &StartBody) -> Result<Receipt, ClientError> {
        self.write(Method::POST, Target::api("/sessions"), Some(body))
            .await
    }

    /// Changes one thing.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn change(&self, id: SessionId, body: &PatchSession) -> Result<Receipt, ClientError> {
        let target = Target::api("/sessions").part(id);
        self.write(Method::PATCH, target, Some(body)).await
    }

    /// Puts a session into the trash.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn put_away(&self, id: SessionId) -> Result<Receipt, ClientError> {
        let target = Target::api("/sessions").part(id);
        self.write(Method::DELETE, target, NOTHING).await
    }

    /// Looks at the worktree of a session.
    ///
    /// # Errors
    /// When it has none, or the server says no.
    pub async fn worktree(&self, id: SessionId) -> Result<WorktreeView, ClientError> {
        self.get(Target::api("/sessions").part(id).part("worktree"))
            .await
    }

    /// Puts a session into the trash, and removes its worktree.
    ///
    /// # Errors
    /// When work would be lost, or the server says no.
    pub async fn put_away_with_worktree(&self, id: SessionId) -> Result<Receipt, ClientError> {
        let target = Target::api("/sessions").part(id);
        let target = target.with("worktree", Some(true));
        self.write(Method::DELETE, target, NOTHING).await
    }

    /// Takes a session out of the trash.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn restore(&self, id: SessionId) -> Result<Receipt, ClientError> {
        let target = Target::api("/sessions").part(id).part("restore");
        self.write(Method::POST, target, NOTHING).await
    }

    /// Takes a conversation under our care that was begun in a terminal.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn import(&self, body: &ImportBody) -> Result<Receipt, ClientError> {
        self.write(Method::POST, Target::api("/import"), Some(body))
            .await
    }

    /// The messages that wait, first to go first.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn queue(&self, id: SessionId) -> Result<Vec<Queued>, ClientError> {
        self.get(Target::api("/sessions").part(id).part("queue"))
            .await
    }

    /// A page of the transcript, read backwards: what stands before an entry, or the newest.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn transcript(
        &self,
        id: SessionId,
        before: Option<&EntryId>,
        most: usize,
    ) -> Result<Above<Entry>, ClientError> {
        let target = Target::api("/sessions")
            .part(id)
            .part("transcript")
            .with("before", before)
            .with("most", (most > 0).then_some(most));
        self.get(target).await
    }

    /// The conversation that a session goes on from: the newest of it.
    ///
    /// # Errors
    /// When the server says no; also where the session goes on from none.
    pub async fn earlier(&self, id: SessionId, most: usize) -> Result<Earlier, ClientError> {
        let target = Target::api("/sessions")
            .part(id)
            .part("earlier")
            .with("most", (most > 0).then_some(most));
        self.get(target).await
    }

    /// The entries of a transcript, as they change.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn transcript_stream(
        &self,
        id: SessionId,
        after: Option<&str>,
    ) -> Result<Events, ClientError> {
        let target = Target::api("/sessions")
            .part(id)
            .part("transcript")
            .part("stream")
            .with("after", after);
        Events::open(self, target).await
    }

    /// The records of a session, as they come.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn records(&self, id: SessionId, which: &Which) -> Result<Events, ClientError> {
        let target = Target::api("/sessions")
            .part(id)
            .part("events")
            .with("after", which.after.as_deref())
            .with("max_inline", which.max_inline);
        Events::open(self, target).await
    }

    /// What happens in all sessions.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn events(&self) -> Result<Events, ClientError> {
        Events::open(self, Target::api("/events")).await
    }

    /// The difference of a session's worktree to its base.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn diff(&self, id: SessionId) -> Result<String, ClientError> {
        let target = Target::api("/sessions").part(id).part("diff");
        self.ask_text(Ask::read(target)).await
    }

    /// Places in transcripts that hold these words.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn search(&self, words: &str, most: usize) -> Result<Vec<Found>, ClientError> {
        let target = Target::api("/search")
            .with("q", Some(words))
            .with("most", (most > 0).then_some(most));
        self.get(target).await
    }

    /// What was spent since a moment, in microseconds of Unix time.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn usage(&self, since: u64) -> Result<Usage, ClientError> {
        self.get(Target::api("/usage").with("since", Some(since)))
            .await
    }
}

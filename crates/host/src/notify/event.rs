//! What happened that the outside may want to know.
//!
//! Owns [`Event`] and when a change of a session is one. Pure. Invariant: an event holds only what may leave the machine:
//! names, states and one masked line, never an input.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::summary;
use crate::control::session::State;
use crate::control::{ApprovalId, ApprovalView, SessionId, SessionView};

/// What can happen.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
#[schema(as = WebhookEvent)]
#[non_exhaustive]
pub enum Kind {
    /// A question waits for a person.
    NeedsYou,
    /// A session has done what it was told.
    Finished,
    /// A session ended by itself, or its turn failed.
    Failed,
    /// A session waits: for a limit to end, for room on the disk, for money.
    Paused,
    /// A turn should go on and does not.
    Stalled,
    /// The CLI is not signed in.
    NotSignedIn,
    /// A person ended a session.
    Stopped,
    /// Something is wrong with the host.
    Trouble,
    /// A person wants to see whether a target is reached. Goes to every target.
    Test,
}

impl Kind {
    /// Its name, as it crosses the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::NeedsYou => "needs_you",
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Paused => "paused",
            Self::Stalled => "stalled",
            Self::NotSignedIn => "not_signed_in",
            Self::Stopped => "stopped",
            Self::Trouble => "trouble",
            Self::Test => "test",
        }
    }
}

/// The session it is about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct About {
    /// Its id.
    pub id: SessionId,
    /// Its name, in one line.
    pub name: String,
    /// The name of its state.
    pub state: &'static str,
    /// Why it is in that state, in one line.
    pub reason: String,
    /// What it has cost, in US dollars.
    pub cost_usd: f64,
}

impl About {
    fn of(view: &SessionView) -> Self {
        Self {
            id: view.id,
            name: summary::line(&view.name),
            state: view.state.name(),
            reason: summary::line(&view.reason),
            cost_usd: view.cost_usd,
        }
    }
}

/// The question it is about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Question {
    /// Its id.
    pub id: ApprovalId,
    /// What kind of question it is.
    pub kind: crate::control::approval::Kind,
    /// The tool, or the server.
    pub tool: String,
    /// What it is about, in one masked line.
    pub summary: String,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// What.
    pub kind: Kind,
    /// When: microseconds of Unix time.
    pub at: u64,
    /// In which session; none if it is about the host.
    pub session: Option<About>,
    /// About which question.
    pub approval: Option<Question>,
    /// In a sentence, for whoever shows nothing else.
    pub text: String,
}

impl Event {
    /// A question was asked.
    pub fn asked(view: &SessionView, approval: &ApprovalView) -> Self {
        let about = About::of(view);
        let summary = summary::of(approval);
        let text = format!("{} needs you: {summary}", about.name);
        let question = Question {
            id: approval.id,
            kind: approval.kind,
            tool: summary::line(&approval.tool),
            summary,
        };
        Self {
            kind: Kind::NeedsYou,
            at: approval.asked,
            session: Some(about),
            approval: Some(question),
            text,
        }
    }

    /// A session came from a state to the one it is in: none if that is no news. That it needs somebody is told by its
    /// question; that it is idle is no end while messages wait to be sent.
    pub fn turned(was: &State, view: &SessionView) -> Option<Self> {
        let worked = matches!(
            was,
            State::Running | State::NeedsYou { .. } | State::Stalled { .. } | State::Starting
        );
        let goes_on = view.queued > 0 && !view.queue_held;
        let kind = match &view.state {
            State::Idle { .. } if worked && !goes_on => Kind::Finished,
            State::Failed { .. } => Kind::Failed,
            State::Paused { .. } => Kind::Paused,
            State::Stalled { .. } => Kind::Stalled,
            State::NotSignedIn { .. } => Kind::NotSignedIn,
            State::Stopped => Kind::Stopped,
            _ => return None,
        };
        if was.name() == view.state.name() {
            return None;
        }
        let about = About::of(view);
        let said = match kind {
            Kind::Finished => "has finished",
            Kind::Failed => "has failed",
            Kind::Paused => "is paused",
            Kind::Stalled => "does not go on",
            Kind::NotSignedIn => "cannot go on: the CLI is not signed in",
            _ => "was stopped",
        };
        let text = match (kind, about.reason.as_str()) {
            (Kind::Finished, _) | (_, "") => format!("{} {said}", about.name),
            (_, reason) => format!("{} {said}: {reason}", about.name),
        };
        Some(Self {
            kind,
            at: view.since,
            session: Some(about),
            approval: None,
            text,
        })
    }

    /// Something is wrong with the host.
    pub fn trouble(text: &str, now: u64) -> Self {
        Self::of_host(Kind::Trouble, summary::line(text), now)
    }

    /// A person wants to see whether targets are reached.
    pub fn test(now: u64) -> Self {
        Self::of_host(Kind::Test, "A test of Countersign".to_owned(), now)
    }

    fn of_host(kind: Kind, text: String, at: u64) -> Self {
        Self {
            kind,
            at,
            session: None,
            approval: None,
            text,
        }
    }

    /// The same event has the same name, however often it is told.
    pub(super) fn id(&self) -> String {
        let mut hash = blake3::Hasher::new();
        hash.update(self.kind.name().as_bytes());
        hash.update(&self.at.to_be_bytes());
        let session = self.session.as_ref().map_or(0, |about| about.id.bits());
        hash.update(&session.to_be_bytes());
        let approval = self.approval.as_ref().map_or(0, |asked| asked.id.bits());
        hash.update(&approval.to_be_bytes());
        if self.session.is_none() {
            hash.update(self.text.as_bytes());
        }
        let mut hex = hash.finalize().to_hex().to_string();
        hex.truncate(32);
        hex
    }
}

#[cfg(test)]
#[path = "event_tests.rs"]
pub(super) mod tests;

//! What a session wants done.
//!
//! Owns [`Effect`] and [`Begin`]. The core only says it; whoever runs it tells what came of it by an
//! [`Input`](super::Input). Effects are run in their order, and before the next input is given.

use countersign_keeper::protocol::EndPlan;
use serde::{Deserialize, Serialize};

use crate::control::MessageId;

/// How an agent begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Begin {
    /// With a conversation of its own, under the id that was chosen for it.
    #[default]
    New,
    /// With the conversation of the agent before it.
    Resume,
    /// With a new conversation under the same id: the agent before it ended before it had written one.
    NewSameId,
    /// With a new conversation under another id: the same one counts as taken.
    NewOtherId,
}

/// What the core could not keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// A running call.
    Tool,
    /// Work in the background.
    Task,
    /// An open question.
    Question,
    /// A message that was written and not yet read.
    Message,
}

/// Something to be done.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Effect {
    /// An agent is wanted: [`Input::Admitted`](super::Input::Admitted) says that there is room for it.
    AskForRoom {
        /// Since when one is wanted.
        since: u64,
    },
    /// The room is not needed, or not wanted any more. Done twice it does nothing.
    GiveUpRoom,
    /// Start an agent. No number is used twice.
    Spawn {
        /// Which start it is.
        generation: u32,
        /// How it begins.
        begin: Begin,
    },
    /// Take this message from the queue and write it.
    Send {
        /// Which.
        message: MessageId,
    },
    /// Put this message back in front of the queue: its agent has not read it.
    PutBack {
        /// Which.
        message: MessageId,
        /// The CLI gave it back, and lives.
        is_given_back: bool,
    },
    /// End the turn.
    Interrupt {
        /// Messages that the CLI holds unread are not to run (versions that know it).
        cancel_queued: bool,
    },
    /// End the agent. Said again with a harsher plan when the first one does not help.
    End {
        /// How.
        plan: EndPlan,
        /// Why, for the journal.
        why: String,
    },
    /// The keeper itself does not end it: end the keeper, and with it everything below.
    KillKeeper,
    /// Tell the agent what a person chose before it could be told.
    Tell {
        /// The mode.
        mode: bool,
        /// The model.
        model: bool,
    },
    /// Before it goes to sleep: what runs below the agent? Answered by
    /// [`Input::Children`](super::Input::Children).
    LookAtChildren,
    /// What was asked last did not get through, and now it could: put a word to go on in the queue. Done twice for the same
    /// turn it does nothing.
    GoOn {
        /// When that turn ended.
        since: u64,
    },
    /// There are more of these than are kept: the oldest is no longer counted. Its answer or end is still taken.
    LetGo {
        /// Of what kind.
        what: Kept,
        /// Its name on the wire.
        id: String,
    },
    /// A turn has ended.
    TurnEnded {
        /// With success.
        ok: bool,
        /// Because somebody wanted it to.
        interrupted: bool,
    },
    /// What is shown of the session has changed: store it and tell.
    Changed,
}

//! What a session is told.
//!
//! Owns [`Input`]. One value for everything that can happen to a session, so that its tests are tables and its life can be
//! played again.

use countersign_journal::Exit;

use super::{Begin, Fact};
use crate::control::MessageId;

/// Something that happened, or that somebody wants.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Input {
    /// A record of the journal said this. Records come in their order, each once.
    Fact(Fact),

    /// The host has begun, and the core comes from the disk: who had room is forgotten, and the journal may be ahead. Until
    /// [`Input::CaughtUp`] nothing is sent or started.
    HostBegan,
    /// The journal is read to its end.
    CaughtUp,

    /// An agent is there, and can be written to.
    Attached {
        /// Which.
        generation: u32,
        /// Why its keeper writes nothing at the moment.
        paused: Option<i32>,
    },
    /// An agent did not come up.
    SpawnFailed {
        /// Which.
        generation: u32,
        /// Why.
        why: String,
        /// What a person can do about it.
        fix: Option<String>,
        /// How it would come up, where that is known.
        trap: Option<Begin>,
    },
    /// An agent has ended. Its journal is read to the end before this is said; the record of its exit says the same.
    Gone {
        /// Which.
        generation: u32,
        /// How.
        exit: Exit,
        /// The end of what it said on stderr, where more is known than the journal said.
        stderr: String,
    },
    /// Its keeper ended without a word, and nothing of it runs any more.
    Lost {
        /// Which.
        generation: u32,
    },
    /// It was to be started, and no keeper ever was: the host ended before.
    NeverBegan {
        /// Which.
        generation: u32,
    },
    /// A keeper holds it and does not answer.
    Unreachable,
    /// Its keeper cannot write.
    DiskPaused,
    /// It can again.
    DiskResumed,

    /// There is room under the cap.
    Admitted,
    /// There is room, and too few files can be opened to begin: [`Input::Admitted`] is told again.
    NoFiles,
    /// Others wait for room: sleep as soon as that is possible.
    MakeRoom,
    /// The queue as it stands on the disk, first to go first. Told after every change.
    Queue(Vec<MessageId>),
    /// A message could not be taken from the queue or written. It is in the queue again.
    NotSent {
        /// Which.
        message: MessageId,
    },
    /// A message could not be written because the agent has gone, or the way to it. It is in the queue as before, and what
    /// became of the agent is told next.
    Closed {
        /// Which.
        message: MessageId,
    },
    /// A question needs nobody any more: a rule or a person has decided it, and the answer is on its way.
    Decided {
        /// Which.
        request_id: String,
    },
    /// So many processes run below the agent, MCP servers not counted.
    Children {
        /// How many.
        others: u32,
    },

    /// End the turn.
    Interrupt,
    /// End the agent, gently.
    Stop,
    /// End the agent, whatever it takes.
    ForceEnd,
    /// Have an agent go on.
    Resume,
    /// Have an agent go on with the turn in which the one before it crashed. Nothing comes of it for a turn that was asked again
    /// already, or after a person's word.
    AskAgain,
    /// Let the queue go on: at once, or when the turn that runs has ended, however it ends.
    ReleaseQueue,
    /// Send this message of the queue at once, into the running turn if there is one.
    SendNow(MessageId),
    /// Go on in spite of a limit, or after signing in.
    TryAgain,
    /// Another mode is chosen.
    ModeChosen {
        /// What its agent has to be told, in the CLI's word; nothing where it knows.
        owed: Option<String>,
    },
    /// Another model is chosen.
    ModelChosen {
        /// What its agent has to be told; the empty name for the CLI's own choice.
        owed: Option<String>,
    },
    /// Start the agent anew at the next idle moment: it is to have another environment.
    Restart,
    /// What it has cost, and what it may cost, in US dollars.
    Budget {
        /// What it has cost.
        spent: f64,
        /// What it may cost.
        budget: Option<f64>,
    },
    /// Time has passed.
    Tick,
}

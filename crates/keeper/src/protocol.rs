//! What host and keeper say to each other over the socket, version 1.
//!
//! Owns the messages: one JSON object a line, with a `type`; a `put` is followed by `len` raw bytes, the line for the
//! agent with its newline. No frames of the agent flow here: the host reads the journal. Additive: a field that one
//! side does not know is passed over, a message that it does not know is [`FromKeeper::Unknown`] or refused.

pub use countersign_journal::Tail;
use countersign_journal::{Exit, OpenQuestion, ProcessName, SpawnedAgent};
use serde::{Deserialize, Serialize};

/// The version that this build speaks. A host speaks every version before it, too.
pub const PROTO: u32 = 1;

/// The longest message; a line that is longer is not of this protocol.
pub const MAX_MESSAGE: usize = 1 << 20;

/// The longest line a host may have written, as long as the agent's own bound.
pub const MAX_PUT: usize = 256 << 20;

/// What a host may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Everything. There is one owner, that of the highest epoch.
    Own,
    /// Ask how things stand.
    Watch,
}

/// What a `put` is, and what an answer to it refers to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ref {
    /// A message or control request, by its number in the outbox.
    N(u64),
    /// The answer to that question.
    Answer(String),
}

/// How an agent is to be ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndPlan {
    /// Interrupt, wait for the result, close stdin, SIGTERM, SIGKILL, each after its grace.
    Gentle,
    /// SIGTERM, then SIGKILL.
    Quick,
    /// SIGKILL.
    Kill,
}

/// From host to keeper.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToKeeper {
    /// The first message.
    Hello {
        /// The version the host speaks.
        proto: u32,
        /// Which host this is: later ones have higher numbers.
        epoch: u64,
        /// The secret of this session.
        token: String,
        /// What it wants to do.
        role: Role,
    },
    /// A line for the agent; its bytes follow.
    Put {
        /// What it is.
        #[serde(rename = "ref")]
        reference: Ref,
        /// How many bytes follow, the newline counted.
        len: usize,
        /// The note for the journal. The keeper adds the number, or the question.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        d: Option<serde_json::Map<String, serde_json::Value>>,
        /// What the journal holds instead of the line, if it has secrets; `len` of it follow behind the line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        masked_len: Option<usize>,
        /// A refusal or the like: may use the room that is kept for a full disk.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        reserve: bool,
    },
    /// End the agent.
    End {
        /// How.
        plan: EndPlan,
        /// Why, for the journal.
        why: String,
    },
    /// How do things stand? Answered by [`FromKeeper::Status`].
    Status,
    /// Bring the journal to the disk. Answered by [`FromKeeper::Synced`].
    Sync,
}

/// How things stand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// The version the keeper speaks.
    pub proto: u32,
    /// Its build.
    pub build: String,
    /// The session.
    pub session: String,
    /// The generation.
    pub generation: u32,
    /// The agent, as long as it runs.
    #[serde(default)]
    pub agent: Option<SpawnedAgent>,
    /// The newest record.
    pub tail: Tail,
    /// The newest record that is on the disk.
    pub synced: u64,
    /// The highest number of a host line.
    pub last_n: u64,
    /// The epoch of the owner.
    pub epoch: u64,
    /// Which connection to this keeper this is: no two have the same number. 0 if an older keeper does not tell.
    #[serde(default)]
    pub connection: u64,
    /// The questions without an answer.
    pub open: Vec<OpenQuestion>,
    /// Host lines that are journalled and not yet written.
    #[serde(default)]
    pub unwritten: Vec<u64>,
    /// What descends from the agent.
    #[serde(default)]
    pub children: Vec<ProcessName>,
    /// Why nothing is written at the moment.
    #[serde(default)]
    pub paused: Option<i32>,
    /// The step of the end plan that is under way.
    #[serde(default)]
    pub ending: Option<String>,
}

/// Why a message was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Refusal {
    /// The number was used before: the line is journalled.
    Dup,
    /// Numbers were left out.
    Gap,
    /// No such question is open.
    NotOpen,
    /// Not one complete JSON object.
    NotJson,
    /// A newline inside.
    Newline,
    /// A byte beyond ASCII.
    NonAscii,
    /// Longer than is taken.
    TooLong,
    /// Too much waits for the agent to read.
    Full,
    /// The disk is full.
    Paused,
    /// The agent is being ended, or has ended.
    Ending,
    /// The secret is wrong.
    Token,
    /// A later host owns the agent.
    Epoch,
    /// Whoever connected is another user, or came from the agent itself.
    Peer,
    /// A watcher may not.
    Role,
    /// No message of this protocol.
    Protocol,
    /// The journal could not be synced.
    Sync,
    /// Told by another build.
    #[serde(other)]
    Unknown,
}

/// From keeper to host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum FromKeeper {
    /// The answer to [`ToKeeper::Hello`].
    Welcome(Standing),
    /// The answer to [`ToKeeper::Status`].
    Status(Standing),
    /// The journal has grown to here. A level: only the newest is told.
    Tail(Tail),
    /// The line was written to the agent, whole.
    Ok {
        /// Which.
        #[serde(rename = "ref")]
        reference: Ref,
        /// Its `h` record.
        seq: u64,
    },
    /// Not done.
    Refused {
        /// Which line; none if it is about the connection.
        #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
        reference: Option<Ref>,
        /// Why.
        why: Refusal,
        /// For [`Refusal::Dup`]: the `h` record it got, as far as it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seq: Option<u64>,
    },
    /// The journal is on the disk up to here.
    Synced {
        /// The newest record that is.
        seq: u64,
    },
    /// Nothing can be written.
    Paused {
        /// What the system said.
        errno: i32,
    },
    /// It can again.
    Resumed,
    /// A later host has taken over; this connection is cut.
    Superseded,
    /// The agent has ended, and all that came from it. The keeper ends, too.
    Gone {
        /// How.
        exit: Exit,
    },
    /// Told by another build.
    #[serde(other)]
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_messages_of_version_1_keep_their_text() {
        let put = ToKeeper::Put {
            reference: Ref::N(3),
            len: 12,
            d: None,
            masked_len: None,
            reserve: false,
        };
        let text = serde_json::to_string(&put).unwrap();
        assert_eq!(text, r#"{"type":"put","ref":{"n":3},"len":12}"#);
        assert_eq!(serde_json::from_str::<ToKeeper>(&text).unwrap(), put);
        let refused = FromKeeper::Refused {
            reference: Some(Ref::Answer("r1".into())),
            why: Refusal::NotOpen,
            seq: None,
        };
        let text = serde_json::to_string(&refused).unwrap();
        assert_eq!(
            text,
            r#"{"type":"refused","ref":{"answer":"r1"},"why":"not_open"}"#
        );
        assert_eq!(serde_json::from_str::<FromKeeper>(&text).unwrap(), refused);
    }

    #[test]
    fn what_a_later_keeper_says_is_passed_over() {
        let told = r#"{"type":"weather","sun":true}"#;
        assert_eq!(
            serde_json::from_str::<FromKeeper>(told).unwrap(),
            FromKeeper::Unknown
        );
        let told = r#"{"type":"refused","why":"mood","extra":1}"#;
        let FromKeeper::Refused { why, .. } = serde_json::from_str(told).unwrap() else {
            panic!("a refusal");
        };
        assert_eq!(why, Refusal::Unknown);
    }
}

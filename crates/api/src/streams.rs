//! What streams tell, event by event.
//!
//! Owns the shapes of the data of all events, so that a client needs none of its own. Each stream has one value whose members
//! are called as its events are: that is a table for the document, and never sent as a whole. Invariant: the server writes
//! these very values.

use countersign_host::control::{HostEvent, Totals};
use countersign_transcript::Changes;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::Problem;

/// A record of a session. Exactly one of `line`, `text` and `b64` is there.
#[derive(Debug, Serialize, ToSchema)]
pub struct ToldRecord<'a> {
    /// Its place: `generation-seq`.
    pub cursor: &'a str,
    /// When: microseconds of Unix time.
    pub at: u64,
    /// The letter of its kind: `a` the agent, `h` the host, `e` stderr, `d` a note, `k` the keeper.
    pub kind: char,
    /// What it says, where that is JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Value>)]
    pub line: Option<&'a RawValue>,
    /// What it says, where that is text and no JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<&'a str>,
    /// What it says in base64, where that is no text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b64: Option<String>,
}

/// A record that is too long to come along: fetch it by its cursor.
#[derive(Debug, Serialize, ToSchema)]
pub struct LargeRecord<'a> {
    /// Its place: `generation-seq`.
    pub cursor: &'a str,
    /// When: microseconds of Unix time.
    pub at: u64,
    /// The letter of its kind.
    pub kind: char,
    /// How many bytes it has.
    pub len: u64,
}

/// History ends here; what follows is new.
#[derive(Debug, Serialize, ToSchema)]
pub struct FollowerCaughtUp<'a> {
    /// The newest record.
    pub cursor: &'a str,
}

/// Records that were told are gone after a loss of power. It goes on behind this one.
#[derive(Debug, Serialize, ToSchema)]
pub struct FollowerRewound<'a> {
    /// The last one that holds.
    pub to: &'a str,
}

/// Another machine has the session now.
#[derive(Debug, Serialize, ToSchema)]
pub struct FollowerMoved<'a> {
    /// Which.
    pub holder: &'a str,
}

/// History ends at this number; what follows is new.
#[derive(Debug, Serialize, ToSchema)]
pub struct EventsCaughtUp {
    /// The number to go on from.
    pub number: u64,
}

/// The server ends: connect again.
#[derive(Debug, Serialize, ToSchema)]
pub struct Closing {}

/// The events of `/sessions/{id}/events`: what each is called, and its data.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct RecordEvents<'a> {
    /// A record.
    pub record: ToldRecord<'a>,
    /// A record that is too long to come along.
    pub large: LargeRecord<'a>,
    /// History ends.
    pub caught_up: FollowerCaughtUp<'a>,
    /// Records are gone.
    pub rewound: FollowerRewound<'a>,
    /// Another machine has the session.
    pub moved: FollowerMoved<'a>,
    /// It cannot go on, and ends.
    pub problem: Problem,
    /// The server ends.
    pub closing: Closing,
}

/// The events of `/sessions/{id}/transcript/stream`: what each is called, and its data.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct TranscriptEvents<'a> {
    /// All that one record changed.
    pub entries: Changes,
    /// The sums of the session, after they changed.
    pub totals: Totals,
    /// History ends.
    pub caught_up: FollowerCaughtUp<'a>,
    /// Records are gone: read the page again.
    pub rewound: FollowerRewound<'a>,
    /// Another machine has the session.
    pub moved: FollowerMoved<'a>,
    /// It cannot go on, and ends.
    pub problem: Problem,
    /// The server ends.
    pub closing: Closing,
}

/// The events of `/events`: what each is called, and its data. The data of all that happened are one type, which has the name
/// of the event in `event`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct HostEvents {
    /// A session is new, or stands otherwise.
    pub session: HostEvent,
    /// An approval is new, or is elsewhere in its life.
    pub approval: HostEvent,
    /// The queue of a session changed.
    pub queue: HostEvent,
    /// A turn ended.
    pub turn: HostEvent,
    /// A rule is new or gone.
    pub rules: HostEvent,
    /// Something went wrong that a person should know.
    pub trouble: HostEvent,
    /// Events before this one are no longer kept: look at everything again.
    pub gap: HostEvent,
    /// Something that this build cannot name.
    pub other: HostEvent,
    /// History ends.
    pub caught_up: EventsCaughtUp,
    /// It cannot go on, and ends.
    pub problem: Problem,
    /// The server ends.
    pub closing: Closing,
}

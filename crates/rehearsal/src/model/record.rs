//! What was asked of the server, and what became of it.
//!
//! Owns the log of requests within stated bounds and the report made from it. Invariant: memory is bounded by
//! what stands here; the oldest requests are let go to stay within that.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;

use super::script::Script;

/// One request the server was sent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Request {
    /// Its place in the run, from 1.
    pub number: u64,
    /// Since the server started.
    pub at: Duration,
    pub method: String,
    /// With its query.
    pub path: String,
    pub kind: Kind,
    /// The few headers that say who asks and how; never the key.
    pub headers: Vec<(String, String)>,
    /// The script line of the reply it got, if it got one.
    pub reply_line: Option<usize>,
    pub status: u16,
    pub outcome: Outcome,
    pub body: Kept,
}

/// What a request was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// A turn of the conversation or of a sub-agent's.
    Main,
    /// A small question of the CLI's own.
    Side,
    CountTokens,
    Models,
    /// A path that is not served here.
    Elsewhere,
}

/// How the answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// Not yet answered in full.
    Open,
    Answered,
    /// Dropped in mid-stream because the script says so.
    Cut,
    /// The client hung up first: an interrupt, or its own time-out.
    ClientLeft,
    /// The server was shut down meanwhile.
    ServerStopped,
}

/// A recorded body.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kept {
    Empty,
    Json(Value),
    /// Not JSON; kept as text, damaged where it is not UTF-8.
    Text(String),
}

/// What the run used of the script, and what it did not foresee.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Report {
    pub replies: Vec<UsedReply>,
    pub main_requests: u64,
    pub side_requests: u64,
    pub count_tokens_requests: u64,
    pub models_requests: u64,
    /// Requests to paths that are not served here, as `METHOD path`.
    pub elsewhere: Vec<String>,
    /// Requests to the model the script had no answer for.
    pub unexpected: Vec<UnexpectedRequest>,
    /// Requests no longer listed, to stay within the bounds.
    pub dropped_requests: u64,
}

impl Report {
    /// Every reply was used as often as it may be (an `always` reply: any number of times), and nothing else was asked.
    pub fn is_clean(&self) -> bool {
        self.unexpected.is_empty() && self.replies_left() == 0
    }

    /// How many uses of replies are left over.
    pub fn replies_left(&self) -> u64 {
        let left = self.replies.iter().filter_map(|reply| reply.left);
        left.map(u64::from).sum()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UsedReply {
    /// The line of the script its `reply` stands on.
    pub line: usize,
    pub used: u32,
    /// `None` for a reply that never runs out.
    pub left: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UnexpectedRequest {
    pub number: u64,
    pub path: String,
    pub why: String,
}

/// How many requests are kept, and how many bytes of all bodies together.
const MAX_REQUESTS: usize = 2_000;
const MAX_BODY_BYTES: usize = 128 * 1024 * 1024;
/// The lists of notes are for people: more than this helps nobody.
const MAX_NOTES: usize = 200;

#[derive(Debug, Default)]
pub(super) struct Log {
    asked: u64,
    entries: VecDeque<(Request, Bytes)>,
    body_bytes: usize,
    counts: [u64; 4],
    elsewhere: Vec<String>,
    unexpected: Vec<UnexpectedRequest>,
    dropped_requests: u64,
}

/// What is known of a request when it comes in.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) at: Duration,
    pub(super) method: String,
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Bytes,
}

impl Log {
    pub(super) fn arrived(&mut self, arrival: Arrival, kind: Kind) -> u64 {
        self.asked += 1;
        if kind == Kind::Elsewhere {
            let note = format!("{} {}", arrival.method, arrival.path);
            push_note(&mut self.elsewhere, note);
        } else {
            self.counts[kind as usize] += 1;
        }
        let request = Request {
            number: self.asked,
            at: arrival.at,
            method: arrival.method,
            path: arrival.path,
            kind,
            headers: arrival.headers,
            reply_line: None,
            status: 0,
            outcome: Outcome::Open,
            body: if arrival.body.is_empty() {
                Kept::Empty
            } else {
                Kept::Text(String::new())
            },
        };
        self.body_bytes += arrival.body.len();
        self.entries.push_back((request, arrival.body));
        self.stay_within_limits();
        self.asked
    }

    pub(super) fn answered(&mut self, number: u64, status: u16, reply_line: Option<usize>) {
        if let Some(request) = self.entry(number) {
            request.status = status;
            request.reply_line = reply_line;
        }
    }

    pub(super) fn ended(&mut self, number: u64, outcome: Outcome) {
        if let Some(request) = self.entry(number) {
            request.outcome = outcome;
        }
    }

    pub(super) fn unexpected(&mut self, number: u64, why: String) {
        let path = self
            .entry(number)
            .map(|request| request.path.clone())
            .unwrap_or_default();
        let note = UnexpectedRequest { number, path, why };
        push_note(&mut self.unexpected, note);
    }

    /// What is held, with the bodies as they came; reading them is left to the caller, outside any lock.
    pub(super) fn snapshot(&self) -> Vec<(Request, Bytes)> {
        self.entries.iter().cloned().collect()
    }

    pub(super) fn report(&self, script: &Script, used: &[u32]) -> Report {
        let of = |kind: Kind| self.counts[kind as usize];
        let replies = script.replies.iter().zip(used);
        let replies = replies.map(|(reply, used)| UsedReply {
            line: reply.line,
            used: *used,
            left: reply.times.map(|times| times.saturating_sub(*used)),
        });
        Report {
            replies: replies.collect(),
            main_requests: of(Kind::Main),
            side_requests: of(Kind::Side),
            count_tokens_requests: of(Kind::CountTokens),
            models_requests: of(Kind::Models),
            elsewhere: self.elsewhere.clone(),
            unexpected: self.unexpected.clone(),
            dropped_requests: self.dropped_requests,
        }
    }

    fn entry(&mut self, number: u64) -> Option<&mut Request> {
        let first = self.entries.front()?.0.number;
        let place = usize::try_from(number.checked_sub(first)?).ok()?;
        self.entries.get_mut(place).map(|(request, _)| request)
    }

    /// Lets go of the oldest first: the newest request is the one a failing test asks about.
    fn stay_within_limits(&mut self) {
        while self.entries.len() > MAX_REQUESTS || self.body_bytes > MAX_BODY_BYTES {
            let Some((_, body)) = self.entries.pop_front() else {
                return;
            };
            self.body_bytes -= body.len();
            self.dropped_requests += 1;
        }
    }
}

fn push_note<T>(notes: &mut Vec<T>, note: T) {
    if notes.len() < MAX_NOTES {
        notes.push(note);
    }
}

/// A snapshot's entry with its body read.
pub(super) fn with_body((mut request, body): (Request, Bytes)) -> Request {
    if !body.is_empty() {
        request.body = match serde_json::from_slice(&body) {
            Ok(value) => Kept::Json(value),
            Err(_) => Kept::Text(String::from_utf8_lossy(&body).into_owned()),
        };
    }
    request
}

//! One connection of a host: bytes in, messages out of them; messages in, bytes out of them.
//!
//! Owns both buffers. Invariants: nothing is waited for; a host that does not read is cut when its buffer is full; of
//! several tails only the newest is told.

use std::io::{self, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use countersign_journal::Tail;
use serde_json::{Map, Value};

use crate::protocol::{FromKeeper, MAX_MESSAGE, MAX_PUT, Ref, Refusal, ToKeeper};

/// How much may wait for a host to read.
const MOST_WAITING: usize = 4 << 20;

/// The longest message before a host has shown who it is.
const MAX_HELLO: usize = 16 << 10;

/// How much of a line is read at once.
const PIECE: usize = 64 << 10;

/// How much of messages is read at once. On the stack, which is never given back.
const SHORT: usize = 4 << 10;

/// What a host is to the keeper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rank {
    /// It has not said who it is. It has until then.
    Stranger(Duration),
    /// The one that may do everything.
    Owner,
    /// It may only ask how things stand.
    Watcher,
    /// What is left is said, until then at the latest; then it is cut.
    Leaving(Duration),
}

/// A line that a host wants written.
#[derive(Debug)]
pub(crate) struct Put {
    pub(crate) reference: Ref,
    pub(crate) note: Map<String, Value>,
    pub(crate) reserve: bool,
    pub(crate) line: Vec<u8>,
    pub(crate) masked: Option<Vec<u8>>,
}

/// A whole message.
#[derive(Debug)]
pub(crate) enum Incoming {
    Message(ToKeeper),
    Put(Put),
}

#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) id: u64,
    pub(crate) stream: UnixStream,
    pub(crate) pid: Option<u32>,
    pub(crate) rank: Rank,
    /// It may not even say hello. It is told when it does, so that it is there to hear it.
    pub(crate) refusal: Option<Refusal>,
    /// Messages may be left that were read and not looked at. Nothing more is read before they are.
    pub(crate) more: bool,
    inbox: Inbox,
    outbox: Outbox,
}

impl Client {
    pub(crate) fn new(id: u64, stream: UnixStream, pid: Option<u32>, until: Duration) -> Self {
        Self {
            id,
            stream,
            pid,
            rank: Rank::Stranger(until),
            refusal: None,
            more: false,
            inbox: Inbox::default(),
            outbox: Outbox::default(),
        }
    }

    /// Reads once. `false` when the host has gone.
    pub(crate) fn read(&mut self) -> bool {
        match self.inbox.read(&mut self.stream) {
            Ok(count) => count > 0,
            Err(error) => is_passing(&error),
        }
    }

    /// Gives back the memory that only more to say or to hear would need.
    pub(crate) fn shrink(&mut self) {
        self.inbox.bytes.shrink_to_fit();
        self.outbox.bytes.shrink_to_fit();
    }

    /// The next whole message.
    pub(crate) fn next(&mut self) -> Result<Option<Incoming>, Refusal> {
        let longest = match self.rank {
            Rank::Stranger(_) => MAX_HELLO,
            _ => MAX_MESSAGE,
        };
        self.inbox.next(longest, self.rank == Rank::Owner)
    }

    pub(crate) fn is_leaving(&self) -> bool {
        matches!(self.rank, Rank::Leaving(_))
    }

    /// When it is cut if nothing happens.
    pub(crate) fn until(&self) -> Option<Duration> {
        match self.rank {
            Rank::Stranger(until) | Rank::Leaving(until) => Some(until),
            Rank::Owner | Rank::Watcher => None,
        }
    }

    pub(crate) fn say(&mut self, message: &FromKeeper) {
        self.outbox.say(message);
    }

    pub(crate) fn tell_tail(&mut self, tail: Tail) {
        if matches!(self.rank, Rank::Owner | Rank::Watcher) {
            self.outbox.tail = Some(tail);
        }
    }

    /// Whether it need not be waited for: a message of it may be here.
    pub(crate) fn has_more(&self) -> bool {
        self.more && !self.is_leaving()
    }

    /// It does not read what it is told.
    pub(crate) fn is_full(&self) -> bool {
        self.outbox.is_full()
    }

    pub(crate) fn has_to_say(&self) -> bool {
        !self.outbox.is_empty()
    }

    /// Writes what the host takes. `false` when it has gone, or has read nothing for too long.
    pub(crate) fn write(&mut self) -> bool {
        loop {
            let bytes = self.outbox.next();
            if bytes.is_empty() {
                return !self.is_leaving();
            }
            match self.stream.write(bytes) {
                Ok(count) => self.outbox.sent(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return is_passing(&error) && !self.outbox.is_full(),
            }
        }
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

/// Bytes of a host that are not yet a whole message.
#[derive(Debug, Default)]
struct Inbox {
    bytes: Vec<u8>,
    /// How far no newline was found.
    searched: usize,
    /// A put whose bytes are coming: it, and the lengths of its line and of the masked one.
    put: Option<(Put, usize, Option<usize>)>,
}

impl Inbox {
    /// Reads once: of a put that is coming no more than it, so that it need not be cut off what follows.
    fn read(&mut self, stream: &mut impl io::Read) -> io::Result<usize> {
        let missing = match &self.put {
            Some((_, length, masked)) => (length + masked.unwrap_or(0))
                .saturating_sub(self.bytes.len())
                .max(1),
            None => SHORT,
        };
        if missing <= SHORT {
            let mut piece = [0; SHORT];
            let count = stream.read(&mut piece[..missing])?;
            self.bytes.extend_from_slice(&piece[..count]);
            return Ok(count);
        }
        let before = self.bytes.len();
        self.bytes.resize(before + missing.min(PIECE), 0);
        let read = stream.read(&mut self.bytes[before..]);
        let count = read.as_ref().map_or(0, |count| *count);
        self.bytes.truncate(before + count);
        read
    }

    fn next(&mut self, longest: usize, may_put: bool) -> Result<Option<Incoming>, Refusal> {
        if self.put.is_none() {
            match self.message(longest)? {
                None => return Ok(None),
                Some(ToKeeper::Put {
                    reference,
                    len,
                    d,
                    masked_len,
                    reserve,
                }) => {
                    // Its bytes follow, and nobody is there to take them: the connection cannot go on.
                    if !may_put {
                        return Err(Refusal::Role);
                    }
                    if len > MAX_PUT || masked_len.is_some_and(|masked| masked > MAX_PUT) {
                        return Err(Refusal::TooLong);
                    }
                    let put = Put {
                        reference,
                        note: d.unwrap_or_default(),
                        reserve,
                        line: Vec::new(),
                        masked: None,
                    };
                    self.put = Some((put, len, masked_len));
                }
                Some(message) => return Ok(Some(Incoming::Message(message))),
            }
        }
        Ok(self.body().map(Incoming::Put))
    }

    fn message(&mut self, longest: usize) -> Result<Option<ToKeeper>, Refusal> {
        let Some(at) = memchr::memchr(b'\n', &self.bytes[self.searched..]) else {
            self.searched = self.bytes.len();
            let is_too_long = self.bytes.len() > longest;
            return if is_too_long {
                Err(Refusal::Protocol)
            } else {
                Ok(None)
            };
        };
        let end = self.searched + at;
        self.searched = 0;
        let message = serde_json::from_slice(&self.bytes[..end]);
        self.bytes.drain(..=end);
        message.map(Some).map_err(|_| Refusal::Protocol)
    }

    fn body(&mut self) -> Option<Put> {
        let (_, length, masked) = self.put.as_ref()?;
        let all = length + masked.unwrap_or(0);
        if self.bytes.len() < all {
            return None;
        }
        let (mut put, length, masked) = self.put.take()?;
        let behind = self.bytes.split_off(all);
        put.line = std::mem::replace(&mut self.bytes, behind);
        put.masked = masked.map(|_| put.line.split_off(length));
        Some(put)
    }
}

/// What is to be said to a host.
#[derive(Debug, Default)]
struct Outbox {
    bytes: Vec<u8>,
    sent: usize,
    /// The newest tail, not told yet.
    tail: Option<Tail>,
}

impl Outbox {
    fn say(&mut self, message: &FromKeeper) {
        // What is said refers to records; they are told of first.
        self.put_tail();
        self.append(message);
    }

    fn append(&mut self, message: &FromKeeper) {
        // A message is made of names, numbers and lists of them: there is nothing in it that has no JSON.
        let text = serde_json::to_vec(message).unwrap_or_default();
        self.bytes.extend_from_slice(&text);
        self.bytes.push(b'\n');
    }

    fn put_tail(&mut self) {
        if let Some(tail) = self.tail.take() {
            self.append(&FromKeeper::Tail(tail));
        }
    }

    fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.tail.is_none()
    }

    fn is_full(&self) -> bool {
        self.bytes.len() - self.sent > MOST_WAITING
    }

    /// What is to be written now. A tail is made into bytes only when everything before it is written.
    fn next(&mut self) -> &[u8] {
        if self.bytes.is_empty() {
            self.put_tail();
        }
        &self.bytes[self.sent..]
    }

    fn sent(&mut self, count: usize) {
        self.sent += count;
        if self.sent == self.bytes.len() {
            self.bytes.clear();
            self.bytes.shrink_to(PIECE);
            self.sent = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(seq: u64) -> Tail {
        Tail {
            seq,
            seg: 1,
            off: seq * 10,
        }
    }

    fn with_tail(seq: u64) -> Outbox {
        Outbox {
            tail: Some(tail(seq)),
            ..Outbox::default()
        }
    }

    fn said(outbox: &mut Outbox) -> String {
        let bytes = outbox.next().to_vec();
        outbox.sent(bytes.len());
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn of_several_tails_the_newest_is_told() {
        let mut outbox = with_tail(1);
        outbox.tail = Some(tail(2));
        assert_eq!(
            said(&mut outbox),
            "{\"type\":\"tail\",\"seq\":2,\"seg\":1,\"off\":20}\n"
        );
        assert!(outbox.is_empty());
    }

    #[test]
    fn a_tail_that_is_half_written_is_not_changed_by_the_next() {
        let mut outbox = with_tail(1);
        let first = outbox.next().to_vec();
        outbox.sent(5);
        outbox.tail = Some(tail(2));
        outbox.tail = Some(tail(3));
        assert_eq!(outbox.next(), &first[5..]);
        outbox.sent(first.len() - 5);
        assert!(said(&mut outbox).contains("\"seq\":3"));
    }

    #[test]
    fn what_is_said_comes_behind_the_tail_it_refers_to() {
        let mut outbox = with_tail(7);
        outbox.say(&FromKeeper::Resumed);
        let all = said(&mut outbox);
        let types: Vec<_> = all
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].clone())
            .collect();
        assert_eq!(types, ["tail", "resumed"]);
    }

    #[test]
    fn messages_and_lines_are_taken_apart_however_they_come() {
        let text = b"{\"type\":\"put\",\"ref\":{\"n\":1},\"len\":3,\"masked_len\":2}\nab\nm\n\
                     {\"type\":\"status\"}\n{\"type\":\"put\",\"ref\":{\"n\":2},\"len\":0}\n";
        for step in 1..text.len() {
            let mut inbox = Inbox::default();
            let mut all = Vec::new();
            for piece in text.chunks(step) {
                inbox.bytes.extend_from_slice(piece);
                while let Some(incoming) = inbox.next(1 << 10, true).unwrap() {
                    all.push(match incoming {
                        Incoming::Message(message) => format!("{message:?}"),
                        Incoming::Put(put) => format!("{:?} {:?}", put.line, put.masked),
                    });
                }
            }
            assert_eq!(
                all,
                ["[97, 98, 10] Some([109, 10])", "Status", "[] None"],
                "{step}"
            );
        }
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for (text, may_put, refusal) in [
            ("nonsense\n", true, Refusal::Protocol),
            ("{\"type\":\"weather\"}\n", true, Refusal::Protocol),
            (
                "{\"type\":\"put\",\"ref\":{\"n\":1},\"len\":3}\n",
                false,
                Refusal::Role,
            ),
            (
                "{\"type\":\"put\",\"ref\":{\"n\":1},\"len\":268435457}\n",
                true,
                Refusal::TooLong,
            ),
            (
                "a line that does not end within the bound of a message",
                true,
                Refusal::Protocol,
            ),
        ] {
            let mut inbox = Inbox::default();
            inbox.bytes.extend_from_slice(text.as_bytes());
            assert_eq!(inbox.next(50, may_put).unwrap_err(), refusal, "{text}");
        }
    }
}

//! What a host knows of its session: from the journal up to where it came in, from the session's events afterwards.
//!
//! Owns the fold that tells which messages are done, and what the next agent is told of its conversation.

use std::collections::BTreeSet;
use std::path::Path;

use countersign_client::{Event, Frame};
use countersign_journal::{Cursor, KeeperEvent, Kind, Reader, Step};
use serde_json::Value;

use super::Failed;
use super::conversation::{Begin, Conversations};
use super::task::Message;

/// The messages of one session, by their uuids.
#[derive(Debug, Default)]
pub(crate) struct Story {
    /// A turn ran for it and ended, with whichever agent.
    done: BTreeSet<String>,
    /// The newest agent has got it, has begun with it, is over with it.
    said: BTreeSet<String>,
    started: BTreeSet<String>,
    completed: BTreeSet<String>,
    conversations: Conversations,
}

impl Story {
    /// Reads everything up to that record.
    pub(crate) fn read(dir: &Path, generation: u32, seq: u64) -> Result<Self, Failed> {
        let (mut story, last) = (Self::default(), Cursor::new(generation, seq));
        let mut reader = Reader::open(dir)?;
        loop {
            match reader.next_of()? {
                (generation, Step::Record(record)) => {
                    let at = Cursor::new(generation, record.seq);
                    if at <= last {
                        story.take_record(record.kind, record.payload);
                    }
                    if at >= last {
                        return Ok(story);
                    }
                }
                (_, Step::End) => return Ok(story),
                _ => {}
            }
        }
    }

    fn take_record(&mut self, kind: Kind, line: &[u8]) {
        match kind {
            Kind::Agent => self.take(line),
            Kind::Host => {
                let line: Value = serde_json::from_slice(line).unwrap_or_default();
                if let Some(uuid) = line["uuid"].as_str().filter(|_| line["type"] == "user") {
                    self.said(uuid);
                }
            }
            Kind::Stderr | Kind::StderrPiece => {
                self.conversations.said(&String::from_utf8_lossy(line));
            }
            Kind::Keeper => {
                if let Ok(KeeperEvent::Open { argv, .. }) = serde_json::from_slice(line) {
                    self.conversations.opened(&argv);
                    self.said.clear();
                    self.started.clear();
                    self.completed.clear();
                }
            }
            _ => {}
        }
    }

    /// A line of the agent.
    pub(crate) fn take(&mut self, line: &[u8]) {
        let line: Value = serde_json::from_slice(line).unwrap_or_default();
        self.conversations.said(&line["errors"].to_string());
        if line["type"] != "command_lifecycle" {
            return;
        }
        let uuid = line["command_uuid"].as_str().unwrap_or_default().to_owned();
        match line["state"].as_str() {
            Some("started") => drop(self.started.insert(uuid)),
            Some("completed") => {
                if self.started.contains(&uuid) {
                    self.done.insert(uuid.clone());
                }
                self.completed.insert(uuid);
            }
            _ => {}
        }
    }

    /// The newest agent was told this.
    pub(crate) fn said(&mut self, uuid: &str) {
        self.said.insert(uuid.to_owned());
    }

    /// No turn ran for it, and the newest agent has not got it.
    pub(crate) fn is_to_be_said(&self, uuid: &str) -> bool {
        !self.is_done(uuid) && !self.said.contains(uuid)
    }

    /// A turn ran for it.
    pub(crate) fn is_done(&self, uuid: &str) -> bool {
        self.done.contains(uuid)
    }

    /// Nothing more comes for it from this agent.
    pub(crate) fn is_over_with(&self, uuid: &str) -> bool {
        self.is_done(uuid) || self.completed.contains(uuid)
    }

    /// What the agent after this one is told of its conversation.
    pub(crate) fn next_conversation(&self, session: &str) -> Begin {
        let new_id = || uuid::Uuid::new_v4().to_string();
        self.conversations.next(session, new_id)
    }
}

/// The line of an event, if it has one. Where events were lost or have ended, so has the work on the session.
pub(crate) fn frame_of(event: Option<Event>) -> Result<Option<Frame>, Failed> {
    match event {
        Some(Event::Message(frame)) => Ok(Some(frame)),
        Some(Event::Closed(closed)) => Err(closed.to_string().into()),
        Some(Event::Lagged { .. }) => Err("events were lost".into()),
        None => Err("the events ended".into()),
        Some(_) => Ok(None),
    }
}

/// The message that follows one which the agent has already; the same one whoever asks.
pub(crate) fn successor(message: &Message) -> Message {
    let (rest, last) = message.uuid.split_at(message.uuid.len() - 1);
    let last = u8::from_str_radix(last, 16).unwrap_or_default() ^ 1;
    Message {
        uuid: format!("{rest}{last:x}"),
        text: "go on".to_owned(),
    }
}

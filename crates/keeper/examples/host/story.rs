//! What a test host knows of its session: from the journal up to where it came in, from the session's events afterwards.
//!
//! Owns the recovery (attach, or start the next generation with the conversation that `conversation.rs` says) and the fold
//! that tells which messages are done.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use countersign_client::Event;
use countersign_journal::{KeeperEvent, Kind, Reader, Step};
use countersign_keeper::{Found, RecoverError, StartError};
use countersign_process::Marker;
use serde_json::Value;

use super::Failed;
use super::conversation::{Begin, Conversation};
use super::launch;
use super::orders::{Orders, SessionOrders};

/// The messages of one session.
#[derive(Debug, Default)]
pub(crate) struct Story {
    generation: u32,
    /// Done in any generation: a turn ran for it and ended.
    done: BTreeSet<String>,
    /// Of this generation.
    said: BTreeSet<String>,
    started: BTreeSet<String>,
    completed: BTreeSet<String>,
    conversation: Conversation,
    /// Where what the session gives is written down.
    heard: Option<File>,
}

impl Story {
    /// Reads everything up to that record.
    pub(crate) fn read(dir: &Path, generation: u32, last: u64) -> Result<Self, Failed> {
        let mut story = Self::default();
        let mut reader = Reader::open(dir)?;
        loop {
            let (seq, kind, line) = match reader.next()? {
                Step::Record(record) => (record.seq, record.kind, record.payload.to_vec()),
                Step::End => break,
                _ => continue,
            };
            if reader.generation() > generation {
                break;
            }
            story.enter(reader.generation());
            match kind {
                Kind::Agent => story.take(&line),
                Kind::Host => story.take_own(&line),
                Kind::Stderr | Kind::StderrPiece => {
                    story.conversation.said(&String::from_utf8_lossy(&line))
                }
                Kind::Keeper => story.take_event(&line),
                _ => {}
            }
            if reader.generation() == generation && seq >= last {
                break;
            }
        }
        story.enter(generation);
        Ok(story)
    }

    fn enter(&mut self, generation: u32) {
        if self.generation != generation {
            *self = Self {
                generation,
                done: std::mem::take(&mut self.done),
                heard: self.heard.take(),
                conversation: std::mem::take(&mut self.conversation),
                ..Self::default()
            };
        }
    }

    fn take_own(&mut self, line: &[u8]) {
        let line: Value = serde_json::from_slice(line).unwrap_or_default();
        if let Some(uuid) = line["uuid"].as_str().filter(|_| line["type"] == "user") {
            self.said.insert(uuid.to_owned());
        }
    }

    fn take_event(&mut self, line: &[u8]) {
        if let Ok(KeeperEvent::Open { argv, .. }) = serde_json::from_slice(line) {
            self.conversation.opened(&argv);
        }
    }

    fn take(&mut self, line: &[u8]) {
        let line: Value = serde_json::from_slice(line).unwrap_or_default();
        self.conversation.said(&line["errors"].to_string());
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

    /// Writes down from now on what the session gives.
    pub(crate) fn write_down(&mut self, path: &Path) -> Result<(), Failed> {
        self.heard = Some(File::options().create(true).append(true).open(path)?);
        Ok(())
    }

    /// What the session gave.
    pub(crate) fn hear(&mut self, event: Option<Event>) -> Result<(), Failed> {
        match event {
            Some(Event::Message(frame)) => {
                if let Some(heard) = &mut self.heard {
                    heard.write_all(&[frame.line(), b"\n"].concat())?;
                }
                self.take(frame.line());
            }
            Some(Event::Closed(closed)) => return Err(closed.to_string().into()),
            Some(Event::Lagged { .. }) => return Err("events were lost".into()),
            None => return Err("the events ended".into()),
            Some(_) => {}
        }
        Ok(())
    }

    pub(crate) fn said(&mut self, uuid: &str) {
        self.said.insert(uuid.to_owned());
    }

    pub(crate) fn was_not_said(&self, uuid: &str) -> bool {
        !self.said.contains(uuid)
    }

    /// A turn ran for it.
    pub(crate) fn is_done(&self, uuid: &str) -> bool {
        self.done.contains(uuid)
    }

    /// Nothing more comes for it from this agent.
    pub(crate) fn is_over_with(&self, uuid: &str) -> bool {
        self.is_done(uuid) || self.completed.contains(uuid)
    }
}

/// The uuid of the message that follows one which the agent has already.
pub(crate) fn successor(uuid: &str) -> String {
    let (rest, last) = uuid.split_at(uuid.len() - 1);
    let last = u8::from_str_radix(last, 16).unwrap_or_default() ^ 1;
    format!("{rest}{last:x}")
}

/// Brings the session to where it can be attached to; tells whether an agent was started, and how.
pub(crate) fn recover(
    all: &Orders,
    orders: &SessionOrders,
) -> Result<Option<&'static str>, Failed> {
    let patience = Instant::now() + Duration::from_secs(20);
    loop {
        let (generation, begin) = match countersign_keeper::look(&orders.dir)? {
            Found::Live(_) => return Ok(None),
            Found::Never => (1, Begin::new(&orders.id)),
            Found::Lost { generation } => {
                bury(orders)?;
                next(orders, generation)?
            }
            Found::Ended { generation, .. } => next(orders, generation)?,
            Found::Unreachable(_) if Instant::now() < patience => {
                // Never started beside; its keeper binds a new socket, or ends.
                std::thread::sleep(Duration::from_millis(20));
                continue;
            }
            Found::Unreachable(_) => return Err("the keeper cannot be reached".into()),
        };
        let order = launch::order(orders, generation, &begin)?;
        match countersign_keeper::start(&launch::keeper(&all.keeper, &all.keeper_env), &order) {
            // An earlier host's start comes through only now.
            Err(StartError::Busy(_) | StartError::Generation(_)) if Instant::now() < patience => {}
            done => return Ok(done.map(|_| Some(begin.flag))?),
        }
    }
}

/// Ends what a keeper left that ended without a word.
fn bury(orders: &SessionOrders) -> Result<(), Failed> {
    let marker = Marker::new(&orders.marker)?;
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_micros();
    match countersign_keeper::bury(&orders.dir, boot.trim(), now as u64, Some(&marker)) {
        // A keeper came meanwhile: it is looked again.
        Ok(_) | Err(RecoverError::Kept) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The generation after that one, and what it is told of its conversation.
fn next(orders: &SessionOrders, generation: u32) -> Result<(u32, Begin), Failed> {
    let last = Story::read(&orders.dir, generation, u64::MAX)?;
    let new_id = || uuid::Uuid::new_v4().to_string();
    Ok((generation + 1, last.conversation.next(&orders.id, new_id)))
}

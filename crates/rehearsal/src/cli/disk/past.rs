//! Sessions that were held before: finding them, and the conversation as it stands in their files.
//!
//! Reads only. The conversation is the way from the last record back to the first, with the other calls of an answer
//! and their results, since each hangs on its own. Invariants: a broken line is passed over; a circle ends; an id that
//! is no UUID never becomes part of a path.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::ordered::Node;
use super::places::Places;
use super::scribe::{NO_ANSWER, noted_as};
use super::stamp::stamp;

/// A session that can be gone on with.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::cli) struct Past {
    pub(in crate::cli) session_id: String,
    pub(in crate::cli) path: PathBuf,
    /// Where it was begun.
    pub(in crate::cli) cwd: Option<String>,
    /// What was said, oldest first.
    pub(in crate::cli) messages: Vec<PastMessage>,
    /// What a person called it.
    pub(in crate::cli) title: Option<String>,
    /// The record that the next one hangs on.
    pub(in crate::cli) last_uuid: Option<String>,
    /// The name of its plan.
    pub(in crate::cli) slug: Option<String>,
    /// The tools it used.
    pub(in crate::cli) tools: Vec<String>,
    /// How many turns it had.
    pub(in crate::cli) turns: u64,
    pub(in crate::cli) last_prompt: Option<String>,
    /// The last `cost-state`: what it cost so far.
    pub(in crate::cli) cost: Option<Value>,
    records: Vec<Node>,
}

/// A message of an older session.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::cli) struct PastMessage {
    /// `user` or `assistant`.
    pub(in crate::cli) role: String,
    pub(in crate::cli) content: Value,
    pub(in crate::cli) uuid: String,
    /// Whether it is for the model and not for people.
    pub(in crate::cli) meta: bool,
}

/// Why a session cannot be gone on with. Says what the CLI says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::cli) enum ResumeError {
    /// No transcript of this id.
    #[error("No conversation found with session ID: {0}")]
    Unknown(String),
    /// Neither an id nor a title of this project.
    #[error(
        "Error: --resume requires a valid session ID or session title when used with --print. Usage: claude -p --resume <session-id|title>. Provided value {0:?} is not a UUID and does not match any session title."
    )]
    NoTitle(String),
    /// A title of several sessions.
    #[error("Error: --resume {title:?} matches {} sessions. Pass one of these session IDs to disambiguate:{}", .found.len(), listed(.found))]
    Several {
        /// The title.
        title: String,
        /// Their ids and when they were last written, newest first.
        found: Vec<(String, String)>,
    },
    /// `--resume-session-at` names nothing of the conversation.
    #[error("No message found with message.uuid of: {0}")]
    NoMessage(String),
    /// `--resume-drops-turn` names another prompt than the first one that would be dropped.
    #[error(
        "Resume rejected by --resume-drops-turn: {0} is not the prompt of the turn after the resume point"
    )]
    OtherTurn(String),
    /// `--session-id` names a session of this project that is there.
    #[error("Error: Session ID {0} is already in use.")]
    Taken(String),
}

fn listed(found: &[(String, String)]) -> String {
    let line = |(id, modified): &(String, String)| format!("\n  {id}  (modified {modified})");
    found.iter().map(line).collect()
}

/// The session of this id, in this project or in any other.
pub(in crate::cli) fn find(places: &Places, session_id: &str) -> Option<Past> {
    if !is_uuid(session_id) {
        return None;
    }
    let own = places.transcript(session_id);
    let folders = std::fs::read_dir(places.projects())
        .into_iter()
        .flatten()
        .flatten();
    let others = folders.map(|folder| folder.path().join(format!("{session_id}.jsonl")));
    let mut others: Vec<(SystemTime, PathBuf)> = others
        .filter(|path| *path != own)
        .filter_map(|path| Some((modified(&path)?, path)))
        .collect();
    others.sort();
    let newest_first = others.into_iter().rev().map(|(_, path)| path);
    std::iter::once(own)
        .chain(newest_first)
        .find_map(|path| Past::read(&path))
}

/// The session of this project that was written last, for `--continue`.
pub(in crate::cli) fn latest(places: &Places) -> Option<Past> {
    let sessions = sessions(places).into_iter();
    sessions.rev().find_map(|(_, path)| Past::read(&path))
}

/// The session that `--resume` means: by its id, or by its title in this project, whatever the case of its letters.
///
/// # Errors
/// When there is none, or more than one of that title.
pub(in crate::cli) fn resolve(places: &Places, wanted: &str) -> Result<Past, ResumeError> {
    if is_uuid(wanted) {
        return find(places, wanted).ok_or_else(|| ResumeError::Unknown(wanted.to_owned()));
    }
    let sessions = sessions(places).into_iter().rev();
    let mut found: Vec<(SystemTime, Past)> = sessions
        .filter_map(|(modified, path)| Some((modified, Past::read(&path)?)))
        .filter(|(_, past)| past.is_titled(wanted))
        .collect();
    match found.len() {
        0 => Err(ResumeError::NoTitle(wanted.to_owned())),
        1 => Ok(found.remove(0).1),
        _ => {
            let since =
                |time: &SystemTime| time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
            let found = found
                .iter()
                .map(|(time, past)| (past.session_id.clone(), stamp(since(time))));
            Err(ResumeError::Several {
                title: wanted.to_owned(),
                found: found.collect(),
            })
        }
    }
}

/// Whether a new session may have this id.
///
/// # Errors
/// When a session of this project has it already, even an empty one.
pub(in crate::cli) fn free(places: &Places, session_id: &str) -> Result<(), ResumeError> {
    if is_uuid(session_id) && places.transcript(session_id).exists() {
        return Err(ResumeError::Taken(session_id.to_owned()));
    }
    Ok(())
}

/// Whether a line has its place in the conversation. Notes may have an id, too: the SDKs' own do.
fn is_record(line: &Node) -> bool {
    let kind = line.text("type").unwrap_or_default();
    line.text("uuid").is_some() && matches!(kind, "user" | "assistant" | "system" | "attachment")
}

/// Whether a text has the form of a UUID, in letters of either case.
fn is_uuid(text: &str) -> bool {
    let digit = |(index, byte): (usize, u8)| match index {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    text.len() == 36 && text.bytes().enumerate().all(digit)
}

/// The transcripts of this project, the one written last at the end.
fn sessions(places: &Places) -> Vec<(SystemTime, PathBuf)> {
    let entries = std::fs::read_dir(places.project())
        .into_iter()
        .flatten()
        .flatten();
    let transcripts = entries
        .map(|entry| entry.path())
        .filter(|path| session_of(path).is_some());
    let mut sessions: Vec<_> = transcripts
        .filter_map(|path| Some((modified(&path)?, path)))
        .collect();
    sessions.sort();
    sessions
}

fn session_of(path: &Path) -> Option<&str> {
    let id = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    is_uuid(id).then_some(id)
}

fn modified(path: &Path) -> Option<SystemTime> {
    let meta = std::fs::metadata(path)
        .ok()
        .filter(std::fs::Metadata::is_file)?;
    meta.modified().ok()
}

impl Past {
    /// Reads a transcript. None when it cannot be read or nothing was said in it.
    fn read(path: &Path) -> Option<Self> {
        let session_id = session_of(path)?.to_owned();
        let text = String::from_utf8_lossy(&std::fs::read(path).ok()?).into_owned();
        let lines = text
            .lines()
            .filter_map(|line| serde_json::from_str::<Node>(line).ok());
        let (records, notes): (Vec<Node>, Vec<Node>) =
            lines.filter(Node::is_object).partition(is_record);
        let cwd = records
            .iter()
            .find_map(|record| record.text("cwd"))
            .map(str::to_owned);
        let mut past = Self {
            session_id,
            path: path.to_owned(),
            cwd,
            messages: Vec::new(),
            title: None,
            last_uuid: None,
            slug: None,
            tools: Vec::new(),
            turns: 0,
            last_prompt: None,
            cost: None,
            records: conversation(records),
        };
        notes.iter().for_each(|note| past.take_note(note));
        past.look_again();
        (!past.messages.is_empty()).then_some(past)
    }

    fn take_note(&mut self, note: &Node) {
        let text = |key: &str| {
            note.text(key)
                .filter(|text| !text.is_empty())
                .map(str::to_owned)
        };
        match note.text("type").unwrap_or_default() {
            "custom-title" => self.title = text("customTitle"),
            "last-prompt" => self.last_prompt = text("lastPrompt"),
            "cost-state" => self.cost = Some(note.to_value()),
            "tools-used" => {
                let tools = note.get("tools").map(Node::to_value).unwrap_or_default();
                let tools = tools
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str);
                self.tools = tools.map(str::to_owned).collect();
            }
            _ => {}
        }
    }

    /// What is known from the records of the conversation.
    fn look_again(&mut self) {
        let last = |key: &str| {
            self.records
                .iter()
                .rev()
                .find_map(|record| record.text(key))
                .map(str::to_owned)
        };
        (self.last_uuid, self.slug) = (last("uuid"), last("slug"));
        let turn = |record: &Node| {
            record
                .get("turnPosition")?
                .get("turnIndex")?
                .to_value()
                .as_u64()
        };
        self.turns = self.records.iter().filter_map(turn).max().unwrap_or(0);
        self.messages = self.records.iter().filter_map(message).collect();
        for name in self.messages.iter().flat_map(calls) {
            if !self.tools.contains(&name) {
                self.tools.push(name);
            }
        }
    }

    /// Forgets what came after a message: `--resume-session-at`.
    ///
    /// # Errors
    /// When the conversation has no such message, or the first prompt behind it is not `drops`.
    pub(in crate::cli) fn cut_at(
        mut self,
        uuid: &str,
        drops: Option<&str>,
    ) -> Result<Self, ResumeError> {
        let found = self
            .records
            .iter()
            .position(|record| record.text("uuid") == Some(uuid));
        let index = found.ok_or_else(|| ResumeError::NoMessage(uuid.to_owned()))?;
        let is_prompt = |message: &&PastMessage| {
            message.role == "user" && !message.meta && prompt(message).is_some()
        };
        let kept: Vec<&str> = self.records[..=index]
            .iter()
            .filter_map(|record| record.text("uuid"))
            .collect();
        let dropped = (self.messages.iter().filter(is_prompt))
            .find(|message| !kept.contains(&message.uuid.as_str()));
        if let Some(drops) =
            drops.filter(|drops| dropped.is_none_or(|message| message.uuid != *drops))
        {
            return Err(ResumeError::OtherTurn(drops.to_owned()));
        }
        self.records.truncate(index + 1);
        self.look_again();
        Ok(self)
    }

    /// The records of the conversation, oldest first.
    pub(super) fn records(&self) -> &[Node] {
        &self.records
    }

    fn is_titled(&self, wanted: &str) -> bool {
        let lower = |text: &str| text.trim().to_lowercase();
        self.title
            .as_deref()
            .is_some_and(|title| lower(title) == lower(wanted))
    }

    /// Calls of tools that have no result, and the records they are in.
    pub(super) fn unanswered(&self) -> Vec<(String, String)> {
        let mut calls: Vec<(String, String)> = Vec::new();
        for message in &self.messages {
            for block in message.content.as_array().into_iter().flatten() {
                let id = |key: &str| block[key].as_str().unwrap_or_default();
                match block["type"].as_str() {
                    Some("tool_use") => calls.push((id("id").to_owned(), message.uuid.clone())),
                    Some("tool_result") => calls.retain(|(call, _)| call != id("tool_use_id")),
                    _ => {}
                }
            }
        }
        calls
    }

    /// Prompts of the turns it has had, oldest first, without those in which the process ended.
    pub(in crate::cli) fn prompts(&self) -> Vec<String> {
        let mut prompts: Vec<(String, bool)> = Vec::new();
        for message in &self.messages {
            let asked = (message.role == "user" && !message.meta).then(|| prompt(message));
            match asked.flatten() {
                Some(prompt) => prompts.push((prompt, false)),
                None => {
                    if let Some((_, is_over)) = prompts.last_mut() {
                        *is_over = ends_a_turn(message);
                    }
                }
            }
        }
        let had = prompts.into_iter().filter(|(_, is_over)| *is_over);
        had.map(|(prompt, _)| prompt).collect()
    }

    /// Whether the last word is the user's.
    pub(super) fn awaits_model(&self) -> bool {
        self.messages
            .last()
            .is_some_and(|message| message.role == "user")
    }
}

/// What a person wrote in a message: nothing in one that brings results, or that says that a turn was interrupted.
fn prompt(message: &PastMessage) -> Option<String> {
    if is_interrupted(&message.content) {
        return None;
    }
    match &message.content {
        Value::String(text) => Some(text.clone()),
        content => {
            let blocks = content.as_array()?;
            if blocks.iter().any(|block| block["type"] == "tool_result") {
                return None;
            }
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            Some(texts.collect::<Vec<_>>().join("\n"))
        }
    }
}

/// Whether nothing has to follow a message in its turn: words without a call, or that the turn was interrupted.
fn ends_a_turn(message: &PastMessage) -> bool {
    if message.role == "user" {
        return is_interrupted(&message.content);
    }
    let mut blocks = message.content.as_array().into_iter().flatten();
    let is_said = |block: &Value| block["type"] == "text" && block["text"] != NO_ANSWER;
    blocks.any(is_said) && calls(message).is_empty()
}

fn is_interrupted(content: &Value) -> bool {
    let text = content.as_str().or_else(|| content[0]["text"].as_str());
    text.is_some_and(|text| text.starts_with("[Request interrupted"))
}

/// The tools that a message calls, as notes name them.
fn calls(message: &PastMessage) -> Vec<String> {
    let blocks = message.content.as_array().into_iter().flatten();
    let calls = blocks.filter(|block| block["type"] == "tool_use");
    calls
        .filter_map(|block| block["name"].as_str())
        .map(noted_as)
        .map(str::to_owned)
        .collect()
}

fn message(record: &Node) -> Option<PastMessage> {
    let role = record
        .text("type")
        .filter(|kind| matches!(*kind, "user" | "assistant"))?;
    Some(PastMessage {
        role: role.to_owned(),
        content: record.get("message")?.get("content")?.to_value(),
        uuid: record.text("uuid")?.to_owned(),
        meta: is_true(record, "isMeta"),
    })
}

fn is_true(record: &Node, key: &str) -> bool {
    record.get(key) == Some(&Node::Plain(Value::Bool(true)))
}

/// The blocks of a record's message.
fn blocks(record: &Node) -> impl Iterator<Item = &Node> {
    let content = record
        .get("message")
        .and_then(|message| message.get("content"));
    let blocks = match content {
        Some(Node::Array(blocks)) => &blocks[..],
        _ => &[],
    };
    blocks.iter()
}

/// The conversation as it stands: what the last record hangs on, and the other blocks of the same answers.
fn conversation(records: Vec<Node>) -> Vec<Node> {
    let records: Vec<Node> = records
        .into_iter()
        .filter(|record| !is_true(record, "isSidechain"))
        .collect();
    let places: HashMap<&str, usize> = (records.iter().enumerate())
        .filter_map(|(index, record)| Some((record.text("uuid")?, index)))
        .collect();
    let mut taken = HashSet::new();
    let mut next = records.len().checked_sub(1);
    while let Some(index) = next.filter(|index| taken.insert(*index)) {
        let parent = records[index].text("parentUuid");
        next = parent.and_then(|parent| places.get(parent)).copied();
    }
    let answer = |record: &Node| {
        let spoken = record.text("type") == Some("assistant");
        let id = record.get("message").filter(|_| spoken)?.text("id")?;
        Some(id.to_owned())
    };
    let answers: HashSet<String> = taken
        .iter()
        .filter_map(|index| answer(&records[*index]))
        .collect();
    let mut calls: HashSet<&str> = HashSet::new();
    for (index, record) in records.iter().enumerate() {
        if answer(record).is_some_and(|id| answers.contains(&id)) {
            taken.insert(index);
            calls.extend(blocks(record).filter_map(|block| block.text("id")));
        }
    }
    for (index, record) in records.iter().enumerate() {
        let mut results = blocks(record).filter_map(|block| block.text("tool_use_id"));
        if results.any(|call| calls.contains(call)) {
            taken.insert(index);
        }
    }
    let keep = |(index, record)| taken.contains(&index).then_some(record);
    records.into_iter().enumerate().filter_map(keep).collect()
}

#[cfg(test)]
mod tests;

//! Sessions that were held before: finding them, and the conversation as it stands in their files.
//!
//! Reads only. The conversation is the way from the last record back to the first, with the other calls of an answer
//! and their results, since each hangs on its own. Invariants: a broken line is passed over; a circle ends; an id that
//! is no UUID never becomes part of a path.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value;

use super::places::Places;
use super::scribe::NO_ANSWER;
use crate::cli::ids::is_uuid;

/// A session that can be gone on with.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::cli) struct Past {
    pub(in crate::cli) session_id: String,
    pub(in crate::cli) path: PathBuf,
    /// What was said, oldest first.
    pub(in crate::cli) messages: Vec<PastMessage>,
    /// What a person called it.
    pub(in crate::cli) title: Option<String>,
    /// The record that the next one hangs on.
    pub(in crate::cli) last_uuid: Option<String>,
    pub(in crate::cli) last_prompt: Option<String>,
    /// The last `cost-state`: what it cost so far.
    pub(in crate::cli) cost: Option<Value>,
    records: Vec<Value>,
}

/// A message of an older session.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::cli) struct PastMessage {
    /// `user` or `assistant`.
    pub(in crate::cli) role: String,
    pub(in crate::cli) content: Value,
    uuid: String,
    /// Whether it is for the model and not for people.
    meta: bool,
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

/// The session of this id, in this project or in any other.
pub(super) fn find(places: &Places, session_id: &str) -> Option<Past> {
    if !is_uuid(session_id) {
        return None;
    }
    let folders = std::fs::read_dir(places.projects());
    let folders = folders.into_iter().flatten().flatten();
    let others = folders.map(|folder| folder.path().join(format!("{session_id}.jsonl")));
    let own = places.transcript(session_id);
    let mut others: Vec<PathBuf> = others.filter(|path| *path != own).collect();
    others.sort_by_key(|path| std::cmp::Reverse(modified(path)));
    std::iter::once(own)
        .chain(others)
        .find_map(|path| Past::read(&path))
}

/// The session of this project that was written last, for `--continue`.
pub(in crate::cli) fn latest(places: &Places) -> Option<Past> {
    let sessions = sessions(places);
    sessions.iter().find_map(|path| Past::read(path))
}

/// The session that `--resume` means, by its id.
///
/// # Errors
/// When there is none.
pub(in crate::cli) fn resolve(places: &Places, wanted: &str) -> Result<Past, ResumeError> {
    if !is_uuid(wanted) {
        return Err(ResumeError::NoTitle(wanted.to_owned()));
    }
    find(places, wanted).ok_or_else(|| ResumeError::Unknown(wanted.to_owned()))
}

/// Whether a new session may have this id.
///
/// # Errors
/// When a session of this project has it already, even an empty one.
pub(in crate::cli) fn free(places: &Places, session_id: &str) -> Result<(), ResumeError> {
    match is_uuid(session_id) && places.transcript(session_id).exists() {
        true => Err(ResumeError::Taken(session_id.to_owned())),
        false => Ok(()),
    }
}

/// The transcripts of this project, the one written last first.
fn sessions(places: &Places) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(places.project());
    let paths = entries.into_iter().flatten().flatten();
    let paths = paths.map(|entry| entry.path());
    let mut sessions: Vec<PathBuf> = paths.filter(|path| session_of(path).is_some()).collect();
    sessions.sort_by_key(|path| std::cmp::Reverse(modified(path)));
    sessions
}

fn session_of(path: &Path) -> Option<&str> {
    let id = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    is_uuid(id).then_some(id)
}

fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).ok()?.modified().ok()
}

fn text<'a>(line: &'a Value, key: &str) -> Option<&'a str> {
    line[key].as_str()
}

impl Past {
    /// Reads a transcript. None when it cannot be read or nothing was said in it.
    fn read(path: &Path) -> Option<Self> {
        let session_id = session_of(path)?.to_owned();
        let bytes = std::fs::read(path).ok()?;
        let lines = bytes.split(|byte| *byte == b'\n');
        let lines = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
        // Notes may have an id, too: the SDKs' own do.
        let (records, notes): (Vec<Value>, Vec<Value>) = lines.partition(|line| {
            let kind = text(line, "type").unwrap_or_default();
            let kinds = ["user", "assistant", "system", "attachment"];
            line["uuid"].is_string() && kinds.contains(&kind)
        });
        let note = |kind: &str, key: &str| {
            let of_kind = notes.iter().rfind(|note| note["type"] == kind)?;
            text(of_kind, key)
                .filter(|text| !text.is_empty())
                .map(str::to_owned)
        };
        let mut past = Self {
            session_id,
            path: path.to_owned(),
            messages: Vec::new(),
            title: note("custom-title", "customTitle"),
            last_uuid: None,
            last_prompt: note("last-prompt", "lastPrompt"),
            cost: (notes.iter().rfind(|note| note["type"] == "cost-state")).cloned(),
            records: conversation(records),
        };
        past.look_again();
        (!past.messages.is_empty()).then_some(past)
    }

    /// What is known from the records of the conversation.
    fn look_again(&mut self) {
        let last = self.records.last().and_then(|record| text(record, "uuid"));
        self.last_uuid = last.map(str::to_owned);
        self.messages = self.records.iter().filter_map(message).collect();
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
        let found = self.records.iter().position(|line| line["uuid"] == uuid);
        let index = found.ok_or_else(|| ResumeError::NoMessage(uuid.to_owned()))?;
        let dropped = self.records.split_off(index + 1);
        let mut messages = dropped.iter().filter_map(message);
        let dropped = messages.find(|message| prompt(message).is_some());
        if let Some(drops) = drops
            && dropped.is_none_or(|message| message.uuid != drops)
        {
            return Err(ResumeError::OtherTurn(drops.to_owned()));
        }
        self.look_again();
        Ok(self)
    }

    /// The records of the conversation, oldest first.
    pub(super) fn records(&self) -> &[Value] {
        &self.records
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
            match prompt(message) {
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
        let last = self.messages.last();
        last.is_some_and(|message| message.role == "user")
    }
}

/// What a person wrote in a message: nothing in one that brings results, or that says that a turn was interrupted.
fn prompt(message: &PastMessage) -> Option<String> {
    if message.role != "user" || message.meta || is_interrupted(&message.content) {
        return None;
    }
    let Some(blocks) = message.content.as_array() else {
        return message.content.as_str().map(str::to_owned);
    };
    if blocks.iter().any(|block| block["type"] == "tool_result") {
        return None;
    }
    let texts = blocks.iter().filter_map(|block| block["text"].as_str());
    Some(texts.collect::<Vec<_>>().join("\n"))
}

/// Whether nothing has to follow a message in its turn: words without a call, or that the turn was interrupted.
fn ends_a_turn(message: &PastMessage) -> bool {
    if message.role == "user" {
        return is_interrupted(&message.content);
    }
    let blocks = || message.content.as_array().into_iter().flatten();
    let is_said = |block: &Value| block["type"] == "text" && block["text"] != NO_ANSWER;
    blocks().any(is_said) && !blocks().any(|block| block["type"] == "tool_use")
}

fn is_interrupted(content: &Value) -> bool {
    let text = content.as_str().or_else(|| content[0]["text"].as_str());
    text.is_some_and(|text| text.starts_with("[Request interrupted"))
}

fn message(record: &Value) -> Option<PastMessage> {
    let role = text(record, "type").filter(|kind| matches!(*kind, "user" | "assistant"))?;
    Some(PastMessage {
        role: role.to_owned(),
        content: record["message"].get("content")?.clone(),
        uuid: text(record, "uuid")?.to_owned(),
        meta: record["isMeta"] == true,
    })
}

/// The conversation as it stands: what the last record hangs on, and the other blocks of the same answers.
fn conversation(mut records: Vec<Value>) -> Vec<Value> {
    records.retain(|record| record["isSidechain"] != true);
    let places: HashMap<&str, usize> = (records.iter().enumerate())
        .filter_map(|(index, record)| Some((text(record, "uuid")?, index)))
        .collect();
    let mut taken = HashSet::new();
    let mut next = records.len().checked_sub(1);
    while let Some(index) = next.filter(|index| taken.insert(*index)) {
        let parent = text(&records[index], "parentUuid");
        next = parent.and_then(|parent| places.get(parent)).copied();
    }
    let answer = |record: &Value| match record["type"] == "assistant" {
        true => text(&record["message"], "id").map(str::to_owned),
        false => None,
    };
    let answers: HashSet<String> = (taken.iter())
        .filter_map(|index| answer(&records[*index]))
        .collect();
    let ids = |record: &Value, key: &str| -> Vec<String> {
        let blocks = record["message"]["content"]
            .as_array()
            .into_iter()
            .flatten();
        let ids = blocks.filter_map(|block| text(block, key));
        ids.map(str::to_owned).collect()
    };
    let mut calls: HashSet<String> = HashSet::new();
    for (index, record) in records.iter().enumerate() {
        if answer(record).is_some_and(|id| answers.contains(&id)) {
            taken.insert(index);
            calls.extend(ids(record, "id"));
        }
    }
    for (index, record) in records.iter().enumerate() {
        if ids(record, "tool_use_id")
            .iter()
            .any(|call| calls.contains(call))
        {
            taken.insert(index);
        }
    }
    let keep = |(index, record)| taken.contains(&index).then_some(record);
    records.into_iter().enumerate().filter_map(keep).collect()
}

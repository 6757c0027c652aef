//! Forks a session: its conversation, up to a message, under a new session id.
//!
//! The original is only read. Every entry gets an id of its own; ids and time come in as values. Left out is what
//! belongs to the original alone: sub-agents, progress, notes, undo history. Invariant: the new transcript appears
//! whole or not at all, and never in place of another.

use std::collections::HashMap;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::SystemTime;

use countersign_wire::Json;
use countersign_wire::frame::DEFAULT_MAX_LINE;
use serde::Serialize;
use uuid::Uuid;

use super::edit::{Note, visible};
use super::entry::Entry;
use super::error::{HistoryError, io};
use super::fields::Fields;
use super::reader::Lines;
use super::{SessionUuid, Transcript, stamp};

/// What to fork.
#[derive(Debug, Clone, Default)]
pub struct ForkOptions {
    /// The last message to take; all by default.
    pub at: Option<String>,
    /// The title of the fork; that of the original with ` (fork)` by default.
    pub title: Option<String>,
}

/// The ids and the time a fork is made with.
#[derive(Debug)]
pub struct ForkSeed<M> {
    /// The id of the new session.
    pub session: SessionUuid,
    /// Gives a new id for each entry.
    pub mint: M,
    /// The time of the fork.
    pub now: SystemTime,
}

impl ForkSeed<fn() -> Uuid> {
    /// Random ids and the present time.
    pub fn random() -> Self {
        Self {
            session: Uuid::new_v4().into(),
            mint: Uuid::new_v4,
            now: SystemTime::now(),
        }
    }
}

/// Entries that are dropped, and passed over where they are a parent.
fn is_dropped(entry: &Entry) -> bool {
    entry.is_sidechain() || entry.kind() == "progress"
}

/// Fields that tie an entry to the original's files and company.
const ORIGINAL_ONLY: [&str; 5] = [
    "teamName",
    "agentName",
    "agentId",
    "slug",
    "sourceToolAssistantUUID",
];

impl Transcript {
    /// Writes the fork beside the original and gives its transcript. Resume it as any other session.
    ///
    /// # Errors
    /// [`HistoryError::NoMessage`] when the message to end at is not there, [`HistoryError::Empty`] when there is
    /// nothing to fork, [`HistoryError::Taken`] when the new id is in use.
    pub fn fork<M: FnMut() -> Uuid>(
        &self,
        options: &ForkOptions,
        mut seed: ForkSeed<M>,
    ) -> Result<Transcript, HistoryError> {
        self.metadata()?;
        let plan = Plan::make(self, options.at.as_deref(), &mut seed.mint)?;
        let title = self.fork_title(options)?;
        let folder = self.folder();
        let path = folder.join(seed.session.file_name());
        // Beside its final place, so that the move is one step. For its owner alone, as the CLI's own files.
        let new = tempfile::Builder::new()
            .prefix(".fork-")
            .tempfile_in(folder);
        let mut new = new.map_err(io("create a file in", folder))?;
        let mut out = BufWriter::new(new.as_file_mut());
        let session = seed.session.as_str();
        let writing = Writing {
            plan: &plan,
            original: &self.id,
            session,
            now: seed.now,
        };
        writing.copy(&self.path, &mut out)?;
        let title = Note::CustomTitle {
            custom_title: &title,
            session_id: session,
        };
        write_line(&mut out, &title, &path)?;
        out.flush().map_err(io("write", &path))?;
        drop(out);
        new.as_file().sync_all().map_err(io("write", &path))?;
        new.persist_noclobber(&path)
            .map_err(|error| match error.error.kind() {
                std::io::ErrorKind::AlreadyExists => HistoryError::Taken { path: path.clone() },
                _ => io("create", &path)(error.error),
            })?;
        Ok(Transcript::new(self.config_dir.clone(), seed.session, path))
    }

    fn fork_title(&self, options: &ForkOptions) -> Result<String, HistoryError> {
        if let Some(title) = &options.title {
            let title = visible(title);
            return if title.is_empty() {
                Err(HistoryError::Blank { what: "title" })
            } else {
                Ok(title)
            };
        }
        let info = self.info()?;
        let known = info.as_ref().and_then(|info| {
            let titles = [&info.custom_title, &info.ai_title, &info.first_prompt];
            titles.into_iter().flatten().next()
        });
        Ok(format!(
            "{} (fork)",
            known.map_or("Session", String::as_str)
        ))
    }
}

/// What the first pass found: which entries are taken, and their new names.
struct Plan {
    new_ids: HashMap<String, Uuid>,
    /// Of each dropped entry, its parent.
    passed_over: HashMap<String, Option<String>>,
    /// Number of the last line that is taken.
    last_line: u64,
}

impl Plan {
    fn make(
        original: &Transcript,
        at: Option<&str>,
        mint: &mut impl FnMut() -> Uuid,
    ) -> Result<Self, HistoryError> {
        let mut plan = Self {
            new_ids: HashMap::new(),
            passed_over: HashMap::new(),
            last_line: 0,
        };
        let mut lines = Lines::open(&original.path, DEFAULT_MAX_LINE)?;
        let mut reached = false;
        while let Some(place) = lines.next_line()? {
            let line = lines.read(&place);
            let Some((entry, uuid)) = line.entry().and_then(|entry| Some((entry, entry.uuid()?)))
            else {
                continue;
            };
            if is_dropped(entry) {
                plan.passed_over
                    .insert(uuid.to_owned(), entry.parent_uuid().map(str::to_owned));
                continue;
            }
            plan.new_ids
                .entry(uuid.to_owned())
                .or_insert_with(&mut *mint);
            plan.last_line = place.number;
            if at == Some(uuid) {
                reached = true;
                break;
            }
        }
        let id = original.id.clone();
        match at {
            Some(message) if !reached => Err(HistoryError::NoMessage {
                id,
                message: message.chars().take(80).collect(),
            }),
            None if plan.new_ids.is_empty() => Err(HistoryError::Empty { id }),
            _ => Ok(plan),
        }
    }

    /// The new name of an entry, or of the nearest one before it that is taken.
    fn renamed(&self, uuid: &str) -> Option<Uuid> {
        let mut uuid = uuid;
        // As many steps as there are dropped entries: a circle ends as well.
        for _ in 0..=self.passed_over.len() {
            if let Some(new) = self.new_ids.get(uuid) {
                return Some(*new);
            }
            uuid = self.passed_over.get(uuid)?.as_deref()?;
        }
        None
    }
}

struct Writing<'a> {
    plan: &'a Plan,
    original: &'a SessionUuid,
    session: &'a str,
    now: SystemTime,
}

impl Writing<'_> {
    /// The second pass: each taken entry in turn, then what replaces parts of them.
    fn copy(&self, from: &Path, out: &mut impl Write) -> Result<(), HistoryError> {
        let mut lines = Lines::open(from, DEFAULT_MAX_LINE)?;
        let mut replacements = Vec::new();
        while let Some(place) = lines.next_line()? {
            let Some(entry) = lines.read(&place).into_entry() else {
                continue;
            };
            if entry.kind() == "content-replacement" && entry.agent_id().is_none() {
                let more = entry
                    .field("replacements")
                    .and_then(|list| list.to::<Vec<Json>>().ok());
                replacements.extend(more.unwrap_or_default());
            }
            let taken = place.number <= self.plan.last_line
                && entry.uuid().is_some()
                && !is_dropped(&entry);
            if let (true, Ok(fields)) = (taken, entry.json().to()) {
                let renamed = self.rename(&entry, fields, place.number == self.plan.last_line);
                write_line(out, &renamed, from)?;
            }
        }
        if !replacements.is_empty() {
            let entry = Note::ContentReplacement {
                session_id: self.session,
                replacements: &replacements,
            };
            write_line(out, &entry, from)?;
        }
        Ok(())
    }

    fn rename(&self, entry: &Entry, mut fields: Fields, is_last: bool) -> Fields {
        let new_id = |uuid: Option<&str>| {
            let new = uuid.and_then(|uuid| self.plan.renamed(uuid));
            text(new.map(|new| new.hyphenated().to_string()).as_deref())
        };
        for field in ORIGINAL_ONLY {
            fields.remove(field);
        }
        if let Some(logical) = fields.get("logicalParentUuid") {
            let logical = new_id(logical.to::<String>().ok().as_deref());
            fields.set("logicalParentUuid", logical);
        }
        fields.set("uuid", new_id(entry.uuid()));
        fields.set("parentUuid", new_id(entry.parent_uuid()));
        fields.set("sessionId", text(Some(self.session)));
        // So that the fork is the newest in lists that go by content.
        if is_last {
            fields.set("timestamp", text(Some(&stamp::format(self.now))));
        }
        let origin = Origin {
            session_id: self.original.as_str(),
            message_uuid: entry.uuid(),
        };
        fields.set("forkedFrom", Json::of(&origin).unwrap_or_default());
        fields
    }
}

/// Where an entry of a fork came from.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Origin<'a> {
    session_id: &'a str,
    message_uuid: Option<&'a str>,
}

/// A string or `null`; these always have a JSON form.
fn text(value: Option<&str>) -> Json {
    Json::of(&value).unwrap_or_default()
}

fn write_line(
    out: &mut impl Write,
    value: &impl Serialize,
    path: &Path,
) -> Result<(), HistoryError> {
    let written = serde_json::to_writer(&mut *out, value).map_err(std::io::Error::from);
    written
        .and_then(|()| out.write_all(b"\n"))
        .map_err(io("write", path))
}

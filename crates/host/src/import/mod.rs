//! Conversations that were begun in a terminal, and whether one of them can come under our care.
//!
//! Owns the list of them and the question that goes before an import. Read-only: nothing of the CLI's is changed. All of it
//! is synchronous file reading: call it from `spawn_blocking`. Invariants: nothing is imported before a person said that no
//! terminal runs it, and they are told what speaks against that; a conversation goes on in the folder it was begun in.

mod running;
mod world;

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use countersign_client::history::{
    HistoryError, ListOptions, SessionInfo, SessionUuid, Transcripts,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::control::ControlError;

pub use running::Sign;
pub use world::{Record, Terminal, World};

/// A conversation that can be imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Importable {
    /// Its id in the CLI.
    pub conversation: String,
    /// The folder it was begun in.
    #[schema(value_type = String)]
    pub cwd: PathBuf,
    /// The best title there is; may be empty.
    pub title: String,
    /// When its transcript was last written: microseconds of Unix time.
    pub last: u64,
    /// Why a terminal may still run it, in a sentence; none if nothing speaks for that.
    pub maybe_running: Option<String>,
    /// The git branch it was last on.
    pub branch: Option<String>,
    /// A program began it, not a person.
    pub programmatic: bool,
}

/// Which conversations.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ImportFilter {
    /// Begun in this folder; in all of them without one.
    #[serde(default)]
    pub folder: Option<PathBuf>,
    /// Those that programs began, too.
    #[serde(default)]
    pub programmatic: bool,
    /// How many at most; 0 for the usual number.
    #[serde(default)]
    pub most: usize,
}

/// How many are listed without a word on it.
const USUAL: usize = 100;

/// How many are listed at most.
const MOST: usize = 1_000;

/// The conversations below a folder of the CLI, newest first, without those that `is_ours` knows.
///
/// # Errors
/// [`ControlError::Unavailable`] when the folder cannot be read.
pub fn list(
    transcripts: &Transcripts,
    filter: &ImportFilter,
    is_ours: impl Fn(&str) -> bool,
    world: &World,
    now: u64,
) -> Result<Vec<Importable>, ControlError> {
    let most = if filter.most == 0 { USUAL } else { filter.most };
    let most = most.min(MOST);
    let mut looked_at = most;
    loop {
        let listed = newest(transcripts, filter, looked_at).map_err(unavailable)?;
        let is_all = listed.len() < looked_at;
        let mut items: Vec<Importable> = listed
            .iter()
            .filter(|info| !is_ours(info.id.as_str()))
            .filter_map(|info| importable(info, world, now))
            .collect();
        if is_all || items.len() >= most {
            items.truncate(most);
            return Ok(items);
        }
        // Many of them are ours. Each is opened, so that not all are looked at where the newest will do.
        looked_at = looked_at.saturating_mul(4);
    }
}

fn newest(
    transcripts: &Transcripts,
    filter: &ImportFilter,
    count: usize,
) -> Result<Vec<SessionInfo>, HistoryError> {
    let options = ListOptions {
        limit: Some(count),
        hide_programmatic: !filter.programmatic,
        ..ListOptions::default()
    };
    match &filter.folder {
        Some(folder) => transcripts.project(folder).list(&options),
        None => transcripts.list_all(&options),
    }
}

/// What a person wants to import.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// Its id in the CLI.
    pub conversation: &'a str,
    /// The folder it was begun in.
    pub cwd: &'a Path,
    /// The person says that no terminal runs it.
    pub confirmed: bool,
}

/// Whether a conversation can be imported, and what it is.
///
/// # Errors
/// [`ControlError::Confirm`] before a person has said that no terminal runs it, with what speaks against it; otherwise
/// why it cannot be imported.
pub fn check(
    transcripts: &Transcripts,
    wanted: Wanted<'_>,
    world: &World,
    now: u64,
) -> Result<Importable, ControlError> {
    let id = SessionUuid::parse(wanted.conversation)
        .map_err(|error| ControlError::invalid(error.to_string()))?;
    let transcript = transcripts.find(&id).map_err(unavailable)?;
    let transcript = transcript.ok_or_else(|| ControlError::not_found("conversation", &id))?;
    let info = transcript.info().map_err(unavailable)?;
    let info = info.ok_or_else(|| {
        ControlError::invalid(format!(
            "conversation {id} holds nothing to go on from: start a new session"
        ))
    })?;
    let cwd = folder_of(transcripts, &info, wanted.cwd)?;
    let found = importable_in(&info, cwd, world, now);
    if wanted.confirmed {
        return Ok(found);
    }
    let sign = found.maybe_running.as_deref().unwrap_or(
        "Nothing shows that a terminal still runs this conversation, but not every one can be seen",
    );
    Err(ControlError::Confirm {
        why: format!(
            "{sign}. Two agents on one conversation do not see what the other says: end it there first"
        ),
    })
}

/// The folder of a conversation, if it is the one that was named and it is there.
fn folder_of(
    transcripts: &Transcripts,
    info: &SessionInfo,
    named: &Path,
) -> Result<PathBuf, ControlError> {
    let project = transcripts.project(named);
    if !project.cwd().is_dir() {
        return Err(ControlError::invalid(format!(
            "there is no folder {}: make it again, since the conversation goes on in it",
            named.display()
        )));
    }
    let begun_there = match &info.cwd {
        Some(cwd) => transcripts.project(cwd).cwd() == project.cwd(),
        None => project.holds(&info.path),
    };
    if begun_there {
        return Ok(project.cwd().to_owned());
    }
    let begun = info.cwd.as_deref().unwrap_or(Path::new("another folder"));
    Err(ControlError::invalid(format!(
        "conversation {} was begun in {}, not in {}: import it with that folder",
        info.id,
        begun.display(),
        named.display()
    )))
}

fn importable(info: &SessionInfo, world: &World, now: u64) -> Option<Importable> {
    let cwd = info.cwd.clone()?;
    Some(importable_in(info, cwd, world, now))
}

fn importable_in(info: &SessionInfo, cwd: PathBuf, world: &World, now: u64) -> Importable {
    let last = microseconds(info.modified);
    let sign = world.sign_of(info.id.as_str(), &cwd, last, now);
    Importable {
        conversation: info.id.to_string(),
        title: info.title().to_owned(),
        last,
        maybe_running: sign.map(|sign| sign.to_string()),
        branch: info.git_branch.clone(),
        programmatic: info.is_programmatic(),
        cwd,
    }
}

fn microseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_micros() as u64)
}

fn unavailable(error: HistoryError) -> ControlError {
    ControlError::Unavailable {
        why: error.to_string(),
        retry_ms: 1_000,
    }
}

#[cfg(test)]
mod tests;

//! The transcripts of a session's sub-agents, in either place a CLI puts them.
//!
//! Newer CLIs keep them in `<session>/subagents/`, with a note beside each; 2.0.75 puts `agent-*.jsonl` beside the
//! transcripts, where only the content tells whose they are.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use countersign_wire::Json;

use super::branch::{Branch, BranchOptions};
use super::entry::Entry;
use super::error::{HistoryError, io};
use super::reader::{Entries, Lines};
use super::transcript::regular_file;
use super::{SessionUuid, Transcript};

/// How deep folders are followed below `subagents`.
const DEPTH: usize = 4;
/// Notes larger than this are not the CLI's.
const MAX_NOTE: u64 = 1 << 20;
/// Of a side file, how long its first line may be.
const MAX_FIRST_LINE: usize = 4 << 20;

/// A sub-agent of a session.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Subagent {
    /// Its id, as the CLI gives it with questions and tasks.
    pub id: String,
    /// Its transcript.
    pub path: PathBuf,
    /// Size of the transcript in bytes.
    pub size: u64,
    /// When the transcript was last written.
    pub modified: SystemTime,
    /// When its first entry was written.
    pub created: Option<SystemTime>,
    /// What it was told to do, as far as the file begins with it.
    pub prompt: Option<String>,
    /// Its type, such as `general-purpose`; known from newer CLIs only.
    pub agent_type: Option<String>,
    /// What it was started for, in a few words.
    pub description: Option<String>,
    /// The tool call that started it.
    pub tool_use_id: Option<String>,
    /// The sub-agent that started it, if one did.
    pub parent_agent_id: Option<String>,
    /// All that the CLI noted about it.
    pub note: Option<Json>,
}

impl Subagent {
    /// Every line in the order of the file.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn entries(&self) -> Result<Entries, HistoryError> {
        Entries::open(&self.path)
    }

    /// Its conversation.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn branch(&self, options: &BranchOptions) -> Result<Branch, HistoryError> {
        Branch::read(&self.path, options, true)
    }
}

pub(super) fn list(session: &Transcript) -> Result<Vec<Subagent>, HistoryError> {
    let mut files = Vec::new();
    agent_files(&session.side_folder().join("subagents"), DEPTH, &mut files)?;
    let mut agents: Vec<Subagent> = files
        .iter()
        .filter_map(|path| read(path).ok().flatten())
        .collect();
    for path in side_files(session.folder(), &session.id)? {
        agents.extend(read(&path).ok().flatten());
    }
    agents.sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
    Ok(agents)
}

/// The `agent-*.jsonl` beside the transcripts that say they are this session's.
pub(super) fn side_files(folder: &Path, id: &SessionUuid) -> Result<Vec<PathBuf>, HistoryError> {
    let mut files = Vec::new();
    agent_files(folder, 1, &mut files)?;
    files.retain(|path| {
        first_entry(path).is_some_and(|entry| entry.session_id() == Some(id.as_str()))
    });
    Ok(files)
}

fn agent_files(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), HistoryError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(io("list", folder)(error)),
    };
    for entry in entries {
        let entry = entry.map_err(io("list", folder))?;
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_file() && agent_id(&entry.path()).is_some() {
            files.push(entry.path());
        } else if kind.is_dir() && depth > 1 {
            agent_files(&entry.path(), depth - 1, files)?;
        }
    }
    Ok(())
}

fn agent_id(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    let id = name.strip_prefix("agent-")?.strip_suffix(".jsonl")?;
    (!id.is_empty()).then_some(id)
}

fn first_entry(path: &Path) -> Option<Entry> {
    let mut lines = Lines::open(path, MAX_FIRST_LINE).ok()?;
    let place = lines.next_line().ok()??;
    lines.read(&place).into_entry()
}

fn read(path: &Path) -> Result<Option<Subagent>, HistoryError> {
    let (Some(id), Some(meta)) = (agent_id(path), regular_file(path)?) else {
        return Ok(None);
    };
    let first = first_entry(path);
    let note = note(path, id);
    let field = |name: &str| {
        let fields = note.as_ref()?.to_value().ok()?;
        fields.get(name)?.as_str().map(str::to_owned)
    };
    Ok(Some(Subagent {
        id: id.to_owned(),
        path: path.to_owned(),
        size: meta.len(),
        modified: meta.modified().map_err(io("read the age of", path))?,
        created: first.as_ref().and_then(Entry::written),
        prompt: first
            .as_ref()
            .map(Entry::text)
            .filter(|text| !text.is_empty()),
        agent_type: field("agentType"),
        description: field("description"),
        tool_use_id: field("toolUseId"),
        parent_agent_id: field("parentAgentId"),
        note,
    }))
}

fn note(path: &Path, id: &str) -> Option<Json> {
    let path = path.with_file_name(format!("agent-{id}.meta.json"));
    let meta = regular_file(&path).ok()??;
    if meta.len() > MAX_NOTE {
        return None;
    }
    serde_json::from_slice(&std::fs::read(&path).ok()?).ok()
}

//! What a list shows of a session, from the beginning and the end of its file.
//!
//! Owns which fields win: the first prompt, folder and time from the beginning, titles, tag and branch from the end.
//! Reads 64 KiB at either end, and more only where a single line is larger than that.

use std::fs::{File, Metadata};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Deserialize;

use super::entry::{Entry, TranscriptLine, lenient};
use super::error::{HistoryError, io};
use super::{SessionUuid, stamp};

/// What is read at either end.
const WINDOW: u64 = 64 << 10;
/// What is read where the window held not one useful line.
const WIDE_WINDOW: u64 = 2 << 20;
/// Characters of a prompt that are kept.
const PROMPT_CHARS: usize = 200;

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionInfo {
    /// Its id.
    pub id: SessionUuid,
    /// Its transcript.
    pub path: PathBuf,
    /// Size of the transcript in bytes.
    pub size: u64,
    /// When the transcript was last written.
    pub modified: SystemTime,
    /// When its first entry was written.
    pub created: Option<SystemTime>,
    /// The title a person gave.
    pub custom_title: Option<String>,
    /// The title the CLI made up.
    pub ai_title: Option<String>,
    /// The last prompt, as the CLI noted it.
    pub last_prompt: Option<String>,
    /// The summary that older CLIs wrote.
    pub summary: Option<String>,
    /// What the person said first, shortened to 200 characters.
    pub first_prompt: Option<String>,
    /// Where it was started.
    pub cwd: Option<PathBuf>,
    /// The git branch it was last on.
    pub git_branch: Option<String>,
    /// Its tag.
    pub tag: Option<String>,
    /// Who started the CLI: `cli`, `sdk-cli`, `sdk-ts`, …
    pub entrypoint: Option<String>,
    /// Messages of user and assistant, where the file is small enough that they were all seen.
    pub messages: Option<u64>,
}

impl SessionInfo {
    /// The best title there is.
    pub fn title(&self) -> &str {
        let titles = [
            &self.custom_title,
            &self.ai_title,
            &self.last_prompt,
            &self.summary,
            &self.first_prompt,
        ];
        titles
            .into_iter()
            .flatten()
            .next()
            .map_or("", String::as_str)
    }

    /// Whether a program started it.
    pub fn is_programmatic(&self) -> bool {
        self.entrypoint
            .as_deref()
            .is_some_and(|by| by.starts_with("sdk"))
    }
}

/// Reads the info. `None`: no conversation in it.
pub(super) fn read(
    id: &SessionUuid,
    path: &Path,
    meta: &Metadata,
) -> Result<Option<SessionInfo>, HistoryError> {
    let size = meta.len();
    if size == 0 {
        return Ok(None);
    }
    let mut file = File::open(path).map_err(io("open", path))?;
    let mut ends = read_ends(&mut file, size, WINDOW).map_err(io("read", path))?;
    if size > 2 * WINDOW && (ends.tail.is_empty() || gather(&ends).first_prompt.is_none()) {
        ends = read_ends(&mut file, size, WIDE_WINDOW).map_err(io("read", path))?;
    }
    let seen = gather(&ends);
    let info = SessionInfo {
        id: id.clone(),
        path: path.to_owned(),
        size,
        modified: meta.modified().map_err(io("read the age of", path))?,
        created: seen.created,
        custom_title: seen.custom_title,
        ai_title: seen.ai_title,
        last_prompt: seen.last_prompt,
        summary: seen.summary,
        first_prompt: seen.first_prompt.or(seen.command),
        cwd: seen.cwd,
        git_branch: seen.git_branch,
        tag: seen.tag,
        entrypoint: seen.entrypoint,
        messages: ends.whole.then_some(seen.messages),
    };
    Ok((!seen.sidechain && !info.title().is_empty()).then_some(info))
}

/// Whole lines from the two ends of a file.
struct Ends {
    head: Vec<Entry>,
    tail: Vec<Entry>,
    /// There was nothing between them.
    whole: bool,
}

fn read_ends(file: &mut File, size: u64, window: u64) -> std::io::Result<Ends> {
    let whole = size <= 2 * window;
    let head = read_part(file, 0, if whole { size } else { window })?;
    if whole {
        let (head, tail) = (entries(&head), Vec::new());
        return Ok(Ends { head, tail, whole });
    }
    // The last line of the head and the first of the tail are torn.
    let head = &head[..memchr::memrchr(b'\n', &head).unwrap_or(0)];
    let tail = read_part(file, size - window, window)?;
    let tail = &tail[memchr::memchr(b'\n', &tail).unwrap_or(tail.len())..];
    let (head, tail) = (entries(head), entries(tail));
    Ok(Ends { head, tail, whole })
}

fn read_part(file: &mut File, from: u64, bytes: u64) -> std::io::Result<Vec<u8>> {
    let mut part = Vec::new();
    file.seek(SeekFrom::Start(from))?;
    file.take(bytes).read_to_end(&mut part)?;
    Ok(part)
}

fn entries(bytes: &[u8]) -> Vec<Entry> {
    let lines = bytes.split(|byte| *byte == b'\n').zip(1..);
    let lines = lines.filter(|(line, _)| !line.trim_ascii().is_empty());
    lines
        .filter_map(|(line, number)| TranscriptLine::read(line, number).into_entry())
        .collect()
}

#[derive(Default)]
struct Seen {
    sidechain: bool,
    created: Option<SystemTime>,
    custom_title: Option<String>,
    ai_title: Option<String>,
    last_prompt: Option<String>,
    summary: Option<String>,
    first_prompt: Option<String>,
    /// A slash command, for a session that holds nothing else.
    command: Option<String>,
    cwd: Option<PathBuf>,
    git_branch: Option<String>,
    tag: Option<String>,
    entrypoint: Option<String>,
    messages: u64,
}

/// The fields of an entry that only lists want.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Notes {
    #[serde(deserialize_with = "lenient")]
    custom_title: Option<String>,
    #[serde(deserialize_with = "lenient")]
    ai_title: Option<String>,
    #[serde(deserialize_with = "lenient")]
    last_prompt: Option<String>,
    #[serde(deserialize_with = "lenient")]
    summary: Option<String>,
    #[serde(deserialize_with = "lenient")]
    tag: Option<String>,
    #[serde(deserialize_with = "lenient")]
    cwd: Option<PathBuf>,
    #[serde(deserialize_with = "lenient")]
    git_branch: Option<String>,
    #[serde(deserialize_with = "lenient")]
    entrypoint: Option<String>,
}

fn gather(ends: &Ends) -> Seen {
    let mut seen = Seen {
        sidechain: ends.head.first().is_some_and(Entry::is_sidechain),
        ..Seen::default()
    };
    for entry in &ends.head {
        seen.look_for_prompt(entry);
    }
    for entry in ends.head.iter().chain(&ends.tail) {
        seen.take_notes(entry);
    }
    seen
}

impl Seen {
    fn take_notes(&mut self, entry: &Entry) {
        let notes: Notes = entry.json().to().unwrap_or_default();
        let head = entry.head();
        if self.created.is_none() {
            self.created = head.timestamp.as_deref().and_then(stamp::parse);
        }
        self.cwd = self.cwd.take().or(notes.cwd);
        self.entrypoint = self.entrypoint.take().or(notes.entrypoint);
        match entry.kind() {
            "user" | "assistant" => {
                self.messages += u64::from(!entry.is_sidechain() && !entry.is_meta())
            }
            "custom-title" => {
                self.custom_title = notes.custom_title.filter(|title| !title.is_empty())
            }
            "ai-title" => self.ai_title = notes.ai_title.filter(|title| !title.is_empty()),
            "tag" => self.tag = notes.tag.filter(|tag| !tag.is_empty()),
            "summary" => {
                self.summary = notes
                    .summary
                    .filter(|text| !text.is_empty())
                    .or(self.summary.take())
            }
            "last-prompt" => {
                let prompt = notes.last_prompt.filter(|text| !text.is_empty());
                self.last_prompt = prompt
                    .map(|text| shorten(&text))
                    .or(self.last_prompt.take());
            }
            _ => {}
        }
        self.git_branch = notes
            .git_branch
            .filter(|name| !name.is_empty())
            .or(self.git_branch.take());
    }

    fn look_for_prompt(&mut self, entry: &Entry) {
        let skipped = entry.is_meta() || entry.is_compact_summary() || entry.is_sidechain();
        if self.first_prompt.is_some() || entry.kind() != "user" || skipped {
            return;
        }
        let spoken = entry.spoken();
        let text = spoken.text.trim();
        if spoken.has_tool_result || text.is_empty() {
            return;
        }
        if is_prompt(text) {
            self.first_prompt = Some(shorten(text));
        } else if self.command.is_none() {
            self.command = between(text, "<command-name>", "</command-name>").map(shorten);
        }
    }
}

/// Whether a person said it: the CLI wraps what it says itself in tags.
fn is_prompt(text: &str) -> bool {
    let tagged = text.strip_prefix('<').is_some_and(|rest| {
        let name = rest
            .split(|c: char| c == '>' || c.is_whitespace())
            .next()
            .unwrap_or("");
        name.len() < rest.len()
            && name.starts_with(|c: char| c.is_ascii_lowercase())
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    });
    !tagged && !text.starts_with("[Request interrupted by user")
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(open)?;
    let inner = rest.split_once(close)?.0.trim();
    (!inner.is_empty()).then_some(inner)
}

/// One line of at most [`PROMPT_CHARS`] characters.
fn shorten(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(PROMPT_CHARS) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

//! The text of a plan where the question does not bring it.
//!
//! Owns which plan files this session's own lines named, and the careful reading of one. Invariants: only a file that a
//! Write of this session (or of its sub-agents) named and wrote is ever read, never the newest one of a folder that
//! sessions share; it stands directly in the folder of plans; links and `..` are refused.

use std::collections::VecDeque;
use std::fs::{File, Metadata, OpenOptions};
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use countersign_wire::route::Route;
use memchr::memmem;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// So many files, and writes that are under way, are remembered.
const FILES: usize = 32;

/// A longer plan is not read.
const MOST_BYTES: u64 = 1024 * 1024;

/// The plan files of one session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tracker {
    /// Writes that have no result yet.
    under_way: VecDeque<Named>,
    /// Files that were written, newest last.
    written: VecDeque<Named>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Named {
    /// The call.
    call: String,
    /// Whose: the call that started the sub-agent. None: the main agent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    speaker: Option<String>,
    path: PathBuf,
    /// The call makes the file, rather than changing one.
    creates: bool,
}

/// Why a plan file is not read.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// It stands elsewhere.
    #[error(
        "{0} does not stand directly in the folder of plans: its text is not taken for the plan"
    )]
    Elsewhere(PathBuf),
    /// It is a link, or no plain file.
    #[error("{0} is a link or no plain file: its text is not taken for the plan")]
    NotPlain(PathBuf),
    /// It is too long.
    #[error("{path} has {bytes} bytes, more than a plan may have")]
    TooLong {
        /// The file.
        path: PathBuf,
        /// How long it is.
        bytes: u64,
    },
    /// It cannot be read.
    #[error("cannot read the plan {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

#[derive(Deserialize)]
struct Line {
    message: Blocks,
}

#[derive(Deserialize)]
struct Blocks {
    content: Vec<Block>,
}

#[derive(Deserialize)]
struct Block {
    #[serde(default)]
    r#type: String,
    id: Option<String>,
    name: Option<String>,
    input: Option<Box<RawValue>>,
    tool_use_id: Option<String>,
    #[serde(default)]
    is_error: Option<bool>,
}

#[derive(Deserialize)]
struct FileInput {
    file_path: PathBuf,
}

impl Tracker {
    /// Learns from a line of the agent. `plans` is the folder the CLI keeps plans in.
    pub fn note(&mut self, line: &[u8], plans: &Path) {
        let Ok(route) = Route::of(line) else {
            return;
        };
        let has = |word: &[u8]| memmem::find(line, word).is_some();
        if route.kind == "assistant" && has(b"\"tool_use\"") && has(b"\"file_path\"") {
            let speaker = route.parent_tool_use_id.map(|id| id.get().into_owned());
            self.called(line, speaker, plans);
        } else if route.kind == "user" && !self.under_way.is_empty() && has(b"\"tool_result\"") {
            self.returned(line);
        }
    }

    fn called(&mut self, line: &[u8], speaker: Option<String>, plans: &Path) {
        let Ok(line) = serde_json::from_slice::<Line>(line) else {
            return;
        };
        for block in line.message.content {
            let Some(name) = block.name else {
                continue;
            };
            let input = block
                .input
                .as_deref()
                .map(RawValue::get)
                .unwrap_or_default();
            let (true, Some(call), Ok(input)) = (
                block.r#type == "tool_use",
                block.id,
                serde_json::from_str::<FileInput>(input),
            ) else {
                continue;
            };
            self.begun(&name, &call, speaker.clone(), input.file_path, plans);
        }
    }

    /// A call to a tool that writes files was let run. `speaker` is the call that started the sub-agent which made it.
    pub fn begun(
        &mut self,
        tool: &str,
        call: &str,
        speaker: Option<String>,
        path: PathBuf,
        plans: &Path,
    ) {
        let creates = match tool {
            "Write" => true,
            "Edit" | "MultiEdit" => false,
            _ => return,
        };
        if is_plan(&path, plans) {
            let named = Named {
                call: call.to_owned(),
                speaker,
                path,
                creates,
            };
            push(&mut self.under_way, named);
        }
    }

    /// What was refused or failed named nothing.
    fn returned(&mut self, line: &[u8]) {
        let Ok(line) = serde_json::from_slice::<Line>(line) else {
            return;
        };
        for block in line.message.content {
            let Some(call) = block.tool_use_id else {
                continue;
            };
            self.ended(&call, block.is_error == Some(true));
        }
    }

    /// The call has a result.
    pub fn ended(&mut self, call: &str, is_error: bool) {
        let Some(at) = self.under_way.iter().position(|named| named.call == call) else {
            return;
        };
        let Some(named) = self.under_way.remove(at) else {
            return;
        };
        let known = self.written.iter().position(|old| old.path == named.path);
        // Changing a file does not make it this session's.
        if is_error || !(named.creates || known.is_some()) {
            return;
        }
        if let Some(known) = known {
            self.written.remove(known);
        }
        push(&mut self.written, named);
    }

    /// The file that this session's plan stands in, if its lines named one. `speaker` is the call that started the
    /// sub-agent which presents the plan; its own file goes first.
    pub fn file(&self, speaker: Option<&str>) -> Option<&Path> {
        let newest = |is_wanted: &dyn Fn(&Named) -> bool| {
            self.written.iter().rev().find(|named| is_wanted(named))
        };
        let own = newest(&|named| named.speaker.as_deref() == speaker);
        let named = own.or_else(|| newest(&|_| true))?;
        Some(&named.path)
    }

    /// Reads the plan now, when it is asked about. None: no line named a file, or it holds nothing.
    ///
    /// # Errors
    /// When the file is not where plans are, is a link, is too long or cannot be read.
    pub fn capture(
        &self,
        speaker: Option<&str>,
        plans: &Path,
    ) -> Result<Option<String>, CaptureError> {
        let Some(path) = self.file(speaker) else {
            return Ok(None);
        };
        let text = read(path, plans)?;
        Ok((!text.trim().is_empty()).then_some(text))
    }
}

/// Whether a path names a document directly in a folder of plans, as far as the words tell.
fn is_plan(path: &Path, plans: &Path) -> bool {
    let folder = path.parent();
    path.is_absolute()
        && is_straight(path)
        && path.extension().is_some_and(|extension| extension == "md")
        // The folder may be reached by a link; reading tells.
        && folder.is_some_and(|folder| folder.file_name() == plans.file_name())
}

fn is_straight(path: &Path) -> bool {
    path.components()
        .all(|part| !matches!(part, Component::ParentDir | Component::CurDir))
}

fn read(path: &Path, plans: &Path) -> Result<String, CaptureError> {
    let io = |source| CaptureError::Io {
        path: path.to_owned(),
        source,
    };
    let elsewhere = || CaptureError::Elsewhere(path.to_owned());
    // The folder itself may be reached by a link; the file may not.
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(elsewhere());
    };
    let folder = folder.canonicalize().map_err(io)?;
    if !is_straight(path) || plans.canonicalize().ok() != Some(folder.clone()) {
        return Err(elsewhere());
    }
    let path = folder.join(name);
    let is_plain = |found: &Metadata| found.file_type().is_file();
    let not_plain = || CaptureError::NotPlain(path.clone());
    if !is_plain(&path.symlink_metadata().map_err(io)?) {
        return Err(not_plain());
    }
    let file = open(&path).map_err(io)?;
    let found = file.metadata().map_err(io)?;
    if !is_plain(&found) {
        return Err(not_plain());
    }
    if found.len() > MOST_BYTES {
        let bytes = found.len();
        return Err(CaptureError::TooLong { path, bytes });
    }
    let mut text = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut text).map_err(io)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Opens the file itself, never what a link that was put there meanwhile points to, and waits for nobody.
#[cfg(unix)]
fn open(path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).open(path)
}

fn push(queue: &mut VecDeque<Named>, named: Named) {
    queue.push_back(named);
    while queue.len() > FILES {
        queue.pop_front();
    }
}

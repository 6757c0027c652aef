//! The file that a call would change, as it was when the agent asked.
//!
//! Owns the bounded read, and what is kept of the file: the lines around each change, with their numbers. Invariants: nothing
//! is kept that the change itself does not touch or stand beside; a file that is not read says why; a read never waits for
//! anybody.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};
use utoipa::ToSchema;

use super::notebook::{self, CellChange};

/// Maximum size of a file that is read, and of what is kept of it, in bytes.
const MOST: usize = 1 << 20;

/// Lines that are kept around a change.
const CONTEXT: usize = 3;

/// Maximum number of lines on either side that are compared one by one.
const COMPARED: usize = 4_000;

/// A file as it was when a call that would change it was asked about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FileAsAsked {
    /// What was found.
    pub state: FileState,
    /// Why nothing of it is shown; of a notebook, which cell the lines are of. In a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<String>,
    /// The lines that the change touches, with those around them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<FilePart>,
    /// The file is another one by now. Looked up for an open question only.
    #[serde(default)]
    pub changed: bool,
}

/// What was found where a call would change a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileState {
    /// It was read.
    Read,
    /// There is no such file: the call makes it.
    New,
    /// It was not read, or the change is not to be found in it.
    Unknown,
}

/// Lines of a file that a call would change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FilePart {
    /// The number of the first line, from 1.
    pub line: usize,
    /// The number that it has after the change.
    pub new_line: usize,
    /// The lines as they are.
    pub before: String,
    /// The lines as the call would leave them.
    pub after: String,
}

/// The same as it is stored: with what tells whether the file has changed since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptFile {
    #[serde(flatten)]
    shown: FileAsAsked,
    /// Where it is.
    path: PathBuf,
    /// None where it was not there, or not read.
    #[serde(default)]
    print: Option<Print>,
}

/// How a file is told from what it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Print {
    len: u64,
    /// Nanoseconds of Unix time.
    modified: u128,
    digest: String,
}

/// The path of the file that a call would change as a text, if it is such a call.
pub fn changed_path(tool: &str, input: &Value, cwd: &Path) -> Option<PathBuf> {
    let path = match tool {
        "Edit" | "MultiEdit" | "Write" => input.get("file_path")?.as_str()?,
        "NotebookEdit" => input.get("notebook_path")?.as_str()?,
        _ => return None,
    };
    Some(cwd.join(path))
}

impl KeptFile {
    /// Reads the file at `path`, which this call would change.
    pub fn read(tool: &str, input: &Value, path: PathBuf) -> Self {
        let (text, print) = match read(&path) {
            Ok(Some(read)) => read,
            Ok(None) if tool == "NotebookEdit" => {
                return Self::withheld(path, "There is no such notebook.".to_owned());
            }
            Ok(None) => return Self::without(path, FileState::New, None),
            Err(says) => return Self::withheld(path, says),
        };
        let print = Some(print);
        let change = match tool {
            "NotebookEdit" => notebook::change(input, &text).map(
                |CellChange {
                     before,
                     after,
                     says,
                 }| (before, after, Some(says)),
            ),
            _ => changed(tool, input, &text)
                .map(|after| (text, after, None))
                .ok_or_else(|| "The text to be replaced is not in the file.".to_owned()),
        };
        let (before, after, says) = match change {
            Ok(change) => change,
            Err(says) => {
                return Self {
                    print,
                    ..Self::withheld(path, says)
                };
            }
        };
        let parts = parts(&before, &after);
        let size: usize = parts
            .iter()
            .map(|it| it.before.len() + it.after.len())
            .sum();
        if size > MOST {
            let says = "The change is too long to be compared with the file.".to_owned();
            return Self {
                print,
                ..Self::withheld(path, says)
            };
        }
        Self {
            shown: FileAsAsked {
                state: FileState::Read,
                says,
                parts,
                changed: false,
            },
            path,
            print,
        }
    }

    /// A file that is not read, and why.
    pub fn withheld(path: PathBuf, says: String) -> Self {
        Self::without(path, FileState::Unknown, Some(says))
    }

    fn without(path: PathBuf, state: FileState, says: Option<String>) -> Self {
        Self {
            shown: FileAsAsked {
                state,
                says,
                parts: Vec::new(),
                changed: false,
            },
            path,
            print: None,
        }
    }

    /// As it is shown; `looks_again` at the file for whether it has changed.
    pub fn shown(&self, looks_again: bool) -> FileAsAsked {
        FileAsAsked {
            changed: looks_again && self.has_changed(),
            ..self.shown.clone()
        }
    }

    fn has_changed(&self) -> bool {
        match (&self.print, self.shown.state) {
            (Some(print), _) => !print.still_holds(&self.path),
            (None, FileState::New) => self.path.symlink_metadata().is_ok(),
            (None, _) => false,
        }
    }
}

impl Print {
    fn of(metadata: &Metadata, bytes: &[u8]) -> Self {
        Self {
            len: bytes.len() as u64,
            modified: modified(metadata),
            digest: blake3::hash(bytes).to_hex().to_string(),
        }
    }

    fn still_holds(&self, path: &Path) -> bool {
        let Ok(metadata) = path.metadata() else {
            return false;
        };
        if metadata.len() != self.len {
            return false;
        }
        if modified(&metadata) == self.modified {
            return true;
        }
        // Touched, and perhaps no more than that.
        open(path)
            .ok()
            .and_then(|file| bytes(&file).ok())
            .is_some_and(|bytes| Self::of(&metadata, &bytes).digest == self.digest)
    }
}

fn modified(metadata: &Metadata) -> u128 {
    let time = metadata.modified().ok();
    let since = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| since.as_nanos())
}

/// The text of a file with its print; none where there is no file. What cannot be shown is a sentence.
fn read(path: &Path) -> Result<Option<(String, Print)>, String> {
    let file = match open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("The file cannot be read: {error}.")),
    };
    let failed = |error: io::Error| format!("The file cannot be read: {error}.");
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err("It is not a file.".to_owned());
    }
    if metadata.len() > MOST as u64 {
        return Err(too_long());
    }
    let bytes = bytes(&file).map_err(failed)?;
    if bytes.len() > MOST {
        return Err(too_long());
    }
    let print = Print::of(&metadata, &bytes);
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(Some((text, print))),
        _ => Err("The file is not text.".to_owned()),
    }
}

fn too_long() -> String {
    format!("The file is longer than {} MiB.", MOST >> 20)
}

/// Opens a file to read it. One that somebody else would have to write to first is not waited for.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    options.open(path)
}

/// The bytes of a file, one more than may be shown at most.
fn bytes(file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(MOST as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text as the call would leave it; none where what it replaces is not there.
fn changed(tool: &str, input: &Value, before: &str) -> Option<String> {
    match tool {
        "Write" => Some(input.get("content")?.as_str()?.to_owned()),
        "Edit" => replaced(before, input),
        "MultiEdit" => {
            let edits = input.get("edits")?.as_array()?;
            let mut text = before.to_owned();
            for edit in edits {
                text = replaced(&text, edit)?;
            }
            Some(text)
        }
        _ => None,
    }
}

fn replaced(text: &str, edit: &Value) -> Option<String> {
    let old = edit.get("old_string")?.as_str()?;
    let new = edit.get("new_string")?.as_str()?;
    if old.is_empty() {
        return text.is_empty().then(|| new.to_owned());
    }
    // The CLI compares lines without their carriage returns, and writes them back.
    let plain = text.replace("\r\n", "\n");
    let text = match text.contains(old) {
        true => text,
        false => &plain,
    };
    text.contains(old)
        .then(|| match edit.get("replace_all").and_then(Value::as_bool) {
            Some(true) => text.replace(old, new),
            _ => text.replacen(old, new, 1),
        })
}

/// What differs between two texts, with the lines around it.
fn parts(before: &str, after: &str) -> Vec<FilePart> {
    let old: Vec<&str> = before.lines().collect();
    let new: Vec<&str> = after.lines().collect();
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let ends = old[head..].iter().rev().zip(new[head..].iter().rev());
    let tail = ends.take_while(|(a, b)| a == b).count();
    let from = head.saturating_sub(CONTEXT);
    let rest = tail.saturating_sub(CONTEXT);
    let (old, new) = (&old[from..old.len() - rest], &new[from..new.len() - rest]);
    let ops = match old.len().max(new.len()) <= COMPARED {
        true => capture_diff_slices(Algorithm::Myers, old, new),
        false => vec![DiffOp::Replace {
            old_index: 0,
            old_len: old.len(),
            new_index: 0,
            new_len: new.len(),
        }],
    };
    let groups = group_diff_ops(ops, CONTEXT).into_iter();
    let part = |group: Vec<DiffOp>| {
        let (first, last) = (group.first()?, group.last()?);
        let was = first.old_range().start..last.old_range().end;
        let is = first.new_range().start..last.new_range().end;
        Some(FilePart {
            line: from + was.start + 1,
            new_line: from + is.start + 1,
            before: old.get(was)?.join("\n"),
            after: new.get(is)?.join("\n"),
        })
    };
    groups.filter_map(part).collect()
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;

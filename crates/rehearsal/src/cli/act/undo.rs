//! What files were like when a message of the user came, so that they can be put back. In memory, for one session.
//!
//! Only files that a tool changed are known; what a shell command changes is not undone, as in the CLI.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::lines;

/// Checkpoints kept; older ones are let go.
const MOST: usize = 100;
const NONE_FOUND: &str = "No file checkpoint found for this message.";

/// The bytes of a file; nothing for one that was not there.
type Contents = Option<Vec<u8>>;

#[derive(Debug)]
struct Checkpoint {
    message: String,
    files: Vec<(PathBuf, Contents)>,
}

/// The checkpoints of a session.
#[derive(Debug, Default)]
pub(super) struct Undo {
    checkpoints: Mutex<Vec<Checkpoint>>,
}

impl Undo {
    /// A message of the user came: files known so far are remembered as they are now.
    pub(super) fn begin(&self, message: &str) {
        let mut checkpoints = self.checkpoints();
        let files = tracked(&checkpoints).into_iter();
        let files = files
            .map(|path| (path.clone(), std::fs::read(&path).ok()))
            .collect();
        if checkpoints.len() >= MOST {
            checkpoints.remove(0);
        }
        checkpoints.push(Checkpoint {
            message: message.to_owned(),
            files,
        });
    }

    /// A tool is about to change the file.
    pub(super) fn before_change(&self, path: &Path) {
        let mut checkpoints = self.checkpoints();
        if let Some(last) = checkpoints.last_mut()
            && !last.files.iter().any(|(known, _)| known == path)
        {
            last.files
                .push((path.to_path_buf(), std::fs::read(path).ok()));
        }
    }

    /// Puts files back to what they were when the message came; a dry run says what would change.
    pub(super) fn rewind(&self, message: &str, dry_run: bool) -> Result<Value, String> {
        let checkpoints = self.checkpoints();
        let Some(index) = checkpoints
            .iter()
            .position(|point| point.message == message)
        else {
            return refused(NONE_FOUND, dry_run);
        };
        let (mut files, mut come, mut go) = (Vec::new(), 0, 0);
        for path in tracked(&checkpoints) {
            let later = checkpoints[index..].iter().flat_map(|point| &point.files);
            let Some((_, then)) = later.into_iter().find(|(known, _)| *known == path) else {
                continue;
            };
            let now = std::fs::read(&path).ok();
            if now == *then {
                continue;
            }
            let text = |bytes: &Contents| {
                String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned()
            };
            let (inserted, deleted) = lines::counts(&text(&now), &text(then));
            (come, go) = (come + inserted, go + deleted);
            files.push(path.to_string_lossy().into_owned());
            if !dry_run {
                put_back(&path, then.as_deref()).map_err(|error| error.to_string())?;
            }
        }
        Ok(match dry_run {
            true => {
                json!({"canRewind": true, "filesChanged": files, "insertions": come, "deletions": go})
            }
            false => json!({"canRewind": true, "skippedLinks": 0}),
        })
    }

    fn checkpoints(&self) -> MutexGuard<'_, Vec<Checkpoint>> {
        self.checkpoints
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why nothing can be put back: an answer to a dry run, an error otherwise.
pub(super) fn refused(text: &str, dry_run: bool) -> Result<Value, String> {
    match dry_run {
        true => Ok(json!({"canRewind": false, "error": text})),
        false => Err(text.to_owned()),
    }
}

/// All files ever changed, in the order they first were.
fn tracked(checkpoints: &[Checkpoint]) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for (path, _) in checkpoints.iter().flat_map(|point| &point.files) {
        if !paths.contains(path) {
            paths.push(path.clone());
        }
    }
    paths
}

fn put_back(path: &Path, contents: Option<&[u8]>) -> std::io::Result<()> {
    match contents {
        Some(bytes) => {
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            std::fs::write(path, bytes)
        }
        None => std::fs::remove_file(path),
    }
}

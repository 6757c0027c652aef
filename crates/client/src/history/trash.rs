//! Deletes sessions so that they can come back.
//!
//! A deleted session is a folder in `<config>/trash-countersign`: a note of where each file came from, and the files.
//! The note is written first, so that a crash in between leaves every file either in its place or in the trash with
//! its origin known. Files are moved, never copied. Invariant: coming back overwrites nothing.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::error::{HistoryError, io};
use super::{SessionUuid, Transcript, Transcripts, list, stamp, subagents};

const FOLDER: &str = "trash-countersign";
const NOTE: &str = "deleted.json";

/// A deleted session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trashed {
    /// The session.
    pub id: SessionUuid,
    /// When it was deleted.
    pub deleted: Option<SystemTime>,
    /// Its folder in the trash.
    pub path: PathBuf,
    note: Note,
}

/// Where the files came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    session: String,
    deleted: String,
    /// The folder's name below `projects`.
    project: String,
    /// Names in that folder.
    files: Vec<String>,
}

impl Transcript {
    /// Moves the session with its sub-agents to the trash. `now` dates it there. End the CLI of the session first:
    /// one that still runs would write to the trash or begin a new file.
    ///
    /// # Errors
    /// When the transcript is gone or a file cannot be moved; what was moved by then can be restored.
    pub fn delete(&self, now: SystemTime) -> Result<Trashed, HistoryError> {
        self.metadata()?;
        let project = self.folder().file_name().unwrap_or_default();
        let note = Note {
            session: self.id.to_string(),
            deleted: stamp::format(now),
            project: project.to_string_lossy().into_owned(),
            files: self.all_files()?,
        };
        let trash = self.config_dir.join(FOLDER);
        std::fs::create_dir_all(&trash).map_err(io("create", &trash))?;
        let place = tempfile::Builder::new()
            .prefix(&format!("{}-", self.id))
            .tempdir_in(&trash);
        let place = place.map_err(io("create a folder in", &trash))?.keep();
        write_note(&place.join(NOTE), &note)?;
        for name in &note.files {
            let from = self.folder().join(name);
            std::fs::rename(&from, place.join(name)).map_err(io("move to the trash", &from))?;
        }
        Ok(Trashed {
            id: self.id.clone(),
            deleted: stamp::parse(&note.deleted),
            path: place,
            note,
        })
    }

    /// Removes the session with its sub-agents. It does not come back.
    ///
    /// # Errors
    /// When the transcript is gone or a file cannot be removed.
    pub fn delete_forever(&self) -> Result<(), HistoryError> {
        self.metadata()?;
        // The transcript last: while it is there, the rest can still be found.
        for name in self.all_files()?.iter().rev() {
            let path = self.folder().join(name);
            remove(&path).map_err(io("remove", &path))?;
        }
        Ok(())
    }

    /// The names in the project's folder that are this session's, the transcript first.
    fn all_files(&self) -> Result<Vec<String>, HistoryError> {
        let mut files = vec![self.id.file_name()];
        let side = self.side_folder();
        if std::fs::symlink_metadata(&side).is_ok_and(|meta| meta.is_dir()) {
            files.push(self.id.to_string());
        }
        for path in subagents::side_files(self.folder(), &self.id)? {
            files.extend(
                path.file_name()
                    .and_then(|name| name.to_str())
                    .map(str::to_owned),
            );
        }
        Ok(files)
    }
}

impl Transcripts {
    /// The deleted sessions, the last deleted first. Folders without a readable note are left out.
    ///
    /// # Errors
    /// When the trash is there and cannot be listed.
    pub fn trash(&self) -> Result<Vec<Trashed>, HistoryError> {
        let folders = list::project_folders(&self.config_dir.join(FOLDER))?;
        let mut trashed: Vec<Trashed> = folders.iter().filter_map(|path| read(path)).collect();
        trashed.sort_by(|a, b| b.deleted.cmp(&a.deleted).then_with(|| a.path.cmp(&b.path)));
        Ok(trashed)
    }

    /// Moves a deleted session back to where it was.
    ///
    /// # Errors
    /// [`HistoryError::Taken`] when something is in its place by now; then nothing is moved.
    pub fn restore(&self, trashed: &Trashed) -> Result<Transcript, HistoryError> {
        let note = &trashed.note;
        let folder = self.projects_dir().join(&note.project);
        std::fs::create_dir_all(&folder).map_err(io("create", &folder))?;
        let moves: Vec<(PathBuf, PathBuf)> = note
            .files
            .iter()
            .map(|name| (trashed.path.join(name), folder.join(name)))
            .collect();
        let there = |path: &Path| std::fs::symlink_metadata(path).is_ok();
        // Of a deletion that was cut short, some files never left.
        let moves = moves.iter().filter(|(from, _)| there(from));
        if let Some((_, path)) = moves.clone().find(|(_, to)| there(to)) {
            return Err(HistoryError::Taken { path: path.clone() });
        }
        for (from, to) in moves {
            std::fs::rename(from, to).map_err(io("move back", from))?;
        }
        std::fs::remove_file(trashed.path.join(NOTE))
            .and_then(|()| std::fs::remove_dir(&trashed.path))
            .map_err(io("remove", &trashed.path))?;
        let path = folder.join(trashed.id.file_name());
        Ok(Transcript::new(
            self.config_dir.clone(),
            trashed.id.clone(),
            path,
        ))
    }
}

impl Trashed {
    /// Removes it from the trash. It does not come back.
    ///
    /// # Errors
    /// [`HistoryError::NotTrash`] when the folder is no deleted session any more, or when it cannot be removed.
    pub fn remove_forever(self) -> Result<(), HistoryError> {
        if read(&self.path).as_ref() != Some(&self) {
            return Err(HistoryError::NotTrash { path: self.path });
        }
        std::fs::remove_dir_all(&self.path).map_err(io("remove", &self.path))
    }
}

fn write_note(path: &Path, note: &Note) -> Result<(), HistoryError> {
    let text = serde_json::to_vec(note).map_err(|error| io("write", path)(error.into()))?;
    let mut file = std::fs::File::create_new(path).map_err(io("create", path))?;
    file.write_all(&text)
        .and_then(|()| file.sync_all())
        .map_err(io("write", path))
}

fn read(path: &Path) -> Option<Trashed> {
    let note: Note = serde_json::from_slice(&std::fs::read(path.join(NOTE)).ok()?).ok()?;
    // A note decides where files go: it may only name things in one project's folder.
    let plain = |name: &String| {
        let mut parts = Path::new(name).components();
        matches!(parts.next(), Some(std::path::Component::Normal(part)) if part == name.as_str())
            && parts.next().is_none()
    };
    let fits = plain(&note.project)
        && note.files.iter().all(plain)
        && !note.files.iter().any(|name| name == NOTE);
    fits.then_some(())?;
    Some(Trashed {
        id: SessionUuid::parse(&note.session).ok()?,
        deleted: stamp::parse(&note.deleted),
        path: path.to_owned(),
        note,
    })
}

fn remove(path: &Path) -> std::io::Result<()> {
    if std::fs::symlink_metadata(path)?.is_dir() {
        std::fs::remove_dir_all(path)
    } else {
        std::fs::remove_file(path)
    }
}

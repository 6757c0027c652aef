//! Lists the sessions of one or more project folders, newest first.
//!
//! All files are looked at for their age; only those that are shown are opened.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::error::{HistoryError, io};
use super::info::{self, SessionInfo};
use super::key::{self, project_key};
use super::{SessionUuid, worktrees};

/// What a list holds.
#[derive(Debug, Clone, Default)]
pub struct ListOptions {
    /// How many sessions at most; all by default.
    pub limit: Option<usize>,
    /// How many to pass over first.
    pub offset: usize,
    /// Also the sessions of the other working trees of the same git repository. Of no effect on a list of all
    /// projects.
    pub include_worktrees: bool,
    /// Leave out what a program started.
    pub hide_programmatic: bool,
}

/// The sessions of one working directory.
#[derive(Debug, Clone)]
pub struct Project {
    projects_dir: PathBuf,
    cwd: PathBuf,
}

impl Project {
    pub(super) fn of(projects_dir: PathBuf, cwd: &Path) -> Self {
        let cwd = key::real_path(cwd);
        Self { projects_dir, cwd }
    }

    /// The working directory, without links.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The folder a CLI that runs in [`Project::cwd`] writes to. With a very long path there may be another one,
    /// of a build with another hash; lists find both.
    pub fn folder(&self) -> PathBuf {
        self.projects_dir
            .join(project_key(&self.cwd.to_string_lossy()))
    }

    /// Whether a transcript lies in this project's folder.
    pub fn holds(&self, transcript: &Path) -> bool {
        let key = project_key(&self.cwd.to_string_lossy());
        transcript.parent().is_some_and(|folder| {
            folder.parent() == Some(&self.projects_dir)
                && folder
                    .file_name()
                    .is_some_and(|name| key::matches(&name.to_string_lossy(), &key))
        })
    }

    /// The sessions, newest first.
    ///
    /// # Errors
    /// When a folder is there and cannot be listed. A file that cannot be read is left out.
    pub fn list(&self, options: &ListOptions) -> Result<Vec<SessionInfo>, HistoryError> {
        let mut roots = Vec::new();
        if options.include_worktrees {
            roots = worktrees::of(&self.cwd);
        }
        let own = project_key(&self.cwd.to_string_lossy());
        let keys: Vec<String> = roots
            .iter()
            .map(|root| project_key(&root.to_string_lossy()))
            .collect();
        let mut folders = project_folders(&self.projects_dir)?;
        folders.retain(|folder| {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            key::matches(&name, &own)
                || keys
                    .iter()
                    .any(|key| key::matches(&name, key) || within(&name, key))
        });
        let own_folder = |path: &Path| self.holds(path);
        // A folder name does not tell `tree/sub` from `tree-sub`: where the session was started does.
        list_folders(&folders, options, |info| {
            own_folder(&info.path)
                || info
                    .cwd
                    .as_deref()
                    .is_some_and(|cwd| roots.iter().any(|root| cwd.starts_with(root)))
        })
    }
}

fn within(name: &str, key: &str) -> bool {
    name.strip_prefix(key)
        .is_some_and(|rest| rest.starts_with('-'))
}

/// All project folders, by name; links are left out.
pub(super) fn project_folders(projects_dir: &Path) -> Result<Vec<PathBuf>, HistoryError> {
    let entries = match std::fs::read_dir(projects_dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io("list", projects_dir)(error)),
    };
    let mut folders = Vec::new();
    for entry in entries {
        let entry = entry.map_err(io("list", projects_dir))?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            folders.push(entry.path());
        }
    }
    folders.sort();
    Ok(folders)
}

/// The sessions of these folders that `keep` wants, newest first.
pub(super) fn list_folders(
    folders: &[PathBuf],
    options: &ListOptions,
    keep: impl Fn(&SessionInfo) -> bool,
) -> Result<Vec<SessionInfo>, HistoryError> {
    let mut files = Vec::new();
    for folder in folders {
        files.extend(transcripts(folder)?);
    }
    files.sort_by(|a, b| {
        b.modified
            .cmp(&a.modified)
            .then_with(|| a.path.cmp(&b.path))
    });
    // A file that is gone or unreadable by now is no reason to show nothing.
    let infos = files
        .iter()
        .filter_map(|file| info::read(&file.id, &file.path, &file.meta).ok().flatten());
    let infos = infos.filter(|info| !(options.hide_programmatic && info.is_programmatic()));
    let shown = infos.filter(|info| keep(info)).skip(options.offset);
    Ok(shown.take(options.limit.unwrap_or(usize::MAX)).collect())
}

struct Found {
    id: SessionUuid,
    path: PathBuf,
    modified: SystemTime,
    meta: Metadata,
}

fn transcripts(folder: &Path) -> Result<Vec<Found>, HistoryError> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(io("list", folder))? {
        let entry = entry.map_err(io("list", folder))?;
        let name = entry.file_name();
        let id = name.to_str().and_then(|name| name.strip_suffix(".jsonl"));
        let Some(Ok(id)) = id.map(SessionUuid::parse) else {
            continue;
        };
        // Of the entry itself, not of what a link points to.
        let Ok(meta) = entry.metadata() else { continue };
        let Ok(modified) = meta.modified() else {
            continue;
        };
        if meta.is_file() && meta.len() > 0 {
            let path = entry.path();
            found.push(Found {
                id,
                path,
                modified,
                meta,
            });
        }
    }
    Ok(found)
}

//! Where everything lies in the data folder.
//!
//! Owns the layout: the database and its lock, a folder for each session with its journal, sockets, worktrees, the trash.
//! Invariant: every folder of ours is for this user alone.

use std::io;
use std::path::{Path, PathBuf};

use crate::control::SessionId;

/// The data folder.
#[derive(Debug, Clone)]
pub struct Folders {
    root: PathBuf,
}

impl Folders {
    /// Makes what is missing.
    ///
    /// # Errors
    /// When a folder cannot be made, or is not this user's alone and cannot be made so.
    pub fn open(root: &Path) -> io::Result<Self> {
        let folders = Self {
            root: std::path::absolute(root)?,
        };
        for folder in [
            folders.root.clone(),
            folders.sessions(),
            folders.run(),
            folders.worktrees(),
            folders.trash(),
        ] {
            make_private(&folder)?;
        }
        Ok(folders)
    }

    /// Whether this is a data folder, be it one whose database is lost. Touches nothing.
    pub(crate) fn are_in(root: &Path) -> bool {
        let folders = Self {
            root: root.to_owned(),
        };
        folders.database().is_file() || folders.sessions().is_dir()
    }

    /// The data folder of whoever has these variables: `countersign` in `XDG_DATA_HOME`, else in `.local/share` of the home.
    pub fn of_user(variable: impl Fn(&str) -> Option<std::ffi::OsString>) -> Option<PathBuf> {
        let set = |name: &str| {
            variable(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let data = set("XDG_DATA_HOME").or_else(|| Some(set("HOME")?.join(".local/share")))?;
        Some(data.join("countersign"))
    }

    /// All of it.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The database.
    pub fn database(&self) -> PathBuf {
        self.root.join("host.db")
    }

    /// The folders of the sessions.
    pub fn sessions(&self) -> PathBuf {
        self.root.join("sessions")
    }

    /// The folder of one session.
    pub fn session(&self, id: SessionId) -> PathBuf {
        self.sessions().join(id.to_string())
    }

    /// The sockets of the keepers.
    pub fn run(&self) -> PathBuf {
        self.root.join("run")
    }

    /// The worktrees of sessions that have one.
    pub fn worktrees(&self) -> PathBuf {
        self.root.join("worktrees")
    }

    /// Files that people hand to agents: beside the data folder, which is closed to agents.
    pub fn uploads(&self) -> PathBuf {
        uploads_of(&self.root)
    }

    /// What was removed.
    pub fn trash(&self) -> PathBuf {
        self.root.join("trash")
    }

    /// The key that the secrets of keepers are made from.
    pub(crate) fn host_key(&self) -> PathBuf {
        self.root.join("host.key")
    }

    /// The key that seals of journals are signed with.
    pub fn seal_key(&self) -> PathBuf {
        self.root.join("seal.key")
    }

    /// Its public half, as text.
    pub fn seal_public(&self) -> PathBuf {
        self.root.join("seal.pub")
    }

    /// Every session that has a folder.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn all_sessions(&self) -> io::Result<Vec<SessionId>> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(self.sessions())? {
            let entry = entry?;
            let name = entry.file_name();
            if let Some(id) = name.to_str().and_then(|name| name.parse().ok()) {
                found.push(id);
            }
        }
        found.sort_unstable();
        Ok(found)
    }
}

/// The folder of uploads that belongs to a data folder.
pub(crate) fn uploads_of(data: &Path) -> PathBuf {
    let mut name = data.file_name().unwrap_or_default().to_owned();
    name.push("-uploads");
    data.with_file_name(name)
}

#[cfg(unix)]
fn make_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
    let made = std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder);
    made?;
    let permissions = std::fs::metadata(folder)?.permissions();
    if permissions.mode() & 0o077 != 0 {
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn make_private(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_private_and_sessions_are_found_by_name() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("data");
        std::fs::create_dir(&root).unwrap();
        let folders = Folders::open(&root).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(&root).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
        let id = SessionId::new(1_000, 4);
        std::fs::create_dir(folders.session(id)).unwrap();
        std::fs::create_dir(folders.sessions().join("something else")).unwrap();
        assert_eq!(folders.all_sessions().unwrap(), [id]);
    }
}

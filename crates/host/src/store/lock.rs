//! One host for a data folder.
//!
//! Owns [`HostLock`]: `host.lock`, held as long as the host lives, with its pid and its epoch in it. The system lets go
//! of it when the process ends, however it ends. Invariant: two hosts on one folder never both have it, so folders on
//! other machines, where locks prove nothing, are refused.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{StoreError, open};

/// The name of the lock.
const NAME: &str = "host.lock";

/// The longest content that is ours.
const LONGEST: u64 = 4096;

/// Why the folder cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// Another host has it.
    #[error("{} has a host already, running as pid {pid}: use that one, or stop it first", dir.display())]
    Held {
        /// The folder.
        dir: PathBuf,
        /// Who has it; 0 if it has not said yet.
        pid: u32,
    },
    /// The folder is on another machine.
    #[error("{} is on a network file system, where locks prove nothing: name a folder on a disk of this machine", .0.display())]
    Network(PathBuf),
    /// The folder or the lock cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What stands in the lock: who has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Holder {
    pid: u32,
    /// The last epoch that this folder has seen, should the database be put back to an older copy.
    #[serde(default)]
    epoch: u64,
}

/// The right to be the host of a data folder.
#[derive(Debug)]
pub struct HostLock {
    dir: PathBuf,
    file: File,
    /// As the last host left it.
    epoch: u64,
}

impl Drop for HostLock {
    fn drop(&mut self) {
        // A child that is about to become another program may hold the file for a moment longer.
        let _ = self.file.unlock();
    }
}

impl HostLock {
    /// Takes the folder, made if it is not there.
    ///
    /// # Errors
    /// When another host has it, or it is on a network file system.
    pub fn take(dir: &Path) -> Result<Self, LockError> {
        Self::take_where(dir, is_on_network)
    }

    fn take_where(dir: &Path, is_on_network: impl Fn(&Path) -> bool) -> Result<Self, LockError> {
        make_private(dir)?;
        if is_on_network(dir) {
            return Err(LockError::Network(dir.to_owned()));
        }
        let path = dir.join(NAME);
        let file = open::private(&path, OpenOptions::new().create(true).read(true))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(LockError::Held {
                    dir: dir.to_owned(),
                    pid: read(&file).pid,
                });
            }
            Err(TryLockError::Error(error)) => {
                let what = format!("{} cannot be locked", path.display());
                return Err(StoreError::io(what, error).into());
            }
        }
        let mut lock = Self {
            dir: dir.to_owned(),
            epoch: read(&file).epoch,
            file,
        };
        lock.note(lock.epoch)?;
        Ok(lock)
    }

    /// The data folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The last epoch that was noted here.
    pub(super) fn last_epoch(&self) -> u64 {
        self.epoch
    }

    /// Notes who has the folder, and as which epoch.
    pub(super) fn note(&mut self, epoch: u64) -> Result<(), StoreError> {
        let holder = Holder {
            pid: std::process::id(),
            epoch,
        };
        let mut text = serde_json::to_vec(&holder).unwrap_or_default();
        text.push(b'\n');
        // In place: another file of this name would be another lock.
        let mut file = &self.file;
        let noted = file
            .rewind()
            .and_then(|()| file.write_all(&text))
            .and_then(|()| file.set_len(text.len() as u64))
            .and_then(|()| file.sync_all());
        noted.map_err(|error| StoreError::io(format!("{NAME} cannot be written"), error))?;
        self.epoch = epoch;
        Ok(())
    }
}

/// What stands in the lock. One that was cut off or is empty says nothing.
fn read(mut file: &File) -> Holder {
    let mut text = Vec::new();
    let read = file
        .rewind()
        .and_then(|()| file.take(LONGEST).read_to_end(&mut text));
    match read {
        Ok(_) => serde_json::from_slice(&text).unwrap_or_default(),
        Err(_) => Holder::default(),
    }
}

/// The data folder, that only its owner may enter, whoever made it.
fn make_private(dir: &Path) -> Result<(), StoreError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let refused = |error| StoreError::io(format!("{} cannot be used", dir.display()), error);
    builder.create(dir).map_err(refused)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(dir)
            .map_err(refused)?
            .permissions()
            .mode();
        if mode & 0o1000 != 0 {
            let why = "is for many: name a folder of its own";
            return Err(StoreError::Invalid(format!("{} {why}", dir.display())));
        }
        if mode & 0o077 != 0 {
            let owner = std::fs::Permissions::from_mode(0o700);
            std::fs::set_permissions(dir, owner).map_err(refused)?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn is_on_network(dir: &Path) -> bool {
    countersign_keeper::is_on_network(dir)
}

#[cfg(not(unix))]
fn is_on_network(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_on_another_machine_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let dir = place.path().join("data");
        let refused = HostLock::take_where(&dir, |asked| asked == dir).unwrap_err();
        assert!(matches!(refused, LockError::Network(_)), "{refused}");
        assert!(refused.to_string().contains("network"));
        assert!(!dir.join(NAME).exists(), "nothing is left there");
        HostLock::take_where(&dir, |_| false).unwrap();
    }
}

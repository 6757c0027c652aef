//! Locks on files: who holds one, lives.
//!
//! Owns taking and asking. The system releases a lock with the last process that holds its file open, however that
//! process ends, so "free" proves an end that no number of a process can.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

/// How long a lock is tried for: whoever only asks about it holds it for a moment, too.
const PATIENCE: Duration = Duration::from_millis(250);

/// Takes the lock, or says with None that another has it. It is held as long as the file is open.
pub(crate) fn take(path: &Path) -> io::Result<Option<File>> {
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(path)?;
    let until = Instant::now() + PATIENCE;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Some(file)),
            Err(rustix::io::Errno::WOULDBLOCK) if Instant::now() >= until => return Ok(None),
            Err(rustix::io::Errno::WOULDBLOCK) => std::thread::sleep(Duration::from_millis(5)),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Whether this lock is the one that others find under that path. Where that cannot be said, it is.
pub(crate) fn is_at(lock: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(held) = lock.metadata() else {
        return true;
    };
    match std::fs::metadata(path) {
        Ok(found) => (found.dev(), found.ino()) == (held.dev(), held.ino()),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// Whether somebody has the lock. A file that is not there is held by nobody.
pub(crate) fn is_held(path: &Path) -> io::Result<bool> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(false),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_has_one_holder_and_is_free_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.lock");
        assert!(!is_held(&path).unwrap());
        let held = take(&path).unwrap().unwrap();
        assert!(is_held(&path).unwrap());
        assert!(take(&path).unwrap().is_none());
        assert!(is_at(&held, &path));
        std::fs::remove_file(&path).unwrap();
        assert!(!is_at(&held, &path));
        let other = take(&path).unwrap().unwrap();
        assert!(!is_at(&held, &path), "another one has the name");
        drop((held, other));
        assert!(!is_held(&path).unwrap());
        assert!(take(&path).unwrap().is_some());
    }
}

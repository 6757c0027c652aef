//! Where a keeper listens: a path short enough for a socket, bound anew when its file has gone.
//!
//! Owns the choice of the path and the file. Invariants: a file is unlinked only if nobody listens behind it; a folder
//! is used only if it is ours and closed to everybody else.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::io::{Errno, ioctl_fionbio};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect, socket};

use crate::folder::{close_to_others, make_private};

/// The longest path of a socket; systems take 104 bytes or 108.
const LONGEST: usize = 100;

/// How many names are tried when others listen behind the first ones.
const NAMES: u32 = 16;

/// A socket that is listened on.
#[derive(Debug)]
pub(crate) struct Listening {
    pub(crate) listener: UnixListener,
    pub(crate) path: PathBuf,
    file: (u64, u64),
}

impl Listening {
    /// Listens in `run`, or in the temp directory if that path is too long. `whose` makes the name.
    pub(crate) fn bind(run: &Path, whose: &Path) -> io::Result<Self> {
        let folder = folder(run)?;
        for attempt in 0..NAMES {
            let path = folder.join(name(whose, attempt));
            if is_listened_on(&path) {
                continue;
            }
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let listener = UnixListener::bind(&path)?;
            listener.set_nonblocking(true)?;
            let file = identity(&path).ok_or(io::ErrorKind::NotFound)?;
            return Ok(Self {
                listener,
                path,
                file,
            });
        }
        Err(io::ErrorKind::AddrInUse.into())
    }

    /// Whether the file is still the one that leads here.
    pub(crate) fn is_there(&self) -> bool {
        identity(&self.path) == Some(self.file)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if self.is_there() {
            // Whoever finds it later unlinks it then.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Whether somebody listens there. Never waits: one whose queue is full listens, too.
pub(crate) fn is_listened_on(path: &Path) -> bool {
    let asked = SocketAddrUnix::new(path).and_then(|address| {
        let socket = socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
        ioctl_fionbio(&socket, true)?;
        connect(&socket, &address)
    });
    matches!(asked, Ok(()) | Err(Errno::AGAIN))
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    let found = std::fs::symlink_metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

/// Eight hex digits: a hash (FNV-1a), since a session's name may be long.
fn name(whose: &Path, attempt: u32) -> String {
    let bytes = whose.as_os_str().as_encoded_bytes();
    let hash = bytes
        .iter()
        .chain(&attempt.to_le_bytes())
        .fold(0x811c_9dc5_u32, |hash, byte| {
            (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
        });
    format!("{hash:08x}.s")
}

fn is_short_enough(folder: &Path) -> bool {
    folder.as_os_str().len() + "/00000000.s".len() <= LONGEST
}

/// The folder for the socket, made if need be.
fn folder(run: &Path) -> io::Result<PathBuf> {
    let uid = rustix::process::getuid().as_raw();
    if is_short_enough(run) {
        make_private(run)?;
        close_if_own(run, uid)?;
        verify(run, uid)?;
        return Ok(run.to_owned());
    }
    let folder = std::env::temp_dir().join(format!("countersign-{uid}"));
    if !is_short_enough(&folder) {
        let why = format!(
            "{} is too long for a socket: set TMPDIR to a shorter one",
            folder.display()
        );
        return Err(io::Error::new(io::ErrorKind::InvalidFilename, why));
    }
    make_private(&folder)?;
    verify(&folder, uid)?;
    Ok(folder)
}

/// A folder that was ordered is closed if it was made open; what is not ours is left as it is.
fn close_if_own(folder: &Path, uid: u32) -> io::Result<()> {
    let found = std::fs::symlink_metadata(folder)?;
    if found.is_dir() && found.uid() == uid {
        close_to_others(folder)?;
    }
    Ok(())
}

/// Everybody may make folders in the temp directory, so another may have made this one.
fn verify(folder: &Path, uid: u32) -> io::Result<()> {
    let found = std::fs::symlink_metadata(folder)?;
    if found.is_dir() && found.uid() == uid && found.mode() & 0o077 == 0 {
        return Ok(());
    }
    let why = format!(
        "{} is not a folder of ours that is closed to others: remove it",
        folder.display()
    );
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_stale_file_is_replaced_and_a_live_one_is_not() {
        let run = tempfile::tempdir().unwrap();
        let whose = Path::new("/sessions/one");
        let first = Listening::bind(run.path(), whose).unwrap();
        let second = Listening::bind(run.path(), whose).unwrap();
        assert_ne!(first.path, second.path);
        assert!(first.is_there() && second.is_there());
        // A file whose listener was killed.
        let stale = first.path.clone();
        drop(first);
        drop(UnixListener::bind(&stale).unwrap());
        assert!(stale.exists());
        let third = Listening::bind(run.path(), whose).unwrap();
        assert_eq!(third.path, stale);
    }

    #[test]
    fn a_file_that_was_removed_or_replaced_is_noticed_and_not_unlinked() {
        let run = tempfile::tempdir().unwrap();
        let first = Listening::bind(run.path(), Path::new("/s")).unwrap();
        std::fs::remove_file(&first.path).unwrap();
        assert!(!first.is_there());
        let path = first.path.clone();
        let second = Listening::bind(run.path(), Path::new("/s")).unwrap();
        assert_eq!(second.path, path);
        drop(first);
        assert!(second.is_there());
    }

    #[test]
    fn a_path_that_is_too_long_goes_to_a_folder_of_our_own() {
        let long = PathBuf::from(format!("/{}", "x".repeat(LONGEST)));
        assert!(!is_short_enough(&long));
        let found = folder(&long).unwrap();
        assert!(is_short_enough(&found));
        let mode = std::fs::symlink_metadata(&found).unwrap().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn a_folder_for_sockets_that_was_made_open_is_closed_and_a_link_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let run = place.path().join("run");
        std::fs::create_dir(&run).unwrap();
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&run, open).unwrap();
        let link = place.path().join("link");
        std::os::unix::fs::symlink(&run, &link).unwrap();
        assert!(folder(&link).is_err());
        assert_eq!(std::fs::metadata(&run).unwrap().mode() & 0o777, 0o755);
        assert_eq!(folder(&run).unwrap(), run);
        assert_eq!(std::fs::metadata(&run).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_folder_that_others_may_enter_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let uid = rustix::process::getuid().as_raw();
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.path(), open).unwrap();
        assert!(verify(folder.path(), uid).is_err());
        let closed = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(folder.path(), closed).unwrap();
        assert!(verify(folder.path(), uid).is_ok());
        assert!(verify(folder.path(), uid + 1).is_err());
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path(), &link).unwrap();
        assert!(verify(&link, uid).is_err());
    }
}

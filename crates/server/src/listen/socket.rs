//! The socket for tools of this machine.
//!
//! Owns its file and who is let in: this user, and nobody whom an agent has started. Invariants: its folder is ours, closed
//! to others and no link; a file is removed only if it is a socket that nobody listens behind.

use std::fs;
use std::io;
use std::os::unix::fs::{
    DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixStream};

use super::ListenError;
use super::peer::{Peer, Shut};

/// The longest path of a socket; systems take 104 bytes or 108.
const LONGEST: usize = 100;

/// A socket that is listened on. Its file goes with it.
#[derive(Debug)]
pub(super) struct Socket {
    listener: UnixListener,
    path: PathBuf,
    file: (u64, u64),
}

impl Socket {
    pub(super) fn bind(path: &Path) -> Result<Self, ListenError> {
        let failed = |source| ListenError::Socket {
            path: path.to_owned(),
            source,
        };
        if path.as_os_str().len() > LONGEST {
            return Err(failed(io::Error::new(
                io::ErrorKind::InvalidFilename,
                format!(
                    "a socket's path has at most {LONGEST} bytes: choose a shorter data folder"
                ),
            )));
        }
        let folder = path.parent().ok_or(io::ErrorKind::InvalidFilename.into());
        folder.and_then(private).map_err(failed)?;
        make_room(path)?;
        let listener = UnixListener::bind(path).map_err(failed)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(failed)?;
        let file = identity(path).ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
        Ok(Self {
            listener,
            path: path.to_owned(),
            file,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) async fn accept(&self) -> io::Result<UnixStream> {
        self.listener.accept().await.map(|(stream, _)| stream)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if identity(&self.path) == Some(self.file) {
            // Whoever finds it later removes it then.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Who is at the other end. Reads `/proc`: not for the thread of a runtime.
pub(super) fn peer(cred: io::Result<tokio::net::unix::UCred>) -> Peer {
    let uid = rustix::process::getuid().as_raw();
    let found = cred.ok().map(|cred| (cred.uid(), cred.pid()));
    let is_from_agent = countersign_process::is_from_agent;
    Peer::socket(admit(
        found,
        uid,
        is_from_agent,
        countersign_process::can_look,
    ))
}

/// What cannot be told counts against the peer.
fn admit(
    peer: Option<(u32, Option<i32>)>,
    uid: u32,
    is_from_agent: impl FnOnce(u32) -> Option<bool>,
    can_look: impl FnOnce() -> bool,
) -> Result<(), Shut> {
    let Some((_, pid)) = peer.filter(|(of, _)| *of == uid) else {
        return Err(Shut::OtherUser);
    };
    let pid = pid
        .and_then(|pid| u32::try_from(pid).ok())
        .filter(|pid| *pid != 0);
    match pid.and_then(is_from_agent) {
        Some(false) => Ok(()),
        // What cannot be opened looks as if it could not be told.
        _ if !can_look() => Err(Shut::NoDescriptors),
        _ => Err(Shut::FromAgent),
    }
}

/// The folder has to be ours alone. One that is missing is made, one that was made open is closed; a link is refused.
fn private(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    let found = fs::symlink_metadata(folder)?;
    let is_ours = found.uid() == rustix::process::getuid().as_raw();
    // A sticky folder is meant for many, as temp folders are.
    if !found.is_dir() || !is_ours || found.mode() & 0o1000 != 0 {
        let why = format!(
            "{} is not a folder of this user alone (or a link): remove it or name another",
            folder.display()
        );
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    if found.mode() & 0o077 != 0 {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Removes a socket that a server left which was killed.
fn make_room(path: &Path) -> Result<(), ListenError> {
    let failed = |source| ListenError::Socket {
        path: path.to_owned(),
        source,
    };
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other.map_err(failed)?,
    };
    if !found.file_type().is_socket() {
        let why = "it is no socket: remove it, or name another data folder";
        return Err(failed(io::Error::new(io::ErrorKind::AlreadyExists, why)));
    }
    match std::os::unix::net::UnixStream::connect(path) {
        Ok(_) => Err(ListenError::Taken {
            path: path.to_owned(),
        }),
        Err(_) => fs::remove_file(path).map_err(failed),
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    let found = fs::symlink_metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_user_and_nobody_from_an_agent_is_let_in() {
        let person = |_| Some(false);
        let looks = || true;
        assert_eq!(admit(Some((7, Some(9))), 7, person, looks), Ok(()));
        let other = Err(Shut::OtherUser);
        assert_eq!(admit(Some((8, Some(9))), 7, person, looks), other);
        assert_eq!(admit(Some((0, Some(9))), 7, person, looks), other);
        assert_eq!(admit(None, 7, person, looks), other);
        let agent = Err(Shut::FromAgent);
        assert_eq!(admit(Some((7, Some(9))), 7, |_| Some(true), looks), agent);
        assert_eq!(admit(Some((7, Some(9))), 7, |_| None, looks), agent);
        assert_eq!(admit(Some((7, None)), 7, person, looks), agent);
        assert_eq!(admit(Some((7, Some(0))), 7, person, looks), agent);
    }

    #[test]
    fn without_a_file_to_look_with_nobody_is_taken_for_an_agent_and_no_other_user_let_in() {
        let (person, blind) = (|_| Some(false), || false);
        let without = Err(Shut::NoDescriptors);
        assert_eq!(admit(Some((7, Some(9))), 7, |_| None, blind), without);
        assert_eq!(admit(Some((7, Some(9))), 7, person, blind), Ok(()));
        let other = Err(Shut::OtherUser);
        assert_eq!(admit(Some((8, Some(9))), 7, |_| None, blind), other);
    }
}

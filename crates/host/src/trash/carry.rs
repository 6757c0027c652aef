//! Moves a thing: by a new name, or to another disk by copy, comparison and removal.
//!
//! Owns the order: everything is copied and compared before anything of the original goes, and of the original goes only
//! what was copied and has not changed since. Keeps contents, modes, times of change and links as links; not owners,
//! extended attributes or hard links. Invariant: follows no link, replaces nothing.

use std::fs::{self, File, FileTimes, Metadata, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::TrashError;

/// How much is read at a time.
const CHUNK: usize = 128 * 1024;

/// What was copied, folders before what is in them.
#[derive(Debug)]
pub(super) struct Copied(Vec<Piece>);

#[derive(Debug)]
struct Piece {
    /// Below the thing; empty for the thing itself.
    path: PathBuf,
    kind: Kind,
    seen: Seen,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Folder,
    File([u8; 32]),
    Link,
}

/// By which a change shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    device: u64,
    inode: u64,
    len: u64,
    changed: (i64, i64),
}

impl Seen {
    fn of(found: &Metadata) -> Self {
        Self {
            device: found.dev(),
            inode: found.ino(),
            // The length of a folder is the file system's affair.
            len: if found.is_dir() { 0 } else { found.len() },
            changed: (found.mtime(), found.mtime_nsec()),
        }
    }

    fn still_holds(self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|found| Self::of(&found) == self)
    }
}

/// Gives it a new name, if nothing has that name.
pub(super) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match rename_exclusive(from, to) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            rename_read_only(from, to).unwrap_or(Err(error))
        }
        done => done,
    }
}

/// A folder that its owner may not write to cannot get another parent: its entry `..` would change.
fn rename_read_only(from: &Path, to: &Path) -> Option<io::Result<()>> {
    let found = fs::symlink_metadata(from).ok()?;
    let mode = found.permissions().mode();
    if !found.is_dir() || mode & 0o200 != 0 {
        return None;
    }
    fs::set_permissions(from, Permissions::from_mode(mode | 0o200)).ok()?;
    let moved = rename_exclusive(from, to);
    let now_at = if moved.is_ok() { to } else { from };
    let _ = fs::set_permissions(now_at, Permissions::from_mode(mode));
    Some(moved)
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn rename_exclusive(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // The file system does not know the flag.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => rename_after_look(from, to),
        done => done.map_err(Into::into),
    }
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn rename_exclusive(from: &Path, to: &Path) -> io::Result<()> {
    rename_after_look(from, to)
}

/// Weaker: something that appears between the look and the rename is replaced, if it is a file or an empty folder.
fn rename_after_look(from: &Path, to: &Path) -> io::Result<()> {
    match fs::symlink_metadata(to) {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::rename(from, to),
        Err(error) => Err(error),
    }
}

/// Copies `from` to `to`, where nothing may be, and compares the two.
pub(super) fn copy(from: &Path, to: &Path) -> Result<Copied, TrashError> {
    let mut pieces = Vec::new();
    let mut ahead = vec![PathBuf::new()];
    while let Some(path) = ahead.pop() {
        let (source, target) = (join(from, &path), join(to, &path));
        let found = fs::symlink_metadata(&source).map_err(TrashError::io(&source))?;
        let kind = copy_one(&source, &target, &found)?;
        if kind == Kind::Folder {
            for entry in fs::read_dir(&source).map_err(TrashError::io(&source))? {
                let entry = entry.map_err(TrashError::io(&source))?;
                ahead.push(path.join(entry.file_name()));
            }
        }
        let seen = Seen::of(&found);
        pieces.push(Piece { path, kind, seen });
    }
    for piece in pieces.iter().rev() {
        finish(from, to, piece)?;
    }
    Ok(Copied(pieces))
}

/// `join("")` would add a slash, which is no name of a file.
fn join(root: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() {
        root.to_owned()
    } else {
        root.join(below)
    }
}

fn copy_one(source: &Path, target: &Path, found: &Metadata) -> Result<Kind, TrashError> {
    let kind = found.file_type();
    if kind.is_dir() {
        super::make_one_private(target).map_err(TrashError::io(target))?;
        Ok(Kind::Folder)
    } else if kind.is_symlink() {
        let leads_to = fs::read_link(source).map_err(TrashError::io(source))?;
        std::os::unix::fs::symlink(leads_to, target).map_err(TrashError::io(target))?;
        Ok(Kind::Link)
    } else if kind.is_file() {
        copy_file(source, target).map(Kind::File)
    } else {
        Err(TrashError::Refused {
            path: source.to_owned(),
            why: "a pipe, a socket or a device cannot be copied to another disk: remove it first",
        })
    }
}

fn copy_file(source: &Path, target: &Path) -> Result<[u8; 32], TrashError> {
    let mut new = File::options();
    new.write(true).create_new(true).mode(0o600);
    let mut file = new.open(target).map_err(TrashError::io(target))?;
    let hash = read_through(source, |bytes| file.write_all(bytes))?;
    file.sync_all().map_err(TrashError::io(target))?;
    Ok(hash)
}

/// Reads a file to its end and hands on each piece. The hash is of what was read.
fn read_through(
    path: &Path,
    mut to: impl FnMut(&[u8]) -> io::Result<()>,
) -> Result<[u8; 32], TrashError> {
    let no_follow = rustix::fs::OFlags::NOFOLLOW.bits() as i32;
    let mut file = File::options()
        .read(true)
        .custom_flags(no_follow)
        .open(path)
        .map_err(TrashError::io(path))?;
    let mut hash = blake3::Hasher::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        let len = match file.read(&mut chunk) {
            Ok(0) => return Ok(*hash.finalize().as_bytes()),
            Ok(len) => len,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(TrashError::io(path)(error)),
        };
        hash.update(&chunk[..len]);
        to(&chunk[..len]).map_err(TrashError::io(path))?;
    }
}

/// Compares a piece with its copy, and gives the copy the mode and time of the original.
fn finish(from: &Path, to: &Path, piece: &Piece) -> Result<(), TrashError> {
    let (source, target) = (join(from, &piece.path), join(to, &piece.path));
    let is_same = match piece.kind {
        Kind::File(hash) => read_through(&target, |_| Ok(()))? == hash,
        Kind::Link => fs::read_link(&source).ok() == fs::read_link(&target).ok(),
        Kind::Folder => true,
    };
    if !is_same || !piece.seen.still_holds(&source) {
        return Err(TrashError::Changed(source));
    }
    if piece.kind == Kind::Link {
        return Ok(());
    }
    let found = fs::symlink_metadata(&source).map_err(TrashError::io(&source))?;
    let dressed = File::open(&target).and_then(|copy| {
        if let Ok(changed) = found.modified() {
            copy.set_times(FileTimes::new().set_modified(changed))?;
        }
        copy.set_permissions(found.permissions())?;
        copy.sync_all()
    });
    dressed.map_err(TrashError::io(&target))
}

/// Removes the original, as far as it is what was copied. Stops at the first thing that is new or has changed.
pub(super) fn remove(from: &Path, copied: &Copied) -> io::Result<()> {
    for piece in copied.0.iter().rev() {
        let path = join(from, &piece.path);
        match piece.kind {
            // A folder in which something new has appeared is not empty, and stays.
            Kind::Folder => remove_below_read_only(&path, |path| fs::remove_dir(path))?,
            Kind::File(_) | Kind::Link => {
                if !piece.seen.still_holds(&path) {
                    let why = format!("{} changed meanwhile", path.display());
                    return Err(io::Error::other(why));
                }
                remove_below_read_only(&path, |path| fs::remove_file(path))?;
            }
        }
    }
    Ok(())
}

fn remove_below_read_only(path: &Path, remove: impl Fn(&Path) -> io::Result<()>) -> io::Result<()> {
    match (remove(path), path.parent()) {
        (Err(error), Some(parent)) if error.kind() == io::ErrorKind::PermissionDenied => {
            let mode = fs::symlink_metadata(parent)?.permissions().mode();
            fs::set_permissions(parent, Permissions::from_mode(mode | 0o300))?;
            remove(path)
        }
        (done, _) => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thing(root: &Path) -> PathBuf {
        let thing = root.join("thing");
        fs::create_dir_all(thing.join("a/empty")).unwrap();
        fs::write(thing.join("a/text"), "text").unwrap();
        fs::write(thing.join("big"), vec![7; CHUNK * 2 + 1]).unwrap();
        fs::set_permissions(thing.join("big"), Permissions::from_mode(0o751)).unwrap();
        std::os::unix::fs::symlink("/nowhere", thing.join("a/link")).unwrap();
        fs::set_permissions(thing.join("a"), Permissions::from_mode(0o555)).unwrap();
        thing
    }

    #[test]
    fn a_copy_has_contents_modes_times_and_links() {
        let place = tempfile::tempdir().unwrap();
        let from = thing(place.path());
        let to = place.path().join("copy");
        let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
        let times = FileTimes::new().set_modified(old);
        File::open(from.join("big"))
            .unwrap()
            .set_times(times)
            .unwrap();

        let copied = copy(&from, &to).unwrap();
        assert_eq!(fs::read(to.join("big")).unwrap().len(), CHUNK * 2 + 1);
        assert_eq!(fs::read_to_string(to.join("a/text")).unwrap(), "text");
        assert_eq!(
            fs::read_link(to.join("a/link")).unwrap(),
            Path::new("/nowhere")
        );
        let mode = |path: &str| fs::metadata(to.join(path)).unwrap().mode() & 0o777;
        assert_eq!((mode("big"), mode("a")), (0o751, 0o555));
        let changed = fs::metadata(to.join("big")).unwrap().modified().unwrap();
        assert_eq!(changed, old);
        assert!(to.join("a/empty").is_dir());

        remove(&from, &copied).unwrap();
        assert!(!from.exists());
        assert!(to.join("big").exists());
        fs::set_permissions(to.join("a"), Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn what_is_new_in_the_original_stays() {
        let place = tempfile::tempdir().unwrap();
        let from = thing(place.path());
        let copied = copy(&from, &place.path().join("copy")).unwrap();
        fs::write(from.join("new"), "came later").unwrap();
        assert!(remove(&from, &copied).is_err());
        let kept = fs::read_to_string(from.join("new")).unwrap();
        assert_eq!(kept, "came later");
    }

    #[test]
    fn what_changed_in_the_original_stays() {
        let place = tempfile::tempdir().unwrap();
        let from = thing(place.path());
        let copied = copy(&from, &place.path().join("copy")).unwrap();
        fs::write(from.join("big"), "changed later").unwrap();
        assert!(remove(&from, &copied).is_err());
        let kept = fs::read_to_string(from.join("big")).unwrap();
        assert_eq!(kept, "changed later");
    }

    #[test]
    fn a_copy_that_differs_is_told() {
        let place = tempfile::tempdir().unwrap();
        let (from, to) = (place.path().join("from"), place.path().join("to"));
        fs::write(&from, "one").unwrap();
        let found = fs::symlink_metadata(&from).unwrap();
        let kind = copy_one(&from, &to, &found).unwrap();
        fs::write(&to, "two").unwrap();
        let piece = Piece {
            path: PathBuf::new(),
            kind,
            seen: Seen::of(&found),
        };
        let told = finish(&from, &to, &piece);
        assert!(matches!(told, Err(TrashError::Changed(path)) if path == from));
    }

    #[test]
    fn nothing_is_replaced_by_a_rename() {
        let place = tempfile::tempdir().unwrap();
        let (from, to) = (place.path().join("from"), place.path().join("to"));
        fs::create_dir(&from).unwrap();
        fs::create_dir(&to).unwrap();
        for rename in [rename_new, rename_after_look] {
            let error = rename(&from, &to).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        }
        assert!(from.exists() && to.exists());
        rename_after_look(&from, &place.path().join("free")).unwrap();
        assert!(!from.exists());
    }
}

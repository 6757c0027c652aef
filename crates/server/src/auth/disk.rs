//! The book on the disk, and the owner's token beside it.
//!
//! Owns the folder: its mode, its two files, and how they are written so that a crash leaves the old or the new. Invariants:
//! nobody but this user may look into it; a link is not followed; a file that cannot be read is never taken for an empty one.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use super::book::Book;

/// Everybody who may come in.
const BOOK: &str = "tokens.json";

/// The owner's token, bare, for the tools of this user.
const TOKEN: &str = "token";

/// The folder of the book.
#[derive(Debug, Clone)]
pub(super) struct Disk(PathBuf);

impl Disk {
    /// The folder, made if it is not there, closed to everybody else.
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        close(folder)?;
        Ok(Self(folder.to_owned()))
    }

    /// The book. None if there is none yet.
    pub(super) fn read(&self) -> io::Result<Option<Book>> {
        match read_private(&self.0.join(BOOK))? {
            Some(text) => Ok(Some(serde_json::from_str(&text)?)),
            None => Ok(None),
        }
    }

    pub(super) fn write(&self, book: &Book) -> io::Result<()> {
        self.replace(BOOK, &serde_json::to_vec_pretty(book)?)
    }

    /// The owner's token. None if there is none, or it was removed.
    pub(super) fn read_token(&self) -> io::Result<Option<String>> {
        let text = read_private(&self.0.join(TOKEN))?;
        Ok(text.map(|text| text.trim().to_owned()))
    }

    pub(super) fn write_token(&self, token: &str) -> io::Result<()> {
        self.replace(TOKEN, format!("{token}\n").as_bytes())
    }

    pub(super) fn remove_token(&self) -> io::Result<()> {
        match fs::remove_file(self.0.join(TOKEN)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    pub(super) fn token_file(&self) -> PathBuf {
        self.0.join(TOKEN)
    }

    pub(super) fn book_file(&self) -> PathBuf {
        self.0.join(BOOK)
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let new = self.0.join(format!("{name}.new"));
        // One that a crash left; a new one is surely ours, with our mode.
        let _ = fs::remove_file(&new);
        let mut file = File::options()
            .create_new(true)
            .write(true)
            .mode(0o600)
            .open(&new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&new, self.0.join(name))?;
        File::open(&self.0)?.sync_all()
    }
}

/// Takes from others what they may do in the folder. It has to be a folder of ours and no link.
fn close(folder: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(folder)?;
    let is_ours = found.uid() == rustix::process::getuid().as_raw();
    if !found.is_dir() || !is_ours {
        return Err(refused(folder, "is no folder of this user: name another"));
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::open(folder, flags, Mode::empty())?;
    rustix::fs::fchmod(&opened, Mode::RWXU)?;
    Ok(())
}

/// A file of ours, closed to others if it was open to them. None if there is none.
fn read_private(path: &Path) -> io::Result<Option<String>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(rustix::io::Errno::LOOP) => return Err(refused(path, "is a link: remove it")),
        other => File::from(other?),
    };
    let found = file.metadata()?;
    if !found.is_file() || found.uid() != rustix::process::getuid().as_raw() {
        return Err(refused(path, "is no file of this user: remove it"));
    }
    if found.mode() & 0o077 != 0 {
        rustix::fs::fchmod(&file, Mode::RUSR | Mode::WUSR)?;
    }
    io::read_to_string(file).map(Some)
}

fn refused(path: &Path, why: &str) -> io::Error {
    let text = format!("{} {why}", path.display());
    io::Error::new(io::ErrorKind::PermissionDenied, text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn folder_and_files_are_for_their_owner_alone_even_if_they_were_not() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("auth");
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        let disk = Disk::open(&folder).unwrap();
        assert_eq!(mode(&folder), 0o700);
        disk.write(&Book::default()).unwrap();
        disk.write_token("one").unwrap();
        assert_eq!(
            (mode(&disk.book_file()), mode(&disk.token_file())),
            (0o600, 0o600)
        );
        fs::set_permissions(disk.token_file(), fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(disk.read_token().unwrap().as_deref(), Some("one"));
        assert_eq!(mode(&disk.token_file()), 0o600);
    }

    #[test]
    fn links_are_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("auth");
        let disk = Disk::open(&folder).unwrap();
        symlink("/etc/passwd", disk.token_file()).unwrap();
        assert!(disk.read_token().is_err());
        // Written anew, the link is replaced and what it led to is left alone.
        disk.write_token("one").unwrap();
        assert!(disk.token_file().symlink_metadata().unwrap().is_file());
        let link = place.path().join("link");
        symlink(&folder, &link).unwrap();
        assert!(Disk::open(&link).is_err());
    }

    #[test]
    fn a_book_that_cannot_be_read_is_not_taken_for_an_empty_one() {
        let place = tempfile::tempdir().unwrap();
        let disk = Disk::open(&place.path().join("auth")).unwrap();
        assert!(disk.read().unwrap().is_none());
        fs::write(disk.book_file(), "{\"tokens\": [").unwrap();
        assert!(disk.read().is_err());
    }
}

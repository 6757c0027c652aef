//! Reading and writing whole files, the way the CLI leaves them.
//!
//! Owns modes and the order of steps; knows nothing of contents. Invariant: a file that is replaced is replaced whole
//! or not at all, and a record is appended in one write.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Who may read a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Mode {
    /// Its owner: transcripts and what lies beside them.
    Private,
    /// As the system says: settings, plans.
    Shared,
}

/// Adds to the end of a file, which is made for its owner alone, with the folders above it.
///
/// # Errors
/// When a folder or the file cannot be made or written.
pub(in crate::cli) fn append(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = options(Mode::Private);
    options.append(true).create(true);
    let mut file = match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            make_folders(path)?;
            options.open(path)?
        }
        opened => opened?,
    };
    file.write_all(bytes)
}

/// Puts a file in place of another, with the folders above it. A file that is there keeps its mode.
///
/// # Errors
/// When a folder or the file cannot be made or written; the old file is then as it was.
pub(in crate::cli) fn replace(path: &Path, bytes: &[u8], mode: Mode) -> io::Result<()> {
    make_folders(path)?;
    // Settings are often a link into a repository of dotfiles: what it names is replaced, not the link.
    let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = path.with_file_name(format!(".{name}.{}.draft", std::process::id()));
    let written = write_draft(&draft, bytes, mode, path);
    let done = written.and_then(|()| std::fs::rename(&draft, path));
    if done.is_err() {
        let _ = std::fs::remove_file(&draft);
    }
    done
}

fn write_draft(draft: &Path, bytes: &[u8], mode: Mode, old: &Path) -> io::Result<()> {
    let mut options = options(mode);
    let mut file: File = options
        .write(true)
        .create(true)
        .truncate(true)
        .open(draft)?;
    if let Ok(old) = std::fs::metadata(old) {
        file.set_permissions(old.permissions())?;
    }
    file.write_all(bytes)?;
    file.sync_all()
}

/// The text of a file; none if it is not there.
///
/// # Errors
/// When it is there and cannot be read as text.
pub(in crate::cli) fn read(path: &Path) -> io::Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn make_folders(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => std::fs::create_dir_all(folder),
        None => Ok(()),
    }
}

fn options(mode: Mode) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(match mode {
        Mode::Private => 0o600,
        Mode::Shared => 0o666,
    });
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transcripts_are_their_owners_and_a_link_stays_one() {
        use std::os::unix::fs::PermissionsExt as _;
        let root = tempfile::tempdir().unwrap();
        let (real, link) = (root.path().join("real.json"), root.path().join("link.json"));
        append(&real, b"1").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        replace(&link, b"2", Mode::Shared).unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&real).unwrap(), b"2");
        let mode = real.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

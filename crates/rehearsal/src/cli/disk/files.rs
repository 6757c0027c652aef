//! Reading and writing whole files, the way the CLI leaves them.
//!
//! Owns modes and the order of steps; knows nothing of contents. Invariant: a file that is replaced is replaced whole
//! or not at all, and a record is appended in one write.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
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

#[cfg(unix)]
fn options(mode: Mode) -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = OpenOptions::new();
    options.mode(match mode {
        Mode::Private => 0o600,
        Mode::Shared => 0o666,
    });
    options
}

#[cfg(not(unix))]
fn options(_mode: Mode) -> OpenOptions {
    OpenOptions::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_added_to_a_file_that_is_made_with_its_folders() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("projects/-p/s.jsonl");
        append(&path, b"one\n").unwrap();
        append(&path, b"two\n").unwrap();
        assert_eq!(read(&path).unwrap().as_deref(), Some("one\ntwo\n"));
    }

    #[cfg(unix)]
    #[test]
    fn transcripts_are_their_owners_and_settings_keep_the_mode_they_have() {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        let root = tempfile::tempdir().unwrap();
        let (private, shared) = (root.path().join("s.jsonl"), root.path().join("x.json"));
        append(&private, b"x").unwrap();
        assert_eq!(mode(&private), 0o600);
        replace(&shared, b"1", Mode::Shared).unwrap();
        std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o640)).unwrap();
        replace(&shared, b"2", Mode::Shared).unwrap();
        assert_eq!(
            (mode(&shared), std::fs::read(&shared).unwrap()),
            (0o640, b"2".to_vec())
        );
        let names = std::fs::read_dir(root.path()).unwrap().count();
        assert_eq!(names, 2, "no draft is left");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_when_what_it_names_is_replaced() {
        let root = tempfile::tempdir().unwrap();
        let (real, link) = (root.path().join("real.json"), root.path().join("link.json"));
        std::fs::write(&real, "1").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        replace(&link, b"2", Mode::Shared).unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&real).unwrap(), b"2");
    }

    #[test]
    fn what_is_not_there_is_none_and_a_folder_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(read(&root.path().join("x")).unwrap(), None);
        assert!(read(root.path()).is_err());
    }
}

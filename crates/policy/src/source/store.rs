//! Writes what a person said to remember: rules of their own, and folders they trust.
//!
//! Owns how these files are changed: under a lock, whole or not at all, readable by their owner only. What is written
//! is decided in `remember` and `trust`.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::{Offer, RememberError, TrustError, Trusted, remember};
use crate::rule::Rule;

/// Why something was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file cannot be read or written.
    #[error("cannot write {}: {source}; see that the folder can be written", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Somebody else writes it and does not end.
    #[error("{} is being written by another countersign; try again", .path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The rules cannot be added.
    #[error("{}: {source}", .path.display())]
    Remember {
        /// The file.
        path: PathBuf,
        /// Why.
        source: RememberError,
    },
    /// What is trusted cannot be read.
    #[error("{}: {source}", .path.display())]
    Trust {
        /// The file.
        path: PathBuf,
        /// Why.
        source: TrustError,
    },
}

/// Adds rules to the person's own file, which is made if there is none.
///
/// # Errors
/// When it cannot be read or written; it is then as it was.
pub fn keep(path: &Path, rules: &[Rule]) -> Result<(), StoreError> {
    change(path, |text| {
        remember(text, rules).map_err(|source| StoreError::Remember {
            path: path.to_owned(),
            source,
        })
    })
}

/// Trusts a folder with what it offers, in the person's file of trusted folders.
///
/// # Errors
/// When it cannot be read or written; it is then as it was.
pub fn trust_folder(path: &Path, offer: &Offer, now: Timestamp) -> Result<(), StoreError> {
    change(path, |text| {
        Trusted::with(text, offer, now).map_err(|source| StoreError::Trust {
            path: path.to_owned(),
            source,
        })
    })
}

fn change(
    path: &Path,
    make: impl FnOnce(&str) -> Result<String, StoreError>,
) -> Result<(), StoreError> {
    let failed = |source| StoreError::Io {
        path: path.to_owned(),
        source,
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    make_folder(folder).map_err(failed)?;
    let _held = lock(path)?;
    // The file may be a link into a repository of dotfiles: what it names is replaced, not the link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let old = match fs::read_to_string(&target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        read => read.map_err(failed)?,
    };
    let new = make(&old)?;
    if new == old {
        return Ok(());
    }
    replace(&target, &new).map_err(failed)
}

/// So long another writer may take. It only renames a small file.
const PATIENCE: Duration = Duration::from_secs(3);

/// Holds the lock of a file until the handle is dropped, or the process ends.
fn lock(path: &Path) -> Result<File, StoreError> {
    let failed = |source| StoreError::Io {
        path: path.to_owned(),
        source,
    };
    let file = private()
        .create(true)
        .truncate(false)
        .open(beside(path, "lock"))
        .map_err(failed)?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5))
            }
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::Busy {
                    path: path.to_owned(),
                });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
    }
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let draft = beside(path, &format!("{}.draft", std::process::id()));
    let written = (|| {
        let mut file = private().create(true).truncate(true).open(&draft)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&draft, path)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

/// A hidden name in the same folder.
fn beside(path: &Path, what: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{what}"))
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::rule::{Effect, Origin};

    fn allow(text: &str) -> Rule {
        Rule::parse(Effect::Allow, text, Path::new("/"), Origin::Session).unwrap()
    }

    #[test]
    fn a_new_file_is_for_its_owner_alone_and_leaves_no_draft() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/countersign.toml");
        keep(&path, &[allow("Bash(make:*)")]).unwrap();
        keep(&path, &[allow("Bash(ls:*)")]).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(
            text,
            "[[rule]]\nallow = \"Bash(make:*)\"\n\n[[rule]]\nallow = \"Bash(ls:*)\"\n"
        );
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert_eq!(
            fs::metadata(path.parent().unwrap())
                .unwrap()
                .permissions()
                .mode()
                & 0o777,
            0o700
        );
        let names = fs::read_dir(path.parent().unwrap())
            .unwrap()
            .map(|entry| entry.unwrap().file_name());
        assert_eq!(
            names
                .filter(|name| name.to_string_lossy().ends_with(".draft"))
                .count(),
            0
        );
    }

    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (
            folder.path().join("dotfiles.toml"),
            folder.path().join("countersign.toml"),
        );
        fs::write(&real, "# mine\n").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        keep(&link, &[allow("Read")]).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(fs::read_to_string(&real).unwrap().contains("Read"));
    }

    #[test]
    fn no_rule_is_lost_between_many_writers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("countersign.toml");
        std::thread::scope(|scope| {
            for number in 0..16 {
                let path = &path;
                scope
                    .spawn(move || keep(path, &[allow(&format!("Bash(tool{number}:*)"))]).unwrap());
            }
        });
        let text = fs::read_to_string(&path).unwrap();
        for number in 0..16 {
            assert!(text.contains(&format!("Bash(tool{number}:*)")), "{text}");
        }
    }

    #[test]
    fn a_broken_file_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("countersign.toml");
        fs::write(&path, "[[rule]\n").unwrap();
        assert!(matches!(
            keep(&path, &[allow("Read")]),
            Err(StoreError::Remember { .. })
        ));
        assert_eq!(fs::read_to_string(&path).unwrap(), "[[rule]\n");
    }
}

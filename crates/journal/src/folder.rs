//! The files of a journal folder: their names, their modes, which there are.
//!
//! Owns names and modes. Does not read what is inside the files. Invariant: whatever the umask, a folder made here is
//! 0700 and a file 0600.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// A segment that can be appended to, or is not compressed yet.
pub(crate) fn plain(dir: &Path, number: u32) -> PathBuf {
    dir.join(format!("{number:06}.j"))
}

/// A closed segment, compressed.
pub(crate) fn packed(dir: &Path, number: u32) -> PathBuf {
    dir.join(format!("{number:06}.j.zst"))
}

/// What was derived from a segment.
pub(crate) fn index(dir: &Path, number: u32) -> PathBuf {
    dir.join(format!("{number:06}.ix"))
}

/// The number of a segment by the name of its file.
pub(crate) fn number_of(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?;
    let digits = name
        .strip_suffix(".j.zst")
        .or_else(|| name.strip_suffix(".j"))?;
    let is_number = digits.len() >= 6 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.parse().ok().filter(|_| is_number)?;
    // A number has one name; zero is none.
    (number > 0 && format!("{number:06}") == digits).then_some(number)
}

/// The numbers of all segments, in order. A folder that is not there has none.
pub(crate) fn segments(dir: &Path) -> io::Result<Vec<u32>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut numbers = Vec::new();
    for entry in entries {
        numbers.extend(number_of(Path::new(&entry?.file_name())));
    }
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

/// The journal folder that a path means: itself, or the one inside a session folder.
pub(crate) fn journal_of(path: &Path) -> io::Result<PathBuf> {
    let inner = path.join("journal");
    if inner.is_dir() {
        return Ok(inner);
    }
    let is_journal = path.file_name().is_some_and(|name| name == "journal");
    if is_journal || !segments(path)?.is_empty() {
        Ok(path.to_owned())
    } else {
        // A session folder whose journal is still to come.
        Ok(inner)
    }
}

/// Makes a folder that nobody else can look into, and those above it as far as they are missing.
#[cfg(unix)]
pub(crate) fn make_dir(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    if dir.is_dir() {
        return Ok(());
    }
    if let Some(parent) = dir.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        make_dir(parent)?;
    }
    match fs::DirBuilder::new().mode(0o700).create(dir) {
        // The umask may have taken bits away.
        Ok(()) => fs::set_permissions(dir, fs::Permissions::from_mode(0o700)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Makes a folder, and those above it as far as they are missing.
#[cfg(not(unix))]
pub(crate) fn make_dir(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)
}

/// Opens a file as told; one that is made by it is nobody else's.
pub(crate) fn open_private(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        let file = options.mode(0o600).open(path)?;
        if file.metadata()?.permissions().mode() & 0o777 != 0o600 {
            file.set_permissions(fs::Permissions::from_mode(0o600))?;
        }
        Ok(file)
    }
    #[cfg(not(unix))]
    options.open(path)
}

/// Makes sure that what was made, renamed or removed in the folder stays so over a power loss.
pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    // Elsewhere a folder cannot be opened; its file system keeps names by itself.
    if cfg!(unix) {
        File::open(dir)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_known_by_its_name_alone() {
        let number = |name: &str| number_of(Path::new(name));
        assert_eq!(number("000001.j"), Some(1));
        assert_eq!(number("000012.j.zst"), Some(12));
        assert_eq!(number("1234567.j"), Some(1_234_567));
        for other in [
            "000000.j",
            "1.j",
            "0000001.j",
            "000001.ix",
            "000001.j.zst.new",
            "000001.j~",
            "+00001.j",
            "seals",
        ] {
            assert_eq!(number(other), None, "{other}");
        }
    }

    #[test]
    fn a_session_folder_and_its_journal_mean_the_same() {
        let session = tempfile::tempdir().unwrap();
        let journal = session.path().join("journal");
        assert_eq!(journal_of(session.path()).unwrap(), journal);
        assert_eq!(journal_of(&journal).unwrap(), journal);
        make_dir(&journal).unwrap();
        assert_eq!(journal_of(session.path()).unwrap(), journal);
        let other = tempfile::tempdir().unwrap();
        fs::write(plain(other.path(), 1), "").unwrap();
        assert_eq!(journal_of(other.path()).unwrap(), other.path());
    }
}

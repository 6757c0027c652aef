//! Where a path of a call leads, and what is said of one that leads nowhere.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

/// A path of a call as an absolute one, without `.` and `..`.
pub(super) fn resolve(given: &str, cwd: &Path, home: &Path) -> PathBuf {
    let given = given.trim();
    let joined = match given.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None if given == "~" => home.to_path_buf(),
        None => cwd.join(given),
    };
    plain(&joined)
}

/// The same path without `.` and `..`, by its text alone.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// As seen from the working folder, if it is inside.
pub(super) fn seen_from(cwd: &Path, path: &Path) -> String {
    path.strip_prefix(cwd)
        .unwrap_or(path)
        .to_string_lossy()
        .into_owned()
}

/// What is said of a file that is not there; a file of another ending is pointed out.
pub(super) fn missing(path: &Path, cwd: &Path) -> String {
    let text = format!(
        "File does not exist. Note: your current working directory is {}.",
        cwd.display()
    );
    match namesake(path) {
        Some(name) => format!("{text} Did you mean {name}?"),
        None => text,
    }
}

fn namesake(path: &Path) -> Option<String> {
    let stem = path.file_stem()?;
    let entries = std::fs::read_dir(path.parent()?).ok()?;
    let mut names: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    names.sort();
    let same = names
        .iter()
        .find(|other| other.is_file() && other.file_stem() == Some(stem) && *other != path)?;
    Some(same.file_name()?.to_string_lossy().into_owned())
}

/// When a file was last changed, in milliseconds.
pub(super) fn changed_at(path: &Path) -> io::Result<u128> {
    let time = std::fs::metadata(path)?.modified()?;
    Ok(time
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis()))
}

/// An error of the system in the words of the runtime the CLI is built on.
pub(super) fn system_error(error: &io::Error, call: &str, path: &Path) -> String {
    format!("{}, {call} '{}'", system_words(error), path.display())
}

/// The same without the path.
pub(super) fn system_words(error: &io::Error) -> String {
    let (code, words) = match error.kind() {
        io::ErrorKind::NotFound => ("ENOENT", "no such file or directory"),
        io::ErrorKind::PermissionDenied => ("EACCES", "permission denied"),
        io::ErrorKind::IsADirectory => ("EISDIR", "illegal operation on a directory"),
        io::ErrorKind::NotADirectory => ("ENOTDIR", "not a directory"),
        io::ErrorKind::AlreadyExists => ("EEXIST", "file already exists"),
        io::ErrorKind::StorageFull => ("ENOSPC", "no space left on device"),
        io::ErrorKind::ReadOnlyFilesystem => ("EROFS", "read-only file system"),
        _ => return format!("EIO: {error}"),
    };
    format!("{code}: {words}")
}

/// `106.3KB`, as the CLI writes sizes.
pub(super) fn size(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
    let bytes_shown = bytes as f64;
    let shown = |size: f64, unit: &str| {
        let text = format!("{size:.1}");
        format!("{}{unit}", text.strip_suffix(".0").unwrap_or(&text))
    };
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => shown(bytes_shown / 1024.0, "KB"),
        1_048_576..1_073_741_824 => shown(bytes_shown / 1_048_576.0, "MB"),
        _ => shown(bytes_shown / 1_073_741_824.0, "GB"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_one_decimal_unless_it_is_nought() {
        assert_eq!(size(108_894), "106.3KB");
        assert_eq!(size(300_000), "293KB");
        assert_eq!(size(1_200_000), "1.1MB");
        assert_eq!(size(16), "16 bytes");
    }

    #[test]
    fn a_path_is_resolved_by_its_text() {
        let (cwd, home) = (Path::new("/w/p"), Path::new("/h"));
        assert_eq!(resolve("a/../b", cwd, home), Path::new("/w/p/b"));
        assert_eq!(resolve("../x", cwd, home), Path::new("/w/x"));
        assert_eq!(resolve("~/x", cwd, home), Path::new("/h/x"));
        assert_eq!(resolve("/x/./y", cwd, home), Path::new("/x/y"));
        assert_eq!(resolve("", cwd, home), Path::new("/w/p"));
    }
}

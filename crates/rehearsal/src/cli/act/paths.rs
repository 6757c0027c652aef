//! What is said of a path that leads nowhere.

use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// What is said of a file that is not there.
pub(super) fn missing(cwd: &Path) -> String {
    format!(
        "File does not exist. Note: your current working directory is {}.",
        cwd.display()
    )
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
    let words = match error.kind() {
        io::ErrorKind::NotFound => "ENOENT: no such file or directory".to_owned(),
        io::ErrorKind::PermissionDenied => "EACCES: permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "EISDIR: illegal operation on a directory".to_owned(),
        io::ErrorKind::NotADirectory => "ENOTDIR: not a directory".to_owned(),
        _ => format!("EIO: {error}"),
    };
    format!("{words}, {call} '{}'", path.display())
}

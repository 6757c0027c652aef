//! Where a path of a call leads, and what is said of one that leads nowhere.

use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::cli::paths::tidy;

/// A path of a call as an absolute one, without `.` and `..`.
pub(super) fn resolve(given: &str, cwd: &Path, home: &Path) -> PathBuf {
    let given = given.trim();
    tidy(&match given.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => cwd.join(given),
    })
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_resolved_by_its_text() {
        let (cwd, home) = (Path::new("/w/p"), Path::new("/h"));
        let table = [
            ("a/../b", "/w/p/b"),
            ("../x", "/w/x"),
            ("~/x", "/h/x"),
            ("~", "/h"),
            ("~x", "/w/p/~x"),
            ("/x/./y", "/x/y"),
            ("", "/w/p"),
        ];
        for (given, path) in table {
            assert_eq!(resolve(given, cwd, home), Path::new(path));
        }
    }
}

//! Paths by their letters only.

use std::path::{Component, Path, PathBuf};

/// The path without `.`, `..` and doubled slashes, by its letters only.
pub(super) fn tidy(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// A path as an absolute one: relative ones begin at `cwd`, `~` is `home`.
pub(super) fn absolute(given: &str, cwd: &Path, home: &Path) -> PathBuf {
    let given = given.trim();
    tidy(&match given.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => cwd.join(given),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_made_whole_by_its_letters() {
        for (given, expected) in [
            ("a/../b", "/w/p/b"),
            ("../x", "/w/x"),
            ("~/x", "/h/x"),
            ("~", "/h"),
            ("~x", "/w/p/~x"),
            ("/x/./y//z", "/x/y/z"),
            ("/w/../../a", "/a"),
            ("", "/w/p"),
        ] {
            let whole = absolute(given, Path::new("/w/p"), Path::new("/h"));
            assert_eq!(whole, Path::new(expected), "{given}");
        }
    }
}

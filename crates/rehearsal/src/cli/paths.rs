//! Paths as text.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_loses_its_dots() {
        for (path, expected) in [
            ("/w/a/../b", "/w/b"),
            ("/x/./y//z", "/x/y/z"),
            ("/w/../../a", "/a"),
            ("/w/..", "/"),
        ] {
            assert_eq!(tidy(Path::new(path)), Path::new(expected));
        }
    }
}

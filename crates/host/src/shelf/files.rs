//! Files below a folder, found by letters of their path.
//!
//! Owns the walk and the order of what is found. Invariants: no link is followed, so that nothing outside is named; what is
//! ours is left out; the walk ends after a number of entries and a time.

use std::path::Path;
use std::time::{Duration, Instant};

use ignore::WalkBuilder;

use crate::control::Files;

/// So many entries are looked at.
const MOST_SEEN: usize = 50_000;

/// For so long.
const LONGEST: Duration = Duration::from_secs(2);

/// So many are named where nothing is said, and at most.
const USUAL: usize = 20;
const MOST: usize = 100;

/// What of `folder` holds these letters in its path. What git leaves out is left out, and so is `ours`.
pub(crate) fn files(folder: &Path, ours: &Path, letters: &str, most: usize) -> Files {
    // Without links on the way, so that ours is known by its path.
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (folder, ours) = (&real(folder), real(ours));
    let letters = letters.to_lowercase();
    let began = Instant::now();
    let walk = WalkBuilder::new(folder)
        .follow_links(false)
        .git_global(false)
        .require_git(false)
        .filter_entry(move |entry| entry.path() != ours)
        .build();
    let (mut found, mut is_cut) = (Vec::new(), false);
    for (seen, entry) in walk.flatten().enumerate() {
        if seen >= MOST_SEEN || began.elapsed() > LONGEST {
            is_cut = true;
            break;
        }
        let Some(kind) = entry.file_type().filter(|kind| !kind.is_symlink()) else {
            continue;
        };
        let path = entry.path().strip_prefix(folder).ok();
        let Some(path) = path.and_then(Path::to_str).filter(|path| !path.is_empty()) else {
            continue;
        };
        let Some(rank) = rank(path, &letters) else {
            continue;
        };
        let end = if kind.is_dir() { "/" } else { "" };
        found.push((rank, path.len(), format!("{path}{end}")));
    }
    found.sort();
    let most = if most == 0 { USUAL } else { most.min(MOST) };
    let paths = found.into_iter().take(most).map(|(_, _, path)| path);
    Files {
        paths: paths.collect(),
        is_cut,
    }
}

/// How well a path fits, best first; none if it does not.
fn rank(path: &str, letters: &str) -> Option<u8> {
    let path = path.to_lowercase();
    let name = path.rsplit('/').next().unwrap_or(&path);
    if name.starts_with(letters) {
        Some(0)
    } else if name.contains(letters) {
        Some(1)
    } else if path.contains(letters) {
        Some(2)
    } else if holds_in_order(&path, letters) {
        Some(3)
    } else {
        None
    }
}

/// Whether the letters stand in the path in this order, others between them.
fn holds_in_order(path: &str, letters: &str) -> bool {
    let mut rest = path.chars();
    letters.chars().all(|letter| rest.any(|one| one == letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_before_paths_and_nothing_outside_or_ignored_is_named() {
        let place = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("main-secret"), "").unwrap();
        let root = place.path();
        for folder in ["src/main", "target", "ours"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        for file in [
            "src/main.rs",
            "src/main/other.rs",
            "src/my_main.rs",
            "target/main",
            "ours/main.db",
        ] {
            std::fs::write(root.join(file), "").unwrap();
        }
        std::fs::write(root.join(".gitignore"), "target\n").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(outside.path(), root.join("link")).unwrap();
        let files = |letters, most| files(root, &root.join("ours"), letters, most);
        let found = files("MAIN", 0);
        let wanted = [
            "src/main/",
            "src/main.rs",
            "src/my_main.rs",
            "src/main/other.rs",
        ];
        assert_eq!(found.paths, wanted);
        assert!(!found.is_cut);
        assert_eq!(files("smrs", 0).paths.first().unwrap(), "src/main.rs");
        assert_eq!(files("", 2).paths.len(), 2);
        assert!(files("nothing like it", 0).paths.is_empty());
    }
}

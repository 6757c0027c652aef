//! What no rule lets be destroyed at one stroke: the disk, a home, the working folder itself.
//!
//! Owns the short list of commands that take away and the folders that are too much to lose. The CLI has a check of this
//! kind, but older versions do not tell of it once they ask about everything.

use std::path::{Path, PathBuf};

use crate::path::Target;
use crate::place::Place;
use crate::shell::{Simple, Word};

/// Commands that take away, overwrite or hand over whatever they are given.
const TAKING: [&str; 12] = [
    "rm", "rmdir", "mv", "shred", "unlink", "chmod", "chown", "chgrp", "dd", "truncate", "wipefs",
    "mkfs",
];

/// Folders of the system; what lies directly in them is as vital.
const OF_SYSTEM: [&str; 16] = [
    "/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/opt", "/proc", "/root",
    "/sbin", "/sys", "/usr", "/var", "/Users",
];

/// Whether a command takes away what it names.
pub(crate) fn takes_away(simple: &Simple) -> bool {
    let Some(Word::Literal(program)) = simple.words.first() else {
        return false;
    };
    let name = program.rsplit('/').next().unwrap_or(program);
    let deletes = name == "find"
        && simple
            .words
            .iter()
            .any(|word| matches!(word, Word::Literal(text) if text == "-delete"));
    deletes
        || TAKING
            .iter()
            .any(|taking| name == *taking || name.starts_with("mkfs."))
}

/// Why this is too much to lose, if it is.
pub(crate) fn vital(target: &Target, place: &Place<'_>) -> Option<String> {
    let real = target.real.as_deref();
    let is = |path: &Path| target.lexical == path || real == Some(path);
    let holds = |inner: &Path| {
        inner.starts_with(&target.lexical) || real.is_some_and(|real| inner.starts_with(real))
    };
    let here = place
        .disk
        .real(place.cwd)
        .unwrap_or_else(|| place.cwd.to_path_buf());
    if holds(place.cwd) || holds(&here) {
        return Some(format!(
            "`{}` is the working folder or holds it",
            target.shown
        ));
    }
    if place.home.is_some_and(holds) {
        return Some(format!("`{}` is the home folder or holds it", target.shown));
    }
    if OF_SYSTEM.iter().any(|path| is(Path::new(path))) {
        return Some(format!("`{}` belongs to the system", target.shown));
    }
    None
}

/// The folder whose whole content a shell pattern means: `/*`, `~/*`, `*`.
pub(crate) fn emptied(word: &str, folder: &Path, place: &Place<'_>) -> Option<PathBuf> {
    let (start, last) = word.rsplit_once('/').unwrap_or(("", word));
    let means_all = matches!(last, "*" | ".*" | "?*" | "{*,.*}" | "**");
    let is_plain = !start.contains(['*', '?', '[', '{']);
    if !means_all || !is_plain {
        return None;
    }
    let given = match (start, word.starts_with('/')) {
        ("", true) => "/",
        ("", false) => ".",
        (start, _) => start,
    };
    Some(Target::of(given, folder, place).lexical)
}

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
    let words = literals(simple);
    let Some(program) = words.first().and_then(|word| *word) else {
        return false;
    };
    match name_of(program) {
        "find" => finds_and_takes(&words),
        "git" => words.get(1) == Some(&Some("clean")),
        name => is_taking(name),
    }
}

/// Whether a command that takes away begins where it runs, if it names no place: `find -delete`, `git clean`.
pub(crate) fn starts_here(simple: &Simple) -> bool {
    let words = literals(simple);
    words
        .first()
        .and_then(|word| *word)
        .is_some_and(|program| matches!(name_of(program), "find" | "git"))
}

/// Whether it makes a link to what it names, which is another name for all in it.
pub(crate) fn makes_links(simple: &Simple) -> bool {
    let program = simple.words.first().and_then(Word::literal);
    program.is_some_and(|program| matches!(name_of(program), "ln" | "gln"))
}

/// Whether it takes away whole folders, without it being known which.
pub(crate) fn takes_the_unknown(simple: &Simple) -> bool {
    let words = literals(simple);
    let is_recursive = words.iter().flatten().any(|word| {
        *word == "--recursive"
            || (word.starts_with('-') && !word.starts_with("--") && word.contains(['r', 'R']))
    });
    let is_fed = simple
        .through
        .iter()
        .any(|wrapper| wrapper.contains("xargs"));
    let is_unknown = simple
        .words
        .iter()
        .skip(1)
        .any(|word| matches!(word, Word::Unknown(_)));
    takes_away(simple) && is_recursive && (is_fed || is_unknown)
}

fn literals(simple: &Simple) -> Vec<Option<&str>> {
    let words = simple.words.iter();
    words
        .map(|word| match word {
            Word::Literal(text) => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

fn name_of(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

fn is_taking(name: &str) -> bool {
    TAKING.contains(&name) || name.starts_with("mkfs.")
}

fn finds_and_takes(words: &[Option<&str>]) -> bool {
    let runs = |word: &Option<&str>| matches!(word, Some("-exec" | "-execdir" | "-ok" | "-okdir"));
    let pairs = words.windows(2);
    words.contains(&Some("-delete"))
        || pairs
            .into_iter()
            .any(|pair| runs(&pair[0]) && pair[1].is_none_or(|word| is_taking(name_of(word))))
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
    let said = |what: &str, is_it: bool| match is_it {
        true => format!("`{}` is the {what}", target.shown),
        false => format!("the {what} lies in `{}`", target.shown),
    };
    if holds(place.cwd) || holds(&here) {
        return Some(said("working folder", is(place.cwd) || is(&here)));
    }
    if let Some(home) = place.home.filter(|home| holds(home)) {
        return Some(said("home folder", is(home)));
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

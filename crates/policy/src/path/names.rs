//! A path as its names, from the root.
//!
//! Owns how names are compared: exactly, or loosely. The loose form takes names as one that some file system takes as
//! one: by case (macOS, Windows), by composition (macOS), by letters that are not seen (HFS+).

use std::path::{Component, Path, PathBuf, Prefix};

use unicode_normalization::UnicodeNormalization;

/// No system opens a path of more bytes than this: a longer text is none.
pub(super) const MOST_PATH: usize = 65_536;

/// So many bytes a pattern may have.
pub(super) const MOST_TEXT: usize = 4096;

/// The names of a path, in both forms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Names {
    /// As they are written.
    pub(super) exact: Vec<String>,
    /// As the loosest file system compares them.
    pub(super) loose: Vec<String>,
    /// Whether the path is text: else `exact` is not the whole truth, and nothing may be allowed by it.
    pub(super) is_text: bool,
}

impl Names {
    /// The names of an absolute path; `..` never climbs past the root.
    pub(super) fn of(path: &Path) -> Self {
        let mut exact: Vec<String> = Vec::new();
        for part in path.components() {
            match part {
                Component::Prefix(prefix) => exact.push(drive(prefix.kind())),
                Component::RootDir | Component::CurDir => {}
                Component::ParentDir => {
                    exact.pop();
                }
                Component::Normal(name) => exact.push(name.to_string_lossy().into_owned()),
            }
        }
        Names {
            loose: exact.iter().map(|name| loose(name)).collect(),
            exact,
            is_text: path.to_str().is_some(),
        }
    }

    /// The names below a root, compared exactly.
    pub(super) fn below<'n>(&'n self, root: &Names) -> Option<&'n [String]> {
        self.exact.strip_prefix(root.exact.as_slice())
    }

    /// The names below a root, compared loosely.
    pub(super) fn loosely_below<'n>(&'n self, root: &Names) -> Option<&'n [String]> {
        self.loose.strip_prefix(root.loose.as_slice())
    }
}

/// `C:` is the name `c` at the root, as rules write it.
fn drive(prefix: Prefix<'_>) -> String {
    match prefix {
        Prefix::Disk(letter) | Prefix::VerbatimDisk(letter) => {
            char::from(letter).to_ascii_lowercase().to_string()
        }
        other => format!("{other:?}"),
    }
}

/// A name as the loosest file system compares it.
pub(super) fn loose(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    // Up and down again: `ſ` is an `s` and `K` (Kelvin) a `k` only that way.
    name.chars()
        .filter(|letter| !is_unseen(*letter))
        .flat_map(char::to_lowercase)
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .nfc()
        .collect()
}

/// Letters that HFS+ leaves out when it compares names.
pub(super) fn is_unseen(letter: char) -> bool {
    matches!(letter, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

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
    fn names_that_some_file_system_takes_as_one_are_loosely_one() {
        for (one, other) in [
            (".env", ".ENV"),
            (".git", ".g\u{200c}it"),
            (".ssh", ".\u{17f}sh"),
            ("kube", "\u{212a}ube"),
            ("caf\u{e9}", "cafe\u{301}"),
            ("CAF\u{c9}", "cafe\u{301}"),
            ("stra\u{df}e", "STRASSE"),
        ] {
            assert_eq!(loose(one), loose(other), "{one} and {other}");
        }
        assert_ne!(loose(".env"), loose(".env1"));
    }

    #[cfg(unix)]
    #[test]
    fn dots_are_resolved_and_never_climb_past_the_root() {
        assert_eq!(tidy(Path::new("/a/./b/../c//d/")), Path::new("/a/c/d"));
        assert_eq!(tidy(Path::new("/../../x")), Path::new("/x"));
        assert_eq!(Names::of(Path::new("/a/../../b")).exact, ["b"]);
    }

    #[test]
    fn a_drive_is_a_name_at_the_root() {
        assert_eq!(drive(Prefix::Disk(b'C')), "c");
        assert_eq!(drive(Prefix::VerbatimDisk(b'd')), "d");
    }
}

//! What is wrong in a file of rules, and where.
//!
//! Owns [`Problem`] and the way from an offset to a line. Every problem says what to write instead.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct At {
    /// The file.
    pub file: PathBuf,
    /// The line, counted from one, where it is known.
    pub line: Option<usize>,
    /// The column in characters, counted from one, where it is known.
    pub column: Option<usize>,
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(column) = self.column {
            write!(f, ":{column}")?;
        }
        Ok(())
    }
}

/// Something in a file of rules that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Where.
    pub at: At,
    /// What is wrong.
    pub what: String,
    /// What to write or do.
    pub fix: String,
    /// Whether no session may start with it: something that would forbid or ask may be lost.
    pub stops: bool,
    /// Whether it is an example that does not hold.
    pub is_example: bool,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.at, self.what, self.fix)
    }
}

/// A text whose places have lines and columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) text: &'a str,
    pub(super) file: &'a Path,
}

impl Source<'_> {
    /// The place of a byte.
    pub(super) fn at(&self, offset: usize) -> At {
        let offset = self.text.floor_char_boundary(offset.min(self.text.len()));
        let before = &self.text[..offset];
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        At {
            file: self.file.to_owned(),
            line: Some(before.bytes().filter(|byte| *byte == b'\n').count() + 1),
            column: Some(before[start..].chars().count() + 1),
        }
    }

    /// The file as a whole.
    pub(super) fn whole(&self) -> At {
        At {
            file: self.file.to_owned(),
            line: None,
            column: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_told_in_lines_and_characters() {
        let source = Source {
            text: "één\ntwee\n",
            file: Path::new("f.toml"),
        };
        assert_eq!(source.at(0).to_string(), "f.toml:1:1");
        assert_eq!(source.at("éé".len()).to_string(), "f.toml:1:3");
        assert_eq!(source.at("één\ntw".len()).to_string(), "f.toml:2:3");
        assert_eq!(source.at(999).to_string(), "f.toml:3:1");
        assert_eq!(source.whole().to_string(), "f.toml");
    }

    #[test]
    fn a_place_inside_a_character_is_the_character() {
        let source = Source {
            text: "é!",
            file: Path::new("f"),
        };
        assert_eq!(source.at(1).to_string(), "f:1:1");
    }
}

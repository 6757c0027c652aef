//! A scenario as people name it: one of those that come with the program, or a file.
//!
//! Owns the rule that tells them apart: a word without a path separator and without a dot is a name.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use countersign_rehearsal::cli::{Setup, builtin};

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    /// One that comes with the program.
    Named(&'static str, &'static str),
    /// A file.
    File(PathBuf),
}

impl Wanted {
    /// Finds what a word means; the file need not be there.
    pub(super) fn parse(word: &str) -> anyhow::Result<Self> {
        if word.contains(['/', '\\', '.']) {
            return Ok(Self::File(PathBuf::from(word)));
        }
        let known = builtin::names().find(|(name, _)| *name == word);
        let found = known.and_then(|(name, _)| Some((name, builtin::get(name)?)));
        match found {
            Some((name, text)) => Ok(Self::Named(name, text)),
            None => {
                let names: Vec<&str> = builtin::names().map(|(name, _)| name).collect();
                bail!(
                    "there is no scenario `{word}`. There are: {}. A file is named with its path, as in ./{word}.scenario",
                    names.join(", ")
                )
            }
        }
    }

    /// Reads it.
    pub(super) fn setup(&self) -> anyhow::Result<Setup> {
        Ok(match self {
            Self::Named(name, text) => Setup::from_text(text, name)?,
            Self::File(path) => {
                let text = read(path)?;
                Setup::from_text(&text, &path.to_string_lossy())?
            }
        })
    }
}

/// The text of a scenario file.
pub(super) fn read(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| {
        format!(
            "cannot read the scenario {}; `countersign rehearse scenarios` lists those that need no file",
            path.display()
        )
    })
}

//! What a Bash text would do.
//!
//! Owns [`read`]: a text → its simple commands, through every wrapper and substitution, with the files it redirects.
//! Two readers look at each text: one of our own (`lex`, `grammar`), which follows bash to the letter and refuses
//! what it does not know, and tree-sitter (`witness`). Where they differ, or either is lost, the text is unclear.
//! Does not decide, and touches no disk. Invariant: what bash would run is in `commands`, or `unclear` or `hides` says
//! that something is missing.

mod builtin;
mod candidates;
mod compound;
mod cover;
mod expand;
mod folder;
mod grammar;
mod hide;
mod hide_git;
mod hide_options;
mod hide_sql;
mod lex;
mod moved;
mod names;
mod pattern;
mod reader;
mod reads;
mod reads_git;
mod reads_list;
mod scan;
mod sed;
mod state;
#[cfg(test)]
mod tests;
mod textrun;
mod vars;
mod witness;
mod wrap;
mod xrun;

use std::sync::Arc;

pub(crate) use hide_git::VALUED as GIT_VALUED;
pub(crate) use names::names_in;
pub use pattern::{CommandPattern, Side};

/// A longer text is not read.
const MOST_BYTES: usize = 64 * 1024;

/// What a text would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// Every simple command, in the order of the text; those inside of a substitution, or run by it, before the one
    /// around them.
    pub commands: Vec<Simple>,
    /// The files that are redirected.
    pub redirects: Vec<Redirect>,
    /// What variables are set to somewhere in the text, by their names; a text that is read from has none.
    pub values: Vec<(String, Word)>,
    /// Why a part of the text cannot be read, in sentences. Any of them: never allowed.
    pub unclear: Vec<String>,
}

/// One command with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simple {
    /// Command and arguments: quotes removed, assignments and wrappers taken off. Never empty.
    pub words: Vec<Word>,
    /// As it stands in the text.
    pub text: String,
    /// What it is run through, outermost first: `sudo`, `xargs`, `sh -c`, `$(…)`.
    pub through: Vec<String>,
    /// Why no allow rule for its words may allow it, in a sentence.
    pub obstacle: Option<String>,
    /// Why a denied command may hide in it, in a sentence.
    pub hides: Option<String>,
    /// Where its relative paths lead.
    pub folder: Folder,
    /// The same command with its wrappers on, outermost first.
    outer: Vec<Arc<Outer>>,
}

/// A command as it stands with a wrapper on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Outer {
    words: Vec<Word>,
    /// How many of the words a rule must spell out to mean what is run, too.
    named: usize,
    /// Whether it runs a text, whose words are not among its own.
    runs_text: bool,
    /// Why no rule may allow this either.
    obstacle: Option<String>,
}

/// One word after quotes were removed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Word {
    /// Exactly this. `~` and `~/…` are the home folder; any other leading `~` is a plain character.
    Literal(String),
    /// Whatever this pattern finds, or itself: none, one or many words. Characters that were quoted have a `\` before
    /// them where they would be special.
    Glob(String),
    /// Known only when it runs, as it was written: none, one or many words.
    Unknown(String),
}

impl Word {
    /// The text of a literal word.
    pub fn literal(&self) -> Option<&str> {
        match self {
            Word::Literal(text) => Some(text),
            _ => None,
        }
    }

    /// The word for people.
    pub fn shown(&self) -> &str {
        match self {
            Word::Literal(text) | Word::Glob(text) | Word::Unknown(text) => text,
        }
    }
}

/// Where relative paths lead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Folder {
    /// Where the text starts.
    Start,
    /// The arguments of `cd`, joined: relative to the start, absolute, or beginning with `~`.
    Into(String),
    /// It cannot be said. As far as the text tells, one of these, written as in `Into`; `.` is where the text starts.
    Unknown(Vec<String>),
}

/// A file that is redirected. Copies of file descriptors are none; neither are `/dev/null`, `/dev/zero`, the standard
/// streams and `/dev/fd/N`. `/dev/tty` is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// Whether it is written.
    pub writes: bool,
    /// The file.
    pub target: Word,
    /// Where a relative target leads.
    pub folder: Folder,
    /// As it stands in the text.
    pub text: String,
}

/// Reads a text. Never fails: what it cannot read is in [`Reading::unclear`].
pub fn read(text: &str) -> Reading {
    if text.len() > MOST_BYTES {
        return Reading {
            unclear: vec![format!("it is longer than {} KiB", MOST_BYTES / 1024)],
            ..Reading::default()
        };
    }
    if text.trim().is_empty() {
        return Reading {
            unclear: vec!["it is empty".to_owned()],
            ..Reading::default()
        };
    }
    reader::read(text)
}

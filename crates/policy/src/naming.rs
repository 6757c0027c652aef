//! Which paths the words of a command may name.
//!
//! Owns the guesses about words: a word is no path until something reads it as one, and what a variable holds is not
//! known. So names open nothing; they only let rules and protected paths be heard. Invariant: a guess is never in place
//! of *not known*, always beside it.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::act::Act;
use crate::path::{Target, Touch};
use crate::place::Place;
use crate::profile;
use crate::ruin;
use crate::shell::{Folder, Simple, Word};

/// A word of a command that may be a path.
#[derive(Debug, Clone)]
pub struct Named {
    /// The word, as written.
    pub word: String,
    /// What may be done to it: commands that are known to read only read.
    pub touch: Touch,
    /// What it is.
    pub what: NamedWhat,
    /// Whether the command reads the files of whole folders.
    pub is_recursive: bool,
    /// Whether the command takes away what it names.
    pub is_taken: bool,
}

/// What a word of a command may be as a path.
#[derive(Debug, Clone)]
pub enum NamedWhat {
    /// This path.
    Path(Target),
    /// What the shell makes of this pattern, in this folder.
    Pattern(PathBuf),
    /// Not known before it runs.
    Unknown,
    /// Not known, but if the shell's variables are what they usually are, this. Opens nothing and closes only what is
    /// protected.
    Perhaps(Target),
}

/// Where relative paths of a command lead.
pub(crate) fn folder_of(folder: &Folder, place: &Place<'_>) -> Option<PathBuf> {
    match folder {
        Folder::Start => Some(place.cwd.to_path_buf()),
        Folder::Into(path) => Some(Target::of(path, place.cwd, place).lexical),
        Folder::Unknown => None,
    }
}

/// What the words of a command may name.
pub(crate) fn named(simple: &Simple, place: &Place<'_>) -> Vec<Act> {
    let touch = match simple.only_reads() {
        true => Touch::Read,
        false => Touch::Write,
    };
    let folder = folder_of(&simple.folder, place);
    let is_recursive = simple.reads_folders();
    let is_taken = ruin::takes_away(simple);
    // A command that is run is read, not written.
    let program = simple.words.first().map(word_text);
    let name = |word: String, what| Named {
        touch: match program.as_ref() == Some(&word) {
            true => Touch::Read,
            false => touch,
        },
        word,
        what,
        is_recursive,
        is_taken,
    };
    let mut names: Vec<Named> = Vec::new();
    for word in simple.names() {
        let what = what_is_named(&word, folder.as_deref(), place);
        if let Word::Unknown(text) = &word {
            let perhaps = usual(text, folder.as_deref(), place).into_iter();
            names.extend(perhaps.map(|target| name(text.clone(), NamedWhat::Perhaps(target))));
        }
        names.push(name(word_text(&word), what));
    }
    let is_there = |named: &Named| matches!(&named.what, NamedWhat::Path(target) if place.disk.exists(&target.lexical));
    let starts_here =
        (is_recursive || is_taken && ruin::starts_here(simple)) && !names.iter().any(is_there);
    if let (true, Some(folder)) = (starts_here, folder) {
        names.push(name(
            ".".to_owned(),
            NamedWhat::Path(Target::of(".", &folder, place)),
        ));
    }
    names.into_iter().map(Act::Name).collect()
}

/// Texts of an input that are looked at.
const MOST_TEXTS: usize = 512;
/// The longest that may be a path.
const LONGEST: usize = 4096;
/// How deep an input is looked into.
const DEEPEST: usize = 8;

/// What the input of a tool may name, of which nothing else is known: whatever looks like a path or is there.
/// `None` where there is more than is looked at.
pub(crate) fn named_in(input: &Value, tool: &str, place: &Place<'_>) -> Option<Vec<Act>> {
    let mut texts = Vec::new();
    if !gather(input, DEEPEST, &mut texts) {
        return None;
    }
    let touch = match profile::changes_something(tool) {
        true => Touch::Write,
        false => Touch::Read,
    };
    let names = texts.into_iter().filter_map(|text| {
        let target = Target::of(text, place.cwd, place);
        let looks_so = text.starts_with(['/', '~', '.']) || place.disk.exists(&target.lexical);
        looks_so.then(|| Named {
            word: text.to_owned(),
            touch,
            what: NamedWhat::Path(target),
            is_recursive: false,
            is_taken: false,
        })
    });
    Some(names.map(Act::Name).collect())
}

/// Whether all of it was looked at.
fn gather<'a>(value: &'a Value, depth: usize, texts: &mut Vec<&'a str>) -> bool {
    match value {
        Value::String(text) => take(text, texts),
        Value::Array(items) => depth > 0 && items.iter().all(|item| gather(item, depth - 1, texts)),
        Value::Object(fields) => {
            depth > 0
                && fields
                    .iter()
                    .all(|(name, field)| take(name, texts) && gather(field, depth - 1, texts))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

fn take<'a>(text: &'a str, texts: &mut Vec<&'a str>) -> bool {
    let may_be_one = !text.is_empty() && text.len() <= LONGEST && !text.contains('\n');
    texts.extend(may_be_one.then_some(text));
    texts.len() <= MOST_TEXTS
}

fn what_is_named(word: &Word, folder: Option<&Path>, place: &Place<'_>) -> NamedWhat {
    match (word, folder) {
        (Word::Literal(text), _) if text.starts_with(['/', '~']) => {
            NamedWhat::Path(Target::of(text, place.cwd, place))
        }
        (Word::Literal(text), Some(folder)) => NamedWhat::Path(Target::of(text, folder, place)),
        (Word::Glob(text), _) if text.starts_with('/') => NamedWhat::Pattern(PathBuf::from("/")),
        (Word::Glob(_), Some(folder)) => NamedWhat::Pattern(folder.to_path_buf()),
        _ => NamedWhat::Unknown,
    }
}

fn word_text(word: &Word) -> String {
    match word {
        Word::Literal(text) | Word::Glob(text) | Word::Unknown(text) => text.clone(),
    }
}

/// Where a word with a variable usually leads: `$HOME/x` and `$PWD/x` by their names, `$D/x` into the home or here.
fn usual(text: &str, folder: Option<&Path>, place: &Place<'_>) -> Vec<Target> {
    let plain: String = text
        .chars()
        .filter(|letter| !matches!(letter, '"' | '\''))
        .collect();
    let Some(at) = plain.find('$') else {
        return Vec::new();
    };
    let (variable, rest) = variable(&plain[at..]);
    if rest.contains(['$', '`']) {
        return Vec::new();
    }
    let home = place.home.map(Path::to_path_buf);
    let here = folder.map(Path::to_path_buf);
    let starts: Vec<PathBuf> = match variable {
        "HOME" => home.into_iter().collect(),
        "PWD" => here.into_iter().collect(),
        _ if !rest.starts_with('/') => Vec::new(),
        _ => home.into_iter().chain(here).collect(),
    };
    let below = rest.trim_start_matches('/');
    let below = if below.is_empty() { "." } else { below };
    starts
        .iter()
        .map(|start| Target::of(below, start, place))
        .collect()
}

/// The name of the variable that a text begins with, and what follows it.
fn variable(text: &str) -> (&str, &str) {
    let text = text.strip_prefix('$').unwrap_or(text);
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if let Some(inner) = text.strip_prefix('{') {
        let end = inner.find('}').unwrap_or(inner.len());
        let name = inner.find(|letter| !is_name(letter)).unwrap_or(inner.len());
        return (
            &inner[..name.min(end)],
            inner.get(end + 1..).unwrap_or_default(),
        );
    }
    let end = text.find(|letter| !is_name(letter)).unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_told_from_what_follows_it() {
        for (text, expected) in [
            ("$HOME/.ssh", ("HOME", "/.ssh")),
            ("${HOME}/.ssh", ("HOME", "/.ssh")),
            ("${HOME:?}/x", ("HOME", "/x")),
            ("$D", ("D", "")),
            ("${D", ("D", "")),
        ] {
            assert_eq!(variable(text), expected, "{text}");
        }
    }
}

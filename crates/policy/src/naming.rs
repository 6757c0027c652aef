//! Which paths the words of a command may name.
//!
//! Owns what is named: a word is no path until something reads it as one. So names open nothing; they only let rules and
//! protected paths be heard. What a word may be where that is not known is guessed in [`crate::guess`]. Invariant: a guess is
//! never in place of *not known*, always beside it.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::act::Act;
use crate::guess::{Given, Guesses};
use crate::path::{Target, Touch};
use crate::place::Place;
use crate::profile;
use crate::ruin;
use crate::shell::{Folder, Redirect, Simple, Word};

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
    /// Whether the command makes a link to it: then another name leads to all that is in it.
    pub is_linked: bool,
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
    /// Not known, but if variables and folders are what they usually are or what the text makes them, this. Opens nothing
    /// and closes only what is protected.
    Perhaps(Target),
    /// The same for a pattern, in this folder.
    PerhapsPattern(PathBuf),
}

/// Where relative paths of a command lead.
pub(crate) fn folder_of(folder: &Folder, place: &Place<'_>) -> Option<PathBuf> {
    match folder {
        Folder::Start => Some(place.cwd.to_path_buf()),
        Folder::Into(path) => Some(Target::of(path, place.cwd, place).lexical),
        Folder::Unknown(_) => None,
    }
}

/// What the words of a command may name.
pub(crate) fn named(simple: &Simple, given: &Given<'_>, place: &Place<'_>) -> Vec<Act> {
    let touch = match simple.only_reads() {
        true => Touch::Read,
        false => Touch::Write,
    };
    let folder = folder_of(&simple.folder, place);
    let is_recursive = simple.reads_folders();
    let is_taken = ruin::takes_away(simple);
    let is_linked = ruin::makes_links(simple);
    // A command that is run is read, not written.
    let program = simple.words.first().map(Word::shown);
    let name = |word: &str, what| Named {
        touch: match program == Some(word) {
            true => Touch::Read,
            false => touch,
        },
        word: word.to_owned(),
        what,
        is_recursive,
        is_taken,
        is_linked,
    };
    let guesses = Guesses::at(&simple.folder, given, place);
    let words = simple.names();
    let mut names: Vec<Named> = Vec::new();
    for word in &words {
        let what = what_is_named(word, folder.as_deref(), place);
        if matches!(what, NamedWhat::Unknown) {
            let guessed = guesses.of(word).into_iter();
            names.extend(guessed.map(|(word, what)| name(&word, what)));
        }
        names.push(name(word.shown(), what));
    }
    let is_there = |named: &Named| matches!(&named.what, NamedWhat::Path(target) if place.disk.exists(&target.lexical));
    let starts_here =
        (is_recursive || is_taken && ruin::starts_here(simple)) && !names.iter().any(is_there);
    match (starts_here, folder) {
        (false, _) => {}
        (true, Some(folder)) => {
            names.push(name(".", NamedWhat::Path(Target::of(".", &folder, place))))
        }
        (true, None) => {
            let here = guesses.without(&words).into_iter();
            names.extend(here.map(|here| name(".", NamedWhat::Perhaps(here))));
        }
    }
    names.into_iter().map(Act::Name).collect()
}

/// What may be meant by the file of a redirection that is not known.
pub(crate) fn redirected_to(
    redirect: &Redirect,
    touch: Touch,
    given: &Given<'_>,
    place: &Place<'_>,
) -> Vec<Act> {
    let guesses = Guesses::at(&redirect.folder, given, place);
    only_named(guesses.of(&redirect.target), touch)
}

/// What may be read or written by way of a variable, whoever takes it from there.
pub(crate) fn held(given: &Given<'_>, place: &Place<'_>) -> Vec<Act> {
    let guesses = Guesses::at(&Folder::Start, given, place);
    let held = given
        .values
        .iter()
        .flat_map(|(_, value)| guesses.of_value(value));
    only_named(held.collect(), Touch::Read)
}

fn only_named(guessed: Vec<(String, NamedWhat)>, touch: Touch) -> Vec<Act> {
    let names = guessed.into_iter().map(|(word, what)| Named {
        word,
        touch,
        what,
        is_recursive: false,
        is_taken: false,
        is_linked: false,
    });
    names.map(Act::Name).collect()
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
            is_linked: false,
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

//! What a word of a shell command with `*`, `?`, `[…]` or braces may stand for.
//!
//! Asks the disk what the shell would find, so many entries and no more. A shell may be set to find more (names with a dot,
//! either case, folders at any depth): what only such a shell finds is `Maybe`.

use std::path::{Path, PathBuf};

use super::below::{MOST_ENTRIES, listing};
use super::braces::written_out;
use super::fits::Reader;
use super::name::NamePattern;
use super::names::loose;
use super::pattern::PathPattern;
use super::target::Target;
use crate::{Fit, Place};

/// So many folders are looked through for `**`.
const MOST_DEPTHS: usize = 16;

/// A path that the word may become.
struct Found {
    path: PathBuf,
    /// Whether every shell finds it.
    is_sure: bool,
}

/// Why it cannot be said what a word becomes.
struct Unknown(String);

impl PathPattern {
    /// Whether the word, its globs read by a shell in this folder, may become a path that is meant. For rules that restrict.
    pub fn may_name(&self, word: &str, folder: &Path, place: &Place<'_>) -> Fit {
        let unknown = || Fit::Maybe(format!("what `{word}` becomes is not known before it runs"));
        if word.contains(['$', '`', '\\', '\'', '"', '(']) || is_sequence(word) {
            return unknown();
        }
        let Some(words) = written_out(word) else {
            return unknown();
        };
        let reader = self.reader(place);
        let mut left = MOST_ENTRIES;
        let mut fit = Fit::No;
        for word in words {
            fit = fit.or(|| self.one_word(&word, folder, place, &reader, &mut left));
        }
        fit
    }

    fn one_word(
        &self,
        word: &str,
        folder: &Path,
        place: &Place<'_>,
        reader: &Reader<'_>,
        left: &mut usize,
    ) -> Fit {
        let itself = self.judged(reader, &Target::of(word, folder, place), place);
        if !has_wildcard(word) {
            return itself;
        }
        // A glob that finds nothing stays as it is.
        let refuse = |found: &[Found]| self.refuse_depth(found, word, place);
        itself.or(|| match found(word, folder, place, left, &refuse) {
            Ok(found) => found.iter().fold(Fit::No, |fit, found| {
                fit.or(|| self.fits_found(reader, found, word, place))
            }),
            Err(Unknown(why)) => Fit::Maybe(why),
        })
    }

    fn fits_found(&self, reader: &Reader<'_>, found: &Found, word: &str, place: &Place<'_>) -> Fit {
        let Some(text) = found.path.to_str() else {
            return Fit::Maybe(format!("`{word}` finds a name that is no text"));
        };
        let target = Target::of(text, Path::new("/"), place);
        match self.judged(reader, &target, place) {
            Fit::Yes if !found.is_sure => Fit::Maybe(format!(
                "`{word}` may also find `{}`, by how the shell is set up",
                target.shown
            )),
            fit => fit,
        }
    }

    /// `**` stands for folders at any depth where the shell is set to it.
    fn refuse_depth(&self, found: &[Found], word: &str, place: &Place<'_>) -> Result<(), Unknown> {
        if found.len() > MOST_DEPTHS {
            return Err(Unknown(format!(
                "`{word}` finds more than is looked through"
            )));
        }
        for from in found {
            let folder = Target::of(&from.path.to_string_lossy(), Path::new("/"), place);
            if !self.is_below(&folder, place).is_no() {
                return Err(Unknown(format!(
                    "`**` in `{word}` may stand for folders at any depth"
                )));
            }
        }
        Ok(())
    }
}

/// What a shell makes of a word in this folder, its globs as the disk has them now, and whether every shell does; `None` where
/// that is not known.
pub(crate) fn found_by(
    word: &str,
    folder: &Path,
    place: &Place<'_>,
) -> Option<Vec<(PathBuf, bool)>> {
    if word.contains(['$', '`', '\\', '\'', '"', '(']) || word.contains("**") || is_sequence(word) {
        return None;
    }
    let mut left = MOST_ENTRIES;
    let mut paths = Vec::new();
    for word in written_out(word)? {
        let found = found(&word, folder, place, &mut left, &|_| Ok(())).ok()?;
        paths.extend(found.into_iter().map(|found| (found.path, found.is_sure)));
    }
    Some(paths)
}

/// What the disk has for a word. Where `**` stands in it, `refuse_depth` is asked first.
fn found(
    word: &str,
    folder: &Path,
    place: &Place<'_>,
    left: &mut usize,
    refuse_depth: &dyn Fn(&[Found]) -> Result<(), Unknown>,
) -> Result<Vec<Found>, Unknown> {
    let (path, rest) = match (word.strip_prefix("~/"), place.home) {
        (Some(rest), Some(home)) => (home.to_owned(), rest),
        _ if word.starts_with('/') => (PathBuf::from("/"), word),
        _ => (folder.to_owned(), word),
    };
    let mut found = vec![Found {
        path,
        is_sure: true,
    }];
    for name in rest.split('/').filter(|name| !name.is_empty()) {
        if name.contains("**") {
            refuse_depth(&found)?;
        }
        let Some(pattern) = glob(name)? else {
            found.iter_mut().for_each(|found| found.path.push(name));
            continue;
        };
        let mut next = Vec::new();
        for from in found {
            let entries = entries(&from.path, place)?;
            let too_many = || Unknown(format!("`{word}` finds more than is looked through"));
            *left = left.checked_sub(entries.len()).ok_or_else(too_many)?;
            let matched = entries
                .iter()
                .filter_map(|name| matched(&pattern, &from, name));
            next.extend(matched);
        }
        found = next;
    }
    let may_be_there = |path: &Path| place.disk.exists(path) || place.disk.real(path).is_none();
    found.retain(|found| may_be_there(&found.path));
    Ok(found)
}

fn has_wildcard(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// One name of a word as a pattern; `None` if it is only letters. An open `[` is a letter to a shell.
fn glob(name: &str) -> Result<Option<NamePattern>, Unknown> {
    let unknown = || Unknown(format!("what `{name}` finds is not known before it runs"));
    // `[[:alpha:]]` and its like are read by no rule.
    if ["[:", "[.", "[="].iter().any(|class| name.contains(class)) {
        return Err(unknown());
    }
    match NamePattern::parse(name) {
        _ if !has_wildcard(name) => Ok(None),
        Ok(pattern) => Ok(Some(pattern)),
        Err(_) if name.contains(['*', '?']) => Err(unknown()),
        Err(_) => Ok(None),
    }
}

/// `{1..9}`, `{a..f}`: a shell counts.
fn is_sequence(word: &str) -> bool {
    word.split('{').skip(1).any(|rest| {
        rest.split('}')
            .next()
            .is_some_and(|inner| inner.contains(".."))
    })
}

fn matched(pattern: &NamePattern, from: &Found, name: &str) -> Option<Found> {
    let is_hidden = name.starts_with('.') && pattern.is_open_at_start();
    let is_sure = !is_hidden && pattern.fits(name);
    (is_sure || pattern.fits_loose(&loose(name)) || pattern.fits(name)).then(|| Found {
        path: from.path.join(name),
        is_sure: is_sure && from.is_sure,
    })
}

/// The names in a folder; none in what is no folder.
fn entries(path: &Path, place: &Place<'_>) -> Result<Vec<String>, Unknown> {
    let entries = place.disk.real(path).and_then(|real| listing(&real, place));
    let entries = entries
        .ok_or_else(|| Unknown(format!("what is in `{}` cannot be seen", path.display())))?;
    Ok(entries.into_iter().map(|(name, _)| name).collect())
}

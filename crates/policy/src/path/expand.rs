//! What a word of a shell command with `*`, `?`, `[…]` or braces may stand for.
//!
//! Asks the disk what the shell would find, so many entries and no more. A shell may be set to find more (names with a dot,
//! either case, folders at any depth): what only such a shell finds is `Maybe`.

use std::path::{Path, PathBuf};

use super::below::{MOST_ENTRIES, listing};
use super::braces::written_out;
use super::name::NamePattern;
use super::names::loose;
use super::pattern::PathPattern;
use super::target::Target;
use crate::shell::Side;
use crate::{Fit, Place};

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
        if word.contains(['$', '`', '\\', '\'', '"', '('])
            || word.contains("..}")
            || is_sequence(word)
        {
            return unknown();
        }
        let Some(words) = written_out(word) else {
            return unknown();
        };
        let mut fit = Fit::No;
        for word in words {
            fit = fit.or(|| self.one_word(&word, folder, place));
        }
        fit
    }

    fn one_word(&self, word: &str, folder: &Path, place: &Place<'_>) -> Fit {
        let literal = Target::of(word, folder, place);
        let itself = self.fits(&literal, place, Side::Restrict);
        if !word.contains(['*', '?', '[']) {
            return itself;
        }
        // A glob that finds nothing stays as it is.
        itself.or(|| match self.found(word, folder, place) {
            Ok(found) => found.iter().fold(Fit::No, |fit, found| {
                fit.or(|| self.fits_found(found, word, place))
            }),
            Err(Unknown(why)) => Fit::Maybe(why),
        })
    }

    fn fits_found(&self, found: &Found, word: &str, place: &Place<'_>) -> Fit {
        let Some(text) = found.path.to_str() else {
            return Fit::Maybe(format!("`{word}` finds a name that is no text"));
        };
        let target = Target::of(text, Path::new("/"), place);
        match self.fits(&target, place, Side::Restrict) {
            Fit::Yes if !found.is_sure => Fit::Maybe(format!(
                "`{word}` may also find `{}`, by how the shell is set up",
                target.shown
            )),
            fit => fit,
        }
    }

    fn found(&self, word: &str, folder: &Path, place: &Place<'_>) -> Result<Vec<Found>, Unknown> {
        let (start, rest) = match (word.strip_prefix("~/"), place.home) {
            (Some(rest), Some(home)) => (home.to_owned(), rest),
            _ => (
                folder.join(if word.starts_with('/') { "/" } else { "" }),
                word,
            ),
        };
        let mut found = vec![Found {
            path: start,
            is_sure: true,
        }];
        let mut left = MOST_ENTRIES;
        for name in rest.split('/').filter(|name| !name.is_empty()) {
            if !name.contains(['*', '?', '[']) {
                found.iter_mut().for_each(|found| found.path.push(name));
                continue;
            }
            if name.contains("**") {
                self.refuse_depth(&found, word, place)?;
            }
            // What is no class is letters to a shell.
            let Ok(pattern) = NamePattern::parse(name) else {
                found.iter_mut().for_each(|found| found.path.push(name));
                continue;
            };
            let mut next = Vec::new();
            for from in found {
                let entries = entries(&from.path, place)?;
                left = left.checked_sub(entries.len()).ok_or_else(|| {
                    Unknown(format!("`{word}` finds more than is looked through"))
                })?;
                next.extend(
                    entries
                        .iter()
                        .filter_map(|name| matched(&pattern, &from, name)),
                );
            }
            found = next;
        }
        let may_be_there = |path: &Path| place.disk.exists(path) || place.disk.real(path).is_none();
        found.retain(|found| may_be_there(&found.path));
        Ok(found)
    }

    /// `**` stands for folders at any depth where the shell is set to it.
    fn refuse_depth(&self, found: &[Found], word: &str, place: &Place<'_>) -> Result<(), Unknown> {
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

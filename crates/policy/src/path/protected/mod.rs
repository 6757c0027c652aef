//! What no rule opens.
//!
//! Owns the question whether a file may be touched only by a person's word, and the sentence that says why. The list is in
//! `table.rs`. Names are compared loosely, by letters and by where links lead; a path that leads nobody knows where is
//! protected too.

mod table;

use std::path::{Path, PathBuf};

use self::table::{ROWS, Row, Start};
use super::Touch;
use super::name::NamePattern;
use super::names::{Names, tidy};
use super::target::{Target, shown};
use crate::Place;

/// Why this may not be touched by rule, as a part of a sentence; `None` if rules may decide.
pub fn protected(target: &Target, touch: Touch, place: &Place<'_>) -> Option<String> {
    if let Some(why) = by_path(&target.lexical, touch, place) {
        return Some(format!("`{}` {why}", target.shown));
    }
    let Some(real) = &target.real else {
        return Some(format!("where `{}` leads cannot be said", target.shown));
    };
    let why = by_path(real, touch, place)?;
    Some(format!(
        "`{}` leads to `{}`, which {why}",
        target.shown,
        shown(real, place)
    ))
}

/// Why this folder may not be touched by rule as a whole, with all in it: itself, or something protected that is there.
/// What is protected at any depth is looked for right in the folder only.
pub fn protected_below(folder: &Target, touch: Touch, place: &Place<'_>) -> Option<String> {
    protected(folder, touch, place).or_else(|| {
        let real = folder.real.as_deref()?;
        let named = fixed(touch, place).chain(own(place).map(|path| (path, OWN)));
        let (path, why) = named.chain(right_in(real, touch)).find(|(path, _)| {
            let real_path = place.disk.real(path).unwrap_or_else(|| path.clone());
            let is_below = |path: &Path| Names::of(path).loosely_below(&Names::of(real)).is_some();
            (is_below(path) || is_below(&real_path)) && place.disk.exists(path)
        })?;
        Some(format!(
            "in `{}` is `{}`, which {why}",
            folder.shown,
            shown(&path, place)
        ))
    })
}

const OWN: &str = "belongs to countersign itself";

fn by_path(path: &Path, touch: Touch, place: &Place<'_>) -> Option<&'static str> {
    let names = Names::of(path);
    let is_own = own(place).any(|own| names.loosely_below(&Names::of(&own)).is_some());
    if is_own {
        return Some(OWN);
    }
    let homes = homes(place);
    let row = ROWS
        .iter()
        .filter(|row| row.is_about(touch))
        .find(|row| row.means(&names, &homes))?;
    Some(row.why)
}

/// The person's home, by its letters and by where it leads.
fn homes(place: &Place<'_>) -> Vec<Names> {
    both(place.home.map(tidy).into_iter(), place)
        .map(|home| Names::of(&home))
        .collect()
}

fn own(place: &Place<'_>) -> impl Iterator<Item = PathBuf> {
    both(place.own.iter().map(|own| tidy(own)), place)
}

fn both<'a>(
    paths: impl Iterator<Item = PathBuf> + 'a,
    place: &'a Place<'_>,
) -> impl Iterator<Item = PathBuf> + 'a {
    paths.flat_map(|path| {
        let real = place.disk.real(&path).filter(|real| *real != path);
        std::iter::once(path).chain(real)
    })
}

/// The paths of rows that name one.
fn fixed<'a>(
    touch: Touch,
    place: &'a Place<'_>,
) -> impl Iterator<Item = (PathBuf, &'static str)> + 'a {
    let rows = ROWS
        .iter()
        .filter(move |row| row.is_about(touch) && !row.names.contains('*'));
    rows.flat_map(|row| {
        let starts = match row.start {
            Start::Anywhere => [place.home, Some(place.cwd)],
            Start::Home => [place.home, None],
            Start::Root => [Some(Path::new("/")), None],
        };
        let starts = starts.into_iter().flatten();
        starts.map(|start| (start.join(row.names), row.why))
    })
}

/// What is protected at any depth, right in this folder.
fn right_in(folder: &Path, touch: Touch) -> impl Iterator<Item = (PathBuf, &'static str)> {
    ROWS.iter()
        .filter(move |row| row.is_about(touch) && row.start == Start::Anywhere)
        .map(|row| (folder.join(row.names), row.why))
}

impl Row {
    fn is_about(&self, touch: Touch) -> bool {
        self.touch.is_none_or(|only| only == touch)
    }

    fn means(&self, path: &Names, homes: &[Names]) -> bool {
        match self.start {
            Start::Root => self.leads(&path.loose),
            Start::Home => homes
                .iter()
                .filter_map(|home| path.loosely_below(home))
                .any(|rest| self.leads(rest)),
            Start::Anywhere => {
                let found = |at: &usize| self.leads(&path.loose[*at..]);
                (0..path.loose.len())
                    .filter(found)
                    .any(|at| !is_worktree(&path.loose[at..]))
            }
        }
    }

    /// Whether the names begin with those of the row: a folder means all in it.
    fn leads(&self, names: &[String]) -> bool {
        let mut names = names.iter();
        self.names.split('/').all(|wanted| {
            names.next().is_some_and(|name| match wanted.contains('*') {
                true => NamePattern::parse(wanted).is_ok_and(|wanted| wanted.fits_loose(name)),
                false => wanted.eq_ignore_ascii_case(name),
            })
        })
    }
}

/// What is in a worktree that Claude Code made below its folder is work like any other.
fn is_worktree(names: &[String]) -> bool {
    matches!(names, [claude, worktrees, _, _, ..] if claude == ".claude" && worktrees == "worktrees")
}

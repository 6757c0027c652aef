//! What no rule opens.
//!
//! Owns the question whether a file may be touched only by a person's word, and the sentence that says why. The list is in
//! `table.rs`. Names are compared loosely, by letters and by where links lead; a path that leads nobody knows where is
//! protected too.

mod index;
mod table;

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use self::table::{ROWS, Row, Start};
use super::Touch;
use super::name::NamePattern;
use super::names::{Names, tidy};
use super::target::{Target, shown};
use crate::Place;

const OWN: &str = "belongs to countersign itself";

/// What no rule opens in one place. Its own folders and the person's home are taken apart once, for however many paths are
/// held against them.
#[derive(Debug)]
pub struct Closed<'a> {
    place: &'a Place<'a>,
    folders: OnceCell<Folders>,
}

/// Each by its letters and by where it leads.
#[derive(Debug)]
struct Folders {
    own: Vec<Names>,
    homes: Vec<Names>,
}

impl<'a> Closed<'a> {
    /// In this place.
    pub fn at(place: &'a Place<'a>) -> Self {
        Self {
            place,
            folders: OnceCell::new(),
        }
    }

    /// Why this may not be touched by rule, as a part of a sentence; `None` if rules may decide.
    pub fn why(&self, target: &Target, touch: Touch) -> Option<String> {
        if let Some(why) = self.by_path(&target.lexical, touch) {
            return Some(format!("`{}` {why}", target.shown));
        }
        let Some(real) = &target.real else {
            return Some(format!("where `{}` leads cannot be said", target.shown));
        };
        if *real == target.lexical {
            return None;
        }
        let why = self.by_path(real, touch)?;
        Some(format!(
            "`{}` leads to `{}`, which {why}",
            target.shown,
            shown(real, self.place)
        ))
    }

    /// Why no plan may be written here, a real path. The CLI keeps plans in `.claude/plans`, which is judged by where that stands.
    pub fn why_plan(&self, real: &Path) -> Option<String> {
        let judged = match (real.parent(), real.file_name()) {
            (Some(folder), Some(name)) if folder.ends_with(".claude/plans") => {
                let above = folder.parent().and_then(Path::parent);
                above.map_or_else(|| real.to_owned(), |above| above.join(name))
            }
            _ => real.to_owned(),
        };
        let why = self.by_path(&judged, Touch::Write)?;
        Some(format!("`{}` {why}", shown(real, self.place)))
    }

    /// Why this folder may not be touched by rule as a whole, with all in it: itself, or something protected that is there.
    /// What is protected at any depth is looked for right in the folder only.
    pub fn why_below(&self, folder: &Target, touch: Touch) -> Option<String> {
        self.why(folder, touch).or_else(|| {
            let real = folder.real.as_deref()?;
            let named = fixed(touch, self.place).chain(right_in(real, touch));
            self.found_below(folder, named.map(|(path, row)| (path, row.why)))
        })
    }

    /// Why no rule may give this folder a second name. By that name, only what is protected at any depth would be known.
    pub fn why_through(&self, folder: &Target) -> Option<String> {
        let touches = [Touch::Read, Touch::Write].into_iter();
        let named = touches.flat_map(|touch| fixed(touch, self.place));
        let named = named.filter(|(_, row)| row.start != Start::Anywhere);
        self.found_below(folder, named.map(|(path, row)| (path, row.why)))
    }

    /// The first of these, or of our own folders, that is there and lies in the folder.
    fn found_below(
        &self,
        folder: &Target,
        named: impl Iterator<Item = (PathBuf, &'static str)>,
    ) -> Option<String> {
        let place = self.place;
        let above = Names::of(folder.real.as_deref()?);
        let mut named = named.chain(own(place).map(|path| (path, OWN)));
        let (path, why) = named.find(|(path, _)| {
            let real_path = place.disk.real(path).unwrap_or_else(|| path.clone());
            let is_below = |path: &Path| Names::of(path).loosely_below(&above).is_some();
            (is_below(path) || is_below(&real_path)) && place.disk.exists(path)
        })?;
        Some(format!(
            "in `{}` is `{}`, which {why}",
            folder.shown,
            shown(&path, place)
        ))
    }

    fn by_path(&self, path: &Path, touch: Touch) -> Option<&'static str> {
        let names = Names::of(path);
        let Folders { own, homes } = self.folders();
        let is_own = own.iter().any(|own| names.loosely_below(own).is_some());
        if is_own {
            return Some(OWN);
        }
        index::row_of(&names, homes, touch).map(|row| row.why)
    }

    fn folders(&self) -> &Folders {
        self.folders.get_or_init(|| {
            let home = self.place.home.map(tidy).into_iter();
            Folders {
                own: own(self.place).map(|own| Names::of(&own)).collect(),
                homes: both(home, self.place)
                    .map(|home| Names::of(&home))
                    .collect(),
            }
        })
    }
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
) -> impl Iterator<Item = (PathBuf, &'static Row)> + 'a {
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
        starts.map(move |start| (start.join(row.names), row))
    })
}

/// What is protected at any depth, right in this folder.
fn right_in(folder: &Path, touch: Touch) -> impl Iterator<Item = (PathBuf, &'static Row)> {
    ROWS.iter()
        .filter(move |row| row.is_about(touch) && row.start == Start::Anywhere)
        .map(|row| (folder.join(row.names), row))
}

impl Row {
    fn is_about(&self, touch: Touch) -> bool {
        self.touch.is_none_or(|only| only == touch)
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

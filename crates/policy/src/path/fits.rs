//! Whether a pattern means a target.
//!
//! Owns the two sides. To allow, the pattern must mean the letters and where they lead. To restrict, either is enough, names are
//! compared loosely as well, and what the pattern itself names by a link is followed too.

use std::path::{Path, PathBuf};

use super::names::{MOST_PATH, Names, tidy};
use super::pattern::{Anchor, Part, PathPattern, Way};
use super::target::{Target, roots};
use crate::shell::Side;
use crate::{Fit, Place};

/// How far a pattern means a path. Ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// Neither it nor anything below it.
    No,
    /// Something below it may be meant.
    Below,
    /// It lies in a folder outside of the working folders that has a name which is meant at any depth.
    Perhaps,
    /// It is meant, or a folder it lies in.
    Yes,
}

/// A restricting pattern, ready to be held against many paths of one place.
#[derive(Debug)]
pub(super) struct Reader<'p> {
    spots: Vec<Spot<'p>>,
    /// The ways that are meant at any depth.
    floating: Vec<&'p Way>,
    roots: Vec<Names>,
}

/// A place from which a pattern, or the rest of it, is read.
#[derive(Debug)]
struct Spot<'p> {
    path: PathBuf,
    root: Names,
    parts: &'p [Part],
    is_floating: bool,
}

impl PathPattern {
    /// Whether the target is meant.
    pub fn fits(&self, target: &Target, place: &Place<'_>, side: Side) -> Fit {
        match side {
            Side::Allow => Fit::certain(self.written.allows(target, place)),
            Side::Restrict => self.judged(&self.reader(place), target, place),
        }
    }

    /// Whether the target is restricted.
    pub(super) fn judged(&self, reader: &Reader<'_>, target: &Target, place: &Place<'_>) -> Fit {
        if target.lexical.as_os_str().len() > MOST_PATH {
            return Fit::No;
        }
        let paths = target.real.iter().chain([&target.lexical]);
        let most = paths.map(|path| reader.reach(&Names::of(path))).max();
        let has_no_home = place.home.is_none();
        match most {
            Some(Reach::Yes) => Fit::Yes,
            _ if target.real.is_none() => {
                Fit::Maybe(format!("where `{}` leads cannot be said", target.shown))
            }
            _ if has_no_home && self.ways.iter().any(|way| way.anchor == Anchor::Home) => {
                Fit::Maybe(format!(
                    "what `{}` means cannot be said without a home folder",
                    self.text
                ))
            }
            Some(Reach::Perhaps) => Fit::Maybe(self.perhaps()),
            _ => Fit::No,
        }
    }

    /// Why [`Reach::Perhaps`].
    pub(super) fn perhaps(&self) -> String {
        format!(
            "`{}` may mean a folder outside of the working folder too",
            self.text
        )
    }

    /// The pattern as it restricts in this place.
    pub(super) fn reader(&self, place: &Place<'_>) -> Reader<'_> {
        let spots = self.ways.iter().flat_map(|way| way.spots(place)).collect();
        let floating = self.ways.iter().filter(|way| way.floats()).collect();
        let roots = roots(place).map(|root| Names::of(&root)).collect();
        Reader {
            spots,
            floating,
            roots,
        }
    }
}

impl Reader<'_> {
    /// How far a path is meant, however its names are compared.
    pub(super) fn reach(&self, path: &Names) -> Reach {
        let spots = self.spots.iter().map(|spot| spot.reach(path));
        spots.max().unwrap_or(Reach::No).max(self.elsewhere(path))
    }

    /// Whether names below this path may be meant together with its own. A single name that is meant at any depth is
    /// found wherever it really stands.
    pub(super) fn goes_on_below(&self, path: &Names) -> bool {
        let is_tied = |spot: &&Spot<'_>| {
            let names = spot
                .parts
                .iter()
                .filter(|part| matches!(part, Part::Name(_)));
            !spot.is_floating || names.count() > 1
        };
        let mut tied = self.spots.iter().filter(is_tied);
        tied.any(|spot| spot.reach(path) == Reach::Below)
    }

    /// A name that is meant at any depth, in a path outside of the working folders: meant if it is the file's own, and
    /// perhaps if a folder has it.
    fn elsewhere(&self, path: &Names) -> Reach {
        let is_inside = self
            .roots
            .iter()
            .any(|root| path.loosely_below(root).is_some());
        let Some(cwd) = self
            .roots
            .first()
            .filter(|_| !is_inside && !self.floating.is_empty())
        else {
            return Reach::No;
        };
        // Folders that the working folder lies in, too, say nothing.
        let pairs = path.loose.iter().zip(&cwd.loose);
        let shared = pairs.take_while(|(one, other)| one == other).count();
        let found = |end: usize| {
            self.floating.iter().any(|way| {
                let read = |names: &[String], is_loose| {
                    walk(&way.parts, &names[shared..end], true, is_loose) == Reach::Yes
                };
                read(&path.exact, false) || read(&path.loose, true)
            })
        };
        let all = path.loose.len();
        match all > shared && found(all) {
            false => Reach::Below,
            true if found(all - 1) => Reach::Perhaps,
            true => Reach::Yes,
        }
    }

    /// The paths of which every name is written out.
    pub(super) fn named(&self) -> impl Iterator<Item = PathBuf> {
        self.spots
            .iter()
            .filter(|spot| !spot.is_floating)
            .filter_map(|spot| {
                let mut path = spot.path.clone();
                for part in spot.parts {
                    match part {
                        Part::Name(name) => path.push(name.literal()?),
                        Part::Any => return None,
                    }
                }
                Some(path)
            })
    }
}

impl Spot<'_> {
    fn reach(&self, path: &Names) -> Reach {
        let exact = path.below(&self.root).map(|names| (names, false));
        let loose = path.loosely_below(&self.root).map(|names| (names, true));
        let read = exact.into_iter().chain(loose);
        let most = read
            .map(|(names, is_loose)| walk(self.parts, names, self.is_floating, is_loose))
            .max();
        match self.root.loosely_below(path).is_some() {
            true => most.unwrap_or(Reach::No).max(Reach::Below),
            false => most.unwrap_or(Reach::No),
        }
    }
}

impl Way {
    fn allows(&self, target: &Target, place: &Place<'_>) -> bool {
        let Some(real) = &target.real else {
            return false;
        };
        if matches!(self.anchor, Anchor::Here { .. }) && !target.is_inside(place) {
            return false;
        }
        let Some(root) = self.roots(place).next() else {
            return false;
        };
        let (root, parts) = self.entry(root);
        let Some(real_root) = place.disk.real(&root) else {
            return false;
        };
        let means = |path: &Path, root: &Path| {
            let (path, root) = (Names::of(path), Names::of(root));
            path.is_text
                && root.is_text
                && path
                    .below(&root)
                    .is_some_and(|names| walk(parts, names, self.is_bare, false) == Reach::Yes)
        };
        let by_letters = means(&target.lexical, &root) || means(&target.lexical, &real_root);
        by_letters && means(real, &real_root)
    }

    /// `//tmp/x` starts at `/tmp`: a link in the root of the disk is the system's own (macOS has several), and who means
    /// the one name means the other. No link further down is followed for a rule that allows.
    fn entry(&self, root: PathBuf) -> (PathBuf, &[Part]) {
        match (&self.anchor, self.parts.split_first()) {
            (Anchor::Root, Some((Part::Name(first), rest))) => match first.literal() {
                Some(drive) if cfg!(windows) => (PathBuf::from(format!("{drive}:\\")), rest),
                Some(first) => (root.join(first), rest),
                None => (root, &self.parts),
            },
            _ => (root, &self.parts),
        }
    }

    /// Every place from which it is read when it restricts.
    fn spots(&self, place: &Place<'_>) -> Vec<Spot<'_>> {
        let mut spots = Vec::new();
        let mut add = |path: PathBuf, parts, is_floating| {
            spots.push(Spot {
                root: Names::of(&path),
                path,
                parts,
                is_floating,
            });
        };
        for root in self.roots(place) {
            let real = place.disk.real(&root);
            if let Some((led, used)) = self.led_to(&root, real.as_deref(), place) {
                add(led, &self.parts[used..], false);
            }
            if let Some(real) = real.filter(|real| *real != root) {
                add(real, &self.parts, self.floats());
            }
            add(root, &self.parts, self.floats());
        }
        spots
    }

    /// The folders it may start from; to allow, the first alone counts.
    fn roots(&self, place: &Place<'_>) -> Box<dyn Iterator<Item = PathBuf>> {
        match &self.anchor {
            Anchor::Root => Box::new(std::iter::once(top(&tidy(place.cwd)))),
            Anchor::Home => Box::new(place.home.map(tidy).into_iter()),
            Anchor::Base(base) => Box::new(std::iter::once(base.clone())),
            Anchor::Here { up } => {
                let up = *up;
                let climbed =
                    move |root: PathBuf| root.ancestors().nth(up).unwrap_or(&top(&root)).to_owned();
                Box::new(roots(place).map(climbed).collect::<Vec<_>>().into_iter())
            }
        }
    }

    /// Where the names at its beginning lead, if that is elsewhere, and how many they are.
    fn led_to(
        &self,
        root: &Path,
        real: Option<&Path>,
        place: &Place<'_>,
    ) -> Option<(PathBuf, usize)> {
        let beginning = self.beginning();
        if beginning.is_empty() {
            return None;
        }
        let named = |root: &Path| {
            beginning
                .iter()
                .fold(root.to_owned(), |path, name| path.join(name))
        };
        let led = place.disk.real(&named(root))?;
        (real.is_none_or(|real| named(real) != led)).then_some((led, beginning.len()))
    }
}

/// The root of the disk. On Windows every drive is a folder of it, see [`Names`].
fn top(path: &Path) -> PathBuf {
    match cfg!(windows) {
        true => PathBuf::new(),
        false => path
            .ancestors()
            .last()
            .map_or_else(PathBuf::new, Path::to_owned),
    }
}

/// Reads the names by the parts of a pattern. Keeps the set of places in the names that a part could have come to, so the
/// time is bounded by the product of the two lengths.
fn walk(parts: &[Part], names: &[String], is_floating: bool, is_loose: bool) -> Reach {
    let mut came_to = vec![false; names.len() + 1];
    let starts = if is_floating { names.len() } else { 0 };
    came_to[..=starts].fill(true);
    let mut most = Reach::No;
    for part in parts {
        if came_to[names.len()] {
            most = Reach::Below;
        }
        match part {
            Part::Any => {
                if let Some(first) = came_to.iter().position(|is_there| *is_there) {
                    came_to[first..].fill(true);
                }
            }
            Part::Name(pattern) => {
                for at in (0..names.len()).rev() {
                    let fits = came_to[at]
                        && match is_loose {
                            true => pattern.fits_loose(&names[at]),
                            false => pattern.fits(&names[at]),
                        };
                    came_to[at + 1] = fits;
                }
                came_to[0] = false;
            }
        }
    }
    match came_to.contains(&true) {
        true => Reach::Yes,
        false => most,
    }
}

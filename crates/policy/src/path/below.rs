//! Whether something that a pattern means lies in a folder, however deep.
//!
//! Asks the disk, so many entries and no more. Links are looked at but not walked through: what lies behind one that
//! leads out, to where something may be meant, is not known.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use super::fits::{Reach, Reader};
use super::names::Names;
use super::pattern::PathPattern;
use super::target::Target;
use crate::{Fit, Place};

/// So many entries are looked at where something may be meant. If there are more, it cannot be said.
pub(super) const MOST_ENTRIES: usize = 20_000;

/// So many are looked at where nothing is meant by its own name, for links that lead to what is. Then there are none.
const MOST_FOR_LINKS: usize = 5_000;

impl PathPattern {
    /// Whether something that is meant lies in this folder or deeper, on the side that restricts.
    pub fn is_below(&self, folder: &Target, place: &Place<'_>) -> Fit {
        let reader = self.reader(place);
        let itself = self.judged(&reader, folder, place);
        let Some(real) = folder.real.as_deref().filter(|_| !itself.is_yes()) else {
            return itself;
        };
        itself.or(|| {
            let inside = Names::of(real);
            let is_named = reader.named().any(|path| {
                Names::of(&path).loosely_below(&inside).is_some() && place.disk.exists(&path)
            });
            Fit::certain(is_named).or(|| self.found_below(&reader, real, &folder.shown, place))
        })
    }

    fn found_below(
        &self,
        reader: &Reader<'_>,
        folder: &Path,
        shown: &str,
        place: &Place<'_>,
    ) -> Fit {
        let mut open = Open::new(reader, folder);
        let (mut left, mut left_for_links) = (MOST_ENTRIES, MOST_FOR_LINKS);
        let mut unsure = None;
        while let Some((at, is_near)) = open.next() {
            let Some(entries) = listing(&at, place) else {
                if is_near {
                    unsure = Some(format!("what is in `{}` cannot be seen", at.display()));
                }
                continue;
            };
            let budget = if is_near {
                &mut left
            } else {
                &mut left_for_links
            };
            for (name, is_folder) in entries {
                if *budget == 0 {
                    break;
                }
                *budget -= 1;
                let path = at.join(name);
                match self.entry(reader, &path, folder, place) {
                    Fit::Yes => return Fit::Yes,
                    Fit::Maybe(why) => unsure = Some(why),
                    Fit::No => {}
                }
                if is_folder {
                    open.push(reader, path);
                }
            }
            if left == 0 {
                return Fit::Maybe(format!(
                    "there is more in `{shown}` than is looked through for `{}`",
                    self.text
                ));
            }
            if left_for_links == 0 {
                break;
            }
        }
        unsure.map_or(Fit::No, Fit::Maybe)
    }

    /// Whether an entry is meant, itself or by where it leads.
    fn entry(&self, reader: &Reader<'_>, path: &Path, folder: &Path, place: &Place<'_>) -> Fit {
        let names = Names::of(path);
        let by_name = self.said(reader.reach(&names));
        if by_name.is_yes() || !place.disk.is_link(path) {
            return by_name;
        }
        let Some(real) = place.disk.real(path) else {
            return Fit::Maybe(format!("where `{}` leads cannot be said", path.display()));
        };
        let reach = reader.reach(&Names::of(&real));
        // What it leads to inside of the folder is come to by its own name, too.
        let leads_on = reach == Reach::Below && !real.starts_with(folder);
        if (leads_on || reader.goes_on_below(&names)) && place.disk.list(&real).is_some() {
            return Fit::Maybe(format!(
                "`{}` leads to `{}`",
                path.display(),
                real.display()
            ));
        }
        by_name.or(|| self.said(reach))
    }

    fn said(&self, reach: Reach) -> Fit {
        match reach {
            Reach::No | Reach::Below => Fit::No,
            Reach::Perhaps => Fit::Maybe(self.perhaps()),
            Reach::Yes => Fit::Yes,
        }
    }
}

/// The folders still to be looked into: those where something may be meant come first.
struct Open {
    near: VecDeque<PathBuf>,
    far: VecDeque<PathBuf>,
}

impl Open {
    fn new(reader: &Reader<'_>, folder: &Path) -> Self {
        let mut open = Open {
            near: VecDeque::new(),
            far: VecDeque::new(),
        };
        open.push(reader, folder.to_owned());
        open
    }

    fn push(&mut self, reader: &Reader<'_>, folder: PathBuf) {
        match reader.reach(&Names::of(&folder)) {
            Reach::No => self.far.push_back(folder),
            _ => self.near.push_back(folder),
        }
    }

    fn next(&mut self) -> Option<(PathBuf, bool)> {
        let near = self.near.pop_front().map(|folder| (folder, true));
        near.or_else(|| Some((self.far.pop_front()?, false)))
    }
}

/// What is in a folder, by its real path: nothing in what is no folder or is not there, `None` if it cannot be seen.
pub(super) fn listing(real: &Path, place: &Place<'_>) -> Option<Vec<(String, bool)>> {
    if let Some(entries) = place.disk.list(real) {
        return Some(entries);
    }
    if !place.disk.exists(real) {
        return Some(Vec::new());
    }
    let siblings = place.disk.list(real.parent()?)?;
    let name = real.file_name()?.to_str()?;
    let is_file = siblings
        .iter()
        .any(|(sibling, is_folder)| sibling == name && !is_folder);
    is_file.then(Vec::new)
}

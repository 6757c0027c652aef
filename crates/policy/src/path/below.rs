//! Whether something that a pattern means lies in a folder, however deep.
//!
//! Asks the disk, so many entries and no more. Links are looked at but not walked through: what lies behind one that
//! leads out is not known.

use std::collections::VecDeque;
use std::path::Path;

use super::fits::{Reach, Reader};
use super::names::Names;
use super::pattern::PathPattern;
use super::target::Target;
use crate::shell::Side;
use crate::{Fit, Place};

/// So many entries are looked at.
pub(super) const MOST_ENTRIES: usize = 20_000;

impl PathPattern {
    /// Whether something that is meant lies in this folder or deeper, on the side that restricts.
    pub fn is_below(&self, folder: &Target, place: &Place<'_>) -> Fit {
        let itself = self.fits(folder, place, Side::Restrict);
        let Some(real) = folder.real.as_deref().filter(|_| !itself.is_yes()) else {
            return itself;
        };
        itself.or(|| {
            let reader = self.reader(place);
            let is_near = |path: &Path| reader.reach(&Names::of(path)) >= Reach::Below;
            if !is_near(real) && !is_near(&folder.lexical) {
                return Fit::No;
            }
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
        let mut open = VecDeque::from([folder.to_owned()]);
        let mut left = MOST_ENTRIES;
        let mut unsure = None;
        while let Some(at) = open.pop_front() {
            if reader.reach(&Names::of(&at)) == Reach::No {
                continue;
            }
            let Some(entries) = listing(&at, place) else {
                unsure = Some(format!("what is in `{}` cannot be seen", at.display()));
                continue;
            };
            for (name, is_folder) in entries {
                if left == 0 {
                    return Fit::Maybe(format!(
                        "there is more in `{shown}` than is looked through for `{}`",
                        self.text
                    ));
                }
                left -= 1;
                let path = at.join(name);
                match self.entry(reader, &path, folder, place) {
                    Fit::Yes => return Fit::Yes,
                    Fit::Maybe(why) => unsure = Some(why),
                    Fit::No => {}
                }
                if is_folder {
                    open.push_back(path);
                }
            }
        }
        unsure.map_or(Fit::No, Fit::Maybe)
    }

    /// Whether an entry is meant, itself or by where it leads.
    fn entry(&self, reader: &Reader<'_>, path: &Path, folder: &Path, place: &Place<'_>) -> Fit {
        let by_name = self.said(reader.reach(&Names::of(path)));
        if by_name.is_yes() || !place.disk.is_link(path) {
            return by_name;
        }
        let Some(real) = place.disk.real(path) else {
            return Fit::Maybe(format!("where `{}` leads cannot be said", path.display()));
        };
        match reader.reach(&Names::of(&real)) {
            // Inside of the folder it is come to by its own name.
            Reach::Below if !real.starts_with(folder) && place.disk.list(&real).is_some() => {
                Fit::Maybe(format!(
                    "`{}` leads out to `{}`",
                    path.display(),
                    real.display()
                ))
            }
            reach => by_name.or(|| self.said(reach)),
        }
    }

    fn said(&self, reach: Reach) -> Fit {
        match reach {
            Reach::No | Reach::Below => Fit::No,
            Reach::Perhaps => Fit::Maybe(self.perhaps()),
            Reach::Yes => Fit::Yes,
        }
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

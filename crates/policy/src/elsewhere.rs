//! Whether a command means something else in the folder that it is moved to.
//!
//! The configuration of a repository says what `git` runs: a pager, a monitor of files, a program that shows differences. A
//! rule for `git log` means the working folder's, not that of a folder one has moved to; one for `./run.sh` means the program
//! that stands in the working folder; one for `npm test` means a project in the working folders.

use std::path::Path;

use crate::naming::folder_of;
use crate::path::Target;
use crate::place::Place;
use crate::shell::{Folder, Simple};

/// Whether this is another program than the same words mean in the working folder: `cd sub && ./run.sh`.
pub(crate) fn is_program_elsewhere(simple: &Simple, place: &Place<'_>) -> bool {
    let program = simple.words.first().and_then(|word| word.literal());
    let is_relative = |name: &str| name.contains('/') && !name.starts_with(['/', '~']);
    if simple.folder == Folder::Start || !program.is_some_and(is_relative) {
        return false;
    }
    let Some(folder) = folder_of(&simple.folder, place) else {
        return true;
    };
    let target = Target::of(&folder.to_string_lossy(), place.cwd, place);
    target.real.is_none() || target.real != place.disk.real(place.cwd)
}

/// Whether this is a `git` that was moved, by `cd` or the like, out of the working folders or into a repository in them.
/// Where its own words say the folder (`git -C x`), a rule has to mean these words.
pub(crate) fn is_git_elsewhere(simple: &Simple, place: &Place<'_>) -> bool {
    let text = |at: usize| simple.words.get(at).and_then(|word| word.literal());
    let is_git = text(0).is_some_and(|name| name.rsplit('/').next() == Some("git"));
    let says_folder = text(1).is_some_and(|word| word.starts_with("-C") || word.starts_with("--"));
    if !is_git || says_folder {
        return false;
    }
    let Some(folder) = folder_of(&simple.folder, place) else {
        return true;
    };
    let target = Target::of(&folder.to_string_lossy(), place.cwd, place);
    let here = place.disk.real(place.cwd);
    match (target.real, here) {
        (Some(real), Some(here)) => {
            let below = real.ancestors().take_while(|folder| *folder != here);
            !real.starts_with(&here) || below.into_iter().any(|folder| is_repository(folder, place))
        }
        _ => true,
    }
}

/// Whether a program that runs what a project says is moved to one outside of the working folders, by `cd` or by an option
/// that the rule does not spell out: `npm test --prefix x`, `make -C x`.
pub(crate) fn is_project_elsewhere(simple: &Simple, spelled: usize, place: &Place<'_>) -> bool {
    if !simple.runs_project() {
        return false;
    }
    let Some(folder) = folder_of(&simple.folder, place) else {
        return true;
    };
    let is_inside = |given: &str| Target::of(given, &folder, place).is_inside(place);
    let is_moved = !simple.stands_where_said(spelled) && !is_inside(".");
    let mut places = simple.moved_to(spelled).into_iter();
    is_moved || !places.all(|place| place.is_some_and(is_inside))
}

/// Whether a folder is a repository: it has a `.git`, or is one itself.
fn is_repository(folder: &Path, place: &Place<'_>) -> bool {
    let has = |name: &str| place.disk.exists(&folder.join(name));
    has(".git") || (has("HEAD") && has("objects"))
}

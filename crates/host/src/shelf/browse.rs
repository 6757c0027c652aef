//! Folders of this machine, as a person who starts a session looks through them.
//!
//! Owns the walk and its bounds. Invariants: nothing outside of the roots is shown, whatever links say, nor whether it is
//! there; files are never named; what is ours is left out.

use std::path::{Path, PathBuf};

use crate::control::{Browsed, BrowsedFolder, ControlError, Result};

/// So many folders are listed.
const MOST: usize = 1_000;

/// What lies in a folder below one of the roots; the roots without a folder. `ours` is never shown. Blocks.
pub(crate) fn browse(roots: &[PathBuf], ours: &Path, path: Option<&Path>) -> Result<Browsed> {
    let roots: Vec<PathBuf> = roots
        .iter()
        .filter_map(|root| root.canonicalize().ok())
        .collect();
    let ours = ours.canonicalize().unwrap_or_else(|_| ours.to_owned());
    let is_open = |path: &Path| {
        let is_within = roots.iter().any(|root| path.starts_with(root));
        is_within && !path.starts_with(&ours)
    };
    let Some(asked) = path else {
        return Ok(Browsed {
            path: None,
            parent: None,
            folders: roots.iter().filter_map(|root| folder(root)).collect(),
            is_cut: false,
        });
    };
    // The same words for what is not there and for what is not to be seen.
    let nothing = || ControlError::not_found("folder", asked.display());
    let real = asked.canonicalize().map_err(|_| nothing())?;
    if !asked.is_absolute() || !is_open(&real) {
        return Err(nothing());
    }
    let entries = std::fs::read_dir(&real).map_err(|_| nothing())?;
    let is_shown = |entry: &std::fs::DirEntry| {
        let name = entry.file_name();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        is_folder && !name.as_encoded_bytes().starts_with(b".") && is_open(&entry.path())
    };
    let mut folders: Vec<BrowsedFolder> = Vec::new();
    let mut is_cut = false;
    for entry in entries.flatten().filter(is_shown) {
        if folders.len() >= MOST {
            is_cut = true;
            break;
        }
        folders.extend(folder(&entry.path()));
    }
    folders.sort();
    Ok(Browsed {
        parent: real
            .parent()
            .filter(|above| is_open(above))
            .map(Path::to_owned),
        path: Some(real),
        folders,
        is_cut,
    })
}

fn folder(path: &Path) -> Option<BrowsedFolder> {
    let name = path
        .file_name()
        .map_or("/".into(), |name| name.to_string_lossy());
    // A path that is not text cannot be asked for.
    path.to_str()?;
    Some(BrowsedFolder {
        name: name.into_owned(),
        is_repository: path.join(".git").exists(),
        path: path.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_below_the_roots_are_shown_whatever_links_say() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let (open, closed, data) = (
            root.join("open"),
            root.join("closed"),
            root.join("open/data"),
        );
        for folder in [
            "open/project/.git",
            "open/.hidden",
            "open/data/sessions",
            "closed/secret",
        ] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        std::fs::write(open.join("file"), "").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&closed, open.join("link")).unwrap();
        let look = |path: &Path| browse(std::slice::from_ref(&open), &data, Some(path));
        let seen = look(&open).unwrap();
        let names: Vec<_> = seen.folders.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["project"]);
        assert!(seen.folders[0].is_repository && seen.parent.is_none());
        assert_eq!(look(&open.join("project")).unwrap().parent.unwrap(), open);
        for outside in [
            closed.clone(),
            open.join("link"),
            open.join("link/secret"),
            open.join("project/../../closed"),
            data.join("sessions"),
            open.join("file"),
            root.join("not there"),
            PathBuf::from("open"),
        ] {
            let error = look(&outside).unwrap_err();
            assert!(
                matches!(error, ControlError::NotFound { .. }),
                "{outside:?}: {error}"
            );
        }
        let roots = browse(std::slice::from_ref(&open), &data, None).unwrap();
        assert_eq!(roots.folders[0].path, open);
    }
}

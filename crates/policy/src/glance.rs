//! The disk as one decision sees it.
//!
//! Owns the memory of where paths lead, for the length of one decision and no longer. A call is held against a table of
//! protected places, against rules and folders, and most of their paths begin alike: each name of them is looked at once.
//! Invariant: the answers are those of the disk behind it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use crate::place::Disk;

/// A disk that is asked once about each name.
pub(crate) struct Glance<'a> {
    disk: &'a dyn Disk,
    real: RefCell<HashMap<PathBuf, Option<PathBuf>>>,
}

impl<'a> Glance<'a> {
    pub(crate) fn at(disk: &'a dyn Disk) -> Self {
        Self {
            disk,
            real: RefCell::default(),
        }
    }

    /// Folder by folder, so that what two paths share is looked at once.
    fn look(&self, path: &Path) -> Option<PathBuf> {
        let mut parts = path.components();
        match (parts.next_back(), parts.as_path().parent()) {
            // What stands right below the root, and steps up, are for the disk itself.
            (Some(Component::Normal(name)), Some(_)) => {
                let folder = self.real(parts.as_path())?;
                self.disk.real_in(&folder, Path::new(name))
            }
            _ => self.disk.real(path),
        }
    }
}

impl Disk for Glance<'_> {
    fn real(&self, path: &Path) -> Option<PathBuf> {
        if let Some(known) = self.real.borrow().get(path) {
            return known.clone();
        }
        let real = self.look(path);
        self.real.borrow_mut().insert(path.to_owned(), real.clone());
        real
    }

    fn list(&self, folder: &Path) -> Option<Vec<(String, bool)>> {
        self.disk.list(folder)
    }

    fn exists(&self, path: &Path) -> bool {
        self.disk.exists(path)
    }

    fn is_link(&self, path: &Path) -> bool {
        self.disk.is_link(path)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A disk without links that counts how often it is asked.
    #[derive(Default)]
    struct Counting {
        asked: Cell<usize>,
    }

    impl Disk for Counting {
        fn real(&self, path: &Path) -> Option<PathBuf> {
            self.asked.set(self.asked.get() + 1);
            Some(path.to_owned())
        }

        fn list(&self, _: &Path) -> Option<Vec<(String, bool)>> {
            None
        }

        fn exists(&self, _: &Path) -> bool {
            true
        }
    }

    #[test]
    fn a_name_is_looked_at_once() {
        let disk = Counting::default();
        let glance = Glance::at(&disk);
        for path in ["/a/b/c", "/a/b/d", "/a/b/c", "/a/b"] {
            assert_eq!(glance.real(Path::new(path)), Some(path.into()));
        }
        // a, a/b, a/b/c, a/b/d.
        assert_eq!(disk.asked.get(), 4);
    }
}

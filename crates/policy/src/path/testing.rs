//! A disk by heart, for tests.
//!
//! Owns [`MapDisk`], which follows links by the very code of the real disk, and [`Ground`], the folders most tests stand on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::place::{Standing, follow};
use crate::{Disk, Place};

#[derive(Debug)]
enum Entry {
    File,
    Folder,
    /// A folder that nobody may look into.
    Closed,
    Link(PathBuf),
}

/// Files, folders and links that stand in a map.
#[derive(Debug, Default)]
pub(crate) struct MapDisk {
    entries: BTreeMap<PathBuf, Entry>,
}

impl MapDisk {
    /// Reads one entry a word: `/a/file`, `/a/folder/`, `/a/closed/!`, `/a/link->target`. Parents are made.
    pub(crate) fn new(words: &[&str]) -> Self {
        let mut disk = MapDisk::default();
        for word in words {
            let (path, entry) = match word.split_once("->") {
                Some((path, target)) => (path, Entry::Link(target.into())),
                None => match (word.strip_suffix("/!"), word.strip_suffix('/')) {
                    (Some(path), _) => (path, Entry::Closed),
                    (_, Some(path)) => (path, Entry::Folder),
                    _ => (*word, Entry::File),
                },
            };
            let path = PathBuf::from(path);
            for parent in path.ancestors().skip(1) {
                disk.entries
                    .entry(parent.to_owned())
                    .or_insert(Entry::Folder);
            }
            disk.entries.insert(path, entry);
        }
        disk
    }

    fn is_closed(&self, path: &Path) -> bool {
        let mut above = path.ancestors().skip(1);
        above.any(|folder| matches!(self.entries.get(folder), Some(Entry::Closed)))
    }
}

impl Disk for MapDisk {
    fn real(&self, path: &Path) -> Option<PathBuf> {
        if path.as_os_str().as_encoded_bytes().contains(&0) {
            return None;
        }
        follow(path, |path| match self.entries.get(path) {
            _ if self.is_closed(path) => Standing::Unknown,
            Some(Entry::Link(target)) => Standing::Link(target.clone()),
            _ => Standing::Plain,
        })
    }

    fn list(&self, folder: &Path) -> Option<Vec<(String, bool)>> {
        let real = self.real(folder)?;
        if !matches!(self.entries.get(&real), Some(Entry::Folder)) {
            return None;
        }
        let inside = self
            .entries
            .iter()
            .filter(|(path, _)| path.parent() == Some(&real));
        inside
            .map(|(path, entry)| {
                let is_folder = matches!(entry, Entry::Folder | Entry::Closed);
                Some((path.file_name()?.to_str()?.to_owned(), is_folder))
            })
            .collect()
    }

    fn exists(&self, path: &Path) -> bool {
        let parent = path.parent().map(|parent| self.real(parent));
        match (parent, path.file_name()) {
            (Some(Some(parent)), Some(name)) => {
                let path = parent.join(name);
                !self.is_closed(&path) && self.entries.contains_key(&path)
            }
            (None, _) => true,
            _ => self
                .real(path)
                .is_some_and(|real| self.entries.contains_key(&real)),
        }
    }
}

/// A working folder `/base/project`, a home `/base/home`, and a disk.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) disk: MapDisk,
    pub(crate) cwd: PathBuf,
    pub(crate) home: Option<PathBuf>,
    pub(crate) add_dirs: Vec<PathBuf>,
    pub(crate) own: Vec<PathBuf>,
}

impl Ground {
    /// The ground with more on its disk.
    pub(crate) fn with(words: &[&str]) -> Self {
        let standard = [
            "/base/project/",
            "/base/home/",
            "/etc/passwd",
            "/etc/shadow",
            "/tmp/",
        ];
        Ground {
            disk: MapDisk::new(&[&standard, words].concat()),
            cwd: "/base/project".into(),
            home: Some("/base/home".into()),
            add_dirs: Vec::new(),
            own: vec!["/base/home/.local/share/countersign".into()],
        }
    }

    pub(crate) fn place(&self) -> Place<'_> {
        Place {
            cwd: &self.cwd,
            add_dirs: &self.add_dirs,
            home: self.home.as_deref(),
            own: &self.own,
            disk: &self.disk,
        }
    }
}

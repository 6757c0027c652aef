//! Where a call would run: folders, home, and the questions that only the disk can answer.
//!
//! Owns [`Place`] and the seam [`Disk`]. Everything else in this crate is text and values.

use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// Where an agent works.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The working folder, absolute.
    pub cwd: &'a Path,
    /// Folders that were added to it.
    pub add_dirs: &'a [PathBuf],
    /// The person's home folder, if there is one.
    pub home: Option<&'a Path>,
    /// Folders of our own that no rule opens: data, configuration.
    pub own: &'a [PathBuf],
    /// The disk.
    pub disk: &'a dyn Disk,
}

impl std::fmt::Debug for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Place")
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}

/// What only the disk knows. A test brings its own.
pub trait Disk {
    /// Where an absolute path really leads: every link followed, what does not exist kept as it is written. `None` where
    /// this cannot be said (a ring of links, no permission, a link that leads elsewhere for every process).
    fn real(&self, path: &Path) -> Option<PathBuf>;

    /// The names in a folder, with whether each is a folder itself (a link is none); `None` where it cannot be read.
    fn list(&self, folder: &Path) -> Option<Vec<(String, bool)>>;

    /// Whether something is there, be it a link that leads nowhere.
    fn exists(&self, path: &Path) -> bool;

    /// Whether the last name of a path is a link, the path to it being real.
    fn is_link(&self, path: &Path) -> bool {
        self.real(path).is_none_or(|real| real != path)
    }
}

/// The disk of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

/// So many links are followed before a path counts as a ring, as the kernel does.
const MOST_LINKS: usize = 40;

/// No system opens a path of more bytes than this, so nothing stands there.
const MOST_PATH: usize = if cfg!(windows) { 32_767 } else { 4096 };

/// So many names a path may have, links written out.
const MOST_NAMES: usize = 8192;

/// What stands at a path, its last name not followed.
pub(crate) enum Standing {
    /// A link, and what it says.
    Link(PathBuf),
    /// Anything else, or nothing.
    Plain,
    /// Nobody knows.
    Unknown,
}

/// Follows every link of an absolute path, `..` meaning the folder above where one has come to, as a kernel does.
pub(crate) fn follow(path: &Path, look: impl Fn(&Path) -> Standing) -> Option<PathBuf> {
    if !path.is_absolute() {
        return None;
    }
    let mut left: Vec<_> = path
        .components()
        .rev()
        .map(|part| part.as_os_str().to_owned())
        .collect();
    let mut real = PathBuf::new();
    let mut links = 0;
    while let Some(part) = left.pop() {
        match Path::new(&part).components().next() {
            None | Some(Component::CurDir) => continue,
            Some(Component::ParentDir) => {
                real.pop();
                continue;
            }
            // Replaces what was there, as an absolute link does. Nothing stands at them to be looked at.
            Some(Component::Prefix(_) | Component::RootDir) => {
                real.push(&part);
                continue;
            }
            Some(Component::Normal(_)) => real.push(&part),
        }
        if real.as_os_str().len() > MOST_PATH {
            continue;
        }
        let target = match look(&real) {
            Standing::Link(target) => target,
            Standing::Plain => continue,
            Standing::Unknown => return None,
        };
        links += 1;
        // Links in /proc lead to what *this* process has open, and the question is about another.
        if links > MOST_LINKS || real.starts_with("/proc") || left.len() > MOST_NAMES {
            return None;
        }
        real.pop();
        left.extend(
            target
                .components()
                .rev()
                .map(|part| part.as_os_str().to_owned()),
        );
    }
    Some(real)
}

impl Disk for RealDisk {
    fn real(&self, path: &Path) -> Option<PathBuf> {
        follow(path, |path| match fs::symlink_metadata(path) {
            Ok(meta) if meta.file_type().is_symlink() => {
                fs::read_link(path).map_or(Standing::Unknown, Standing::Link)
            }
            Ok(_) => Standing::Plain,
            // Nothing is there, and for a name that is too long nothing can be.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidFilename
                ) =>
            {
                Standing::Plain
            }
            Err(_) => Standing::Unknown,
        })
    }

    fn list(&self, folder: &Path) -> Option<Vec<(String, bool)>> {
        let entries = fs::read_dir(folder).ok()?;
        entries
            .map(|entry| {
                let entry = entry.ok()?;
                let name = entry.file_name().into_string().ok()?;
                Some((name, entry.file_type().ok()?.is_dir()))
            })
            .collect()
    }

    fn exists(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok()
    }

    fn is_link(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|meta| meta.file_type().is_symlink())
    }
}

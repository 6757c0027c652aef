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

impl<'a> Place<'a> {
    /// The same place, its disk seen through this one.
    pub(crate) fn on<'b>(&self, disk: &'b dyn Disk) -> Place<'b>
    where
        'a: 'b,
    {
        Place { disk, ..*self }
    }
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

    /// The same for a name in a folder whose own path is real.
    fn real_in(&self, folder: &Path, name: &Path) -> Option<PathBuf> {
        self.real(&folder.join(name))
    }

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

/// What stands there on this machine's disk.
fn standing(path: &Path) -> Standing {
    match fs::symlink_metadata(path) {
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
    }
}

impl Disk for RealDisk {
    fn real(&self, path: &Path) -> Option<PathBuf> {
        follow(path, standing)
    }

    fn real_in(&self, folder: &Path, name: &Path) -> Option<PathBuf> {
        let path = folder.join(name);
        match path.as_os_str().len() > MOST_PATH {
            true => Some(path),
            false => match standing(&path) {
                Standing::Plain => Some(path),
                Standing::Link(_) => self.real(&path),
                Standing::Unknown => None,
            },
        }
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

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use tempfile::TempDir;

    use super::*;
    use crate::Fit;
    use crate::glance::Glance;
    use crate::path::{PathPattern, Target};
    use crate::shell::Side;

    /// A project with links of every kind beside an outside folder, on a real disk.
    struct Tree {
        // Removed when the test ends.
        _dir: TempDir,
        root: PathBuf,
    }

    impl Tree {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let root = dir.path().canonicalize().unwrap();
            for folder in ["project/src/deep", "project/sub", "outside/inner"] {
                fs::create_dir_all(root.join(folder)).unwrap();
            }
            for file in [
                "project/src/a.rs",
                "project/.env",
                "project/sub/.env",
                "outside/secret",
            ] {
                fs::write(root.join(file), "x").unwrap();
            }
            for (link, target) in [
                ("project/file", "../outside/secret"),
                ("project/folder", "../outside"),
                ("project/inside", "src"),
                ("project/src/deep/back", "../../sub"),
                ("project/dangling", "../outside/not-yet"),
                ("project/chain", "chain2"),
                ("project/chain2", "chain3"),
                ("project/chain3", "folder/inner"),
                ("project/ring", "ring2"),
                ("project/ring2", "ring"),
                ("project/itself", "itself"),
                ("project/top", "/"),
                ("other-name", "project"),
            ] {
                symlink(target, root.join(link)).unwrap();
            }
            Tree { _dir: dir, root }
        }

        /// As the disk says, and as one decision sees it.
        fn real(&self, path: &str) -> Option<PathBuf> {
            let path = self.root.join(path);
            let real = RealDisk.real(&path);
            let glance = Glance::at(&RealDisk);
            for _ in 0..2 {
                assert_eq!(glance.real(&path), real, "{}", path.display());
            }
            real
        }

        fn place<'a>(&self, cwd: &'a Path) -> Place<'a> {
            Place {
                cwd,
                add_dirs: &[],
                home: None,
                own: &[],
                disk: &RealDisk,
            }
        }
    }

    #[test]
    fn links_are_followed_as_the_kernel_follows_them() {
        let tree = Tree::new();
        for path in [
            "project",
            "project/src/a.rs",
            "project/file",
            "project/folder",
            "project/folder/secret",
            "project/inside/a.rs",
            "project/src/deep/back/.env",
            "project/chain",
            "project/folder/..",
            "project/inside/../sub/.env",
            "project/chain/../secret",
            "other-name/src/a.rs",
            "other-name/..",
            "project/./src//a.rs",
            "project/top/etc",
        ] {
            let expected = self::fs::canonicalize(tree.root.join(path)).unwrap();
            assert_eq!(tree.real(path), Some(expected), "{path}");
        }
    }

    #[test]
    fn what_is_not_there_is_kept_as_it_is_written() {
        let tree = Tree::new();
        for (path, expected) in [
            ("project/new", "project/new"),
            ("project/new/er", "project/new/er"),
            ("project/new/../er", "project/er"),
            ("project/folder/new", "outside/new"),
            ("project/folder/new/er", "outside/new/er"),
            ("project/dangling", "outside/not-yet"),
            ("project/dangling/x", "outside/not-yet/x"),
            ("project/src/a.rs/x", "project/src/a.rs/x"),
        ] {
            assert_eq!(tree.real(path), Some(tree.root.join(expected)), "{path}");
        }
        let long = format!("project/{}", "x".repeat(5000));
        assert_eq!(tree.real(&long), Some(tree.root.join(&long)));
        assert_eq!(RealDisk.real(Path::new("/../../..")), Some("/".into()));
    }

    #[test]
    fn a_ring_a_nul_and_a_relative_path_lead_nowhere() {
        let tree = Tree::new();
        for path in [
            "project/ring",
            "project/ring/x",
            "project/itself",
            "project/a\0b",
        ] {
            assert_eq!(tree.real(path), None, "{path:?}");
        }
        assert_eq!(RealDisk.real(Path::new("relative/x")), None);
        assert_eq!(RealDisk.real(Path::new("")), None);
    }

    #[test]
    fn a_long_row_of_links_is_a_ring() {
        let tree = Tree::new();
        for n in 0..60 {
            symlink(format!("l{}", n + 1), tree.root.join(format!("l{n}"))).unwrap();
        }
        assert_eq!(tree.real("l0"), None);
        assert_eq!(tree.real("l30"), Some(tree.root.join("l60")));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_open_files_of_this_process_are_not_those_of_another() {
        for path in [
            "/proc/self/cwd",
            "/proc/self/root/etc/passwd",
            "/proc/thread-self/fd/0",
            "/dev/fd/0",
            "/dev/stdin",
            "/proc/mounts",
        ] {
            assert_eq!(RealDisk.real(Path::new(path)), None, "{path}");
        }
        let own = format!("/proc/{}/cwd/x", std::process::id());
        assert_eq!(RealDisk.real(Path::new(&own)), None);
        assert_eq!(
            RealDisk.real(Path::new("/proc/version")),
            Some("/proc/version".into())
        );
    }

    #[test]
    fn a_folder_is_listed_with_links_as_links() {
        let tree = Tree::new();
        let mut names = RealDisk.list(&tree.root.join("project/src")).unwrap();
        names.sort();
        assert_eq!(
            names,
            [("a.rs".to_owned(), false), ("deep".to_owned(), true)]
        );
        let project = RealDisk.list(&tree.root.join("project")).unwrap();
        assert!(project.contains(&("folder".to_owned(), false)));
        assert_eq!(RealDisk.list(&tree.root.join("nope")), None);
        assert_eq!(RealDisk.list(&tree.root.join("project/src/a.rs")), None);
        for (path, is_link, exists) in [
            ("project/folder", true, true),
            ("project/dangling", true, true),
            ("project/ring", true, true),
            ("project/src", false, true),
            ("project/nope", false, false),
        ] {
            let path = tree.root.join(path);
            assert_eq!(
                (RealDisk.is_link(&path), RealDisk.exists(&path)),
                (is_link, exists),
                "{}",
                path.display()
            );
        }
    }

    #[test]
    fn a_locked_folder_says_nothing_unless_nothing_is_locked_to_us() {
        let tree = Tree::new();
        let locked = tree.root.join("locked");
        fs::create_dir(&locked).unwrap();
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
        let is_all_open = fs::read_dir(&locked).is_ok();
        let real = tree.real("locked/x");
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(real.is_some(), is_all_open);
    }

    #[test]
    fn a_name_that_is_no_text_hides_the_folder() {
        use std::os::unix::ffi::OsStrExt as _;
        let tree = Tree::new();
        let name = std::ffi::OsStr::from_bytes(b"a\xff");
        // Some file systems take no such name.
        if fs::write(tree.root.join("project/src").join(name), "").is_err() {
            return;
        }
        assert_eq!(RealDisk.list(&tree.root.join("project/src")), None);
    }

    #[test]
    fn rules_hold_on_a_real_disk() {
        let tree = Tree::new();
        let cwd = tree.root.join("project");
        let place = tree.place(&cwd);
        for (text, path, is_allowed, is_restricted) in [
            ("src/**", "src/a.rs", true, true),
            ("src/**", "inside/a.rs", false, true),
            ("*.rs", "inside/a.rs", true, true),
            ("**", "file", false, true),
            ("**", "folder/new", false, true),
            ("**", "dangling", false, true),
            ("**", "chain/x", false, true),
            (".env", "src/deep/back/.env", true, true),
            (".env", "src/deep/back/../../sub/.env", false, true),
            ("file", "../outside/secret", false, true),
            ("folder/**", "../outside/inner", false, true),
            ("lib/**", "src/a.rs", false, false),
        ] {
            let pattern = PathPattern::parse(text, &cwd).unwrap();
            let target = Target::of(path, &cwd, &place);
            let fits = |side| pattern.fits(&target, &place, side).is_yes();
            assert_eq!(
                (fits(Side::Allow), fits(Side::Restrict)),
                (is_allowed, is_restricted),
                "{text} on {path}"
            );
        }
    }

    #[test]
    fn what_is_below_is_found_on_a_real_disk() {
        let tree = Tree::new();
        let cwd = tree.root.join("project");
        let place = tree.place(&cwd);
        let below = |text: &str, folder: &str| {
            let pattern = PathPattern::parse(text, &cwd).unwrap();
            pattern.is_below(&Target::of(folder, &cwd, &place), &place)
        };
        assert_eq!(below(".env", "."), Fit::Yes);
        assert_eq!(below(".env", "sub"), Fit::Yes);
        assert_eq!(below("*.pem", "sub"), Fit::No);
        assert_eq!(
            below("*.pem", "src"),
            Fit::Maybe(format!(
                "`{0}/src/deep/back` leads to `{0}/sub`",
                cwd.display()
            ))
        );
        let named = |word: &str| {
            let pattern = PathPattern::parse(".env", &cwd).unwrap();
            pattern.may_name(word, &cwd, &place)
        };
        assert_eq!(named(".en?"), Fit::Yes);
        assert_eq!(named("s*/.e*"), Fit::Yes);
        assert_eq!(named("src/*"), Fit::No);
    }
}

//! Puts one pinned version into the cache. Works in a folder of its own beside the final place and
//! renames it there, so two installations at once end with one complete package, whoever is first.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::{FetchError, Installed, Pinned, installed, npm};

/// How far an installation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// npm is fetching; npm does not say how far it is, so only the time is known.
    Downloading {
        /// Since the start.
        elapsed: Duration,
    },
    /// The tarball is here and is the pinned one.
    Unpacking,
    /// The version is in its place.
    Done,
}

/// Makes sure that the version is in the cache. Does nothing but look if it already is.
pub fn install(
    cache: &Path,
    pinned: &'static Pinned,
    progress: &mut dyn FnMut(Progress),
) -> Result<Installed, FetchError> {
    // First, so that nothing is downloaded that could not be run.
    pinned.interpreter()?;
    if let Some(present) = installed(cache, pinned) {
        progress(Progress::Done);
        return Ok(present);
    }
    let workshop = Workshop::open(&cache.join("claude"), pinned.version)?;
    let packed = npm::pack(&pinned.spec(), workshop.folder(), &mut |elapsed| {
        progress(Progress::Downloading { elapsed });
    })?;
    if packed.integrity != pinned.integrity {
        return Err(FetchError::Integrity {
            spec: pinned.spec(),
            pinned: pinned.integrity,
            found: packed.integrity,
        });
    }
    progress(Progress::Unpacking);
    let unpacked = unpack(workshop.folder(), &packed.file, pinned)?;
    move_into_place(&unpacked, &pinned.dir(cache))?;
    progress(Progress::Done);
    installed(cache, pinned).ok_or_else(|| FetchError::NoProgram {
        spec: pinned.spec(),
        program: pinned.program(),
    })
}

fn unpack(workshop: &Path, tarball: &Path, pinned: &Pinned) -> Result<PathBuf, FetchError> {
    let target = workshop.join("unpacked");
    std::fs::create_dir(&target).map_err(io("create", &target))?;
    let failed = |said: String| FetchError::Unpack {
        tarball: tarball.to_owned(),
        said,
    };
    let output = Command::new("tar")
        .arg("-xzf")
        .arg(tarball)
        .arg("-C")
        .arg(&target)
        .arg("--no-same-owner")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(npm::tail(&String::from_utf8_lossy(&output.stderr))));
    }
    if !target.join(pinned.program()).is_file() {
        return Err(FetchError::NoProgram {
            spec: pinned.spec(),
            program: pinned.program(),
        });
    }
    Ok(target)
}

pub(super) fn move_into_place(unpacked: &Path, place: &Path) -> Result<(), FetchError> {
    match std::fs::rename(unpacked, place) {
        // Somebody else was faster; theirs passed the same checks.
        Err(_) if place.is_dir() => Ok(()),
        other => other.map_err(io("move the package to", place)),
    }
}

pub(super) fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> FetchError {
    let path = path.to_owned();
    move |source| FetchError::Io {
        doing,
        path,
        source,
    }
}

/// A folder for this one installation; gone when dropped, whatever happened.
#[derive(Debug)]
pub(super) struct Workshop(PathBuf);

impl Workshop {
    /// A folder beside the final place of what is called so.
    pub(super) fn open(beside: &Path, what: &str) -> Result<Self, FetchError> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".{what}-{}-{number}", std::process::id());
        let dir = beside.join(name);
        // Left behind by a killed process that had our id.
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).map_err(io("create", &dir))?;
        Ok(Workshop(dir))
    }

    pub(super) fn folder(&self) -> &Path {
        &self.0
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_of_two_installations_keeps_what_the_first_put_there() {
        let dir = std::env::temp_dir().join(format!("countersign-place-{}", std::process::id()));
        let (first, second, place) = (dir.join("1"), dir.join("2"), dir.join("place"));
        for (folder, text) in [(&first, "first"), (&second, "second")] {
            std::fs::create_dir_all(folder).unwrap();
            std::fs::write(folder.join("file"), text).unwrap();
        }
        move_into_place(&first, &place).unwrap();
        move_into_place(&second, &place).unwrap();
        assert_eq!(
            std::fs::read_to_string(place.join("file")).unwrap(),
            "first"
        );
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn a_workshop_is_gone_when_dropped() {
        let cache = std::env::temp_dir().join(format!("countersign-shop-{}", std::process::id()));
        let workshop = Workshop::open(&cache, "2.1.325").unwrap();
        let dir = workshop.folder().to_owned();
        assert!(dir.is_dir());
        drop(workshop);
        assert!(!dir.exists());
        std::fs::remove_dir_all(&cache).unwrap();
    }
}

//! Puts one pinned version into the cache. Works in a folder of its own beside the final place and
//! renames it there, so two installations at once end with one complete package, whoever is first.
//!
//! An executable has no type declarations beside it: those of its tools come from the package that only starts it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::{FetchError, Installed, Pinned, Runtime, installed, npm};

/// Type declarations of the tools, in every package of the CLI that is JavaScript.
const DECLARATIONS: &str = "package/sdk-tools.d.ts";

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
        add_declarations(cache, pinned)?;
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
    add_declarations(cache, pinned)?;
    progress(Progress::Done);
    installed(cache, pinned).ok_or_else(|| FetchError::NoProgram {
        spec: pinned.spec(),
        program: pinned.program(),
    })
}

/// Fetches a version that is not pinned yet, with the integrities that the registry gives now, and leaves it in the cache.
///
/// Nothing vouches for it but the registry: whoever adds it to the table reviews that.
///
/// # Errors
/// When the registry does not have it, or it cannot be unpacked or run here.
pub fn pin(
    cache: &Path,
    version: &str,
    progress: &mut dyn FnMut(Progress),
) -> Result<Installed, FetchError> {
    let workshop = Workshop::open(&cache.join("claude"), version)?;
    let mut tick = |elapsed| progress(Progress::Downloading { elapsed });
    let script = npm::pack(
        &format!("{}@{version}", Runtime::Node.package()),
        workshop.folder(),
        &mut tick,
    )?;
    let native = format!("{}@{version}", Runtime::NativeLinuxX64.package());
    let native = match npm::pack(&native, workshop.folder(), &mut tick) {
        // Versions before that package are JavaScript.
        Err(FetchError::NotAvailable { .. }) => None,
        packed => Some(packed?),
    };
    let (packed, runtime, declarations) = match native {
        Some(native) => (native, Runtime::NativeLinuxX64, Some(script.integrity)),
        None => (script, Runtime::Node, None),
    };
    let size = packed.file.metadata().map_err(io("read", &packed.file))?;
    // Lives as long as the program, like the rows of the table.
    let pinned: &'static Pinned = Box::leak(Box::new(Pinned {
        version: version.to_owned().leak(),
        integrity: packed.integrity.leak(),
        declarations: declarations.map(|integrity| &*integrity.leak()),
        runtime,
        download_bytes: size.len(),
        is_tested: false,
    }));
    progress(Progress::Unpacking);
    let unpacked = unpack(workshop.folder(), &packed.file, pinned)?;
    move_into_place(&unpacked, &pinned.dir(cache))?;
    add_declarations(cache, pinned)?;
    progress(Progress::Done);
    installed(cache, pinned).ok_or_else(|| FetchError::NoProgram {
        spec: pinned.spec(),
        program: pinned.program(),
    })
}

/// Puts the type declarations of the tools beside an executable that comes without them.
fn add_declarations(cache: &Path, pinned: &Pinned) -> Result<(), FetchError> {
    let place = pinned.dir(cache).join(DECLARATIONS);
    let Some(integrity) = pinned.declarations.filter(|_| !place.exists()) else {
        return Ok(());
    };
    let what = format!("{}-declarations", pinned.version);
    let workshop = Workshop::open(&cache.join("claude"), &what)?;
    let spec = format!("{}@{}", Runtime::Node.package(), pinned.version);
    let packed = npm::pack(&spec, workshop.folder(), &mut |_| ())?;
    if packed.integrity != integrity {
        return Err(FetchError::Integrity {
            spec,
            pinned: integrity,
            found: packed.integrity,
        });
    }
    let target = untar(workshop.folder(), &packed.file)?;
    let file = target.join(DECLARATIONS);
    std::fs::rename(&file, &place).map_err(io("move the declarations to", &place))
}

fn unpack(workshop: &Path, tarball: &Path, pinned: &Pinned) -> Result<PathBuf, FetchError> {
    let target = untar(workshop, tarball)?;
    if !target.join(pinned.program()).is_file() {
        return Err(FetchError::NoProgram {
            spec: pinned.spec(),
            program: pinned.program(),
        });
    }
    Ok(target)
}

fn untar(workshop: &Path, tarball: &Path) -> Result<PathBuf, FetchError> {
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
        let workshop = Workshop::open(&cache, "2.1.62").unwrap();
        let dir = workshop.folder().to_owned();
        assert!(dir.is_dir());
        drop(workshop);
        assert!(!dir.exists());
        std::fs::remove_dir_all(&cache).unwrap();
    }
}

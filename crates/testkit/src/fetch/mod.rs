//! Gets the pinned versions of the `claude` CLI, and the SDKs that drive it, from their registries into a cache folder.
//!
//! Owns the list of versions (`clis`), the cache's layout and the installation. Does not run the CLI.
//! Invariant: what stands at its final place in the cache is complete (it was renamed there), and it
//! is the package whose integrity is pinned here.

mod clis;
mod error;
mod install;
mod npm;
mod sdk;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use clis::{NEWEST, NEWEST_VARIABLE, TABLE, newest, numbers, pinned, tested};
pub use error::FetchError;
pub use install::{Progress, install, pin};
pub use sdk::{InstalledSdk, PYTHON_SDK, SCHEMATHESIS, SDKS, Sdk, TYPESCRIPT_SDK};

/// One version of the CLI, held to the package that was pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pinned {
    /// The version as the CLI reports it, for example `2.1.62`.
    pub version: &'static str,
    /// npm's integrity of that package's tarball.
    pub integrity: &'static str,
    /// The same of the package with the type declarations, where the program's own has none.
    pub declarations: Option<&'static str>,
    /// How the program in the package is started.
    pub runtime: Runtime,
    /// Size of the download, for a progress display.
    pub download_bytes: u64,
    /// Whether the suites run on it; the others are there to be recorded and compared.
    pub is_tested: bool,
}

/// How the program in a package is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runtime {
    /// An executable for Linux on x86-64.
    NativeLinuxX64,
    /// JavaScript, run by `node`.
    Node,
}

impl Runtime {
    /// Every way.
    pub const ALL: [Runtime; 2] = [Runtime::NativeLinuxX64, Runtime::Node];

    /// Name in the table of versions.
    pub fn name(self) -> &'static str {
        match self {
            Runtime::NativeLinuxX64 => "native-linux-x64",
            Runtime::Node => "node",
        }
    }

    /// The npm package whose program is started so.
    pub fn package(self) -> &'static str {
        match self {
            Runtime::NativeLinuxX64 => "@anthropic-ai/claude-code-linux-x64",
            Runtime::Node => "@anthropic-ai/claude-code",
        }
    }
}

impl Pinned {
    /// `package@version`, as npm takes it.
    pub fn spec(&self) -> String {
        format!("{}@{}", self.runtime.package(), self.version)
    }

    fn dir(&self, cache: &Path) -> PathBuf {
        cache.join("claude").join(self.version)
    }

    fn program(&self) -> &'static str {
        match self.runtime {
            Runtime::NativeLinuxX64 => "package/claude",
            Runtime::Node => "package/cli.js",
        }
    }

    /// Whether this machine can run it at all; `node` itself is looked for.
    fn interpreter(&self) -> Result<Option<PathBuf>, FetchError> {
        match self.runtime {
            Runtime::NativeLinuxX64 if cfg!(all(target_os = "linux", target_arch = "x86_64")) => {
                Ok(None)
            }
            Runtime::NativeLinuxX64 => Err(FetchError::UnsupportedPlatform {
                version: self.version,
                os: std::env::consts::OS,
                arch: std::env::consts::ARCH,
            }),
            Runtime::Node => match in_path("node") {
                Some(node) => Ok(Some(node)),
                None => Err(FetchError::NoNode {
                    version: self.version,
                }),
            },
        }
    }
}

/// A pinned version that is in the cache and can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// Which one it is.
    pub pinned: &'static Pinned,
    /// The unpacked package's own folder.
    pub dir: PathBuf,
    /// Program and leading arguments: `[claude]` or `[node, cli.js]`, absolute paths.
    pub command: Vec<OsString>,
}

/// Where the CLIs are kept: `$COUNTERSIGN_CACHE`, else `$XDG_CACHE_HOME/countersign`, else
/// `~/.cache/countersign`.
pub fn cache_dir() -> Result<PathBuf, FetchError> {
    cache_dir_from(|name| std::env::var_os(name))
}

fn cache_dir_from(var: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, FetchError> {
    // A relative path would mean another cache for every working directory.
    let absolute = |name| {
        var(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute("COUNTERSIGN_CACHE")
        .or_else(|| absolute("XDG_CACHE_HOME").map(|dir| dir.join("countersign")))
        .or_else(|| absolute("HOME").map(|home| home.join(".cache/countersign")))
        .ok_or(FetchError::NoCacheDir)
}

/// The version if it is in the cache and this machine can start it. Asks no network.
pub fn installed(cache: &Path, pinned: &'static Pinned) -> Option<Installed> {
    let dir = pinned.dir(cache);
    let program = dir.join(pinned.program());
    if !program.is_file() {
        return None;
    }
    let interpreter = pinned.interpreter().ok()?;
    let command = interpreter
        .into_iter()
        .chain([program])
        .map(PathBuf::into_os_string)
        .collect();
    Some(Installed {
        pinned,
        dir,
        command,
    })
}

/// The first executable of that name in `PATH`.
fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|dir| dir.join(name))
        .find(|file| is_executable(file))
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vars<'a>(set: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<OsString> + 'a {
        move |name| {
            set.iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| OsString::from(value))
        }
    }

    #[test]
    fn our_own_variable_names_the_cache_before_the_platforms() {
        let all = [
            ("COUNTERSIGN_CACHE", "/a"),
            ("XDG_CACHE_HOME", "/b"),
            ("HOME", "/c"),
        ];
        assert_eq!(cache_dir_from(vars(&all)).unwrap(), Path::new("/a"));
        assert_eq!(
            cache_dir_from(vars(&all[1..])).unwrap(),
            Path::new("/b/countersign")
        );
        assert_eq!(
            cache_dir_from(vars(&all[2..])).unwrap(),
            Path::new("/c/.cache/countersign")
        );
    }

    #[test]
    fn a_relative_or_missing_cache_is_passed_over() {
        let relative = [("COUNTERSIGN_CACHE", "here"), ("HOME", "/c")];
        assert_eq!(
            cache_dir_from(vars(&relative)).unwrap(),
            Path::new("/c/.cache/countersign")
        );
        assert!(matches!(
            cache_dir_from(vars(&[])),
            Err(FetchError::NoCacheDir)
        ));
    }

    #[test]
    fn an_empty_cache_has_nothing_installed() {
        for pinned in pinned() {
            assert_eq!(installed(Path::new("/nonexistent"), pinned), None);
        }
    }
}

//! Why a pinned CLI or an SDK could not be had. Each message ends with what a person can do next.

use std::path::PathBuf;

/// Why a pinned CLI or an SDK could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// No environment variable says where a cache could be.
    #[error("no place for the cache: set COUNTERSIGN_CACHE to an absolute path")]
    NoCacheDir,

    /// `npm` is not in `PATH`.
    #[error("npm is not in PATH: install Node.js 18 or later (it brings npm)")]
    NoNpm,

    /// `node` is not in `PATH`, and the version is JavaScript.
    #[error("node is not in PATH and claude {version} is run by it: install Node.js 18 or later")]
    NoNode {
        /// The version that needs it.
        version: &'static str,
    },

    /// The package is an executable for another system.
    #[error(
        "claude {version} is pinned as a Linux x86-64 executable and cannot run on {os} {arch}: \
         run this suite on Linux x86-64, or leave this version out"
    )]
    UnsupportedPlatform {
        /// The version in question.
        version: &'static str,
        /// This machine's system.
        os: &'static str,
        /// This machine's processor.
        arch: &'static str,
    },

    /// The registry could not be reached.
    #[error(
        "npm cannot reach its registry ({code}): check the network and `npm config get registry`, then run this again"
    )]
    NoNetwork {
        /// npm's error code, for example `ENOTFOUND`.
        code: String,
    },

    /// The registry has no such package or version, or refuses it.
    #[error("the registry does not give out {spec} ({code}): check `npm view {spec} version`")]
    NotAvailable {
        /// `package@version`.
        spec: String,
        /// npm's error code, for example `E404`.
        code: String,
    },

    /// npm failed in another way.
    #[error("npm pack {spec} failed: {said}\nrun `npm pack {spec}` by hand to see all of it")]
    Npm {
        /// `package@version`.
        spec: String,
        /// The end of what npm printed.
        said: String,
    },

    /// The tarball is not the one that was pinned.
    #[error(
        "{spec} has the integrity {found}, not the pinned {pinned}: do not run it; find out who changed the package"
    )]
    Integrity {
        /// `package@version`.
        spec: String,
        /// What was expected.
        pinned: &'static str,
        /// What came.
        found: String,
    },

    /// The tarball could not be unpacked.
    #[error("tar could not unpack {}: {said}\nis `tar` with gzip installed, and is there room on the disk?", .tarball.display())]
    Unpack {
        /// The downloaded file.
        tarball: PathBuf,
        /// The end of what tar printed.
        said: String,
    },

    /// The unpacked package lacks the program.
    #[error(
        "{spec} was unpacked but holds no {program}: the pinned package and its layout do not fit"
    )]
    NoProgram {
        /// `package@version`.
        spec: String,
        /// The path that should be there.
        program: &'static str,
    },

    /// No Python is in `PATH`.
    #[error("python3 is not in PATH: install Python 3.10 or later (with venv and pip)")]
    NoPython,

    /// npm or pip could not install an SDK.
    #[error("`{command}` failed: {said}\nrun it by hand to see all of it")]
    Installer {
        /// What was run.
        command: String,
        /// The end of what it printed.
        said: String,
    },

    /// An SDK was installed and is not where it should be.
    #[error("{spec} was installed but is not in {}: remove that folder and try again", .place.display())]
    Incomplete {
        /// The package and its version.
        spec: String,
        /// Where it was put.
        place: PathBuf,
    },

    /// A file operation in the cache failed.
    #[error("cannot {doing} {}: is the cache folder writable and is there room?", .path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
}

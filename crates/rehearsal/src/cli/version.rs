//! The version that is played.
//!
//! What it says of itself and which lines, fields, replies and flags it has is recorded (`cast`, `flags.txt`); it behaves
//! as the newest one.

use std::fmt;
use std::str::FromStr;

/// A version of the CLI, such as 2.1.62.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    major: u32,
    minor: u32,
    patch: u32,
}

impl Default for Version {
    fn default() -> Self {
        Self::NEWEST
    }
}

impl Version {
    /// The version that is played unless a scenario says otherwise.
    pub const NEWEST: Version = Version::new(2, 1, 327);

    /// A version from its three numbers.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self {
            major,
            minor,
            patch,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// The text is no version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a version has three numbers, such as 2.1.325")]
pub struct NotAVersion;

impl FromStr for Version {
    type Err = NotAVersion;

    fn from_str(text: &str) -> Result<Self, NotAVersion> {
        let mut parts = text.split('.').map(str::parse);
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(Ok(major)), Some(Ok(minor)), Some(Ok(patch)), None) => {
                Ok(Version::new(major, minor, patch))
            }
            _ => Err(NotAVersion),
        }
    }
}

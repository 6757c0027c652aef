//! What the trash knows about a thing in it.
//!
//! Owns [`TrashId`], [`Reason`], [`Trashed`] and the file `entry.json`. Invariant: the file is on the disk before the
//! thing moves.

use std::fmt;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::control::SessionId;

pub(super) const FILE: &str = "entry.json";

/// The name of a thing in the trash. Names sort by the time they came.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TrashId(String);

impl TrashId {
    pub(super) fn new(at: u64, number: u32) -> Self {
        Self(format!("{at:016x}-{number:04}"))
    }

    /// Reads one. Nothing that could lead out of the trash is a name.
    pub fn parse(text: &str) -> Option<Self> {
        let (at, number) = text.split_once('-')?;
        let is_id = at.len() == 16
            && number.len() >= 4
            && at.bytes().all(|byte| byte.is_ascii_hexdigit())
            && number.bytes().all(|byte| byte.is_ascii_digit());
        is_id.then(|| Self(text.to_owned()))
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TrashId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<TrashId> for String {
    fn from(id: TrashId) -> Self {
        id.0
    }
}

impl TryFrom<String> for TrashId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("`{text}` is no name of a thing in the trash"))
    }
}

/// Why a thing went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// In words.
    pub why: String,
    /// Whose it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The commit that a worktree was at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

impl Reason {
    /// In words, for a thing of this session.
    pub fn of(session: SessionId, why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            session: Some(session),
            commit: None,
        }
    }
}

impl From<&str> for Reason {
    fn from(why: &str) -> Self {
        Self {
            why: why.to_owned(),
            session: None,
            commit: None,
        }
    }
}

/// A thing in the trash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trashed {
    /// Its name here.
    pub id: TrashId,
    /// Where it was.
    #[serde(with = "super::path_text")]
    pub origin: PathBuf,
    /// Why it went.
    #[serde(flatten)]
    pub reason: Reason,
    /// When: microseconds of Unix time.
    pub at: u64,
    /// What was here is there again by another way: this is a copy that speaks for nothing any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub used: bool,
}

impl Trashed {
    pub(super) fn write(&self, place: &Path) -> io::Result<()> {
        let new = place.join("entry.json.new");
        let mut file = fs::File::options()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(0o600)
            .open(&new)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        file.sync_all()?;
        fs::rename(&new, place.join(FILE))
    }

    pub(super) fn read(place: &Path) -> io::Result<Self> {
        let entry: Self = serde_json::from_slice(&fs::read(place.join(FILE))?)?;
        // An entry speaks for the folder it lies in, not for another one.
        if place.file_name().and_then(|name| name.to_str()) != Some(entry.id.as_str()) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(entry)
    }
}

/// What is in the trash.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// Oldest first.
    pub entries: Vec<Trashed>,
    /// Folders whose `entry.json` cannot be read: what they hold is theirs still, and is never deleted by us.
    pub damaged: Vec<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_by_time_and_never_lead_out() {
        let (early, late) = (TrashId::new(9, 12), TrashId::new(10, 0));
        assert!(early < late && TrashId::new(9, 2) < early);
        assert_eq!(TrashId::parse(late.as_str()), Some(late));
        for bad in [
            "",
            "..",
            "../x",
            "000000000000000a",
            "000000000000000a-/../",
            "x-0000",
        ] {
            assert_eq!(TrashId::parse(bad), None, "{bad}");
        }
        assert!(serde_json::from_str::<TrashId>(r#""../..""#).is_err());
    }
}

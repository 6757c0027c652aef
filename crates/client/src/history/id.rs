//! Session ids that are fit to be part of a path.

use std::fmt;
use std::str::FromStr;

use super::HistoryError;

/// The id of a session: a UUID in its hyphenated form, and nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionUuid(Box<str>);

impl SessionUuid {
    /// Takes `text` if it is a hyphenated UUID. Letters keep their case, since files are named by them.
    ///
    /// # Errors
    /// [`HistoryError::NotAUuid`] for everything else.
    pub fn parse(text: &str) -> Result<Self, HistoryError> {
        // Other spellings (braces, `urn:`, no hyphens) are UUIDs as well, but no file names of the CLI.
        if text.len() == 36 && uuid::Uuid::try_parse(text).is_ok() {
            return Ok(Self(text.into()));
        }
        Err(HistoryError::NotAUuid {
            text: text.chars().take(80).collect(),
        })
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What the CLI calls the transcript.
    pub(super) fn file_name(&self) -> String {
        format!("{}.jsonl", self.0)
    }
}

impl From<uuid::Uuid> for SessionUuid {
    fn from(id: uuid::Uuid) -> Self {
        Self(id.hyphenated().to_string().into())
    }
}

impl FromStr for SessionUuid {
    type Err = HistoryError;

    fn from_str(text: &str) -> Result<Self, HistoryError> {
        Self::parse(text)
    }
}

impl fmt::Display for SessionUuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hyphenated_uuids_are_ids() {
        let good = "5e551011-0000-4000-8000-00000000000a";
        assert_eq!(
            SessionUuid::parse(good).unwrap().file_name(),
            format!("{good}.jsonl")
        );
        assert!(SessionUuid::parse(&good.to_uppercase()).is_ok());
        for bad in [
            "",
            "../../etc/passwd",
            "5e551011-0000-4000-8000-00000000000",
            "5e551011000040008000-00000000000a/..",
            "5e55101100004000800000000000000a",
            "{5e551011-0000-4000-8000-00000000000a}",
            "5e551011-0000-4000-8000-00000000000/",
        ] {
            assert!(SessionUuid::parse(bad).is_err(), "{bad}");
        }
    }
}

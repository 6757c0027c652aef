//! The name of an entry: the record that began it.
//!
//! Owns [`EntryId`] and the text form of cursors in what is stored. Numbers of records are unique within a session,
//! and so are these names, whatever an agent says; their order is the order in which entries began.

use std::fmt;
use std::str::FromStr;

use countersign_journal::{BadCursor, Cursor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Which entry: `generation-seq` of the record that began it, with `.n` behind it for the further ones of that record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId {
    begun: Cursor,
    nth: u16,
}

impl EntryId {
    /// The `nth` entry that this record began, from 0.
    pub fn new(begun: Cursor, nth: u16) -> Self {
        Self { begun, nth }
    }

    /// The record that began it.
    pub fn cursor(self) -> Cursor {
        self.begun
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.nth {
            0 => write!(f, "{}", self.begun),
            nth => write!(f, "{}.{nth}", self.begun),
        }
    }
}

impl FromStr for EntryId {
    type Err = BadCursor;

    fn from_str(text: &str) -> Result<Self, BadCursor> {
        let (cursor, nth) = match text.split_once('.') {
            Some((cursor, nth)) if nth.bytes().all(|byte| byte.is_ascii_digit()) => {
                (cursor, nth.parse().map_err(|_| BadCursor)?)
            }
            Some(_) => return Err(BadCursor),
            None => (text, 0),
        };
        Ok(Self::new(cursor.parse()?, nth))
    }
}

impl Serialize for EntryId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EntryId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// A cursor as its text.
pub(crate) mod cursor {
    use super::{Cursor, Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(cursor: &Cursor, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(cursor)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Cursor, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// A cursor that may be missing, as its text.
pub(crate) mod maybe_cursor {
    use super::{Cursor, Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(
        cursor: &Option<Cursor>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match cursor {
            Some(cursor) => to.collect_str(cursor),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Cursor>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        let cursor = text.map(|text| text.parse()).transpose();
        cursor.map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_read_back_and_sorts_by_where_it_began() {
        let first = EntryId::new(Cursor::new(1, 9), 0);
        let second = EntryId::new(Cursor::new(1, 9), 2);
        let third = EntryId::new(Cursor::new(1, 10), 0);
        assert!(first < second && second < third);
        assert_eq!(first.to_string(), "1-9");
        assert_eq!(second.to_string(), "1-9.2");
        for id in [first, second, third] {
            assert_eq!(id.to_string().parse(), Ok(id));
        }
        for bad in ["", "1", "1-2.", "1-2.x", "1-2.99999", "1-2.-1", "1-2.+1"] {
            assert!(bad.parse::<EntryId>().is_err(), "{bad}");
        }
    }
}

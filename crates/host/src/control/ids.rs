//! The names of sessions, approvals and messages.
//!
//! Owns [`SessionId`], [`ApprovalId`], [`MessageId`] and [`Digest`]. Ids are ULIDs: 26 letters that sort by time. Whoever
//! starts something chooses its id, so that a repeated start is the same start. Invariant: the id of an approval follows
//! from the journal alone, so that whoever folds it again finds the same one.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa::openapi::schema::Type;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema};

/// The alphabet of Crockford's base 32.
const LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// How many letters an id has.
const LENGTH: usize = 26;

/// Text that is no id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no id: 26 letters and digits, as `countersign sessions --json` shows them")]
pub struct BadId(String);

fn write(value: u128, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut text = [0; LENGTH];
    for (place, letter) in text.iter_mut().rev().enumerate() {
        *letter = LETTERS[(value >> (5 * place)) as usize & 31];
    }
    f.write_str(std::str::from_utf8(&text).unwrap_or_default())
}

fn read(text: &str) -> Result<u128, BadId> {
    let bad = || BadId(text.chars().take(40).collect());
    if text.len() != LENGTH || text.as_bytes()[0] > b'7' {
        return Err(bad());
    }
    text.bytes().try_fold(0, |value: u128, letter| {
        let letter = letter.to_ascii_uppercase();
        let digit = LETTERS.iter().position(|known| *known == letter);
        digit
            .map(|digit| (value << 5) | digit as u128)
            .ok_or_else(bad)
    })
}

/// Microseconds of Unix time and eighty bits that no other one of that millisecond has.
fn compose(at: u64, rest: u128) -> u128 {
    (u128::from(at / 1000) << 80) | (rest & ((1 << 80) - 1))
}

/// An id in the document of the API.
fn letters(what: &str) -> RefOr<Schema> {
    let text = ObjectBuilder::new()
        .schema_type(Type::String)
        .pattern(Some("^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$"))
        .description(Some(what));
    text.into()
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u128);

        impl $name {
            /// One that begins at this moment (microseconds of Unix time), told apart by eighty bits of `random`.
            pub fn new(at: u64, random: u128) -> Self {
                Self(compose(at, random))
            }

            /// A new one, of now.
            pub fn fresh() -> Self {
                Self::new(super::now(), uuid::Uuid::new_v4().as_u128())
            }

            /// Its 128 bits.
            pub fn bits(self) -> u128 {
                self.0
            }

            /// When it was made, in microseconds of Unix time, to the millisecond.
            pub fn at(self) -> u64 {
                ((self.0 >> 80) as u64).saturating_mul(1000)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write(self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                read(text).map(Self)
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl utoipa::PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                letters(concat!("The id of ", $what, "."))
            }
        }

        impl utoipa::ToSchema for $name {}

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = String::deserialize(from)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

id! {
    /// A session.
    SessionId, "a session"
}

id! {
    /// One question of an agent.
    ApprovalId, "an approval"
}

id! {
    /// A message to an agent, in the queue or sent. The CLI knows it by the same bits as a UUID.
    MessageId, "a message"
}

impl ApprovalId {
    /// The id of the question that stands in this record of a session. `at` is when it was written.
    pub fn of(session: SessionId, generation: u32, seq: u64, at: u64) -> Self {
        let mut hash = blake3::Hasher::new();
        hash.update(&session.bits().to_be_bytes());
        hash.update(&generation.to_be_bytes());
        hash.update(&seq.to_be_bytes());
        let mut bits = [0; 16];
        bits.copy_from_slice(&hash.finalize().as_bytes()[..16]);
        Self::new(at, u128::from_be_bytes(bits))
    }
}

impl MessageId {
    /// Its form on the wire.
    pub fn uuid(self) -> String {
        uuid::Uuid::from_u128(self.0).hyphenated().to_string()
    }

    /// The name of the same message after its agent has given it back: always the same one, whoever asks.
    #[must_use]
    pub fn again(self) -> Self {
        let hash = blake3::hash(&self.0.to_be_bytes());
        let mut bits = [0; 16];
        bits.copy_from_slice(&hash.as_bytes()[..16]);
        Self::new(self.at(), u128::from_be_bytes(bits))
    }

    /// From its form on the wire.
    pub fn of_uuid(text: &str) -> Option<Self> {
        uuid::Uuid::parse_str(text)
            .ok()
            .map(|uuid| Self(uuid.as_u128()))
    }
}

/// What a person saw when deciding: a digest of the question's input.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    /// The digest of these bytes: 32 hex digits of BLAKE3.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hex = blake3::hash(bytes).to_hex().to_string();
        hex.truncate(32);
        Self(hex)
    }

    /// One that a client names. Whether it is the right one shows when it is compared.
    pub fn named(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_it_was_written_and_sorts_by_time() {
        for bits in [0, 1, u128::MAX, 1 << 127, 0x0123_4567_89ab_cdef] {
            let id = SessionId(bits);
            let text = id.to_string();
            assert_eq!(text.len(), 26);
            assert_eq!(text.parse(), Ok(id));
            assert_eq!(text.to_lowercase().parse(), Ok(id));
        }
        let (early, late) = (SessionId::new(1_000, u128::MAX), SessionId::new(2_000, 0));
        assert!(early.to_string() < late.to_string());
        assert_eq!(late.at(), 2_000);
        for text in [
            "",
            "x",
            "81234567890123456789012345",
            "0123456789012345678901234U",
        ] {
            assert!(text.parse::<SessionId>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_same_record_has_the_same_approval() {
        let session = SessionId::new(5_000, 7);
        let id = ApprovalId::of(session, 1, 42, 9_000_000);
        assert_eq!(id, ApprovalId::of(session, 1, 42, 9_000_000));
        assert_ne!(id, ApprovalId::of(session, 2, 42, 9_000_000));
        assert_eq!(id.at(), 9_000_000);
    }

    #[test]
    fn a_message_has_one_name_here_and_on_the_wire() {
        let id = MessageId::new(3_000, 12);
        assert_eq!(MessageId::of_uuid(&id.uuid()), Some(id));
        assert_eq!(MessageId::of_uuid("none"), None);
    }
}

//! A place in a journal: after which record of which generation.
//!
//! Owns the text form `generation-seq`, which is also the id of a server-sent event. Numbers go on over generations;
//! the generation is told beside them because a power loss may take the last numbers away, and the next generation
//! gives them out again.

use std::fmt;
use std::str::FromStr;

/// After this record. `0-0` is before the first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Cursor {
    /// The run of the agent that wrote the record.
    pub generation: u32,
    /// The number of the record.
    pub seq: u64,
}

/// The text is no cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a cursor is `generation-seq`, such as `1-42`")]
pub struct BadCursor;

impl Cursor {
    /// Before the first record.
    pub const START: Self = Self {
        generation: 0,
        seq: 0,
    };

    /// After record `seq` of `generation`.
    pub fn new(generation: u32, seq: u64) -> Self {
        Self { generation, seq }
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.generation, self.seq)
    }
}

impl FromStr for Cursor {
    type Err = BadCursor;

    fn from_str(text: &str) -> Result<Self, BadCursor> {
        let (generation, seq) = text.split_once('-').ok_or(BadCursor)?;
        let is_plain = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        if !is_plain(generation) || !is_plain(seq) {
            return Err(BadCursor);
        }
        Ok(Self {
            generation: generation.parse().map_err(|_| BadCursor)?,
            seq: seq.parse().map_err(|_| BadCursor)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_read_back() {
        let cursor = Cursor::new(3, 1_000_000);
        assert_eq!(cursor.to_string(), "3-1000000");
        assert_eq!("3-1000000".parse(), Ok(cursor));
        assert_eq!("0-0".parse(), Ok(Cursor::START));
    }

    #[test]
    fn nothing_else_is_a_cursor() {
        for bad in [
            "",
            "-",
            "1",
            "1-",
            "-1",
            "+1-2",
            "1-2-3",
            "1 -2",
            "4294967296-1",
            "1-x",
        ] {
            assert_eq!(bad.parse::<Cursor>(), Err(BadCursor), "{bad:?}");
        }
    }
}

//! One record: `seq SP at SP kind SP payload`, one line.
//!
//! Owns the text of a record. The payload is what crossed the wire, byte for byte; it cannot hold a newline, so
//! nothing in it can pass for another record. Pure.

use std::fmt;

/// What a record holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `a`: a line of the agent's stdout.
    Agent,
    /// `e`: a line of its stderr.
    Stderr,
    /// `h`: a line that was written to its stdin, secrets masked.
    Host,
    /// `d`: what the host notes about the `h` right behind it ([`crate::Note`]).
    Note,
    /// `k`: something that happened to the keeper or the agent ([`crate::KeeperEvent`]).
    Keeper,
    /// `A`: the last piece of stdout, without a newline.
    AgentPiece,
    /// `E`: the last piece of stderr, without a newline.
    StderrPiece,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Agent,
        Self::Stderr,
        Self::Host,
        Self::Note,
        Self::Keeper,
        Self::AgentPiece,
        Self::StderrPiece,
    ];

    /// The letter in the file.
    pub fn letter(self) -> u8 {
        match self {
            Self::Agent => b'a',
            Self::Stderr => b'e',
            Self::Host => b'h',
            Self::Note => b'd',
            Self::Keeper => b'k',
            Self::AgentPiece => b'A',
            Self::StderrPiece => b'E',
        }
    }

    /// The kind of that letter.
    pub fn of(letter: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.letter() == letter)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", char::from(self.letter()))
    }
}

/// One record, borrowed from a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// Its number, from 1, without a gap within a generation.
    pub seq: u64,
    /// When it was written: microseconds of Unix time. Never falls within a generation.
    pub at: u64,
    /// What it holds.
    pub kind: Kind,
    /// The line, without its newline.
    pub payload: &'a [u8],
}

/// Why a line is no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadRecord {
    /// No number at its place.
    #[error("`{0}` is not a number")]
    Number(&'static str),
    /// A letter that this build does not know.
    #[error("no kind of record is called {0:?}")]
    Kind(char),
}

/// Room for everything of a record but its payload: two numbers of twenty digits, a letter, three spaces, a newline.
pub const MOST_AROUND: usize = 20 + 1 + 20 + 1 + 1 + 1 + 1;

impl<'a> Record<'a> {
    /// Reads a line without its newline.
    ///
    /// # Errors
    /// When the line is not of the format.
    pub fn parse(line: &'a [u8]) -> Result<Self, BadRecord> {
        let (seq, rest) = number(line).ok_or(BadRecord::Number("seq"))?;
        let (at, rest) = number(rest).ok_or(BadRecord::Number("at"))?;
        let (letter, payload) = match rest {
            [letter, b' ', payload @ ..] => (*letter, payload),
            [letter, ..] => return Err(BadRecord::Kind(char::from(*letter))),
            [] => return Err(BadRecord::Kind(' ')),
        };
        let kind = Kind::of(letter).ok_or(BadRecord::Kind(char::from(letter)))?;
        Ok(Self {
            seq,
            at,
            kind,
            payload,
        })
    }

    /// Appends what stands before the payload.
    pub fn begin(seq: u64, at: u64, kind: Kind, out: &mut Vec<u8>) {
        append_number(seq, out);
        out.push(b' ');
        append_number(at, out);
        out.extend_from_slice(&[b' ', kind.letter(), b' ']);
    }

    /// Appends the whole line with its newline.
    pub fn append_to(&self, out: &mut Vec<u8>) {
        debug_assert!(!self.payload.contains(&b'\n'));
        Self::begin(self.seq, self.at, self.kind, out);
        out.extend_from_slice(self.payload);
        out.push(b'\n');
    }
}

/// Decimal digits up to a space, and what stands behind it. No sign, no leading zero, so that a number has one text.
fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    /// So many digits fit, whatever they are.
    const SAFE: usize = 19;
    let mut value: u64 = 0;
    for (at, byte) in text.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            let is_number = *byte == b' ' && at > 0 && (at == 1 || text[0] != b'0');
            return is_number.then(|| (value, &text[at + 1..]));
        }
        let digit = u64::from(digit);
        value = match at < SAFE {
            true => value * 10 + digit,
            false => value.checked_mul(10)?.checked_add(digit)?,
        };
    }
    None
}

pub(crate) fn append_number(value: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_one_line_and_is_read_back() {
        for kind in Kind::ALL {
            let record = Record {
                seq: 7,
                at: 1_700_000_000_000_000,
                kind,
                payload: b"{\"type\":\"x\"} \xff 1 2 a",
            };
            let mut line = Vec::new();
            record.append_to(&mut line);
            assert_eq!(line.pop(), Some(b'\n'));
            assert_eq!(Record::parse(&line), Ok(record));
        }
    }

    #[test]
    fn an_empty_payload_is_one() {
        let record = Record::parse(b"1 2 e ").unwrap();
        assert_eq!((record.seq, record.at, record.payload), (1, 2, &b""[..]));
    }

    #[test]
    fn a_number_has_one_text() {
        for bad in [
            "", "1", "1 ", "01 2 a x", "+1 2 a x", "1 -2 a x", "1  2 a x", "x 2 a x",
        ] {
            assert!(Record::parse(bad.as_bytes()).is_err(), "{bad:?}");
        }
        assert!(Record::parse(b"18446744073709551616 1 a x").is_err());
        assert!(Record::parse(b"18446744073709551615 0 a x").is_ok());
    }

    #[test]
    fn an_unknown_letter_is_named() {
        assert_eq!(Record::parse(b"1 2 z x"), Err(BadRecord::Kind('z')));
        assert_eq!(Record::parse(b"1 2 ax"), Err(BadRecord::Kind('a')));
    }
}

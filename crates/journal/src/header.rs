//! The first line of a segment: whose it is, which generation, what stood before it.
//!
//! Owns the text of the header and the versions of the format. Knows no files. Invariant: a header is read back as it
//! was written, and one of a version that this build does not know is named, not guessed at.

use std::fmt;

use blake3::Hash;

use crate::marks;

/// The version of the format that this build writes. It reads every one up to it.
pub const VERSION: u32 = 2;

const MAGIC: &str = "#countersign-journal";

/// The longest name of a session: it stands in every header, and a header fits into a page.
const MAX_SESSION: usize = 256;

/// What a segment says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) session: String,
    pub(crate) generation: u32,
    /// The number of its first record, whether it is there yet or not.
    pub(crate) first_seq: u64,
    /// The segment before this one.
    pub(crate) previous: Previous,
}

/// By what a header knows the segment before it; zeros where there is none. Each version has its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Previous {
    /// Version 1: over all of its bytes.
    Hash(Hash),
    /// Version 2: over the marks from its last head on ([`crate::marks::of_marks`]).
    Mark(u32),
}

impl Previous {
    /// Nothing stands before it.
    pub(crate) const NONE: Self = Self::Mark(0);

    pub(crate) fn is_none(self) -> bool {
        match self {
            Self::Hash(hash) => hash == Hash::from_bytes([0; 32]),
            Self::Mark(mark) => mark == 0,
        }
    }

    /// The version of the format that says it like this.
    pub(crate) fn version(self) -> u32 {
        match self {
            Self::Hash(_) => 1,
            Self::Mark(_) => 2,
        }
    }

    fn read(version: u32, text: &str) -> Option<Self> {
        match version {
            1 => Hash::from_hex(text).ok().map(Self::Hash),
            _ => match marks::from_text(text)?[..] {
                [mark] => Some(Self::Mark(mark)),
                _ => None,
            },
        }
    }
}

impl fmt::Display for Previous {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hash(hash) => f.write_str(&hash.to_hex()),
            Self::Mark(mark) => write!(f, "{mark:08x}"),
        }
    }
}

/// Why a line is no header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadHeader {
    /// It begins with something else.
    #[error("it does not begin with `#countersign-journal`")]
    Magic,
    /// A later build has written it.
    #[error("it is of version {0}, and this build reads up to {VERSION}: use a newer build")]
    Version(u32),
    /// A field is missing or is not of its form.
    #[error("its `{0}` cannot be read")]
    Field(&'static str),
}

/// Whether a session can have this name: it stands between spaces.
pub(crate) fn is_name(session: &str) -> bool {
    !session.is_empty()
        && session.len() <= MAX_SESSION
        && session.bytes().all(|byte| byte.is_ascii_graphic())
}

impl Header {
    /// With its newline.
    pub(crate) fn line(&self) -> String {
        let Self {
            session,
            generation,
            first_seq,
            previous,
        } = self;
        let version = previous.version();
        format!("{MAGIC} {version} {session} {generation} {first_seq} {previous}\n")
    }

    /// Reads a line without its newline.
    pub(crate) fn parse(line: &[u8]) -> Result<Self, BadHeader> {
        let text = std::str::from_utf8(line).map_err(|_| BadHeader::Magic)?;
        let mut words = text.split(' ');
        if words.next() != Some(MAGIC) {
            return Err(BadHeader::Magic);
        }
        let version = match number(words.next()) {
            Some(version @ 1..=VERSION) => version,
            Some(version) => return Err(BadHeader::Version(version)),
            None => return Err(BadHeader::Field("version")),
        };
        let session = words.next().filter(|name| is_name(name));
        let session = session.ok_or(BadHeader::Field("session"))?.to_owned();
        let generation = number(words.next()).ok_or(BadHeader::Field("generation"))?;
        let first_seq = number(words.next()).ok_or(BadHeader::Field("first_seq"))?;
        let previous = words.next().and_then(|text| Previous::read(version, text));
        let previous = previous.ok_or(BadHeader::Field("previous"))?;
        match words.next() {
            Some(_) => Err(BadHeader::Field("end")),
            None => Ok(Self {
                session,
                generation,
                first_seq,
                previous,
            }),
        }
    }
}

/// Decimal digits and nothing else, so that a number has one text.
fn number<T: std::str::FromStr>(word: Option<&str>) -> Option<T> {
    let word = word?;
    let is_plain = word.bytes().all(|byte| byte.is_ascii_digit());
    let is_short = word.len() == 1 || !word.starts_with('0');
    if is_plain && is_short {
        word.parse().ok()
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        Header {
            session: "s-1".into(),
            generation: 3,
            first_seq: 42,
            previous: Previous::Mark(0x00c0_ffee),
        }
    }

    #[test]
    fn a_header_is_read_back() {
        let line = header().line();
        assert_eq!(Header::parse(line.trim_end().as_bytes()), Ok(header()));
        assert_eq!(line, "#countersign-journal 2 s-1 3 42 00c0ffee\n");
    }

    #[test]
    fn a_header_of_version_1_is_read_back() {
        let header = Header {
            previous: Previous::Hash(blake3::hash(b"x")),
            ..header()
        };
        let line = header.line();
        assert!(line.starts_with("#countersign-journal 1 s-1 3 42 "));
        assert_eq!(Header::parse(line.trim_end().as_bytes()), Ok(header));
        // What one version says of the segment before is nothing to the other.
        let other = line.replacen(" 1 ", " 2 ", 1);
        assert_eq!(
            Header::parse(other.trim_end().as_bytes()),
            Err(BadHeader::Field("previous"))
        );
    }

    #[test]
    fn a_later_version_is_named() {
        let line = header().line().replacen(" 2 ", " 7 ", 1);
        assert_eq!(
            Header::parse(line.trim_end().as_bytes()),
            Err(BadHeader::Version(7))
        );
    }

    #[test]
    fn what_is_not_whole_is_no_header() {
        let line = header().line();
        let whole = line.trim_end();
        for cut in 0..whole.len() {
            assert!(Header::parse(&whole.as_bytes()[..cut]).is_err(), "{cut}");
        }
        assert!(Header::parse(format!("{whole} more").as_bytes()).is_err());
        assert!(Header::parse(whole.replacen(" 3 ", " 03 ", 1).as_bytes()).is_err());
    }

    #[test]
    fn a_name_stands_between_spaces() {
        assert!(is_name("0198-abc"));
        for bad in ["", "a b", "a\nb", "ü", &"x".repeat(257)] {
            assert!(!is_name(bad), "{bad:?}");
        }
    }
}

//! The first line of a segment: whose it is, which generation, where it stands in the chain.
//!
//! Owns the text of the header and the version of the format. Knows no files. Invariant: a header is read back as it
//! was written, and one of a version that this build does not know is named, not guessed at.

use blake3::Hash;

/// The version of the format that this build writes. It reads every one up to it.
pub const VERSION: u32 = 1;

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
    /// Over the whole segment before this one; zeros for the first.
    pub(crate) previous: Hash,
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

/// What stands in the header of the first segment.
pub(crate) fn no_hash() -> Hash {
    Hash::from_bytes([0; 32])
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
        let previous = previous.to_hex();
        format!("{MAGIC} {VERSION} {session} {generation} {first_seq} {previous}\n")
    }

    /// Reads a line without its newline.
    pub(crate) fn parse(line: &[u8]) -> Result<Self, BadHeader> {
        let text = std::str::from_utf8(line).map_err(|_| BadHeader::Magic)?;
        let mut words = text.split(' ');
        if words.next() != Some(MAGIC) {
            return Err(BadHeader::Magic);
        }
        match number(words.next()) {
            Some(VERSION) => {}
            Some(version) => return Err(BadHeader::Version(version)),
            None => return Err(BadHeader::Field("version")),
        }
        let session = words.next().filter(|name| is_name(name));
        let session = session.ok_or(BadHeader::Field("session"))?.to_owned();
        let generation = number(words.next()).ok_or(BadHeader::Field("generation"))?;
        let first_seq = number(words.next()).ok_or(BadHeader::Field("first_seq"))?;
        let previous = words.next().and_then(|hex| Hash::from_hex(hex).ok());
        let previous = previous.ok_or(BadHeader::Field("prev_hash"))?;
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
            previous: blake3::hash(b"x"),
        }
    }

    #[test]
    fn a_header_is_read_back() {
        let line = header().line();
        assert_eq!(Header::parse(line.trim_end().as_bytes()), Ok(header()));
        assert!(line.starts_with("#countersign-journal 1 s-1 3 42 "));
    }

    #[test]
    fn a_later_version_is_named() {
        let line = header().line().replacen(" 1 ", " 7 ", 1);
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

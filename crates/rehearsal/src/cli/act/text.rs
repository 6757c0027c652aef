//! Files as text and back: what is read with lines of one kind is written with lines of that kind, and a file in no known
//! encoding is not written at all.

use std::io;
use std::path::Path;

/// The contents of a file, with `\n` at the ends of lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) body: String,
    crlf: bool,
    /// Whether bytes were lost on reading.
    pub(super) lossy: bool,
}

impl Text {
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        Ok(Self::decode(&std::fs::read(path)?))
    }

    pub(super) fn decode(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        Self {
            crlf: text.matches("\r\n").count() * 2 > text.matches('\n').count(),
            body: text.replace("\r\n", "\n"),
            lossy: std::str::from_utf8(bytes).is_err(),
        }
    }

    /// Another body with this one's ends of lines.
    pub(super) fn with_body(&self, body: &str) -> Vec<u8> {
        match self.crlf {
            true => body
                .replace("\r\n", "\n")
                .replace('\n', "\r\n")
                .into_bytes(),
            false => body.as_bytes().to_vec(),
        }
    }
}

/// Why a file in another encoding is not written.
pub(super) const LEGACY: &str = "File is not valid UTF-8: it uses a legacy encoding such as Windows-1252, Shift-JIS or GBK, or it is binary.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_lines_come_back_as_they_were_and_lost_bytes_are_noticed() {
        let text = Text::decode(b"a\r\nb\r\n");
        assert_eq!(text.body, "a\nb\n");
        assert_eq!(text.with_body("a\nc\n"), b"a\r\nc\r\n");
        assert_eq!(Text::decode(b"a\nb\n").with_body("x\n"), b"x\n");
        assert!(Text::decode(b"caf\xe9").lossy && !Text::decode("café".as_bytes()).lossy);
    }
}

//! Files as text and back: byte-order marks, UTF-16, line ends.
//!
//! What is read with lines of one kind is written with lines of that kind, and a file in no known encoding is not
//! written at all.

use std::io;
use std::path::Path;

/// The mark at the beginning of some files.
const MARK: char = '\u{feff}';

/// The contents of a file, with `\n` at the ends of lines and the byte-order mark as first character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) body: String,
    crlf: bool,
    wide: bool,
    /// Whether bytes were lost on reading.
    pub(super) lossy: bool,
}

impl Text {
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        Ok(Self::decode(&std::fs::read(path)?))
    }

    pub(super) fn decode(bytes: &[u8]) -> Self {
        let wide = bytes.starts_with(&[0xff, 0xfe]);
        let (text, lossy) = if wide {
            let units = bytes.chunks_exact(2);
            let units: Vec<u16> = units
                .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
                .collect();
            (String::from_utf16_lossy(&units), false)
        } else {
            match String::from_utf8_lossy(bytes) {
                std::borrow::Cow::Borrowed(text) => (text.to_owned(), false),
                std::borrow::Cow::Owned(text) => (text, true),
            }
        };
        let crlf = text.matches("\r\n").count();
        Self {
            crlf: crlf * 2 > text.matches('\n').count(),
            body: text.replace("\r\n", "\n"),
            wide,
            lossy,
        }
    }

    /// The text without its mark.
    pub(super) fn plain(&self) -> &str {
        self.body.strip_prefix(MARK).unwrap_or(&self.body)
    }

    /// This text with another body, its ends of lines as they were.
    pub(super) fn with_body(&self, body: &str) -> Vec<u8> {
        if self.crlf {
            self.encode(&body.replace("\r\n", "\n").replace('\n', "\r\n"))
        } else {
            self.encode(body)
        }
    }

    /// The bytes of a whole new text in this one's place: its mark and width stay.
    pub(super) fn replaced_by(&self, content: &str) -> (String, Vec<u8>) {
        let marked = self.body.starts_with(MARK) && !content.starts_with(MARK);
        let content = if marked {
            format!("{MARK}{content}")
        } else {
            content.to_owned()
        };
        let bytes = self.encode(&content);
        (content, bytes)
    }

    fn encode(&self, text: &str) -> Vec<u8> {
        if self.wide {
            text.encode_utf16().flat_map(u16::to_le_bytes).collect()
        } else {
            text.as_bytes().to_vec()
        }
    }
}

/// Why a file in another encoding is not written.
pub(super) const LEGACY: &str = "File is not valid UTF-8: it uses a legacy encoding such as Windows-1252, Shift-JIS or GBK, or it is binary.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_lines_come_back_as_they_were() {
        let text = Text::decode(b"a\r\nb\r\n");
        assert_eq!(text.body, "a\nb\n");
        assert_eq!(text.with_body("a\nc\n"), b"a\r\nc\r\n");
        assert_eq!(Text::decode(b"a\nb\n").with_body("x\n"), b"x\n");
    }

    #[test]
    fn a_wide_file_stays_wide_and_keeps_its_mark() {
        let text = Text::decode(b"\xff\xfeh\0i\0");
        assert_eq!((text.body.as_str(), text.plain()), ("\u{feff}hi", "hi"));
        assert_eq!(text.replaced_by("x").1, b"\xff\xfex\0");
    }

    #[test]
    fn bytes_of_another_encoding_are_noticed() {
        assert!(Text::decode(b"caf\xe9").lossy);
        assert!(!Text::decode("café \u{fffd}".as_bytes()).lossy);
    }
}

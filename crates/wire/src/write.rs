//! From a value to a line: ASCII-only JSON, one object, one newline.
//!
//! Invariant: every byte written is below 0x80 and the only newline is the last byte. The node builds of the
//! CLI damage a multi-byte character that straddles two reads of stdin, with no error anywhere; escapes cannot
//! be cut that way. Carried JSON ([`crate::Json`]) is escaped on the same road.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter, Serializer};

use crate::decode::Message;

/// One complete line, newline included. Takes whole messages only: a line without its `type` kills an older CLI.
///
/// # Errors
/// When `message` has no JSON form, which none of our types lacks.
pub fn to_line<M: Message>(message: &M) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = to_ascii(message)?;
    line.push(b'\n');
    Ok(line)
}

/// The JSON of `message` in ASCII, without a newline.
///
/// # Errors
/// When `message` has no JSON form, such as a map whose keys are not strings.
pub fn to_ascii<T: Serialize + ?Sized>(message: &T) -> Result<Vec<u8>, serde_json::Error> {
    let mut out = Vec::with_capacity(256);
    append_ascii(&mut out, message)?;
    Ok(out)
}

/// Appends the JSON of `message` in ASCII to `out`, for a line that is put together from parts.
///
/// # Errors
/// When `message` has no JSON form; `out` then holds a part of it.
pub fn append_ascii<T: Serialize + ?Sized>(
    out: &mut Vec<u8>,
    message: &T,
) -> Result<(), serde_json::Error> {
    message.serialize(&mut Serializer::with_formatter(out, Ascii))
}

struct Ascii;

impl Formatter for Ascii {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        escape_into(writer, fragment)
    }

    fn write_char_escape<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        CompactFormatter.write_char_escape(writer, escape)
    }

    /// Carried JSON: a character beyond ASCII can only stand inside a string there, and a line break only
    /// between tokens.
    fn write_raw_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        if memchr::memchr2(b'\n', b'\r', fragment.as_bytes()).is_none() {
            return escape_into(writer, fragment);
        }
        escape_into(writer, &fragment.replace(['\n', '\r'], " "))
    }
}

/// Writes `text` with each character beyond ASCII as `\uXXXX`, a surrogate pair above the first plane.
fn escape_into<W: ?Sized + Write>(writer: &mut W, text: &str) -> io::Result<()> {
    // Most text is plain, and finding that out takes many bytes at a time.
    if text.is_ascii() {
        return writer.write_all(text.as_bytes());
    }
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| !byte.is_ascii()) {
        let (plain, tail) = rest.split_at(at);
        writer.write_all(plain.as_bytes())?;
        let mut chars = tail.chars();
        if let Some(letter) = chars.next() {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
        }
        rest = chars.as_str();
    }
    writer.write_all(rest.as_bytes())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::Json;

    #[test]
    fn text_beyond_ascii_is_escaped_and_means_the_same() {
        let value = json!({"text": "Grüße, 世界 🦀 \u{2028}\u{7f}\u{0}", "ключ": 1});
        let line = to_ascii(&value).unwrap();
        assert!(line.is_ascii() && !line.contains(&b'\n'));
        assert_eq!(serde_json::from_slice::<Value>(&line).unwrap(), value);
    }

    #[test]
    fn carried_json_is_escaped_too_and_kept_on_one_line() {
        let carried: Json = serde_json::from_str("{\n  \"é\": \"🦀\\n\"\r\n}").unwrap();
        for line in [
            to_ascii(&json!({ "input": carried })).unwrap(),
            to_ascii(std::slice::from_ref(&carried)).unwrap(),
        ] {
            assert!(line.is_ascii());
            assert!(!line.contains(&b'\n') && !line.contains(&b'\r'));
            let read: Value = serde_json::from_slice(&line).unwrap();
            assert!(read.to_string().contains("🦀"), "{read}");
        }
    }
}

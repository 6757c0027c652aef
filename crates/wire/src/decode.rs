//! The second step of decoding: a line as a typed message.
//!
//! Owns [`decode`] and its errors. Invariants: a known, an unknown and a malformed line are all values; a known
//! type that is broken is named with field and column and never passes for an unknown one; nothing read is lost.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::fast;
use crate::frame::Line;
use crate::inspect::Inspect;
use crate::route::{Route, RouteError};
use crate::scan::{locate, skip_space};
use crate::shape::BEFORE_TAG;
use crate::slow::{self, Refusal};
use crate::surrogate;

/// Why a line is malformed. The line itself stays with the caller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The bytes are no UTF-8.
    #[error("not UTF-8 at byte {column}")]
    NotUtf8 {
        /// The first byte that does not fit, counted from 1.
        column: usize,
    },
    /// The text is no JSON.
    #[error("not JSON at column {column}: {reason}")]
    NotJson {
        /// Where reading stopped, counted from 1.
        column: usize,
        /// What was found.
        reason: String,
    },
    /// JSON, but no object.
    #[error("expected a JSON object, found {found}")]
    NotAnObject {
        /// What it is instead.
        found: &'static str,
    },
    /// An object without a `type` that is a string.
    #[error("the object has no `type`")]
    NoType,
    /// An object with more than one `type`; readers would differ on which counts.
    #[error("`type` stands more than once in the object")]
    RepeatedType,
    /// A known message with a field that is missing or broken.
    #[error("broken `{kind}`: `{field}` at column {column}: {reason}")]
    Body {
        /// `type`, or `type/subtype`.
        kind: String,
        /// Path of the field, such as `message.content[0].text`; `.` for the message itself.
        field: String,
        /// First byte of its value, counted from 1; where reading stopped, if it is missing.
        column: usize,
        /// What was expected.
        reason: String,
    },
}

/// One line of a stream, whatever it is. Nothing a peer writes is left out, and nothing ends the stream.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Frame<M> {
    /// A message, known or not.
    Message(M),
    /// A line that is no message, or a broken one, with its bytes as they came.
    Malformed {
        /// The line, without its line end.
        line: Vec<u8>,
        /// What is wrong with it.
        error: DecodeError,
    },
    /// A line longer than the reader permits; its bytes are gone.
    TooLong {
        /// How long it was.
        bytes: u64,
    },
}

impl<M: Message> Frame<M> {
    /// Decodes what a [`crate::frame::FrameReader`] gives.
    pub fn of(line: Line<'_>) -> Self {
        match line {
            Line::TooLong { bytes } => Self::TooLong { bytes },
            Line::Text(text) => match decode(text) {
                Ok(message) => Self::Message(message),
                Err(error) => Self::Malformed {
                    line: text.to_vec(),
                    error,
                },
            },
        }
    }
}

/// What lines of one direction decode to.
///
/// Sealed, and implemented where the types are: reading one is a lot of code, which is compiled once here and not again
/// in every crate that decodes.
pub trait Message: DeserializeOwned + Serialize + PartialEq + Inspect + sealed::Sealed {
    #[doc(hidden)]
    fn decode(line: &[u8]) -> Result<Self, DecodeError>;

    /// The road that counts, without the quick reader in front. For comparing the two.
    #[doc(hidden)]
    fn decode_slowly(text: &str) -> Result<Self, DecodeError>;
}

macro_rules! messages {
    ($($message:ty),*) => {$(
        impl sealed::Sealed for $message {}

        impl Message for $message {
            fn decode(line: &[u8]) -> Result<Self, DecodeError> {
                let text = simdutf8::basic::from_utf8(line).map_err(|_| not_utf8(line))?;
                match fast::read(text) {
                    Some(message) => Ok(message),
                    None => Self::decode_slowly(text),
                }
            }

            fn decode_slowly(text: &str) -> Result<Self, DecodeError> {
                // A mended text has the same length, so that columns stay true.
                let mended = surrogate::mend(text);
                let text = mended.as_deref().unwrap_or(text);
                slow::read(text).map_err(|refusal| explain(text, &refusal))
            }
        }
    )*};
}
messages!(crate::CliMessage, crate::HostMessage);

mod sealed {
    pub trait Sealed {}
}

/// Reads one line as a message of one direction: [`crate::CliMessage`] or [`crate::HostMessage`].
///
/// Half a surrogate pair (`"\ud83d"` alone), which a CLI that cuts text can send, is read as U+FFFD.
///
/// # Errors
/// When the line is malformed; the error says where and why.
pub fn decode<M: Message>(line: &[u8]) -> Result<M, DecodeError> {
    M::decode(line)
}

/// Whether a line can be held exactly: it has no half of a surrogate pair, which decoding replaces.
pub fn is_exact(line: &[u8]) -> bool {
    std::str::from_utf8(line).is_ok_and(|text| surrogate::mend(text).is_none())
}

/// Where a line stops being UTF-8, which the quick check does not tell.
#[cold]
fn not_utf8(line: &[u8]) -> DecodeError {
    let valid = std::str::from_utf8(line).map_or_else(|error| error.valid_up_to(), str::len);
    DecodeError::NotUtf8 { column: valid + 1 }
}

/// Says what is wrong with a line that did not decode. Not on the fast road: it reads the line again.
#[cold]
fn explain(text: &str, Refusal { path, error }: &Refusal) -> DecodeError {
    if let Err(syntax) = serde_json::from_str::<serde::de::IgnoredAny>(text) {
        return DecodeError::NotJson {
            column: syntax.column(),
            reason: reason(&syntax),
        };
    }
    let start = skip_space(text.as_bytes(), 0);
    let found = match text.as_bytes().get(start) {
        Some(b'{') => None,
        Some(b'[') => Some("an array"),
        Some(b'"') => Some("a string"),
        Some(b't' | b'f') => Some("a boolean"),
        Some(b'n') => Some("null"),
        _ => Some("a number"),
    };
    if let Some(found) = found {
        return DecodeError::NotAnObject { found };
    }
    let route = match Route::of(text.as_bytes()) {
        Ok(route) => route,
        Err(RouteError::RepeatedType) => return DecodeError::RepeatedType,
        Err(_) => return DecodeError::NoType,
    };
    let (field, reason) = name_field(path.to_string(), reason(error));
    DecodeError::Body {
        kind: route.name(),
        column: locate(text.as_bytes(), &field).map_or(error.column(), |at| at + 1),
        field,
        reason,
    }
}

/// The message of an error without its position, which we give as a column of its own.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}

/// Completes the path where the field is named by the message only: it is missing, or stood before its tag.
fn name_field(path: String, reason: String) -> (String, String) {
    let named = [BEFORE_TAG, "missing field `", "duplicate field `"]
        .iter()
        .find_map(|start| reason.strip_prefix(start)?.split_once('`'));
    let Some((name, rest)) = named else {
        return (path, reason);
    };
    let field = if path == "." {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    };
    match rest.strip_prefix(": ") {
        Some(inner) => (field, inner.to_owned()),
        None if reason.starts_with("duplicate") => (field, "repeated".to_owned()),
        None => (field, "missing".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CliMessage;
    use crate::frame::FrameReader;

    fn error(line: &[u8]) -> String {
        decode::<CliMessage>(line).unwrap_err().to_string()
    }

    #[test]
    fn a_broken_known_message_names_type_field_and_column() {
        insta::assert_snapshot!(
            error(br#"{"type":"system","subtype":"informational","content":7,"level":"info"}"#),
            @"broken `system/informational`: `content` at column 54: invalid type: integer `7`, expected a string"
        );
        insta::assert_snapshot!(
            error(br#"{"content":7,"subtype":"informational","type":"system","level":"info"}"#),
            @"broken `system/informational`: `content` at column 12: invalid type: integer `7`, expected a string"
        );
        insta::assert_snapshot!(
            error(br#"{"type":"control_request","request":{"subtype":"interrupt"}}"#),
            @"broken `control_request/interrupt`: `request_id` at column 60: missing"
        );
        insta::assert_snapshot!(
            error(br#"{"type":"assistant","message":{"role":"assistant","model":"m","content":[{"type":"text"}]},"session_id":"s"}"#),
            @"broken `assistant`: `message.content[0].text` at column 88: missing"
        );
    }

    #[test]
    fn a_repeated_tag_is_refused_because_readers_would_differ() {
        insta::assert_snapshot!(
            error(br#"{"type":"keep_alive","type":"user"}"#),
            @"`type` stands more than once in the object"
        );
        insta::assert_snapshot!(
            error(br#"{"uuid":"u","subtype":"init","type":"system","subtype":"status"}"#),
            @"broken `system/status`: `subtype` at column 23: repeated"
        );
        insta::assert_snapshot!(
            error(br#"{"type":"tomorrow","a":1,"type":"today"}"#),
            @"`type` stands more than once in the object"
        );
    }

    #[test]
    fn what_is_no_message_says_what_it_is() {
        insta::assert_snapshot!(error(b"{\"type\":\"user\xff\"}"), @"not UTF-8 at byte 14");
        insta::assert_snapshot!(error(b"{\"type\":\"keep_alive\0\"}"), @"not JSON at column 19: control character (\\u0000-\\u001F) found while parsing a string");
        insta::assert_snapshot!(error(b"{\"type\":\"assis"), @"not JSON at column 14: EOF while parsing a string");
        insta::assert_snapshot!(error(b"[{}]"), @"expected a JSON object, found an array");
        insta::assert_snapshot!(error(b"null"), @"expected a JSON object, found null");
        insta::assert_snapshot!(error(b"{\"a\":1}"), @"the object has no `type`");
        insta::assert_snapshot!(error(b"{\"type\":5}"), @"the object has no `type`");
    }

    #[test]
    fn every_line_of_a_bad_stream_is_delivered() {
        let stream = b"{\"type\":\"keep_alive\"}\r\n\n\xff\n[1]\n{\"type\":\"user\"}\n{\"type\":\"x\"}\n\0\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n{\"type\":\"keep_alive\"}";
        let mut reader = FrameReader::with_max_line(32);
        reader.push(stream);
        let mut frames: Vec<Frame<CliMessage>> = Vec::new();
        while let Some(line) = reader.next_line() {
            frames.push(Frame::of(line));
        }
        frames.extend(reader.finish().map(Frame::of));
        let shown: Vec<String> = frames
            .iter()
            .map(|frame| match frame {
                Frame::Message(message) => message.tag().to_owned(),
                Frame::Malformed { line, error } => format!(
                    "{} <- {error}",
                    String::from_utf8_lossy(line).escape_debug()
                ),
                Frame::TooLong { bytes } => format!("{bytes} bytes"),
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r#"
        keep_alive
        � <- not UTF-8 at byte 1
        [1] <- expected a JSON object, found an array
        {\"type\":\"user\"} <- broken `user`: `message` at column 15: missing
        x
        \0 <- not JSON at column 1: expected value
        33 bytes
        keep_alive
        "#);
    }

    #[test]
    fn half_a_surrogate_pair_does_not_cost_the_message() {
        let line =
            br#"{"type":"system","subtype":"informational","content":"cut \ud83d","level":"info"}"#;
        let message: CliMessage = decode(line).unwrap();
        let written = String::from_utf8(crate::write::to_ascii(&message).unwrap()).unwrap();
        assert!(written.contains(r#""cut \ufffd""#), "{written}");
    }

    #[test]
    fn half_a_surrogate_pair_leaves_carried_json_and_errors_alone() {
        let line = br#"{"type":"control_request","request_id":"r\ud83d","request":{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"t","input":{"command":"echo \ud83d"}}}"#;
        let message: CliMessage = decode(line).unwrap();
        let written = String::from_utf8(crate::write::to_ascii(&message).unwrap()).unwrap();
        assert!(written.contains(r#""request_id":"r\ufffd""#), "{written}");
        assert!(
            written.contains(r#"{"command":"echo \ud83d"}"#),
            "{written}"
        );
        insta::assert_snapshot!(
            error(br#"{"type":"system","subtype":"informational","content":"\ud83d","level":7}"#),
            @"broken `system/informational`: `level` at column 71: invalid type: integer `7`, expected a string"
        );
    }

    /// Objects inside each other, each with its tag behind what it holds.
    fn nested(levels: usize) -> String {
        let open = r#"{"response":{"pending_permission_requests":["#.repeat(levels);
        let close = r#"],"subtype":"success"},"type":"control_response"}"#.repeat(levels);
        format!(r#"{open}{{"type":"keep_alive"}}{close}"#)
    }

    #[test]
    fn deep_nesting_before_the_tag_is_refused_and_fills_no_stack() {
        let small_stack = std::thread::Builder::new().stack_size(2 << 20);
        let checked = small_stack.spawn(|| {
            assert!(decode::<CliMessage>(nested(20).as_bytes()).is_ok());
            for levels in [100, 1000, 20_000] {
                assert!(
                    decode::<CliMessage>(nested(levels).as_bytes()).is_err(),
                    "{levels}"
                );
            }
        });
        checked.unwrap().join().unwrap();
    }

    #[test]
    fn an_unknown_type_is_a_value() {
        let line = br#"{"type":"tomorrow","a":[1,2.50],"b":null}"#;
        let message: CliMessage = decode(line).unwrap();
        assert!(matches!(&message, CliMessage::Unknown(kept) if &*kept.name == "tomorrow"));
        assert_eq!(
            serde_json::to_value(&message).unwrap(),
            serde_json::from_slice::<serde_json::Value>(line).unwrap()
        );
    }
}

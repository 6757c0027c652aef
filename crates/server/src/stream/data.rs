//! What an event says of a record, of an entry, of something that happened.
//!
//! Owns the JSON of it. A line that is JSON is `line` and goes through as it stands; what is no JSON is `text`, and what is
//! no text `b64`. Invariant: what leaves has passed the mask.

use std::borrow::Cow;

use countersign_api::control::{ControlError, Followed, Happened, HostEvent};
use countersign_api::{
    Code, FollowerCaughtUp, FollowerMoved, FollowerRewound, LargeRecord, Problem, ToldRecord,
};
use serde::Serialize;
use serde::de::IgnoredAny;

use super::Frame;
use crate::redact::Redactor;

/// The bytes of a record, as the way out knows them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Content<'a> {
    /// JSON.
    Line(Cow<'a, str>),
    /// Text that is no JSON.
    Text(Cow<'a, str>),
    /// Bytes that are no text.
    Bytes(Vec<u8>),
}

impl<'a> Content<'a> {
    /// What these bytes are, masked.
    pub(crate) fn of(payload: &'a [u8], mask: &Redactor) -> Self {
        match std::str::from_utf8(payload) {
            Ok(text) => Self::of_text(mask.line(text)),
            Err(_) => Self::Bytes(around(payload, mask)),
        }
    }

    /// What these bytes are, as they crossed.
    pub(crate) fn bare(payload: &'a [u8]) -> Self {
        match std::str::from_utf8(payload) {
            Ok(text) => Self::of_text(text.into()),
            Err(_) => Self::Bytes(payload.to_vec()),
        }
    }

    fn of_text(text: Cow<'a, str>) -> Self {
        match is_json(&text) {
            true => Self::Line(text),
            false => Self::Text(text),
        }
    }

    /// The name of its field in a record and what stands there, as JSON.
    pub(crate) fn field(&self) -> (&'static str, Cow<'_, str>) {
        match self {
            Self::Line(line) => ("line", Cow::Borrowed(line)),
            Self::Text(text) => ("text", json(text).into()),
            Self::Bytes(bytes) => ("b64", json(&base64(bytes)).into()),
        }
    }

    /// What it is called in a header.
    pub(crate) fn media_type(&self) -> &'static str {
        match self {
            Self::Line(_) => "application/json",
            Self::Text(_) => "text/plain; charset=utf-8",
            Self::Bytes(_) => "application/octet-stream",
        }
    }

    /// Its bytes.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        match self {
            Self::Line(text) | Self::Text(text) => text.into_owned().into_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// Bytes with what is text in them masked.
fn around(payload: &[u8], mask: &Redactor) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(payload.len());
    for chunk in payload.utf8_chunks() {
        bytes.extend_from_slice(mask.line(chunk.valid()).as_bytes());
        bytes.extend_from_slice(chunk.invalid());
    }
    bytes
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// What a follower of records is told.
pub(crate) fn of_record(followed: &Followed, mask: &Redactor) -> Frame {
    match followed {
        Followed::Record {
            cursor,
            at,
            kind,
            payload,
        } => record(cursor, *at, *kind, payload, mask),
        Followed::Large {
            cursor,
            at,
            kind,
            len,
        } => {
            let told = LargeRecord {
                cursor,
                at: *at,
                kind: *kind,
                len: *len,
            };
            Frame::new("large", Some(cursor.clone()), json(&told))
        }
        Followed::CaughtUp { cursor } => caught_up(cursor),
        Followed::Rewound { to } => rewound(to),
        Followed::Moved { holder } => moved(holder),
    }
}

fn record(cursor: &str, at: u64, kind: char, payload: &[u8], mask: &Redactor) -> Frame {
    let content = Content::of(payload, mask);
    let mut told = ToldRecord {
        cursor,
        at,
        kind,
        line: None,
        text: None,
        b64: None,
    };
    match &content {
        // It was read as JSON before, so it is.
        Content::Line(line) => match serde_json::from_str(line) {
            Ok(line) => told.line = Some(line),
            Err(_) => told.text = Some(line),
        },
        Content::Text(text) => told.text = Some(text),
        Content::Bytes(bytes) => told.b64 = Some(base64(bytes)),
    }
    Frame::new("record", Some(cursor.to_owned()), json(&told))
}

/// History ends here.
pub(crate) fn caught_up(cursor: &str) -> Frame {
    let data = json(&FollowerCaughtUp { cursor });
    Frame::new("caught-up", Some(cursor.to_owned()), data)
}

/// What was told behind this record is gone.
pub(crate) fn rewound(to: &str) -> Frame {
    let data = json(&FollowerRewound { to });
    Frame::new("rewound", Some(to.to_owned()), data)
}

/// Another machine has it.
pub(crate) fn moved(holder: &str) -> Frame {
    let data = json(&FollowerMoved { holder });
    Frame::new("moved", None, data)
}

/// It cannot go on. Not called `error`: pages hear that when a connection breaks.
pub(crate) fn problem(error: ControlError) -> Frame {
    Frame::new("problem", None, json(&Problem::from(error)))
}

/// A value as the JSON that may leave.
pub(crate) fn leaving<T: Serialize>(value: &T, mask: &Redactor) -> Result<String, Problem> {
    let whole = json(value);
    match mask.answer(&whole) {
        Cow::Borrowed(_) => Ok(whole),
        Cow::Owned(text) if is_json(&text) => Ok(text),
        Cow::Owned(_) => {
            let detail = "what is secret in it could not be masked";
            Err(Problem::new(Code::Unavailable, detail)
                .hint("Look at the patterns that mask secrets: one of them leaves broken JSON."))
        }
    }
}

/// Something that happened, by its number.
pub(crate) fn of_event(event: &HostEvent, mask: &Redactor) -> Frame {
    let data = leaving(event, mask).unwrap_or_else(|problem| json(&problem));
    let number = event.number.to_string();
    Frame::new(kind(&event.what).as_ref(), Some(number), data)
}

/// The name under which something that happened is told.
fn kind(what: &Happened) -> Cow<'static, str> {
    let named = serde_json::to_value(what);
    let name = named.ok().and_then(|value| {
        let name = value.get("event")?.as_str()?;
        let is_name = |byte: u8| byte.is_ascii_lowercase() || byte == b'_' || byte == b'-';
        let is_plain = (1..=32).contains(&name.len()) && name.bytes().all(is_name);
        is_plain.then(|| name.to_owned())
    });
    name.map_or(Cow::Borrowed("other"), Cow::Owned)
}

/// A value as JSON on one line.
pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

/// Bytes in letters.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let mut group = [0; 4];
        group[1..=three.len()].copy_from_slice(three);
        let bits = u32::from_be_bytes(group);
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place)) as usize & 63];
            text.push(if place > three.len() {
                '='
            } else {
                char::from(letter)
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn told(payload: &[u8]) -> Value {
        let record = Followed::Record {
            cursor: "1-7".to_owned(),
            at: 5,
            kind: 'a',
            payload: payload.to_vec(),
        };
        let frame = of_record(&record, &Redactor::default());
        assert_eq!(frame.id.as_deref(), Some("1-7"));
        serde_json::from_str(&frame.data).unwrap()
    }

    #[test]
    fn a_record_is_a_line_or_text_or_bytes() {
        let line = told(br#"{"type":"x","n":1.50}"#);
        assert_eq!(line["line"], json!({"type": "x", "n": 1.5}));
        assert_eq!((&line["at"], &line["kind"]), (&json!(5), &json!("a")));
        assert_eq!(told(b"no JSON \x1b[0m")["text"], "no JSON \u{1b}[0m");
        assert_eq!(told(b"{}{}")["text"], "{}{}", "two values are no line");
        assert_eq!(told(b"\xff\x00")["b64"], "/wA=");
        assert_eq!(told(b"")["text"], "");
    }

    #[test]
    fn a_line_goes_through_as_it_stands() {
        let payload = r#"{"b":1.0,"a":1e2,"a":"\ud800"}"#;
        let record = Followed::Record {
            cursor: "1-1".to_owned(),
            at: 1,
            kind: 'a',
            payload: payload.as_bytes().to_vec(),
        };
        let frame = of_record(&record, &Redactor::default());
        assert!(frame.data.contains(payload), "{}", frame.data);
    }

    #[test]
    fn a_secret_leaves_in_no_form() {
        let secret = concat!("correct-horse-", "battery-staple");
        let mask = Redactor::default();
        mask.learn([secret.to_owned()]);
        let forms = [
            format!(r#"{{"key":"{secret}"}}"#).into_bytes(),
            format!("plain {secret}").into_bytes(),
            [b"\xff", secret.as_bytes(), b"\xfe"].concat(),
        ];
        for payload in forms {
            let bytes = Content::of(&payload, &mask).into_bytes();
            let has = String::from_utf8_lossy(&bytes).contains(secret);
            assert!(!has, "{}", String::from_utf8_lossy(&bytes));
            assert!(!bytes.is_empty());
        }
    }

    #[test]
    fn bytes_are_written_in_letters() {
        let all = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v")];
        for (bytes, letters) in all {
            assert_eq!(base64(bytes.as_bytes()), letters);
        }
    }

    #[test]
    fn an_event_is_called_what_happened_and_nothing_can_be_slipped_in() {
        let event = |what| HostEvent {
            number: 9,
            at: 1,
            session: None,
            what,
        };
        let frame = of_event(&event(Happened::Rules), &Redactor::default());
        assert_eq!(
            (frame.name.as_str(), frame.id.as_deref()),
            ("rules", Some("9"))
        );
        let frame = of_event(&event(Happened::Gap), &Redactor::default());
        assert_eq!(frame.name, "gap");
        for name in ["a\nid: 3", "", "Ä"] {
            let other = Happened::Other(json!({"event": name}));
            assert_eq!(of_event(&event(other), &Redactor::default()).name, "other");
        }
        let newer = Happened::Other(json!({"event": "comet"}));
        assert_eq!(of_event(&event(newer), &Redactor::default()).name, "comet");
    }
}

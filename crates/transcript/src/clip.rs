//! Texts and JSON of bounded size, with the way to the whole.
//!
//! Owns how something long is cut. Invariants: what is kept is whole characters and whole JSON; the length told is that
//! of the whole; what was cut says which record holds it.

use std::hash::Hasher;

use countersign_journal::Cursor;
use countersign_wire::Json;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bounds;
use crate::id::maybe_cursor;

/// What is longer is no word, and is cut anywhere.
const LONGEST_WORD: usize = 512;

/// A text, or as much of it as an entry holds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Clip {
    /// The text, or its beginning.
    pub text: String,
    /// Bytes of the whole text.
    pub length: u64,
    /// The record that holds the whole. Only where something was cut off, and one record holds it.
    #[serde(
        default,
        with = "maybe_cursor",
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub whole: Option<Cursor>,
}

impl Clip {
    /// Cuts a text that stands in the record `here`.
    pub fn of(text: &str, here: Cursor) -> Self {
        let kept = start_of(text, bounds::TEXT);
        Self {
            text: kept.to_owned(),
            length: text.len() as u64,
            whole: (kept.len() < text.len()).then_some(here),
        }
    }

    /// Whether something is missing.
    pub fn is_cut(&self) -> bool {
        self.length > self.text.len() as u64
    }

    /// Takes a further piece: as much of it as is kept.
    pub(crate) fn grow<'a>(&mut self, piece: &'a str) -> &'a str {
        let room = bounds::TEXT.saturating_sub(self.text.len());
        // Behind a gap nothing may follow: the text would not be the beginning of the whole.
        let kept = match self.is_cut() {
            true => "",
            false => start_of(piece, room),
        };
        self.text.push_str(kept);
        self.length += piece.len() as u64;
        kept
    }

    /// Gives memory back; `here` is a record that holds the whole.
    pub(crate) fn shorten(&mut self, here: Cursor) {
        let kept = start_of(&self.text, bounds::SHORT).len();
        if kept < self.text.len() {
            self.text.truncate(kept);
            self.text.shrink_to_fit();
            self.whole.get_or_insert(here);
        }
    }
}

/// A JSON value, or as much of it as an entry holds: long texts and lists within it are cut, it stays JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Shown {
    /// The value as it was written, or with its long parts cut.
    #[cfg_attr(feature = "schema", schema(value_type = serde_json::Value))]
    pub json: Json,
    /// Bytes of the whole value.
    pub length: u64,
    /// The record that holds the whole. Only where something was cut off.
    #[serde(
        default,
        with = "maybe_cursor",
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub whole: Option<Cursor>,
}

impl Shown {
    /// Cuts a value that stands in the record `here`.
    pub fn of(json: &Json, here: Cursor) -> Self {
        let length = json.as_str().len();
        if length <= bounds::TEXT {
            return Self {
                json: json.clone(),
                length: length as u64,
                whole: None,
            };
        }
        Self {
            json: cut(json, bounds::TEXT),
            length: length as u64,
            whole: Some(here),
        }
    }

    /// Whether something is missing.
    pub fn is_cut(&self) -> bool {
        self.whole.is_some()
    }

    /// Gives memory back; `here` is a record that holds the whole.
    pub(crate) fn shorten(&mut self, here: Cursor) {
        if self.json.as_str().len() > bounds::SHORT {
            self.json = cut(&self.json, bounds::SHORT);
            self.whole.get_or_insert(here);
        }
    }
}

/// A word of bounded size.
pub(crate) fn word(text: &str) -> String {
    start_of(text, bounds::WORD).to_owned()
}

/// The beginning of a text, whole characters, at most so many bytes.
/// The last word is left out where it goes on: half of a secret is not known as one by whoever masks it.
pub(crate) fn start_of(text: &str, most: usize) -> &str {
    let start = &text[..text.floor_char_boundary(most)];
    let goes_on = text[start.len()..].starts_with(|letter: char| !letter.is_whitespace());
    let from = start.floor_char_boundary(start.len().saturating_sub(LONGEST_WORD));
    match start[from..].rfind(char::is_whitespace) {
        Some(at) if goes_on => &start[..from + at],
        _ => start,
    }
}

/// What a value means, whatever its spaces, escapes and order of keys. For comparing, within one session only.
pub(crate) fn digest(json: &Json) -> u64 {
    let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
    match json.to_value() {
        Ok(value) => hasher.write(value.to_string().as_bytes()),
        Err(_) => hasher.write(json.as_str().as_bytes()),
    }
    hasher.finish()
}

/// FNV-1a: the same on every machine and in every build, which the standard hasher does not promise.
struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// The value with its long parts cut, in about `most` bytes. Nested too deep to be read, it is `null`.
fn cut(json: &Json, most: usize) -> Json {
    let mut room = most;
    match json.to_value() {
        Ok(value) => Json::from(cut_value(value, &mut room)),
        Err(_) => Json::null(),
    }
}

fn cut_value(value: Value, room: &mut usize) -> Value {
    match value {
        Value::String(text) => {
            let kept = start_of(&text, *room);
            *room = room.saturating_sub(kept.len() + 2);
            match kept.len() == text.len() {
                true => Value::String(text),
                false => Value::String(format!("{kept}…")),
            }
        }
        Value::Array(items) => {
            let mut kept = Vec::new();
            for item in items {
                if *room == 0 {
                    break;
                }
                *room = room.saturating_sub(1);
                kept.push(cut_value(item, room));
            }
            Value::Array(kept)
        }
        Value::Object(members) => {
            // Short members first, so that a path is not lost behind a long content.
            let mut members: Vec<_> = members.into_iter().collect();
            members.sort_by_key(|(_, value)| {
                matches!(value, Value::String(text) if text.len() > 256)
                    || value.is_array()
                    || value.is_object()
            });
            let mut kept = serde_json::Map::new();
            for (key, value) in members {
                if *room == 0 {
                    break;
                }
                let key_room = key.len() + 4;
                if key_room > *room {
                    continue;
                }
                *room -= key_room;
                kept.insert(key, cut_value(value, room));
            }
            Value::Object(kept)
        }
        other => {
            *room = room.saturating_sub(8);
            other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Cursor = Cursor {
        generation: 1,
        seq: 7,
    };

    #[test]
    fn a_long_text_is_cut_between_characters_and_says_where_the_whole_is() {
        let whole = "ä".repeat(bounds::TEXT);
        let clip = Clip::of(&whole, HERE);
        assert_eq!(
            (clip.text.len(), clip.length),
            (bounds::TEXT, whole.len() as u64)
        );
        assert_eq!(clip.whole, Some(HERE));
        assert_eq!(Clip::of("short", HERE).whole, None);
    }

    #[test]
    fn a_text_that_grows_stays_the_beginning_of_the_whole() {
        let mut clip = Clip::default();
        assert_eq!(clip.grow("ab"), "ab");
        let long = "x".repeat(bounds::TEXT - 3) + "ä";
        assert_eq!(clip.grow(&long).len(), bounds::TEXT - 3);
        assert!(clip.is_cut());
        assert_eq!(clip.grow("y"), "");
        assert_eq!(clip.length, 2 + long.len() as u64 + 1);
    }

    #[test]
    fn a_long_value_stays_json_and_keeps_its_short_members() {
        let content = "z".repeat(3 * bounds::TEXT);
        let json = Json::from(serde_json::json!({
            "a_content": content, "list": vec![content.clone(); 5], "path": "/a", "on": true,
        }));
        let shown = Shown::of(&json, HERE);
        let value = shown.json.to_value().unwrap();
        assert_eq!((&value["path"], &value["on"]), (&"/a".into(), &true.into()));
        assert!(shown.json.as_str().len() < bounds::TEXT + 64);
        assert_eq!(
            (shown.length, shown.whole),
            (json.as_str().len() as u64, Some(HERE))
        );
    }

    #[test]
    fn what_means_the_same_has_the_same_digest() {
        let digest = |text: &str| super::digest(&text.parse().unwrap());
        assert_eq!(
            digest(r#"{"a":"\u00e4","b":1}"#),
            digest(r#"{ "b":1, "a":"ä" }"#)
        );
        assert_ne!(digest(r#"{"a":1}"#), digest(r#"{"a":2}"#));
    }

    #[test]
    fn the_beginning_of_a_word_that_goes_on_is_left_out() {
        assert_eq!(start_of("one secret-word", 9), "one");
        assert_eq!(start_of("one secret-word two", 15), "one secret-word");
        assert_eq!(start_of("one secret-word", 15), "one secret-word");
        // What is longer than any word is cut anywhere.
        let long = format!("one {}", "x".repeat(2 * LONGEST_WORD));
        assert_eq!(start_of(&long, LONGEST_WORD + 10).len(), LONGEST_WORD + 10);
        assert_eq!(start_of("löffel", 2), "l");
    }
}

//! One line of a transcript: the few fields everybody needs, and the whole as it is.
//!
//! Owns what a line means on its own, not how lines hang together. Invariant: no line is an error; one that is no
//! JSON object with a `type` is a [`TranscriptLine::Broken`].

use std::time::SystemTime;

use countersign_wire::Json;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::fields::Fields;
use super::stamp;

/// How much of a broken line is kept to show.
const PREVIEW: usize = 200;

/// What a line of a transcript was.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum TranscriptLine {
    /// An entry, of a known type or not.
    Entry(Entry),
    /// A line that is no entry: torn by a crash, or not of the CLI.
    Broken {
        /// Its number, from 1.
        line: u64,
        /// How it begins, damaged where it is no UTF-8.
        begins: String,
        /// What is wrong with it.
        why: String,
    },
    /// A line beyond the bound, passed over.
    TooLong {
        /// Its number, from 1.
        line: u64,
        /// Its size.
        bytes: u64,
    },
}

impl TranscriptLine {
    /// Reads a line without its line end.
    pub(super) fn read(bytes: &[u8], line: u64) -> Self {
        match Entry::read(bytes, line) {
            Ok(entry) => Self::Entry(entry),
            Err(error) => Self::Broken {
                line,
                begins: String::from_utf8_lossy(&bytes[..bytes.len().min(PREVIEW)]).into_owned(),
                why: error.to_string(),
            },
        }
    }

    /// The entry, if it is one.
    pub fn entry(&self) -> Option<&Entry> {
        match self {
            Self::Entry(entry) => Some(entry),
            _ => None,
        }
    }

    /// The entry, if it is one.
    pub fn into_entry(self) -> Option<Entry> {
        match self {
            Self::Entry(entry) => Some(entry),
            _ => None,
        }
    }
}

/// One entry of a transcript. Types and fields this build does not know are in [`Entry::json`].
#[derive(Debug, Clone)]
pub struct Entry {
    line: u64,
    head: Head,
    json: Json,
}

/// The fields with a role in the chain. A field of another shape than expected counts as absent: a transcript of a
/// newer CLI must still be readable.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Head {
    pub(super) r#type: String,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) uuid: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) parent_uuid: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) session_id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) timestamp: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) is_sidechain: Option<bool>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) is_meta: Option<bool>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) is_compact_summary: Option<bool>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) agent_id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) team_name: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) leaf_uuid: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) explicit: Option<bool>,
}

/// A value of the expected shape, or nothing.
pub(super) fn lenient<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: DeserializeOwned,
{
    Ok(Json::deserialize(deserializer)?.to().ok())
}

impl Entry {
    fn read(bytes: &[u8], line: u64) -> Result<Self, serde_json::Error> {
        let json: Json = serde_json::from_slice(bytes)?;
        let head = json.to()?;
        Ok(Self { line, head, json })
    }

    pub(super) fn head(&self) -> &Head {
        &self.head
    }

    /// The number of its line, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Its `type`: `user`, `assistant`, `system`, `custom-title`, or one that is new.
    pub fn kind(&self) -> &str {
        &self.head.r#type
    }

    /// Its id; entries beside the conversation have none.
    pub fn uuid(&self) -> Option<&str> {
        self.head.uuid.as_deref()
    }

    /// The entry it follows in the conversation.
    pub fn parent_uuid(&self) -> Option<&str> {
        self.head.parent_uuid.as_deref()
    }

    /// The session that wrote it.
    pub fn session_id(&self) -> Option<&str> {
        self.head.session_id.as_deref()
    }

    /// The sub-agent that wrote it.
    pub fn agent_id(&self) -> Option<&str> {
        self.head.agent_id.as_deref()
    }

    /// When it was written, by the CLI's clock.
    pub fn written(&self) -> Option<SystemTime> {
        self.head.timestamp.as_deref().and_then(stamp::parse)
    }

    /// Whether it belongs to a sub-agent.
    pub fn is_sidechain(&self) -> bool {
        self.head.is_sidechain == Some(true)
    }

    /// Whether the CLI wrote it for the model and not for people.
    pub fn is_meta(&self) -> bool {
        self.head.is_meta == Some(true)
    }

    /// Whether it stands for what a compaction took away.
    pub fn is_compact_summary(&self) -> bool {
        self.head.is_compact_summary == Some(true)
    }

    /// The message as it went to or came from the model, for `user` and `assistant`.
    pub fn message(&self) -> Option<Json> {
        self.field("message")
    }

    /// A field of the entry.
    pub fn field(&self, name: &str) -> Option<Json> {
        let fields: Fields = self.json.to().ok()?;
        fields.get(name).cloned()
    }

    /// The text of the message: all its text blocks, a line break between them. Empty where there is none.
    pub fn text(&self) -> String {
        self.spoken().text
    }

    pub(super) fn spoken(&self) -> Spoken {
        Spoken::of(self.message().as_ref())
    }

    /// The whole entry.
    pub fn json(&self) -> &Json {
        &self.json
    }
}

/// What of a message matters for titles and chains.
#[derive(Debug, Default)]
pub(super) struct Spoken {
    pub(super) text: String,
    pub(super) has_tool_result: bool,
    pub(super) id: Option<String>,
}

impl Spoken {
    fn of(message: Option<&Json>) -> Self {
        #[derive(Deserialize)]
        struct Message {
            #[serde(default, deserialize_with = "lenient")]
            id: Option<String>,
            #[serde(default)]
            content: Json,
        }
        #[derive(Deserialize)]
        struct Block {
            r#type: String,
            #[serde(default, deserialize_with = "lenient")]
            text: Option<String>,
        }
        let Some(message) = message.and_then(|message| message.to::<Message>().ok()) else {
            return Self::default();
        };
        let mut spoken = Self {
            id: message.id,
            ..Self::default()
        };
        if let Ok(text) = message.content.to::<String>() {
            spoken.text = text;
            return spoken;
        }
        for block in message.content.to::<Vec<Json>>().unwrap_or_default() {
            let Ok(block) = block.to::<Block>() else {
                continue;
            };
            spoken.has_tool_result |= block.r#type == "tool_result";
            if let (true, Some(text)) = (block.r#type == "text", block.text) {
                if !spoken.text.is_empty() {
                    spoken.text.push('\n');
                }
                spoken.text.push_str(&text);
            }
        }
        spoken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(text: &str) -> Entry {
        TranscriptLine::read(text.as_bytes(), 1)
            .into_entry()
            .unwrap()
    }

    #[test]
    fn an_entry_of_a_new_type_is_kept_whole() {
        let text = r#"{"type":"from-the-future","uuid":"u","x":[1,2],"isMeta":"sort of"}"#;
        let entry = entry(text);
        assert_eq!(
            (entry.kind(), entry.uuid(), entry.is_meta()),
            ("from-the-future", Some("u"), false)
        );
        assert_eq!(entry.json().as_str(), text);
        assert_eq!(entry.field("x").unwrap().as_str(), "[1,2]");
    }

    #[test]
    fn a_torn_line_is_a_value() {
        for torn in [
            &b"{\"type\":\"user\",\"mess"[..],
            b"[]",
            b"{}",
            b"\xff\xfe",
            b"null",
        ] {
            let line = TranscriptLine::read(torn, 7);
            assert!(
                matches!(line, TranscriptLine::Broken { line: 7, .. }),
                "{torn:?}"
            );
        }
    }

    #[test]
    fn text_is_found_in_a_string_and_in_blocks() {
        assert_eq!(
            entry(r#"{"type":"user","message":{"content":"hi"}}"#).text(),
            "hi"
        );
        let blocks = r#"{"type":"user","message":{"content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}}"#;
        assert_eq!(entry(blocks).text(), "a\nb");
        assert_eq!(entry(r#"{"type":"user"}"#).text(), "");
    }

    #[test]
    fn half_a_surrogate_pair_does_not_break_a_line() {
        let half = r#"{"type":"user","message":{"content":"x\ud83d"}}"#;
        assert_eq!(entry(half).text(), "x\u{fffd}");
    }
}

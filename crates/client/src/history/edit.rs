//! Renames and tags a session by adding the entry the CLI itself adds.
//!
//! Invariants: a transcript is only ever appended to, in one write of whole lines; none is created, and an empty one
//! is refused.

use std::fs::OpenOptions;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};

use countersign_wire::Json;
use serde::Serialize;
use unicode_normalization::UnicodeNormalization as _;

use super::Transcript;
use super::error::{HistoryError, io};

/// An entry beside the conversation. Fields stand in the CLI's order: it finds such lines by how they begin.
#[derive(Serialize)]
#[serde(
    tag = "type",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub(super) enum Note<'a> {
    CustomTitle {
        custom_title: &'a str,
        session_id: &'a str,
    },
    Tag {
        tag: &'a str,
        session_id: &'a str,
    },
    ContentReplacement {
        session_id: &'a str,
        replacements: &'a [Json],
    },
}

impl Transcript {
    /// Gives the session a title. White space around it and invisible characters in it are dropped.
    ///
    /// # Errors
    /// When nothing visible is left of the title, or the transcript is gone, empty or not writable.
    pub fn rename(&self, title: &str) -> Result<(), HistoryError> {
        let title = visible(title);
        if title.is_empty() {
            return Err(HistoryError::Blank { what: "title" });
        }
        self.append(&Note::CustomTitle {
            custom_title: &title,
            session_id: self.id.as_str(),
        })
    }

    /// Gives the session a tag, or takes it away.
    ///
    /// # Errors
    /// When nothing visible is left of the tag, or the transcript is gone, empty or not writable.
    pub fn tag(&self, tag: Option<&str>) -> Result<(), HistoryError> {
        let visible = tag.map(visible);
        if visible.as_deref() == Some("") {
            return Err(HistoryError::Blank { what: "tag" });
        }
        let tag = visible.unwrap_or_default();
        self.append(&Note::Tag {
            tag: &tag,
            session_id: self.id.as_str(),
        })
    }

    fn append(&self, entry: &Note<'_>) -> Result<(), HistoryError> {
        if self.metadata()?.len() == 0 {
            let id = self.id.clone();
            return Err(HistoryError::Empty { id });
        }
        let opened = OpenOptions::new().read(true).append(true).open(&self.path);
        let mut file = opened.map_err(io("open", &self.path))?;
        let mut last = [0];
        file.seek(SeekFrom::End(-1))
            .and_then(|_| file.read_exact(&mut last))
            .map_err(io("read", &self.path))?;
        let mut text = Vec::new();
        if last != *b"\n" {
            text.push(b'\n');
        }
        serde_json::to_writer(&mut text, entry)
            .map_err(|error| io("write", &self.path)(error.into()))?;
        text.push(b'\n');
        file.write_all(&text).map_err(io("write", &self.path))
    }
}

/// The text composed (NFC), without control, formatting and private characters, and trimmed.
pub(super) fn visible(text: &str) -> String {
    let composed = text.nfc().filter(|c| !is_invisible(*c));
    composed.collect::<String>().trim().to_owned()
}

/// Characters that show nothing but can hide or reorder text.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..='\u{10ffff}')
}

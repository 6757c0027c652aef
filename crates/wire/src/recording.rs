//! Reads recordings: a file of lines that crossed the wire in both directions, with their times.
//!
//! Owns the reading side of the format that `docs/recordings.md` describes: a header line, then one JSON object a
//! line with `at` (milliseconds), `dir` and either `line` (JSON) or `text`. Long runs are stored as markers
//! (`{"$repeat":["x",5000000]}`) and come back in full. Pure: lines in, lines out.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::Json;

/// The version of the format this build reads.
pub const FORMAT: u64 = 1;

/// The most a marker may expand to, so that a small file cannot fill the memory.
const MAX_EXPANDED: usize = crate::frame::DEFAULT_MAX_LINE;

/// The first line of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Header {
    /// Version of the format.
    pub recording: u64,
    /// Version of the CLI.
    pub cli: String,
    /// What was played.
    pub scenario: String,
}

/// What an entry of a recording is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Direction {
    /// A line of the CLI's stdout.
    Out,
    /// A line written to the CLI's stdin.
    In,
    /// A line of the CLI's stderr.
    Err,
    /// The CLI was started, with these flags.
    Run,
    /// The CLI ended, with this exit code.
    End,
}

/// One line, or the start or end of a CLI.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// Milliseconds since the scenario began.
    pub at: u64,
    /// What it is.
    pub direction: Direction,
    /// The line without its newline.
    pub line: Vec<u8>,
}

/// Why a line is no entry of a recording.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// It is no JSON object with `at`, `dir` and `line` or `text`.
    #[error("not an entry of a recording: {0}")]
    Entry(#[from] serde_json::Error),
    /// It has both `line` and `text`, or neither.
    #[error("an entry has either `line` or `text`")]
    LineOrText,
    /// A marker is not of its form.
    #[error("a marker is {{\"$repeat\":[text, count]}} or {{\"$concat\":[…]}}, up to 256 MiB")]
    Marker,
}

#[derive(Deserialize)]
struct RawEntry {
    at: u64,
    dir: Direction,
    line: Option<Box<RawValue>>,
    text: Option<Value>,
}

/// The header, if this is the first line of a recording.
pub fn header(line: &[u8]) -> Option<Header> {
    serde_json::from_slice(line).ok()
}

/// Reads one line behind the header.
///
/// # Errors
/// When the line is not of the format.
pub fn entry(line: &[u8]) -> Result<Entry, RecordingError> {
    let raw: RawEntry = serde_json::from_slice(line)?;
    let line = match (raw.line, raw.text) {
        (Some(line), None) if !has_marker(line.get()) => line.get().as_bytes().to_vec(),
        (Some(line), None) => Json::from(expand(serde_json::from_str(line.get())?)?)
            .as_str()
            .into(),
        (None, Some(text)) => match expand(text)? {
            Value::String(text) => text.into_bytes(),
            _ => return Err(RecordingError::LineOrText),
        },
        _ => return Err(RecordingError::LineOrText),
    };
    Ok(Entry {
        at: raw.at,
        direction: raw.dir,
        line,
    })
}

fn has_marker(text: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), b"\"$repeat\"").is_some()
}

fn expand(value: Value) -> Result<Value, RecordingError> {
    match value {
        Value::Array(items) => items.into_iter().map(expand).collect(),
        Value::Object(mut fields) => {
            if let (1, Some(repeat)) = (fields.len(), fields.get("$repeat")) {
                return repeated(repeat).map(Value::String);
            }
            if fields.len() == 1
                && let Some(Value::Array(parts)) = fields.get_mut("$concat")
            {
                return concatenated(std::mem::take(parts)).map(Value::String);
            }
            let expanded = fields
                .into_iter()
                .map(|(key, value)| Ok((key, expand(value)?)));
            expanded.collect::<Result<_, _>>().map(Value::Object)
        }
        other => Ok(other),
    }
}

fn repeated(marker: &Value) -> Result<String, RecordingError> {
    let (text, count): (String, usize) =
        serde_json::from_value(marker.clone()).map_err(|_| RecordingError::Marker)?;
    match text.len().checked_mul(count) {
        Some(size) if size <= MAX_EXPANDED => Ok(text.repeat(count)),
        _ => Err(RecordingError::Marker),
    }
}

fn concatenated(parts: Vec<Value>) -> Result<String, RecordingError> {
    let mut text = String::new();
    for part in parts {
        match expand(part)? {
            Value::String(part) if text.len() + part.len() <= MAX_EXPANDED => text.push_str(&part),
            _ => return Err(RecordingError::Marker),
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_comes_back_as_it_was() {
        let found = entry(br#"{"at":7,"dir":"out","line":{"b":1.50,"a":[]}}"#).unwrap();
        assert_eq!((found.at, found.direction), (7, Direction::Out));
        assert_eq!(found.line, br#"{"b":1.50,"a":[]}"#);
        assert_eq!(
            entry(br#"{"at":7,"dir":"err","text":"oh"}"#).unwrap().line,
            b"oh"
        );
    }

    #[test]
    fn markers_come_back_in_full() {
        let found = entry(
            br#"{"at":0,"dir":"in","line":{"a":{"$concat":["<",{"$repeat":["xy",3]},">"]}}}"#,
        );
        assert_eq!(found.unwrap().line, br#"{"a":"<xyxyxy>"}"#);
    }

    #[test]
    fn what_is_not_of_the_format_is_refused() {
        for line in [
            &br#"{"at":0,"dir":"out"}"#[..],
            br#"{"at":0,"dir":"up","text":""}"#,
            br#"{"at":0,"dir":"in","text":{"$repeat":["x"]}}"#,
            br#"{"at":0,"dir":"in","text":{"$repeat":["x",99999999999999]}}"#,
            b"{}",
        ] {
            assert!(entry(line).is_err(), "{}", String::from_utf8_lossy(line));
        }
    }
}

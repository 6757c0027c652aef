//! Reads and writes recordings: a file of lines that crossed the wire in both directions, with their times.
//!
//! Owns the format that `docs/recordings.md` describes: a header line, then one JSON object a line with `at`
//! (milliseconds), `dir` and either `line` (JSON) or `text`. Long runs may be stored as markers
//! (`{"$repeat":["x",5000000]}`) and come back in full; what is written here has none. Pure: lines in, lines out.
//! Invariant: what is written is read back byte for byte, if it was UTF-8.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::scan;

/// The version of the format this build reads.
pub const FORMAT: u64 = 1;

/// Lines with markers are written by us and are flat; nobody may fill the stack with them.
const MAX_DEPTH: usize = 128;

/// The most a line may expand to, so that a small file cannot fill the memory.
const MAX_EXPANDED: usize = crate::frame::DEFAULT_MAX_LINE;

/// Without this no text has markers: a joined one has a repeated part.
const MARKER: &[u8] = b"\"$repeat\"";

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

impl Direction {
    /// As it stands in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Out => "out",
            Self::In => "in",
            Self::Err => "err",
            Self::Run => "run",
            Self::End => "end",
        }
    }
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
    text: Option<Box<RawValue>>,
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
        (Some(line), None) => expand(line.get())?.into_bytes(),
        (None, Some(text)) => serde_json::from_str::<String>(&expand(text.get())?)?.into_bytes(),
        _ => return Err(RecordingError::LineOrText),
    };
    Ok(Entry {
        at: raw.at,
        direction: raw.dir,
        line,
    })
}

/// The first line of a recording, newline included: the version of the CLI, and what is recorded.
pub fn header_line(cli: &str, what: &str) -> Vec<u8> {
    let text = |text: &str| serde_json::Value::from(text);
    let header = format!(
        "{{\"recording\":{FORMAT},\"cli\":{},\"scenario\":{}}}\n",
        text(cli),
        text(what)
    );
    header.into_bytes()
}

/// One line behind the header, newline included: what crossed, without its own newline, so many milliseconds after the
/// beginning. What is no JSON object, or would be taken for one with markers, is written as text.
pub fn entry_line(at: u64, direction: Direction, line: &[u8]) -> Vec<u8> {
    let name = direction.name();
    let mut entry = format!("{{\"at\":{at},\"dir\":\"{name}\",").into_bytes();
    match verbatim(line) {
        Some(object) => {
            entry.reserve_exact(object.len() + "\"line\":}\n".len());
            entry.extend_from_slice(b"\"line\":");
            entry.extend_from_slice(object);
        }
        None => {
            let text = serde_json::Value::from(String::from_utf8_lossy(line));
            entry.extend_from_slice(format!("\"text\":{text}").as_bytes());
        }
    }
    entry.extend_from_slice(b"}\n");
    entry
}

/// The line, if it can stand in an entry as it is and comes back as it is.
fn verbatim(line: &[u8]) -> Option<&[u8]> {
    let is_object = line.first() == Some(&b'{') && line.last() == Some(&b'}');
    let has_marker = || memchr::memmem::find(line, MARKER).is_some();
    // A line break would end the entry. The CLI writes none, but JSON permits them.
    let has_break = || memchr::memchr2(b'\n', b'\r', line).is_some();
    if !is_object || has_marker() || has_break() {
        return None;
    }
    let text = std::str::from_utf8(line).ok()?;
    serde_json::from_str::<&RawValue>(text).ok()?;
    Some(line)
}

/// The JSON text with its markers replaced by what they stand for; everything else as it is, key order included.
fn expand(text: &str) -> Result<String, RecordingError> {
    if memchr::memmem::find(text.as_bytes(), MARKER).is_none() {
        return Ok(text.to_owned());
    }
    if scan::is_deeper(text.as_bytes(), MAX_DEPTH) {
        return Err(RecordingError::Marker);
    }
    expand_within(text, MAX_EXPANDED)
}

fn expand_within(text: &str, most: usize) -> Result<String, RecordingError> {
    let mut out = Bounded {
        text: String::new(),
        room: most,
    };
    expand_value(text, &mut out)?;
    Ok(out.text)
}

/// Text that does not grow beyond its room, whatever a small file asks for.
struct Bounded {
    text: String,
    room: usize,
}

impl Bounded {
    fn push(&mut self, text: &str) -> Result<(), RecordingError> {
        self.room = self
            .room
            .checked_sub(text.len())
            .ok_or(RecordingError::Marker)?;
        self.text.push_str(text);
        Ok(())
    }
}

fn expand_value(text: &str, out: &mut Bounded) -> Result<(), RecordingError> {
    let text = text.trim();
    if let Some(whole) = marker(text, out.room)? {
        return out.push(&serde_json::to_string(&whole)?);
    }
    match text.as_bytes().first() {
        Some(b'{') => {
            let mut separator = "{";
            for (key, value) in scan::members(text).ok_or(RecordingError::Marker)? {
                out.push(separator)?;
                out.push(key)?;
                out.push(":")?;
                expand_value(value, out)?;
                separator = ",";
            }
            out.push(if separator == "{" { "{}" } else { "}" })
        }
        Some(b'[') => {
            let mut separator = "[";
            for value in scan::elements(text).ok_or(RecordingError::Marker)? {
                out.push(separator)?;
                expand_value(value, out)?;
                separator = ",";
            }
            out.push(if separator == "[" { "[]" } else { "]" })
        }
        _ => out.push(text),
    }
}

/// What a marker stands for, in at most `room` bytes; `None` if the value is no marker.
fn marker(text: &str, room: usize) -> Result<Option<String>, RecordingError> {
    let members = match text.starts_with('{') {
        true => scan::members(text).unwrap_or_default(),
        false => return Ok(None),
    };
    match members[..] {
        [("\"$repeat\"", value)] => repeated(value, room).map(Some),
        [("\"$concat\"", value)] => {
            let mut whole = String::new();
            for part in scan::elements(value).ok_or(RecordingError::Marker)? {
                let part = match marker(part, room - whole.len())? {
                    Some(part) => part,
                    None => serde_json::from_str(part).map_err(|_| RecordingError::Marker)?,
                };
                if part.len() > room - whole.len() {
                    return Err(RecordingError::Marker);
                }
                whole.push_str(&part);
            }
            Ok(Some(whole))
        }
        _ => Ok(None),
    }
}

fn repeated(value: &str, room: usize) -> Result<String, RecordingError> {
    let (text, count): (String, usize) =
        serde_json::from_str(value).map_err(|_| RecordingError::Marker)?;
    match text.len().checked_mul(count) {
        Some(size) if size <= room => Ok(text.repeat(count)),
        _ => Err(RecordingError::Marker),
    }
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
            br#"{"at":0,"dir":"in","line":{"z":[1,{}],"a":{"$concat":["<",{"$repeat":["xy",3]},">"]}}}"#,
        );
        assert_eq!(found.unwrap().line, br#"{"z":[1,{}],"a":"<xyxyxy>"}"#);
    }

    #[test]
    fn what_is_written_is_read_back_byte_for_byte() {
        let lines = [
            r#"{"type":"user","n":1.50,"a":[ ],"text":"\u00fc \u2028"}"#,
            "{}",
            r#"{"a":{"$repeat":["x",3]}}"#,
            r#"{"a":"\"$repeat\""}"#,
            "{\"a\":\r1}",
            "{not json}",
            "",
            "plain \"text\" \u{2028}",
            r#"[1]"#,
        ];
        for line in lines {
            let written = entry_line(12, Direction::Out, line.as_bytes());
            let (last, entry_text) = written.split_last().unwrap();
            assert_eq!(*last, b'\n');
            assert!(!entry_text.contains(&b'\n'), "{line}");
            let read = entry(entry_text).unwrap();
            assert_eq!((read.at, read.direction), (12, Direction::Out));
            assert_eq!(read.line, line.as_bytes(), "{line}");
        }
    }

    #[test]
    fn an_object_stands_in_the_file_as_it_is() {
        let written = entry_line(7, Direction::In, br#"{"b":1.50,"a":[]}"#);
        let expected = "{\"at\":7,\"dir\":\"in\",\"line\":{\"b\":1.50,\"a\":[]}}\n";
        assert_eq!(written, expected.as_bytes());
    }

    #[test]
    fn bytes_that_are_no_text_are_kept_as_well_as_can_be() {
        let written = entry_line(0, Direction::Out, b"{\"a\":\"\xff\"}");
        let read = entry(written.trim_ascii_end()).unwrap();
        assert_eq!(read.line, "{\"a\":\"\u{fffd}\"}".as_bytes());
    }

    #[test]
    fn a_header_is_read_back() {
        let written = header_line("2.1.325", "a \"look\" around");
        let read = header(written.trim_ascii_end()).unwrap();
        assert_eq!((read.recording, read.cli.as_str()), (FORMAT, "2.1.325"));
        assert_eq!(read.scenario, "a \"look\" around");
    }

    #[test]
    fn no_number_of_markers_asks_for_more_than_a_line_may_have() {
        let six = r#"{"$repeat":["x",6]}"#;
        assert_eq!(expand_within(six, 8).unwrap(), "\"xxxxxx\"");
        for text in [
            six.to_owned(),
            format!("[{six},{six}]"),
            format!(r#"{{"$concat":[{six},{six}]}}"#),
        ] {
            assert!(expand_within(&text, 7).is_err(), "{text}");
            assert!(expand_within(&text, 20).is_ok(), "{text}");
        }
    }

    #[test]
    fn deep_nesting_does_not_fill_the_stack() {
        let line = format!(
            r#"{{"at":0,"dir":"out","line":{{"$repeat":1,"a":{}{}}}}}"#,
            "[".repeat(50_000),
            "]".repeat(50_000)
        );
        assert!(entry(line.as_bytes()).is_err());
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

//! The three forms of an export. Records in, lines out.

use std::io::{self, Write};

use countersign_journal::{KeeperEvent, Kind};
use countersign_wire::recording::{self, Direction};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::journal::source::{self, Owned};

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Form {
    /// What the CLI printed, line by line
    Ndjson,
    /// Both directions with times, as `run --record` writes it
    Recording,
    /// Every record with its number, as one JSON object a line
    Json,
}

/// Writes records in a form.
#[derive(Debug)]
pub(crate) struct Writer {
    form: Form,
    of: source::Form,
    /// The time of the first record, in microseconds.
    first: Option<u64>,
}

impl Writer {
    pub(crate) fn new(form: Form, of: source::Form) -> Self {
        Self {
            form,
            of,
            first: None,
        }
    }

    pub(crate) fn begin(
        &mut self,
        out: &mut impl Write,
        version: Option<&str>,
        what: Option<&str>,
    ) -> io::Result<()> {
        match self.form {
            Form::Recording => out.write_all(&recording::header_line(
                version.unwrap_or("unknown"),
                what.unwrap_or("countersign journal export"),
            )),
            Form::Ndjson | Form::Json => Ok(()),
        }
    }

    /// Whether a record has a place in this form.
    pub(crate) fn takes(&self, record: &Owned) -> bool {
        match self.form {
            Form::Ndjson => matches!(record.kind, Kind::Agent | Kind::AgentPiece),
            Form::Recording => entry(record).is_some(),
            Form::Json => true,
        }
    }

    pub(crate) fn record(&mut self, out: &mut impl Write, record: &Owned) -> io::Result<()> {
        match self.form {
            Form::Ndjson => {
                out.write_all(&record.payload)?;
                out.write_all(b"\n")
            }
            Form::Recording => {
                let first = *self.first.get_or_insert(record.at);
                let at = record.at.saturating_sub(first) / 1_000;
                match entry(record) {
                    Some(Entry::Line(direction)) => {
                        out.write_all(&recording::entry_line(at, direction, &record.payload))
                    }
                    Some(Entry::Text(direction, text)) => {
                        out.write_all(&recording::entry_line(at, direction, text.as_bytes()))
                    }
                    None => Ok(()),
                }
            }
            Form::Json => {
                out.write_all(self.json(record).as_bytes())?;
                out.write_all(b"\n")
            }
        }
    }

    /// As the HTTP interface exports a record; a line that is no JSON is `text`, one that is no text `b64`.
    fn json(&self, record: &Owned) -> String {
        let cursor = record.cursor().to_string();
        let (generation, seq, kind) = (record.generation, record.seq, record.kind.to_string());
        let at = match self.of.has_times() {
            true => Value::from(record.at),
            false => Value::Null,
        };
        let from = from(record.kind);
        let (name, line) = match std::str::from_utf8(&record.payload) {
            Err(_) => ("b64", json!(base64(&record.payload)).to_string()),
            Ok(text) if serde_json::from_str::<&RawValue>(text).is_ok() => {
                ("line", text.to_owned())
            }
            Ok(text) => ("text", json!(text).to_string()),
        };
        let cursor = json!(cursor);
        let kind = json!(kind);
        format!(
            r#"{{"cursor":{cursor},"generation":{generation},"seq":{seq},"at":{at},"kind":{kind},"from":"{from}","{name}":{line}}}"#
        )
    }
}

fn from(kind: Kind) -> &'static str {
    match kind {
        Kind::Agent | Kind::AgentPiece => "agent",
        Kind::Host => "host",
        Kind::Stderr | Kind::StderrPiece => "stderr",
        Kind::Note => "note",
        Kind::Keeper => "keeper",
    }
}

/// What a record is in a recording.
enum Entry {
    /// The payload as it is.
    Line(Direction),
    Text(Direction, String),
}

/// What a record is in a recording; notes and most events of the keeper have no place there.
fn entry(record: &Owned) -> Option<Entry> {
    match record.kind {
        Kind::Agent | Kind::AgentPiece => Some(Entry::Line(Direction::Out)),
        Kind::Host => Some(Entry::Line(Direction::In)),
        Kind::Stderr | Kind::StderrPiece => Some(Entry::Line(Direction::Err)),
        Kind::Note => None,
        Kind::Keeper => match serde_json::from_slice(&record.payload).ok()? {
            KeeperEvent::Open { argv, .. } => {
                let flags = argv.get(1..).unwrap_or_default().join(" ");
                Some(Entry::Text(Direction::Run, flags))
            }
            KeeperEvent::Exit(exit) => {
                let text = match (exit.code, exit.signal) {
                    (Some(code), _) => code.to_string(),
                    (None, Some(signal)) => format!("signal {signal}"),
                    (None, None) => exit.error.unwrap_or_default(),
                };
                Some(Entry::Text(Direction::End, text))
            }
            KeeperEvent::Lost { .. } => Some(Entry::Text(Direction::End, "lost".to_owned())),
            _ => None,
        },
    }
}

/// Standard base64 with padding.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |index: usize| u32::from(three.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for index in 0..4 {
            match index <= three.len() {
                true => out.push(char::from(
                    LETTERS[(bits >> (18 - 6 * index) & 63) as usize],
                )),
                false => out.push('='),
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_as_everybody_reads_them() {
        let shown = [
            (&b""[..], ""),
            (b"f", "Zg=="),
            (b"fo", "Zm8="),
            (b"foo", "Zm9v"),
            (b"foob", "Zm9vYg=="),
            (b"\xff\xfe\xfd", "//79"),
        ];
        for (bytes, text) in shown {
            assert_eq!(base64(bytes), text);
        }
    }

    #[test]
    fn a_record_is_a_line_a_text_or_bytes() {
        let writer = Writer::new(Form::Json, source::Form::Session);
        let shown = |payload: &[u8]| {
            let record = Owned {
                generation: 2,
                seq: 7,
                at: 9,
                kind: Kind::Agent,
                payload: payload.to_vec(),
            };
            writer.json(&record)
        };
        let head = r#"{"cursor":"2-7","generation":2,"seq":7,"at":9,"kind":"a","from":"agent","#;
        assert_eq!(
            shown(br#"{"b":1.50}"#),
            format!(r#"{head}"line":{{"b":1.50}}}}"#)
        );
        assert_eq!(
            shown(b"no \"json\""),
            format!(r#"{head}"text":"no \"json\""}}"#)
        );
        assert_eq!(shown(b"\xff"), format!(r#"{head}"b64":"/w=="}}"#));
    }

    /// The same file is the wanted answer of `GET /sessions/{id}/export`.
    const GOLDEN: &str = include_str!("../../../../api/exported.ndjson");

    #[test]
    fn an_exported_record_has_the_shape_that_the_server_gives_it() {
        let payloads: [(Kind, &[u8]); 5] = [
            (Kind::Agent, br#"{"type":"x","n":1.50,"s":"\u00e9"}"#),
            (Kind::AgentPiece, br#"{"type":"cut"#),
            (Kind::Host, b"\xff\x00"),
            (Kind::Stderr, b"no \"json\""),
            (Kind::Note, br#"{"by":"me"}"#),
        ];
        let mut writer = Writer::new(Form::Json, source::Form::Session);
        let mut out = Vec::new();
        for ((kind, payload), seq) in payloads.into_iter().zip(1..) {
            let record = Owned {
                generation: 2,
                seq,
                at: 9,
                kind,
                payload: payload.to_vec(),
            };
            writer.record(&mut out, &record).unwrap();
        }
        assert_eq!(String::from_utf8(out).unwrap(), GOLDEN);
    }
}

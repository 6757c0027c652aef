//! Out of a journal.
//!
//! Owns which records become lines of the other file. Reads up to the end that there is, and does not wait.

use std::io::Write;

use countersign_wire::recording::{Direction, entry_line, header_line};

use super::TransferError;
use crate::event::{Exit, KeeperEvent};
use crate::reader::{Reader, Step};
use crate::record::{Kind, Record};

/// Writes what the agent has said, one line each, as its stdout was. Returns how many lines there were.
///
/// # Errors
/// When the journal cannot be read or `out` cannot be written.
pub fn export_ndjson(reader: &mut Reader, out: &mut dyn Write) -> Result<u64, TransferError> {
    let mut lines = 0;
    loop {
        match reader.next()? {
            Step::Record(record) => {
                if matches!(record.kind, Kind::Agent | Kind::AgentPiece) {
                    out.write_all(record.payload)?;
                    out.write_all(b"\n")?;
                    lines += 1;
                }
            }
            Step::End => {
                out.flush()?;
                return Ok(lines);
            }
            _ => {}
        }
    }
}

/// Writes a recording of both directions: the version of the CLI and what is recorded stand in its header. Notes and
/// most of what the keeper says have no place in one. Returns how many entries there were.
///
/// # Errors
/// When the journal cannot be read or `out` cannot be written.
pub fn export_recording(
    reader: &mut Reader,
    out: &mut dyn Write,
    cli: &str,
    what: &str,
) -> Result<u64, TransferError> {
    out.write_all(&header_line(cli, what))?;
    let mut entries = 0;
    let mut began = None;
    loop {
        match reader.next()? {
            Step::Record(record) => {
                let began = *began.get_or_insert(record.at);
                let at = record.at.saturating_sub(began) / 1_000;
                if let Some((direction, line)) = entry_of(&record) {
                    let line = line.as_deref().unwrap_or(record.payload);
                    out.write_all(&entry_line(at, direction, line))?;
                    entries += 1;
                }
            }
            Step::End => {
                out.flush()?;
                return Ok(entries);
            }
            _ => {}
        }
    }
}

/// What a record is in a recording, and its text if that is not the payload.
fn entry_of(record: &Record<'_>) -> Option<(Direction, Option<Vec<u8>>)> {
    match record.kind {
        Kind::Agent | Kind::AgentPiece => Some((Direction::Out, None)),
        Kind::Stderr | Kind::StderrPiece => Some((Direction::Err, None)),
        Kind::Host => Some((Direction::In, None)),
        Kind::Note => None,
        Kind::Keeper => match serde_json::from_slice(record.payload) {
            Ok(KeeperEvent::Open { argv, .. }) => {
                let flags = argv.get(1..).unwrap_or_default().join(" ");
                Some((Direction::Run, Some(flags.into_bytes())))
            }
            Ok(KeeperEvent::Exit(exit)) => Some((Direction::End, Some(end_text(&exit)))),
            Ok(KeeperEvent::Lost { .. }) => Some((Direction::End, Some(b"lost".to_vec()))),
            _ => None,
        },
    }
}

fn end_text(exit: &Exit) -> Vec<u8> {
    let text = match (exit.code, exit.signal) {
        (Some(code), _) => code.to_string(),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => exit.error.clone().unwrap_or_default(),
    };
    text.into_bytes()
}

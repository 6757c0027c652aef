//! Checks a stream of lines against the types of the wire.
//!
//! Owns what counts as unknown, malformed and lossless. Reads any `Read` in bounded memory; prints nothing.

mod carried;
#[cfg(test)]
mod injected;
mod notation;
mod report;

use std::io::{self, Read};

use countersign_wire::control::{CliRequest, HostRequest};
use countersign_wire::decode::{Message, decode, is_exact};
use countersign_wire::frame::{DEFAULT_MAX_LINE, FrameReader, Line};
use countersign_wire::inspect::{At, Novelty};
use countersign_wire::recording::{self, Direction, FORMAT};
use countersign_wire::route::Route;
use countersign_wire::shape::Tagged;
use countersign_wire::write::to_ascii;
use countersign_wire::{CliMessage, HostMessage};
use serde_json::Value;

use self::carried::Carried;
pub(crate) use report::Report;

/// Checks every line of `input`: what a CLI printed, or a recording.
///
/// # Errors
/// When `input` cannot be read. What stands in it is never an error.
pub(crate) fn check(mut input: impl Read) -> io::Result<Report> {
    let mut reader = FrameReader::new();
    let mut checker = Checker::default();
    loop {
        let count = match input.read(reader.spare()) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        reader.filled(count);
        while let Some(line) = reader.next_line() {
            let checked = checker.line(line);
            checker.note(checked, reader.line_number());
        }
    }
    if let Some(line) = reader.finish() {
        let checked = checker.line(line);
        checker.note(checked, reader.line_number());
    }
    Ok(checker.report)
}

/// Why a line is malformed.
type Checked = Result<(), String>;

#[derive(Default)]
struct Checker {
    report: Report,
    seen_first: bool,
    is_recording: bool,
    /// The line just checked does not come back.
    is_lossy: bool,
    carried: Carried,
}

impl Checker {
    fn note(&mut self, checked: Checked, number: u64) {
        if let Err(reason) = checked {
            self.report.malformed(number, reason);
        }
        if std::mem::take(&mut self.is_lossy) {
            self.report.lossy.push(number);
        }
    }

    fn line(&mut self, line: Line<'_>) -> Checked {
        let is_first = !std::mem::replace(&mut self.seen_first, true);
        match line {
            Line::TooLong { bytes } => Err(format!(
                "the line has {bytes} bytes; at most {DEFAULT_MAX_LINE} are read"
            )),
            Line::Text(text) if is_first => match recording::header(text) {
                Some(header) if header.recording != FORMAT => Err(format!(
                    "a recording of format {}; this build reads format {FORMAT}",
                    header.recording
                )),
                Some(_) => {
                    self.is_recording = true;
                    Ok(())
                }
                None => self.message(text),
            },
            Line::Text(text) if self.is_recording => self.entry(text),
            Line::Text(text) => self.message(text),
        }
    }

    fn entry(&mut self, text: &[u8]) -> Checked {
        let entry = recording::entry(text).map_err(|error| error.to_string())?;
        match entry.direction {
            Direction::Out => self.decoded(&entry.line, Carried::of_cli),
            Direction::In => self.decoded(&entry.line, Carried::of_host),
            // Not on the wire: stderr, and when the CLI began and ended.
            _ => Ok(()),
        }
    }

    /// A line of a plain file: the CLI's, unless only a host says such things.
    fn message(&mut self, text: &[u8]) -> Checked {
        if is_from_host(text) {
            self.decoded(text, Carried::of_host)
        } else {
            self.decoded(text, Carried::of_cli)
        }
    }

    fn decoded<M: Message>(
        &mut self,
        text: &[u8],
        look_inside: fn(&mut Carried, &M, &str) -> Vec<String>,
    ) -> Checked {
        self.report.lines += 1;
        let message: M = decode(text).map_err(|error| error.to_string())?;
        let name = Route::of(text)
            .map(|route| route.name())
            .unwrap_or_default();
        message.inspect(&At::ROOT, &mut |at, novelty| {
            self.report.note_novelty(&name, at, novelty)
        });
        for found in look_inside(&mut self.carried, &message, &name) {
            self.report.unknown_field(&name, found);
        }
        if !comes_back(text, &message) {
            self.report.lossless = false;
            self.is_lossy = true;
        }
        *self.report.types.entry(name).or_default() += 1;
        Ok(())
    }
}

/// Whether writing the message gives the JSON that was read.
fn comes_back<M: Message>(text: &[u8], message: &M) -> bool {
    let Ok(written) = to_ascii(message) else {
        return false;
    };
    match serde_json::from_slice::<Value>(text) {
        Ok(original) => {
            serde_json::from_slice::<Value>(&written).is_ok_and(|written| written == original)
        }
        // No tree can hold it: nested too deeply, a number too large, half a surrogate pair. The first two are carried as
        // text; of the third, text makes something else.
        Err(_) => is_exact(text) && decode::<M>(&written).is_ok_and(|again| again == *message),
    }
}

/// Some logs hold both directions without saying which. These lines no CLI sends.
pub(crate) fn is_from_host(text: &[u8]) -> bool {
    let Ok(route) = Route::of(text) else {
        return false;
    };
    let kind = route.kind.get();
    if kind != "control_request" {
        let said_by_host = [HostMessage::NAMES, <HostMessage as Tagged>::INTERNAL].concat();
        let said_by_cli = [CliMessage::NAMES, <CliMessage as Tagged>::INTERNAL].concat();
        return said_by_host.contains(&&*kind) && !said_by_cli.contains(&&*kind);
    }
    let subtype = route
        .subtype
        .map(|subtype| subtype.to_string())
        .unwrap_or_default();
    let known = |names: [&[&str]; 2]| names.concat().contains(&subtype.as_str());
    known([HostRequest::NAMES, <HostRequest as Tagged>::INTERNAL])
        && !known([CliRequest::NAMES, <CliRequest as Tagged>::INTERNAL])
}

impl Report {
    fn note_novelty(&mut self, name: &str, at: &At<'_>, novelty: Novelty<'_>) {
        let path = at.to_string();
        match novelty {
            Novelty::Carried(_) | Novelty::Kept(_) => {}
            // The message itself, or the request in its envelope.
            Novelty::Variant { .. } if path.is_empty() || path == "request" => {
                self.unknown.insert(name.to_owned());
            }
            novelty => self.unknown_field(name, written(&path, novelty)),
        }
    }
}

/// How something new is written: a field as its path, a new word or kind of object as `path=word`.
fn written(path: &str, novelty: Novelty<'_>) -> String {
    let dot = if path.is_empty() { "" } else { "." };
    match novelty {
        Novelty::Variant { tag, name } => format!("{path}{dot}{tag}={name}"),
        Novelty::Field(field) => format!("{path}{dot}{field}"),
        Novelty::Value(word) => format!("{path}={word}"),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(input: &str) -> Value {
        serde_json::to_value(check(input.as_bytes()).unwrap()).unwrap()
    }

    #[test]
    fn an_empty_file_is_fine_and_every_key_is_there() {
        let expected = serde_json::json!({
            "lines": 0, "types": {}, "unknown": [], "unknown_fields": {}, "malformed": [], "lossless": true,
        });
        assert_eq!(json(""), expected);
        assert_eq!(json("\n \r\n"), expected);
    }

    #[test]
    fn types_are_counted_and_what_is_new_is_named() {
        let report = json(
            r#"{"type":"system","subtype":"informational","content":"a","level":"loud","shiny":1}
{"type":"keep_alive"}
{"type":"keep_alive"}
{"type":"system","subtype":"of_tomorrow"}
{"type":"tomorrow","subtype":"x"}
{"type":"control_request","request_id":"1","request":{"subtype":"sing"}}
{"type":"assistant","message":{"role":"assistant","model":"m","content":[{"type":"smell","x":1}],"usage":{"joules":3}},"parent_tool_use_id":null}
"#,
        );
        assert_eq!(
            report,
            serde_json::json!({
                "lines": 7,
                "types": {
                    "system/informational": 1, "keep_alive": 2, "system/of_tomorrow": 1, "tomorrow/x": 1,
                    "control_request/sing": 1, "assistant": 1,
                },
                "unknown": ["control_request/sing", "system/of_tomorrow", "tomorrow/x"],
                "unknown_fields": {
                    "system/informational": ["level=loud", "shiny"],
                    "assistant": ["message.content[].type=smell", "message.usage.joules"],
                },
                "malformed": [],
                "lossless": true,
            })
        );
    }

    #[test]
    fn malformed_lines_are_numbered_as_in_the_file() {
        let report = json(
            "{\"type\":\"keep_alive\"}\nnot json\n\n{\"type\":\"user\"}\n[]\n{\"type\":\"keep_alive\"}",
        );
        assert_eq!(report["lines"], 5);
        let lines: Vec<_> = report["malformed"]
            .as_array()
            .unwrap()
            .iter()
            .map(|m| &m["line"])
            .collect();
        assert_eq!(lines, [2, 4, 5]);
        assert_eq!(
            report["malformed"][1]["reason"],
            "broken `user`: `message` at column 15: missing"
        );
    }

    #[test]
    fn half_a_surrogate_pair_is_read_but_not_lossless() {
        let report =
            json(r#"{"type":"system","subtype":"session_title_changed","title":"\ud83d"}"#);
        assert_eq!(
            (&report["malformed"], &report["lossless"]),
            (&serde_json::json!([]), &false.into())
        );
    }

    #[test]
    fn what_no_tree_can_hold_is_lossless_all_the_same() {
        let deep = format!(
            "{{\"type\":\"tomorrow\",\"a\":{}{}}}",
            "[".repeat(200),
            "]".repeat(200)
        );
        let report = json(&format!(
            "{deep}\n{{\"type\":\"keep_alive\",\"a\":1e400}}\n"
        ));
        assert_eq!(
            (&report["malformed"], &report["lossless"]),
            (&serde_json::json!([]), &true.into())
        );
    }

    #[test]
    fn a_recording_of_another_format_is_refused() {
        let report = json("{\"recording\":99,\"cli\":\"c\",\"scenario\":\"s\"}\n");
        assert_eq!(report["malformed"][0]["line"], 1);
    }

    #[test]
    fn a_recording_is_read_in_both_directions() {
        let report = json(
            r#"{"recording":1,"cli":"2.1.325","scenario":"s"}
{"at":0,"dir":"run","text":"--verbose"}
{"at":1,"dir":"in","line":{"type":"control_request","request_id":"1","request":{"subtype":"interrupt"}}}
{"at":2,"dir":"out","line":{"type":"control_response","response":{"subtype":"success","request_id":"1"}}}
{"at":3,"dir":"err","text":"noise"}
{"at":4,"dir":"sideways","text":"noise"}
"#,
        );
        assert_eq!(report["lines"], 2);
        assert_eq!(report["unknown"], serde_json::json!([]));
        assert_eq!(report["malformed"][0]["line"], 6);
    }

    #[test]
    fn requests_of_the_host_are_known_in_a_plain_file_too() {
        let report = json(
            r#"{"type":"control_request","request_id":"1","request":{"subtype":"set_model","model":null}}"#,
        );
        assert_eq!(report["unknown"], serde_json::json!([]));
        assert_eq!(report["types"]["control_request/set_model"], 1);
    }
}

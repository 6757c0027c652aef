//! The questions that were asked in a recording, with the answers they got.
//!
//! Owns reading them out of a recording, or out of plain lines. Follows the session's folder and mode as far as the lines
//! tell, since a verdict depends on both. Decides nothing.

use std::collections::HashMap;
use std::io::{self, Read};
use std::path::PathBuf;

use countersign_policy::Call;
use countersign_wire::CliMessage;
use countersign_wire::control::CliRequest;
use countersign_wire::decode::decode;
use countersign_wire::frame::{FrameReader, Line};
use countersign_wire::recording::{self, Direction, FORMAT};
use countersign_wire::route::Route;
use serde_json::Value;

/// One question.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Question {
    /// The line it stands on.
    pub(super) line: u64,
    pub(super) request_id: String,
    pub(super) call: Call,
    /// The session's folder, where the lines tell it.
    pub(super) cwd: Option<PathBuf>,
    pub(super) answer: Answer,
}

/// What was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Answer {
    Allowed,
    Denied,
    /// Nobody answered, or with an error: the question was withdrawn, or the answer is not in the file.
    None,
}

impl Answer {
    pub(super) const ALL: [Answer; 3] = [Answer::Allowed, Answer::Denied, Answer::None];

    pub(super) fn name(self) -> &'static str {
        match self {
            Answer::Allowed => "allowed",
            Answer::Denied => "denied",
            Answer::None => "unanswered",
        }
    }
}

/// What stands in one file.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    pub(super) questions: Vec<Question>,
    /// Lines that could not be read, with the reason.
    pub(super) malformed: Vec<(u64, String)>,
}

/// Reads the questions of a recording, or of lines that a CLI printed.
///
/// # Errors
/// When `input` cannot be read.
pub(super) fn questions(mut input: impl Read) -> io::Result<Recorded> {
    let mut frames = FrameReader::new();
    let mut reader = Reader::default();
    loop {
        let count = match input.read(frames.spare()) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        frames.filled(count);
        while let Some(line) = frames.next_line() {
            let read = reader.line(line);
            reader.note(frames.line_number(), read);
        }
    }
    if let Some(line) = frames.finish() {
        let read = reader.line(line);
        reader.note(frames.line_number(), read);
    }
    Ok(reader.recorded)
}

#[derive(Default)]
struct Reader {
    recorded: Recorded,
    /// Questions that wait for their answer, by id.
    open: HashMap<String, usize>,
    cwd: Option<PathBuf>,
    is_planning: bool,
    seen_first: bool,
    is_recording: bool,
}

impl Reader {
    fn note(&mut self, number: u64, read: Result<Option<Question>, String>) {
        match read {
            Ok(None) => {}
            Ok(Some(question)) => {
                let index = self.recorded.questions.len();
                self.open.insert(question.request_id.clone(), index);
                self.recorded.questions.push(Question {
                    line: number,
                    ..question
                });
            }
            Err(reason) => self.recorded.malformed.push((number, reason)),
        }
    }

    fn line(&mut self, line: Line<'_>) -> Result<Option<Question>, String> {
        let text = match line {
            Line::TooLong { bytes } => {
                return Err(format!("the line has {bytes} bytes, which is too long"));
            }
            Line::Text(text) => text,
        };
        if !std::mem::replace(&mut self.seen_first, true)
            && let Some(header) = recording::header(text)
        {
            self.is_recording = true;
            return match header.recording == FORMAT {
                true => Ok(None),
                false => Err(format!(
                    "a recording of format {}; this build reads {FORMAT}",
                    header.recording
                )),
            };
        }
        if !self.is_recording {
            return self.message(text);
        }
        let entry = recording::entry(text).map_err(|error| error.to_string())?;
        match entry.direction {
            Direction::Out | Direction::In => self.message(&entry.line),
            _ => Ok(None),
        }
    }

    /// A line of either side. What is no question may tell the folder, the mode or an answer.
    fn message(&mut self, text: &[u8]) -> Result<Option<Question>, String> {
        let route = Route::of(text).map_err(|error| error.to_string())?;
        let subtype = route.subtype.as_ref().map(|subtype| subtype.get());
        match (&*route.kind.get(), subtype.as_deref()) {
            ("control_request", Some("can_use_tool")) => return self.question(text),
            ("control_request", Some("set_permission_mode")) => {}
            ("system", Some("init" | "status")) | ("control_response", _) => {}
            _ => return Ok(None),
        }
        let value: Value =
            serde_json::from_slice(text).map_err(|error| format!("this is no JSON: {error}"))?;
        match value["type"].as_str() {
            Some("system") => {
                self.mode(&value["permissionMode"]);
                if let Some(cwd) = value["cwd"].as_str() {
                    self.cwd = Some(PathBuf::from(cwd));
                }
            }
            Some("control_request") => self.mode(&value["request"]["mode"]),
            Some("control_response") => self.answer(&value["response"]),
            _ => {}
        }
        Ok(None)
    }

    fn question(&self, text: &[u8]) -> Result<Option<Question>, String> {
        let message: CliMessage = decode(text).map_err(|error| error.to_string())?;
        let CliMessage::ControlRequest(request) = message else {
            return Ok(None);
        };
        let CliRequest::CanUseTool(ask) = &request.request else {
            return Ok(None);
        };
        Ok(Some(Question {
            line: 0,
            request_id: request.request_id.to_string(),
            call: Call {
                in_plan_mode: self.is_planning,
                ..Call::asked(ask)
            },
            cwd: self.cwd.clone(),
            answer: Answer::None,
        }))
    }

    fn answer(&mut self, response: &Value) {
        let Some(index) = response["request_id"]
            .as_str()
            .and_then(|id| self.open.remove(id))
        else {
            return;
        };
        let reply = &response["response"];
        self.recorded.questions[index].answer = match reply["behavior"].as_str() {
            Some("allow") => Answer::Allowed,
            Some("deny") => Answer::Denied,
            _ => Answer::None,
        };
        for update in reply["updatedPermissions"].as_array().into_iter().flatten() {
            if update["type"] == "setMode" {
                self.mode(&update["mode"]);
            }
        }
    }

    fn mode(&mut self, mode: &Value) {
        if let Some(mode) = mode.as_str() {
            self.is_planning = mode == "plan";
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASK: &str = r#"{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"t1"}}"#;

    fn answer(behavior: &str) -> String {
        format!(
            r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"r1","response":{{"behavior":"{behavior}"}}}}}}"#
        )
    }

    fn read(lines: &[&str]) -> Recorded {
        questions(lines.join("\n").as_bytes()).unwrap()
    }

    #[test]
    fn a_question_is_found_with_its_answer() {
        for (behavior, wanted) in [
            ("allow", Answer::Allowed),
            ("deny", Answer::Denied),
            ("shrug", Answer::None),
        ] {
            let found = read(&[ASK, &answer(behavior)]).questions;
            assert_eq!(found.len(), 1);
            assert_eq!((found[0].line, found[0].answer), (1, wanted));
            assert_eq!(found[0].call.text("command"), Some("ls"));
        }
        assert_eq!(read(&[ASK]).questions[0].answer, Answer::None);
    }

    #[test]
    fn the_folder_and_the_mode_are_those_of_the_moment() {
        let init = r#"{"type":"system","subtype":"init","cwd":"/project","permissionMode":"plan"}"#;
        let status = r#"{"type":"system","subtype":"status","permissionMode":"default"}"#;
        let found = read(&[ASK, init, ASK, status, ASK]).questions;
        let plans: Vec<bool> = found
            .iter()
            .map(|question| question.call.in_plan_mode)
            .collect();
        assert_eq!(plans, [false, true, false]);
        assert_eq!(found[0].cwd, None);
        assert_eq!(found[2].cwd, Some(PathBuf::from("/project")));
    }

    #[test]
    fn a_line_that_cannot_be_read_is_counted_and_passed_over() {
        let found = read(&[
            "nonsense",
            ASK,
            r#"{"type":"control_request","request":{"subtype":"can_use_tool"}}"#,
        ]);
        assert_eq!(found.questions.len(), 1);
        let lines: Vec<u64> = found.malformed.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 3]);
    }
}

//! What happened in one run, read off its wire.
//!
//! Owns [`Seen`]. Pure: lines in, observation out. Reads leniently, since versions differ in what they say: a field that
//! is not there is not seen, and a line that is no JSON only counts.

use std::collections::BTreeMap;

use countersign_wire::recording::Direction;
use serde::Serialize;
use serde_json::Value;

/// What was seen of one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Seen {
    /// As the CLI said at the start of a turn.
    pub(crate) version: Option<String>,
    /// Lines by type, from the CLI.
    pub(crate) from_cli: BTreeMap<String, usize>,
    /// Lines by type, to the CLI.
    pub(crate) to_cli: BTreeMap<String, usize>,
    /// The mode at the start of each turn.
    pub(crate) init_modes: Vec<String>,
    /// Whether a turn began before there was a message.
    pub(crate) init_before_message: bool,
    /// What was answered to `set_permission_mode`, in order.
    pub(crate) mode_replies: Vec<ModeReply>,
    /// What the CLI asked permission for, in order.
    pub(crate) asked: Vec<Asked>,
    /// The calls the model made, in order.
    pub(crate) calls: Vec<Call>,
    /// The tools that the result lists as denied.
    pub(crate) denials: Vec<String>,
    /// How each turn ended.
    pub(crate) results: Vec<String>,
    /// Files of the project at the end, by name.
    pub(crate) files: BTreeMap<String, String>,
    /// Why the CLI would not start.
    pub(crate) refusal: Option<Refusal>,
}

/// One answer to `set_permission_mode`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ModeReply {
    /// `success` or `error`.
    pub(crate) subtype: String,
    /// The inner response, if it has one.
    pub(crate) body: Option<Value>,
    /// It came before the first message was sent.
    pub(crate) before_message: bool,
    /// It came after a turn had ended.
    pub(crate) after_result: bool,
}

/// One `can_use_tool`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Asked {
    #[serde(skip)]
    request: String,
    /// The tool.
    pub(crate) tool: String,
    /// Its input.
    pub(crate) input: Value,
    /// The kinds of suggestions, with the mode if they change it.
    pub(crate) suggestions: Vec<String>,
    /// `blocked_path`: absent, null, or a path.
    pub(crate) blocked_path: Presence,
    /// `allow` or `deny`, once it was answered.
    pub(crate) answer: Option<String>,
}

/// Whether a field is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Presence {
    Absent,
    Null,
    Value,
}

/// One call of the model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Call {
    #[serde(skip)]
    id: String,
    /// The tool.
    pub(crate) tool: String,
    /// What the model got back.
    pub(crate) outcome: Option<Outcome>,
}

/// The result of a call, as the model reads it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Outcome {
    pub(crate) is_error: bool,
    pub(crate) text: String,
}

/// A CLI that ended before it could be asked anything.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Refusal {
    pub(crate) code: Option<i32>,
    pub(crate) words: String,
}

impl Seen {
    /// What these lines show.
    pub(crate) fn of<'a>(lines: impl IntoIterator<Item = (Direction, &'a [u8])>) -> Self {
        let mut reader = Reader::default();
        for (direction, line) in lines {
            let line = serde_json::from_slice(line).unwrap_or(Value::Null);
            match direction {
                Direction::Out => reader.hear(&line),
                Direction::In => reader.note(&line),
                _ => {}
            }
        }
        reader.seen
    }

    /// The names of what was asked, each once, in the order of the first time.
    pub(crate) fn tools_asked(&self) -> Vec<String> {
        let mut tools: Vec<String> = Vec::new();
        for asked in &self.asked {
            if !tools.contains(&asked.tool) {
                tools.push(asked.tool.clone());
            }
        }
        tools
    }

    /// How many questions were answered.
    pub(crate) fn answers(&self) -> usize {
        self.asked.iter().filter(|ask| ask.answer.is_some()).count()
    }

    /// The calls of one tool.
    pub(crate) fn calls_of<'a>(&'a self, tool: &'a str) -> impl Iterator<Item = &'a Call> {
        self.calls.iter().filter(move |call| call.tool == tool)
    }
}

/// Reads the lines in order.
#[derive(Debug, Default)]
struct Reader {
    seen: Seen,
    has_message: bool,
    has_result: bool,
    mode_requests: Vec<String>,
}

impl Reader {
    fn hear(&mut self, line: &Value) {
        let kind = text(&line["type"]);
        *self.seen.from_cli.entry(kind.clone()).or_default() += 1;
        match (kind.as_str(), line["subtype"].as_str()) {
            ("system", Some("init")) => self.init(line),
            ("control_response", _) => self.reply(&line["response"]),
            ("control_request", _) => self.question(line),
            ("assistant", _) => self.said(&line["message"]["content"]),
            ("user", _) => self.returned(&line["message"]["content"]),
            ("result", subtype) => {
                self.has_result = true;
                let is_error = line["is_error"] == true;
                let mark = if is_error { " (error)" } else { "" };
                let word = format!("{}{mark}", subtype.unwrap_or_default());
                self.seen.results.push(word);
                let denied = list(&line["permission_denials"]).iter();
                let denied = denied.map(|denial| text(&denial["tool_name"]));
                self.seen.denials.extend(denied);
            }
            _ => {}
        }
    }

    fn note(&mut self, line: &Value) {
        let kind = text(&line["type"]);
        *self.seen.to_cli.entry(kind.clone()).or_default() += 1;
        match kind.as_str() {
            "user" => self.has_message = true,
            "control_request" if line["request"]["subtype"] == "set_permission_mode" => {
                self.mode_requests.push(text(&line["request_id"]));
            }
            "control_response" => {
                let id = text(&line["response"]["request_id"]);
                let answer = line["response"]["response"]["behavior"].as_str();
                if let Some(asked) = self.seen.asked.iter_mut().find(|ask| ask.request == id) {
                    asked.answer = answer.map(str::to_owned);
                }
            }
            _ => {}
        }
    }

    fn init(&mut self, line: &Value) {
        self.seen.init_before_message |= !self.has_message;
        self.seen.init_modes.push(text(&line["permissionMode"]));
        let version = line["claude_code_version"].as_str();
        self.seen.version = version.map(str::to_owned);
    }

    fn reply(&mut self, response: &Value) {
        if self.mode_requests.contains(&text(&response["request_id"])) {
            self.seen.mode_replies.push(ModeReply {
                subtype: text(&response["subtype"]),
                body: response.get("response").cloned(),
                before_message: !self.has_message,
                after_result: self.has_result,
            });
        }
    }

    fn question(&mut self, line: &Value) {
        let request = &line["request"];
        if request["subtype"] != "can_use_tool" {
            return;
        }
        let suggestions = list(&request["permission_suggestions"]).iter();
        let suggestions = suggestions.map(|suggestion| {
            let kind = text(&suggestion["type"]);
            match suggestion["mode"].as_str() {
                Some(mode) => format!("{kind} {mode}"),
                None => kind,
            }
        });
        self.seen.asked.push(Asked {
            request: text(&line["request_id"]),
            tool: text(&request["tool_name"]),
            input: request["input"].clone(),
            suggestions: suggestions.collect(),
            blocked_path: match request.get("blocked_path") {
                None => Presence::Absent,
                Some(Value::Null) => Presence::Null,
                Some(_) => Presence::Value,
            },
            answer: None,
        });
    }

    fn said(&mut self, content: &Value) {
        let calls = list(content)
            .iter()
            .filter(|block| block["type"] == "tool_use");
        let calls = calls.map(|block| Call {
            id: text(&block["id"]),
            tool: text(&block["name"]),
            outcome: None,
        });
        self.seen.calls.extend(calls);
    }

    fn returned(&mut self, content: &Value) {
        for block in list(content) {
            let id = text(&block["tool_use_id"]);
            let Some(call) = self.seen.calls.iter_mut().find(|call| call.id == id) else {
                continue;
            };
            call.outcome = Some(Outcome {
                is_error: block["is_error"] == true,
                text: prose(&block["content"]),
            });
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A text, or the texts of blocks.
fn prose(content: &Value) -> String {
    match content.as_str() {
        Some(text) => text.to_owned(),
        None => list(content)
            .iter()
            .map(|block| text(&block["text"]))
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn see(lines: &[(Direction, &str)]) -> Seen {
        Seen::of(lines.iter().map(|(way, line)| (*way, line.as_bytes())))
    }

    const INIT: (Direction, &str) = (
        Direction::Out,
        r#"{"type":"system","subtype":"init","permissionMode":"plan","claude_code_version":"9.9.9"}"#,
    );
    const MESSAGE: (Direction, &str) = (Direction::In, r#"{"type":"user"}"#);
    const SWITCH: (Direction, &str) = (
        Direction::In,
        r#"{"type":"control_request","request_id":"m","request":{"subtype":"set_permission_mode","mode":"plan"}}"#,
    );
    const SWITCHED: (Direction, &str) = (
        Direction::Out,
        r#"{"type":"control_response","response":{"subtype":"success","request_id":"m","response":{"mode":"plan"}}}"#,
    );
    const BARE: (Direction, &str) = (
        Direction::Out,
        r#"{"type":"control_response","response":{"subtype":"success","request_id":"m"}}"#,
    );

    #[test]
    fn each_answer_to_a_switch_of_mode_is_seen_with_its_place() {
        let result = (Direction::Out, r#"{"type":"result","subtype":"success"}"#);
        let seen = see(&[MESSAGE, INIT, result, SWITCH, SWITCHED, BARE]);
        let bodies: Vec<_> = seen.mode_replies.iter().map(|reply| &reply.body).collect();
        assert_eq!(bodies, [&Some(serde_json::json!({"mode": "plan"})), &None]);
        assert!(seen.mode_replies.iter().all(|reply| reply.after_result));
        let early = see(&[SWITCH, SWITCHED, MESSAGE, INIT]);
        assert!(early.mode_replies[0].before_message && !early.mode_replies[0].after_result);
        assert_eq!(early.init_modes, ["plan"]);
        assert_eq!(early.version.as_deref(), Some("9.9.9"));
    }

    #[test]
    fn an_answer_to_another_request_is_no_answer_to_the_switch() {
        let other = (
            Direction::Out,
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"x"}}"#,
        );
        assert_eq!(see(&[SWITCH, other]).mode_replies, []);
    }

    #[test]
    fn a_turn_that_begins_before_a_message_is_told_from_one_after_it() {
        assert!(see(&[INIT, MESSAGE]).init_before_message);
        assert!(!see(&[MESSAGE, INIT, INIT]).init_before_message);
    }

    #[test]
    fn a_question_is_matched_with_its_answer_and_a_call_with_its_result() {
        let seen = see(&[
            (
                Direction::Out,
                r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Edit"}]}}"#,
            ),
            (
                Direction::Out,
                r#"{"type":"control_request","request_id":"q","request":{"subtype":"can_use_tool","tool_name":"Edit","input":{"a":1},"blocked_path":null,"permission_suggestions":[{"type":"setMode","mode":"acceptEdits"},{"type":"addDirectories"}]}}"#,
            ),
            (
                Direction::In,
                r#"{"type":"control_response","response":{"request_id":"q","response":{"behavior":"deny"}}}"#,
            ),
            (
                Direction::Out,
                r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":[{"type":"text","text":"no"}]}]}}"#,
            ),
            (
                Direction::Out,
                r#"{"type":"result","subtype":"success","is_error":true,"permission_denials":[{"tool_name":"Edit"}]}"#,
            ),
        ]);
        let [asked] = seen.asked.as_slice() else {
            panic!("{seen:?}")
        };
        assert_eq!(asked.suggestions, ["setMode acceptEdits", "addDirectories"]);
        assert_eq!(asked.blocked_path, Presence::Null);
        assert_eq!(asked.answer.as_deref(), Some("deny"));
        let outcome = Outcome {
            is_error: true,
            text: "no".to_owned(),
        };
        assert_eq!(seen.calls[0].outcome, Some(outcome));
        assert_eq!(
            (seen.denials, seen.results),
            (vec!["Edit".to_owned()], vec!["success (error)".to_owned()])
        );
    }

    #[test]
    fn what_is_no_json_counts_and_does_no_harm() {
        let seen = see(&[(Direction::Out, "oh"), (Direction::Err, "{}"), MESSAGE]);
        assert_eq!(seen.from_cli[""], 1);
        assert_eq!(seen.to_cli["user"], 1);
    }
}

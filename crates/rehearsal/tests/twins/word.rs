//! The name of a line: what it is, in a few words, by which two logs are laid side by side. Pure.

use std::collections::BTreeMap;

use countersign_testkit::json::Json;
use countersign_testkit::recording::Dir;
use countersign_testkit::scenario::subtype;

/// Names the lines of a log: an answer is named after the request that it answers.
#[derive(Debug, Default)]
pub(crate) struct Words {
    requests: BTreeMap<String, String>,
}

impl Words {
    /// Remembers a request.
    pub(crate) fn learn(&mut self, line: &Json) {
        let subtype = line.str_at("request.subtype");
        if let (Some(id), Some(subtype)) = (line.str_at("request_id"), subtype) {
            let name = match about_request(line) {
                Some(about) => format!("{subtype} {about}"),
                None => subtype.to_owned(),
            };
            self.requests.insert(id.to_owned(), name);
        }
    }

    pub(crate) fn of(&self, dir: Dir, line: Option<&Json>) -> String {
        let word = match (dir, line) {
            (Dir::Run, _) => return "(start)".to_owned(),
            (Dir::End, _) => return "(end)".to_owned(),
            (Dir::Err, _) => return "(stderr)".to_owned(),
            (_, None) => "no JSON".to_owned(),
            (_, Some(line)) => self.name(line),
        };
        match dir {
            Dir::In => format!("host {word}"),
            _ => word,
        }
    }

    fn name(&self, line: &Json) -> String {
        let kind = line.str_at("type").unwrap_or("no type");
        let mut word = kind.to_owned();
        if let Some(subtype) = subtype(line) {
            word.push('/');
            word.push_str(subtype);
        }
        let more = match kind {
            "control_request" => about_request(line),
            "control_response" => self.request(line, "response.request_id"),
            "control_cancel_request" => self.request(line, "request_id"),
            "assistant" | "user" => line.str_at("message.content.0.type"),
            "stream_event" => line.str_at("event.delta.type"),
            _ => None,
        };
        if let Some(more) = more {
            word.push(' ');
            word.push_str(more);
        }
        // Words that no model said.
        if line.str_at("message.model") == Some("<synthetic>") {
            word.push_str(" (synthetic)");
        }
        word
    }

    fn request(&self, line: &Json, field: &str) -> Option<&str> {
        let id = line.str_at(field)?;
        self.requests.get(id).map(|request| &**request)
    }
}

/// What a request is about: the tool, the hook's event, the method.
fn about_request(line: &Json) -> Option<&str> {
    ["tool_name", "input.hook_event_name", "message.method"]
        .iter()
        .find_map(|field| line.str_at(&format!("request.{field}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_named_by_what_it_is_and_an_answer_by_its_request() {
        let mut words = Words::default();
        let mut word = |dir, text: &str| {
            let line = Json::parse_object(text.as_bytes());
            line.iter().for_each(|line| words.learn(line));
            words.of(dir, line.as_ref())
        };
        let named = [
            (
                Dir::Out,
                r#"{"type":"system","subtype":"init"}"#,
                "system/init",
            ),
            (
                Dir::Out,
                r#"{"type":"assistant","message":{"content":[{"type":"tool_use"}]}}"#,
                "assistant tool_use",
            ),
            (
                Dir::Out,
                r#"{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash"}}"#,
                "control_request/can_use_tool Bash",
            ),
            (
                Dir::In,
                r#"{"type":"control_response","response":{"subtype":"success","request_id":"r"}}"#,
                "host control_response/success can_use_tool Bash",
            ),
            (
                Dir::Out,
                r#"{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta"}}}"#,
                "stream_event/content_block_delta text_delta",
            ),
            (Dir::Out, "oops", "no JSON"),
            (Dir::End, "0", "(end)"),
        ];
        for (dir, line, expected) in named {
            assert_eq!(word(dir, line), expected);
        }
    }
}

//! The name of a line: what it is, in a few words, by which two logs are laid side by side. Pure.

use std::collections::BTreeMap;

use countersign_testkit::recording::Dir;
use serde_json::Value;

/// Names the lines of a log: an answer is named after the request that it answers.
#[derive(Debug, Default)]
pub(crate) struct Words {
    requests: BTreeMap<String, String>,
}

impl Words {
    /// Remembers a request.
    pub(crate) fn learn(&mut self, line: &Value) {
        let subtype = line["request"]["subtype"].as_str();
        if let (Some(id), Some(subtype)) = (line["request_id"].as_str(), subtype) {
            let name = match about_request(line) {
                Some(about) => format!("{subtype} {about}"),
                None => subtype.to_owned(),
            };
            self.requests.insert(id.to_owned(), name);
        }
    }

    pub(crate) fn of(&self, dir: Dir, line: Option<&Value>) -> String {
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

    fn name(&self, line: &Value) -> String {
        let kind = line["type"].as_str().unwrap_or("no type");
        let (subtype, more) = match kind {
            "control_request" => (&line["request"]["subtype"], about_request(line)),
            "control_response" => (
                &line["response"]["subtype"],
                self.request(&line["response"]["request_id"]),
            ),
            "control_cancel_request" => (&line["subtype"], self.request(&line["request_id"])),
            "stream_event" => (
                &line["event"]["type"],
                line["event"]["delta"]["type"].as_str(),
            ),
            "assistant" | "user" => (
                &line["subtype"],
                line["message"]["content"][0]["type"].as_str(),
            ),
            _ => (&line["subtype"], None),
        };
        // Words that no model said.
        let synthetic = line["message"]["model"] == "<synthetic>";
        [
            subtype.as_str().map(|subtype| format!("/{subtype}")),
            more.map(|more| format!(" {more}")),
            synthetic.then(|| " (synthetic)".to_owned()),
        ]
        .into_iter()
        .flatten()
        .fold(kind.to_owned(), |word, part| word + &part)
    }

    fn request(&self, id: &Value) -> Option<&str> {
        self.requests.get(id.as_str()?).map(String::as_str)
    }
}

/// What a request is about: the tool, the hook's event, the method.
fn about_request(line: &Value) -> Option<&str> {
    let request = &line["request"];
    let about = [
        &request["tool_name"],
        &request["input"]["hook_event_name"],
        &request["message"]["method"],
    ];
    about.into_iter().find_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_named_by_what_it_is_and_an_answer_by_its_request() {
        let mut words = Words::default();
        let mut word = |dir, text: &str| {
            let line = serde_json::from_str(text).ok();
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
            (Dir::End, "", "(end)"),
        ];
        for (dir, line, expected) in named {
            assert_eq!(word(dir, line), expected);
        }
    }
}

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

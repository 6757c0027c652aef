//! The outline of a run: which lines came, in which order, without their content. Two runs of one
//! scenario on one version have the same shape; a changed CLI has not. Pure.

use super::Recording;
use crate::json::Json;
use crate::scenario::subtype;

/// Lines whose number depends on how the network cut the stream: a row of them counts as one.
const COLLAPSED: [&str; 3] = [
    "stream_event",
    "system/thinking_tokens",
    "system/task_progress",
];

/// One word for each line of stdout, in order.
pub fn shape(recording: &Recording) -> Vec<String> {
    let mut shape: Vec<String> = Vec::new();
    for line in recording.stdout() {
        let word =
            Json::parse_object(line).map_or_else(|| "no JSON".to_owned(), |line| word(&line));
        let repeated = COLLAPSED.contains(&&*word) && shape.last() == Some(&word);
        if !repeated {
            shape.push(word);
        }
    }
    shape
}

fn word(line: &Json) -> String {
    let kind = line.str_at("type").unwrap_or("no type");
    match (kind, subtype(line)) {
        ("stream_event", _) => kind.to_owned(),
        ("control_request", Some(subtype)) => match line.str_at("request.tool_name") {
            Some(tool) => format!("{kind}/{subtype} {tool}"),
            None => format!("{kind}/{subtype}"),
        },
        ("assistant", _) => match line.str_at("message.content.0.type") {
            Some(block) => format!("{kind} {block}"),
            None => kind.to_owned(),
        },
        (_, Some(subtype)) => format!("{kind}/{subtype}"),
        (_, None) => kind.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{Dir, Entry};

    #[test]
    fn a_shape_names_each_line_and_counts_a_row_of_stream_events_once() {
        let lines = [
            r#"{"type":"system","subtype":"init"}"#,
            r#"{"type":"stream_event","event":{"type":"message_start"}}"#,
            r#"{"type":"stream_event","event":{"type":"message_stop"}}"#,
            r#"{"type":"assistant","message":{"content":[{"type":"tool_use"}]}}"#,
            r#"{"type":"control_request","request":{"subtype":"can_use_tool","tool_name":"Bash"}}"#,
            "oops",
        ];
        let entries = lines
            .iter()
            .map(|line| Entry {
                at: 0,
                dir: Dir::Out,
                bytes: line.as_bytes().to_vec(),
            })
            .collect();
        let recording = Recording {
            cli: "c".into(),
            scenario: "s".into(),
            entries,
        };
        assert_eq!(
            shape(&recording),
            [
                "system/init",
                "stream_event",
                "assistant tool_use",
                "control_request/can_use_tool Bash",
                "no JSON"
            ]
        );
    }
}

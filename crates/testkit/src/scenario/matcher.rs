//! What a line must look like to be the expected one. Pure: a line in, yes or no out.

use std::fmt;

use super::lex::{Cursor, Wrong};
use crate::json::Json;

/// `type/subtype` and conditions on fields.
#[derive(Debug, Clone, PartialEq)]
pub struct Matcher {
    kind: String,
    subtype: Option<String>,
    conditions: Vec<Condition>,
}

#[derive(Debug, Clone, PartialEq)]
enum Condition {
    Equals(String, Json),
    Contains(String, String),
}

/// Where a field may stand when it is not at the top: the envelopes of the wire.
const ENVELOPES: [&str; 4] = ["request", "response", "event", "message"];

/// The subtype of a line, wherever its envelope has it.
pub fn subtype(line: &Json) -> Option<&str> {
    match line.str_at("type") {
        Some("control_request") => line.str_at("request.subtype"),
        Some("control_response") => line.str_at("response.subtype"),
        Some("stream_event") => line.str_at("event.type"),
        _ => line.str_at("subtype"),
    }
}

impl Matcher {
    /// Reads `type[/subtype]` and the conditions up to `as`, `within` or the end of the line.
    pub(super) fn parse(line: &mut Cursor<'_>) -> Result<Matcher, Wrong> {
        let start = line.clone();
        let name = line.word("type/subtype")?;
        let (kind, subtype) = match name.split_once('/') {
            Some((kind, subtype)) => (kind, Some(subtype.to_owned())),
            None => (name, None),
        };
        if kind.contains(['=', '~', '"']) {
            return Err(start.wrong("expected type/subtype before the conditions"));
        }
        let mut conditions = Vec::new();
        while !line.is_empty() && !matches!(line.peek(), "as" | "within") {
            let before = line.clone();
            let (key, sign, value) = line.condition()?;
            conditions.push(match (sign, value) {
                ('=', value) => Condition::Equals(key.to_owned(), value),
                (_, Json::String(text)) => Condition::Contains(key.to_owned(), text),
                _ => return Err(before.wrong("~ looks for a text, so give it one")),
            });
        }
        Ok(Matcher {
            kind: kind.to_owned(),
            subtype,
            conditions,
        })
    }

    /// The same with every value put through `fill`, which knows the variables.
    pub fn filled<E>(&self, fill: impl Fn(&str) -> Result<String, E>) -> Result<Matcher, E> {
        let conditions = self.conditions.iter().map(|condition| {
            Ok(match condition {
                Condition::Equals(path, Json::String(text)) => {
                    Condition::Equals(path.clone(), Json::String(fill(text)?))
                }
                Condition::Contains(path, text) => Condition::Contains(path.clone(), fill(text)?),
                other => other.clone(),
            })
        });
        Ok(Matcher {
            conditions: conditions.collect::<Result<_, E>>()?,
            ..self.clone()
        })
    }

    /// Whether this is such a line.
    pub fn matches(&self, line: &Json) -> bool {
        line.str_at("type") == Some(&self.kind)
            && (self.subtype.is_none() || self.subtype.as_deref() == subtype(line))
            && self
                .conditions
                .iter()
                .all(|condition| condition.holds(line))
    }
}

impl Condition {
    fn holds(&self, line: &Json) -> bool {
        match self {
            Condition::Equals(path, wanted) => find(line, path) == Some(wanted),
            Condition::Contains(path, wanted) => {
                find(line, path).is_some_and(|found| match found {
                    Json::String(text) => text.contains(wanted),
                    // A result's content is a text or a list of blocks; both may be searched.
                    other => other.to_string().contains(wanted),
                })
            }
        }
    }
}

fn find<'a>(line: &'a Json, path: &str) -> Option<&'a Json> {
    line.at(path).or_else(|| {
        ENVELOPES
            .iter()
            .find_map(|envelope| line.get(envelope).and_then(|inner| inner.at(path)))
    })
}

impl fmt::Display for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        if let Some(subtype) = &self.subtype {
            write!(f, "/{subtype}")?;
        }
        for condition in &self.conditions {
            match condition {
                Condition::Equals(path, value) => write!(f, " {path}={value}")?,
                Condition::Contains(path, text) => write!(f, " {path}~{text:?}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matcher(text: &str) -> Matcher {
        Matcher::parse(&mut Cursor::new(text)).unwrap()
    }

    fn json(text: &str) -> Json {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn the_subtype_is_found_in_its_envelope() {
        let ask = json(
            r#"{"type":"control_request","request":{"subtype":"can_use_tool","tool_name":"Bash"}}"#,
        );
        assert!(matcher("control_request/can_use_tool tool_name=Bash").matches(&ask));
        assert!(!matcher("control_request/can_use_tool tool_name=Write").matches(&ask));
        assert!(!matcher("control_request/hook_callback").matches(&ask));
        let event = json(r#"{"type":"stream_event","event":{"type":"message_stop"}}"#);
        assert!(matcher("stream_event/message_stop").matches(&event));
    }

    #[test]
    fn conditions_compare_whole_values_or_look_for_a_text() {
        let result = json(
            r#"{"type":"result","subtype":"success","is_error":false,"n":2,"result":"all done"}"#,
        );
        assert!(matcher(r#"result/success is_error=false n=2 result~"done""#).matches(&result));
        assert!(!matcher("result is_error=\"false\"").matches(&result));
        let user = json(r#"{"type":"user","message":{"content":[{"content":"hi there"}]}}"#);
        assert!(matcher("user content.0.content~there").matches(&user));
        assert!(matcher("user content~there").matches(&user));
    }

    #[test]
    fn values_are_filled_before_they_are_compared() {
        let line = json(r#"{"type":"control_cancel_request","request_id":"r1"}"#);
        let filled = matcher("control_cancel_request request_id=${id}")
            .filled(|text| Ok::<_, ()>(text.replace("${id}", "r1")));
        assert!(filled.unwrap().matches(&line));
    }

    #[test]
    fn a_matcher_shows_itself_as_it_was_written() {
        let text = r#"control_response/success request_id="host-1" response~"x""#;
        assert_eq!(matcher(text).to_string(), text);
    }
}

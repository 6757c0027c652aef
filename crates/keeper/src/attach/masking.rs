//! What a line to the agent must not leave in the journal: values of headers and variables.
//!
//! Owns which places of a line are secret. The agent gets the line as it is; the journal gets it with these values
//! replaced, and the note says where. Messages to the model are not looked at: what a person writes there is the
//! transcript. Pure.

use memchr::memmem;
use serde_json::Value;

/// What stands for a secret.
const MASK: &str = "***";

/// Objects whose values are secret: of MCP servers, and of the agent's environment.
const SECRET: [&str; 3] = ["headers", "env", "variables"];

/// A line without its secrets, and where they stood.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Masked {
    /// With its newline.
    pub(super) line: Vec<u8>,
    /// JSON pointers into the line.
    pub(super) places: Vec<String>,
}

/// The line as the journal may have it; none if that is the line itself.
pub(super) fn masked(line: &[u8]) -> Option<Masked> {
    let has_any = SECRET.iter().any(|name| {
        let quoted = format!("\"{name}\"");
        memmem::find(line, quoted.as_bytes()).is_some()
    });
    if !has_any {
        return None;
    }
    let mut value: Value = serde_json::from_slice(line).ok()?;
    if value.get("type").and_then(Value::as_str) == Some("user") {
        return None;
    }
    let mut places = Vec::new();
    walk(&mut value, &mut String::new(), false, &mut places);
    if places.is_empty() {
        return None;
    }
    let mut line = Vec::new();
    countersign_wire::write::append_ascii(&mut line, &value).ok()?;
    line.push(b'\n');
    Some(Masked { line, places })
}

fn walk(value: &mut Value, place: &mut String, is_secret: bool, places: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let length = place.len();
                place.push('/');
                place.push_str(&name.replace('~', "~0").replace('/', "~1"));
                let is_secret = is_secret || SECRET.contains(&name.as_str());
                walk(field, place, is_secret, places);
                place.truncate(length);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter_mut().enumerate() {
                let length = place.len();
                place.push_str(&format!("/{at}"));
                walk(item, place, is_secret, places);
                place.truncate(length);
            }
        }
        Value::Null => {}
        _ if is_secret => {
            *value = Value::String(MASK.to_owned());
            places.push(place.clone());
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(line: &str) -> Option<(Value, Vec<String>)> {
        let masked = masked(line.as_bytes())?;
        assert!(masked.line.is_ascii() && masked.line.ends_with(b"\n"));
        Some((serde_json::from_slice(&masked.line).unwrap(), masked.places))
    }

    #[test]
    fn headers_and_variables_of_servers_are_masked_and_their_places_told() {
        let line = r#"{"type":"control_request","request_id":"r","request":{"subtype":"mcp_set_servers","servers":{"a/b":{"type":"http","url":"u","headers":{"Authorization":"Bearer x"}},"c":{"command":"d","env":{"KEY":"v","N":1}}}}}"#;
        let (value, places) = mask(line).unwrap();
        let mut sorted = places.clone();
        sorted.sort();
        assert_eq!(
            sorted,
            [
                "/request/servers/a~1b/headers/Authorization",
                "/request/servers/c/env/KEY",
                "/request/servers/c/env/N",
            ]
        );
        for place in &places {
            assert_eq!(value.pointer(place), Some(&Value::from("***")), "{place}");
        }
        assert_eq!(value["request"]["servers"]["a/b"]["url"], "u");
        assert_eq!(value["request_id"], "r");
    }

    #[test]
    fn the_environment_of_the_agent_is_masked() {
        let line =
            r#"{"type":"update_environment_variables","variables":{"TOKEN":"x","EMPTY":null}}"#;
        let (value, places) = mask(line).unwrap();
        assert_eq!(places, ["/variables/TOKEN"]);
        assert_eq!(value["variables"]["EMPTY"], Value::Null);
    }

    #[test]
    fn what_a_person_writes_and_what_has_no_secret_stays() {
        for line in [
            r#"{"type":"user","message":{"role":"user","content":"\"env\""},"env":{"a":"b"}}"#,
            r#"{"type":"control_request","request_id":"r","request":{"subtype":"interrupt"}}"#,
            r#"{"type":"control_request","request":{"env":{}}}"#,
            r#"{"env": broken"#,
        ] {
            assert_eq!(mask(line), None, "{line}");
        }
    }
}

//! Which lines the CLI takes, which it ignores and which it dies of, per version.
//!
//! Pure, and as measured: a host that writes something an older version cannot bear finds out here.

use serde_json::Value;

use super::version::{Reader, Version};

/// What becomes of a line.
#[derive(Debug, PartialEq)]
pub(super) enum Admitted {
    Message(Value),
    Ignored,
    /// The process ends with 1 and says this on stderr.
    Fatal(String),
}

/// Reads one line, without its line end.
pub(super) fn admit(version: Version, line: &[u8]) -> Admitted {
    let reader = version.reader();
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.iter().all(u8::is_ascii_whitespace) {
        return ignored_or(reader == Reader::Strict, || unparsable(line));
    }
    // Bytes that are no UTF-8 become U+FFFD there, and so here.
    match serde_json::from_str(&String::from_utf8_lossy(line)) {
        Ok(value) => by_type(reader, value),
        Err(_) => Admitted::Fatal(unparsable(line)),
    }
}

fn by_type(reader: Reader, value: Value) -> Admitted {
    if value.is_null() {
        return Admitted::Fatal(
            "TypeError: Cannot read properties of null (reading 'type')".to_owned(),
        );
    }
    let kind = value["type"].as_str().unwrap_or("undefined").to_owned();
    match kind.as_str() {
        "user" => user(reader, value),
        "control_request" if value.get("request").is_none() => {
            Admitted::Fatal("Error: Missing request on control_request".to_owned())
        }
        "control_request" => Admitted::Message(value),
        "control_response" if value.get("response").is_none() => {
            ignored_or(reader == Reader::Strict, || {
                "Error: Missing response on control_response".to_owned()
            })
        }
        "control_response" => Admitted::Message(value),
        "keep_alive" => Admitted::Ignored,
        "control_cancel_request" if reader != Reader::Strict => Admitted::Message(value),
        _ => ignored_or(reader == Reader::Strict, || {
            format!("Error: Expected message type 'user' or 'control', got '{kind}'")
        }),
    }
}

fn user(reader: Reader, value: Value) -> Admitted {
    let role = value["message"]["role"].as_str().unwrap_or("undefined");
    if role != "user" {
        return Admitted::Fatal(format!("Error: Expected message role 'user', got '{role}'"));
    }
    let hangs = value["message"]["content"]
        .as_array()
        .is_some_and(Vec::is_empty);
    if hangs && reader == Reader::Strict {
        // It would never answer; an end is easier to find than a hang.
        return Admitted::Fatal(
            "Error: a user message with no content is never answered".to_owned(),
        );
    }
    Admitted::Message(value)
}

fn ignored_or(fatal: bool, reason: impl FnOnce() -> String) -> Admitted {
    if fatal {
        Admitted::Fatal(reason())
    } else {
        Admitted::Ignored
    }
}

fn unparsable(line: &[u8]) -> String {
    format!(
        "Error parsing streaming input line (type=unknown, {} chars): SyntaxError",
        line.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `m`essage, `i`gnored or `d`ies, for 2.1.325 and 2.0.75.
    #[test]
    fn each_version_bears_what_it_was_measured_to_bear() {
        for (line, expected) in [
            ("{\"type\":\"assistant\", oops", "dd"),
            ("  ", "id"),
            ("null", "dd"),
            ("42", "id"),
            (r#"{"type":"news"}"#, "id"),
            (r#"{"type":"user"}"#, "dd"),
            (
                r#"{"type":"user","message":{"role":"user","content":""}}"#,
                "mm",
            ),
            (
                r#"{"type":"user","message":{"role":"user","content":[]}}"#,
                "md",
            ),
            (r#"{"type":"control_request","request_id":"1"}"#, "dd"),
            (
                r#"{"type":"control_request","request":{"subtype":"x"}}"#,
                "mm",
            ),
            (r#"{"type":"control_response"}"#, "id"),
            (
                r#"{"type":"control_cancel_request","request_id":"1"}"#,
                "md",
            ),
            ("{\"type\":\"keep_alive\"}\r", "ii"),
        ] {
            let found: String = [Version::NEWEST, Version::new(2, 0, 75)]
                .map(|version| match admit(version, line.as_bytes()) {
                    Admitted::Message(_) => 'm',
                    Admitted::Ignored => 'i',
                    Admitted::Fatal(_) => 'd',
                })
                .iter()
                .collect();
            assert_eq!(found, expected, "{line:?}");
        }
    }
}

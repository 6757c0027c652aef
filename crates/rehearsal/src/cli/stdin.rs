//! Which lines the CLI takes, which it ignores and which it dies of. Pure, and as measured.

use serde_json::Value;

/// What becomes of a line.
#[derive(Debug, PartialEq)]
pub(super) enum Admitted {
    Message(Value),
    Ignored,
    /// The process ends with 1 and says this on stderr.
    Fatal(String),
}

/// Reads one line, without its line end.
pub(super) fn admit(line: &[u8]) -> Admitted {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.iter().all(u8::is_ascii_whitespace) {
        return Admitted::Ignored;
    }
    // Bytes that are no UTF-8 become U+FFFD there, and so here.
    let Ok(value) = serde_json::from_str::<Value>(&String::from_utf8_lossy(line)) else {
        return Admitted::Fatal(format!(
            "Error parsing streaming input line (type=unknown, {} chars): SyntaxError",
            line.len()
        ));
    };
    let role = value["message"]["role"].as_str().unwrap_or("undefined");
    let fatal = match value["type"].as_str() {
        _ if value.is_null() => {
            "TypeError: Cannot read properties of null (reading 'type')".to_owned()
        }
        Some("user") if role != "user" => {
            format!("Error: Expected message role 'user', got '{role}'")
        }
        Some("control_request") if value.get("request").is_none() => {
            "Error: Missing request on control_request".to_owned()
        }
        Some("control_response") if value.get("response").is_none() => return Admitted::Ignored,
        Some("user" | "control_request" | "control_response" | "control_cancel_request") => {
            return Admitted::Message(value);
        }
        _ => return Admitted::Ignored,
    };
    Admitted::Fatal(fatal)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `m`essage, `i`gnored or `d`ies.
    #[test]
    fn a_line_is_borne_as_measured() {
        for (line, expected) in [
            ("{\"type\":\"assistant\", oops", 'd'),
            ("  ", 'i'),
            ("null", 'd'),
            ("42", 'i'),
            (r#"{"type":"news"}"#, 'i'),
            (r#"{"type":"user"}"#, 'd'),
            (
                r#"{"type":"user","message":{"role":"user","content":[]}}"#,
                'm',
            ),
            (r#"{"type":"control_request","request_id":"1"}"#, 'd'),
            (
                r#"{"type":"control_request","request":{"subtype":"x"}}"#,
                'm',
            ),
            (r#"{"type":"control_response"}"#, 'i'),
            (r#"{"type":"control_cancel_request","request_id":"1"}"#, 'm'),
            ("{\"type\":\"keep_alive\"}\r", 'i'),
        ] {
            let found = match admit(line.as_bytes()) {
                Admitted::Message(_) => 'm',
                Admitted::Ignored => 'i',
                Admitted::Fatal(_) => 'd',
            };
            assert_eq!(found, expected, "{line:?}");
        }
    }
}

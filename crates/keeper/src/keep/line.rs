//! What a line means to a keeper: one of the agent, or one that a host wants written. Pure.
//!
//! Owns how little is read. A line of the agent is only looked into if it holds a word that matters; one for the agent
//! is checked whole, because a single bad line ends the CLI.

use std::sync::LazyLock;

use countersign_wire::route::Route;
use memchr::memmem::Finder;
use serde::de::IgnoredAny;

use crate::protocol::{MAX_PUT, Refusal};

static CONTROL: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("\"control_"));
static RESULT: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("\"result\""));

/// What a line of the agent tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Heard {
    /// It waits for an answer.
    Question { request_id: String, subtype: String },
    /// It does not any more.
    Withdrawn { request_id: String },
    /// The turn is over.
    Result,
    /// A turn is under way.
    Turn,
}

/// What a line of the agent tells that a keeper must know.
pub(crate) fn hear(line: &[u8]) -> Option<Heard> {
    if CONTROL.find(line).is_none() && RESULT.find(line).is_none() {
        // As every pinned CLI begins them; one that does not is still found by its result.
        let is_turn = line.starts_with(b"{\"type\":\"assistant\"")
            || line.starts_with(b"{\"type\":\"stream_event\"")
            || line.starts_with(b"{\"type\":\"system\",\"subtype\":\"init\"");
        return is_turn.then_some(Heard::Turn);
    }
    let route = Route::of(line).ok()?;
    let request_id = || Some(route.request_id?.get().into_owned());
    match &*route.kind.get() {
        "control_request" => Some(Heard::Question {
            request_id: request_id()?,
            subtype: route
                .subtype
                .map(|text| text.get().into_owned())
                .unwrap_or_default(),
        }),
        "control_cancel_request" => Some(Heard::Withdrawn {
            request_id: request_id()?,
        }),
        "result" => Some(Heard::Result),
        "assistant" | "stream_event" => Some(Heard::Turn),
        // Every turn begins with it, long before the model's first word.
        "system" => {
            let is_init = route.subtype.is_some_and(|text| text.get() == "init");
            is_init.then_some(Heard::Turn)
        }
        _ => None,
    }
}

/// What a line for the agent is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    /// A message of a person. Grants nothing.
    Message,
    /// The answer to that question.
    Answer(String),
    /// Anything else: a request, a withdrawal, variables.
    Other,
}

impl Said {
    /// Whether the line must be on the disk before the agent gets it. A plain message need not: it grants nothing.
    /// Everything else might (an answer, a mode, a rule, a variable), and is rare.
    pub(crate) fn must_be_synced(&self) -> bool {
        *self != Self::Message
    }
}

/// Checks a line for the agent: one JSON object with a type, one newline at its end, ASCII, not too long.
pub(crate) fn check(line: &[u8]) -> Result<Said, Refusal> {
    if line.len() > MAX_PUT {
        return Err(Refusal::TooLong);
    }
    let body = line.strip_suffix(b"\n").ok_or(Refusal::Newline)?;
    if memchr::memchr(b'\n', body).is_some() {
        return Err(Refusal::Newline);
    }
    if !body.is_ascii() {
        return Err(Refusal::NonAscii);
    }
    serde_json::from_slice::<IgnoredAny>(body).map_err(|_| Refusal::NotJson)?;
    let route = Route::of(body).map_err(|_| Refusal::NotJson)?;
    Ok(match &*route.kind.get() {
        "user" => Said::Message,
        "control_response" => {
            let request_id = route.request_id.ok_or(Refusal::Protocol)?;
            Said::Answer(request_id.get().into_owned())
        }
        _ => Said::Other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(request_id: &str, subtype: &str) -> Heard {
        Heard::Question {
            request_id: request_id.into(),
            subtype: subtype.into(),
        }
    }

    #[test]
    fn what_matters_is_heard_and_the_rest_is_passed_over() {
        let withdrawn = Heard::Withdrawn {
            request_id: "r2".into(),
        };
        for (line, expected) in [
            (
                r#"{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","input":{}}}"#,
                Some(question("r1", "can_use_tool")),
            ),
            (
                r#"{"request":{"subtype":"hook_callback"},"request_id":"r\u0031","type":"control_request"}"#,
                Some(question("r1", "hook_callback")),
            ),
            (
                r#"{"type":"control_cancel_request","request_id":"r2"}"#,
                Some(withdrawn),
            ),
            (
                r#"{"type":"result","subtype":"success"}"#,
                Some(Heard::Result),
            ),
            (r#"{ "type" : "result" }"#, Some(Heard::Result)),
            (r#"{"type":"assistant","message":{}}"#, Some(Heard::Turn)),
            (r#"{"type":"stream_event","event":{}}"#, Some(Heard::Turn)),
            // A tool that prints our words asks nothing.
            (
                r#"{"type":"user","message":{"content":"{\"type\":\"control_request\",\"request_id\":\"x\"}"}}"#,
                None,
            ),
            (
                r#"{"type":"control_response","response":{"request_id":"h"}}"#,
                None,
            ),
            (r#"{"type":"control_request"}"#, None),
            (r#"{"type":"control_request","request_id":"cut"#, None),
            (r#"{"type":"system","subtype":"init"}"#, Some(Heard::Turn)),
            (
                r#"{"subtype":"init","type":"system","tools":["result"]}"#,
                Some(Heard::Turn),
            ),
            (r#"{"type":"system","subtype":"status"}"#, None),
            (r#"{"type":"system","subtype":"task","of":"result"}"#, None),
            ("noise with \"control_ in it", None),
            ("", None),
        ] {
            assert_eq!(hear(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn only_a_line_that_the_cli_can_read_passes() {
        for (line, expected) in [
            ("{\"type\":\"user\",\"message\":{}}\n", Ok(Said::Message)),
            ("{\"type\":\"keep_alive\"}\n", Ok(Said::Other)),
            (
                "{\"type\":\"control_response\",\"response\":{\"request_id\":\"r\"}}\n",
                Ok(Said::Answer("r".into())),
            ),
            (
                "{\"type\":\"control_response\",\"response\":{}}\n",
                Err(Refusal::Protocol),
            ),
            ("{\"type\":\"user\"}", Err(Refusal::Newline)),
            ("{\"type\":\n\"user\"}\n", Err(Refusal::Newline)),
            ("{\"type\":\"user\"}\n\n", Err(Refusal::Newline)),
            ("{\"type\":\"\u{fc}\"}\n", Err(Refusal::NonAscii)),
            ("{\"type\":\"user\"\n", Err(Refusal::NotJson)),
            ("{\"type\":\"user\"} {}\n", Err(Refusal::NotJson)),
            ("[{\"type\":\"user\"}]\n", Err(Refusal::NotJson)),
            ("{\"type\":\"us\u{1}er\"}\n", Err(Refusal::NotJson)),
            ("{}\n", Err(Refusal::NotJson)),
            ("\n", Err(Refusal::NotJson)),
            ("", Err(Refusal::Newline)),
        ] {
            assert_eq!(check(line.as_bytes()), expected, "{line:?}");
        }
    }

    #[test]
    fn everything_but_a_message_is_synced_first() {
        assert!(!Said::Message.must_be_synced());
        assert!(Said::Answer("r".into()).must_be_synced());
        assert!(Said::Other.must_be_synced());
    }
}

//! The lines that a host writes: user messages, control requests, answers. Pure.

use crate::json::Json;
use crate::scenario::Answer;

/// A user's message.
pub(super) fn user(text: &str) -> Json {
    let message = Json::object([("role", Json::from("user")), ("content", Json::from(text))]);
    Json::object([
        ("type", Json::from("user")),
        ("message", message),
        ("parent_tool_use_id", Json::Null),
        ("session_id", Json::from("")),
    ])
}

/// A request of the host.
pub(super) fn control_request(id: &str, subtype: &str, fields: Json) -> Json {
    let mut request = Json::object([("subtype", Json::from(subtype))]);
    if let Json::Object(fields) = fields {
        for (key, value) in fields {
            request.set(&key, value);
        }
    }
    Json::object([
        ("type", Json::from("control_request")),
        ("request_id", Json::from(id)),
        ("request", request),
    ])
}

/// The answer to a request of the CLI, or `None` if that line is not a request.
pub(super) fn control_response(request: &Json, answer: Answer) -> Option<Json> {
    let id = request.get("request_id")?.clone();
    let success = |id, response| {
        Json::object([
            ("subtype", Json::from("success")),
            ("request_id", id),
            ("response", response),
        ])
    };
    let response = match answer {
        Answer::Json(response) => success(id, response),
        Answer::Error(text) => Json::object([
            ("subtype", Json::from("error")),
            ("request_id", id),
            ("error", Json::String(text)),
        ]),
        Answer::Deny { message, interrupt } => {
            let mut deny = Json::object([
                ("behavior", Json::from("deny")),
                ("message", Json::String(message)),
            ]);
            if interrupt {
                deny.set("interrupt", Json::Bool(true));
            }
            success(id, deny)
        }
        Answer::Allow {
            input,
            answers,
            permissions,
        } => {
            let mut input = input.or_else(|| request.at("request.input").cloned())?;
            if let Some(answers) = answers {
                input.set("answers", answers);
            }
            let mut allow =
                Json::object([("behavior", Json::from("allow")), ("updatedInput", input)]);
            if let Some(permissions) = permissions {
                allow.set("updatedPermissions", permissions);
            }
            success(id, allow)
        }
    };
    Some(Json::object([
        ("type", Json::from("control_response")),
        ("response", response),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask() -> Json {
        let text = r#"{"request_id":"r1","request":{"input":{"command":"ls"}}}"#;
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn an_allow_repeats_the_whole_input_and_has_the_id_inside() {
        let allow = Answer::Allow {
            input: None,
            answers: None,
            permissions: None,
        };
        assert_eq!(
            control_response(&ask(), allow).unwrap().to_string(),
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"behavior":"allow","updatedInput":{"command":"ls"}}}}"#
        );
    }

    #[test]
    fn a_deny_has_a_message_and_only_if_asked_an_interrupt() {
        let deny = |interrupt| Answer::Deny {
            message: "no".into(),
            interrupt,
        };
        let plain = control_response(&ask(), deny(false)).unwrap();
        assert_eq!(plain.at("response.response.interrupt"), None);
        let hard = control_response(&ask(), deny(true)).unwrap();
        assert_eq!(
            hard.at("response.response.interrupt"),
            Some(&Json::Bool(true))
        );
    }

    #[test]
    fn a_line_that_is_no_request_cannot_be_answered() {
        assert_eq!(
            control_response(&Json::Object(vec![]), Answer::Json(Json::Null)),
            None
        );
    }

    #[test]
    fn a_request_carries_its_fields_beside_the_subtype() {
        let fields = Json::object([("mode", Json::from("plan"))]);
        assert_eq!(
            control_request("host-1", "set_permission_mode", fields).to_string(),
            r#"{"type":"control_request","request_id":"host-1","request":{"subtype":"set_permission_mode","mode":"plan"}}"#
        );
    }
}

//! The JSON-RPC messages inside `mcp_message`: what one is, and the answers that need no server.
//!
//! Pure. Invariant: every message gets an answer, also one that is no JSON-RPC; the CLI waits a minute for each.

use countersign_wire::Json;
use rmcp::model::{
    CallToolRequestParams, CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification,
    ClientRequest, CustomRequest, ErrorCode, ErrorData, InitializeRequestParams, JsonRpcMessage,
    NumberOrString, RequestId, ServerJsonRpcMessage,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// What the CLI sent.
#[derive(Debug)]
pub(super) enum Incoming {
    /// The start of a new connection.
    Initialize(RequestId, ClientJsonRpcMessage),
    /// Any other request.
    Request(RequestId, ClientJsonRpcMessage),
    /// A request is no longer wanted.
    Cancelled(CancelledNotificationParam),
    /// Any other notification.
    Notification(ClientJsonRpcMessage),
    /// The answer to a request that the server made on the connection of this number.
    Answer(u32, ClientJsonRpcMessage),
    /// Nothing a server could be given; this is the answer.
    Broken(Json),
}

/// Tells what a message is.
pub(super) fn read(message: &Json) -> Incoming {
    let parsed = match message.to::<ClientJsonRpcMessage>() {
        Ok(parsed) => parsed,
        Err(error) => return Incoming::Broken(no_message(message, &error)),
    };
    match parsed {
        JsonRpcMessage::Request(request) => {
            let id = request.id.clone();
            if let ClientRequest::CustomRequest(custom) = &request.request
                && let Some(reason) = misfit(custom)
            {
                let text = format!("bad params of `{}`: {reason}", custom.method);
                return Incoming::Broken(error(id, ErrorData::invalid_params(text, None)));
            }
            match &request.request {
                ClientRequest::InitializeRequest(_) => {
                    Incoming::Initialize(id, JsonRpcMessage::Request(request))
                }
                _ => Incoming::Request(id, JsonRpcMessage::Request(request)),
            }
        }
        JsonRpcMessage::Notification(notification) => match notification.notification {
            ClientNotification::CancelledNotification(cancelled) => {
                Incoming::Cancelled(cancelled.params)
            }
            notification => Incoming::Notification(JsonRpcMessage::notification(notification)),
        },
        JsonRpcMessage::Response(response) => match own_id(&response.id) {
            Some((connection, id)) => {
                Incoming::Answer(connection, JsonRpcMessage::response(response.result, id))
            }
            None => Incoming::Broken(acknowledged()),
        },
        JsonRpcMessage::Error(failed) => match failed.id.as_ref().and_then(own_id) {
            Some((connection, id)) => {
                Incoming::Answer(connection, JsonRpcMessage::error(failed.error, Some(id)))
            }
            None => Incoming::Broken(acknowledged()),
        },
    }
}

/// rmcp takes a request whose params do not fit its method for one of an unknown method. Says what does not fit.
fn misfit(request: &CustomRequest) -> Option<String> {
    const OTHERS: [&str; 9] = [
        "completion/complete",
        "logging/setLevel",
        "prompts/get",
        "prompts/list",
        "resources/list",
        "resources/read",
        "resources/templates/list",
        "resources/subscribe",
        "tools/list",
    ];
    let params = request.params.clone().unwrap_or_default();
    match request.method.as_str() {
        "initialize" => why_not::<InitializeRequestParams>(params),
        "tools/call" => why_not::<CallToolRequestParams>(params),
        method if OTHERS.contains(&method) => Some("they do not fit the method".to_owned()),
        _ => None,
    }
}

fn why_not<T: DeserializeOwned>(params: Value) -> Option<String> {
    let error = serde_path_to_error::deserialize::<_, T>(params).err()?;
    Some(error.to_string())
}

fn no_message(message: &Json, error: &serde_json::Error) -> Json {
    let id = message.to_value().ok().and_then(|mut message| {
        let id = message.get_mut("id")?.take();
        Some(id)
    });
    Json::from(json!({
        "jsonrpc": "2.0",
        "id": id,
        "error": {
            "code": ErrorCode::INVALID_REQUEST.0,
            "message": format!("not a JSON-RPC message of MCP: {error}"),
        },
    }))
}

/// The answer to a message that has none of its own. The CLI waits for one all the same, and ignores it.
pub(super) fn acknowledged() -> Json {
    Json::from(json!({"jsonrpc": "2.0", "result": {}, "id": 0}))
}

/// A JSON-RPC error as the answer to a request.
pub(super) fn error(id: RequestId, error: ErrorData) -> Json {
    written(&ServerJsonRpcMessage::error(error, Some(id)))
}

/// The answer to a request that nobody can serve any more.
pub(super) fn gone(id: RequestId, why: impl Into<String>) -> Json {
    error(id, ErrorData::internal_error(why.into(), None))
}

/// The answer to a request that was cancelled.
pub(super) fn cancelled(id: RequestId) -> Json {
    // MCP has no code of its own; this is the one the language server protocol uses.
    const CANCELLED: ErrorCode = ErrorCode(-32800);
    error(
        id,
        ErrorData::new(CANCELLED, "the request was cancelled", None),
    )
}

/// A message of the server as JSON.
pub(super) fn written(message: &ServerJsonRpcMessage) -> Json {
    Json::of(message).unwrap_or_else(|error| {
        let id = match message {
            JsonRpcMessage::Response(response) => Some(response.id.clone().into_json_value()),
            _ => None,
        };
        let text = format!("the server's message has no JSON form: {error}");
        Json::from(json!({
            "jsonrpc": "2.0",
            "id": id,
            "error": {"code": ErrorCode::INTERNAL_ERROR.0, "message": text},
        }))
    })
}

/// Bits of a request id that are the server's own; those above say which connection it belongs to. Each connection
/// counts from 0, and an answer must not reach another connection's question.
const OWN_BITS: u32 = 32;

/// So many connections have ids that JavaScript's numbers can hold.
const CONNECTIONS: u32 = 1 << (53 - OWN_BITS);

/// A server's request id as the CLI sees it.
pub(super) fn session_id(connection: u32, own: RequestId) -> RequestId {
    match own {
        NumberOrString::Number(own) => {
            NumberOrString::Number(i64::from(connection % CONNECTIONS) << OWN_BITS | own)
        }
        // rmcp counts; whoever brings ids of another kind has made them unique.
        id @ NumberOrString::String(_) => id,
    }
}

/// Undoes [`session_id`].
fn own_id(id: &RequestId) -> Option<(u32, RequestId)> {
    let NumberOrString::Number(id) = id else {
        return None;
    };
    let connection = u32::try_from(id >> OWN_BITS).ok()?;
    let own = id & ((1 << OWN_BITS) - 1);
    Some((connection, NumberOrString::Number(own)))
}

/// Whether a connection is the one an id names.
pub(super) fn is_connection(connection: u32, named: u32) -> bool {
    connection % CONNECTIONS == named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_two_connections_differ_and_come_back() {
        let own = NumberOrString::Number(7);
        assert_eq!(session_id(0, own.clone()), own);
        let other = session_id(3, own.clone());
        assert_ne!(other, own);
        assert_eq!(own_id(&other), Some((3, own)));
        assert_eq!(own_id(&NumberOrString::Number(-1)), None);
    }

    #[test]
    fn what_is_no_message_is_refused_under_its_own_id() {
        for (message, id) in [
            (
                r#"{"id":{"a":1},"method":"ping","jsonrpc":"2.0"}"#,
                json!({"a": 1}),
            ),
            (r#"{"id":5}"#, json!(5)),
            ("[]", Value::Null),
        ] {
            let Incoming::Broken(answer) = read(&message.parse().unwrap()) else {
                panic!("{message} was taken for a message");
            };
            let answer = answer.to_value().unwrap();
            assert_eq!(answer["id"], id);
            assert_eq!(answer["error"]["code"], -32600);
        }
    }

    #[test]
    fn params_that_do_not_fit_are_named() {
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{}}}"#;
        let Incoming::Broken(answer) = read(&call.parse().unwrap()) else {
            panic!("a call without a name was taken");
        };
        let answer = answer.to_value().unwrap();
        assert_eq!(answer["error"]["code"], -32602);
        let text = answer["error"]["message"].as_str().unwrap();
        assert!(
            text.contains("`tools/call`") && text.contains("`name`"),
            "{text}"
        );
    }
}

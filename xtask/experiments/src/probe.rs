//! The MCP server of a take: one tool, which says that it is there.
//!
//! Pure: a JSON-RPC message in, the answer out. Invariant: every message gets an answer, a notification too, because the
//! CLI waits for one.

use countersign_wire::Json;
use serde_json::{Value, json};

use super::takes::SERVER;

/// What the tool says.
const SAID: &str = "pong";

/// The answer to one message of the CLI.
pub(crate) fn answer(message: Json) -> Json {
    Json::from(answer_value(&message.to_value().unwrap_or_default()))
}

fn answer_value(message: &Value) -> Value {
    let Some(id) = message.get("id") else {
        return json!({"jsonrpc": "2.0", "id": 0, "result": {}});
    };
    match outcome(message) {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err((code, reason)) => {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": reason}})
        }
    }
}

/// The result of a request, or JSON-RPC's number for what is wrong with it, and the reason.
fn outcome(message: &Value) -> Result<Value, (i32, String)> {
    let (server, tool) = SERVER;
    let params = &message["params"];
    match message["method"].as_str() {
        Some("initialize") => Ok(json!({
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": server, "version": "1.0.0"},
        })),
        Some("ping") => Ok(json!({})),
        Some("tools/list") => Ok(json!({"tools": [{
            "name": tool,
            "description": "Says that it is there",
            "inputSchema": {"type": "object", "properties": {}},
        }]})),
        Some("tools/call") if params["name"] == tool => {
            Ok(json!({"content": [{"type": "text", "text": SAID}], "isError": false}))
        }
        Some("tools/call") => Err((-32602, format!("`{server}` has no such tool"))),
        method => Err((
            -32601,
            format!("no method `{}`", method.unwrap_or_default()),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(method: &str, params: Value) -> Value {
        answer_value(&json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}))
    }

    #[test]
    fn it_speaks_the_version_it_is_asked_for_and_lists_its_tool() {
        let hello = asked("initialize", json!({"protocolVersion": "2025-11-25"}));
        assert_eq!(hello["result"]["protocolVersion"], "2025-11-25");
        assert_eq!(hello["result"]["serverInfo"]["name"], SERVER.0);
        let tools = asked("tools/list", json!({}));
        assert_eq!(tools["result"]["tools"][0]["name"], SERVER.1);
    }

    #[test]
    fn its_tool_answers_and_another_is_an_error() {
        let called = asked("tools/call", json!({"name": SERVER.1, "arguments": {}}));
        assert_eq!(called["id"], 7);
        assert_eq!(called["result"]["content"][0]["text"], SAID);
        assert_eq!(
            asked("tools/call", json!({"name": "x"}))["error"]["code"],
            -32602
        );
        assert_eq!(asked("resources/list", json!({}))["error"]["code"], -32601);
    }

    #[test]
    fn a_notification_is_answered_too() {
        let answer =
            answer_value(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        assert_eq!(answer["result"], json!({}));
    }
}

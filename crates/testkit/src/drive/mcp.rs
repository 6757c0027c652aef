//! The MCP server that the host serves in its own process: two small tools and one that answers at
//! length. Pure: a JSON-RPC message in, the reply out.

use crate::json::Json;

/// The reply to one JSON-RPC message. Notifications get one too: the CLI waits for it.
pub(super) fn reply(server: &str, message: &Json) -> Json {
    let id = message.get("id").cloned().unwrap_or(Json::from(0));
    let outcome = match message.str_at("method") {
        Some("initialize") => Ok(initialize(server, message)),
        Some(method) if method.starts_with("notifications/") => Ok(Json::Object(vec![])),
        Some("tools/list") => Ok(Json::object([("tools", tools())])),
        Some("tools/call") => call(message),
        method => Err(format!("no method {}", method.unwrap_or("at all"))),
    };
    let outcome = match outcome {
        Ok(result) => ("result", result),
        Err(text) => {
            let code = Json::Number((-32601).into());
            (
                "error",
                Json::object([("code", code), ("message", Json::String(text))]),
            )
        }
    };
    Json::object([("jsonrpc", Json::from("2.0")), ("id", id), outcome])
}

fn initialize(server: &str, message: &Json) -> Json {
    let version = message
        .at("params.protocolVersion")
        .cloned()
        .unwrap_or(Json::Null);
    let info = Json::object([
        ("name", Json::from(server)),
        ("version", Json::from("1.0.0")),
    ]);
    Json::object([
        ("protocolVersion", version),
        (
            "capabilities",
            Json::object([("tools", Json::Object(vec![]))]),
        ),
        ("serverInfo", info),
    ])
}

fn tools() -> Json {
    let tool = |name: &str, about: &str, fields: &[(&str, &str)]| {
        let properties = fields.iter().map(|(field, kind)| {
            (
                (*field).to_owned(),
                Json::object([("type", Json::from(*kind))]),
            )
        });
        let required = fields.iter().map(|(field, _)| Json::from(*field)).collect();
        let schema = Json::object([
            ("type", Json::from("object")),
            ("properties", Json::Object(properties.collect())),
            ("required", Json::Array(required)),
        ]);
        Json::object([
            ("name", Json::from(name)),
            ("description", Json::from(about)),
            ("inputSchema", schema),
        ])
    };
    Json::Array(vec![
        tool(
            "add",
            "Adds two numbers",
            &[("a", "number"), ("b", "number")],
        ),
        tool("echo", "Says it again", &[("text", "string")]),
    ])
}

fn call(message: &Json) -> Result<Json, String> {
    let argument = |name: &str| message.at(&format!("params.arguments.{name}"));
    let number = |name| match argument(name) {
        Some(Json::Number(number)) => number
            .as_f64()
            .ok_or_else(|| format!("{name} is too large")),
        _ => Err(format!("{name} is missing")),
    };
    let text = match message.str_at("params.name") {
        Some("add") => (number("a")? + number("b")?).to_string(),
        Some("echo") => argument("text")
            .and_then(Json::as_str)
            .ok_or("text is missing")?
            .to_owned(),
        other => return Err(format!("no tool {}", other.unwrap_or("at all"))),
    };
    let block = Json::object([("type", Json::from("text")), ("text", Json::String(text))]);
    Ok(Json::object([("content", Json::Array(vec![block]))]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(message: &str) -> Json {
        reply("calc", &serde_json::from_str(message).unwrap())
    }

    #[test]
    fn a_session_goes_from_initialize_to_a_call() {
        let hello =
            ask(r#"{"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#);
        assert_eq!(hello.str_at("result.protocolVersion"), Some("2025-11-25"));
        assert_eq!(hello.str_at("result.serverInfo.name"), Some("calc"));
        let ready = ask(r#"{"method":"notifications/initialized"}"#);
        assert_eq!(ready.to_string(), r#"{"jsonrpc":"2.0","id":0,"result":{}}"#);
        assert_eq!(
            ask(r#"{"id":1,"method":"tools/list"}"#).str_at("result.tools.0.name"),
            Some("add")
        );
        let sum = ask(
            r#"{"id":2,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":3}}}"#,
        );
        assert_eq!(sum.str_at("result.content.0.text"), Some("5"));
    }

    #[test]
    fn an_unknown_method_tool_or_argument_is_an_error() {
        for message in [
            r#"{"id":1,"method":"prompts/list"}"#,
            r#"{"id":1,"method":"tools/call","params":{"name":"none"}}"#,
            r#"{"id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":2}}}"#,
        ] {
            assert!(ask(message).str_at("error.message").is_some(), "{message}");
        }
    }
}

//! What every pinned CLI really sent to an in-process server, played to a bridge.

use std::fs;
use std::path::Path;

use countersign_wire::CliMessage;
use countersign_wire::HostMessage;
use countersign_wire::control::{CliRequest, ControlOutcome};
use countersign_wire::decode::decode;
use countersign_wire::recording::{self, Direction};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Session, text};
use crate::mcp::Server;

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: f64,
    b: f64,
}

#[derive(Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

/// The server of the scenario that was recorded.
fn calc() -> Server {
    Server::new("calc")
        .tool("add", "Adds two numbers", |add: Add| async move {
            add.a + add.b
        })
        .tool(
            "echo",
            "Says it again",
            |echo: Echo| async move { echo.text },
        )
}

/// Each message of the CLI with the answer it was given then.
fn recorded(version: &str) -> Vec<(Value, Value)> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/wire");
    let file = fs::read(fixtures.join(version).join("mcp-in-process.ndjson")).unwrap();
    let lines = file
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    let entries: Vec<_> = lines
        .skip(1)
        .map(|line| recording::entry(line).unwrap())
        .collect();
    let mut exchanged = Vec::new();
    for asked in entries
        .iter()
        .filter(|entry| entry.direction == Direction::Out)
    {
        let Ok(CliMessage::ControlRequest(request)) = decode(&asked.line) else {
            continue;
        };
        let CliRequest::McpMessage(message) = request.request else {
            continue;
        };
        let answer = entries
            .iter()
            .filter(|entry| entry.direction == Direction::In);
        let mut answers =
            answer.filter_map(|entry| reply(&entry.line, request.request_id.as_str()));
        exchanged.push((message.message.to_value().unwrap(), answers.next().unwrap()));
    }
    exchanged
}

fn reply(line: &[u8], id: &str) -> Option<Value> {
    let Ok(HostMessage::ControlResponse(reply)) = decode(line) else {
        return None;
    };
    let ControlOutcome::Success(success) = reply.response else {
        return None;
    };
    if success.request_id?.as_str() != id {
        return None;
    }
    Some(success.response?.to_value().unwrap()["mcp_response"].take())
}

#[tokio::test]
async fn every_pinned_cli_is_served() {
    for version in ["2.0.75", "2.1.62", "newest"] {
        let exchanged = recorded(version);
        assert_eq!(exchanged.len(), 5, "{version}");
        let session = Session::fresh(calc());
        for (message, then) in exchanged {
            let answer = session.send(message.clone()).await;
            assert_eq!(answer["id"], then["id"], "{version}: {message}");
            match message["method"].as_str().unwrap() {
                "tools/call" => assert_eq!(text(&answer["result"]), text(&then["result"])),
                "tools/list" => assert_eq!(outline(&answer), outline(&then), "{version}"),
                _ => assert_eq!(answer["result"], then["result"], "{version}: {message}"),
            }
        }
    }
}

/// Names, descriptions and properties of listed tools.
fn outline(answer: &Value) -> Vec<(Value, Value, Vec<String>, Value)> {
    let tools = answer["result"]["tools"].as_array().unwrap();
    let tools = tools.iter().map(|tool| {
        let schema = &tool["inputSchema"];
        let properties = schema["properties"].as_object().unwrap();
        (
            tool["name"].clone(),
            tool["description"].clone(),
            properties.keys().cloned().collect(),
            schema["required"].clone(),
        )
    });
    tools.collect()
}

//! What flags name: settings, MCP servers, agents and prompts, as files or as JSON on the spot.
//!
//! Owns how each is told apart, read and refused. Reads only what a flag names, once, and never writes.

use std::io::{Error, ErrorKind};
use std::path::Path;

use serde_json::{Map, Value};

use super::refusal::Refusal;

/// Reads a file that a flag names; `what` names it in the complaint.
fn read(cwd: &Path, name: &str, what: &str) -> Result<String, String> {
    let path = cwd.join(name);
    let refused = |error: Error| match error.kind() {
        ErrorKind::NotFound => format!("{what} not found: {}", path.display()),
        _ => format!("Cannot read {what} {}: {error}", path.display()),
    };
    let bytes = std::fs::read(&path).map_err(refused)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The settings of `--settings`, and a warning if they are there but no JSON.
pub(super) fn settings(cwd: &Path, text: &str) -> Result<(Value, Option<String>), Refusal> {
    let trimmed = text.trim();
    if trimmed.starts_with('{') && trimmed.ends_with('}') {
        return match serde_json::from_str(trimmed) {
            Ok(settings) => Ok((settings, None)),
            Err(_) => Err(Refusal::error("Invalid JSON provided to --settings")),
        };
    }
    let file = read(cwd, text, "Settings file").map_err(Refusal::error)?;
    if file.trim().is_empty() {
        return Ok((Value::Null, None));
    }
    Ok(match serde_json::from_str(&file) {
        Ok(settings) => (settings, None),
        Err(_) => {
            let path = cwd.join(text).display().to_string();
            let warning = format!(
                "These settings files did not load, so nothing in them is in effect, including hooks and permission rules. \
                 Each loads again once the problem listed for it is fixed:\n  {path}: Invalid or malformed JSON"
            );
            (Value::Null, Some(warning))
        }
    })
}

/// The servers of `--mcp-config`, all values together, or every complaint about them.
pub(super) fn mcp_servers(cwd: &Path, values: &[String]) -> Result<Map<String, Value>, Refusal> {
    let mut servers = Map::new();
    let mut complaints = Vec::new();
    for value in values.iter().filter(|value| !value.is_empty()) {
        match mcp_config(cwd, value) {
            Ok(more) => servers.extend(more),
            Err(complaint) => complaints.push(complaint),
        }
    }
    match complaints.is_empty() {
        true => Ok(servers),
        false => Err(Refusal::error(format!(
            "Invalid MCP configuration:\n{}",
            complaints.join("\n")
        ))),
    }
}

fn mcp_config(cwd: &Path, value: &str) -> Result<Map<String, Value>, String> {
    let mut config = match serde_json::from_str::<Value>(value) {
        Ok(config @ (Value::Object(_) | Value::Array(_))) => config,
        _ => serde_json::from_str(&read(cwd, value, "MCP config file")?)
            .map_err(|_| "MCP config is not a valid JSON".to_owned())?,
    };
    let Some(Value::Object(mut servers)) = config.get_mut("mcpServers").map(Value::take) else {
        return Err("mcpServers: Invalid input: expected record".to_owned());
    };
    // A server that could not be started in any way is passed over in silence.
    servers.retain(|_, server| is_server(server));
    Ok(servers)
}

fn is_server(server: &Value) -> bool {
    let has = |field: &str| server[field].is_string();
    match server["type"].as_str() {
        None | Some("stdio") => has("command"),
        Some("sse" | "http" | "ws" | "sse-ide" | "ws-ide") => has("url"),
        Some("sdk") => has("name"),
        Some(_) => false,
    }
}

/// The agents of `--agents`: each has a description and a prompt.
pub(super) fn agents(cwd: &Path, text: &str) -> Result<Map<String, Value>, Refusal> {
    let invalid = |why: String| Refusal::error(format!("Invalid --agents configuration:\n{why}"));
    let text = match serde_json::from_str::<Value>(text) {
        Ok(value) if !value.is_null() => text.to_owned(),
        Err(_) if text.trim_start().starts_with('{') => text.to_owned(),
        _ => read(cwd, text, "--agents file").map_err(Refusal::error)?,
    };
    let agents = serde_json::from_str::<Map<String, Value>>(&text)
        .map_err(|why| invalid(format!("invalid JSON: {why}")))?;
    let is_whole = |agent: &Value| agent["description"].is_string() && agent["prompt"].is_string();
    match agents.iter().find(|(_, agent)| !is_whole(agent)) {
        Some((name, _)) => Err(invalid(format!("{name}: needs a description and a prompt"))),
        None => Ok(agents),
    }
}

/// A prompt in a file; `which` names it in the complaint.
pub(super) fn prompt(cwd: &Path, name: &str, which: &str) -> Result<String, Refusal> {
    read(cwd, name, &format!("{which} file")).map_err(Refusal::error)
}

/// The schema of `--json-schema`.
pub(super) fn schema(text: &str) -> Result<Value, Refusal> {
    match serde_json::from_str(text) {
        Ok(schema @ Value::Object(_)) => Ok(schema),
        Ok(_) => Err(Refusal::error("--json-schema must be a JSON object")),
        Err(why) => Err(Refusal::error(format!(
            "--json-schema is not valid JSON: {why}"
        ))),
    }
}

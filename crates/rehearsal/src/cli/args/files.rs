//! What flags name: settings, MCP servers, agents and prompts, as files or as JSON on the spot.
//!
//! Owns how each is told apart, read and refused. Reads only what a flag names, once, and never writes.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::agents;
use super::broken_json;
use super::metaschema;
use super::refusal::Refusal;

/// Why a file gave no text.
enum Unreadable {
    Missing(PathBuf),
    Other(PathBuf, String),
}

/// The path of a file that a flag names, without `.` and `..`.
fn place(cwd: &Path, name: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for part in cwd.join(name).components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                path.pop();
            }
            part => path.push(part),
        }
    }
    path
}

fn read(cwd: &Path, name: &str) -> Result<String, Unreadable> {
    let path = place(cwd, name);
    match std::fs::read(&path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(Unreadable::Missing(path)),
        Err(error) => Err(Unreadable::Other(path, said(&error))),
    }
}

/// An error of the system in the words of the CLI's runtime.
fn said(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::IsADirectory => "EISDIR: illegal operation on a directory, read".to_owned(),
        ErrorKind::PermissionDenied => "EACCES: permission denied, open".to_owned(),
        _ => error.to_string(),
    }
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
    let file = match read(cwd, text) {
        Ok(file) => file,
        Err(Unreadable::Missing(path)) => {
            return Err(Refusal::error(format!(
                "Settings file not found: {}",
                path.display()
            )));
        }
        Err(Unreadable::Other(path, why)) => {
            let path = path.display();
            return Err(Refusal::error(format!(
                "Cannot use settings file ({why}): {path}"
            )));
        }
    };
    if file.trim().is_empty() {
        return Ok((Value::Null, None));
    }
    Ok(match serde_json::from_str(&file) {
        Ok(settings) => (settings, None),
        Err(_) => (Value::Null, Some(not_loaded(&place(cwd, text)))),
    })
}

fn not_loaded(path: &Path) -> String {
    let path = path.display();
    format!(
        "These settings files did not load, so nothing in them is in effect, including hooks and permission rules. \
         Each loads again once the problem listed for it is fixed:\n  {path}: Invalid or malformed JSON"
    )
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
    let config = match serde_json::from_str::<Value>(value) {
        Ok(config @ (Value::Object(_) | Value::Array(_))) => config,
        _ => {
            let text = read(cwd, value).map_err(|unreadable| match unreadable {
                Unreadable::Missing(path) => {
                    format!("MCP config file not found: {}", path.display())
                }
                Unreadable::Other(_, why) => format!("Failed to read file: Error: {why}"),
            })?;
            serde_json::from_str(&text).map_err(|_| "MCP config is not a valid JSON".to_owned())?
        }
    };
    let Value::Object(mut config) = config else {
        return Err(agents::expected("object", &config));
    };
    match config.remove("mcpServers") {
        Some(Value::Object(mut servers)) => {
            // A server that could not be started in any way is passed over in silence.
            servers.retain(|_, server| is_server(server));
            Ok(servers)
        }
        Some(other) => Err(format!(
            "mcpServers: {}",
            agents::expected("record", &other)
        )),
        None => Err("mcpServers: Invalid input: expected record, received undefined".to_owned()),
    }
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

/// The agents of `--agents`.
pub(super) fn agents(cwd: &Path, text: &str) -> Result<Map<String, Value>, Refusal> {
    let invalid = |why: &str, from: &str| {
        Err(Refusal::error(format!(
            "Invalid --agents configuration:\n{why}{from}"
        )))
    };
    let on_the_spot = match serde_json::from_str::<Value>(text) {
        Ok(Value::Null) => None,
        Ok(value) => Some(Ok(value)),
        Err(_) if text.trim_start().starts_with('{') => Some(Err(broken_json::complaint(text))),
        Err(_) => None,
    };
    if let Some(value) = on_the_spot {
        let agents = value
            .map_err(|why| format!("invalid JSON: {why}"))
            .and_then(agents::read);
        return agents.or_else(|why| invalid(&why, ""));
    }
    let path = place(cwd, text);
    let path = path.display();
    let file = read(cwd, text).map_err(|unreadable| match unreadable {
        Unreadable::Missing(_) => Refusal::error(format!(
            "--agents file not found: {path} (a value that is not a JSON object is read as a file path)"
        )),
        Unreadable::Other(_, why) => Refusal::saying(format!("Error reading --agents file {path}: {why}")),
    })?;
    let value = serde_json::from_str(&file)
        .map_err(|_| format!("invalid JSON: {}", broken_json::complaint(&file)));
    let agents = value.and_then(agents::read);
    agents.or_else(|why| invalid(&why, &format!("\n(read from {path})")))
}

/// A prompt in a file; `which` names it in the complaint.
pub(super) fn prompt(cwd: &Path, name: &str, which: &str) -> Result<String, Refusal> {
    read(cwd, name).map_err(|unreadable| match unreadable {
        Unreadable::Missing(path) => {
            Refusal::error(format!("{which} file not found: {}", path.display()))
        }
        Unreadable::Other(_, why) => {
            let mut which = which.to_owned();
            which[..1].make_ascii_lowercase();
            Refusal::saying(format!("Error reading {which} file: {why}"))
        }
    })
}

/// The schema of `--json-schema`; whether it is one is [`schema_complaint`]'s matter.
pub(super) fn schema(text: &str) -> Result<Value, Refusal> {
    match serde_json::from_str(text) {
        Ok(schema @ Value::Object(_)) => Ok(schema),
        Ok(_) => Err(Refusal::error("--json-schema must be a JSON object")),
        Err(_) => {
            let why = broken_json::complaint(text);
            Err(Refusal::error(format!(
                "--json-schema is not valid JSON: {why}"
            )))
        }
    }
}

/// Why the schema is none.
pub(super) fn schema_complaint(schema: &Value) -> Option<Refusal> {
    let why = metaschema::complaint(schema)?;
    Some(Refusal::error(format!(
        "--json-schema is not a valid JSON Schema: {why}"
    )))
}

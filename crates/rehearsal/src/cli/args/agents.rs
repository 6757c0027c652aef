//! The agents of `--agents`: whether each has the shape it must have, in the words of the CLI's validator.
//!
//! Pure. Owns the shape of a definition as it stands on the command line; what an agent does is not decided here.

use serde_json::{Map, Value};

use crate::cli::schema::kind;

/// What a field of an agent must be.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Text,
    /// A text that says something; the word names it in the complaint.
    Filled(&'static str),
    Texts,
    Things,
    Truth,
    Count,
    OneOf(&'static [&'static str]),
    Effort,
    Hooks,
}

use Shape::{Count, Effort, Filled, Hooks, OneOf, Text, Texts, Things, Truth};

/// The fields, in the order in which they are complained about; the first two must be there.
const FIELDS: [(&str, Shape); 16] = [
    ("description", Filled("Description")),
    ("tools", Texts),
    ("disallowedTools", Texts),
    ("prompt", Text),
    ("model", Filled("Model")),
    ("effort", Effort),
    (
        "permissionMode",
        OneOf(&[
            "acceptEdits",
            "auto",
            "bypassPermissions",
            "default",
            "dontAsk",
            "plan",
        ]),
    ),
    ("mcpServers", Things),
    ("hooks", Hooks),
    ("maxTurns", Count),
    ("skills", Texts),
    ("initialPrompt", Text),
    ("memory", OneOf(&["user", "project", "local"])),
    ("background", Truth),
    ("isolation", OneOf(&["worktree", "remote"])),
    ("observer", Text),
];

const EVENTS: [&str; 33] = [
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "Notification",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "SessionStart",
    "SessionEnd",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "PreModelSwitch",
    "PostModelSwitch",
    "PermissionRequest",
    "PermissionDenied",
    "Setup",
    "TeammateIdle",
    "TaskCreated",
    "TaskCompleted",
    "Elicitation",
    "ElicitationResult",
    "ConfigChange",
    "WorktreeCreate",
    "WorktreeRemove",
    "InstructionsLoaded",
    "CwdChanged",
    "FileChanged",
    "DirectoryAdded",
    "MessageDisplay",
];

/// The definitions, or every complaint, a line each.
pub(super) fn read(agents: Value) -> Result<Map<String, Value>, String> {
    let Value::Object(agents) = agents else {
        return Err(expected("record", &agents));
    };
    let mut complaints = Vec::new();
    for (name, agent) in &agents {
        match agent {
            Value::Object(fields) => complain(name, fields, &mut complaints),
            _ => complaints.push(format!("{name}: {}", expected("object", agent))),
        }
    }
    match complaints.is_empty() {
        true => Ok(agents),
        false => Err(complaints.join("\n")),
    }
}

fn complain(name: &str, fields: &Map<String, Value>, complaints: &mut Vec<String>) {
    for (field, shape) in FIELDS {
        let at = format!("{name}.{field}");
        match fields.get(field) {
            None if field == "description" || field == "prompt" => {
                complaints.push(format!(
                    "{at}: Invalid input: expected string, received undefined"
                ));
            }
            None => {}
            Some(value) => {
                if let Some(complaint) = wrong(value, shape, &at) {
                    complaints.push(complaint);
                }
            }
        }
    }
}

fn wrong(value: &Value, shape: Shape, at: &str) -> Option<String> {
    let complaint = match (shape, value) {
        (Filled(what), Value::String(text)) if text.is_empty() => format!("{what} cannot be empty"),
        (Text | Filled(_), Value::String(_)) => return None,
        (Text | Filled(_), _) => expected("string", value),
        (Texts, Value::Array(items)) => {
            let place = items.iter().position(|item| !item.is_string())?;
            return Some(format!(
                "{at}.{place}: {}",
                expected("string", &items[place])
            ));
        }
        (Things, Value::Array(items)) => {
            let is_server = |item: &Value| item.is_string() || item.is_object();
            let place = items.iter().position(|item| !is_server(item))?;
            return Some(format!("{at}.{place}: Invalid input"));
        }
        (Texts | Things, _) => expected("array", value),
        (Truth, Value::Bool(_)) => return None,
        (Truth, _) => expected("boolean", value),
        (Count, Value::Number(number)) => match number.as_f64() {
            Some(count) if count.fract() != 0.0 => {
                "Invalid input: expected int, received number".to_owned()
            }
            Some(count) if count <= 0.0 => "Too small: expected number to be >0".to_owned(),
            _ => return None,
        },
        (Count, _) => expected("number", value),
        (OneOf(words), _) => {
            if value.as_str().is_some_and(|word| words.contains(&word)) {
                return None;
            }
            let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
            format!("Invalid option: expected one of {}", words.join("|"))
        }
        (Effort, value) => {
            let words = ["low", "medium", "high", "xhigh", "max"];
            if value.is_number() || value.as_str().is_some_and(|word| words.contains(&word)) {
                return None;
            }
            "Invalid input".to_owned()
        }
        (Hooks, Value::Object(hooks)) => {
            let unknown = hooks
                .keys()
                .find(|event| !EVENTS.contains(&event.as_str()))?;
            format!("Unrecognized key: \"{unknown}\"")
        }
        (Hooks, _) => expected("record", value),
    };
    Some(format!("{at}: {complaint}"))
}

/// The validator's usual complaint.
pub(super) fn expected(what: &str, received: &Value) -> String {
    format!(
        "Invalid input: expected {what}, received {}",
        kind(received)
    )
}

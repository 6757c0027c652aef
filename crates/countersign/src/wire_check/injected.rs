//! A field that nobody can know, put into every object of every recording: the check must name it.
//!
//! All objects of a recording get one at once, each of another name. What is exempt is listed with the reason, and an
//! exemption that nothing needs fails.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use countersign_wire::tools::ToolInput;
use serde_json::{Map, Value, json};

use super::{Report, check};

/// What is exempt of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exempt {
    /// It is a map: its keys are names. What stands under them is not exempt.
    Keys,
    /// All that stands in it.
    Whole,
}
use Exempt::{Keys, Whole};

/// What is exempt: the start of the message's name, the path of the object, how much of it, and why. A reply is named after
/// its request.
const EXEMPT: &[(&str, &str, Exempt, &str)] = &[
    ("result/", "modelUsage", Keys, "by model"),
    ("result/", "model_usage_since_last_result", Keys, "by model"),
    (
        "result/",
        "subagent_stats.by_type",
        Keys,
        "by type of sub-agent",
    ),
    (
        "result/",
        "structured_output",
        Whole,
        "of the host's own schema",
    ),
    (
        "control_request/initialize",
        "request.hooks",
        Keys,
        "by event",
    ),
    (
        "control_request/mcp_set_servers",
        "request.servers",
        Keys,
        "by name",
    ),
    (
        "control_request/apply_flag_settings",
        "request.settings",
        Whole,
        "settings: documented apart from the wire",
    ),
    (
        "control_request/mcp_message",
        "request.message",
        Whole,
        "JSON-RPC",
    ),
    (
        "control_request/no_such_request",
        "request",
        Whole,
        "reported as a whole",
    ),
    (
        "control_response/success to mcp_message",
        "response.response.mcp_response",
        Whole,
        "JSON-RPC",
    ),
    (
        "control_response/success to mcp_set_servers",
        "response.response.errors",
        Keys,
        "by name",
    ),
    (
        "control_response/success to get_settings",
        "response.response.effective",
        Whole,
        "settings",
    ),
    (
        "control_response/success to get_usage",
        "response.response.session.model_usage",
        Keys,
        "by model",
    ),
    (
        "control_response/success to AskUserQuestion",
        "response.response.updatedInput.answers",
        Keys,
        "by question",
    ),
    (
        "control_response/success to mcp__",
        "response.response.updatedInput",
        Whole,
        "the input of an MCP server's tool",
    ),
    ("user", "tool_use_result.answers", Keys, "by question"),
    (
        "user",
        "tool_use_result[]",
        Whole,
        "what an MCP server gives back",
    ),
];

/// A place at which a field was put.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Spot {
    message: String,
    path: String,
}

impl Spot {
    fn exemption(&self) -> Option<usize> {
        EXEMPT.iter().position(|(message, path, _, _)| {
            self.message.starts_with(message) && self.path == *path
        })
    }
}

/// Puts a field into every object of a message that is not exempt.
fn inject(value: &mut Value, spot: &Spot, seen: &mut Vec<Spot>, used: &mut BTreeSet<usize>) {
    let below = |step: &str| Spot {
        path: match (spot.path.is_empty(), step) {
            (true, step) => step.to_owned(),
            (false, "[]") => format!("{}[]", spot.path),
            (false, step) => format!("{}.{step}", spot.path),
        },
        ..spot.clone()
    };
    match value {
        Value::Object(fields) => {
            // The recording's own way to write a long text.
            if fields.contains_key("$repeat") {
                return;
            }
            let exemption = spot.exemption();
            used.extend(exemption);
            let how = exemption.map(|at| EXEMPT[at].2);
            if how == Some(Whole) {
                return;
            }
            let is_free = has_free_input(fields);
            for (name, field) in fields.iter_mut() {
                if is_free && matches!(name.as_str(), "input" | "tool_input") {
                    continue;
                }
                let step = if how == Some(Keys) { "[]" } else { name };
                inject(field, &below(step), seen, used);
            }
            if how.is_some() {
                return;
            }
            fields.insert(format!("bogus_{}", seen.len()), json!("bogus"));
            seen.push(spot.clone());
        }
        Value::Array(items) => {
            for item in items {
                inject(item, &below("[]"), seen, used);
            }
        }
        _ => {}
    }
}

/// Whether an object is about a call of a tool that has no type: of an MCP server, or made for the host's own schema.
fn has_free_input(call: &Map<String, Value>) -> bool {
    let tool = call.get("tool_name").or_else(|| call.get("name"));
    let tool = tool.and_then(Value::as_str);
    tool.is_some_and(|tool| !ToolInput::NAMES.contains(&tool))
}

/// Returns the name of a message; of a reply also what was asked: the tool of a question, else the request's subtype.
fn name_of(line: &Value, asked: &mut HashMap<String, String>) -> String {
    let kind = line["type"].as_str().unwrap_or_default();
    let subtype = match kind {
        "control_request" => &line["request"]["subtype"],
        "control_response" => &line["response"]["subtype"],
        _ => &line["subtype"],
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let request = &line["request"];
    if kind == "control_request" {
        let about = [&request["tool_name"], &request["subtype"]];
        let about = about.into_iter().find(|about| about.is_string());
        asked.insert(
            text(&line["request_id"]),
            about.map(text).unwrap_or_default(),
        );
    }
    let to = asked.get(&text(&line["response"]["request_id"]));
    match (subtype.as_str(), to.filter(|_| kind == "control_response")) {
        (Some(subtype), Some(to)) => format!("{kind}/{subtype} to {to}"),
        (Some(subtype), None) => format!("{kind}/{subtype}"),
        (None, _) => kind.to_owned(),
    }
}

/// The recordings of the newest version.
fn newest() -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/wire");
    // Folders that are not named after a version come first.
    let version = |path: &PathBuf| -> Option<Vec<u32>> {
        let name = path.file_name()?.to_str()?;
        name.split('.').map(|part| part.parse().ok()).collect()
    };
    let folders = std::fs::read_dir(fixtures).unwrap();
    let folders = folders.map(|entry| entry.unwrap().path());
    let newest = folders.max_by_key(version).unwrap();
    let files = std::fs::read_dir(newest).unwrap();
    files.map(|entry| entry.unwrap().path()).collect()
}

/// The names of the fields that a report calls unknown.
fn reported(report: &Report) -> BTreeSet<usize> {
    let fields = report.unknown_fields.values().flatten();
    let found = fields.filter_map(|path| path.rsplit_once("bogus_")?.1.parse().ok());
    found.collect()
}

#[test]
fn a_field_of_no_meaning_is_named_wherever_it_stands() {
    let (mut missed, mut used) = (BTreeMap::<Spot, usize>::new(), BTreeSet::new());
    let (mut count, mut broken) = (0, Vec::new());
    for path in newest() {
        let text = std::fs::read_to_string(&path).unwrap();
        let (mut seen, mut lines) = (Vec::new(), Vec::new());
        let mut asked = HashMap::new();
        for (at, line) in text.lines().enumerate() {
            let mut entry: Value = serde_json::from_str(line).unwrap();
            if at > 0 && entry["line"].is_object() {
                let message = name_of(&entry["line"], &mut asked);
                let spot = Spot {
                    message,
                    path: String::new(),
                };
                inject(&mut entry["line"], &spot, &mut seen, &mut used);
            }
            lines.push(entry.to_string());
        }
        let report = check(lines.join("\n").as_bytes()).unwrap();
        broken.extend(report.malformed.iter().map(|line| line.reason.clone()));
        let found = reported(&report);
        count += seen.len();
        for (at, spot) in seen.into_iter().enumerate() {
            if !found.contains(&at) {
                *missed.entry(spot).or_default() += 1;
            }
        }
    }
    broken.sort();
    broken.dedup();
    assert_eq!(
        broken,
        Vec::<String>::new(),
        "a map of typed values is exempt"
    );
    let missed: Vec<_> = missed
        .iter()
        .map(|(spot, count)| format!("{} {} ({count})", spot.message, spot.path))
        .collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    let unused: Vec<_> = (0..EXEMPT.len()).filter(|at| !used.contains(at)).collect();
    assert_eq!(unused, Vec::<usize>::new(), "exemptions without need");
    assert!(count > 3000, "only {count} objects");
}

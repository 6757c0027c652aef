//! Calls of tools as they ask for permission, and what the rules say of all but shell commands.
//!
//! Inside of the working folders reading is free and writing is asked about; outside both are. Touchy files are asked
//! about whatever a rule allows.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::decision::{Accepted, Refusal};
use super::places::{Places, leads};
use super::question::{
    Firm, Question, Verdict, not_granted, suggest_edits, suggest_folder, suggest_reading,
};
use super::rule::{Behavior, Rule, today};
use super::rules::Rules;
use crate::cli::source::Source;
use crate::cli::words::capitalised;

/// A call of a tool.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct Call<'a> {
    /// The tool's name.
    pub(in crate::cli) tool: &'a str,
    /// Its input, settled ([`Permissions::settle`](super::Permissions::settle)).
    pub(in crate::cli) input: &'a Value,
    /// The server, for a tool of an MCP server.
    pub(in crate::cli) mcp: Option<Mcp<'a>>,
}

/// What is known of an MCP tool.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct Mcp<'a> {
    /// The server's name.
    pub(in crate::cli) server: &'a str,
    /// The tool says that it only reads (`annotations.readOnlyHint`).
    pub(in crate::cli) read_only: bool,
}

impl<'a> Call<'a> {
    pub(super) fn text(&self, key: &str) -> &'a str {
        self.input.get(key).and_then(Value::as_str).unwrap_or("")
    }
}

/// What a call does to its path, and so which path rules mean it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Touch {
    Read,
    Write,
}

/// What a file tool does to its path.
pub(super) fn touch_of(tool: &str) -> Option<Touch> {
    match tool {
        "Read" => Some(Touch::Read),
        "Write" | "Edit" => Some(Touch::Write),
        _ => None,
    }
}

/// The session's rules and folders as one call sees them.
pub(super) struct Check<'a> {
    pub(super) rules: &'a Rules,
    pub(super) places: &'a Places,
    pub(super) folders: &'a [(PathBuf, Source)],
    /// Files inside may be changed without a question.
    pub(super) edits_free: bool,
    /// The host is offered to let edits through from now on.
    pub(super) offers_edits: bool,
}

impl Check<'_> {
    pub(super) fn is_inside(&self, path: &Path) -> bool {
        self.places.is_inside(self.folders, path)
    }

    /// Finds the rule that means a path, or where it leads.
    pub(super) fn path_rule(
        &self,
        behavior: Behavior,
        touch: Touch,
        path: &Path,
    ) -> Option<Source> {
        let found = |path: &Path| self.rules.path(self.places, behavior, touch, path);
        found(path).or_else(|| {
            let real = leads(path).filter(|_| behavior != Behavior::Allow)?;
            found(&real)
        })
    }
}

/// The input as the CLI settles it before anybody sees it: full paths, defaults filled in.
pub(super) fn settle(places: &Places, tool: &str, mut input: Value) -> Value {
    if touch_of(tool).is_some()
        && let Some(Value::String(path)) = input.get_mut("file_path")
    {
        *path = places.absolute(path).to_string_lossy().into_owned();
    }
    if let ("Edit", Value::Object(fields)) = (tool, &mut input) {
        fields.entry("replace_all").or_insert(Value::Bool(false));
    }
    input
}

/// The path a call of a file tool works on.
fn target(places: &Places, call: &Call<'_>) -> PathBuf {
    places.absolute(call.text("file_path"))
}

/// What is to become of a call.
pub(super) fn judge(check: &Check<'_>, call: &Call<'_>) -> Verdict {
    if let Some(touch) = touch_of(call.tool) {
        return file(check, call, touch);
    }
    let tool = today(call.tool);
    let content = |behavior| match tool {
        "WebFetch" => {
            let host = format!("domain:{}", host_of(call.text("url")));
            (check.rules).fitting(behavior, tool, |content| content == host)
        }
        _ => None,
    };
    let rule = |behavior| content(behavior).or_else(|| check.rules.whole(behavior, tool));
    if rule(Behavior::Deny).is_some() {
        let text = format!("Permission to use {} has been denied.", call.tool);
        return Verdict::Denied(Refusal::by_rule(text, "rule"));
    }
    if matches!(tool, "AskUserQuestion" | "ExitPlanMode") {
        let fields = json!({"requires_user_interaction": true});
        return Verdict::Asked(Question::new(not_granted(tool), fields).firm(Firm::Person));
    }
    if let Some(source) = rule(Behavior::Ask) {
        return Verdict::Asked(Question::by_rule(source, tool));
    }
    if let Some(source) = rule(Behavior::Allow) {
        return Verdict::Free(Accepted::by_rule(source));
    }
    let own = match tool {
        "WebFetch" => Some(format!("domain:{}", host_of(call.text("url")))),
        _ => None,
    };
    let offers: Vec<Rule> = Rule::new(tool, own.as_deref()).into_iter().collect();
    match tool {
        _ if tool.starts_with("mcp__") => {
            Verdict::Asked(Question::wanted(tool, &offers).with("server_policy_ask_only", true))
        }
        "WebSearch" | "WebFetch" => Verdict::Asked(Question::wanted(tool, &offers)),
        _ => Verdict::Free(Accepted::ALWAYS),
    }
}

/// The host of a URL, without port and user.
fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
    let host = authority.rsplit('@').next().unwrap_or("");
    match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or(""),
        None => host.split(':').next().unwrap_or(""),
    }
}

fn file(check: &Check<'_>, call: &Call<'_>, touch: Touch) -> Verdict {
    let path = target(check.places, call);
    let rule = |behavior| {
        let whole = check.rules.whole(behavior, call.tool);
        whole.or_else(|| check.path_rule(behavior, touch, &path))
    };
    let unreadable = || check.path_rule(Behavior::Deny, Touch::Read, &path);
    // What may not be read may not be changed either.
    if rule(Behavior::Deny).or_else(unreadable).is_some() {
        let text = "File is in a directory that is denied by your permission settings.";
        return Verdict::Denied(Refusal::by_path(text));
    }
    if let Some(source) = rule(Behavior::Ask) {
        let mut asked = Question::by_rule(source, call.tool);
        asked.message = wanted(touch, &path);
        return Verdict::Asked(asked);
    }
    let inside = check.is_inside(&path);
    if touch == Touch::Write {
        if check.places.is_plan(&path) {
            return Verdict::Free(Accepted::OWN_FILE);
        }
        if let Some(reason) = check.places.touchy(&path) {
            let asked = Question::because(&reason, "safetyCheck", edit_offers(check, &path));
            let asked = asked.firm(Firm::Safety);
            return Verdict::Asked(asked.with("classifier_approvable", true));
        }
    }
    if let Some(source) = rule(Behavior::Allow) {
        return Verdict::Free(Accepted::by_rule(source));
    }
    let own = touch == Touch::Read && check.places.is_plan(&path);
    if own || inside && (touch == Touch::Read || check.edits_free) {
        return Verdict::Free(Accepted::MODE);
    }
    let offers = match touch {
        Touch::Read => suggest_reading(&check.places.folder_of(&path))
            .into_iter()
            .collect(),
        Touch::Write => edit_offers(check, &path),
    };
    let fields = json!({"permission_suggestions": offers});
    let mut asked = Question::new(wanted(touch, &path), fields);
    if !inside {
        asked.fields["decision_reason"] = "Path is outside allowed working directories".into();
        asked.fields["decision_reason_type"] = "workingDir".into();
    }
    Verdict::Asked(asked.with("server_policy_ask_only", true))
}

fn wanted(touch: Touch, path: &Path) -> String {
    let doing = match touch {
        Touch::Read => "read from",
        Touch::Write => "write to",
    };
    let path = path.display();
    format!("Claude requested permissions to {doing} {path}, but you haven't granted it yet.")
}

fn edit_offers(check: &Check<'_>, path: &Path) -> Vec<Value> {
    let edits = check.offers_edits.then(suggest_edits);
    let folder = path.parent().filter(|_| !check.is_inside(path));
    edits
        .into_iter()
        .chain(folder.map(suggest_folder))
        .collect()
}

/// A question with what is shown of its call.
pub(super) fn shown(places: &Places, call: &Call<'_>, mut fields: Value) -> Value {
    fields["display_name"] = display_name(call.tool).into();
    let description = match call.tool {
        "Bash" if call.text("description").is_empty() => call.text("command").to_owned(),
        "Bash" | "Monitor" | "Task" | "Agent" => call.text("description").to_owned(),
        "WebFetch" => call.text("url").to_owned(),
        "WebSearch" => call.text("query").to_owned(),
        tool if touch_of(tool).is_some() => places.shown(&target(places, call)),
        _ => String::new(),
    };
    if !description.is_empty() {
        fields["description"] = description.into();
    }
    if let Some(mcp) = call.mcp {
        fields["mcp_server"] = json!({"name": mcp.server, "source": "sdk"});
    }
    fields
}

/// The name a call is shown under: `mcp__srv__multi_word` is `Multi Word`.
fn display_name(tool: &str) -> String {
    let Some(rest) = tool.strip_prefix("mcp__") else {
        return today(tool).to_owned();
    };
    let name = rest.split_once("__").map_or(rest, |(_, name)| name);
    name.split('_')
        .map(capitalised)
        .collect::<Vec<_>>()
        .join(" ")
}

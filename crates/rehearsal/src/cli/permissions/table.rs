//! The measured table: every row of `measured.jsonl` is a call that was put to the real CLI 2.1.325, and what it did.
//! Calls that are decided otherwise here (they are asked about, or in other words) have no row.
//!
//! Owns the ground the rows stand on (the folders and links of the sandbox, under `/base`) and the comparison. Long
//! texts are compared by their first words: they are the CLI's prose, not its behaviour. A line with `session` says how
//! the CLI was started; the lines below it were put to it one after the other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::super::source::Source;
use super::paths::Places;
use super::{Decision, Mcp, Permit, Prompts, Setup, Wish, World};

const ROWS: &str = include_str!("measured.jsonl");

/// The disk of the sandbox, by heart.
#[derive(Debug, Clone)]
pub(super) struct Ground {
    dirs: Vec<PathBuf>,
    files: Vec<PathBuf>,
    links: BTreeMap<PathBuf, PathBuf>,
}

impl Ground {
    pub(super) fn standard() -> Self {
        let dirs = [
            "/",
            "/etc",
            "/usr",
            "/usr/lib",
            "/usr/local",
            "/usr/local/bin",
            "/tmp",
            "/var",
            "/var/log",
            "/home",
            "/dev",
            "/proc",
            "/opt",
            "/base",
            "/base/home",
            "/base/home/.claude",
            "/base/project",
            "/base/project/.git",
            "/base/project/.git/hooks",
            "/base/project/src",
            "/base/project/sub",
            "/base/project/sub/deep",
        ];
        let files = [
            "/etc/passwd",
            "/etc/hosts",
            "/base/project/notes.txt",
            "/base/project/src/a.rs",
        ];
        let links = [
            ("/base/project/link", "/etc/passwd"),
            ("/base/project/linkdir", "/etc"),
        ];
        Ground {
            dirs: dirs.map(PathBuf::from).to_vec(),
            files: files.map(PathBuf::from).to_vec(),
            links: links
                .map(|(link, target)| (link.into(), target.into()))
                .into(),
        }
    }

    pub(super) fn places(self) -> Places {
        Places {
            root: "/base/project".into(),
            home: "/base/home".into(),
            config_dir: "/base/home/.claude".into(),
            plan_file: None,
            world: Box::new(self),
        }
    }
}

impl World for Ground {
    fn is_dir(&self, path: &Path) -> bool {
        self.dirs.iter().any(|dir| dir == path)
            || self
                .links
                .get(path)
                .is_some_and(|target| self.is_dir(target))
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        for (link, target) in &self.links {
            if let Ok(rest) = path.strip_prefix(link) {
                let real = if rest.as_os_str().is_empty() {
                    target.clone()
                } else {
                    target.join(rest)
                };
                return self.real(&real);
            }
        }
        let there = self
            .dirs
            .iter()
            .chain(&self.files)
            .any(|known| known == path);
        there.then(|| path.to_owned())
    }
}

fn texts(value: &Value) -> Vec<String> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|text| Some(text.as_str()?.to_owned()))
        .collect()
}

fn permit(row: &Value) -> Permit {
    let settings = row["settings"].as_object().into_iter().flatten();
    let mut permit = Permit::new(Setup {
        mode: row["mode"].as_str().map(str::to_owned),
        bypass_allowed: row["bypass_allowed"] == true,
        prompts: match row["prompts"].as_str() {
            Some("nobody") => Prompts::Nobody,
            Some("off") => Prompts::Off,
            _ => Prompts::Host,
        },
        cwd: "/base/project".into(),
        home: "/base/home".into(),
        config_dir: "/base/home/.claude".into(),
        dirs: texts(&row["dirs"]).into_iter().map(PathBuf::from).collect(),
        allowed: texts(&row["allowed"]),
        disallowed: texts(&row["disallowed"]),
        settings: settings
            .map(|(name, value)| (Source::named(name).unwrap(), value.clone()))
            .collect(),
        trusted: false,
        plan_file: row["plan_file"].as_str().map(PathBuf::from),
        world: Box::new(Ground::standard()),
    });
    for mode in texts(&row["then_modes"]) {
        permit.set_mode(&mode).unwrap();
    }
    permit
}

/// Texts over 100 bytes count by their first eight words.
fn cut(value: Value) -> Value {
    match value {
        Value::String(text) if text.len() > 100 => {
            let words: Vec<&str> = text.split_whitespace().take(8).collect();
            Value::String(format!("{}…", words.join(" ")))
        }
        Value::Array(items) => items.into_iter().map(cut).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(key, value)| (key, cut(value)))
            .collect(),
        other => other,
    }
}

fn outcome(decision: &Decision) -> Value {
    match decision {
        Decision::Run(accepted) => json!({"run": [accepted.source, accepted.reason_type]}),
        Decision::Ask(fields) => json!({"ask": fields}),
        Decision::Refuse(refusal) => {
            let mut told = json!({"text": refusal.text, "meta": refusal.meta()});
            if let Some(event) = &refusal.event {
                told["event"] = event.clone();
            }
            json!({"refuse": told})
        }
    }
}

fn decided(permit: &Permit, row: &Value, input: &Value) -> Decision {
    let shell = row["shell"].as_str().map(Path::new);
    let mcp = row["mcp"].as_object().map(|mcp| Mcp {
        server: mcp["server"].as_str().unwrap(),
        source: mcp["source"].as_str().unwrap(),
        read_only: mcp["read_only"] == true,
    });
    let wish = Wish {
        tool: row["tool"].as_str().unwrap(),
        input,
        shell_cwd: shell,
        mcp,
    };
    match row["hook"]["permissionDecision"].as_str() {
        Some("ask") => permit.ask_because(&wish, row["hook"]["permissionDecisionReason"].as_str()),
        Some("allow") => permit.hook_allows(&wish),
        _ => permit.decide(&wish),
    }
}

/// An offer as it is written in the table: `["edits"]`, `["dir", PATH]`, `["rules", DESTINATION, [TOOL, CONTENT]…]`.
fn offer(short: &Value) -> Value {
    match short[0].as_str() {
        Some("edits") => {
            json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"})
        }
        Some("dir") => {
            json!({"type": "addDirectories", "directories": [short[1]], "destination": "session"})
        }
        _ => {
            let rules = short.as_array().unwrap()[2..]
                .iter()
                .map(|rule| match rule.get(1) {
                    None => json!({"toolName": rule[0]}),
                    Some(content) => json!({"toolName": rule[0], "ruleContent": content}),
                });
            let rules: Vec<Value> = rules.collect();
            json!({"type": "addRules", "rules": rules, "behavior": "allow", "destination": short[1]})
        }
    }
}

/// A row with `sh` is a call of `Bash` with that command and the description `D`.
fn spelled(mut row: Value) -> Value {
    if row.get("expect").is_none() {
        return row;
    }
    let input = |command: &Value| json!({"command": command, "description": "D"});
    if let Some(command) = row.get("sh").cloned() {
        row["tool"] = "Bash".into();
        row["input"] = input(&command);
        if let Some(settled) = row.get("settled").cloned() {
            row["settled"] = input(&settled);
        }
    }
    let shell = row.get("sh").is_some();
    let ask = row["expect"].get_mut("ask").and_then(Value::as_object_mut);
    if let Some(ask) = ask {
        if let Some(offers) = ask.remove("offers") {
            let offers = offers.as_array().unwrap().iter().map(offer).collect();
            ask.insert("permission_suggestions".into(), Value::Array(offers));
        }
        if shell {
            ask.insert("display_name".into(), "Bash".into());
            ask.insert("description".into(), "D".into());
        }
    }
    row
}

/// What is wrong with a row, if anything.
fn difference(permit: &mut Permit, row: &Value) -> Option<String> {
    if let Some(expected) = row.get("listing") {
        let found = permit.listing();
        return (found != *expected)
            .then(|| format!("listing\n   real: {expected}\n   ours: {found}"));
    }
    let shell = row["shell"].as_str().map(Path::new);
    let input = permit.settle(row["tool"].as_str().unwrap(), row["input"].clone(), shell);
    let settled = row.get("settled").unwrap_or(&row["input"]);
    let found = cut(outcome(&decided(permit, row, &input)));
    let expected = &row["expect"];
    if row["tool"] == "EnterPlanMode" && row["expect"].get("run").is_some() {
        permit.enter_plan();
    }
    if let Some(updates) = row["apply"].as_array() {
        permit.apply(updates);
    }
    if found == *expected && input == *settled {
        return None;
    }
    Some(format!(
        "{} {}\n   real: {expected} {settled}\n   ours: {found} {input}",
        row["tool"], row["input"]
    ))
}

#[test]
fn every_measured_call_is_decided_as_the_real_cli_does() {
    let mut session: Option<(String, Permit)> = None;
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in ROWS.lines().filter(|line| !line.is_empty()) {
        let row = spelled(serde_json::from_str(line).unwrap());
        if let Some(name) = row["session"].as_str() {
            session = Some((name.to_owned(), permit(&row)));
            continue;
        }
        let (name, permit) = session.as_mut().unwrap();
        count += 1;
        wrong.extend(difference(permit, &row).map(|text| format!("[{name}] {text}")));
    }
    assert!(count > 2300, "only {count} rows were read");
    assert!(
        wrong.is_empty(),
        "{} of {count} rows differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

//! What `list_permission_rules` answers.

use serde_json::{Map, Value, json};

use super::super::source::Source;
use super::Permit;
use super::rules::Entry;

impl Permit {
    /// The answer to `list_permission_rules`.
    pub(in crate::cli) fn listing(&self) -> Value {
        let rules: Vec<Value> = self.rules.listed().map(row).collect();
        let folders: Vec<Value> = self
            .folders
            .iter()
            .map(|(path, source)| json!({"path": path.to_string_lossy(), "source": folder_source(*source)}))
            .collect();
        json!({"state": {
            "rules": rules,
            "workspaceDirectories": folders,
            "originalCwd": self.places.root.to_string_lossy(),
            "managedOnly": false,
        }})
    }
}

fn row(entry: &Entry) -> Value {
    let mut row = Map::new();
    row.insert("behavior".into(), entry.behavior.name().into());
    row.insert("source".into(), entry.source.name().into());
    row.insert("rule".into(), entry.rule.text().into());
    if let Some(description) = entry.rule.description() {
        row.insert("description".into(), description);
    }
    let editability = match entry.source {
        Source::User | Source::Project | Source::Local => "persistent",
        Source::Flag | Source::Policy => "readonly",
        Source::CliArg | Source::Session => "session",
    };
    row.insert("editability".into(), editability.into());
    Value::Object(row)
}

/// Folders of any settings file are told as those of the local one.
fn folder_source(source: Source) -> &'static str {
    match source {
        Source::CliArg | Source::Session => source.name(),
        _ => Source::Local.name(),
    }
}

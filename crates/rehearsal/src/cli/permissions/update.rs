//! Updates of permissions: what an answer of the host changes, and what of it lasts.
//!
//! Invariant: a list with one entry that cannot be read changes nothing, as measured; and no update reaches
//! `bypassPermissions` in a session that was not launched for it.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::Permissions;
use super::decision::named_mode;
use super::rule::{Behavior, Rule};
use crate::cli::source::{SettingsChange, SettingsEdit, Source};

/// One update, read.
struct Update {
    source: Source,
    kind: Kind,
}

enum Kind {
    Mode(&'static str),
    Folders(Vec<String>, Change),
    Rules(Behavior, Vec<Rule>, Change),
}

#[derive(Clone, Copy, PartialEq)]
enum Change {
    Add,
    Remove,
    Replace,
}

impl Update {
    fn read(update: &Value) -> Option<Self> {
        let source = Source::named(update["destination"].as_str()?)?;
        let (change, what) = match update["type"].as_str()? {
            "setMode" => (Change::Replace, "mode"),
            "addDirectories" => (Change::Add, "folders"),
            "removeDirectories" => (Change::Remove, "folders"),
            "addRules" => (Change::Add, "rules"),
            "removeRules" => (Change::Remove, "rules"),
            "replaceRules" => (Change::Replace, "rules"),
            _ => return None,
        };
        let kind = match what {
            "mode" => Kind::Mode(named_mode(update["mode"].as_str()?)?),
            "folders" => {
                let folders = update["directories"].as_array()?.iter();
                let folders = folders.map(|folder| Some(folder.as_str()?.to_owned()));
                Kind::Folders(folders.collect::<Option<_>>()?, change)
            }
            _ => {
                let behavior = Behavior::named(update["behavior"].as_str()?)?;
                Kind::Rules(behavior, rules(&update["rules"])?, change)
            }
        };
        let writable = !matches!(source, Source::Flag | Source::Policy);
        writable.then_some(Update { source, kind })
    }
}

/// The rules; one with a name that no tool can have is left out, one without a name is not a rule.
fn rules(list: &Value) -> Option<Vec<Rule>> {
    let mut rules = Vec::new();
    for rule in list.as_array()? {
        let content = match rule.get("ruleContent") {
            None => None,
            Some(content) => Some(content.as_str()?),
        };
        rules.extend(Rule::new(rule["toolName"].as_str()?, content));
    }
    Some(rules)
}

impl Permissions {
    /// Applies the updates of an answer; gives back what is to be written to the settings files.
    pub(in crate::cli) fn apply(&mut self, updates: &[Value]) -> Vec<SettingsEdit> {
        let Some(updates) = updates.iter().map(Update::read).collect::<Option<Vec<_>>>() else {
            return Vec::new();
        };
        let mut edits = Vec::new();
        for update in updates {
            let lasts = matches!(
                update.source,
                Source::User | Source::Project | Source::Local
            );
            edits.extend(self.apply_one(update).filter(|_| lasts));
        }
        edits
    }

    fn apply_one(&mut self, update: Update) -> Option<SettingsEdit> {
        let source = update.source;
        let (key, values, change) = match update.kind {
            Kind::Mode(mode) => {
                self.set_mode(mode).ok()?;
                return Some(SettingsEdit {
                    source,
                    path: ["permissions", "defaultMode"],
                    change: SettingsChange::Set(mode.into()),
                });
            }
            Kind::Folders(folders, change) => {
                let is_named = |path: &PathBuf| folders.iter().any(|name| *path == *name);
                self.folders.retain(|(path, _)| !is_named(path));
                if change == Change::Add {
                    let added = folders.iter().map(|folder| (PathBuf::from(folder), source));
                    self.folders.extend(added);
                }
                ("additionalDirectories", folders, change)
            }
            Kind::Rules(behavior, rules, change) => {
                if change == Change::Replace {
                    self.rules.clear(source, behavior);
                }
                let texts = rules.iter().map(Rule::text).collect();
                for rule in rules {
                    match change {
                        Change::Remove => self.rules.remove(source, behavior, &rule),
                        _ => self.rules.add(source, behavior, rule),
                    }
                }
                (behavior.name(), texts, change)
            }
        };
        Some(SettingsEdit {
            source,
            path: ["permissions", key],
            change: match change {
                Change::Add => SettingsChange::Add(values),
                Change::Remove => SettingsChange::Remove(values),
                Change::Replace => SettingsChange::Set(values.into()),
            },
        })
    }

    /// Answers `list_permission_rules`.
    pub(in crate::cli) fn listing(&self) -> Value {
        let folders = self.folders.iter().map(|(path, source)| {
            // Folders of any settings file are told as those of the local one.
            let source = match source {
                Source::CliArg | Source::Session => source.name(),
                _ => Source::Local.name(),
            };
            json!({"path": path.to_string_lossy(), "source": source})
        });
        json!({"state": {
            "rules": self.rules.listed(),
            "workspaceDirectories": folders.collect::<Vec<_>>(),
            "originalCwd": self.places.root.to_string_lossy(),
            "managedOnly": false,
        }})
    }
}

//! Updates of permissions: what an answer of the host changes, and what of it lasts.
//!
//! Owns reading the updates and applying them. Invariant: a list with one entry that cannot be read changes nothing, as
//! measured; and no update reaches `bypassPermissions` in a session that was not launched for it.

use std::path::PathBuf;

use serde_json::Value;

use super::super::source::{SettingsEdit, Source};
use super::Permit;
use super::mode;
use super::rule::{Behavior, Rule};

/// What an answer changed.
#[derive(Debug, Default, PartialEq)]
pub(in crate::cli) struct Applied {
    /// The mode is another one now.
    pub(in crate::cli) mode_changed: bool,
    /// What is to be written to the settings files.
    pub(in crate::cli) edits: Vec<SettingsEdit>,
}

enum Update {
    Add(Source, Behavior, Vec<Rule>),
    Replace(Source, Behavior, Vec<Rule>),
    Remove(Source, Behavior, Vec<Rule>),
    Mode(Source, &'static str),
    AddFolders(Source, Vec<String>),
    RemoveFolders(Source, Vec<String>),
}

impl Update {
    fn read(update: &Value) -> Option<Self> {
        let source = Source::named(update["destination"].as_str()?)?;
        if matches!(source, Source::Flag | Source::Policy) {
            return None;
        }
        let kind = update["type"].as_str()?;
        Some(match kind {
            "setMode" => Update::Mode(source, mode::named(update["mode"].as_str()?)?),
            "addDirectories" => Update::AddFolders(source, texts(&update["directories"])?),
            "removeDirectories" => Update::RemoveFolders(source, texts(&update["directories"])?),
            _ => {
                let behavior = Behavior::named(update["behavior"].as_str()?)?;
                let rules = rules(&update["rules"])?;
                match kind {
                    "addRules" => Update::Add(source, behavior, rules),
                    "replaceRules" => Update::Replace(source, behavior, rules),
                    "removeRules" => Update::Remove(source, behavior, rules),
                    _ => return None,
                }
            }
        })
    }
}

fn texts(list: &Value) -> Option<Vec<String>> {
    list.as_array()?
        .iter()
        .map(|text| Some(text.as_str()?.to_owned()))
        .collect()
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

impl Permit {
    /// Applies the updates of an answer.
    pub(in crate::cli) fn apply(&mut self, updates: &[Value]) -> Applied {
        let Some(updates) = updates.iter().map(Update::read).collect::<Option<Vec<_>>>() else {
            return Applied::default();
        };
        let before = self.mode();
        let mut edits = Vec::new();
        for update in updates {
            edits.extend(self.apply_one(update));
        }
        Applied {
            mode_changed: self.mode() != before,
            edits,
        }
    }

    fn apply_one(&mut self, update: Update) -> Option<SettingsEdit> {
        match update {
            Update::Add(source, behavior, rules) => {
                let values = texts_of(&rules);
                self.add_rules(source, behavior, rules);
                let path = list_of(behavior);
                lasting(source).then_some(SettingsEdit::Add {
                    source,
                    path,
                    values,
                })
            }
            Update::Replace(source, behavior, rules) => {
                let value = texts_of(&rules).into();
                self.rules.clear(source, behavior);
                self.add_rules(source, behavior, rules);
                let path = list_of(behavior);
                lasting(source).then_some(SettingsEdit::Set {
                    source,
                    path,
                    value,
                })
            }
            Update::Remove(source, behavior, rules) => {
                for rule in &rules {
                    self.rules.remove(source, behavior, rule);
                }
                let (path, values) = (list_of(behavior), texts_of(&rules));
                lasting(source).then_some(SettingsEdit::Remove {
                    source,
                    path,
                    values,
                })
            }
            Update::Mode(source, mode) => self.apply_mode(source, mode),
            Update::AddFolders(source, values) => {
                self.add_folders(source, &values);
                let path = FOLDERS;
                lasting(source).then_some(SettingsEdit::Add {
                    source,
                    path,
                    values,
                })
            }
            Update::RemoveFolders(source, values) => {
                self.remove_folders(&values);
                let path = FOLDERS;
                lasting(source).then_some(SettingsEdit::Remove {
                    source,
                    path,
                    values,
                })
            }
        }
    }

    fn add_folders(&mut self, source: Source, folders: &[String]) {
        for folder in folders {
            let entry = (PathBuf::from(folder), source);
            if !self.folders.contains(&entry) {
                self.folders.push(entry);
            }
        }
    }

    fn remove_folders(&mut self, folders: &[String]) {
        let named = |path: &PathBuf| {
            folders
                .iter()
                .any(|folder| path.as_os_str() == folder.as_str())
        };
        self.folders.retain(|(path, _)| !named(path));
    }

    fn add_rules(&mut self, source: Source, behavior: Behavior, rules: Vec<Rule>) {
        for rule in rules {
            self.rules.add(source, behavior, rule);
        }
    }

    fn apply_mode(&mut self, source: Source, mode: &'static str) -> Option<SettingsEdit> {
        self.set_mode(mode).ok()?;
        self.plan_by_update = mode == "plan";
        self.refresh();
        let path = ["permissions", "defaultMode"];
        lasting(source).then(|| SettingsEdit::Set {
            source,
            path,
            value: mode.into(),
        })
    }
}

fn texts_of(rules: &[Rule]) -> Vec<String> {
    rules.iter().map(Rule::text).collect()
}

const FOLDERS: [&str; 2] = ["permissions", "additionalDirectories"];

fn list_of(behavior: Behavior) -> [&'static str; 2] {
    ["permissions", behavior.name()]
}

/// Whether what is meant for this place is written to a file.
fn lasting(source: Source) -> bool {
    matches!(source, Source::User | Source::Project | Source::Local)
}

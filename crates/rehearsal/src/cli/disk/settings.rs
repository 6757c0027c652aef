//! The settings of a run: one object a source, and what they come to together.
//!
//! Owns loading and merging; what a setting means is known elsewhere, and files are changed in `edit`. Invariants:
//! later sources win; a file with an error in it counts as absent.

use serde_json::{Map, Value, json};

use super::files;
use super::places::Places;
use crate::cli::source::Source;

/// Which settings files are read: `--setting-sources`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) struct Chosen {
    user: bool,
    project: bool,
    local: bool,
}

impl Chosen {
    pub(in crate::cli) const ALL: Self = Self {
        user: true,
        project: true,
        local: true,
    };

    /// Reads the flag: names with commas between them, or nothing for none.
    pub(in crate::cli) fn parse(flag: &str) -> Self {
        let named = |wanted: &str| flag.split(',').any(|name| name.trim() == wanted);
        Self {
            user: named("user"),
            project: named("project"),
            local: named("local"),
        }
    }

    pub(in crate::cli) fn has(self, source: Source) -> bool {
        match source {
            Source::User => self.user,
            Source::Project => self.project,
            Source::Local => self.local,
            _ => true,
        }
    }
}

/// The settings of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::cli) struct Settings {
    /// One object a source that has any, in the order in which later ones win.
    pub(in crate::cli) sources: Vec<(Source, Value)>,
}

/// The sources that have a file, in the order in which later ones win; the flag stands before the policy.
const FILES: [Source; 3] = [Source::User, Source::Project, Source::Local];

impl Settings {
    /// Reads the files that were chosen, then `--settings` and `--managed-settings`, both as JSON: the latter in place of the
    /// administrator's file.
    pub(in crate::cli) fn load(
        places: &Places,
        chosen: Chosen,
        flag: Option<&str>,
        managed: Option<&str>,
    ) -> Self {
        let mut settings = Self::default();
        for source in FILES.into_iter().filter(|source| chosen.has(*source)) {
            settings.add_file(source, places);
        }
        for (source, flag) in [(Source::Flag, flag), (Source::Policy, managed)] {
            match flag {
                Some(text) => settings.add_text(source, text),
                None => settings.add_file(source, places),
            }
        }
        settings
    }

    /// The settings of one source.
    pub(in crate::cli) fn of(&self, source: Source) -> Option<&Value> {
        let found = self.sources.iter().find(|(known, _)| *known == source);
        found.map(|(_, value)| value)
    }

    /// Adds to the settings of the flag: `apply_flag_settings`. A `null` changes nothing.
    pub(in crate::cli) fn apply_flag(&mut self, settings: Value) {
        let flag = (self.sources.iter()).position(|(source, _)| *source == Source::Flag);
        let index = flag.unwrap_or_else(|| {
            let before = |source: &Source| *source != Source::Policy;
            let index = self
                .sources
                .iter()
                .take_while(|(source, _)| before(source))
                .count();
            self.sources.insert(index, (Source::Flag, json!({})));
            index
        });
        merge(&mut self.sources[index].1, settings);
    }

    /// What all sources come to: objects are merged, lists are joined without repeats, the last of other values wins.
    pub(in crate::cli) fn effective(&self) -> Value {
        let mut all = json!({});
        for (_, settings) in &self.sources {
            merge(&mut all, settings.clone());
        }
        all
    }

    /// The reply to `get_settings`. What the session makes of the settings is not known here.
    pub(in crate::cli) fn report(&self, applied: Value) -> Value {
        let source = |(source, settings): &(Source, Value)| json!({"source": source.name(), "settings": settings});
        let sources: Vec<Value> = self.sources.iter().map(source).collect();
        json!({"effective": self.effective(), "sources": sources, "applied": applied})
    }

    fn add_file(&mut self, source: Source, places: &Places) {
        let file = places.settings(source);
        let content = file.and_then(|file| files::read(&file).ok().flatten());
        content.iter().for_each(|text| self.add_text(source, text));
    }

    /// What is no object counts as absent.
    fn add_text(&mut self, source: Source, text: &str) {
        let settings = serde_json::from_str::<Value>(text).ok();
        if let Some(settings) = settings.filter(Value::is_object) {
            self.sources.push((source, settings));
        }
    }
}

fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                match into.get_mut(&key) {
                    Some(known) => merge(known, value),
                    None if value.is_null() => {}
                    None => drop(into.insert(key, without_nulls(value))),
                }
            }
        }
        (Value::Array(into), Value::Array(from)) => {
            for item in from {
                if !into.contains(&item) {
                    into.push(item);
                }
            }
        }
        (_, Value::Null) => {}
        (into, from) => *into = from,
    }
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(entries) => {
            let entries = entries.into_iter().filter(|(_, value)| !value.is_null());
            let entries: Map<String, Value> = entries
                .map(|(key, value)| (key, without_nulls(value)))
                .collect();
            Value::Object(entries)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::places_with;
    use super::*;

    const USER: &str = r#"{"model":"opus","permissions":{"allow":["Bash(ls:*)","Read"],"deny":["WebFetch"]},"env":{"A":"1"},"zzz":1}"#;
    const PROJECT: &str = r#"{"permissions":{"allow":["Bash(make:*)","Read"]},"env":{"B":"2"}}"#;

    fn names(settings: &Settings) -> Vec<&str> {
        let sources = settings.sources.iter();
        sources.map(|(source, _)| source.name()).collect()
    }

    #[test]
    fn the_chosen_sources_are_merged_and_the_later_ones_win() {
        let (_root, places) = places_with(&[
            ("conf/settings.json", USER),
            ("project/.claude/settings.json", PROJECT),
        ]);
        let load = |chosen: &str, flag| {
            Settings::load(&places, Chosen::parse(chosen), flag, Some(r#"{"p":1}"#))
        };
        let mut settings = load("user,project,local", Some(r#"{"env":{"A":"4"}}"#));
        let effective = json!({
            "env": {"A": "4", "B": "2"}, "model": "opus", "zzz": 1, "p": 1,
            "permissions": {"allow": ["Bash(ls:*)", "Read", "Bash(make:*)"], "deny": ["WebFetch"]},
        });
        assert_eq!(settings.effective(), effective);
        settings.apply_flag(json!({"model": "haiku", "env": {"C": "5"}, "zzz": null}));
        let report = settings.report(json!({"model": "x"}));
        let effective = &report["effective"];
        assert_eq!(effective["env"], json!({"A": "4", "B": "2", "C": "5"}));
        assert_eq!(
            (&effective["model"], &effective["zzz"]),
            (&json!("haiku"), &json!(1))
        );
        let all = [
            "userSettings",
            "projectSettings",
            "flagSettings",
            "policySettings",
        ];
        assert_eq!(names(&settings), all);
        assert_eq!(names(&load("", None)), ["policySettings"]);
        assert_eq!(names(&load("user", None))[0], "userSettings");
    }

    #[test]
    fn a_broken_file_counts_as_absent() {
        let (_root, places) = places_with(&[
            ("conf/settings.json", "{broken"),
            ("project/.claude/settings.json", "[1]"),
        ]);
        let settings = Settings::load(&places, Chosen::ALL, None, None);
        assert_eq!(names(&settings), [""; 0]);
    }
}

//! The settings of a run: one object a source, and what they come to together.
//!
//! Owns loading and merging; what a setting means is known elsewhere, and files are changed in `edit`. Invariants:
//! later sources win; a file with an error in it counts as absent and is listed with the error.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::files;
use super::places::{Places, text};
use crate::cli::schema::kind;
use crate::cli::source::Source;

/// Which settings files are read: `--setting-sources`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) struct Chosen {
    user: bool,
    project: bool,
    local: bool,
}

/// What is wrong with a flag that names settings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::cli) enum SettingsError {
    /// `--setting-sources` names something else.
    #[error(
        "Error processing --setting-sources: Invalid setting source: {0}. Valid options are: user, project, local"
    )]
    Source(String),
    /// `--settings` is neither an object nor a file.
    #[error("Error: Settings file not found: {}", .0.display())]
    NoFile(PathBuf),
    /// `--settings` is meant as an object and is none.
    #[error("Error: Invalid JSON provided to --settings")]
    NoJson,
}

impl Chosen {
    pub(in crate::cli) const ALL: Self = Self {
        user: true,
        project: true,
        local: true,
    };

    /// Reads the flag: names with commas between them, or nothing for none.
    ///
    /// # Errors
    /// [`SettingsError::Source`] for any other name.
    pub(in crate::cli) fn parse(flag: &str) -> Result<Self, SettingsError> {
        let mut chosen = Self {
            user: false,
            project: false,
            local: false,
        };
        for name in flag
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
        {
            match name {
                "user" => chosen.user = true,
                "project" => chosen.project = true,
                "local" => chosen.local = true,
                other => return Err(SettingsError::Source(other.to_owned())),
            }
        }
        Ok(chosen)
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
    /// What is wrong with files, as `get_settings` tells it.
    faults: Vec<Value>,
}

/// The sources that have a file, in the order in which later ones win; the flag stands before the policy.
const FILES: [Source; 3] = [Source::User, Source::Project, Source::Local];

impl Settings {
    /// Reads the files that were chosen, then `--settings` (an object as text, or a file) and `--managed-settings`
    /// in place of the administrator's file.
    ///
    /// # Errors
    /// When `flag` is neither. A settings file that is broken is no error but a fault, as for the real CLI.
    pub(in crate::cli) fn load(
        places: &Places,
        chosen: Chosen,
        flag: Option<&str>,
        managed: Option<&str>,
    ) -> Result<Self, SettingsError> {
        let mut settings = Self::default();
        for source in FILES.into_iter().filter(|source| chosen.has(*source)) {
            settings.add_file(source, places.settings(source));
        }
        let flags = [(Source::Flag, flag), (Source::Policy, managed)];
        for (source, flag) in flags {
            match flag.map(|flag| flag_text(flag, &places.cwd)) {
                Some(found) => {
                    let (file, content) = found?;
                    settings.add_text(source, &file, &content);
                }
                None => settings.add_file(source, places.settings(source)),
            }
        }
        Ok(settings)
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
        let mut report =
            json!({"effective": self.effective(), "sources": sources, "applied": applied});
        if !self.faults.is_empty() {
            report["errors"] = json!(self.faults);
        }
        report
    }

    fn add_file(&mut self, source: Source, file: Option<PathBuf>) {
        let Some(file) = file else { return };
        match files::read(&file) {
            Ok(None) => {}
            Ok(Some(content)) => self.add_text(source, &file, &content),
            // It is there: what it would forbid must not be passed over in silence.
            Err(_) => self.add_text(source, &file, "unreadable"),
        }
    }

    fn add_text(&mut self, source: Source, file: &Path, content: &str) {
        match checked(content) {
            Ok(settings) => self.sources.push((source, settings)),
            Err((path, message)) => self
                .faults
                .push(json!({"file": text(file), "path": path, "message": message})),
        }
    }
}

/// The text of `--settings` and where it stands: an object in the flag itself, or a file from the working directory.
fn flag_text(flag: &str, cwd: &Path) -> Result<(PathBuf, String), SettingsError> {
    let inline = flag.trim();
    if inline.starts_with('{') && inline.ends_with('}') {
        let object = serde_json::from_str::<Value>(inline).is_ok();
        let place = PathBuf::from("--settings");
        return object
            .then(|| (place, inline.to_owned()))
            .ok_or(SettingsError::NoJson);
    }
    let path = cwd.join(flag);
    match files::read(&path) {
        Ok(Some(content)) => Ok((path, content)),
        _ => Err(SettingsError::NoFile(path)),
    }
}

/// The settings, or the first thing that makes the real CLI drop the file.
fn checked(content: &str) -> Result<Value, (&'static str, String)> {
    // An empty file is what an editor leaves behind, not a mistake.
    let content = match content.trim() {
        "" => "{}",
        content => content,
    };
    let Ok(settings) = serde_json::from_str::<Value>(content) else {
        return Err(("", "Invalid or malformed JSON".to_owned()));
    };
    let rules = &settings["permissions"];
    let places = [
        ("", "object", Some(&settings)),
        ("permissions.allow", "array", rules.get("allow")),
        ("permissions.deny", "array", rules.get("deny")),
        ("permissions.ask", "array", rules.get("ask")),
        (
            "permissions.additionalDirectories",
            "array",
            rules.get("additionalDirectories"),
        ),
        ("model", "string", settings.get("model")),
    ];
    for (path, wanted, value) in places {
        if let Some(value) = value.filter(|value| kind(value) != wanted) {
            let received = kind(value);
            let message = format!("Expected {wanted}, but received {received}");
            return Err((path, message));
        }
    }
    Ok(settings)
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
    use super::*;

    fn home(files: &[(&str, &str)]) -> (tempfile::TempDir, Places) {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("project")).unwrap();
        for (path, content) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let places = Places::at(root.path().join("conf"), root.path().join("project"));
        (root, places)
    }

    const USER: &str = r#"{"model":"opus","permissions":{"allow":["Bash(ls:*)","Read"],"deny":["WebFetch"]},"env":{"A":"1"},"zzz":1}"#;
    const PROJECT: &str = r#"{"permissions":{"allow":["Bash(make:*)","Read"]},"env":{"B":"2"}}"#;

    fn names(settings: &Settings) -> Vec<&str> {
        let sources = settings.sources.iter();
        sources.map(|(source, _)| source.name()).collect()
    }

    #[test]
    fn the_chosen_sources_are_merged_and_the_later_ones_win() {
        let (_root, places) = home(&[
            ("conf/settings.json", USER),
            ("project/.claude/settings.json", PROJECT),
            ("project/f.json", r#"{"env":{"A":"4"}}"#),
        ]);
        let load = |chosen: &str, flag| {
            let chosen = Chosen::parse(chosen).unwrap();
            Settings::load(&places, chosen, flag, Some(r#"{"p":1}"#)).unwrap()
        };
        let mut settings = load("user,project,local", Some("f.json"));
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
        assert_eq!(report.get("errors"), None);
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
    fn what_is_wrong_with_flags_and_files_is_told() {
        assert!(Chosen::parse("user,banana").is_err());
        let (_root, places) = home(&[
            ("conf/settings.json", "{broken"),
            ("project/.claude/settings.json", "[1]"),
            ("project/.claude/settings.local.json", r#"{"model":5}"#),
        ]);
        let load = |flag| Settings::load(&places, Chosen::ALL, flag, None);
        assert_eq!(load(Some(r#"{"a":}"#)), Err(SettingsError::NoJson));
        assert!(matches!(
            load(Some("none.json")),
            Err(SettingsError::NoFile(_))
        ));
        let settings = load(None).unwrap();
        assert_eq!(names(&settings), [""; 0]);
        let report = settings.report(json!({}));
        let errors = report["errors"].as_array().unwrap();
        let messages: Vec<&str> = (errors.iter())
            .map(|error| error["message"].as_str().unwrap())
            .collect();
        let expected = [
            "Invalid or malformed JSON",
            "Expected object, but received array",
            "Expected string, but received number",
        ];
        assert_eq!(
            (messages, &errors[2]["path"]),
            (expected.to_vec(), &json!("model"))
        );
    }
}

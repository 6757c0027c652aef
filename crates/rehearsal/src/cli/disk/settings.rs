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

/// What is wrong with a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Fault {
    file: PathBuf,
    path: &'static str,
    message: String,
}

/// The settings of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::cli) struct Settings {
    /// One object a source that has any, in the order in which later ones win.
    pub(in crate::cli) sources: Vec<(Source, Value)>,
    faults: Vec<Fault>,
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
            let fault = |fault: &Fault| json!({"file": text(&fault.file), "path": fault.path, "message": fault.message});
            report["errors"] = self.faults.iter().map(fault).collect();
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
            Err(faults) => {
                let fault = |(path, message)| Fault {
                    file: file.to_owned(),
                    path,
                    message,
                };
                self.faults.extend(faults.into_iter().map(fault));
            }
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

/// Lists that rules are read from; anything else there makes the real CLI drop the file.
const LISTS: [(&str, &str); 4] = [
    ("allow", "permissions.allow"),
    ("deny", "permissions.deny"),
    ("ask", "permissions.ask"),
    ("additionalDirectories", "permissions.additionalDirectories"),
];

fn checked(content: &str) -> Result<Value, Vec<(&'static str, String)>> {
    // An empty file is what an editor leaves behind, not a mistake.
    let content = if content.trim().is_empty() {
        "{}"
    } else {
        content
    };
    let Ok(settings) = serde_json::from_str::<Value>(content) else {
        return Err(vec![("", "Invalid or malformed JSON".to_owned())]);
    };
    let expected = |path, wanted, value: &Value| {
        let message = format!("Expected {wanted}, but received {}", kind(value));
        (path, message)
    };
    if !settings.is_object() {
        return Err(vec![expected("", "object", &settings)]);
    }
    let mut faults = Vec::new();
    for (key, path) in LISTS {
        match settings["permissions"].get(key) {
            Some(value) if !value.is_array() => faults.push(expected(path, "array", value)),
            _ => {}
        }
    }
    match settings.get("model") {
        Some(value) if !value.is_string() => faults.push(expected("model", "string", value)),
        _ => {}
    }
    if faults.is_empty() {
        Ok(settings)
    } else {
        Err(faults)
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
    use super::*;

    struct Home {
        _root: tempfile::TempDir,
        places: Places,
    }

    fn home(files: &[(&str, &str)]) -> Home {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("project")).unwrap();
        for (path, content) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let places = Places::at(root.path().join("conf"), root.path().join("project"));
        Home {
            places,
            _root: root,
        }
    }

    const FILLED: [(&str, &str); 3] = [
        (
            "conf/settings.json",
            r#"{"model":"opus","permissions":{"allow":["Bash(ls:*)","Read"],"deny":["WebFetch"],"defaultMode":"acceptEdits"},"env":{"A":"1"},"zzz":1}"#,
        ),
        (
            "project/.claude/settings.json",
            r#"{"permissions":{"allow":["Bash(make:*)","Read"],"ask":["Bash(git push:*)"]},"env":{"B":"2"},"hooks":{}}"#,
        ),
        (
            "project/.claude/settings.local.json",
            r#"{"permissions":{"allow":["Bash(npm:*)"],"additionalDirectories":["/tmp"]},"env":{"A":"3"},"outputStyle":"default"}"#,
        ),
    ];

    // The same files gave this on 2.1.325.
    #[test]
    fn sources_are_merged_as_the_real_cli_was_seen_to_do() {
        let home = home(&FILLED);
        let flag = r#"{"cleanupPeriodDays":7,"env":{"A":"4"}}"#;
        let mut settings = Settings::load(&home.places, Chosen::ALL, Some(flag), None).unwrap();
        let permissions = json!({
            "allow": ["Bash(ls:*)", "Read", "Bash(make:*)", "Bash(npm:*)"], "deny": ["WebFetch"],
            "defaultMode": "acceptEdits", "ask": ["Bash(git push:*)"], "additionalDirectories": ["/tmp"],
        });
        let effective = json!({
            "env": {"A": "4", "B": "2"}, "permissions": permissions, "model": "opus", "zzz": 1, "hooks": {},
            "outputStyle": "default", "cleanupPeriodDays": 7,
        });
        assert_eq!(settings.effective(), effective);
        settings.apply_flag(json!({"model": "haiku", "env": {"C": "5"}, "zzz": null}));
        let report = settings.report(json!({"model": "x"}));
        assert_eq!(
            report["effective"]["env"],
            json!({"A": "4", "B": "2", "C": "5"})
        );
        assert_eq!(
            (&report["effective"]["model"], &report["effective"]["zzz"]),
            (&json!("haiku"), &json!(1))
        );
        let sources = [
            "userSettings",
            "projectSettings",
            "localSettings",
            "flagSettings",
        ];
        let named: Vec<&str> = report["sources"]
            .as_array()
            .unwrap()
            .iter()
            .map(|s| s["source"].as_str().unwrap())
            .collect();
        assert_eq!(named, sources);
        assert_eq!(report.get("errors"), None);
    }

    #[test]
    fn only_the_chosen_files_are_read() {
        let home = home(&FILLED);
        let read = |flag| {
            let settings =
                Settings::load(&home.places, Chosen::parse(flag).unwrap(), None, None).unwrap();
            let names = settings.sources.iter().map(|(source, _)| source.name());
            names.collect::<Vec<_>>()
        };
        assert_eq!(read(""), [""; 0]);
        assert_eq!(read("local,user"), ["userSettings", "localSettings"]);
        let refused = Chosen::parse("user,banana").unwrap_err();
        let text = "Error processing --setting-sources: Invalid setting source: banana. Valid options are: user, project, local";
        assert_eq!(refused.to_string(), text);
    }

    #[test]
    fn a_flag_is_an_object_or_a_file_from_the_working_directory() {
        let home = home(&[("project/f.json", r#"{"model":"opus"}"#)]);
        let load = |flag| Settings::load(&home.places, Chosen::ALL, Some(flag), None);
        assert_eq!(
            load("f.json").unwrap().of(Source::Flag),
            Some(&json!({"model": "opus"}))
        );
        assert_eq!(load(r#"{"a":}"#).unwrap_err(), SettingsError::NoJson);
        let faulty = load(r#"{"model":5}"#).unwrap();
        assert_eq!(faulty.of(Source::Flag), None);
        assert_eq!(faulty.report(json!({}))["errors"][0]["path"], "model");
        assert_eq!(
            load("{broken").unwrap_err(),
            SettingsError::NoFile(home.places.cwd.join("{broken"))
        );
        let managed = Settings::load(&home.places, Chosen::ALL, None, Some(r#"{"a":1}"#)).unwrap();
        assert_eq!(managed.of(Source::Policy), Some(&json!({"a": 1})));
    }

    #[test]
    fn a_broken_file_counts_as_absent_and_is_named() {
        let home = home(&[
            ("conf/settings.json", "{broken"),
            ("project/.claude/settings.json", "[1]"),
            (
                "project/.claude/settings.local.json",
                r#"{"permissions":{"allow":"x"},"model":5}"#,
            ),
        ]);
        let settings = Settings::load(&home.places, Chosen::ALL, None, None).unwrap();
        assert_eq!(settings.sources, []);
        let report = settings.report(json!({}));
        let errors: Vec<String> = (report["errors"].as_array().unwrap().iter())
            .map(|error| {
                format!(
                    "{}: {}",
                    error["path"].as_str().unwrap(),
                    error["message"].as_str().unwrap()
                )
            })
            .collect();
        let expected = [
            ": Invalid or malformed JSON",
            ": Expected object, but received array",
            "permissions.allow: Expected array, but received string",
            "model: Expected string, but received number",
        ];
        assert_eq!(errors, expected);
    }
}

//! Carries out lasting changes of settings: reads the file, changes one place, puts it back.
//!
//! Owns the change and nothing of its meaning. Invariants: every other key stays as it was; a file that cannot be
//! understood is not touched.

use serde_json::{Value, json};

use super::files::{self, Mode};
use super::places::Places;
use crate::cli::source::{SettingsChange, SettingsEdit, Source};

/// Makes a change, in a new file if there is none. Does nothing where the source has no file, or one that is broken.
///
/// # Errors
/// When the file cannot be read or written; it is then as it was.
pub(in crate::cli) fn carry_out(places: &Places, edit: &SettingsEdit) -> std::io::Result<()> {
    let writable = matches!(edit.source, Source::User | Source::Project | Source::Local);
    let Some(file) = writable.then(|| places.settings(edit.source)).flatten() else {
        return Ok(());
    };
    let old = files::read(&file)?.filter(|old| !old.trim().is_empty());
    let old: Option<Value> = serde_json::from_str(old.as_deref().unwrap_or("{}")).ok();
    let Some(mut settings) = old.filter(Value::is_object) else {
        return Ok(());
    };
    let [outer, inner] = edit.path;
    let before = settings[outer][inner]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let mut list = before.clone();
    let value = match &edit.change {
        SettingsChange::Add(values) => {
            let new = values.iter().map(|value| json!(value));
            list.extend(new.filter(|value| !before.contains(value)));
            list.into()
        }
        SettingsChange::Remove(values) => {
            list.retain(|item| !values.iter().any(|value| item == value.as_str()));
            list.into()
        }
        SettingsChange::Set(value) => value.clone(),
    };
    if value == Value::Array(before) {
        return Ok(());
    }
    if !settings[outer].is_object() {
        settings[outer] = json!({});
    }
    settings[outer][inner] = value;
    files::replace(&file, format!("{settings:#}\n").as_bytes(), Mode::Shared)
}

#[cfg(test)]
mod tests {
    use super::super::tests::places_with;
    use super::*;

    #[test]
    fn a_change_is_made_in_its_place_and_what_changes_nothing_writes_nothing() {
        let (_root, places) = places_with(&[]);
        let file = places.settings(Source::Local).unwrap();
        let read = || std::fs::read_to_string(&file).unwrap();
        let values = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
        let change = |key, change| {
            let edit = SettingsEdit {
                source: Source::Local,
                path: ["permissions", key],
                change,
            };
            carry_out(&places, &edit).unwrap();
        };
        let add = |rules: &[&str]| change("allow", SettingsChange::Add(values(rules)));
        let remove = || change("allow", SettingsChange::Remove(values(&["Read"])));
        remove();
        assert!(!file.exists());
        add(&["Read"]);
        let written = "{\n  \"permissions\": {\n    \"allow\": [\n      \"Read\"\n    ]\n  }\n}\n";
        assert_eq!(read(), written);
        let old = r#"{"zzz":1,"permissions":{"allow":["Read"],"deny":[]}}"#;
        std::fs::write(&file, old).unwrap();
        add(&["Read"]);
        assert_eq!(read(), old);
        add(&["Write", "Read"]);
        remove();
        change("defaultMode", SettingsChange::Set("plan".into()));
        let expected = json!({"zzz": 1, "permissions": {"allow": ["Write"], "deny": [], "defaultMode": "plan"}});
        assert_eq!(serde_json::from_str::<Value>(&read()).unwrap(), expected);
        std::fs::write(&file, "{oops").unwrap();
        add(&["Read"]);
        assert_eq!(read(), "{oops");
    }
}

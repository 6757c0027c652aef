//! Carries out lasting changes of settings: reads the file, changes one place, puts it back.
//!
//! Owns the change and nothing of its meaning. Invariants: every other key stays as it was; a file that cannot be
//! understood is not touched.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::files::{self, Mode};
use super::places::Places;
use crate::cli::source::{SettingsEdit, Source};

/// Why a change was not made.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum EditError {
    /// The source is not a file.
    #[error("{} are not kept in a file: choose userSettings, projectSettings or localSettings", .0.name())]
    NoFile(Source),
    /// The file holds something else than an object.
    #[error("{} is not a JSON object and is left as it is: mend it, then try again", .0.display())]
    Broken(PathBuf),
    /// The file cannot be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Makes a change, in a new file if there is none.
///
/// # Errors
/// See [`EditError`]; the file is then as it was.
pub(in crate::cli) fn carry_out(places: &Places, edit: &SettingsEdit) -> Result<(), EditError> {
    let (SettingsEdit::Add { source, path, .. }
    | SettingsEdit::Remove { source, path, .. }
    | SettingsEdit::Set { source, path, .. }) = edit;
    let writable = matches!(source, Source::User | Source::Project | Source::Local);
    let file = writable.then(|| places.settings(*source)).flatten();
    let file = file.ok_or(EditError::NoFile(*source))?;
    let old = files::read(&file)?.filter(|old| !old.trim().is_empty());
    let old: Option<Value> = serde_json::from_str(old.as_deref().unwrap_or("{}")).ok();
    let Some(old) = old.filter(Value::is_object) else {
        return Err(EditError::Broken(file));
    };
    let mut list: Vec<Value> = match &old[path[0]][path[1]] {
        Value::Array(list) => list.clone(),
        _ => Vec::new(),
    };
    let before = list.clone();
    let value = match edit {
        SettingsEdit::Add { values, .. } => {
            let new = values.iter().map(|value| json!(value));
            list.extend(new.filter(|value| !before.contains(value)));
            list.into()
        }
        SettingsEdit::Remove { values, .. } => {
            list.retain(|item| !values.iter().any(|value| item == value.as_str()));
            list.into()
        }
        SettingsEdit::Set { value, .. } => value.clone(),
    };
    if value == Value::Array(before) {
        return Ok(());
    }
    let mut new = old;
    if !new[path[0]].is_object() {
        new[path[0]] = json!({});
    }
    new[path[0]][path[1]] = value;
    Ok(files::replace(
        &file,
        format!("{new:#}\n").as_bytes(),
        Mode::Shared,
    )?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOW: [&str; 2] = ["permissions", "allow"];

    #[test]
    fn a_change_is_made_in_its_place_and_what_changes_nothing_writes_nothing() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("project")).unwrap();
        let places = Places::at(root.path().join("conf"), root.path().join("project"));
        let file = places.settings(Source::Local).unwrap();
        let read = || std::fs::read_to_string(&file).unwrap();
        let source = Source::Local;
        let values = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
        let add = |source, rules: &[&str]| SettingsEdit::Add {
            source,
            path: ALLOW,
            values: values(rules),
        };
        let remove = SettingsEdit::Remove {
            source,
            path: ALLOW,
            values: values(&["Read"]),
        };
        carry_out(&places, &remove).unwrap();
        assert!(!file.exists());
        carry_out(&places, &add(source, &["Read"])).unwrap();
        let written = "{\n  \"permissions\": {\n    \"allow\": [\n      \"Read\"\n    ]\n  }\n}\n";
        assert_eq!(read(), written);
        let old = r#"{"zzz":1,"permissions":{"allow":["Read"],"deny":[]}}"#;
        std::fs::write(&file, old).unwrap();
        carry_out(&places, &add(source, &["Read"])).unwrap();
        assert_eq!(read(), old);
        carry_out(&places, &add(source, &["Write", "Read"])).unwrap();
        carry_out(&places, &remove).unwrap();
        let set = SettingsEdit::Set {
            source,
            path: ["permissions", "defaultMode"],
            value: "plan".into(),
        };
        carry_out(&places, &set).unwrap();
        let expected = json!({"zzz": 1, "permissions": {"allow": ["Write"], "deny": [], "defaultMode": "plan"}});
        assert_eq!(serde_json::from_str::<Value>(&read()).unwrap(), expected);
        std::fs::write(&file, "{oops").unwrap();
        let refused = carry_out(&places, &add(source, &["Read"])).unwrap_err();
        assert!(matches!(refused, EditError::Broken(_)), "{refused}");
        assert_eq!(read(), "{oops");
        let refused = carry_out(&places, &add(Source::Session, &["Read"])).unwrap_err();
        assert!(matches!(refused, EditError::NoFile(_)), "{refused}");
    }
}

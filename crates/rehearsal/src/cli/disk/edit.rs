//! Carries out lasting changes of settings: reads the file, changes one place, puts it back.
//!
//! Owns the change and nothing of its meaning. Invariants: every other key, and the order of keys, stays as it was; a
//! file that cannot be understood is not touched.

use std::path::PathBuf;

use serde_json::Value;

use super::files::{self, Mode};
use super::ordered::Node;
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
    #[error("cannot change {}: {source}; is it writable?", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

/// Makes a change, in a new file if there is none.
///
/// # Errors
/// See [`EditError`]; the file is then as it was.
pub(in crate::cli) fn carry_out(places: &Places, edit: &SettingsEdit) -> Result<(), EditError> {
    let source = match edit {
        SettingsEdit::Add { source, .. }
        | SettingsEdit::Remove { source, .. }
        | SettingsEdit::Set { source, .. } => *source,
    };
    let writable = matches!(source, Source::User | Source::Project | Source::Local);
    let path = writable.then(|| places.settings(source)).flatten();
    let path = path.ok_or(EditError::NoFile(source))?;
    let io = |source| EditError::Io {
        path: path.clone(),
        source,
    };
    let old = files::read(&path).map_err(io)?.unwrap_or_default();
    let old = if old.trim().is_empty() { "{}" } else { &*old };
    let node: Option<Node> = serde_json::from_str(old).ok();
    let node = node.filter(Node::is_object);
    let mut node = node.ok_or_else(|| EditError::Broken(path.clone()))?;
    if !change(&mut node, edit) {
        return Ok(());
    }
    let new = node.to_text().map_err(|error| io(error.into()))?;
    files::replace(&path, new.as_bytes(), Mode::Shared).map_err(io)
}

/// Whether anything changed.
fn change(settings: &mut Node, edit: &SettingsEdit) -> bool {
    let before = settings.clone();
    match edit {
        SettingsEdit::Add { path, values, .. } => {
            let list = at(settings, path).list();
            for value in values.iter().map(|value| text(value)) {
                if !list.contains(&value) {
                    list.push(value);
                }
            }
        }
        SettingsEdit::Remove { path, values, .. } => {
            let gone: Vec<Node> = values.iter().map(|value| text(value)).collect();
            at(settings, path)
                .list()
                .retain(|item| !gone.contains(item));
            // What was not there is not made for the sake of taking something out of it.
            let emptied = matches!(at(settings, path), Node::Array(items) if items.is_empty());
            if emptied && !has(&before, path) {
                *settings = before.clone();
            }
        }
        SettingsEdit::Set { path, value, .. } => *at(settings, path) = value.clone().into(),
    }
    *settings != before
}

fn at<'a>(settings: &'a mut Node, [outer, inner]: &[&'static str; 2]) -> &'a mut Node {
    let list = || Node::Array(Vec::new());
    settings.entry(outer, Node::empty).entry(inner, list)
}

fn has(settings: &Node, [outer, inner]: &[&'static str; 2]) -> bool {
    settings
        .get(outer)
        .is_some_and(|node| node.get(inner).is_some())
}

fn text(value: &str) -> Node {
    Node::Plain(Value::String(value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(root: &tempfile::TempDir) -> Places {
        let project = root.path().join("project");
        std::fs::create_dir_all(&project).unwrap();
        Places::at(root.path().join("conf"), project)
    }

    fn add(source: Source, values: &[&str]) -> SettingsEdit {
        SettingsEdit::Add {
            source,
            path: ["permissions", "allow"],
            values: values.iter().map(|value| (*value).to_owned()).collect(),
        }
    }

    #[test]
    fn a_rule_makes_the_file_and_its_folder_as_the_real_cli_writes_them() {
        let root = tempfile::tempdir().unwrap();
        let places = places(&root);
        carry_out(&places, &add(Source::Local, &["Bash(touch x)"])).unwrap();
        let written = std::fs::read_to_string(places.settings(Source::Local).unwrap()).unwrap();
        let expected =
            "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(touch x)\"\n    ]\n  }\n}\n";
        assert_eq!(written, expected);
    }

    #[test]
    fn other_keys_and_their_order_stay_and_a_known_rule_is_not_repeated() {
        let root = tempfile::tempdir().unwrap();
        let places = places(&root);
        let path = places.settings(Source::User).unwrap();
        let old =
            r#"{"zzz":1,"permissions":{"deny":["WebFetch"],"allow":["Read"]},"aaa":{"z":1,"b":2}}"#;
        std::fs::create_dir_all(&places.config_dir).unwrap();
        std::fs::write(&path, old).unwrap();
        carry_out(&places, &add(Source::User, &["Read"])).unwrap();
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            old,
            "nothing to do, nothing written"
        );
        carry_out(&places, &add(Source::User, &["Read", "Write"])).unwrap();
        let remove = SettingsEdit::Remove {
            source: Source::User,
            path: ["permissions", "deny"],
            values: vec!["WebFetch".to_owned()],
        };
        carry_out(&places, &remove).unwrap();
        let set = SettingsEdit::Set {
            source: Source::User,
            path: ["permissions", "defaultMode"],
            value: "plan".into(),
        };
        carry_out(&places, &set).unwrap();
        let new: Node = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let expected = r#"{"zzz":1,"permissions":{"deny":[],"allow":["Read","Write"],"defaultMode":"plan"},"aaa":{"z":1,"b":2}}"#;
        assert_eq!(serde_json::to_string(&new).unwrap(), expected);
    }

    #[test]
    fn taking_out_what_is_not_there_writes_nothing() {
        let root = tempfile::tempdir().unwrap();
        let places = places(&root);
        let remove = SettingsEdit::Remove {
            source: Source::Project,
            path: ["permissions", "allow"],
            values: vec!["Read".to_owned()],
        };
        carry_out(&places, &remove).unwrap();
        assert!(!places.settings(Source::Project).unwrap().exists());
    }

    #[test]
    fn a_broken_file_and_a_source_without_a_file_are_refused() {
        let root = tempfile::tempdir().unwrap();
        let places = places(&root);
        let path = places.settings(Source::User).unwrap();
        std::fs::create_dir_all(&places.config_dir).unwrap();
        std::fs::write(&path, "{oops").unwrap();
        let refused = carry_out(&places, &add(Source::User, &["Read"])).unwrap_err();
        assert!(matches!(refused, EditError::Broken(_)), "{refused}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{oops");
        for source in [
            Source::Session,
            Source::CliArg,
            Source::Flag,
            Source::Policy,
        ] {
            let refused = carry_out(&places, &add(source, &["Read"])).unwrap_err();
            assert!(matches!(refused, EditError::NoFile(_)), "{refused}");
        }
    }
}

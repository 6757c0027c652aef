//! What the real CLI says of itself, per version: the bodies of its lines and replies as they were recorded, shortened.
//!
//! Owns the templates and which of them a version uses. Invariant: each part is an object.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::version::Version;

/// The recorded bodies, newest first: the first version they are used for, and the file.
const CASTS: [(Version, &str); 3] = [
    (Version::new(2, 1, 197), include_str!("cast/2.1.327.json")),
    (Version::new(2, 1, 17), include_str!("cast/2.1.62.json")),
    (Version::new(0, 0, 0), include_str!("cast/2.0.75.json")),
];

/// The recorded bodies of one version.
#[derive(Debug, Clone, Default)]
pub(super) struct Cast {
    parts: Value,
}

impl Cast {
    pub(super) fn of(version: Version) -> Self {
        let used = CASTS.iter().find(|(first, _)| version >= *first);
        let text = used.map_or_else(Default::default, |(_, text)| *text);
        // The files are part of the program, and each is played by a test.
        Self {
            parts: serde_json::from_str(text).unwrap_or_default(),
        }
    }

    /// `init`, `assistant`, `result` or `failure`.
    pub(super) fn line(&self, name: &str) -> Map<String, Value> {
        self.parts[name].as_object().cloned().unwrap_or_default()
    }

    /// The line as this version says it: without the fields that it lacks (`lacks`), or None where it says no such line
    /// (`silent`).
    pub(super) fn as_said<'a>(&self, line: &'a Value) -> Option<Cow<'a, Value>> {
        let names = |key: &str| self.parts[key].as_array().into_iter().flatten();
        let kind = line["subtype"].as_str().or(line["type"].as_str());
        let status = line["status"]
            .as_str()
            .map(|status| format!("status {status}"));
        let silent = |name: &Value| {
            let name = name.as_str();
            name.is_some() && (name == kind || name == status.as_deref())
        };
        if names("silent").any(silent) {
            return None;
        }
        let mut said = Cow::Borrowed(line);
        for path in names("lacks").filter_map(Value::as_str) {
            remove(said.to_mut(), path);
        }
        Some(said)
    }

    /// The reply to a control request: a body, or `null` for a success without one. None if it is not known.
    pub(super) fn reply(&self, subtype: &str) -> Option<&Value> {
        self.parts["replies"].get(subtype)
    }

    /// Whether the version is one that was recorded before this request, or before it had an answer of its own.
    pub(super) fn lacks_request(&self, subtype: &str) -> bool {
        let is_old = self.parts.get("lacks").is_some();
        is_old && self.reply(subtype).is_none()
    }

    /// What a request that is known says when there is nothing to act on.
    pub(super) fn error(&self, subtype: &str) -> Option<&str> {
        self.parts["errors"].get(subtype)?.as_str()
    }
}

/// Removes the field at a path of keys with dots between them.
pub(super) fn remove(line: &mut Value, path: &str) {
    let (parent, field) = path.rsplit_once('.').unwrap_or(("", path));
    let mut parent = parent.split('.').filter(|key| !key.is_empty());
    let parent = parent.try_fold(line, |at, key| at.get_mut(key));
    if let Some(Value::Object(fields)) = parent {
        fields.remove(field);
    }
}

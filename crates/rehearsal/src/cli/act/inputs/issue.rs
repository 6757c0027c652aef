//! What is wrong with an input, in the two forms the CLI gives it: lines for the model, a list of issues for the host.

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::{Value, json};

/// A step on the way to a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// One thing that is wrong, and where.
#[derive(Debug)]
pub(super) struct Issue {
    what: What,
    path: Vec<Step>,
    message: String,
    /// The fields of its kind, in the CLI's order; `path` and `message` come last.
    fields: Vec<(&'static str, Value)>,
}

#[derive(Debug)]
enum What {
    Missing,
    Unexpected(Vec<String>),
    Mistyped {
        expected: &'static str,
        received: &'static str,
    },
    Other,
}

impl Issue {
    pub(super) fn missing(path: &[Step], expected: &'static str) -> Self {
        let mut issue = Self::mistyped(path, expected, "undefined");
        issue.what = What::Missing;
        issue
    }

    pub(super) fn mistyped(path: &[Step], expected: &'static str, received: &'static str) -> Self {
        Self {
            what: What::Mistyped { expected, received },
            path: path.to_vec(),
            message: format!("Invalid input: expected {expected}, received {received}"),
            fields: vec![
                ("expected", expected.into()),
                ("code", "invalid_type".into()),
            ],
        }
    }

    pub(super) fn not_whole(path: &[Step]) -> Self {
        let mut issue = Self::mistyped(path, "int", "number");
        issue.fields.insert(1, ("format", "safeint".into()));
        issue
    }

    pub(super) fn unexpected(path: &[Step], names: Vec<String>) -> Self {
        let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        let many = if names.len() == 1 { "" } else { "s" };
        Self {
            path: path.to_vec(),
            message: format!("Unrecognized key{many}: {}", quoted.join(", ")),
            fields: vec![("code", "unrecognized_keys".into()), ("keys", json!(names))],
            what: What::Unexpected(names),
        }
    }

    pub(super) fn no_option(path: &[Step], words: &[&str]) -> Self {
        let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        let message = format!("Invalid option: expected one of {}", quoted.join("|"));
        let fields = vec![("code", "invalid_value".into()), ("values", json!(words))];
        Self::other(path, message, fields)
    }

    pub(super) fn no_url(path: &[Step]) -> Self {
        let fields = vec![("code", "invalid_format".into()), ("format", "url".into())];
        Self::other(path, "Invalid URL".to_owned(), fields)
    }

    pub(super) fn too_small(path: &[Step], origin: &str, least: usize) -> Self {
        let message = format!(
            "Too small: expected {origin} to have >={least} {}",
            units(origin)
        );
        Self::other(path, message, size(origin, "too_small", "minimum", least))
    }

    pub(super) fn too_big(path: &[Step], origin: &str, most: usize) -> Self {
        let message = format!(
            "Too big: expected {origin} to have <={most} {}",
            units(origin)
        );
        Self::other(path, message, size(origin, "too_big", "maximum", most))
    }

    pub(super) fn custom(message: &str) -> Self {
        Self::other(&[], message.to_owned(), vec![("code", "custom".into())])
    }

    fn other(path: &[Step], message: String, fields: Vec<(&'static str, Value)>) -> Self {
        let (what, path) = (What::Other, path.to_vec());
        Self {
            what,
            path,
            message,
            fields,
        }
    }

    /// `questions[0].header`
    fn place(&self) -> String {
        let mut place = String::new();
        for step in &self.path {
            match step {
                Step::Index(index) => place.push_str(&format!("[{index}]")),
                Step::Key(key) if place.is_empty() => place.push_str(key),
                Step::Key(key) => place.push_str(&format!(".{key}")),
            }
        }
        place
    }
}

fn size(origin: &str, code: &str, bound: &'static str, size: usize) -> Vec<(&'static str, Value)> {
    vec![
        ("origin", origin.into()),
        ("code", code.into()),
        (bound, size.into()),
        ("inclusive", true.into()),
    ]
}

fn units(origin: &str) -> &'static str {
    match origin {
        "string" => "characters",
        _ => "items",
    }
}

impl Serialize for Issue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in &self.fields {
            map.serialize_entry(key, value)?;
        }
        let path = self.path.iter().map(|step| match step {
            Step::Key(key) => Value::from(key.as_str()),
            Step::Index(index) => Value::from(*index),
        });
        map.serialize_entry("path", &path.collect::<Vec<_>>())?;
        map.serialize_entry("message", &self.message)?;
        map.end()
    }
}

/// The issues as a list in JSON, two spaces deep.
pub(super) fn listed(issues: &[Issue]) -> String {
    serde_json::to_string_pretty(issues).unwrap_or_default()
}

/// What the model is told: lines, if they can say it, else the list.
pub(super) fn told(tool: &str, issues: &[Issue], listed: &str) -> String {
    let too_few = |issue: &Issue| {
        issue.fields.contains(&("code", "too_small".into()))
            && issue.path.last() == Some(&Step::Key("options".to_owned()))
    };
    if tool == "AskUserQuestion" && issues.iter().any(too_few) {
        let why = "This call included a question with fewer than 2 options, so it was rejected and the person never \
                   saw it.";
        return format!("{why}\n\n{listed}");
    }
    let (mut missing, mut unexpected, mut mistyped, mut other) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for issue in issues {
        let place = issue.place();
        match &issue.what {
            What::Missing => missing.push(format!("The required parameter `{place}` is missing")),
            What::Unexpected(names) => unexpected.extend(
                names
                    .iter()
                    .map(|name| format!("An unexpected parameter `{name}` was provided")),
            ),
            What::Mistyped { expected, received } => mistyped.push(format!(
                "The parameter `{place}` type is expected as `{expected}` but provided as `{received}`"
            )),
            What::Other => {
                other.push(format!("The parameter `{place}` is invalid: {}", issue.message));
            }
        }
    }
    let lines = [missing, unexpected, mistyped].concat();
    if lines.is_empty() {
        return listed.to_owned();
    }
    let lines = [lines, other].concat();
    let many = if lines.len() == 1 { "" } else { "s" };
    format!(
        "{tool} failed due to the following issue{many}:\n{}",
        lines.join("\n")
    )
}

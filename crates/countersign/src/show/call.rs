//! One tool call: a headline, and in `full` everything a person needs to decide about it.
//!
//! Owns which field of an input says what a call does. Inputs are read leniently: what does not fit its tool is shown
//! as compact JSON, never left out.

mod full;
mod words;

use std::path::Path;

use serde_json::Value;

pub(crate) use full::full;
pub(crate) use words::mcp_name;

use super::diff::Diff;
use super::text;
use crate::term::style::{Line, Tone};

/// The most letters of a headline.
const ROW: usize = 300;

/// The call in one line: what is called, and with what.
pub(crate) fn headline(tool: &str, input: &Value, cwd: &Path) -> Line {
    if let Some((server, name)) = mcp_name(tool) {
        let line = Line::of(format!("mcp {server} · {name}"), Tone::Strong);
        return match is_nothing(input) {
            true => line,
            false => line.add(format!(" {}", text::json_row(input, ROW)), Tone::Code),
        };
    }
    let line = Line::of(text::one_row(tool, 60), Tone::Strong);
    let Some(words) = words::of(tool, input, cwd) else {
        return match is_nothing(input) {
            true => line,
            false => line.add(format!("  {}", text::json_row(input, ROW)), Tone::Code),
        };
    };
    let line = line.add("  ", Tone::Plain).add(words.main, Tone::Code);
    match words.beside.is_empty() {
        true => line,
        false => line.add(format!(" ({})", words.beside), Tone::Dim),
    }
}

fn is_nothing(input: &Value) -> bool {
    input.is_null() || input.as_object().is_some_and(serde_json::Map::is_empty)
}

/// What is known of the file that a call would change.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Before<'a> {
    /// Nothing.
    #[default]
    Unknown,
    /// Its text.
    Text(&'a str),
    /// The change within it.
    Placed(&'a Diff),
}

impl<'a> From<Option<&'a str>> for Before<'a> {
    fn from(text: Option<&'a str>) -> Self {
        text.map_or(Self::Unknown, Self::Text)
    }
}

/// What a call changes in a file, as far as its input tells.
pub(crate) fn change(tool: &str, input: &Value, before: Before<'_>) -> Option<Diff> {
    let before = match before {
        Before::Unknown => None,
        Before::Text(text) => Some(text),
        Before::Placed(diff) => return Some(diff.clone()),
    };
    match tool {
        "Write" => Some(Diff::between(
            before.unwrap_or_default(),
            text::field(input, "content")?,
        )),
        "Edit" => {
            let (old, new) = (
                text::field(input, "old_string")?,
                text::field(input, "new_string")?,
            );
            let all = input
                .get("replace_all")
                .and_then(Value::as_bool)
                .unwrap_or_default();
            let placed = before.and_then(|before| Diff::replacement(before, old, new, all));
            Some(placed.unwrap_or_else(|| Diff::unplaced(old, new)))
        }
        "MultiEdit" => several(input, before),
        "NotebookEdit" => {
            let is_deleted = text::field(input, "edit_mode") == Some("delete");
            let new = text::field(input, "new_source").filter(|_| !is_deleted);
            Some(Diff::unplaced("", new.unwrap_or_default()))
        }
        _ => None,
    }
}

/// The edits one after the other, as the tool makes them.
fn several(input: &Value, before: Option<&str>) -> Option<Diff> {
    let edits = input.get("edits")?.as_array()?;
    let mut after = before.map(str::to_owned);
    let (mut old, mut new) = (String::new(), String::new());
    for edit in edits {
        let (from, to) = (
            text::field(edit, "old_string")?,
            text::field(edit, "new_string")?,
        );
        let all = edit
            .get("replace_all")
            .and_then(Value::as_bool)
            .unwrap_or_default();
        after = after
            .filter(|after| !from.is_empty() && after.contains(from))
            .map(|after| match all {
                true => after.replace(from, to),
                false => after.replacen(from, to, 1),
            });
        old = old + from + "\n";
        new = new + to + "\n";
    }
    Some(match (before, after) {
        (Some(before), Some(after)) => Diff::between(before, &after),
        _ => Diff::unplaced(&old, &new),
    })
}

#[cfg(test)]
mod tests;

//! One line about what an agent asks, fit to leave the machine.
//!
//! Owns what of a question's input is told: the command, the file or the address it is about, and nothing else. Pure.
//! Invariants: what looks like a secret is masked before anything is cut, so that half of one never passes; one line, of
//! bounded length, without control characters; never the whole input.

use countersign_client::LineMask;
use serde_json::Value;

use crate::control::approval::{ApprovalView, Kind};

/// The longest line.
const LONGEST: usize = 160;

/// How much of a text is looked at: more than any line that is shown.
const LOOKED_AT: usize = 4 << 10;

/// What a tool's call is about, by the field of its input. The first that is there is told.
const SUBJECTS: [&str; 9] = [
    "command",
    "file_path",
    "notebook_path",
    "path",
    "url",
    "query",
    "pattern",
    "skill",
    "description",
];

/// What is asked, in a line.
pub(super) fn of(approval: &ApprovalView) -> String {
    let input = &approval.input;
    match approval.kind {
        Kind::Tool => match subject(input) {
            Some(subject) => line(&format!("{}: {subject}", approval.tool)),
            None => line(&approval.tool),
        },
        Kind::Plan => {
            let plan = input.get("plan").and_then(Value::as_str);
            let title = plan.and_then(|plan| plan.lines().find(|line| !line.trim().is_empty()));
            match title {
                Some(title) => line(&format!("plan: {}", title.trim_start_matches(['#', ' ']))),
                None => "a plan".to_owned(),
            }
        }
        Kind::Questions => {
            let questions = input.get("questions");
            let first = questions
                .and_then(|questions| questions.get(0))
                .and_then(|question| question.get("question"))
                .and_then(Value::as_str);
            line(&format!("question: {}", first.unwrap_or_default()))
        }
        Kind::Elicitation => {
            let message = input.get("message").and_then(Value::as_str);
            line(&format!(
                "{} asks: {}",
                approval.tool,
                message.unwrap_or_default()
            ))
        }
        Kind::Dialog => line(&format!("dialog: {}", approval.tool)),
    }
}

fn subject(input: &Value) -> Option<&str> {
    SUBJECTS.iter().find_map(|field| input.get(field)?.as_str())
}

/// A text in one line, masked, of bounded length.
pub(crate) fn line(text: &str) -> String {
    let looked_at = start_of(text, LOOKED_AT);
    let masked = masked(looked_at);
    let words: Vec<&str> = masked
        .split(|c: char| c.is_whitespace() || c.is_control() || is_invisible(c))
        .filter(|word| !word.is_empty())
        .collect();
    let line = words.join(" ");
    let cut = line.char_indices().nth(LONGEST).map(|(end, _)| end);
    match cut {
        Some(end) => format!("{}…", line[..end].trim_end()),
        None if looked_at.len() < text.len() => format!("{line}…"),
        None => line,
    }
}

/// A text without what looks like a secret.
pub(super) fn masked(text: &str) -> String {
    let mut mask = LineMask::by_looks();
    let lines: Vec<String> = text.lines().map(|line| mask.line(line)).collect();
    lines.join("\n")
}

/// Letters that turn the direction of a text or take no room: they make a line look like another.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// So many bytes of a text, cut where a letter ends; where that cuts a word, before it.
fn start_of(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let start = &text[..end];
    // Half a secret is not known by its looks.
    start
        .rfind(char::is_whitespace)
        .map_or("", |blank| &start[..blank])
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;

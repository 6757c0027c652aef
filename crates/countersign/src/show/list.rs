//! Checklists: the to-dos and tasks an agent keeps.
//!
//! Reads the entries of `TodoWrite` and of the task tools leniently: an entry without a known state is an open one.

use serde_json::Value;

use super::text;
use crate::term::style::{Line, Tone};

/// More entries than this are counted, not shown.
const SHOWN: usize = 40;

/// The entries of a list as lines.
pub(crate) fn checklist(entries: &[Value]) -> Vec<Line> {
    let mut lines: Vec<Line> = entries.iter().take(SHOWN).map(entry).collect();
    if entries.len() > SHOWN {
        lines.push(Line::of(
            format!("… {} more", entries.len() - SHOWN),
            Tone::Dim,
        ));
    }
    lines
}

/// `2 of 5 done`
pub(crate) fn progress(entries: &[Value]) -> String {
    let done = entries
        .iter()
        .filter(|entry| text::field(entry, "status") == Some("completed"))
        .count();
    format!("{done} of {} done", entries.len())
}

fn entry(entry: &Value) -> Line {
    let status = text::field(entry, "status").unwrap_or("pending");
    let is_running = status == "in_progress";
    let names = match is_running {
        true => ["activeForm", "content", "subject"],
        false => ["content", "subject", "activeForm"],
    };
    let words = names
        .iter()
        .find_map(|name| text::field(entry, name))
        .filter(|words| !words.is_empty());
    let words = text::one_row(words.unwrap_or("(no words)"), 200);
    let id = text::field(entry, "id")
        .map(|id| format!("#{} ", text::one_row(id, 12)))
        .unwrap_or_default();
    let (mark, tone) = match status {
        "completed" => ("[x] ", Tone::Dim),
        "in_progress" => ("[>] ", Tone::Strong),
        "deleted" => ("[-] ", Tone::Dim),
        _ => ("[ ] ", Tone::Plain),
    };
    Line::of(format!("{id}{words}"), tone).after(mark, Tone::Accent)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_state_has_its_mark() {
        let entries = json!([
            {"content": "Read", "status": "completed", "activeForm": "Reading"},
            {"content": "Write", "status": "in_progress", "activeForm": "Writing"},
            {"subject": "Test", "status": "pending", "id": "3"},
            {"status": "tomorrow"},
        ]);
        let entries = entries.as_array().unwrap();
        let lines: Vec<String> = checklist(entries).iter().map(Line::text).collect();
        assert_eq!(
            lines,
            ["[x] Read", "[>] Writing", "[ ] #3 Test", "[ ] (no words)"]
        );
        assert_eq!(progress(entries), "1 of 4 done");
    }
}

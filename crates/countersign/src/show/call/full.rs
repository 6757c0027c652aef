//! A call with everything in it, for a person who decides about it.
//!
//! Nothing is folded: commands and differences stand in full, and what does not fit into the bounds is named as
//! missing, in a tone that wants attention. Whoever shows it puts it two columns to the right, as all that is not ours.

use std::path::Path;

use serde_json::Value;

use super::{Before, change, is_nothing};
use crate::show::{list, plan, text};
use crate::term::style::{Line, Tone};

/// The most rows of one call.
const ROWS: usize = 3_000;
/// The most bytes of one text in it.
const BYTES: usize = 256 << 10;

/// The call in full, without its headline. `before` is what is known of the file that it would change.
pub(crate) fn full(
    tool: &str,
    input: &Value,
    cwd: &Path,
    width: usize,
    before: Before<'_>,
) -> Vec<Line> {
    let lines = match tool {
        "Bash" | "PowerShell" | "Monitor" => command(input),
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => file(tool, input, cwd, before),
        "Task" | "Agent" => agent(input),
        "WebFetch" => fields(input, &["url", "prompt"]),
        "TodoWrite" => input
            .get("todos")
            .and_then(Value::as_array)
            .map(|todos| list::checklist(todos)),
        "ExitPlanMode" | "exit_plan_mode" => {
            return plan::plan(text::field(input, "plan").unwrap_or_default(), width);
        }
        "AskUserQuestion" => questions(input),
        _ => None,
    };
    let mut lines = lines.unwrap_or_else(|| json(input));
    let rows = lines.len();
    if rows > ROWS {
        lines.truncate(ROWS);
        lines.push(missing(&text::count(rows - ROWS, "line")));
    }
    lines
}

fn missing(what: &str) -> Line {
    Line::of(format!("… {what} more, too long to be shown"), Tone::Warn)
}

/// A text line by line, in one tone.
fn whole(words: &str, tone: Tone) -> Vec<Line> {
    let (shown, left) = text::clip(words, BYTES);
    let mut lines: Vec<Line> = shown
        .trim_end()
        .split('\n')
        .map(|line| Line::of(line, tone))
        .collect();
    if left > 0 {
        lines.push(missing(&text::size(left)));
    }
    lines
}

fn command(input: &Value) -> Option<Vec<Line>> {
    // Where a row only goes on, it stands further in than where a new line begins.
    let lines = whole(text::field(input, "command")?, Tone::Code);
    let mut lines: Vec<Line> = lines.into_iter().map(|line| line.hanging(4)).collect();
    if let Some(words) = text::field(input, "description").filter(|words| !words.is_empty()) {
        lines.push(Line::of(
            format!("says: {}", text::one_row(words, 300)),
            Tone::Dim,
        ));
    }
    let is_set = |name: &str| input.get(name).and_then(Value::as_bool) == Some(true);
    if is_set("run_in_background") {
        lines.push(Line::of("runs in the background", Tone::Warn));
    }
    if is_set("dangerouslyDisableSandbox") {
        lines.push(Line::of("runs outside the sandbox", Tone::Bad));
    }
    if let Some(limit) =
        text::number(input, "timeout").or_else(|| text::number(input, "timeout_ms"))
    {
        let limit = text::duration(std::time::Duration::from_millis(limit));
        lines.push(Line::of(
            format!("ends after {limit} at the latest"),
            Tone::Dim,
        ));
    }
    lines.extend(others(
        input,
        &[
            "command",
            "description",
            "run_in_background",
            "dangerouslyDisableSandbox",
            "timeout",
            "timeout_ms",
        ],
    ));
    Some(lines)
}

fn file(tool: &str, input: &Value, cwd: &Path, before: Before<'_>) -> Option<Vec<Line>> {
    let path = text::field(input, "file_path").or_else(|| text::field(input, "notebook_path"))?;
    let diff = change(tool, input, before)?;
    let what = match (tool, before) {
        ("Write", Before::Unknown) => "new file",
        ("Write", _) => "replaces the whole file",
        ("NotebookEdit", _) => text::field(input, "edit_mode").unwrap_or("replace"),
        _ => "",
    };
    let mut head =
        Line::of(text::path(path, cwd), Tone::Code).add(format!("  {}", diff.summary()), Tone::Dim);
    if !what.is_empty() {
        head = head.add(format!(", {what}"), Tone::Dim);
    }
    let mut lines = vec![head];
    if is_misplaced(tool, input, before) {
        lines.push(Line::of(
            "The text to be replaced is not in the file as it is now.",
            Tone::Warn,
        ));
    }
    match diff.is_empty() {
        true => lines.push(Line::of("no line changes", Tone::Dim)),
        false => lines.extend(diff.lines(ROWS)),
    }
    if input.get("replace_all").and_then(Value::as_bool) == Some(true) {
        lines.push(Line::of("everywhere in the file", Tone::Warn));
    }
    const SHOWN: [&str; 10] = [
        "file_path",
        "notebook_path",
        "content",
        "old_string",
        "new_string",
        "replace_all",
        "edits",
        "new_source",
        "edit_mode",
        "cell_type",
    ];
    lines.extend(others(input, &SHOWN));
    Some(lines)
}

fn is_misplaced(tool: &str, input: &Value, before: Before<'_>) -> bool {
    let (Before::Text(before), "Edit") = (before, tool) else {
        return false;
    };
    text::field(input, "old_string").is_some_and(|old| !old.is_empty() && !before.contains(old))
}

fn agent(input: &Value) -> Option<Vec<Line>> {
    let mut lines = Vec::new();
    let kind = text::field(input, "subagent_type").unwrap_or("general-purpose");
    let words = text::field(input, "description").unwrap_or_default();
    lines.push(
        Line::of(text::one_row(kind, 60), Tone::Strong)
            .add(format!("  {}", text::one_row(words, 300)), Tone::Plain),
    );
    lines.extend(whole(text::field(input, "prompt")?, Tone::Plain));
    lines.extend(others(input, &["subagent_type", "description", "prompt"]));
    Some(lines)
}

fn questions(input: &Value) -> Option<Vec<Line>> {
    let mut lines = Vec::new();
    for question in input.get("questions")?.as_array()? {
        lines.push(Line::of(
            text::one_row(text::field(question, "question")?, 1_000),
            Tone::Strong,
        ));
        for option in question.get("options")?.as_array()? {
            let label = text::one_row(text::field(option, "label")?, 200);
            let line = Line::plain(label).after("- ", Tone::Accent);
            lines.push(
                match text::field(option, "description").filter(|words| !words.is_empty()) {
                    Some(words) => line.add(format!("  {}", text::one_row(words, 400)), Tone::Dim),
                    None => line,
                },
            );
        }
    }
    Some(lines)
}

fn fields(input: &Value, names: &[&str]) -> Option<Vec<Line>> {
    let mut lines = Vec::new();
    for name in names {
        lines.extend(whole(
            text::field(input, name)?,
            if lines.is_empty() {
                Tone::Code
            } else {
                Tone::Plain
            },
        ));
    }
    lines.extend(others(input, names));
    Some(lines)
}

/// The fields that are not shown otherwise, so that none is left out.
fn others(input: &Value, shown: &[&str]) -> Vec<Line> {
    let fields = input.as_object().into_iter().flatten();
    let others = fields.filter(|(name, value)| !shown.contains(&name.as_str()) && !value.is_null());
    others
        .map(|(name, value)| {
            Line::of(format!("{}: ", text::one_row(name, 60)), Tone::Dim)
                .add(text::json_row(value, 600), Tone::Plain)
                .hanging(2)
        })
        .collect()
}

fn json(input: &Value) -> Vec<Line> {
    if is_nothing(input) {
        return vec![Line::of("no input", Tone::Dim)];
    }
    whole(
        &serde_json::to_string_pretty(input).unwrap_or_default(),
        Tone::Code,
    )
}

//! What each tool reports, in a line and a few rows.
//!
//! A table of tools over their structured results. Read leniently: where a field is missing the text that the model saw
//! is shown instead.

use std::time::Duration;

use serde_json::Value;

use super::{Fold, Made, Returned, changed, data_address, said, words};
use crate::show::{list, text};
use crate::term::style::{Line, Tone};

/// Nothing where the tool is not known or its report cannot be read.
pub(super) fn made(returned: &Returned<'_>, report: &Value, fold: Fold) -> Option<Made> {
    match returned.tool {
        "Bash" | "PowerShell" => command(report, fold),
        "Read" | "NotebookRead" => Some(read(returned, report)),
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => changed(returned, report, fold),
        "Grep" => grep(returned, report, fold),
        "Glob" => glob(returned, report, fold),
        "WebFetch" => fetched(report, fold),
        "TodoWrite" => {
            let todos = report
                .get("newTodos")
                .or_else(|| returned.input.get("todos"))?
                .as_array()?;
            Some(Made::new(list::progress(todos)).with(list::checklist(todos)))
        }
        "TaskCreate" => Some(Made::new(format!(
            "task #{}",
            text::field(report.get("task")?, "id")?
        ))),
        "TaskUpdate" => report
            .get("success")?
            .as_bool()?
            .then(|| Made::new("noted")),
        "TaskList" => {
            let tasks = report.get("tasks")?.as_array()?;
            Some(Made::new(list::progress(tasks)).with(list::checklist(tasks)))
        }
        "Task" | "Agent" => agent(returned, report, fold),
        "AskUserQuestion" => answers(report, fold),
        "ExitPlanMode" | "exit_plan_mode" => {
            report.get("plan")?;
            let is_edited = report.get("planWasEdited").and_then(Value::as_bool) == Some(true);
            Some(Made::good(if is_edited {
                "plan approved as you changed it"
            } else {
                "plan approved"
            }))
        }
        "ToolSearch" => Some(found(returned, fold)),
        "StructuredOutput" => Some(Made::good("accepted")),
        _ => None,
    }
}

fn command(report: &Value, fold: Fold) -> Option<Made> {
    if let Some(task) = text::field(report, "backgroundTaskId") {
        return Some(Made::new(format!(
            "runs in the background as {}",
            text::one_row(task, 40)
        )));
    }
    let (out, err) = (
        text::field(report, "stdout")?,
        text::field(report, "stderr").unwrap_or_default(),
    );
    let mut made = match report.get("isImage").and_then(Value::as_bool) {
        Some(true) => Made::new(data_address(out).unwrap_or_else(|| "[image]".to_owned())),
        _ => said(out, fold, true),
    };
    if !err.trim().is_empty() {
        let count = text::count(text::lines(err), "line");
        match out.trim().is_empty() {
            true => made = Made::new(format!("{count} on stderr")),
            false => made.head = made.head.add(format!(", {count} on stderr"), Tone::Dim),
        }
        made.rows.extend(fold.rows(err, Tone::Warn, true));
    }
    if report.get("interrupted").and_then(Value::as_bool) == Some(true) {
        made.head = Line::of("interrupted, ", Tone::Warn).add(made.head.text(), Tone::Dim);
    }
    if let Some(words) = text::field(report, "returnCodeInterpretation") {
        made.head = made
            .head
            .add(format!(" ({})", text::one_row(words, 80)), Tone::Dim);
    }
    Some(made)
}

fn read(returned: &Returned<'_>, report: &Value) -> Made {
    let file = report.get("file").unwrap_or(&Value::Null);
    match text::field(report, "type") {
        Some("text") => {
            let shown = text::number(file, "numLines").unwrap_or_default();
            let all = text::number(file, "totalLines").unwrap_or(shown);
            Made::new(match shown == all {
                true => text::count(shown as usize, "line"),
                false => format!(
                    "{} of {}",
                    text::grouped(shown),
                    text::count(all as usize, "line")
                ),
            })
        }
        Some(kind @ ("image" | "pdf")) => {
            let bytes = text::number(file, "originalSize").map(|size| size as usize);
            let bytes = bytes.or_else(|| text::field(file, "base64").map(text::base64_size));
            Made::new(
                format!("[{kind} {}]", bytes.map(text::size).unwrap_or_default())
                    .replace(" ]", "]"),
            )
        }
        Some("notebook") => {
            let cells = file
                .get("cells")
                .and_then(Value::as_array)
                .map_or(0, Vec::len);
            Made::new(text::count(cells, "cell"))
        }
        Some("file_unchanged") => Made::new("not changed since it was read"),
        _ => {
            let words = words(returned.content);
            // A picture is one line; a file is counted.
            match words.starts_with('[') && text::lines(&words) == 1 {
                true => Made::new(text::one_row(&words, 120)),
                false => Made::new(text::count(text::lines(&words), "line")),
            }
        }
    }
}

fn names(report: &Value, returned: &Returned<'_>, fold: Fold) -> Vec<Line> {
    let names = report
        .get("filenames")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let paths: Vec<String> = names
        .iter()
        .take(2_000)
        .filter_map(Value::as_str)
        .map(|name| text::path(name, returned.cwd))
        .collect();
    fold.rows(&paths.join("\n"), Tone::Plain, false)
}

fn grep(returned: &Returned<'_>, report: &Value, fold: Fold) -> Option<Made> {
    let files = text::number(report, "numFiles")?;
    let in_files = if files > 0 {
        format!(" in {}", text::count(files as usize, "file"))
    } else {
        String::new()
    };
    Some(match text::field(report, "mode") {
        Some("content") => {
            let lines = text::number(report, "numLines").unwrap_or_default();
            let content = text::field(report, "content").unwrap_or_default();
            Made::new(text::count(lines as usize, "line")).with(fold.rows(
                content,
                Tone::Plain,
                false,
            ))
        }
        Some("count") => {
            let matches = text::number(report, "numMatches").unwrap_or_default();
            Made::new(format!(
                "{}{in_files}",
                text::count(matches as usize, "match")
            ))
        }
        _ if files == 0 => Made::new("nothing found"),
        _ => Made::new(text::count(files as usize, "file")).with(names(report, returned, fold)),
    })
}

fn glob(returned: &Returned<'_>, report: &Value, fold: Fold) -> Option<Made> {
    let files = text::number(report, "numFiles")?;
    let is_cut = report.get("truncated").and_then(Value::as_bool) == Some(true);
    Some(match files {
        0 => Made::new("nothing found"),
        files => Made::new(format!(
            "{}{}",
            text::count(files as usize, "file"),
            if is_cut { " and more" } else { "" }
        ))
        .with(names(report, returned, fold)),
    })
}

fn fetched(report: &Value, fold: Fold) -> Option<Made> {
    let code = text::number(report, "code")?;
    let mut parts = vec![
        format!(
            "{code} {}",
            text::one_row(text::field(report, "codeText").unwrap_or_default(), 40)
        )
        .trim()
        .to_owned(),
    ];
    parts.extend(text::number(report, "bytes").map(|bytes| text::size(bytes as usize)));
    parts.extend(
        text::number(report, "durationMs").map(|ms| text::duration(Duration::from_millis(ms))),
    );
    let words = text::field(report, "result").unwrap_or_default();
    Some(Made::new(parts.join(" · ")).with(fold.rows(words, Tone::Plain, false)))
}

fn agent(returned: &Returned<'_>, report: &Value, fold: Fold) -> Option<Made> {
    let status = text::field(report, "status")?;
    if status == "async_launched" || report.get("isAsync").and_then(Value::as_bool) == Some(true) {
        let id = text::field(report, "agentId").map(|id| format!(" as {}", text::one_row(id, 40)));
        return Some(Made::new(format!(
            "runs in the background{}",
            id.unwrap_or_default()
        )));
    }
    let mut parts = vec![if status == "completed" {
        "done".to_owned()
    } else {
        text::one_row(status, 40)
    }];
    parts.extend(
        text::number(report, "totalToolUseCount").map(|calls| text::count(calls as usize, "call")),
    );
    parts.extend(
        text::number(report, "totalTokens")
            .map(|number| format!("{} tokens", text::tokens(number))),
    );
    parts.extend(
        text::number(report, "totalDurationMs").map(|ms| text::duration(Duration::from_millis(ms))),
    );
    let blocks = report
        .get("content")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let texts = blocks.iter().filter_map(|block| text::field(block, "text"));
    let texts: Vec<&str> = texts
        .filter(|text| !text.starts_with("<tools-used"))
        .map(str::trim)
        .collect();
    let said = match texts.is_empty() {
        true => words(returned.content),
        false => texts.join("\n"),
    };
    Some(Made::good(parts.join(" · ")).with(fold.rows(&said, Tone::Plain, false)))
}

fn answers(report: &Value, fold: Fold) -> Option<Made> {
    let answers = report.get("answers")?.as_object()?;
    let rows = answers.iter().take(20).map(|(question, answer)| {
        let answer = answer.as_str().map_or_else(
            || text::json_row(answer, 200),
            |answer| text::one_row(answer, 200),
        );
        Line::of(text::one_row(question, 200), Tone::Dim)
            .add(" → ", Tone::Dim)
            .add(answer, Tone::Plain)
    });
    Some(Made::good("answered").with(rows.map(|row| fold.fit(row)).collect()))
}

fn found(returned: &Returned<'_>, fold: Fold) -> Made {
    let words = words(returned.content);
    match text::lines(&words) {
        0 => Made::new("nothing found"),
        count => Made::new(text::count(count, "tool")).with(fold.rows(&words, Tone::Plain, false)),
    }
}

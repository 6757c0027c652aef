//! The words of a headline: which field of which tool says what is done.
//!
//! A table of tools. A tool that is not in it, or whose fields do not fit, has no words here.

use std::path::Path;

use serde_json::Value;

use super::{ROW, change};
use crate::show::{list, text};

/// What stands behind the name of a tool.
pub(super) struct Words {
    pub(super) main: String,
    pub(super) beside: String,
}

impl Words {
    fn new(main: impl Into<String>) -> Option<Self> {
        Some(Self {
            main: main.into(),
            beside: String::new(),
        })
    }

    fn beside(main: impl Into<String>, beside: impl Into<String>) -> Option<Self> {
        Some(Self {
            main: main.into(),
            beside: beside.into(),
        })
    }
}

/// Server and tool of a name such as `mcp__server__tool`.
pub(crate) fn mcp_name(tool: &str) -> Option<(&str, &str)> {
    tool.strip_prefix("mcp__")?
        .split_once("__")
        .filter(|(server, name)| !server.is_empty() && !name.is_empty())
}

/// What the call is about; nothing where the tool is not known or its input does not fit it.
pub(super) fn of(tool: &str, input: &Value, cwd: &Path) -> Option<Words> {
    files(tool, input, cwd)
        .or_else(|| work(tool, input))
        .or_else(|| elsewhere(tool, input))
}

fn row(input: &Value, name: &str) -> Option<String> {
    text::field(input, name).map(|words| text::one_row(words, ROW))
}

/// Tools that look at the disk or change it.
fn files(tool: &str, input: &Value, cwd: &Path) -> Option<Words> {
    let field = |name: &str| text::field(input, name);
    let path = |name: &str| field(name).map(|path| text::one_row(&text::path(path, cwd), ROW));
    match tool {
        "Bash" | "PowerShell" | "Monitor" => command(field("command")?, input),
        "Read" | "NotebookRead" => Words::beside(
            path("file_path").or_else(|| path("notebook_path"))?,
            extent(input),
        ),
        "Write" => Words::beside(
            path("file_path")?,
            text::count(text::lines(field("content")?), "line"),
        ),
        "Edit" | "MultiEdit" => Words::beside(path("file_path")?, edited(tool, input)?),
        "NotebookEdit" => {
            let mode = text::one_row(field("edit_mode").unwrap_or("replace"), 20);
            let cell = field("cell_id").map(|cell| format!(" cell {}", text::one_row(cell, 20)));
            Words::beside(
                path("notebook_path")?,
                format!("{mode}{}", cell.unwrap_or_default()),
            )
        }
        "Glob" | "Grep" => Words::beside(row(input, "pattern")?, within(input, cwd)),
        "LS" => Words::new(path("path")?),
        _ => None,
    }
}

/// Tools by which an agent orders its own work.
fn work(tool: &str, input: &Value) -> Option<Words> {
    let row = |name: &str| row(input, name);
    match tool {
        "Task" | "Agent" => agent(input),
        "TodoWrite" => Words::new(list::progress(input.get("todos")?.as_array()?)),
        "TaskCreate" => Words::new(row("subject")?),
        "TaskUpdate" => {
            let status = row("status").or_else(|| row("subject"));
            let status = status.unwrap_or_else(|| "changed".to_owned());
            Words::new(format!("#{} → {status}", row("taskId")?))
        }
        "TaskGet" => Words::new(format!("#{}", row("taskId")?)),
        "TaskStop" | "KillShell" | "KillBash" | "TaskOutput" | "BashOutput" | "AgentOutputTool" => {
            let names = ["task_id", "shell_id", "bash_id", "agentId"];
            Words::new(names.into_iter().find_map(row)?)
        }
        "AskUserQuestion" => questions(input),
        "ExitPlanMode" | "exit_plan_mode" => Words::new(first_heading(text::field(input, "plan")?)),
        "Skill" => Words::beside(
            row("skill").or_else(|| row("command"))?,
            row("args").unwrap_or_default(),
        ),
        "ScheduleWakeup" => Words::new(row("reason")?),
        "CronCreate" => Words::beside(row("cron")?, row("prompt").unwrap_or_default()),
        _ => None,
    }
}

/// Tools that reach beyond the machine or the session.
fn elsewhere(tool: &str, input: &Value) -> Option<Words> {
    let row = |name: &str| row(input, name);
    match tool {
        "WebFetch" => Words::new(row("url")?),
        "WebSearch" | "ToolSearch" => Words::new(row("query")?),
        "SendMessage" => Words::beside(
            row("to").or_else(|| row("recipient"))?,
            row("summary").unwrap_or_default(),
        ),
        "ListMcpResourcesTool" | "ListMcpResources" | "RefreshMcpTools" => {
            Words::new(row("server")?)
        }
        "ReadMcpResourceTool"
        | "ReadMcpResource"
        | "ReadMcpResourceDirTool"
        | "ReadMcpResourceDir" => Words::beside(row("uri")?, row("server").unwrap_or_default()),
        _ => None,
    }
}

/// The first line of a command; how many follow is said.
fn command(command: &str, input: &Value) -> Option<Words> {
    let lines = text::lines(command.trim_end());
    let first = command
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    let mut beside = Vec::new();
    if lines > 1 {
        beside.push(format!("first of {}", text::count(lines, "line")));
    }
    if input.get("run_in_background").and_then(Value::as_bool) == Some(true) {
        beside.push("in the background".to_owned());
    }
    Words::beside(text::one_row(first, ROW), beside.join(", "))
}

/// Which lines of a file are read.
fn extent(input: &Value) -> String {
    let (offset, limit) = (text::number(input, "offset"), text::number(input, "limit"));
    match (offset, limit) {
        (None, None) => text::field(input, "pages")
            .map(|pages| format!("pages {}", text::one_row(pages, 20)))
            .unwrap_or_default(),
        (from, Some(limit)) => {
            let from = from.unwrap_or(1);
            format!(
                "lines {from}–{}",
                from.saturating_add(limit).saturating_sub(1)
            )
        }
        (Some(from), None) => format!("from line {from}"),
    }
}

fn edited(tool: &str, input: &Value) -> Option<String> {
    let diff = change(tool, input, super::Before::Unknown)?;
    let is_all = input.get("replace_all").and_then(Value::as_bool) == Some(true);
    Some(format!(
        "{}{}",
        diff.summary(),
        if is_all { ", everywhere" } else { "" }
    ))
}

/// Where is searched.
fn within(input: &Value, cwd: &Path) -> String {
    let path = text::field(input, "path")
        .map(|path| format!("in {}", text::one_row(&text::path(path, cwd), 120)));
    let glob = text::field(input, "glob").or_else(|| text::field(input, "type"));
    let glob = glob.map(|glob| text::one_row(glob, 60));
    path.into_iter().chain(glob).collect::<Vec<_>>().join(", ")
}

fn agent(input: &Value) -> Option<Words> {
    let words = text::field(input, "description").or_else(|| text::field(input, "prompt"))?;
    let words = text::one_row(words, ROW);
    let words = match text::field(input, "subagent_type") {
        Some(kind) => format!("{}: {words}", text::one_row(kind, 60)),
        None => words,
    };
    let is_apart = input.get("run_in_background").and_then(Value::as_bool) == Some(true);
    Words::beside(words, if is_apart { "in the background" } else { "" })
}

fn questions(input: &Value) -> Option<Words> {
    let questions = input.get("questions")?.as_array()?;
    let first = text::one_row(text::field(questions.first()?, "question")?, 120);
    let more = questions.len() - 1;
    Words::beside(
        first,
        if more > 0 {
            format!("and {more} more")
        } else {
            String::new()
        },
    )
}

fn first_heading(plan: &str) -> String {
    let line = plan
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    text::one_row(line.trim_start_matches(['#', ' ']), 120)
}

//! Tasks of a session, from its transcript and from how it stands.
//!
//! Owns how both become one list. Pure.

use std::collections::BTreeSet;

use countersign_transcript::body::{Task, TaskState};
use countersign_transcript::{Body, Entry};
use serde_json::Value;

use crate::control::TaskView;

/// What the entries tell of tasks, oldest first; those that are open and stand in none of them come first. Where no agent
/// is there, none runs.
pub(crate) fn tasks(entries: &[Entry], core: &Value, is_live: bool) -> Vec<TaskView> {
    let mut told: Vec<TaskView> = entries.iter().filter_map(of_entry).collect();
    let known: BTreeSet<String> = told.iter().map(|task| task.id.clone()).collect();
    let open = core.pointer("/core/tasks").and_then(Value::as_array);
    let open = open.into_iter().flatten().filter_map(of_core);
    let mut all: Vec<TaskView> = open.filter(|task| !known.contains(&task.id)).collect();
    all.append(&mut told);
    for task in &mut all {
        if !is_live && matches!(task.state.as_str(), "running" | "paused") {
            task.state = "unknown".to_owned();
        }
    }
    all
}

fn of_entry(entry: &Entry) -> Option<TaskView> {
    let task: &Task = match &entry.body {
        Body::Task(task) => task,
        Body::Tool(tool) => tool.agent.as_deref()?,
        _ => return None,
    };
    Some(TaskView {
        id: task.task_id.clone()?,
        kind: task.kind.clone(),
        description: task.description.clone(),
        state: name(task.state).to_owned(),
        is_background: task.is_background,
        began: Some(entry.at),
        ended: task.ended_at,
        tool_use_id: task.tool_use_id.clone(),
        tokens: task.tokens,
        tool_uses: task.tool_uses,
        error: task.error.clone(),
    })
}

fn of_core(task: &Value) -> Option<TaskView> {
    Some(TaskView {
        id: task["id"].as_str()?.to_owned(),
        kind: None,
        description: String::new(),
        state: "running".to_owned(),
        is_background: task["is_background"] == true,
        began: None,
        ended: None,
        tool_use_id: task["tool_use_id"].as_str().map(str::to_owned),
        tokens: None,
        tool_uses: None,
        error: None,
    })
}

fn name(state: TaskState) -> &'static str {
    match state {
        TaskState::Running => "running",
        TaskState::Paused => "paused",
        TaskState::Completed => "completed",
        TaskState::Failed => "failed",
        TaskState::Stopped => "stopped",
        TaskState::Unknown => "unknown",
    }
}

//! What a line of the agent proves about answers that were given.
//!
//! Owns the reading of results of calls, of calls that will not run, and of ends of sub-agents. Measured on 2.1.325: of a sub-agent below a sub-agent no
//! line is passed on, its results neither; that it has ended is then all that is ever told, and what came of its calls is
//! not known.

use countersign_wire::route::Route;
use memchr::memmem;
use serde::Deserialize;

/// What a line proves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// A call has a result: [`super::Event::ToolResult`] for the approval of that call.
    Result {
        /// The call.
        tool_use_id: String,
        /// Whether it failed.
        is_error: bool,
    },
    /// A call that was allowed too late did not run: [`super::Event::Cancelled`] for the approval of that call.
    NotRun {
        /// The call.
        tool_use_id: String,
    },
    /// A sub-agent has ended: [`super::Event::AskerEnded`] for what it asked.
    AgentEnded {
        /// Its id, as in [`super::Asked::agent_id`].
        agent_id: String,
    },
}

#[derive(Deserialize)]
struct Line {
    message: Blocks,
}

#[derive(Deserialize)]
struct Blocks {
    content: Vec<Block>,
}

#[derive(Deserialize)]
struct Block {
    tool_use_id: Option<String>,
    is_error: Option<bool>,
}

#[derive(Deserialize)]
struct Task {
    task_id: String,
    status: Option<String>,
    patch: Option<Patch>,
}

#[derive(Deserialize)]
struct Patch {
    status: Option<String>,
}

/// What a line of the agent proves. Nothing, if it cannot be read.
pub fn evidence(line: &[u8]) -> Vec<Evidence> {
    let Ok(route) = Route::of(line) else {
        return Vec::new();
    };
    let is = |word: &str| route.subtype.is_some_and(|subtype| subtype == word);
    if route.kind == "user" && memmem::find(line, b"\"tool_result\"").is_some() {
        results(line)
    } else if route.kind == "system" && (is("task_notification") || is("task_updated")) {
        ended(line).into_iter().collect()
    } else if route.kind == "system" && is("late_allow_not_run") {
        let call = route.tool_use_id.map(|id| id.get().into_owned());
        call.map(|tool_use_id| Evidence::NotRun { tool_use_id })
            .into_iter()
            .collect()
    } else {
        Vec::new()
    }
}

fn results(line: &[u8]) -> Vec<Evidence> {
    let Ok(line) = serde_json::from_slice::<Line>(line) else {
        return Vec::new();
    };
    let results = line.message.content.into_iter().filter_map(|block| {
        Some(Evidence::Result {
            tool_use_id: block.tool_use_id?,
            is_error: block.is_error == Some(true),
        })
    });
    results.collect()
}

fn ended(line: &[u8]) -> Option<Evidence> {
    let task: Task = serde_json::from_slice(line).ok()?;
    let status = task.status.or(task.patch.and_then(|patch| patch.status))?;
    let goes_on = matches!(status.as_str(), "pending" | "running" | "paused");
    (!goes_on).then_some(Evidence::AgentEnded {
        agent_id: task.task_id,
    })
}

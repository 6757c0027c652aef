//! Lines as the CLI and the host write them, made short.
//!
//! Owns their form alone: the fields are those of real lines, in an order of our own, since the order means nothing.

use countersign_host::control::MessageId;
use serde_json::{Value, json};

/// The message of that number.
pub(crate) fn message(n: u64) -> MessageId {
    MessageId::new(1_000_000, u128::from(n))
}

pub(crate) fn init() -> Value {
    json!({"type": "system", "subtype": "init", "session_id": "c-1", "model": "claude-opus-5-5",
        "permissionMode": "default", "claude_code_version": "2.1.325", "tools": ["Bash"]})
}

pub(crate) fn text(text: &str) -> Value {
    json!({"type": "assistant", "message": {"id": "msg_1", "content": [{"type": "text", "text": text}]},
        "parent_tool_use_id": null})
}

/// A piece of a streamed answer.
pub(crate) fn piece() -> Value {
    json!({"type": "stream_event", "event": {"type": "content_block_delta"}})
}

pub(crate) fn tool(id: &str, name: &str) -> Value {
    tool_below(id, name, None)
}

/// A call that the sub-agent of another call makes.
pub(crate) fn tool_below(id: &str, name: &str, parent: Option<&str>) -> Value {
    json!({"type": "assistant", "parent_tool_use_id": parent,
        "message": {"content": [{"type": "tool_use", "id": id, "name": name, "input": {}}]}})
}

pub(crate) fn tool_result(id: &str) -> Value {
    json!({"type": "user", "parent_tool_use_id": null,
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "x"}]}})
}

/// The result of a call whose work goes on.
pub(crate) fn tool_result_async(id: &str, structured: Value) -> Value {
    let mut line = tool_result(id);
    line["tool_use_result"] = structured;
    line
}

pub(crate) fn marker(text: &str) -> Value {
    json!({"type": "user", "uuid": "00000000-0000-4000-8000-000000000077", "parent_tool_use_id": null,
        "message": {"role": "user", "content": [{"type": "text", "text": text}]}})
}

pub(crate) fn ask(request: &str, tool: &str) -> Value {
    json!({"type": "control_request", "request_id": request, "request": {"subtype": "can_use_tool",
        "tool_name": tool, "input": {"command": "x"}, "tool_use_id": "t1"}})
}

pub(crate) fn cancel(request: &str) -> Value {
    json!({"type": "control_cancel_request", "request_id": request})
}

/// The host allows it.
pub(crate) fn allow(request: &str) -> Value {
    answer(
        request,
        json!({"behavior": "allow", "updatedInput": {"command": "x"}}),
    )
}

pub(crate) fn answer(request: &str, inner: Value) -> Value {
    json!({"type": "control_response", "response": {"subtype": "success", "request_id": request,
        "response": inner}})
}

/// The host's message of that number.
pub(crate) fn user(n: u64) -> Value {
    json!({"type": "user", "uuid": message(n).uuid(), "session_id": "",
        "message": {"role": "user", "content": "go"}, "parent_tool_use_id": null})
}

/// The CLI gives a message back, since it has read it.
pub(crate) fn replay(n: u64) -> Value {
    let mut line = user(n);
    line["isReplay"] = json!(true);
    line
}

pub(crate) fn lifecycle(n: u64, state: &str) -> Value {
    json!({"type": "command_lifecycle", "command_uuid": message(n).uuid(), "state": state})
}

pub(crate) fn set_mode(mode: &str) -> Value {
    json!({"type": "control_request", "request_id": "r-mode",
        "request": {"subtype": "set_permission_mode", "mode": mode}})
}

pub(crate) fn set_model(model: Option<&str>) -> Value {
    json!({"type": "control_request", "request_id": "r-model",
        "request": {"subtype": "set_model", "model": model}})
}

pub(crate) fn interrupt() -> Value {
    json!({"type": "control_request", "request_id": "i1", "request": {"subtype": "interrupt"}})
}

/// The CLI's answer to an interrupt, by version.
pub(crate) fn interrupt_taken(is_new: bool) -> Value {
    match is_new {
        true => answer("i1", json!({"still_queued": []})),
        false => {
            json!({"type": "control_response", "response": {"subtype": "success", "request_id": "i1"}})
        }
    }
}

pub(crate) fn result_ok() -> Value {
    json!({"subtype": "success", "is_error": false, "result": "Done.", "terminal_reason": "completed",
        "num_turns": 1, "total_cost_usd": 0.1, "type": "result"})
}

/// The result of an interrupted turn, by version.
pub(crate) fn result_aborted(is_new: bool) -> Value {
    match is_new {
        true => json!({"type": "result", "subtype": "error_during_execution", "is_error": true,
            "terminal_reason": "aborted_tools", "errors": ["[ede_diagnostic] result_type=user"]}),
        false => {
            json!({"type": "result", "subtype": "error_during_execution", "is_error": false, "errors": []})
        }
    }
}

pub(crate) fn task_started(task: &str, call: &str, background: Option<bool>) -> Value {
    let mut line = json!({"type": "system", "subtype": "task_started", "task_id": task, "tool_use_id": call,
        "task_type": "local_agent", "description": "work"});
    if let Some(background) = background {
        line["is_backgrounded"] = json!(background);
    }
    line
}

pub(crate) fn task_over(task: &str) -> Value {
    json!({"type": "system", "subtype": "task_notification", "task_id": task, "status": "completed"})
}

pub(crate) fn task_updated(task: &str, status: &str) -> Value {
    json!({"type": "system", "subtype": "task_updated", "task_id": task, "patch": {"status": status}})
}

pub(crate) fn background_tasks(tasks: &[&str]) -> Value {
    let tasks: Vec<_> = tasks.iter().map(|task| json!({"task_id": task})).collect();
    json!({"type": "system", "subtype": "background_tasks_changed", "tasks": tasks})
}

pub(crate) fn session_state(state: &str) -> Value {
    json!({"type": "system", "subtype": "session_state_changed", "state": state})
}

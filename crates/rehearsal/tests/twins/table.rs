//! The one table of fields that the normaliser may touch, and what it may do to each. Whatever is not in here is compared
//! as it is.
//!
//! A row names lines by their word (`*` at the end stands for any rest) and fields by a pattern. The first row that fits
//! counts.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::path::{Path, Pattern, fits};

/// What may be done to a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// An id of the run's own making: its form counts, and that both logs use it in the same places.
    Id,
    /// The same, and its first letter says what it is (`a` an agent, `b` a shell).
    LetteredId,
    /// A point in time: that it is one counts.
    Time,
    /// A measurement (a duration, a process id): that it is a number counts.
    Figure,
    /// A sum of prices: rounded to a billionth.
    Cost,
    /// The vendor's own words: that there are some counts.
    Prose,
    /// A text in which folders of the run and ids stand: those are replaced, the rest counts.
    Place,
    /// The same, but when it is long, words of the vendor's own, of which the first few count.
    Report,
}

/// One row.
#[derive(Debug)]
pub(crate) struct Row {
    pub line: &'static str,
    pub path: &'static str,
    pub how: How,
}

const fn row(line: &'static str, path: &'static str, how: How) -> Row {
    Row { line, path, how }
}

use How::{Cost, Figure, Id, LetteredId, Place, Prose, Report, Time};

/// Fields that the normaliser may touch.
pub(crate) const TABLE: &[Row] = &[
    // Who says it, in which conversation, about what.
    row("*", "uuid", Id),
    row("*", "session_id", Id),
    row("*", "request_id", Id),
    row("*", "response.request_id", Id),
    row("*", "parent_tool_use_id", Id),
    row("*", "tool_use_id", Id),
    row("*", "api_message_id", Id),
    row("*", "command_uuid", Id),
    row("*", "run_id", Id),
    row("*", "user_message_uuid", Id),
    row("*", "user_message_uuids[]", Id),
    row("*", "task_id", LetteredId),
    row("*", "agent_id", LetteredId),
    row("*", "message.id", Id),
    row("*", "message.content[].id", Id),
    row("*", "message.content[].tool_use_id", Id),
    row("*", "message.content[].signature", Id),
    row("*", "tool_use_meta[].id", Id),
    row("*", "tool_result_meta[].id", Id),
    row("stream_event*", "event.message.id", Id),
    row("stream_event*", "event.delta.signature", Id),
    row(
        "system/background_tasks_changed",
        "tasks[].task_id",
        LetteredId,
    ),
    row("system/background_tasks_changed", "tasks[].run_id", Id),
    row("system/compact_boundary", "logical_parent_uuid", Id),
    row("conversation_reset", "new_conversation_id", Id),
    row("result*", "permission_denials[].tool_use_id", Id),
    row("control_request*", "request.tool_use_id", Id),
    row("control_request*", "request.agent_id", LetteredId),
    row("control_request*", "request.input.agent_id", LetteredId),
    row(
        "control_request/hook_callback*",
        "request.input.session_id",
        Id,
    ),
    row(
        "control_request/hook_callback*",
        "request.input.prompt_id",
        Id,
    ),
    row(
        "control_request/hook_callback*",
        "request.input.tool_use_id",
        Id,
    ),
    row(
        "control_request/mcp_message*",
        "request.message.params._meta.claudecode/toolUseId",
        Id,
    ),
    row("user*", "tool_use_result.agentId", LetteredId),
    row("user*", "tool_use_result.backgroundTaskId", LetteredId),
    // A digest of the vendor's own words.
    row("user*", "tool_use_result.harnessSectionHash", Id),
    row("host control_request*", "request.task_id", LetteredId),
    row("host control_request*", "request.message_uuid", Id),
    row("host control_request*", "request.user_message_id", Id),
    row("result*", "origin.runId", Id),
    row("stream_event*", "abandoned_blocks.api_message_id", Id),
    // When, and how long it took.
    row("*", "timestamp", Time),
    row("system/task_updated", "patch.end_time", Time),
    row("result*", "request_sent_wall_ms", Figure),
    row(
        "control_response/success get_binary_version",
        "response.response.buildTime",
        Time,
    ),
    row(
        "host control_request/seed_read_state",
        "request.mtime",
        Time,
    ),
    row("*", "duration_ms", Figure),
    row("result*", "duration_api_ms", Figure),
    row("result*", "ttft_ms", Figure),
    row("result*", "ttft_stream_ms", Figure),
    row("result*", "time_to_request_ms", Figure),
    row("result*", "first_content_frame_ms", Figure),
    row("stream_event*", "ttft_ms", Figure),
    row("assistant thinking", "thinking_duration_ms", Figure),
    row("system/task_*", "usage.duration_ms", Figure),
    row(
        "system/compact_boundary",
        "compact_metadata.duration_ms",
        Figure,
    ),
    row("system/api_retry", "retry_delay_ms", Figure),
    row("user*", "tool_use_result.totalDurationMs", Figure),
    row(
        "control_request/hook_callback*",
        "request.input.duration_ms",
        Figure,
    ),
    row(
        "control_response/success initialize",
        "response.response.pid",
        Figure,
    ),
    row(
        "control_response/success get_usage",
        "response.response.session.total_api_duration_ms",
        Figure,
    ),
    row(
        "control_response/success get_usage",
        "response.response.session.total_duration_ms",
        Figure,
    ),
    // How many of the vendor's own words the model is sent, and what the CLI makes of an answer that still streams.
    row("system/task_*", "usage.total_tokens", Figure),
    row(
        "assistant text (synthetic)",
        "context_usage.total_tokens",
        Figure,
    ),
    row(
        "assistant text (synthetic)",
        "context_usage.categories[].tokens",
        Figure,
    ),
    row(
        "system/compact_boundary",
        "compact_metadata.post_tokens",
        Figure,
    ),
    // What it cost.
    row("result*", "total_cost_usd", Cost),
    row("result*", "modelUsage.*.costUSD", Cost),
    row("result*", "model_usage_since_last_result.*.costUSD", Cost),
    // What the vendor says about commands, agents, models.
    row(
        "control_response/success*",
        "response.response.commands[].description",
        Prose,
    ),
    row(
        "control_response/success*",
        "response.response.commands[].argumentHint",
        Prose,
    ),
    row(
        "control_response/success*",
        "response.response.agents[].description",
        Prose,
    ),
    row(
        "control_response/success*",
        "response.response.models[].description",
        Prose,
    ),
    row(
        "control_response/success*",
        "response.response.skills[].description",
        Prose,
    ),
    row(
        "control_response/success*",
        "response.response.skills[].argumentHint",
        Prose,
    ),
    row(
        "control_response/success get_hooks_listing",
        "response.response.eventCatalog[].summary",
        Prose,
    ),
    // Folders of the run.
    row("(start)", "text", Place),
    row("(stderr)", "text", Report),
    row("system/init", "cwd", Place),
    row("system/init", "original_cwd", Place),
    row("system/init", "memory_paths.auto", Place),
    row("system/init", "messaging_socket_path", Place),
    row("system/task_notification", "output_file", Place),
    row(
        "control_response/success*",
        "response.response.user_output_styles_dir",
        Place,
    ),
    row(
        "control_request/hook_callback*",
        "request.input.transcript_path",
        Place,
    ),
    row("control_request/hook_callback*", "request.input.cwd", Place),
    row(
        "control_request/hook_callback*",
        "request.input.agent_transcript_path",
        Place,
    ),
    row(
        "control_response/success get_status",
        "response.response.sections[].rows[].value",
        Place,
    ),
    row(
        "control_response/success list_permission_rules",
        "response.response.state.originalCwd",
        Place,
    ),
    row(
        "control_response/success file_suggestions",
        "response.response.cwd",
        Place,
    ),
    row(
        "control_response/success read_file",
        "response.response.absPath",
        Place,
    ),
    row(
        "control_response/success read_file",
        "response.response.requested_path",
        Place,
    ),
    row(
        "control_response/success export_conversation",
        "response.response.default_filename",
        Place,
    ),
    row("*", "**.file_path", Place),
    row("*", "**.filePath", Place),
    row("*", "**.planFilePath", Place),
    row("*", "**.outputFile", Place),
    row("*", "**.blocked_path", Place),
    row("*", "**.directories[]", Place),
    row("*", "**.ruleContent", Place),
    row("*", "**.path", Place),
    row("*", "**.command", Place),
    row(
        "control_request/can_use_tool*",
        "request.description",
        Place,
    ),
    // What tools and the CLI itself report.
    row(
        "assistant text (synthetic)",
        "message.content[].text",
        Report,
    ),
    row("assistant text (synthetic)", "local_command_source", Report),
    row("result*", "result", Report),
    row("result*", "errors[]", Report),
    row("system/permission_denied", "message", Report),
    row("user*", "message.content", Report),
    row("user*", "message.content[].content", Report),
    row("user*", "message.content[].content[].text", Report),
    row("user*", "message.content[].text", Report),
    row("user*", "tool_use_result", Report),
    row("user*", "tool_use_result.stdout", Report),
    row("user*", "tool_use_result.stderr", Report),
    row("system/task_notification", "summary", Report),
    row(
        "control_response/success get_session_cost",
        "response.response.text",
        Prose,
    ),
    row("control_response/error*", "response.error", Report),
];

/// What may be done to that field of a line of that name.
pub(crate) fn lookup(word: &str, path: &Path) -> Option<How> {
    let key = path.last_key()?;
    let rows = by_key();
    let candidates = rows.get(key).into_iter().flatten();
    let row = candidates
        .clone()
        .find(|(row, pattern)| fits(row.line, word) && pattern.matches(path));
    row.map(|(row, _)| row.how)
}

type Rows = HashMap<String, Vec<(&'static Row, Pattern)>>;

/// The rows by the key that each is about.
fn by_key() -> &'static Rows {
    static ROWS: OnceLock<Rows> = OnceLock::new();
    ROWS.get_or_init(|| {
        let mut rows = Rows::new();
        for row in TABLE {
            let pattern = Pattern::parse(row.path);
            let key = pattern.last_key().unwrap_or_default().to_owned();
            assert!(!key.is_empty(), "{} does not end in a key", row.path);
            rows.entry(key).or_default().push((row, pattern));
        }
        rows
    })
}

//! Lines of a transcript beside the conversation: the queue, titles, the last prompt, tools, costs.
//!
//! They have no place in the chain of records. Some are written again from time to time, so that who reads only the end
//! of a large file finds them.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Line, Moment, Scribe, Who, Written, stamp};
use crate::cli::disk::Mode;

/// Characters of a prompt that a note keeps.
const PROMPT_CHARS: usize = 200;

/// What a session cost so far, as its last line says when the process ends.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::cli) struct Cost {
    pub(in crate::cli) total_usd: f64,
    /// Milliseconds of waiting for the model, without and with what was repeated.
    pub(in crate::cli) api_ms: u64,
    pub(in crate::cli) api_ms_with_retries: u64,
    pub(in crate::cli) tool_ms: u64,
    pub(in crate::cli) lines_added: u64,
    pub(in crate::cli) lines_removed: u64,
    pub(in crate::cli) wall_ms: u64,
    /// Milliseconds since 1970 when the session began.
    pub(in crate::cli) started_ms: u64,
    /// By model, as a result tells it.
    pub(in crate::cli) model_usage: Value,
}

impl Scribe {
    /// A message came in. `content` is its text; messages of several blocks are noted without.
    pub(in crate::cli) fn enqueued(&mut self, at: Duration, content: Option<&str>) {
        let mut line = self.queue("enqueue", at);
        line.put_some("content", content);
        self.write(Who::Main, line);
    }

    /// A message begins its turn.
    pub(in crate::cli) fn dequeued(&mut self, at: Duration) {
        let line = self.queue("dequeue", at);
        self.write(Who::Main, line);
    }

    /// A message was folded into the turn that is running.
    pub(in crate::cli) fn absorbed(
        &mut self,
        at: Duration,
        content: &str,
        uuid: Option<&str>,
        delivery: &str,
    ) {
        let mut line = self.queue("remove", at);
        line.put("content", content)
            .put("reason", "absorbed_mid_turn");
        line.put_some("commandUuid", uuid)
            .put("deliveryId", delivery);
        self.write(Who::Main, line);
    }

    fn queue(&self, operation: &str, at: Duration) -> Line {
        let mut line = Line::new();
        line.put("type", "queue-operation")
            .put("operation", operation);
        line.put("timestamp", &stamp(at))
            .put("sessionId", &self.head.session);
        line
    }

    /// A person named the session: `rename_session`. Before the first message the title waits for the file.
    pub(in crate::cli) fn renamed(&mut self, title: &str) {
        let title = one_line(title);
        self.title = (!title.is_empty()).then_some(title);
        if !self.opened && !self.continued {
            return;
        }
        self.open();
        self.note_title();
        if let (true, Some(title)) = (self.kept, &self.title) {
            let mut note = Line::new();
            note.put("customTitle", title);
            self.out.push(Written::Replace {
                path: self
                    .folder
                    .join(&self.head.session)
                    .join("custom-title.json"),
                text: note.end().trim_end().to_owned(),
                mode: Mode::Private,
            });
        }
    }

    /// A turn ended: what the end of the file must hold.
    pub(in crate::cli) fn turn_ended(&mut self) {
        if !self.opened {
            return;
        }
        let mut line = Line::new();
        line.put("type", "last-prompt");
        line.put_some("lastPrompt", self.last_prompt.as_deref());
        line.put("leafUuid", &self.tip(Who::Main))
            .put("sessionId", &self.head.session);
        self.write(Who::Main, line);
        self.note_title();
        if self.continued {
            self.note_mode();
        }
    }

    /// The process ends in order.
    pub(in crate::cli) fn ended(&mut self, cost: &Cost) {
        if !self.opened {
            return;
        }
        let mut line = Line::new();
        line.put("type", "cost-state")
            .put("sessionId", &self.head.session);
        line.put("totalCostUSD", &cost.total_usd)
            .put("totalAPIDuration", &cost.api_ms_with_retries)
            .put("totalAPIDurationWithoutRetries", &cost.api_ms)
            .put("totalToolDuration", &cost.tool_ms)
            .put("totalLinesAdded", &cost.lines_added)
            .put("totalLinesRemoved", &cost.lines_removed)
            .put("totalDuration", &cost.wall_ms)
            .put("startTime", &cost.started_ms)
            .put("modelUsage", &cost.model_usage)
            .put("hasUnknownModelCost", &false);
        self.write(Who::Main, line);
    }

    /// Files are remembered as they were when this message came: `trackedFileBackups` by path.
    pub(in crate::cli) fn remembered(&mut self, message: &str, at: Duration, backups: &Value) {
        let snapshot =
            json!({"messageId": message, "trackedFileBackups": backups, "timestamp": stamp(at)});
        let mut line = Line::new();
        line.put("type", "file-history-snapshot")
            .put("messageId", message);
        line.put("snapshot", &snapshot)
            .put("isSnapshotUpdate", &false);
        self.write(Who::Main, line);
    }

    /// A file is about to be changed for the first time since `message`, by the call in the record `caller`.
    pub(in crate::cli) fn remembered_file(
        &mut self,
        caller: Moment<'_>,
        message: &str,
        path: &str,
        backup: &Value,
    ) {
        let mut line = Line::new();
        line.put("type", "file-history-delta")
            .put("messageId", caller.uuid);
        line.put("snapshotMessageId", message)
            .put("trackingPath", path)
            .put("backup", backup);
        line.put("timestamp", &stamp(caller.at));
        self.write(Who::Main, line);
    }

    /// Which tools were called so far; a new one is noted before the call. Sub-agents' count too.
    pub(super) fn used(&mut self, tool: &str) -> bool {
        let tool = noted_as(tool);
        let new = !self.tools.iter().any(|known| known == tool);
        if new {
            self.tools.push(tool.to_owned());
        }
        new
    }

    pub(super) fn note_tools(&mut self) {
        let mut line = Line::new();
        line.put("type", "tools-used").put("tools", &self.tools);
        line.put("sessionId", &self.head.session);
        self.write(Who::Main, line);
    }

    pub(super) fn note_title(&mut self) {
        let Some(title) = self.title.clone() else {
            return;
        };
        for (kind, key) in [("custom-title", "customTitle"), ("agent-name", "agentName")] {
            let mut line = Line::new();
            line.put("type", kind)
                .put(key, &title)
                .put("sessionId", &self.head.session);
            self.write(Who::Main, line);
        }
    }

    pub(super) fn note_mode(&mut self) {
        let mut line = Line::new();
        line.put("type", "mode")
            .put("mode", "normal")
            .put("sessionId", &self.head.session);
        self.write(Who::Main, line);
    }
}

/// What is called `Task` in conversations is called `Agent` in notes.
pub(in crate::cli::disk) fn noted_as(tool: &str) -> &str {
    if tool == "Task" { "Agent" } else { tool }
}

/// A title on one line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A prompt as a note keeps it: on one line, and not all of it.
pub(super) fn shortened(prompt: &str) -> String {
    let line = prompt.replace(['\r', '\n'], " ");
    let line = line.trim();
    match line.char_indices().nth(PROMPT_CHARS) {
        Some((end, _)) => format!("{}\u{2026}", line[..end].trim_end()),
        None => line.to_owned(),
    }
}

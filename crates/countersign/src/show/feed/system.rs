//! What the CLI tells about itself, where it depends on what was told before.
//!
//! Owns what is known of the session (model, mode, id), so that only changes are told, and which task is one of the
//! background.

use std::time::Duration;

use countersign_wire::cli::{
    ApiRetry, CompactResult, Init, LateAllowNotRun, PermissionDenied, Status, StatusWord,
    SystemMessage, TaskEnd, TaskNotification, TaskStarted, TaskUsage,
};

use super::Feed;
use crate::show::status::Status as Now;
use crate::show::{notice, text};
use crate::term::style::Line;

/// What is known of the session.
#[derive(Debug, Default)]
pub(super) struct Known {
    model: String,
    mode: String,
    session: String,
    has_begun: bool,
}

impl Feed {
    pub(super) fn system(&mut self, message: &SystemMessage, now: Duration) -> Vec<Line> {
        let lines = match message {
            SystemMessage::Init(init) => self.init(init, now),
            SystemMessage::Status(status) => self.status_changed(status, now),
            SystemMessage::ApiRetry(retry) => self.retry(retry, now),
            SystemMessage::CompactBoundary(boundary) => {
                self.turn.compacting = None;
                self.meter.compacted(
                    boundary
                        .compact_metadata
                        .post_tokens
                        .map(|tokens| tokens.as_u64()),
                );
                vec![notice::compacted(boundary)]
            }
            SystemMessage::PermissionDenied(denied) => self.refused(denied),
            SystemMessage::LateAllowNotRun(late) => self.not_run(late),
            SystemMessage::TaskStarted(task) => task_started(task),
            SystemMessage::TaskNotification(task) => self.task_ended(task),
            SystemMessage::BackgroundTasksChanged(changed) => {
                self.background = changed
                    .tasks
                    .iter()
                    .filter(|task| task.ambient != Some(true))
                    .count();
                Vec::new()
            }
            SystemMessage::ThinkingTokens(tokens) => {
                self.turn.guess = self.turn.guess.max(tokens.estimated_tokens.as_u64());
                Vec::new()
            }
            SystemMessage::SessionStateChanged(_)
            | SystemMessage::TaskProgress(_)
            | SystemMessage::TaskUpdated(_)
            | SystemMessage::ShellCwd(_) => Vec::new(),
            other => notice::system(other, self.view.verbose),
        };
        self.notices(lines)
    }

    fn init(&mut self, init: &Init, now: Duration) -> Vec<Line> {
        self.turn.since.get_or_insert(now);
        let model = init.model.as_str();
        let mode = self.mode_in_force(self.mode_of(init).as_str());
        let session = init
            .session_id
            .as_ref()
            .map(|id| id.as_str())
            .unwrap_or_default();
        let lines = match self.known.has_begun {
            false => notice::start(init, &mode, self.view.verbose),
            true => {
                let changed = |name: &str, before: &str, after: &str| {
                    (before != after).then(|| {
                        notice::note(format!("{name} is now {}", text::one_row(after, 80)))
                    })
                };
                let changes = [
                    changed("model", &self.known.model, model),
                    changed("mode", &self.known.mode, &mode),
                    changed("session", &self.known.session, session),
                ];
                changes.into_iter().flatten().collect()
            }
        };
        self.known = Known {
            model: model.to_owned(),
            mode,
            session: session.to_owned(),
            has_begun: true,
        };
        lines
    }

    /// Returns the mode that the CLI says at the start of a turn, or the last one where it does not.
    fn mode_of(&self, init: &Init) -> String {
        match &init.permission_mode {
            Some(mode) => mode.as_str().to_owned(),
            None if self.known.has_begun => self.known.mode.clone(),
            None => "default".to_owned(),
        }
    }

    /// Returns the mode to show when the CLI says that it is in this one.
    fn mode_in_force(&self, of_cli: &str) -> String {
        const PLANS: &str = "plan";
        let of_host = self.host_mode.as_deref().filter(|mode| *mode != PLANS);
        let is_planning = of_cli == PLANS;
        of_host
            .filter(|_| !is_planning)
            .unwrap_or(of_cli)
            .to_owned()
    }

    fn status_changed(&mut self, status: &Status, now: Duration) -> Vec<Line> {
        let mut lines = Vec::new();
        let mode = status.permission_mode.as_ref();
        let mode = mode.map(|mode| self.mode_in_force(mode.as_str()));
        if let Some(mode) = mode.filter(|mode| *mode != self.known.mode) {
            let words = format!("mode is now {}", text::one_row(&mode, 40));
            self.known.mode = mode;
            lines.push(notice::note(words));
        }
        match status.status.as_ref() {
            Some(StatusWord::Compacting) => self.turn.compacting = Some(now),
            Some(StatusWord::Requesting) => {
                self.turn.since.get_or_insert(now);
            }
            _ => {}
        }
        if let Some(outcome) = &status.compact_result {
            self.turn.compacting = None;
            if *outcome == CompactResult::Failed {
                let why = text::one_row(
                    status.compact_error.as_deref().unwrap_or("no reason given"),
                    300,
                );
                lines.push(notice::bad(format!(
                    "the conversation could not be compacted: {why}"
                )));
            }
        }
        lines
    }

    fn retry(&mut self, retry: &ApiRetry, now: Duration) -> Vec<Line> {
        let wait = Duration::from_millis(retry.retry_delay_ms.as_u64());
        self.turn.retry = Some(Now::Retrying {
            attempt: retry.attempt.as_u64(),
            of: retry.max_retries.as_u64(),
            until: now + wait,
            why: notice::api_trouble(
                &retry.error,
                retry.error_status.as_ref().map(|status| status.as_u64()),
            ),
        });
        vec![notice::retry(retry)]
    }

    /// The result of the call says the rest.
    fn refused(&mut self, denied: &PermissionDenied) -> Vec<Line> {
        let id = denied.tool_use_id.as_str();
        self.calls.note_denied(id);
        match self.calls.is_open(id) {
            true => Vec::new(),
            false => {
                let (tool, why) = (
                    text::one_row(&denied.tool_name, 60),
                    text::one_row(&denied.message, 300),
                );
                vec![notice::bad(format!("{tool} was denied: {why}"))]
            }
        }
    }

    /// A call that was allowed too late did not run: its result, where one comes, is that of a denied call.
    fn not_run(&mut self, late: &LateAllowNotRun) -> Vec<Line> {
        if let Some(id) = &late.tool_use_id {
            self.calls.note_denied(id.as_str());
        }
        let why = match &late.reason {
            Some(reason) => format!(" ({})", text::one_row(reason.as_str(), 40)),
            None => String::new(),
        };
        vec![notice::bad(format!(
            "a call was allowed too late and did not run{why}"
        ))]
    }

    /// The end of a task that a call still waits for is told by the result of the call.
    fn task_ended(&mut self, task: &TaskNotification) -> Vec<Line> {
        let is_awaited = task
            .tool_use_id
            .as_ref()
            .is_some_and(|id| self.calls.is_open(id.as_str()));
        if is_awaited || task.skip_transcript == Some(true) {
            return Vec::new();
        }
        let summary = text::one_row(&task.summary, 300);
        let usage = task.usage.as_ref().map(used).unwrap_or_default();
        let id = text::one_row(task.task_id.as_str(), 40);
        let words = format!(
            "background task {id} {}: {summary}{usage}",
            match &task.status {
                TaskEnd::Completed => "is done",
                TaskEnd::Failed => "failed",
                TaskEnd::Stopped => "was stopped",
                other => other.as_str(),
            }
        );
        match task.status {
            TaskEnd::Failed => vec![notice::bad(words)],
            _ => vec![notice::note(words)],
        }
    }
}

fn used(usage: &TaskUsage) -> String {
    format!(
        " · {} · {} tokens · {}",
        text::count(usage.tool_uses.as_u64() as usize, "call"),
        text::tokens(usage.total_tokens.as_u64()),
        text::duration(Duration::from_millis(usage.duration_ms.as_u64())),
    )
}

/// Only what runs beside the conversation is told: the rest has its call.
fn task_started(task: &TaskStarted) -> Vec<Line> {
    let is_quiet = task.skip_transcript == Some(true) || task.ambient == Some(true);
    if is_quiet || task.is_backgrounded != Some(true) || task.tool_use_id.is_some() {
        return Vec::new();
    }
    vec![notice::note(format!(
        "in the background: {}",
        text::one_row(&task.description, 200)
    ))]
}

//! What the CLI tells about itself, beside tasks.
//!
//! Owns which system messages a person reads, which change an entry, and which only pass. One that is not known is shown.

use countersign_wire::cli::INTERNAL_SUBTYPES;
use countersign_wire::route::Route;

use super::Fold;
use super::live::Place;
use super::tools::late_words;
use crate::body::{Compaction, Hook, HookState, Level, Limit, Notice, NoticeKind, Reset, Retry};
use crate::clip::{Clip, word};
use crate::entry::Body;
use crate::glance::{
    self, CompactGlance, InitGlance, LimitGlance, NoticeGlance, ResetGlance, RetryGlance,
    StatusGlance, SystemHookGlance,
};
use crate::meter::whole;

impl Fold {
    pub(super) fn system(&mut self, line: &[u8], route: &Route<'_>) {
        let subtype = route.subtype.map(|subtype| subtype.get().into_owned());
        match subtype.as_deref().unwrap_or_default() {
            "init" => self.init(line, route),
            "status" => self.status(line, route),
            "compact_boundary" => self.compacted(line, route),
            "api_retry" => self.api_retry(line, route),
            "hook_started" | "hook_response" => self.system_hook(line, route),
            "permission_denied" => self.permission_denied(line, route),
            "late_allow_not_run" => self.late_allow(line, route),
            subtype @ ("task_started" | "task_progress" | "task_updated" | "task_notification") => {
                self.task(line, route, subtype)
            }
            "background_tasks_changed" => self.task_list(line, route),
            "informational"
            | "notification"
            | "local_command_output"
            | "model_refusal_fallback"
            | "model_refusal_no_fallback"
            | "plugin_install"
            | "session_title_changed"
            | "session_writes_lost"
            | "mirror_error"
            | "worker_shutting_down" => self.top_notice(line, route),
            "thinking_tokens"
            | "session_state_changed"
            | "control_request_progress"
            | "hook_progress"
            | "commands_changed"
            | "files_persisted"
            | "memory_recall"
            | "elicitation_complete"
            | "shell_cwd" => {}
            subtype if INTERNAL_SUBTYPES.contains(&subtype) => {}
            _ => self.unknown('a', line, route),
        }
    }

    fn init(&mut self, line: &[u8], route: &Route<'_>) {
        let Some(glance) = glance::line::<InitGlance>(line) else {
            return self.broken(line, route);
        };
        if let Some(version) = &glance.claude_code_version {
            self.meter.version(version);
        }
        self.turn_begins();
        if let Some(mode) = &glance.permission_mode {
            self.cli_mode(mode, None, false);
        }
        if let Some(model) = &glance.model {
            self.model(model, None);
        }
    }

    fn status(&mut self, line: &[u8], route: &Route<'_>) {
        let Some(glance) = glance::line::<StatusGlance>(line) else {
            return self.broken(line, route);
        };
        if let Some(mode) = &glance.permission_mode {
            self.cli_mode(mode, None, false);
        }
        if glance.status.as_deref() == Some("compacting") {
            self.compaction();
        }
        if let Some(outcome) = &glance.compact_result {
            let error = glance.compact_error.as_deref().map(word);
            let is_failed = outcome == "failed";
            if let Some(compaction) = self.compaction() {
                compaction.error = error.or(is_failed.then(|| "failed".to_owned()));
            }
            if is_failed {
                self.end_compaction();
            }
        }
    }

    /// The compaction that goes on, or a new one.
    fn compaction(&mut self) -> Option<&mut Compaction> {
        let known = self
            .known
            .compaction
            .filter(|id| self.live.get(*id).is_some());
        let id = known.unwrap_or_else(|| {
            let body = Body::Compaction(Box::default());
            self.live.open(Place::default(), body)
        });
        self.known.compaction = Some(id);
        match &mut self.live.change(id)?.body {
            Body::Compaction(compaction) => Some(compaction),
            _ => None,
        }
    }

    fn compacted(&mut self, line: &[u8], route: &Route<'_>) {
        let Some(glance) = glance::line::<CompactGlance>(line) else {
            return self.broken(line, route);
        };
        self.sums().compactions += 1;
        let said = glance.compact_metadata.unwrap_or_default();
        if let Some(compaction) = self.compaction() {
            compaction.is_done = true;
            compaction.trigger = said.trigger.as_deref().map(word);
            compaction.tokens_before = said.pre_tokens.map(|tokens| whole(Some(tokens)));
            compaction.tokens_after = said.post_tokens.map(|tokens| whole(Some(tokens)));
        }
    }

    pub(super) fn end_compaction(&mut self) {
        if let Some(id) = self.known.compaction.take() {
            self.close(id);
        }
    }

    fn api_retry(&mut self, line: &[u8], route: &Route<'_>) {
        match glance::line::<RetryGlance>(line) {
            Some(glance) => self.retry("", &glance),
            None => self.broken(line, route),
        }
    }

    /// A tick while a tool runs. Only that its sub-agent asks the API again is told.
    pub(super) fn tool_progress(&mut self, line: &[u8], route: &Route<'_>) {
        if memchr_retry(line)
            && let Some(glance) = glance::line::<RetryGlance>(line)
            && let Some(retry) = &glance.subagent_retry
            && let Some(call) = route.tool_use_id
        {
            self.retry(&word(&call.get()), retry);
        }
    }

    fn retry(&mut self, speaker: &str, glance: &RetryGlance) {
        self.sums().retries += 1;
        let retry = Retry {
            attempt: whole(glance.attempt),
            most: whole(glance.max_retries),
            delay_ms: whole(glance.retry_delay_ms),
            status: glance.error_status.map(|status| whole(Some(status))),
            error: glance
                .error
                .as_deref()
                .or(glance.error_category.as_deref())
                .map(word),
            is_over: false,
        };
        let known = self.known.retries.get(speaker).copied();
        if let Some(entry) = known.and_then(|id| self.live.change(id)) {
            entry.body = Body::Retry(retry);
            return;
        }
        let place = self.place_under(speaker);
        let id = self.live.open(place, Body::Retry(retry));
        self.known.retries.insert(speaker.to_owned(), id);
    }

    /// The speaker went on.
    pub(super) fn retry_over(&mut self, speaker: &str) {
        let Some(id) = self.known.retries.remove(speaker) else {
            return;
        };
        if let Some(Body::Retry(retry)) = self.live.change(id).map(|entry| &mut entry.body) {
            retry.is_over = true;
        }
        self.close(id);
    }

    fn system_hook(&mut self, line: &[u8], route: &Route<'_>) {
        let glance = glance::line::<SystemHookGlance>(line);
        let id = glance.as_ref().and_then(|glance| glance.hook_id.as_deref());
        let (Some(id), Some(glance)) = (id.map(word), glance.as_ref()) else {
            return self.broken(line, route);
        };
        let entry = match self.hooks.get(&id) {
            Some(entry) => *entry,
            None => {
                let hook = Hook {
                    event: word(glance.hook_event.as_deref().unwrap_or_default()),
                    name: word(glance.hook_name.as_deref().unwrap_or_default()),
                    is_callback: false,
                    tool_use_id: None,
                    state: HookState::Running,
                    decision: None,
                    reason: None,
                    output: None,
                    exit_code: None,
                    took: None,
                };
                let body = Body::Hook(Box::new(hook));
                self.live.open(Place::default(), body)
            }
        };
        self.hooks.insert(id, entry);
        let Some(outcome) = &glance.outcome else {
            return;
        };
        let here = self.live.here();
        if let Some(Body::Hook(hook)) = self.live.change(entry).map(|entry| &mut entry.body) {
            let output = glance.output.as_deref().filter(|text| !text.is_empty());
            let output = output.or(glance.stderr.as_deref());
            hook.output = output
                .filter(|text| !text.is_empty())
                .map(|text| Clip::of(text, here));
            hook.exit_code = glance.exit_code.map(|code| code as i64);
        }
        let state = match outcome.as_str() {
            "success" => HookState::Done,
            "cancelled" => HookState::Cancelled,
            _ => HookState::Failed,
        };
        self.end_hook(entry, state);
    }

    fn permission_denied(&mut self, line: &[u8], route: &Route<'_>) {
        match glance::line::<NoticeGlance>(line) {
            Some(glance) if self.denied(&glance) => {}
            _ => self.top_notice(line, route),
        }
    }

    /// A call that was allowed too late did not run.
    fn late_allow(&mut self, line: &[u8], route: &Route<'_>) {
        match glance::line::<NoticeGlance>(line) {
            Some(glance) if self.not_run(&glance) => {}
            _ => self.top_notice(line, route),
        }
    }

    /// Something a person is meant to read.
    pub(super) fn top_notice(&mut self, line: &[u8], route: &Route<'_>) {
        let Some(glance) = glance::line::<NoticeGlance>(line) else {
            return self.broken(line, route);
        };
        let name = route.name();
        let said = [
            &glance.content,
            &glance.text,
            &glance.message,
            &glance.title,
            &glance.error,
            &glance.summary,
            &glance.reason,
            &glance.error_code,
            &glance.status,
        ];
        let said = said.into_iter().flatten().next();
        let late = (name == "system/late_allow_not_run").then(|| late_words(&glance));
        let said = late.as_ref().or(said);
        let level = match (glance.level.as_deref(), name.as_str()) {
            (Some("warning"), _)
            | (_, "system/permission_denied" | "system/late_allow_not_run") => Level::Warning,
            (_, "system/session_writes_lost" | "system/mirror_error") => Level::Error,
            _ if glance.error.is_some() => Level::Error,
            _ => Level::Info,
        };
        let about = match name.as_str() {
            "system/session_title_changed" => NoticeKind::Title,
            "system/local_command_output" => NoticeKind::Command,
            _ => NoticeKind::Cli,
        };
        let notice = Notice {
            level,
            about,
            source: word(&name),
            text: Clip::of(said.map_or("", String::as_str), self.live.here()),
            tool_use_id: glance.tool_use_id.as_deref().map(word),
        };
        let place = self.place(route);
        self.live.put(place, Body::Notice(Box::new(notice)));
    }

    /// Where a limit of the account stands: told when that changes.
    pub(super) fn limit(&mut self, line: &[u8], route: &Route<'_>) {
        let glance = glance::line::<LimitGlance>(line);
        let info = glance.and_then(|glance| glance.rate_limit_info);
        let Some((status, info)) =
            info.and_then(|info| Some((word(info.status.as_deref()?), info)))
        else {
            return self.broken(line, route);
        };
        let before = self.known.limit.replace(status.clone());
        if before.as_deref().unwrap_or("allowed") == status {
            return;
        }
        let limit = Limit {
            status,
            window: info.rate_limit_type.as_deref().map(word),
            used: info.utilization.filter(|used| used.is_finite()),
            resets_at: info.resets_at.map(|at| whole(Some(at))),
        };
        self.live.put(Place::default(), Body::Limit(limit));
    }

    pub(super) fn reset(&mut self, line: &[u8], route: &Route<'_>) {
        let Some(glance) = glance::line::<ResetGlance>(line) else {
            return self.broken(line, route);
        };
        self.meter.reset();
        let reset = Reset {
            trigger: glance.trigger.as_deref().map(word),
            conversation: glance.new_conversation_id.as_deref().map(word),
        };
        self.live.put(Place::default(), Body::Reset(reset));
    }
}

/// Whether a tick may tell of a retry; hardly any does.
fn memchr_retry(line: &[u8]) -> bool {
    const NAME: &[u8] = b"\"subagent_retry\"";
    line.windows(NAME.len()).any(|window| window == NAME)
}

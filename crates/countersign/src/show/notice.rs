//! What the CLI tells about itself, in a line each.
//!
//! Owns the words of notices that need no memory; what depends on earlier lines (modes, tasks, retries) is decided in
//! `feed`. Housekeeping is silent unless a person wants to see everything.

use std::time::Duration;

use countersign_wire::cli::{
    ApiRetry, CompactBoundary, HookOutcome, HookResponse, Init, NoticeLevel, RateLimitInfo,
    RateLimitStatus, RateLimitType, SystemMessage,
};
use countersign_wire::vocab::AssistantErrorKind;
use serde::Serialize;

use super::{gutter, text};
use crate::term::style::{Line, Tone};

/// A notice of ours.
pub(crate) fn note(words: impl AsRef<str>) -> Line {
    Line::of(words, Tone::Dim).after(gutter::NOTICE, Tone::Dim)
}

/// Something a person should see.
pub(crate) fn warn(words: impl AsRef<str>) -> Line {
    Line::of(words, Tone::Warn).after(gutter::WARNING, Tone::Warn)
}

/// Something that went wrong.
pub(crate) fn bad(words: impl AsRef<str>) -> Line {
    Line::of(words, Tone::Bad).after(gutter::WARNING, Tone::Bad)
}

/// A text of somebody else below a line of ours.
fn below(head: Line, words: &str, most: usize) -> Vec<Line> {
    let mut lines = vec![head];
    let count = text::lines(words);
    lines.extend(
        words
            .lines()
            .take(most)
            .map(|row| gutter::said(Line::plain(text::clip(row, 2_000).0))),
    );
    if count > most {
        lines.push(gutter::said(Line::of(
            format!("… {} more lines", count - most),
            Tone::Dim,
        )));
    }
    lines
}

/// The first thing that is known of a session. `mode` is the one in force.
pub(crate) fn start(init: &Init, mode: &str, is_verbose: bool) -> Vec<Line> {
    let session = init
        .session_id
        .as_ref()
        .map(|id| id.as_str().to_owned())
        .unwrap_or_default();
    let parts = [
        text::one_row(&init.model, 60),
        format!("mode {}", text::one_row(mode, 40)),
        match &init.claude_code_version {
            Some(version) => format!("Claude Code {}", text::one_row(version, 20)),
            None => "Claude Code".to_owned(),
        },
        text::one_row(&init.cwd, 200),
        format!(
            "session {}",
            text::clip(
                &text::one_row(&session, 40),
                if is_verbose { 40 } else { 8 }
            )
            .0
        ),
    ];
    let mut lines = vec![note(parts.join(" · "))];
    for server in init
        .mcp_servers
        .iter()
        .flatten()
        .filter(|server| matches!(&*server.status, "failed" | "needs-auth"))
        .take(20)
    {
        let (name, status) = (
            text::one_row(&server.name, 60),
            text::one_row(&server.status, 40),
        );
        lines.push(warn(format!("MCP server {name}: {status}")));
    }
    for error in init.plugin_errors.iter().flatten().take(20) {
        lines.push(warn(format!(
            "plugin {}: {}",
            text::one_row(&error.plugin, 60),
            text::one_row(&error.message, 200)
        )));
    }
    lines
}

/// Why the API failed, in words.
pub(crate) fn api_trouble(error: &AssistantErrorKind, status: Option<u64>) -> String {
    let words = match error {
        AssistantErrorKind::AuthenticationFailed => "not signed in",
        AssistantErrorKind::BillingError => "billing trouble",
        AssistantErrorKind::RateLimit => "limit reached",
        AssistantErrorKind::Overloaded => "API overloaded",
        AssistantErrorKind::InvalidRequest => "request refused",
        AssistantErrorKind::ServerError => "API trouble",
        AssistantErrorKind::MaxOutputTokens => "answer too long",
        AssistantErrorKind::Unknown if status.is_none() => "no answer from the API",
        AssistantErrorKind::Unknown => "API error",
        other => other.as_str(),
    };
    match status {
        Some(status) => format!("{} ({status})", text::one_row(words, 60)),
        None => text::one_row(words, 60),
    }
}

/// The API is asked again.
pub(crate) fn retry(retry: &ApiRetry) -> Line {
    let why = api_trouble(
        &retry.error,
        retry.error_status.as_ref().map(|status| status.as_u64()),
    );
    let wait = text::duration(Duration::from_millis(retry.retry_delay_ms.as_u64()));
    warn(format!(
        "{why}: trying again in {wait} ({} of {})",
        retry.attempt.as_u64(),
        retry.max_retries.as_u64()
    ))
}

/// The conversation was made shorter.
pub(crate) fn compacted(boundary: &CompactBoundary) -> Line {
    let data = &boundary.compact_metadata;
    let before = text::tokens(data.pre_tokens.as_u64());
    let size = match data.post_tokens {
        Some(after) => format!("{before} → {} tokens", text::tokens(after.as_u64())),
        None => format!("{before} tokens before"),
    };
    note(format!(
        "conversation compacted ({}): {size}",
        text::one_row(data.trigger.as_str(), 20)
    ))
}

/// A limit of the plan, once it is near.
pub(crate) fn limit(info: &RateLimitInfo) -> Option<Line> {
    let window = match &info.rate_limit_type {
        None => "plan".to_owned(),
        Some(RateLimitType::FiveHour) => "five-hour".to_owned(),
        Some(RateLimitType::SevenDay) => "seven-day".to_owned(),
        Some(other) => text::one_row(&other.as_str().replace('_', " "), 40),
    };
    let used = info.utilization.map(|share| {
        let share = share.as_f64();
        format!(
            ", {:.0} % used",
            if share <= 1.0 { share * 100.0 } else { share }
        )
    });
    let resets = info
        .resets_at
        .and_then(|at| jiff::Timestamp::from_second(at.as_u64() as i64).ok());
    let resets = resets.map(|at| format!(", resets {}", at.strftime("%Y-%m-%d %H:%M UTC")));
    let rest = format!("{}{}", used.unwrap_or_default(), resets.unwrap_or_default());
    match info.status {
        RateLimitStatus::AllowedWarning => Some(warn(format!("{window} limit is near{rest}"))),
        RateLimitStatus::Rejected => Some(bad(format!("{window} limit is reached{rest}"))),
        _ => None,
    }
}

/// Notices that need no memory.
pub(crate) fn system(message: &SystemMessage, is_verbose: bool) -> Vec<Line> {
    match message {
        SystemMessage::Informational(info) => {
            let head = match info.level {
                NoticeLevel::Warning => warn("Claude Code:"),
                _ => note("Claude Code:"),
            };
            said(head, &info.content)
        }
        SystemMessage::Notification(notification) => {
            // Keys of another program do nothing here.
            let words = notification
                .text
                .split(" · ctrl+")
                .next()
                .unwrap_or_default();
            said(note("Claude Code:"), words)
        }
        SystemMessage::LocalCommandOutput(output) => {
            below(note("command:"), output.content.trim_end(), 200)
        }
        SystemMessage::ModelRefusalFallback(fallback) => {
            let model = text::one_row(&fallback.fallback_model, 60);
            said(
                warn(format!("the model refused; {model} answers instead:")),
                &fallback.content,
            )
        }
        SystemMessage::ModelRefusalNoFallback(refusal) => {
            said(warn("the model refused:"), &refusal.content)
        }
        SystemMessage::HookResponse(hook) => hook_ended(hook, is_verbose),
        SystemMessage::SessionWritesLost(lost) => {
            vec![bad(format!(
                "the disk is full ({}): parts of this session are not saved",
                lost.error_code
            ))]
        }
        SystemMessage::WorkerShuttingDown(worker) => vec![warn(format!(
            "the agent is going away: {}",
            text::one_row(&worker.reason, 100)
        ))],
        SystemMessage::PluginInstall(install) if install.error.is_some() => said(
            warn("a plugin could not be installed:"),
            install.error.as_deref().unwrap_or_default(),
        ),
        other if is_verbose => vec![unknown("system", other)],
        _ => Vec::new(),
    }
}

/// One text of the CLI behind a head of ours: in its line where it fits, below where it does not.
fn said(head: Line, words: &str) -> Vec<Line> {
    match text::lines(words) {
        0 => Vec::new(),
        1 => vec![head.add(format!(" {}", text::one_row(words, 400)), Tone::Plain)],
        _ => below(head, words, 12),
    }
}

fn hook_ended(hook: &HookResponse, is_verbose: bool) -> Vec<Line> {
    let name = text::one_row(&hook.hook_name, 80);
    let output = match hook.stderr.trim().is_empty() {
        true => hook.output.trim_end(),
        false => hook.stderr.trim_end(),
    };
    match (&hook.outcome, is_verbose) {
        (HookOutcome::Error, _) => {
            let code = hook
                .exit_code
                .map(|code| format!(" with exit code {}", code.as_u64()));
            below(
                warn(format!("hook {name} failed{}", code.unwrap_or_default())),
                output,
                6,
            )
        }
        (HookOutcome::Cancelled, _) => vec![warn(format!("hook {name} was cancelled"))],
        (_, true) => below(note(format!("hook {name} ran")), output, 6),
        _ => Vec::new(),
    }
}

/// A message that is not shown otherwise, for a person who wants to see everything.
pub(crate) fn unknown(kind: &str, message: &impl Serialize) -> Line {
    let value = serde_json::to_value(message).unwrap_or_default();
    note(format!("{kind} {}", text::json_row(&value, 160)))
}

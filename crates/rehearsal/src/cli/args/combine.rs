//! Flags that need other flags, or forbid them.
//!
//! Pure. Owns the pairs and their wording; in which order they are looked at is `check`'s matter.

use super::options::{InputFormat, Options, OutputFormat, Resume};
use super::refusal::Refusal;

/// What runs on another machine.
pub(super) fn elsewhere(options: &Options) -> Result<(), Refusal> {
    if let Some(name) = options.value("--cloud").or(options.value("--remote")) {
        return Err(Refusal::error(format!(
            "--cloud \"{name}\" is not a cloud session ID or URL.\nWith --print, --cloud sends the prompt to an existing cloud session: \
             pass its ID (session_... or cse_...) or its claude.ai/code URL. To start a new cloud session from a description instead, drop --print."
        )));
    }
    for flag in ["--cloud", "--remote", "--environment", "--attach-serve"] {
        if options.has(flag) {
            return Err(Refusal::saying(format!(
                "the scripted CLI does not play `{flag}`: it runs on this machine only"
            )));
        }
    }
    Ok(())
}

/// Channels say what kind they are of.
pub(super) fn channels(options: &Options) -> Result<(), Refusal> {
    for flag in ["--channels", "--dangerously-load-development-channels"] {
        let values = options.given.get(flag);
        let is_tagged = |value: &String| {
            let plugin = value.strip_prefix("plugin:");
            value.starts_with("server:") || plugin.is_some_and(|name| name.contains('@'))
        };
        if let Some(value) = values.into_iter().flatten().find(|value| !is_tagged(value)) {
            return Err(Refusal::saying(format!(
                "{flag} entries must be tagged: {value}\n  plugin:<name>@<marketplace>  — plugin-provided channel (allowlist enforced)\n  server:<name>                — manually configured MCP server"
            )));
        }
    }
    Ok(())
}

/// Flags that need a format of input or output.
pub(super) fn formats(options: &Options) -> Result<(), Refusal> {
    let reads_lines = options.input_format == InputFormat::StreamJson;
    let writes_lines = options.output_format == OutputFormat::StreamJson;
    let both = reads_lines && writes_lines;
    if let Some(url) = options.value("--sdk-url") {
        let host = url
            .split("://")
            .last()
            .unwrap_or(url)
            .split(['/', ':'])
            .next()
            .unwrap_or(url);
        return Err(Refusal::error(format!(
            "--sdk-url rejected: host \"{host}\" is not an approved Anthropic endpoint. This flag is reserved for Remote Control worker processes connecting to Anthropic's backend."
        )));
    }
    let wrong = [
        (
            reads_lines && !writes_lines,
            "--input-format=stream-json requires output-format=stream-json.",
        ),
        (
            options.await_initialize && !reads_lines,
            "--await-initialize requires --input-format=stream-json.",
        ),
        (
            options.has("--await-claim") && !both,
            "--await-claim requires --print with --input-format=stream-json and --output-format=stream-json.",
        ),
        (
            options.has("--await-claim") && (options.resume.is_some() || options.fork_session),
            "--await-claim cannot be combined with --continue, --resume or --fork-session.",
        ),
        (
            options.replay && !both,
            "--replay-user-messages requires both --input-format=stream-json and --output-format=stream-json.",
        ),
        (
            options.prompt_suggestions && !writes_lines,
            "--prompt-suggestions requires --print and --output-format=stream-json (prompt_suggestion messages are only surfaced in stream-json output).",
        ),
        (
            options.partial && !writes_lines,
            "--include-partial-messages requires --print and --output-format=stream-json.",
        ),
        (
            options.forward_subagent_text && !writes_lines,
            "--forward-subagent-text requires --print and --output-format=stream-json.",
        ),
    ];
    match wrong.into_iter().find(|(wrong, _)| *wrong) {
        Some((_, text)) => Err(Refusal::error(text)),
        None => Ok(()),
    }
}

/// Flags that need a session to resume.
pub(super) fn resuming(options: &Options) -> Result<(), Refusal> {
    let named = matches!(options.resume, Some(Resume::Named(_)));
    let wrong = [
        (
            options.resume_session_at.is_some() && !named,
            "--resume-session-at requires --resume",
        ),
        (
            options.has("--resume-drops-turn") && options.resume_session_at.is_none(),
            "--resume-drops-turn requires --resume-session-at",
        ),
        (
            options.has("--rewind-files") && !named,
            "--rewind-files requires --resume",
        ),
        (
            options.has("--rewind-files") && options.prompt.is_some(),
            "--rewind-files is a standalone operation and cannot be used with a prompt",
        ),
    ];
    match wrong.into_iter().find(|(wrong, _)| *wrong) {
        Some((_, text)) => Err(Refusal::error(text)),
        None => Ok(()),
    }
}

//! A turn that did not succeed, in words: what happened, and what to do.
//!
//! Success is `subtype` success *and* no error: an API that cannot be reached is a success with an error.

use countersign_wire::cli::{ResultMessage, ResultSubtype};
use countersign_wire::vocab::TerminalReason;

use crate::show::{gutter, text};
use crate::term::style::{Line, Tone};

/// The lines about a failure; none if the turn succeeded. `has_said` is the error the CLI has told already as a text,
/// `was_interrupted` that an interruption was told.
pub(crate) fn failure(
    result: &ResultMessage,
    has_said: Option<&str>,
    was_interrupted: bool,
) -> Vec<Line> {
    let (words, advice) = match &result.subtype {
        ResultSubtype::Success if !result.is_error => return Vec::new(),
        ResultSubtype::Success => api(result, has_said),
        ResultSubtype::ErrorMaxTurns => (
            "Stopped: the number of turns that was set is used up.".to_owned(),
            "Send a message to go on, or raise the number.",
        ),
        ResultSubtype::ErrorMaxBudgetUsd => (
            "Stopped: the budget of this session is spent.".to_owned(),
            "Resume the session with a higher budget to go on.",
        ),
        ResultSubtype::ErrorMaxStructuredOutputRetries => (
            "The answer did not fit the schema that was asked for, after several attempts."
                .to_owned(),
            "Make the schema simpler, or ask for less at once.",
        ),
        ResultSubtype::ErrorDuringExecution if is_interrupted(result) => {
            return match was_interrupted {
                true => Vec::new(),
                false => {
                    vec![Line::of("interrupted", Tone::Warn).after(gutter::WARNING, Tone::Warn)]
                }
            };
        }
        ResultSubtype::ErrorDuringExecution => (
            execution(result),
            "Send the message again, or say how to go on.",
        ),
        other => (
            format!(
                "The turn ended with {}. {}",
                text::one_row(other.as_str(), 60),
                errors(result)
            )
            .trim_end()
            .to_owned(),
            "Send a message to go on.",
        ),
    };
    let mut lines = Vec::new();
    if !words.is_empty() {
        lines.push(Line::of(words, Tone::Bad).after(gutter::WARNING, Tone::Bad));
    }
    lines.push(Line::of(advice, Tone::Plain).after(gutter::WARNING, Tone::Bad));
    lines
}

fn is_interrupted(result: &ResultMessage) -> bool {
    match &result.terminal_reason {
        Some(reason) => matches!(
            reason,
            TerminalReason::AbortedStreaming | TerminalReason::AbortedTools
        ),
        // Older CLIs give no reason; they call an interrupted turn no error.
        None => !result.is_error,
    }
}

fn errors(result: &ResultMessage) -> String {
    let errors = result
        .errors
        .iter()
        .flatten()
        .filter(|error| !error.starts_with("[ede_diagnostic]"));
    let errors: Vec<String> = errors
        .take(5)
        .map(|error| text::one_row(error, 300))
        .collect();
    errors.join("; ")
}

fn execution(result: &ResultMessage) -> String {
    match errors(result) {
        errors if errors.is_empty() => {
            "The turn ended with an error that the CLI does not explain.".to_owned()
        }
        errors => format!("The turn ended with an error: {errors}"),
    }
}

fn api(result: &ResultMessage, has_said: Option<&str>) -> (String, &'static str) {
    let said = result.result.as_deref().unwrap_or_default();
    let words = match has_said == Some(said) && !said.is_empty() {
        true => String::new(),
        false => format!("The model could not answer: {}", text::one_row(said, 400)),
    };
    let status = result
        .api_error_status
        .as_ref()
        .copied()
        .map(|status| status.as_u64());
    let advice = match (&result.terminal_reason, status.or_else(|| status_in(said))) {
        (Some(TerminalReason::PromptTooLong), _) | (_, Some(413)) => {
            "The conversation is too long: send /compact, or begin a new session."
        }
        (Some(TerminalReason::ImageError), _) => {
            "A picture cannot be used: leave it out, or make it smaller."
        }
        (_, Some(401 | 403)) => {
            "Sign in again: run `claude` and send /login, or check the API key."
        }
        (_, Some(404)) => "The model is not known to this account: choose another one.",
        (_, Some(429)) => "A limit is reached: wait until it resets, or choose another model.",
        (_, Some(400)) => {
            "The API refused the request: change the message, or begin a new session."
        }
        (_, Some(500..=599)) => "The API has trouble: send the message again in a while.",
        _ => {
            "Send the message again; if it fails again, look at the connection and at `claude` itself."
        }
    };
    (words, advice)
}

/// The status in `API Error: 400 …`, which is all that older CLIs tell.
fn status_in(said: &str) -> Option<u64> {
    said.strip_prefix("API Error: ")?.get(..3)?.parse().ok()
}

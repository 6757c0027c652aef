//! Dialogs of the CLI.
//!
//! Owns the table of the kinds that can be shown, and what can be chosen in each. They are declared when an agent is
//! started; a CLI that knows a kind to be missing does without it. Invariant: a kind that is not in the table is never
//! answered, only closed.

use serde_json::Value;

use super::Asked;
use super::consequence::{Answer, Consequence};
use crate::control::{ControlError, Decide};

/// The kinds that can be shown: to be declared by `supportedDialogKinds`.
pub const DIALOG_KINDS: &[&str] = &["refusal_fallback_prompt"];

/// What can be chosen in a dialog of this kind: the word on the wire, and what it means. Empty for kinds that cannot be
/// shown.
pub fn choices(kind: &str) -> &'static [(&'static str, &'static str)] {
    match kind {
        "refusal_fallback_prompt" => &[
            ("retry_fallback", "Try again with the other model"),
            ("edit_prompt", "Stop here; I write the message anew"),
        ],
        _ => &[],
    }
}

/// The answer is the word itself, or an object with it as `choice`.
pub(super) fn decide(asked: &Asked, decide: &Decide) -> Result<Consequence, ControlError> {
    match decide {
        Decide::Answer { answers } => {
            let word = answers.get("choice").unwrap_or(answers).as_str();
            let choices = choices(&asked.tool);
            if choices.is_empty() {
                let kind = &asked.tool;
                return Err(ControlError::invalid(format!(
                    "the dialog `{kind}` cannot be shown by this build: decline it"
                )));
            }
            let chosen = choices.iter().find(|(known, _)| Some(*known) == word);
            let (word, meaning) = chosen.ok_or_else(|| {
                let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
                ControlError::invalid(format!("choose one of: {}", words.join(", ")))
            })?;
            let result = Value::from(*word);
            Ok(Consequence::of(Answer::Complete { result }, *meaning))
        }
        Decide::Decline { .. }
        | Decide::Deny {
            interrupt: false, ..
        } => Ok(Consequence::of(Answer::Dismiss, "closed")),
        Decide::Deny {
            interrupt: true, ..
        } => Err(ControlError::invalid(
            "a dialog cannot end the turn: decline it, and interrupt the session",
        )),
        Decide::Allow { .. } | Decide::Plan(_) => Err(ControlError::invalid(
            "this is a dialog: decide `answer` with a choice, or `decline`",
        )),
    }
}

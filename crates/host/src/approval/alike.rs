//! One decision for all questions of the same kind in a session.
//!
//! Owns which questions are alike, and what of a decision holds for the others. Invariants: what nobody has seen is not
//! allowed; what the CLI marks as delicate is allowed by itself only; what was made for one input is used for no other.

use super::Asked;
use crate::control::approval::Kind;
use crate::control::{ControlError, Decide};

/// Whether a decision about `seen` may also decide `other`, of the same session. `was_seen`: the person named its digest.
pub fn are_alike(seen: &Asked, other: &Asked, was_seen: bool, decide: &Decide) -> bool {
    let is_same = seen.kind == other.kind
        && seen.subtype == other.subtype
        && seen.tool == other.tool
        && !matches!(seen.kind, Kind::Plan);
    let is_yes = matches!(decide, Decide::Allow { .. });
    let may = !is_yes || (was_seen && other.marks.first().is_none());
    is_same && may
}

/// Maximum number of letters that every row of every client shows.
const ROW: usize = 60;

/// Whether a row may show less than all of what a call is about: then nobody has seen its end.
pub fn may_be_cut(asked: &Asked) -> bool {
    let text = |name: &str| asked.input.get(name).and_then(serde_json::Value::as_str);
    let subject = match &*asked.tool {
        "Bash" | "PowerShell" | "Monitor" => text("command"),
        "Edit" | "MultiEdit" | "Write" | "Read" => text("file_path"),
        "NotebookEdit" => text("notebook_path"),
        _ => None,
    };
    let subject = subject.map_or_else(|| asked.input.to_string(), str::to_owned);
    subject.contains('\n') || subject.chars().count() > ROW
}

/// What of a decision holds for the others: yes or no, and nothing that was made for the one that was seen.
///
/// # Errors
/// When the decision is one for a single question only.
pub fn for_the_others(decide: &Decide) -> Result<Decide, ControlError> {
    match decide {
        Decide::Allow {
            updated_input: None,
            ..
        } => Ok(Decide::allow()),
        Decide::Deny { .. } | Decide::Decline { .. } => Ok(decide.clone()),
        Decide::Allow { .. } => Err(ControlError::invalid(
            "an input that was changed is for one call: decide this one alone",
        )),
        Decide::Plan(_) | Decide::Answer { .. } => Err(ControlError::invalid(
            "a plan or an answer is for one question: decide this one alone",
        )),
    }
}

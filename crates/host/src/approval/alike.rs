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

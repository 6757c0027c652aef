//! What a person says about a plan, as the model reads it.
//!
//! Owns the text made of a remark and of comments on lines, each with the line it is about. Invariant: a comment on a line
//! that the plan does not have is an error; the model would look for it in vain.

use crate::control::ControlError;
use crate::control::approval::{Comment, PlanDecision};

/// A quoted line is no longer than this.
const LETTERS: usize = 400;

/// The remark and the comments, in the order of the lines. None: nothing was said.
///
/// # Errors
/// When a comment is about a line that is not there.
pub(super) fn said(
    choice: &PlanDecision,
    plan: Option<&str>,
) -> Result<Option<String>, ControlError> {
    let remark = choice.feedback.as_deref().map(str::trim);
    let mut parts: Vec<String> = remark
        .filter(|remark| !remark.is_empty())
        .map(str::to_owned)
        .into_iter()
        .collect();
    let lines: Vec<&str> = plan.unwrap_or_default().lines().collect();
    let mut comments: Vec<&Comment> = choice
        .comments
        .iter()
        .filter(|comment| !comment.text.trim().is_empty())
        .collect();
    comments.sort_by_key(|comment| comment.line);
    for comment in comments {
        parts.push(quoted(comment, &lines)?);
    }
    Ok((!parts.is_empty()).then(|| parts.join("\n\n")))
}

fn quoted(comment: &Comment, lines: &[&str]) -> Result<String, ControlError> {
    let number = comment.line as usize;
    let line = number.checked_sub(1).and_then(|place| lines.get(place));
    let line = line.ok_or_else(|| {
        ControlError::invalid(format!(
            "there is no line {number}: the plan has {}",
            lines.len()
        ))
    })?;
    let shown: String = line.chars().take(LETTERS).collect();
    let rest = match shown.len() < line.len() {
        true => "…",
        false => "",
    };
    let text = comment.text.trim();
    Ok(format!(
        "On line {number} of the plan:\n> {shown}{rest}\n{text}"
    ))
}

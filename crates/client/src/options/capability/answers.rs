//! What a CLI makes of the answers to its permission requests, and of the end of a turn.
//!
//! Owns the answers table and [`turn_outcome`]. Invariant: the portable answer (allow with the full input, deny with a
//! message) is right for every version; what is said here is why nothing else may be sent.

use countersign_wire::cli::ResultSubtype;
use countersign_wire::vocab::TerminalReason;

use super::Capabilities;
use super::measured::*;

impl Capabilities {
    /// Whether an allow without `updatedInput` is a denial. Up to 2.1.197 it is; later the original input runs.
    pub fn updated_input_required(&self) -> bool {
        !self.since(V2_1_325)
    }

    /// Whether an allow with `{}` runs the tool with no input at all. Up to 2.1.62 it does; later the original runs.
    pub fn empty_input_runs_as_empty(&self) -> bool {
        !self.since(V2_1_197)
    }

    /// Whether a field in snake_case is dropped in silence, so that an edited input is lost and the original runs.
    /// Earlier versions deny.
    pub fn misspelt_input_runs_original(&self) -> bool {
        self.after(V2_1_197)
    }

    /// Whether an input that does not fit the tool's schema is refused with a text for the model. Earlier versions
    /// run into an error inside the tool.
    pub fn checks_updated_input(&self) -> bool {
        self.since(V2_1_197)
    }

    /// Whether `updatedPermissions: null` makes a denial of an allow. Up to 2.1.62 it does, so it is left out.
    pub fn null_updates_deny_tool(&self) -> bool {
        !self.since(V2_1_197)
    }

    /// Whether one update it cannot read makes a denial of the whole allow. Up to 2.1.62 it does; later the entry is
    /// dropped. See [`Capabilities::usable_updates`].
    pub fn bad_update_denies_tool(&self) -> bool {
        !self.since(V2_1_197)
    }

    /// Whether the message of a deny with `interrupt` reaches the model. From 2.1.197 a stock text replaces it.
    pub fn deny_and_stop_keeps_message(&self) -> bool {
        !self.after(V2_1_62)
    }

    /// Whether the answer to AskUserQuestion must repeat the questions. We always do.
    pub fn questions_must_be_repeated(&self) -> bool {
        self.after(V2_1_62)
    }

    /// What `is_error` says in the result of an interrupted turn. Up to 2.1.62 it is false.
    pub fn interrupt_is_error(&self) -> bool {
        self.since(V2_1_197)
    }

    /// What `is_error` says when the limit of turns or of cost is reached. Up to 2.1.62 it is false.
    pub fn limit_is_error(&self) -> bool {
        self.since(V2_1_197)
    }
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It did what it was asked.
    Success,
    /// It was stopped.
    Interrupted,
    /// It failed, or a limit was reached.
    Failed,
}

/// How a turn ended, from its result and from whether the host asked it to stop.
///
/// Neither field is enough: an API failure is `success` with `is_error`, and on older CLIs an interrupted turn looks
/// like a crash without an error.
pub fn turn_outcome(
    subtype: &ResultSubtype,
    is_error: bool,
    terminal_reason: Option<&TerminalReason>,
    stop_asked: bool,
) -> Outcome {
    let aborted = terminal_reason.is_some_and(|reason| reason.as_str().starts_with("aborted_"));
    if *subtype == ResultSubtype::Success && !is_error {
        Outcome::Success
    } else if aborted || (stop_asked && *subtype == ResultSubtype::ErrorDuringExecution) {
        Outcome::Interrupted
    } else {
        Outcome::Failed
    }
}

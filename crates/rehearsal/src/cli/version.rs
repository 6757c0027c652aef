//! The version that is played, and what changes with it.
//!
//! Every question the engine asks about a version is a named method here. Behaviour was measured at some versions only;
//! in between, the older behaviour is assumed.

use std::fmt;
use std::str::FromStr;

/// A version of the CLI, such as 2.1.325.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    major: u32,
    minor: u32,
    patch: u32,
}

/// How forgiving the reader of stdin is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    /// Dies of anything it does not know.
    Strict,
    /// Ignores most, dies of lines of spaces and answers without a body.
    Middling,
    /// Dies of broken JSON and broken envelopes only.
    Lenient,
}

impl Version {
    /// The version that is played unless a scenario says otherwise.
    pub const NEWEST: Version = Version::new(2, 1, 325);

    /// A version from its three numbers.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self {
            major,
            minor,
            patch,
        }
    }

    fn since(self, patch: u32) -> bool {
        self >= Version::new(2, 1, patch)
    }

    /// Whether a control request it does not know gets an answer at all.
    pub(super) fn answers_unknown_requests(self) -> bool {
        self.since(45)
    }

    pub(super) fn error_codes(self) -> bool {
        self.since(325)
    }

    /// `set_permission_mode` is answered twice, the second time without a body.
    pub(super) fn answers_mode_twice(self) -> bool {
        !self.since(45)
    }

    /// Modes are checked, and switching to bypass later needs a flag at launch.
    pub(super) fn guards_bypass(self) -> bool {
        self.since(197)
    }

    /// `system/status` follows a mode change inside a turn.
    pub(super) fn reports_mode_in_turn(self) -> bool {
        self.since(62)
    }

    /// `system/status` follows `set_permission_mode`, too.
    pub(super) fn reports_every_mode(self) -> bool {
        self.since(197)
    }

    pub(super) fn reports_lifecycle(self) -> bool {
        self.since(325)
    }

    /// An interrupted turn counts as an error.
    pub(super) fn interrupt_is_error(self) -> bool {
        self.since(197)
    }

    pub(super) fn interrupt_has_receipt(self) -> bool {
        self.since(325)
    }

    /// Lets `initialize` come twice.
    pub(super) fn initializes_again(self) -> bool {
        self.since(197)
    }

    /// Lines carry `timestamp`, stream events the id of their message.
    pub(super) fn stamps_lines(self) -> bool {
        self.since(325)
    }

    /// An allow needs no `updatedInput`; `{}` means the original.
    pub(super) fn allow_may_omit_input(self) -> bool {
        self.since(325)
    }

    pub(super) fn empty_input_means_original(self) -> bool {
        self.since(197)
    }

    /// A bad entry in `updatedPermissions` is dropped instead of refusing the whole answer.
    pub(super) fn drops_bad_updates(self) -> bool {
        self.since(197)
    }

    /// *Deny and stop* replaces the host's message by a stock text.
    pub(super) fn stop_hides_message(self) -> bool {
        self.since(197)
    }

    /// `result` is written with `type` somewhere in the middle.
    pub(super) fn buries_type(self) -> bool {
        self.since(325)
    }

    /// SIGINT interrupts the turn and prints its result.
    pub(super) fn sigint_reports(self) -> bool {
        self.since(197)
    }

    /// The final counts stand on assistant lines.
    pub(super) fn fills_stop_reason(self) -> bool {
        !self.since(62)
    }

    /// The text said before an interrupt is kept.
    pub(super) fn keeps_partial_text(self) -> bool {
        self.since(197)
    }

    /// `ExitPlanMode` shows what is in the plan file, whatever the model passed.
    pub(super) fn reads_plan_file(self) -> bool {
        self.since(325)
    }

    /// A hook may change the input without deciding.
    pub(super) fn hooks_change_input(self) -> bool {
        self.since(62)
    }

    /// A `PreToolUse` callback that does not answer in time refuses the call.
    pub(super) fn hook_timeout_refuses(self) -> bool {
        self.since(197)
    }

    pub(super) fn has_permission_hooks(self) -> bool {
        self.since(62)
    }

    /// Tells of tasks, and begins turns by itself when one is done.
    pub(super) fn has_tasks(self) -> bool {
        self.since(62)
    }

    /// A sub-agent runs in the background unless the call says otherwise.
    pub(super) fn agents_run_in_background(self) -> bool {
        self.since(325)
    }

    /// A structured answer that fits ends the turn.
    pub(super) fn structured_ends_turn(self) -> bool {
        self.since(325)
    }

    pub(super) fn reports_retries(self) -> bool {
        self.since(197)
    }

    pub(super) fn reader(self) -> Reader {
        if self.since(325) {
            Reader::Lenient
        } else if self.since(45) {
            Reader::Middling
        } else {
            Reader::Strict
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// The text is no version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a version has three numbers, such as 2.1.325")]
pub struct NotAVersion;

impl FromStr for Version {
    type Err = NotAVersion;

    fn from_str(text: &str) -> Result<Self, NotAVersion> {
        let mut parts = text.split('.').map(str::parse);
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(Ok(major)), Some(Ok(minor)), Some(Ok(patch)), None) => {
                Ok(Version::new(major, minor, patch))
            }
            _ => Err(NotAVersion),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_three_numbers() {
        assert_eq!("2.0.75".parse(), Ok(Version::new(2, 0, 75)));
        assert_eq!(Version::NEWEST.to_string(), "2.1.325");
        for bad in ["2.1", "2.1.x", "2.1.3.4", ""] {
            assert_eq!(bad.parse::<Version>(), Err(NotAVersion), "{bad:?}");
        }
    }

    #[test]
    fn a_minor_step_counts_more_than_a_patch() {
        assert!(Version::new(2, 0, 999).answers_mode_twice());
        assert!(!Version::new(2, 1, 45).answers_mode_twice());
        assert!(Version::new(2, 2, 0).reports_lifecycle());
    }
}

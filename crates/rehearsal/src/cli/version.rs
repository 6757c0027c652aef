//! The version that is played, and what changes with it.
//!
//! Every question the engine asks about a version is a named method here. Behaviour was measured at some versions only;
//! in between, the older behaviour is assumed.

use std::fmt;
use std::str::FromStr;

/// A version of the CLI, such as 2.1.62.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    major: u32,
    minor: u32,
    patch: u32,
}

impl Default for Version {
    fn default() -> Self {
        Self::NEWEST
    }
}

/// How forgiving the reader of stdin is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    /// Dies of anything it does not know.
    Strict,
    /// Dies of broken JSON and broken envelopes only.
    Lenient,
}

impl Version {
    /// The version that is played unless a scenario says otherwise.
    pub const NEWEST: Version = Version::new(2, 1, 327);

    /// A version from its three numbers.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self {
            major,
            minor,
            patch,
        }
    }

    pub(super) fn reader(self) -> Reader {
        match self.bears_more() {
            true => Reader::Lenient,
            false => Reader::Strict,
        }
    }
}

/// What changed with which version: `name since 62` holds from 2.1.62 on, `name until 62` before it.
macro_rules! changes {
    (@holds since $version:expr, $patch:expr) => { $version >= Version::new(2, 1, $patch) };
    (@holds until $version:expr, $patch:expr) => { $version < Version::new(2, 1, $patch) };
    ($($(#[$doc:meta])* $name:ident $when:ident $patch:literal;)*) => {
        impl Version {
            $($(#[$doc])* pub(super) fn $name(self) -> bool { changes!(@holds $when self, $patch) })*
        }
    };
}

changes! {
    /// Ignores most lines it does not know, instead of dying of them.
    bears_more since 45;
    /// Whether a control request it does not know gets an answer at all.
    answers_unknown_requests since 45;
    error_codes since 325;
    /// `set_permission_mode` is answered twice, the second time without a body.
    answers_mode_twice until 45;
    /// Modes are checked, and switching to bypass later needs a flag at launch.
    guards_bypass since 197;
    /// `system/status` follows a mode change inside a turn.
    reports_mode_in_turn since 62;
    /// `system/status` follows `set_permission_mode`, too.
    reports_every_mode since 197;
    /// An interrupted turn counts as an error.
    interrupt_is_error since 197;
    interrupt_has_receipt since 325;
    /// Lets `initialize` come twice.
    initializes_again since 197;
    /// Requests of the host are answered from the session, not as they were recorded; answers are replayed.
    answers_live since 325;
    /// An allow needs no `updatedInput`; `{}` means the original.
    allow_may_omit_input since 325;
    empty_input_means_original since 197;
    /// An `updatedInput` that the tool does not take refuses the call.
    checks_given_input since 197;
    /// A bad entry in `updatedPermissions` is dropped instead of refusing the whole answer.
    drops_bad_updates since 197;
    /// *Deny and stop* replaces the host's message by a stock text.
    stop_hides_message since 197;
    /// SIGINT interrupts the turn and prints its result.
    sigint_reports since 197;
    /// The final counts stand on assistant lines.
    fills_stop_reason until 62;
    /// The text said before an interrupt is kept.
    keeps_partial_text since 197;
    /// `ExitPlanMode` shows what is in the plan file, whatever the model passed.
    reads_plan_file since 325;
    /// A hook may change the input without deciding.
    hooks_change_input since 62;
    /// A `PreToolUse` callback that does not answer in time refuses the call.
    hook_timeout_refuses since 197;
    has_permission_hooks since 62;
    /// Tells of tasks, and begins turns by itself when one is done.
    has_tasks since 62;
    /// A sub-agent runs in the background unless the call says otherwise.
    agents_run_in_background since 325;
    /// A structured answer that fits ends the turn.
    structured_ends_turn since 325;
    /// A short name of a model stands for a full one.
    has_model_aliases since 325;
    /// The receipt for a message that is taken back names it.
    names_dropped_messages since 327;
    /// A message that is broken off has a cost.
    charges_broken_messages since 327;
    /// The report of an agent in the background is marked as one.
    marks_reports since 327;
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
        assert_eq!(Version::NEWEST.to_string(), "2.1.327");
        for bad in ["2.1", "2.1.x", "2.1.3.4", ""] {
            assert_eq!(bad.parse::<Version>(), Err(NotAVersion), "{bad:?}");
        }
    }

    #[test]
    fn a_minor_step_counts_more_than_a_patch() {
        assert!(Version::new(2, 0, 999).answers_mode_twice());
        assert!(!Version::new(2, 1, 45).answers_mode_twice());
        assert!(Version::new(2, 2, 0).answers_live());
    }
}

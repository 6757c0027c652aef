//! One turn, as it is followed.
//!
//! Owns what is known of the turn that runs. Invariant: a turn has begun only when the CLI said so; until then it is a
//! message that was written and not yet heard of.

use serde::{Deserialize, Serialize};

use super::fact::Trouble;

/// A turn that runs, or is about to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Turn {
    /// The CLI said that it has begun.
    pub(super) has_begun: bool,
    /// It is one more turn for messages that an earlier one did not read.
    pub(super) follows: bool,
    /// Nobody sent a message for it.
    pub(super) by_itself: bool,
    /// When it was to end.
    pub(super) interrupted: Option<u64>,
    /// That was before it had begun.
    pub(super) interrupted_early: bool,
    /// The journal has the line that ends it.
    #[serde(default)]
    pub(super) is_interrupt_written: bool,
    /// It was to end, and goes on all the same.
    pub(super) is_deaf: bool,
    /// If it has not begun by then, there is none.
    pub(super) begins_by: Option<u64>,
    /// What kind of failure the model's answers reported.
    pub(super) trouble: Option<Trouble>,
    /// A failed call to the API is made again then.
    pub(super) retry_at: Option<u64>,
}

impl Turn {
    /// One that a message is to start.
    pub(super) fn expected() -> Self {
        Self {
            has_begun: false,
            follows: false,
            by_itself: false,
            interrupted: None,
            interrupted_early: false,
            is_interrupt_written: false,
            is_deaf: false,
            begins_by: None,
            trouble: None,
            retry_at: None,
        }
    }

    /// One that begins without a message.
    pub(super) fn by_itself() -> Self {
        Self {
            has_begun: true,
            by_itself: true,
            ..Self::expected()
        }
    }

    /// The CLI says that it has begun.
    pub(super) fn begin(&mut self) {
        self.has_begun = true;
        self.begins_by = None;
    }
}

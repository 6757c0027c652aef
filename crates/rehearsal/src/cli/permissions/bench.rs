//! What a check of a call stands on.

use std::path::{Path, PathBuf};

use super::paths::Places;
use super::rules::Rules;

/// The session's rules and folders as one call sees them.
pub(super) struct Bench<'a> {
    pub(super) rules: &'a Rules,
    pub(super) places: &'a Places,
    pub(super) dirs: &'a [PathBuf],
    /// Where the shell is.
    pub(super) shell: &'a Path,
    /// Files inside may be changed without a question.
    pub(super) edits_free: bool,
    /// The host is offered to let edits through from now on.
    pub(super) offer_edits: bool,
    /// A rule for the whole command is suggested when a path asks.
    pub(super) offer_rule: bool,
}

//! Where rules come from: Claude Code's settings files, `countersign.toml`, and what a person said to remember.
//!
//! Owns reading these texts, which files count for a session, and which folders a person trusts. Reading is pure; what
//! touches the disk says so. Invariant: a deny or ask rule that cannot be read is never passed over in silence
//! ([`Read::is_safe`], [`Loaded::is_safe`]), and what a repository allows counts only where a person trusted it.

mod example;
mod files;
mod load;
mod own;
mod plans;
mod problem;
mod programs;
mod remember;
mod settings;
mod store;
#[cfg(test)]
#[cfg(unix)]
mod tests;
mod trust;

use std::path::PathBuf;

pub use example::{Example, Examples};
pub use files::{RULES_FILE, Sources, TRUST_FILE, managed_settings};
pub use load::{Loaded, LoadedFile, Trust, load, read_file};
pub use own::toml;
pub use plans::{PlansFolder, plans_folder};
pub use problem::{At, Problem};
pub use remember::{RememberError, remember};
pub use settings::settings;
pub use store::{StoreError, keep, trust_folder};
pub use trust::{Offer, TrustError, Trusted};

use crate::Profile;
use crate::rule::Rule;

/// What stands in one file of rules.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Read {
    /// The rules, in the order of the file.
    pub rules: Vec<Rule>,
    /// Their examples.
    pub examples: Vec<Examples>,
    /// `additionalDirectories`, as they are written.
    pub add_dirs: Vec<PathBuf>,
    /// The profile a person chose.
    pub profile: Option<Profile>,
    /// `defaultMode` of a settings file. Never obeyed where it would let something run unasked (`bypassPermissions`,
    /// `acceptEdits`, `auto`): that is for rules and the profile to say.
    pub default_mode: Option<String>,
    /// What the file of a repository would have the CLI start or change beside its rules: hooks, helpers, variables.
    pub programs: Vec<String>,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

impl Read {
    /// Whether these rules may be used: nothing that would forbid or ask was lost on reading.
    pub fn is_safe(&self) -> bool {
        !self.problems.iter().any(|problem| problem.stops)
    }
}

//! What this CLI can take and what is to be expected of it: the one place that decides by version.
//!
//! Everything here was measured on single versions (1.0.128 … 2.1.325). A version between two measured ones is treated
//! with care: an ability counts from the first version it was seen in, a danger until the last. Invariant: an unknown
//! version is the oldest, so that not knowing never kills a CLI.

mod answers;
mod behaviour;
mod control;
mod flags;
mod stdin;
mod updates;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use countersign_wire::control::InitializeReply;

use super::version::Version;

pub use answers::{Outcome, turn_outcome};
pub use behaviour::IdleSignal;
pub use stdin::StdinKind;
pub use updates::{DropReason, DroppedUpdate};

/// The versions that were measured.
pub(crate) mod measured {
    use super::Version;

    pub(crate) const V1_0_128: Version = Version::new(1, 0, 128);
    pub(crate) const V2_0_73: Version = Version::new(2, 0, 73);
    pub(crate) const V2_0_75: Version = Version::new(2, 0, 75);
    pub(crate) const V2_1_17: Version = Version::new(2, 1, 17);
    pub(crate) const V2_1_45: Version = Version::new(2, 1, 45);
    pub(crate) const V2_1_62: Version = Version::new(2, 1, 62);
    pub(crate) const V2_1_197: Version = Version::new(2, 1, 197);
    pub(crate) const V2_1_325: Version = Version::new(2, 1, 325);
}

/// Whether a version has a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// Measured, there.
    Yes,
    /// Measured, not there.
    No,
    /// Between a version without and one with it, or the version is not known.
    Unmeasured,
}

/// One thing some versions have: the last version measured without it and the first measured with it.
#[derive(Debug, Clone, Copy)]
struct Span {
    without: Option<Version>,
    with: Option<Version>,
}

impl Span {
    const fn new(without: Version, with: Version) -> Self {
        Self {
            without: Some(without),
            with: Some(with),
        }
    }

    /// In every version that was measured.
    const ALWAYS: Self = Self {
        without: None,
        with: None,
    };

    fn support(self, version: Option<Version>) -> Support {
        match (version, self.without, self.with) {
            (_, None, _) => Support::Yes,
            (None, ..) => Support::Unmeasured,
            (Some(version), _, Some(with)) if version >= with => Support::Yes,
            (Some(version), Some(without), _) if version <= without => Support::No,
            _ => Support::Unmeasured,
        }
    }
}

/// What one CLI can do, from its version and from what it says of itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Capabilities {
    version: Option<Version>,
    words: BTreeSet<String>,
    hook_on_failure: Option<bool>,
}

impl Capabilities {
    /// Of a version; `None` is treated as the oldest.
    pub fn of(version: Option<Version>) -> Self {
        Self {
            version,
            ..Self::default()
        }
    }

    /// The version, as far as it is known.
    pub fn version(&self) -> Option<Version> {
        self.version
    }

    /// Learns from the reply to `initialize`, which names the version on new CLIs only.
    pub fn learn_from_reply(&mut self, reply: &InitializeReply) {
        let version = reply.claude_code_version.as_deref().and_then(Version::find);
        self.learn(version, reply.capabilities.iter().flatten().cloned());
        if reply.hook_on_failure_supported.is_some() {
            self.hook_on_failure = reply.hook_on_failure_supported;
        }
    }

    /// Learns what `system/init` says: the version, from 2.0 on, and the words.
    pub fn learn(&mut self, version: Option<Version>, words: impl IntoIterator<Item = String>) {
        // What the CLI says of itself counts more than what `--version` of the same path said before.
        self.version = version.or(self.version);
        self.words.extend(words);
    }

    /// Whether the CLI named this word among its capabilities.
    pub fn says(&self, word: &str) -> bool {
        self.words.contains(word)
    }

    /// An ability: only from the first version it was seen in.
    fn since(&self, first: Version) -> bool {
        self.version.is_some_and(|version| version >= first)
    }

    /// A danger that came later: from just after the last version measured without it, and when nothing is known.
    fn after(&self, last_without: Version) -> bool {
        self.version.is_none_or(|version| version > last_without)
    }
}

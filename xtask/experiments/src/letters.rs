//! The experiments of the seed by their letters.

use std::fmt;

use serde::{Serialize, Serializer};

/// One experiment of the seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
#[value(rename_all = "UPPER")]
pub(crate) enum Letter {
    /// A message in default mode, then a switch to plan mode
    A,
    /// A message to a session that was started in plan mode
    B,
    /// A switch to plan mode before the first message
    C,
    /// `--permission-prompt-tool stdio`, everything allowed
    D,
    /// `--permission-prompt-tool stdio`, everything denied
    E,
    /// Without `--permission-prompt-tool`
    F,
    /// `--permission-prompt-tool stdio` in plan mode
    G,
    /// `--permission-prompt-tool stdio` with permissions bypassed
    H,
}

impl Letter {
    /// All of them, in order.
    pub(crate) const ALL: [Self; 8] = [
        Self::A,
        Self::B,
        Self::C,
        Self::D,
        Self::E,
        Self::F,
        Self::G,
        Self::H,
    ];

    /// The folder its recording is kept in, as the seed names it.
    pub(crate) fn folder(self) -> String {
        format!("experiment_{}", self.to_string().to_lowercase())
    }
}

impl fmt::Display for Letter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl Serialize for Letter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

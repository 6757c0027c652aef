//! What the bearer of a token may do.
//!
//! Owns [`Scope`]. Invariant: each one may do all that the ones before it may.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What the bearer of a token may do.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
#[schema(as = TokenScope)]
pub enum Scope {
    /// Look at everything.
    Read,
    /// Also decide approvals.
    Answer,
    /// Everything.
    Full,
}

impl Scope {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Answer => "answer",
            Self::Full => "full",
        }
    }

    /// Whether it is enough for something that needs `needed`.
    pub fn allows(self, needed: Self) -> bool {
        self >= needed
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A word that names no scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadScope(String);

impl fmt::Display for BadScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is no scope: choose read, answer or full",
            self.0.escape_debug()
        )
    }
}

impl std::error::Error for BadScope {}

impl FromStr for Scope {
    type Err = BadScope;

    fn from_str(text: &str) -> Result<Self, BadScope> {
        match text {
            "read" => Ok(Self::Read),
            "answer" => Ok(Self::Answer),
            "full" => Ok(Self::Full),
            other => Err(BadScope(other.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scope_includes_the_ones_before() {
        let all = [Scope::Read, Scope::Answer, Scope::Full];
        for (at, have) in all.into_iter().enumerate() {
            for (needs, need) in all.into_iter().enumerate() {
                assert_eq!(have.allows(need), at >= needs, "{have} for {need}");
            }
            assert_eq!(have.name().parse(), Ok(have));
        }
        assert!("admin".parse::<Scope>().is_err());
    }
}

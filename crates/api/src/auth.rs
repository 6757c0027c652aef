//! Who is signed in, and with what.
//!
//! Owns the bodies of sign-in and of tokens. Invariant: a token or a code stands in the one answer that makes it, and in no
//! other.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Scope;

/// How a page signs in: one of both.
#[derive(Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SignIn {
    /// A token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The code of a login link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

impl std::fmt::Debug for SignIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SignIn(…)")
    }
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Me {
    /// The name that decisions are recorded under.
    pub name: String,
    /// What it may do.
    pub scope: Scope,
    /// How it was shown: `bearer`, `cookie` or `socket`.
    pub via: String,
}

/// A token, without itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenView {
    /// By which it is revoked.
    pub id: String,
    /// The name that decisions are recorded under.
    pub name: String,
    /// What it may do.
    pub scope: Scope,
    /// When it was made, in microseconds of Unix time.
    pub created: u64,
    /// When it was last used, to the hour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<u64>,
    /// Until when it is good. Without: until it is revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<u64>,
}

/// A token that is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewToken {
    /// The name that decisions are recorded under.
    #[schema(min_length = 1, max_length = 64)]
    pub name: String,
    /// What it may do.
    pub scope: Scope,
    /// Until when it is good, in microseconds of Unix time. Without: until it is revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<u64>,
}

/// A token that was just made. It is shown this once.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct MadeToken {
    /// The token itself.
    pub token: String,
    /// What is kept of it.
    #[serde(flatten)]
    pub view: TokenView,
}

impl std::fmt::Debug for MadeToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MadeToken")
            .field("view", &self.view)
            .finish_non_exhaustive()
    }
}

/// A login link that is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewLink {
    /// What the page may do that is signed in by it. Without: as much as who asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
}

/// A login link that was just made. It signs one page in, once.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct LoginLink {
    /// What follows the address of the server.
    pub path: String,
    /// What the page may do.
    pub scope: Scope,
    /// Until when it is good, in microseconds of Unix time.
    pub expires: u64,
}

impl std::fmt::Debug for LoginLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoginLink")
            .field("scope", &self.scope)
            .field("expires", &self.expires)
            .finish_non_exhaustive()
    }
}

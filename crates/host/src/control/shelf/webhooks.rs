//! Who is told outside of this machine, as clients see and change it.
//!
//! Owns the words for it. Invariant: an address, a secret, a header's value and the arguments of a program go in and never
//! come out.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::notify::{Delivery, Kind, Shape, To};

/// Somebody who is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WebhookView {
    /// By which it is known.
    pub name: String,
    /// About what.
    pub on: Vec<Kind>,
    /// How it is reached: `webhook` or `program`.
    pub kind: String,
    /// Where, as far as it may be shown: the host of an address, the name of a program.
    pub place: String,
    /// What is sent is signed.
    pub is_signed: bool,
    /// The names of further headers.
    pub headers: Vec<String>,
    /// What the body of a POST looks like.
    pub shape: Option<Shape>,
    /// It was given when the host was started, and can only be changed there.
    pub is_fixed: bool,
    /// What became of the last try to tell it, since this host began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Delivery>,
}

/// Whom to tell, and about what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutWebhook {
    /// About what; as before, or the usual three, without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<Vec<Kind>>,
    /// How it is reached; as before without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<To>,
}

impl PutWebhook {
    /// Whether it has a program run on the host's machine.
    pub fn runs_a_program(&self) -> bool {
        matches!(self.to, Some(To::Program { .. }))
    }
}

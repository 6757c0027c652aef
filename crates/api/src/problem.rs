//! What went wrong, in the shape of RFC 9457.
//!
//! Owns [`Problem`] and the list of its codes. Invariants: a code never changes its meaning, and each has one status; the
//! hint says what to do next; nothing in here holds a secret or a path of the machine that the client did not send.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::control::ControlError;

/// What kind of problem it is, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Code {
    /// The request cannot be read: its JSON, a parameter, a header.
    BadRequest,
    /// No token, or one that is not known.
    NotSignedIn,
    /// The token may not do this.
    NotAllowed,
    /// The request comes from another site's page, or names another host.
    ForeignOrigin,
    /// There is no such thing.
    NotFound,
    /// The path knows no such method.
    MethodNotAllowed,
    /// Somebody was first.
    Conflict,
    /// What was seen is not what is asked now.
    Stale,
    /// The key was used for another write.
    KeyReused,
    /// Not in this state.
    NotNow,
    /// A person must say yes to this first.
    Confirm,
    /// The body is longer than may be.
    TooLarge,
    /// It is shorter than the part that was asked for.
    NoSuchRange,
    /// The body is in no format that is read here.
    UnsupportedMedia,
    /// It makes no sense as it is.
    Invalid,
    /// Too many tries.
    TooMany,
    /// Its deadline has passed.
    TooLate,
    /// Another machine has it.
    NotHere,
    /// The disk is full.
    NoSpace,
    /// Not at the moment.
    Unavailable,
    /// It may have been done.
    Unknown,
}

impl Code {
    /// The status it is sent with.
    pub fn status(self) -> u16 {
        match self {
            Self::BadRequest => 400,
            Self::NotSignedIn => 401,
            Self::NotAllowed | Self::ForeignOrigin => 403,
            Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::TooLate => 408,
            Self::Conflict | Self::Stale | Self::KeyReused | Self::NotNow | Self::Confirm => 409,
            Self::TooLarge => 413,
            Self::UnsupportedMedia => 415,
            Self::NoSuchRange => 416,
            Self::NotHere => 421,
            Self::Invalid => 422,
            Self::TooMany => 429,
            Self::Unavailable | Self::Unknown => 503,
            Self::NoSpace => 507,
        }
    }

    /// In a few words.
    pub fn title(self) -> &'static str {
        match self {
            Self::BadRequest => "The request cannot be read",
            Self::NotSignedIn => "Not signed in",
            Self::NotAllowed => "This token may not do this",
            Self::ForeignOrigin => "From another site",
            Self::NotFound => "There is no such thing",
            Self::MethodNotAllowed => "Not with this method",
            Self::Conflict => "Somebody was first",
            Self::Stale => "It has changed since it was seen",
            Self::KeyReused => "The key was used before",
            Self::NotNow => "Not in this state",
            Self::Confirm => "A person must confirm this",
            Self::TooLarge => "Too large",
            Self::UnsupportedMedia => "Not in this format",
            Self::NoSuchRange => "Not that long",
            Self::Invalid => "It makes no sense as it is",
            Self::TooMany => "Too many tries",
            Self::TooLate => "Too late",
            Self::NotHere => "Another machine has it",
            Self::NoSpace => "The disk is full",
            Self::Unavailable => "Not at the moment",
            Self::Unknown => "It may have been done",
        }
    }

    /// What to do next, where the detail does not say it.
    fn hint(self) -> Option<&'static str> {
        match self {
            Self::NotSignedIn => Some(
                "Send a token as a bearer in the `Authorization` header, or open the login link that `countersign` prints.",
            ),
            Self::NotAllowed => Some(
                "Make a token with a wider scope: `countersign token create NAME --scope full`.",
            ),
            Self::ForeignOrigin => Some(
                "Call the server by one of its own names (`countersign serve --allow-host NAME` adds one), and write only from its own page or with a bearer token.",
            ),
            Self::Stale => Some("Read it again, and decide with the digest that it has now."),
            Self::KeyReused => Some("Choose a new `Idempotency-Key`."),
            Self::Confirm => Some("Say it again with `confirmed: true`."),
            Self::TooMany => Some("Wait as long as `Retry-After` says."),
            Self::NoSpace => Some("Make room, then say it again: nothing was decided."),
            Self::Unavailable => Some("Say it again in a moment."),
            Self::Unknown => Some("Say it again with the same `Idempotency-Key`."),
            _ => None,
        }
    }
}

/// What went wrong. Sent as `application/problem+json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// Always `about:blank`: the code says what kind it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// In a few words.
    pub title: String,
    /// The status of the answer.
    pub status: u16,
    /// What kind of problem it is, for programs.
    pub code: Code,
    /// What is wrong with this request.
    pub detail: String,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// When to try again, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_ms: Option<u64>,
    /// What holds instead: the first decision, the digest that would be right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<Value>,
}

impl Problem {
    /// A problem of this kind.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self {
            kind: "about:blank".to_owned(),
            title: code.title().to_owned(),
            status: code.status(),
            code,
            detail: detail.into(),
            hint: code.hint().map(str::to_owned),
            retry_ms: None,
            holds: None,
        }
    }

    /// With another next step.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// To be tried again after so long.
    #[must_use]
    pub fn retry_after_ms(mut self, millis: u64) -> Self {
        self.retry_ms = Some(millis);
        self
    }
}

impl From<ControlError> for Problem {
    fn from(error: ControlError) -> Self {
        let detail = error.to_string();
        let plain = |code| Self::new(code, detail.clone());
        match error {
            ControlError::NotFound { .. } => plain(Code::NotFound),
            ControlError::Conflict { holds, .. } => Self {
                holds,
                ..plain(Code::Conflict)
            },
            ControlError::Stale { now } => Self {
                holds: serde_json::to_value(now).ok(),
                ..plain(Code::Stale)
            },
            ControlError::Invalid { .. } => plain(Code::Invalid),
            ControlError::NotNow { .. } => plain(Code::NotNow),
            ControlError::Confirm { .. } => plain(Code::Confirm),
            ControlError::KeyReused { .. } => plain(Code::KeyReused),
            ControlError::TooLate => plain(Code::TooLate),
            ControlError::NotHere { .. } => plain(Code::NotHere),
            ControlError::Unavailable { retry_ms, .. } => {
                plain(Code::Unavailable).retry_after_ms(retry_ms)
            }
            ControlError::NoSpace => plain(Code::NoSpace),
            _ => plain(Code::Unknown),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_host_refuses_has_a_status_a_code_and_a_next_step() {
        let problem = Problem::from(ControlError::not_found("session", "x"));
        assert_eq!((problem.status, problem.code), (404, Code::NotFound));
        let problem = Problem::from(ControlError::KeyReused { key: "k".into() });
        assert_eq!(problem.status, 409);
        assert!(problem.hint.unwrap().contains("Idempotency-Key"));
        let problem = Problem::from(ControlError::Unavailable {
            why: "busy".into(),
            retry_ms: 5,
        });
        assert_eq!((problem.status, problem.retry_ms), (503, Some(5)));
        let text = serde_json::to_string(&problem).unwrap();
        assert!(text.contains(r#""code":"unavailable""#), "{text}");
    }
}

//! Who asks.
//!
//! Owns [`Caller`], which stands in the extensions of every request that was let in, and what it says on the record.
//! Invariant: there is no other way to it than through sign-in.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use countersign_api::control::{Cmd, Decide, MessageId, SessionId};
use countersign_api::{CLIENT, Code, IDEMPOTENCY_KEY, Problem, Scope};

use crate::refusal::Refusal;

/// The longest name of a client that is kept.
const LONGEST_CLIENT: usize = 64;

/// Who asks, and what they may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The name of the token, as decisions record it.
    pub name: String,
    /// What it may do.
    pub scope: Scope,
    /// How it was shown.
    pub via: Via,
}

impl Caller {
    /// Who may only answer settles a question as it was asked. A rule, a mode or another input reach further, and are what
    /// `full` is for.
    pub(crate) fn may_decide(&self, decide: &Decide) -> Result<(), Refusal> {
        match decide.beyond() {
            Some(what) if !self.scope.allows(Scope::Full) => {
                let problem = self.is_too_narrow(&format!("this decision {what}"));
                let hint = "Answer the question as it was asked, or decide with a wider token.";
                Err(problem.hint(hint).into())
            }
            _ => Ok(()),
        }
    }

    /// Whether this caller may do everything; `what` follows "this".
    pub(crate) fn needs_full(&self, what: &str) -> Result<(), Refusal> {
        match self.scope.allows(Scope::Full) {
            true => Ok(()),
            false => Err(self.is_too_narrow(&format!("this {what}")).into()),
        }
    }

    fn is_too_narrow(&self, what: &str) -> Problem {
        let detail = format!(
            "{what}, which needs the scope `full`, and `{}` has `{}`",
            self.name, self.scope
        );
        Problem::new(Code::NotAllowed, detail)
    }
}

/// How a caller showed who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Via {
    /// By a token in a header.
    Bearer,
    /// By the cookie of a page.
    Cookie,
    /// By the socket of this machine, whose other end is the same user.
    Socket,
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        let caller = parts.extensions.get::<Self>().cloned();
        caller.ok_or_else(|| Problem::new(Code::NotSignedIn, "nobody is signed in").into())
    }
}

/// What goes with every write: who, from where, and its key.
#[derive(Debug, Clone)]
pub(crate) struct Write {
    pub(crate) cmd: Cmd,
    /// The client has chosen the key: the write may come again.
    is_named: bool,
    /// Where in which trace it is.
    #[cfg(feature = "otel")]
    pub(crate) trace: Option<crate::otel::Context>,
}

impl Write {
    /// The key that the client has chosen.
    pub(crate) fn named(&self) -> Option<&str> {
        self.is_named.then_some(self.cmd.key.as_str())
    }

    /// The id of a session that this write makes.
    pub(crate) fn session(&self) -> SessionId {
        match self.is_named {
            true => {
                let (high, low) = self.bits("session");
                SessionId::new(high, low)
            }
            false => SessionId::fresh(),
        }
    }

    /// The id of a message that this write makes.
    pub(crate) fn message(&self) -> MessageId {
        match self.is_named {
            true => {
                let (high, low) = self.bits("message");
                MessageId::new(high, low)
            }
            false => MessageId::fresh(),
        }
    }

    /// The same for the same write of the same caller, whenever it comes.
    fn bits(&self, what: &str) -> (u64, u128) {
        let mut hasher = blake3::Hasher::new();
        for part in [what, &self.cmd.principal, &self.cmd.key] {
            hasher.update(&(part.len() as u64).to_be_bytes());
            hasher.update(part.as_bytes());
        }
        let hash = hasher.finalize();
        let (mut high, mut low) = ([0; 8], [0; 16]);
        high.copy_from_slice(&hash.as_bytes()[..8]);
        low.copy_from_slice(&hash.as_bytes()[8..24]);
        (u64::from_be_bytes(high), u128::from_be_bytes(low))
    }
}

impl<S: Sync> FromRequestParts<S> for Write {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let caller = Caller::from_request_parts(parts, state).await?;
        let header = |name: &str| parts.headers.get(name).map(|value| value.to_str());
        let client = match header(CLIENT) {
            Some(Ok(name)) if is_name(name) => name,
            Some(_) => {
                let detail =
                    format!("`{CLIENT}` takes at most {LONGEST_CLIENT} letters of plain text");
                return Err(Problem::new(Code::BadRequest, detail).into());
            }
            None => match caller.via {
                Via::Cookie => "web",
                Via::Bearer => "http",
                Via::Socket => "local",
            },
        };
        let cmd = Cmd::of(caller.name, client);
        let (cmd, is_named) = match header(IDEMPOTENCY_KEY) {
            Some(Ok(key)) if is_key(key) => (cmd.key(key), true),
            Some(_) => {
                let detail = format!(
                    "`{IDEMPOTENCY_KEY}` takes 1 to {} printable letters",
                    Cmd::LONGEST_KEY
                );
                return Err(Problem::new(Code::BadRequest, detail).into());
            }
            None => (cmd, false),
        };
        Ok(Self {
            cmd,
            is_named,
            #[cfg(feature = "otel")]
            trace: parts.extensions.get().copied(),
        })
    }
}

fn is_name(name: &str) -> bool {
    (1..=LONGEST_CLIENT).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic())
}

fn is_key(key: &str) -> bool {
    (1..=Cmd::LONGEST_KEY).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic())
}

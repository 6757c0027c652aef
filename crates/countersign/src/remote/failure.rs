//! Why a command came to nothing, and the exit code that says so.
//!
//! Owns [`Failure`] and its codes; docs/terminal.md lists them. Invariant: a code never changes its meaning.

use countersign_api::client::ClientError;
use countersign_api::{Code, Problem};
use serde_json::{Value, json};

use crate::term::style::tamed;

/// It failed, or the server said no.
pub(crate) const FAILED: u8 = 1;
/// The command line makes no sense.
pub(crate) const MISUSED: u8 = 2;
/// Nobody said yes, so nothing was done.
pub(crate) const NOT_SAID: u8 = 3;
/// No server.
pub(crate) const NO_SERVER: u8 = 4;
/// There is no such thing, or several.
pub(crate) const NOT_FOUND: u8 = 5;
/// Somebody was first, or it is another question by now.
pub(crate) const NOT_NOW: u8 = 6;
/// Not with this token.
pub(crate) const NOT_ALLOWED: u8 = 7;

/// The next step of a terminal; the server's is that of a program.
const NO_TOKEN: &str = "Name a file with a good token: --token-file FILE. `countersign token create NAME` makes one where the server runs.";

/// Why a command came to nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The daemon of this user does not run.
    #[error(
        "no daemon runs for {data}: start one with `countersign serve`, or name a server with --server URL"
    )]
    NoDaemon { data: String },
    /// No server there, no answer, or a no.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The words make no sense.
    #[error("{0}")]
    Misused(String),
    /// What is named is not there, or is more than one.
    #[error("{0}")]
    NotFound(String),
    /// Nobody said yes.
    #[error("{0}")]
    NotSaid(String),
    /// Not while it stands so.
    #[error("{0}")]
    NotNow(String),
    /// Something else went wrong on this side.
    #[error("{0}")]
    Other(String),
    /// What is printed goes nowhere.
    #[error(transparent)]
    Output(#[from] std::io::Error),
}

impl Failure {
    /// The exit code.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::NoDaemon { .. } => NO_SERVER,
            Self::Client(error) => of_client(error),
            Self::Misused(_) => MISUSED,
            Self::NotFound(_) => NOT_FOUND,
            Self::NotSaid(_) => NOT_SAID,
            Self::NotNow(_) => NOT_NOW,
            Self::Other(_) | Self::Output(_) => FAILED,
        }
    }

    /// For a person, with the next step.
    pub(crate) fn text(&self) -> String {
        let text = match self {
            Self::Client(ClientError::Refused(problem)) => with_hint(problem),
            other => other.to_string(),
        };
        // A server may quote what an agent said.
        text.lines().map(tamed).collect::<Vec<_>>().join("\n")
    }

    /// For a program: the problem of the server, or one in its shape.
    pub(crate) fn json(&self) -> Value {
        match self {
            Self::Client(ClientError::Refused(problem)) => json!(problem),
            other => json!({ "code": other.name(), "detail": other.to_string() }),
        }
    }

    fn name(&self) -> &'static str {
        match self.code() {
            MISUSED => "misused",
            NOT_SAID => "not_said",
            NO_SERVER => "no_server",
            NOT_FOUND => "not_found",
            NOT_NOW => "not_now",
            _ => "failed",
        }
    }
}

fn of_client(error: &ClientError) -> u8 {
    match error {
        ClientError::NotThere { .. } => NO_SERVER,
        ClientError::Address { .. } => MISUSED,
        ClientError::Refused(problem) => match problem.code {
            Code::NotFound => NOT_FOUND,
            Code::Conflict | Code::Stale | Code::NotNow | Code::KeyReused | Code::Confirm => {
                NOT_NOW
            }
            Code::NotSignedIn | Code::NotAllowed | Code::ForeignOrigin => NOT_ALLOWED,
            _ => FAILED,
        },
        _ => FAILED,
    }
}

fn with_hint(problem: &Problem) -> String {
    let ours = (problem.code == Code::NotSignedIn).then(|| NO_TOKEN.to_owned());
    match ours.as_ref().or(problem.hint.as_ref()) {
        Some(hint) => format!("{}\n{hint}", problem.detail),
        None => problem.detail.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_failure_has_its_code() {
        let refused = |code| Failure::from(ClientError::Refused(Box::new(Problem::new(code, "x"))));
        for (failure, code) in [
            (refused(Code::NotFound), 5),
            (refused(Code::Conflict), 6),
            (refused(Code::Stale), 6),
            (refused(Code::NotAllowed), 7),
            (refused(Code::Invalid), 1),
            (Failure::NoDaemon { data: "d".into() }, 4),
            (Failure::NotSaid("n".into()), 3),
            (Failure::NotNow("n".into()), 6),
        ] {
            assert_eq!(failure.code(), code, "{failure}");
        }
    }

    #[test]
    fn what_a_server_quotes_moves_no_cursor() {
        let problem = Problem::new(Code::Conflict, "\u{1b}[2Jgone").hint("look");
        let failure = Failure::from(ClientError::Refused(Box::new(problem)));
        assert!(!failure.text().contains('\u{1b}'));
        assert!(failure.text().ends_with("\nlook"), "{}", failure.text());
        assert_eq!(failure.json()["code"], "conflict");
    }
}

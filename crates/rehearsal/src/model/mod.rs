//! The scripted model: a script file on one side, the Messages API on loopback on the other.
//!
//! Pure parts: [`parse`](Script::parse) reads a script, `ask` reads a request, `reply` picks and fills the reply, `render` turns
//! it into stream events. `server` is the thin shell that carries them over HTTP, `inline` the one that asks in the same
//! process. Nothing here holds a model or an opinion: what is not in the script is answered with an error that says so.

pub(crate) mod ask;
pub(crate) mod fit;
mod handle;
pub(crate) mod inline;
mod link;
mod parse;
mod record;
pub(crate) mod render;
mod reply;
pub(crate) mod scan;
mod script;
mod server;
mod stream;
pub(crate) mod template;

pub use parse::ParseError;
pub use record::{Kept, Kind, Outcome, Report, Request, UnexpectedRequest, UsedReply};
pub(crate) use script::Usage;
pub use script::{Position, Script, UnknownVariable};
pub use server::{Options, Server, StartError, serve_until};

/// The usual error `type` of a status, as the API documents it; others get the nearest.
pub(crate) fn api_error_kind(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        408 | 504 => "timeout_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        500..=599 => "api_error",
        _ => "invalid_request_error",
    }
}

/// Values for `${name}` in a script.
pub type Vars = std::collections::BTreeMap<String, String>;

/// Reads `name=value`, as a command line gives it.
pub fn parse_var(text: &str) -> Result<(String, String), BadVar> {
    match text.split_once('=') {
        Some((name, value)) if template::is_name(name) => Ok((name.to_owned(), value.to_owned())),
        _ => Err(BadVar(text.to_owned())),
    }
}

/// A variable that is not written as one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not name=value; a name is made of letters, digits, `_`, `-` and `.`")]
pub struct BadVar(String);

//! The scripted model: a script file on one side, the Messages API on loopback on the other.
//!
//! Pure parts: [`parse`](Script::parse) reads a script, `ask` reads a request, `decide` picks and fills
//! the reply, `render` turns it into stream events. `server` is the thin shell that carries them over HTTP. Nothing here holds a model
//! or an opinion: what is not in the script is answered with an error that says so.

mod api_error;
mod ask;
mod choose;
mod decide;
mod handle;
pub(crate) mod inline;
mod link;
mod message;
mod parse;
mod record;
mod render;
mod respond;
mod route;
pub(crate) mod scan;
mod script;
mod server;
mod side;
mod stream;
mod template;

pub use parse::ParseError;
pub use record::{Kept, Kind, Outcome, Report, Request, UnexpectedRequest, UsedReply};
pub use script::{Position, Script, UnknownVariable};
pub use server::{KeepLimits, Options, Server, StartError, serve_until};

/// The usual error `type` of a status.
pub(crate) fn api_error_kind(status: u16) -> &'static str {
    api_error::kind(status)
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

//! The terminal's side of a daemon: finding it, naming things shortly, saying what came of it.
//!
//! Owns what the commands over the API have in common. The daemon is found by the socket in the data folder, where it knows
//! its own user; another one by `--server` and a token. Invariants: a token never stands in an argument; each kind of
//! failure has an exit code of its own; what an agent said cannot pass for what we say.

pub(crate) mod answers;
pub(crate) mod ask;
mod budget;
pub(crate) mod decide;
pub(crate) mod entries;
mod failure;
mod long;
pub(crate) mod names;
pub(crate) mod out;
pub(crate) mod question;
mod reach;
pub(crate) mod rows;
pub(crate) mod stop;
pub(crate) mod words;

use std::future::Future;
use std::io::{self, Write as _};

use countersign_api::client::Client;
use countersign_api::control::Receipt;
use serde::Serialize;

pub(crate) use budget::budget;
pub(crate) use failure::Failure;
pub(crate) use long::{Long, moment};
pub(crate) use reach::Reach;

use self::out::Paper;
use crate::Outcome;
use crate::term::style::Line;

/// What a command over the API comes to.
pub(crate) type Done = Result<Outcome, Failure>;

/// A server that is spoken to, and a person or a program that is told.
#[derive(Debug)]
pub(crate) struct Remote {
    pub(crate) client: Client,
    pub(crate) paper: Paper,
    /// Told to a program.
    pub(crate) json: bool,
}

impl Remote {
    /// Tells a person these lines, or a program this value.
    pub(crate) fn tell(&self, value: &impl Serialize, lines: &[Line]) -> Result<(), Failure> {
        match self.json {
            true => self.paper.value(value)?,
            false => self.paper.print(lines)?,
        }
        Ok(())
    }

    /// Tells what came of a write.
    pub(crate) fn receipt(&self, receipt: &Receipt, words: impl AsRef<str>) -> Done {
        self.tell(receipt, &[Line::plain(words)])?;
        Ok(Outcome::Fine)
    }
}

/// Finds the server and does it, with one thread: a command waits far more than it works.
pub(crate) fn with<F>(reach: Reach, work: impl FnOnce(Remote) -> F) -> anyhow::Result<Outcome>
where
    F: Future<Output = Done>,
{
    let json = reach.json;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let done = reach.client().map(|client| Remote {
        client,
        paper: Paper::stdout(),
        json,
    });
    let done = match done {
        Ok(remote) => runtime.block_on(work(remote)),
        Err(failure) => Err(failure),
    };
    // Nobody waits for a connection that is not needed any more.
    runtime.shutdown_background();
    match done {
        Ok(outcome) => Ok(outcome),
        Err(Failure::Output(error)) => Err(error.into()),
        Err(failure) => {
            let text = match json {
                true => failure.json().to_string(),
                false => format!("error: {}", failure.text()),
            };
            // Nothing is left to report to if stderr is gone, too.
            let _ = writeln!(io::stderr(), "{text}");
            Ok(Outcome::Ended(failure.code().into()))
        }
    }
}

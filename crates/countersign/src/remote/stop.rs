//! Ctrl-C during what does not end by itself.
//!
//! Owns the wait for it. Invariant: a follower that is ended so ends with 130 and leaves the terminal as it was.

use std::future::Future;
use std::process::ExitCode;

use super::{Done, Failure};
use crate::Outcome;

/// Works until it is done, or until the person has seen enough.
pub(crate) async fn or_interrupted(work: impl Future<Output = Done>) -> Done {
    tokio::select! {
        done = work => done,
        pressed = tokio::signal::ctrl_c() => {
            pressed.map_err(Failure::Output)?;
            Ok(Outcome::Ended(ExitCode::from(130)))
        }
    }
}

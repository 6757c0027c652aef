//! All open streams.
//!
//! Owns how many there may be, how many each caller has, and the word by which they all end. Invariant: a place is taken
//! before a stream begins and given back when its connection is done with it, however that comes about.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use countersign_api::{Code, Problem};
use tokio_util::sync::CancellationToken;

/// How much streams may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Streams that one caller may have open. One more is refused with `too_many`.
    pub each: usize,
    /// Streams of all callers together. One more is refused with `too_many`.
    pub all: usize,
    /// How long nothing may be said before a heartbeat is.
    pub heartbeat: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            each: 32,
            all: 512,
            heartbeat: Duration::from_secs(15),
        }
    }
}

/// When to try again after a refusal, in milliseconds.
const RETRY_MS: u64 = 5_000;

/// All open streams.
#[derive(Debug, Clone)]
pub struct Streams {
    limits: Limits,
    open: Arc<Mutex<HashMap<String, usize>>>,
    closing: CancellationToken,
}

impl Default for Streams {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

impl Streams {
    /// None is open yet.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            open: Arc::default(),
            closing: CancellationToken::new(),
        }
    }

    /// How many are open.
    pub fn open(&self) -> usize {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.values().sum()
    }

    /// The server ends: every stream says so and ends, and none begins.
    pub fn close(&self) {
        self.closing.cancel();
    }

    pub(crate) fn heartbeat(&self) -> Duration {
        self.limits.heartbeat
    }

    pub(crate) fn closing(&self) -> CancellationToken {
        self.closing.clone()
    }

    /// A place for one more.
    pub(crate) fn enter(&self, caller: &str) -> Result<Place, Problem> {
        if self.closing.is_cancelled() {
            let problem = Problem::new(Code::Unavailable, "the server is ending");
            return Err(problem.retry_after_ms(RETRY_MS));
        }
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let of_all: usize = open.values().sum();
        let of_caller = open.get(caller).copied().unwrap_or_default();
        if of_caller >= self.limits.each || of_all >= self.limits.all {
            let detail = format!(
                "`{caller}` has {of_caller} streams open of {}, and all together {of_all} of {}",
                self.limits.each, self.limits.all
            );
            let problem = Problem::new(Code::TooMany, detail)
                .hint("Close a stream that nobody reads any more, then try again.");
            return Err(problem.retry_after_ms(RETRY_MS));
        }
        open.insert(caller.to_owned(), of_caller + 1);
        Ok(Place {
            open: Arc::clone(&self.open),
            caller: caller.to_owned(),
        })
    }
}

/// The place of one stream. It is given back when this goes.
#[derive(Debug)]
pub(crate) struct Place {
    open: Arc<Mutex<HashMap<String, usize>>>,
    caller: String,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.caller) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                open.remove(&self.caller);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_with_too_many_streams_is_refused_and_no_other_one() {
        let streams = Streams::new(Limits {
            each: 2,
            all: 3,
            ..Limits::default()
        });
        let first = streams.enter("one").unwrap();
        let _second = streams.enter("one").unwrap();
        let refused = streams.enter("one").unwrap_err();
        assert_eq!(
            (refused.code, refused.retry_ms),
            (Code::TooMany, Some(5_000))
        );
        let _other = streams.enter("other").unwrap();
        assert_eq!(streams.open(), 3);
        assert_eq!(streams.enter("third").unwrap_err().code, Code::TooMany);
        drop(first);
        assert!(streams.enter("one").is_ok());
        assert_eq!(streams.open(), 2);
    }

    #[test]
    fn none_begins_once_the_server_ends() {
        let streams = Streams::default();
        streams.close();
        assert_eq!(streams.enter("one").unwrap_err().code, Code::Unavailable);
    }
}

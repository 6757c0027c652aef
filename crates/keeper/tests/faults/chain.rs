//! Whether a journal can be read by its own reader, and whether its chain holds.
//!
//! Owns the bridge from the journal's own verdict to a violation. A torn tail is no violation: the next writer cuts it.

use std::path::Path;

use countersign_journal::{Reader, Step};

use crate::checks::{Promise, Violation};

/// What the journal's own reader and its check have to say.
pub(crate) fn violations(session: &Path) -> Vec<Violation> {
    let say = |what: String| {
        vec![Violation {
            promise: Promise::Readable,
            what,
        }]
    };
    if !session.join("journal").exists() {
        return Vec::new();
    }
    let mut reader = match Reader::open(session) {
        Ok(reader) => reader,
        Err(error) => return say(error.to_string()),
    };
    loop {
        match reader.next() {
            Ok(Step::End) => break,
            Ok(Step::Record(_)) => {}
            Ok(other) => return say(format!("{other:?}")),
            Err(error) => return say(error.to_string()),
        }
    }
    match countersign_journal::verify(session, &[]) {
        Ok(verdict) => match verdict.fault {
            Some(fault) => say(format!("{fault:?}")),
            None => Vec::new(),
        },
        Err(error) => say(error.to_string()),
    }
}

//! Time stamps as the CLI writes them (`2026-01-31T12:00:00.123Z`), from the time since 1970. Pure; no zone but UTC.

use std::time::Duration;

use jiff::Timestamp;

/// The stamp of a moment, with milliseconds.
pub(in crate::cli) fn stamp(since_epoch: Duration) -> String {
    let millis = i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX);
    let moment = Timestamp::from_millisecond(millis).unwrap_or(Timestamp::MAX);
    format!("{moment:.3}")
}

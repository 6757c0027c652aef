//! Time stamps as the CLI writes them (`2026-01-31T12:00:00.123Z`), from the time since 1970. Pure; no zone but UTC.

use std::time::Duration;

use jiff::Timestamp;

/// The stamp of a moment, with milliseconds.
pub(in crate::cli) fn stamp(since_epoch: Duration) -> String {
    let millis = i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX);
    let moment = Timestamp::from_millisecond(millis).unwrap_or(Timestamp::MAX);
    format!("{moment:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_always_has_milliseconds() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_794_747_740_056, "2026-11-15T13:02:20.056Z"),
        ] {
            assert_eq!(stamp(Duration::from_millis(millis)), text);
        }
    }
}

//! Time stamps as the CLI writes them (`2026-01-31T12:00:00.123Z`), from the time since 1970. Pure; no zone but UTC.

use std::time::Duration;

const DAY: u64 = 86_400;

/// The stamp of a moment, with milliseconds.
pub(in crate::cli) fn stamp(since_epoch: Duration) -> String {
    let seconds = since_epoch.as_secs();
    let (year, month, day) = date(seconds / DAY);
    let rest = seconds % DAY;
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}Z",
        rest / 3600,
        rest / 60 % 60,
        rest % 60,
        since_epoch.subsec_millis()
    )
}

/// Year, month and day of a day since 1970. Years run from March, so that a leap day is the last.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    if month < 10 {
        (era * 400 + year, month + 3, day)
    } else {
        (era * 400 + year + 1, month - 9, day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments_are_written_as_dates() {
        let known = [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_868_799_999, "2000-02-29T23:59:59.999Z"),
            (1_709_208_000_001, "2024-02-29T12:00:00.001Z"),
            (1_794_747_740_056, "2026-11-15T13:02:20.056Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ];
        for (millis, text) in known {
            assert_eq!(stamp(Duration::from_millis(millis)), text);
        }
    }
}

//! Lengths of time as people write them: `30m`, `2h`, `7d`.
//!
//! Owns how they are read. Invariant: what is no length is refused with examples.

use std::str::FromStr;
use std::time::Duration;

/// A length of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Long(pub(crate) Duration);

/// A word that is no length of time.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no length of time: write it like 90s, 30m, 2h or 7d")]
pub(crate) struct BadLong(String);

impl FromStr for Long {
    type Err = BadLong;

    fn from_str(text: &str) -> Result<Self, BadLong> {
        read(text).map(Self).ok_or_else(|| BadLong(text.to_owned()))
    }
}

fn read(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at(text.find(|letter: char| !letter.is_ascii_digit())?);
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return None,
    };
    let seconds = number.parse::<u64>().ok()?.checked_mul(unit)?;
    (1..=3_650 * 86_400)
        .contains(&seconds)
        .then(|| Duration::from_secs(seconds))
}

/// The moment so long after now, in microseconds of Unix time.
pub(crate) fn moment(now: u64, long: Long) -> u64 {
    now.saturating_add(long.0.as_micros() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read_as_people_write_them() {
        for (text, seconds) in [("90s", 90), ("30m", 1_800), ("2h", 7_200), ("7d", 604_800)] {
            let long: Long = text.parse().unwrap();
            assert_eq!(long.0.as_secs(), seconds);
        }
        for text in ["", "30", "m", "0m", "-3m", "3 m", "9999999d", "3w"] {
            assert!(text.parse::<Long>().is_err(), "{text}");
        }
        assert_eq!(moment(5, Long(Duration::from_secs(1))), 1_000_005);
    }
}

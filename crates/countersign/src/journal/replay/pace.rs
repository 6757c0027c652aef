//! How fast a session is played: recorded times → how long to wait.
//!
//! Pure: the time that has passed comes in as a value.

use std::str::FromStr;
use std::time::Duration;

/// How fast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Speed {
    /// So many times as fast as it was.
    Times(f64),
    /// Without waiting.
    Max,
}

/// The text is no speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a speed is a number above 0, such as `1`, `0.5` or `10`, or `max`")]
pub(crate) struct BadSpeed;

impl FromStr for Speed {
    type Err = BadSpeed;

    fn from_str(text: &str) -> Result<Self, BadSpeed> {
        if text == "max" {
            return Ok(Speed::Max);
        }
        let number = text.trim_end_matches(['x', '×']).parse::<f64>();
        let number = number.map_err(|_| BadSpeed)?;
        match number.is_finite() && number >= 0.001 {
            true => Ok(Speed::Times(number)),
            false => Err(BadSpeed),
        }
    }
}

/// When the next record is due.
#[derive(Debug)]
pub(crate) struct Pace {
    speed: Speed,
    /// No pause is longer than this.
    longest: Duration,
    /// The time of the record before, in microseconds.
    last: Option<u64>,
    /// How long after the start that one was due.
    due: Duration,
}

impl Pace {
    pub(crate) fn new(speed: Speed, longest: Duration) -> Self {
        Self {
            speed,
            longest,
            last: None,
            due: Duration::ZERO,
        }
    }

    /// How long after the start a record of this time is due.
    pub(crate) fn due(&mut self, at: u64) -> Duration {
        let last = self.last.replace(at).unwrap_or(at);
        let Speed::Times(times) = self.speed else {
            return Duration::ZERO;
        };
        let gap = Duration::from_micros(at.saturating_sub(last)).div_f64(times);
        self.due += gap.min(self.longest);
        self.due
    }

    /// Somebody was waited for until now: what follows is counted from here.
    pub(crate) fn waited(&mut self, elapsed: Duration) {
        self.due = self.due.max(elapsed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_numbers_or_max() {
        assert_eq!("max".parse(), Ok(Speed::Max));
        assert_eq!("10".parse(), Ok(Speed::Times(10.0)));
        assert_eq!("0.5x".parse(), Ok(Speed::Times(0.5)));
        for bad in ["", "0", "-1", "fast", "inf", "nan", "0.0001"] {
            assert_eq!(bad.parse::<Speed>(), Err(BadSpeed), "{bad}");
        }
    }

    #[test]
    fn gaps_are_divided_and_cut() {
        let mut pace = Pace::new(Speed::Times(2.0), Duration::from_secs(5));
        let seconds = |s: u64| s * 1_000_000;
        assert_eq!(pace.due(seconds(100)), Duration::ZERO);
        assert_eq!(pace.due(seconds(104)), Duration::from_secs(2));
        assert_eq!(pace.due(seconds(1_000)), Duration::from_secs(7));
        pace.waited(Duration::from_secs(60));
        assert_eq!(pace.due(seconds(1_002)), Duration::from_secs(61));
        assert_eq!(
            Pace::new(Speed::Max, Duration::MAX).due(seconds(9)),
            Duration::ZERO
        );
    }
}

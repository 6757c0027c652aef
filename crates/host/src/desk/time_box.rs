//! Hands-off, for a time.
//!
//! Owns the question whether that time is over. Pure: both clocks come in. Invariant: whichever clock says so first ends
//! it, so that a clock that is set back prolongs nothing.

use std::time::Duration;

/// Nobody keeps their hands off for longer than this without saying it again.
pub(super) const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// A time that something holds for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TimeBox {
    /// By the clock on the wall, in microseconds of Unix time.
    until: u64,
    /// By a clock that nobody sets.
    ends: Duration,
}

impl TimeBox {
    /// From now to `until`. `up` is what the clock that nobody sets shows.
    pub(super) fn begin(until: u64, now: u64, up: Duration) -> Self {
        let left = Duration::from_micros(until.saturating_sub(now)).min(LONGEST);
        Self {
            until,
            ends: up.saturating_add(left),
        }
    }

    pub(super) fn is_over(&self, now: u64, up: Duration) -> bool {
        self.left(now, up).is_zero()
    }

    /// How long it still holds, by the clock that ends it first.
    pub(super) fn left(&self, now: u64, up: Duration) -> Duration {
        let by_wall = Duration::from_micros(self.until.saturating_sub(now));
        by_wall.min(self.ends.saturating_sub(up))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: u64 = 60_000_000;

    fn minutes(n: u64) -> Duration {
        Duration::from_micros(n * MINUTE)
    }

    #[test]
    fn the_earlier_clock_ends_it() {
        let begun = TimeBox::begin(100 * MINUTE, 70 * MINUTE, minutes(5));
        for (now, up, over) in [
            (99, 34, false),
            (100, 20, true),
            // The clock on the wall was set back by an hour.
            (39, 34, false),
            (40, 35, true),
        ] {
            assert_eq!(begun.is_over(now * MINUTE, minutes(up)), over, "{now} {up}");
        }
        assert_eq!(begun.left(99 * MINUTE, minutes(34)), minutes(1));
        assert_eq!(begun.left(39 * MINUTE, minutes(15)), minutes(20));
    }

    #[test]
    fn a_time_that_has_passed_or_is_too_far_off_is_no_grant_for_ever() {
        assert!(TimeBox::begin(5, 6, minutes(0)).is_over(6, minutes(0)));
        let day = 24 * 60;
        let far = TimeBox::begin(u64::MAX, 0, minutes(0));
        assert!(!far.is_over(0, minutes(day - 1)) && far.is_over(0, minutes(day)));
    }
}

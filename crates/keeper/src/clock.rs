//! Two clocks: the one on the wall for people, the one since the boot for durations.
//!
//! Owns the times of records: they never fall, and a jump of the wall clock is told. Nothing is ever measured by the
//! wall clock, so a clock that is set prolongs and shortens nothing.

use std::path::PathBuf;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// How far the clocks may go apart before it counts as a jump, in microseconds.
const JUMP: i64 = 1_000_000;

#[cfg(any(target_os = "linux", target_os = "android"))]
const SINCE_BOOT: ClockId = ClockId::Boottime;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const SINCE_BOOT: ClockId = ClockId::Monotonic;

/// Time since the boot, sleep counted.
pub(crate) fn boot() -> Duration {
    let time = clock_gettime(SINCE_BOOT);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanos = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanos)
}

/// Microseconds of Unix time.
pub(crate) fn wall() -> u64 {
    let time = clock_gettime(ClockId::Realtime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    seconds * 1_000_000 + u64::try_from(time.tv_nsec).unwrap_or_default() / 1_000
}

/// The wall clock of a generation.
#[derive(Debug)]
pub(crate) struct WallClock {
    times: Times,
    /// A file with microseconds to add; none but in tests.
    shift: Option<PathBuf>,
}

impl WallClock {
    pub(crate) fn new(shift: Option<PathBuf>) -> Self {
        let times = Times::default();
        let mut clock = Self { times, shift };
        clock.read();
        clock
    }

    /// The time for the next record, and by how much the clock was set since the last look.
    pub(crate) fn read(&mut self) -> (u64, Option<i64>) {
        let shift = self
            .shift
            .as_ref()
            .and_then(|file| std::fs::read_to_string(file).ok())
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or(0);
        self.times.see(wall().saturating_add_signed(shift), boot())
    }
}

/// What was seen of both clocks. Pure.
#[derive(Debug, Default)]
struct Times {
    /// Wall time at the boot, as the last look has it.
    boot_at: Option<i64>,
    last: u64,
}

impl Times {
    fn see(&mut self, wall: u64, boot: Duration) -> (u64, Option<i64>) {
        let wall_signed = i64::try_from(wall).unwrap_or(i64::MAX);
        let boot = i64::try_from(boot.as_micros()).unwrap_or(i64::MAX);
        let boot_at = wall_signed.saturating_sub(boot);
        let jump = boot_at.saturating_sub(*self.boot_at.get_or_insert(boot_at));
        let jumped = jump.abs() > JUMP;
        if jumped {
            self.boot_at = Some(boot_at);
        }
        self.last = self.last.max(wall);
        (self.last, jumped.then_some(jump))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u64 = 1_700_000_000_000_000;

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn times_never_fall_and_a_jump_is_told_once() {
        let mut times = Times::default();
        assert_eq!(times.see(START, at(100)), (START, None));
        let later = START + 5_000_000;
        assert_eq!(times.see(later, at(105)), (later, None));
        // Set back by an hour: the time stands, the jump is told.
        let back = later - 3_600_000_000;
        assert_eq!(times.see(back, at(105)), (later, Some(-3_600_000_000)));
        assert_eq!(times.see(back + 1_000_000, at(106)), (later, None));
        // And forward again.
        let on = later + 2_000_000;
        assert_eq!(times.see(on, at(107)), (on, Some(3_600_000_000)));
    }

    #[test]
    fn less_than_a_second_is_no_jump_but_many_of_them_are() {
        let mut times = Times::default();
        times.see(START, at(0));
        assert_eq!(times.see(START + 1_600_000, at(1)).1, None);
        assert_eq!(times.see(START + 3_200_000, at(2)).1, Some(1_200_000));
    }
}

//! What moves while something goes on.
//!
//! Pure: the time that passed comes in as a value. Whoever draws decides how often.

use std::time::Duration;

/// How long one frame stands, and so how often it is worth drawing.
pub(crate) const FRAME: Duration = Duration::from_millis(100);

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// The frame after this time, one column wide.
pub(crate) fn frame(elapsed: Duration) -> &'static str {
    let count = elapsed.as_millis() / FRAME.as_millis();
    FRAMES[(count % FRAMES.len() as u128) as usize]
}

/// A time as a person reads it: `8s`, `2m 05s`, `1h 02m`.
pub(crate) fn clock(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h {:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_follow_each_other_and_come_round() {
        assert_eq!(frame(Duration::ZERO), FRAMES[0]);
        assert_eq!(frame(FRAME - Duration::from_millis(1)), FRAMES[0]);
        assert_eq!(frame(FRAME), FRAMES[1]);
        assert_eq!(frame(FRAME * 10), FRAMES[0]);
    }

    #[test]
    fn a_time_is_told_in_two_units_at_most() {
        let told =
            [0, 59, 60, 125, 3599, 3600, 3720].map(|seconds| clock(Duration::from_secs(seconds)));
        assert_eq!(
            told,
            [
                "0s", "59s", "1m 00s", "2m 05s", "59m 59s", "1h 00m", "1h 02m"
            ]
        );
    }
}

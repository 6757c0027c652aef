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
}

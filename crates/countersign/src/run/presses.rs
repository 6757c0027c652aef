//! What Ctrl-C means: the turn, the run, or what was typed.
//!
//! Owns the count of presses. Pure: the moment comes in. Once interrupts the turn, twice ends the run, also if the turn
//! was over in between; with nothing going on it clears the line or says that once more ends the run.

use std::time::{Duration, Instant};

/// Two presses within this time are one wish, whatever happened in between.
const TWICE: Duration = Duration::from_millis(1000);

/// The presses so far.
#[derive(Debug, Default)]
pub(crate) struct Presses {
    last: Option<(Instant, Pressed)>,
}

/// What a press means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pressed {
    /// Interrupt the turn.
    Interrupt,
    /// End the run.
    End {
        /// Whether it was a turn that the person wanted to end.
        in_turn: bool,
    },
    /// Say that once more ends the run.
    Warn,
    /// Clear what was typed.
    Clear,
}

impl Presses {
    /// Ctrl-C was pressed. `is_busy`: something goes on or is asked.
    pub(crate) fn press(&mut self, now: Instant, is_busy: bool, is_typing: bool) -> Pressed {
        let pressed = match self.last {
            Some((_, Pressed::Interrupt)) if is_busy => Pressed::End { in_turn: true },
            Some((at, Pressed::Interrupt)) if now.duration_since(at) < TWICE => {
                Pressed::End { in_turn: true }
            }
            Some((_, Pressed::Warn)) => Pressed::End { in_turn: false },
            _ if is_busy => Pressed::Interrupt,
            _ if is_typing => Pressed::Clear,
            _ => Pressed::Warn,
        };
        self.last = Some((now, pressed));
        pressed
    }

    /// Something else was typed or sent: what follows is another wish.
    pub(crate) fn forget(&mut self) {
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once_interrupts_and_twice_ends() {
        let now = Instant::now();
        let later = now + Duration::from_secs(60);
        let mut presses = Presses::default();
        assert_eq!(presses.press(now, true, false), Pressed::Interrupt);
        assert_eq!(
            presses.press(later, true, false),
            Pressed::End { in_turn: true }
        );
    }

    #[test]
    fn twice_in_a_row_ends_even_if_the_turn_was_over_in_between() {
        let now = Instant::now();
        let mut presses = Presses::default();
        presses.press(now, true, false);
        let soon = now + Duration::from_millis(300);
        assert_eq!(
            presses.press(soon, false, false),
            Pressed::End { in_turn: true }
        );
        let mut presses = Presses::default();
        presses.press(now, true, false);
        let late = now + Duration::from_secs(5);
        assert_eq!(presses.press(late, false, false), Pressed::Warn);
        assert_eq!(
            presses.press(late, false, false),
            Pressed::End { in_turn: false }
        );
    }

    #[test]
    fn with_nothing_going_on_it_clears_the_line_first() {
        let now = Instant::now();
        let mut presses = Presses::default();
        assert_eq!(presses.press(now, false, true), Pressed::Clear);
        assert_eq!(presses.press(now, false, false), Pressed::Warn);
        presses.forget();
        assert_eq!(presses.press(now, false, false), Pressed::Warn);
    }
}

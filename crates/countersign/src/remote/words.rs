//! Sessions and times in words.
//!
//! Owns how a state, an age and a moment are said. Pure: now comes in.

use std::time::Duration;

use countersign_api::control::session::{Mode, Pause};
use countersign_api::control::{SessionView, State};

use crate::term::style::Tone;

/// Now, in microseconds of Unix time.
pub(crate) fn now() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |now| now.as_micros() as u64)
}

/// How a session stands, in a word or two.
pub(crate) fn state(state: &State) -> (String, Tone) {
    match state {
        State::Queued => ("queued".into(), Tone::Dim),
        State::Starting => ("starting".into(), Tone::Accent),
        State::Running => ("running".into(), Tone::Good),
        State::NeedsYou { open } => (format!("needs you ({open})"), Tone::Warn),
        State::Idle { asleep: true, .. } => ("asleep".into(), Tone::Dim),
        State::Idle { .. } => ("idle".into(), Tone::Plain),
        State::Paused { why } => (format!("paused: {}", pause(why)), Tone::Warn),
        State::Stalled { .. } => ("stalled".into(), Tone::Warn),
        State::Ending => ("ending".into(), Tone::Dim),
        State::Stopped => ("stopped".into(), Tone::Dim),
        State::Failed { .. } => ("failed".into(), Tone::Bad),
        State::NotSignedIn { .. } => ("not signed in".into(), Tone::Bad),
        State::Unreachable => ("unreachable".into(), Tone::Bad),
        other => (other.name().replace('_', " "), Tone::Plain),
    }
}

/// Every word of [`pause`].
pub(crate) const PAUSES: [&str; 4] = ["limit", "disk", "budget", "waits"];

fn pause(why: &Pause) -> &'static str {
    match why {
        Pause::UsageLimit { .. } => "limit",
        Pause::Disk => "disk",
        Pause::Budget { .. } => "budget",
        _ => "waits",
    }
}

/// A mode, with its end where it has one.
pub(crate) fn mode(mode: Mode, now: u64) -> String {
    match mode {
        Mode::HandsOff { until } => format!("hands-off for {}", ahead(now, until)),
        mode => mode.name().to_owned(),
    }
}

/// `12s`, `5m`, `3h`, `2d`: how long ago a moment was, in whole ones.
pub(crate) fn age(from: u64, to: u64) -> String {
    let seconds = Duration::from_micros(to.saturating_sub(from)).as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// `12s`, `5m`, `1h 30m`, `30d`: how long it is until a moment, to the nearest. What was said just now is told as it was
/// said, though some of it has passed.
pub(crate) fn ahead(now: u64, at: u64) -> String {
    let seconds = at.saturating_sub(now).div_ceil(1_000_000);
    let nearest = |unit: u64| (seconds + unit / 2) / unit;
    let both = |whole: u64, large: &str, part: u64, small: &str| match part {
        0 => format!("{whole}{large}"),
        part => format!("{whole}{large} {part}{small}"),
    };
    let (minutes, hours) = (nearest(60), nearest(3_600));
    match seconds {
        0..60 => format!("{seconds}s"),
        _ if minutes < 60 => format!("{minutes}m"),
        _ if minutes < 24 * 60 => both(minutes / 60, "h", minutes % 60, "m"),
        _ => both(hours / 24, "d", hours % 24, "h"),
    }
}

/// `2026-11-15 22:31:05 UTC`
pub(crate) fn when(at: u64) -> String {
    let moment = i64::try_from(at)
        .ok()
        .map(jiff::Timestamp::from_microsecond);
    match moment {
        Some(Ok(moment)) => format!("{} UTC", moment.strftime("%F %T")),
        _ => "(no time)".to_owned(),
    }
}

/// US dollars.
pub(crate) fn dollars(amount: f64) -> String {
    match amount {
        amount if amount <= 0.0 => "–".to_owned(),
        amount if amount < 1.0 => format!("${amount:.3}"),
        amount => format!("${amount:.2}"),
    }
}

/// Why a session stands so, where the state alone does not say it.
pub(crate) fn reason(view: &SessionView) -> Option<&str> {
    let reason = view.reason.trim();
    (!reason.is_empty()).then_some(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_told_in_the_unit_a_person_would_choose() {
        let second = 1_000_000;
        for (seconds, told) in [
            (0, "0s"),
            (59, "59s"),
            (60, "1m"),
            (7_300, "2h"),
            (200_000, "2d"),
        ] {
            assert_eq!(age(5, 5 + seconds * second), told);
        }
        // A clock that was set back.
        assert_eq!(age(9, 5), "0s");
    }

    #[test]
    fn what_lies_ahead_is_told_as_it_was_said_a_moment_before() {
        let told = |seconds: u64| ahead(3, seconds * 1_000_000);
        for (seconds, words) in [
            (0, "0s"),
            (59, "59s"),
            (7_200, "2h"),
            (5_400, "1h 30m"),
            (30 * 86_400, "30d"),
            (30 * 86_400 - 60, "30d"),
            (86_399, "1d"),
            (90_000, "1d 1h"),
        ] {
            assert_eq!(told(seconds), words, "{seconds}");
        }
    }

    #[test]
    fn every_state_has_words() {
        let idle = |asleep| State::Idle {
            asleep,
            background: 0,
        };
        assert_eq!(state(&idle(true)).0, "asleep");
        assert_eq!(state(&idle(false)).0, "idle");
        assert_eq!(
            state(&State::NeedsYou { open: 2 }),
            ("needs you (2)".into(), Tone::Warn)
        );
        let why = Pause::Budget {
            spent: 1.0,
            budget: 1.0,
        };
        assert_eq!(state(&State::Paused { why }).0, "paused: budget");
    }

    #[test]
    fn hands_off_says_how_long_it_lasts() {
        assert_eq!(
            mode(Mode::HandsOff { until: 600_000_000 }, 0),
            "hands-off for 10m"
        );
        assert_eq!(mode(Mode::Edits, 0), "edits");
        assert_eq!(
            [dollars(0.0), dollars(0.0123), dollars(12.0)],
            ["–", "$0.012", "$12.00"]
        );
    }
}

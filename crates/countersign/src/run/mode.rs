//! The modes a person chooses, and what they mean here.
//!
//! Owns [`Mode`]. Accepting edits and hands-off are our answers, not modes of the CLI, which stays in its default mode:
//! so they end when we do, and every call is still seen.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use countersign_client::PermissionMode;
use countersign_policy::Profile;
use jiff::Timestamp;

/// How long hands-off holds when nobody says.
const HANDS_OFF: Duration = Duration::from_secs(30 * 60);

/// A mode, in the words a person chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Mode {
    /// Nothing is changed until a plan is approved.
    Plan,
    /// Whatever no rule decides is asked.
    #[default]
    Ask,
    /// Editing files inside of the folder is allowed.
    Edits,
    /// Everything is allowed that no rule forbids or wants asked, for a time.
    HandsOff(Duration),
    /// What no rule allows is refused; nobody is asked.
    RulesOnly,
}

/// A word that is no mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModeError(String);

impl std::error::Error for ModeError {}

impl fmt::Display for ModeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_str() {
            "bypassPermissions" | "bypass" => f.write_str("the CLI is never started in bypass mode: choose `hands-off` or `hands-off=2h`"),
            "auto" => f.write_str("`auto` leaves the decision to Claude, so calls would not be seen here: choose `ask`, `edits` or `hands-off`"),
            word => write!(f, "`{word}` is no mode: choose plan, ask, edits, hands-off, hands-off=30m or rules-only"),
        }
    }
}

impl FromStr for Mode {
    type Err = ModeError;

    fn from_str(text: &str) -> Result<Self, ModeError> {
        if let Some(time) = text.strip_prefix("hands-off=") {
            return duration(time)
                .map(Mode::HandsOff)
                .ok_or_else(|| ModeError(text.to_owned()));
        }
        match text {
            "plan" => Ok(Mode::Plan),
            // The CLI's own names are understood as well.
            "ask" | "default" | "manual" => Ok(Mode::Ask),
            "edits" | "acceptEdits" | "accept-edits" => Ok(Mode::Edits),
            "hands-off" => Ok(Mode::HandsOff(HANDS_OFF)),
            "rules-only" | "dontAsk" => Ok(Mode::RulesOnly),
            word => Err(ModeError(word.to_owned())),
        }
    }
}

/// `90s`, `30m`, `2h`; more than nothing and at most a day.
fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        _ => return None,
    };
    let seconds = number.parse::<u64>().ok()?.checked_mul(seconds)?;
    (1..=24 * 60 * 60)
        .contains(&seconds)
        .then(|| Duration::from_secs(seconds))
}

impl Mode {
    /// The mode the CLI is started in.
    pub(crate) fn of_cli(self) -> PermissionMode {
        match self {
            Mode::Plan => PermissionMode::Plan,
            Mode::Ask | Mode::Edits | Mode::HandsOff(_) | Mode::RulesOnly => {
                PermissionMode::Default
            }
        }
    }

    /// What holds where no rule speaks. A file may say so for the mode that asks.
    pub(crate) fn profile(self, of_file: Option<Profile>, now: Timestamp) -> Profile {
        match self {
            Mode::Plan | Mode::RulesOnly => Profile::Careful,
            Mode::Ask => of_file.unwrap_or_default(),
            Mode::Edits => Profile::Edits,
            Mode::HandsOff(time) => Profile::HandsOff {
                until: now
                    .saturating_add(jiff::SignedDuration::try_from(time).unwrap_or_default())
                    .unwrap_or(now),
            },
        }
    }

    /// Returns the name of what holds now for a run that began in this mode. The CLI does not know it: to the CLI, every mode of
    /// ours that does not plan is its default.
    pub(crate) fn name_in_force(self, profile: Profile) -> &'static str {
        match (profile, self) {
            (Profile::Edits, _) => "edits",
            (Profile::HandsOff { .. }, _) => "hands-off",
            (Profile::Careful, Mode::RulesOnly) => "rules-only",
            (Profile::Careful, _) => "ask",
        }
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Mode::Plan => "plan",
            Mode::Ask => "ask",
            Mode::Edits => "edits",
            Mode::HandsOff(_) => "hands-off",
            Mode::RulesOnly => "rules-only",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_has_a_word_and_perhaps_a_time() {
        for (text, mode) in [
            ("plan", Mode::Plan),
            ("default", Mode::Ask),
            ("acceptEdits", Mode::Edits),
            ("hands-off", Mode::HandsOff(Duration::from_secs(1800))),
            ("hands-off=2h", Mode::HandsOff(Duration::from_secs(7200))),
            ("dontAsk", Mode::RulesOnly),
        ] {
            assert_eq!(text.parse(), Ok(mode), "{text}");
        }
        for text in [
            "",
            "bypassPermissions",
            "auto",
            "hands-off=",
            "hands-off=0s",
            "hands-off=25h",
            "hands-off=9",
            "hands-off=m",
            "x",
        ] {
            let error = text.parse::<Mode>().unwrap_err().to_string();
            assert!(error.contains("choose"), "{error}");
        }
    }

    #[test]
    fn the_mode_in_force_is_named_by_what_holds_where_no_rule_speaks() {
        let now = Timestamp::UNIX_EPOCH;
        for mode in [
            Mode::Ask,
            Mode::Edits,
            Mode::HandsOff(HANDS_OFF),
            Mode::RulesOnly,
        ] {
            let profile = mode.profile(None, now);
            assert_eq!(mode.name_in_force(profile), mode.name());
            assert_eq!(mode.name_in_force(Profile::Edits), "edits");
        }
        // A plan was approved: what follows is asked about, unless edits were accepted with it.
        assert_eq!(Mode::Plan.name_in_force(Profile::Careful), "ask");
        let over = Mode::HandsOff(HANDS_OFF)
            .profile(None, now)
            .at(Timestamp::MAX);
        assert_eq!(Mode::HandsOff(HANDS_OFF).name_in_force(over), "ask");
    }

    #[test]
    fn no_mode_gives_the_cli_a_freedom_of_its_own() {
        for text in ["ask", "edits", "hands-off", "rules-only"] {
            assert_eq!(
                text.parse::<Mode>().unwrap().of_cli(),
                PermissionMode::Default
            );
        }
    }
}

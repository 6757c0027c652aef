//! How a session is shown: its state in a person's words, and the reason.
//!
//! Owns the order in which one thing hides another: a disk that is full hides a turn that runs, a question hides what the
//! turn does meanwhile. A pure view: nothing here changes anything.

use super::core::{Core, EndWhy, Hold, Outcome, Phase, Room};
use super::fact::Seen;
use crate::control::State;
use crate::control::session::Pause;

/// Everything that is shown of a session.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shown {
    pub(super) state: State,
    pub(super) reason: String,
    is_held: bool,
    is_released: bool,
    is_cut_off: bool,
    generation: u32,
    seen: Seen,
}

impl Shown {
    /// Whether another reason is all that differs, if anything does.
    pub(crate) fn stands_as(&self, other: &Self) -> bool {
        let reason = other.reason.clone();
        Self {
            reason,
            ..self.clone()
        } == *other
    }
}

impl Core {
    pub(crate) fn shown(&self) -> Shown {
        let (state, reason) = self.standing();
        Shown {
            state,
            reason,
            is_held: self.queue_held(),
            is_released: self.is_released,
            is_cut_off: self.is_cut_off,
            generation: self.generation,
            seen: self.seen.clone(),
        }
    }

    fn standing(&self) -> (State, String) {
        match self.phase {
            Phase::Off => self.without_agent(),
            Phase::Waiting if self.room == Room::WithoutFiles => (
                State::Queued,
                "It waits for files: the daemon has as many open as it may. End some agents, or close some pages.".into(),
            ),
            Phase::Waiting => (
                State::Queued,
                "It waits for room: as many agents run as may run at once.".into(),
            ),
            Phase::Starting if self.ending.is_some() => (State::Ending, self.ending_reason()),
            Phase::Starting => (State::Starting, self.starting_reason()),
            Phase::Live => self.with_agent(),
        }
    }

    fn starting_reason(&self) -> String {
        match self.generation {
            0 | 1 => "Its agent is starting.".into(),
            again => format!("Its agent is starting, for the {} time.", ordinal(again)),
        }
    }

    fn ending_reason(&self) -> String {
        let why = self.ending.as_ref().map(|ending| ending.why);
        match why {
            Some(EndWhy::Sleep) => "Its agent goes to sleep.".into(),
            Some(EndWhy::Restart) => "Its agent ends, and another one takes its place.".into(),
            Some(EndWhy::Keeper) => "Its agent is ended by its keeper.".into(),
            Some(EndWhy::Stop) | None => "Its agent is being ended.".into(),
        }
    }

    fn without_agent(&self) -> (State, String) {
        if let Some(shown) = self.outcome_shown() {
            return shown;
        }
        if let Some(shown) = self.paused() {
            return shown;
        }
        let reason = match &self.outcome {
            Outcome::Fresh if self.generation == 0 => "It waits for its first message.",
            _ if self.queue_held() => self.hold_reason(),
            _ => "Its agent sleeps: the next message wakes it.",
        };
        let state = State::Idle {
            asleep: true,
            background: 0,
        };
        (state, reason.into())
    }

    fn with_agent(&self) -> (State, String) {
        if self.is_unreachable {
            let reason = "Its keeper holds the agent and does not answer: force its end.";
            return (State::Unreachable, reason.into());
        }
        if self.ending.is_some() {
            return (State::Ending, self.ending_reason());
        }
        if self.is_disk_full {
            let why = Pause::Disk;
            let reason = "The disk is full: the agent waits until there is room.";
            return (State::Paused { why }, reason.into());
        }
        let open = self.open_questions();
        if open > 0 {
            return (State::NeedsYou { open }, self.question_reason(open));
        }
        if let Some(shown) = self.turn_shown() {
            return shown;
        }
        if let Some(shown) = self.paused().or_else(|| self.outcome_shown()) {
            return shown;
        }
        let background = self.background();
        let state = State::Idle {
            asleep: false,
            background,
        };
        (state, self.idle_reason(background))
    }

    fn question_reason(&self, open: u32) -> String {
        let first = self.questions.iter().find(|question| question.needs_person);
        let tool = first.and_then(|question| question.tool.as_deref());
        match (open, tool) {
            (1, Some(tool)) => format!("It asks about {tool}."),
            (1, None) => "It asks something.".into(),
            (open, _) => format!("{open} questions are open."),
        }
    }

    fn turn_shown(&self) -> Option<(State, String)> {
        let turn = self.turn.as_ref()?;
        if let (true, Some(since)) = (turn.is_deaf, turn.interrupted) {
            let reason = "It was interrupted and goes on all the same: force its end.";
            return Some((State::Stalled { since }, reason.into()));
        }
        if self.is_stalled {
            let since = self.silent_since();
            let reason = "A turn runs, no call and no question is open, and nothing comes: \
                          interrupt it, or force its end.";
            return Some((State::Stalled { since }, reason.into()));
        }
        let call = self.tools.iter().next_back();
        let reason = match call {
            _ if turn.interrupted.is_some() => "It is being interrupted.".into(),
            _ if !turn.has_begun && turn.follows => {
                "A message that was sent before is about to run.".into()
            }
            _ if !turn.has_begun => "A message is on its way to it.".into(),
            _ if turn.retry_at.is_some() => {
                "The model could not be reached: it tries again by itself.".into()
            }
            Some(call) => format!("{} runs.", call.name),
            None if turn.by_itself => "It went on by itself, after work in the background.".into(),
            None => "It works.".into(),
        };
        Some((State::Running, reason))
    }

    /// What keeps messages from being sent, where that is not a person's word.
    fn paused(&self) -> Option<(State, String)> {
        if let Some(over) = self.over_budget {
            let why = Pause::Budget {
                spent: over.spent,
                budget: over.budget,
            };
            let reason = format!(
                "It has cost ${:.2} of ${:.2}: raise the budget to go on.",
                over.spent, over.budget
            );
            return Some((State::Paused { why }, reason));
        }
        let limit = self.limit?;
        let why = Pause::UsageLimit { until: limit.until };
        let reason = match limit.until {
            Some(_) => "A limit of the account is reached: it goes on when the limit starts over.",
            None => "A limit of the account is reached: try again later.",
        };
        Some((State::Paused { why }, reason.into()))
    }

    fn outcome_shown(&self) -> Option<(State, String)> {
        match &self.outcome {
            Outcome::Stopped => {
                let reason = "A person ended it: resume it to go on.";
                Some((State::Stopped, reason.into()))
            }
            Outcome::Failed { why, stderr } => {
                let stderr = stderr.clone();
                Some((State::Failed { stderr }, why.clone()))
            }
            Outcome::NotSignedIn { why, fix } => {
                Some((State::NotSignedIn { fix: fix.clone() }, why.clone()))
            }
            _ => None,
        }
    }

    fn idle_reason(&self, background: u32) -> String {
        let reason = match &self.outcome {
            _ if self.queue_held() => self.hold_reason(),
            _ if self.wants_restart => "It starts anew as soon as its background work has ended.",
            _ if background > 0 => "Work in the background goes on.",
            Outcome::Interrupted => "The turn was interrupted.",
            Outcome::KnownBefore => {
                "The CLI knew the last message from before and ran nothing: send another one to go on."
            }
            Outcome::Limited => "The limit of the account has ended: send a message to go on.",
            Outcome::Fresh => "Its agent waits for a message.",
            _ => "The last turn has ended.",
        };
        reason.into()
    }

    fn hold_reason(&self) -> &'static str {
        match self.held {
            Some(Hold::Interrupted) => {
                "The turn was interrupted: the queue waits until somebody lets it go on."
            }
            Some(Hold::NotSent) => {
                "A message could not be sent: the queue waits until somebody lets it go on."
            }
            Some(Hold::Failed) | None => {
                "The last turn failed: the queue waits until somebody lets it go on."
            }
        }
    }

    /// How many tasks run in the background.
    pub(super) fn background(&self) -> u32 {
        let tasks = self.tasks.iter().filter(|task| task.is_background);
        tasks.count() as u32
    }
}

fn ordinal(number: u32) -> String {
    let suffix = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{suffix}")
}

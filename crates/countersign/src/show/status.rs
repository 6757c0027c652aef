//! What goes on now, for the line that is always there.
//!
//! Says it as a value and in words. Times are durations since the start, as they were handed in.

use std::time::Duration;

use super::text;
use crate::term::style::Line;

/// What goes on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Status {
    /// Nothing: the turn is over.
    Idle,
    /// The model has been asked and has not begun to answer.
    Waiting(Progress),
    /// It thinks.
    Thinking(Progress),
    /// It writes.
    Writing(Progress),
    /// A tool runs, or waits for permission.
    Running {
        headline: Line,
        /// How many others run beside it.
        others: usize,
        progress: Progress,
    },
    /// The API failed and is asked again at `until`.
    Retrying {
        attempt: u64,
        of: u64,
        until: Duration,
        why: String,
    },
    /// The conversation is made shorter.
    Compacting(Progress),
}

/// How far it is.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Progress {
    pub(crate) since: Duration,
    /// Tokens the model has written in this turn, as far as is known.
    pub(crate) tokens: u64,
    /// Tasks that run in the background.
    pub(crate) background: usize,
}

impl Status {
    /// In words, without a time.
    pub(crate) fn words(&self) -> String {
        let (words, progress) = match self {
            Self::Idle => ("idle".to_owned(), None),
            Self::Waiting(progress) => ("waiting for the model".to_owned(), Some(progress)),
            Self::Thinking(progress) => ("thinking".to_owned(), Some(progress)),
            Self::Writing(progress) => ("writing".to_owned(), Some(progress)),
            Self::Compacting(progress) => {
                ("compacting the conversation".to_owned(), Some(progress))
            }
            Self::Running {
                headline,
                others: 0,
                progress,
            } => (headline.text(), Some(progress)),
            Self::Running {
                headline,
                others,
                progress,
            } => (
                format!("{} and {others} more", headline.text()),
                Some(progress),
            ),
            Self::Retrying {
                attempt, of, why, ..
            } => (format!("{why}: trying again ({attempt} of {of})"), None),
        };
        progress.map_or(words.clone(), |progress| words + &progress.words())
    }

    /// In words, with how long it has been going on, or how long until it does.
    pub(crate) fn words_at(&self, now: Duration) -> String {
        let since = match self {
            Self::Idle => return self.words(),
            Self::Retrying { until, .. } => {
                let left = until.saturating_sub(now).as_secs_f64().ceil();
                return format!("{} · in {left} s", self.words());
            }
            Self::Waiting(progress)
            | Self::Thinking(progress)
            | Self::Writing(progress)
            | Self::Compacting(progress) => progress.since,
            Self::Running { progress, .. } => progress.since,
        };
        let time = match now.saturating_sub(since) {
            time if time.as_secs() < 60 => format!("{} s", time.as_secs()),
            time => text::duration(time),
        };
        format!("{} · {time}", self.words())
    }
}

impl Progress {
    fn words(&self) -> String {
        let mut words = String::new();
        if self.tokens > 0 {
            words += &format!(" · {} tokens", text::tokens(self.tokens));
        }
        if self.background > 0 {
            words += &format!(
                " · {} in the background",
                text::count(self.background, "task")
            );
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::style::Tone;

    #[test]
    fn a_status_counts_down_to_the_next_attempt() {
        let status = Status::Retrying {
            attempt: 2,
            of: 10,
            until: Duration::from_secs(9),
            why: "overloaded".to_owned(),
        };
        assert_eq!(
            status.words_at(Duration::from_millis(6_500)),
            "overloaded: trying again (2 of 10) · in 3 s"
        );
        assert_eq!(
            status.words_at(Duration::from_secs(20)),
            "overloaded: trying again (2 of 10) · in 0 s"
        );
    }

    #[test]
    fn a_status_names_the_call_that_runs() {
        let headline = Line::of("Bash", Tone::Strong).add("  npm test", Tone::Code);
        let progress = Progress {
            since: Duration::from_secs(1),
            tokens: 1_500,
            background: 2,
        };
        let status = Status::Running {
            headline,
            others: 1,
            progress,
        };
        assert_eq!(
            status.words_at(Duration::from_secs(13)),
            "Bash  npm test and 1 more · 1.5 K tokens · 2 tasks in the background · 12 s"
        );
    }
}

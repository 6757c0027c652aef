//! A block that is being played: where it is, and what it waits for.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::Value;

use super::speech::Speech;
use crate::cli::expect::Pattern;
use crate::cli::scenario::{Calling, Step, Steps};

/// What a fiber is played for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Role {
    /// The running turn.
    Turn,
    /// In answer to this request of the host.
    Request(Value),
    /// A sub-agent.
    Agent,
    /// Start, header, signals.
    Aside,
}

#[derive(Debug)]
pub(super) struct Fiber {
    pub(super) id: u64,
    pub(super) role: Role,
    /// The conversation it speaks in.
    pub(super) talk: u64,
    pub(super) frames: Vec<Frame>,
    pub(super) wait: Wait,
    /// Its steps are played, and callbacks hear of it.
    pub(super) closing: bool,
    /// Host lines with a lower number are older than this block.
    pub(super) since: u64,
    /// Numbers of the host lines that an `expect` of this block took.
    pub(super) taken: Vec<u64>,
    /// How many answers had come when the block began.
    pub(super) answered_before: u64,
}

/// A list of steps, and how far it is.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) steps: Steps,
    pub(super) at: usize,
    /// How often the list is played; None without end.
    pub(super) times: Option<u64>,
    /// Which time this is, from 1.
    pub(super) round: u64,
}

/// What has to happen before the next step.
#[derive(Debug, Clone)]
pub(super) enum Wait {
    Nothing,
    Until(Duration),
    /// A line of this kind; `failing` names what is wrong if another comes.
    Line {
        pattern: Pattern,
        until: Option<Duration>,
        failing: bool,
    },
    User,
    /// The answers to these questions.
    Answer(Vec<u64>),
    /// The reports of these calls.
    Calls(Vec<u64>),
    /// The last call that was said sets out; then the next one is said.
    Batch(Box<Batch>),
    /// The time of the next piece of what is being said.
    Speech(Box<Speech>),
    /// So many answers since the block began, or all of them.
    Answers(Option<u64>),
    /// Lines of a flood still to be written: the next one, how many, and their size.
    Flood {
        next: u64,
        count: u64,
        bytes: usize,
    },
    Forever,
}

/// The calls of one message, while they are being said.
#[derive(Debug, Clone)]
pub(super) struct Batch {
    pub(super) id: u64,
    pub(super) said: Vec<u64>,
    pub(super) left: VecDeque<(Calling, Option<Steps>)>,
}

impl Fiber {
    /// The next step; None at the end.
    pub(super) fn next_step(&mut self) -> Option<Step> {
        loop {
            let frame = self.frames.last_mut()?;
            if let Some(step) = frame.steps.get(frame.at) {
                frame.at += 1;
                return Some(step.clone());
            }
            let again = frame.times.is_none_or(|times| frame.round < times);
            // A list without steps has no second time, or it would never end.
            if again && !frame.steps.is_empty() {
                frame.at = 0;
                frame.round += 1;
            } else {
                self.frames.pop();
            }
        }
    }

    pub(super) fn enter(&mut self, steps: Steps, times: Option<u64>) {
        if times != Some(0) {
            self.frames.push(Frame {
                steps,
                at: 0,
                times,
                round: 1,
            });
        }
    }

    /// Which time the innermost repeat is at.
    pub(super) fn round(&self) -> u64 {
        let repeat = self
            .frames
            .iter()
            .rev()
            .find(|frame| frame.times != Some(1));
        repeat.map_or(1, |frame| frame.round)
    }

    pub(super) fn due(&self) -> Option<Duration> {
        match &self.wait {
            Wait::Until(due) => Some(*due),
            Wait::Line { until, .. } => *until,
            Wait::Speech(speech) => Some(speech.due),
            _ => None,
        }
    }
}

//! What a callback answers: the part that all events share.
//!
//! Owns [`Answer`], which carries the type of its event so that it cannot be given to another one. What an event can be
//! answered beyond this stands in `answers`. Invariant: an answer that says nothing is `{}`, no opinion.

use std::fmt::Display;
use std::time::Duration;

use countersign_wire::Num;
use countersign_wire::hooks::{HookOutput, LegacyDecision};

use super::HookError;
use super::event::TypedEvent;

/// The answer to the event `E`.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "an answer does nothing until the callback gives it back"]
pub struct Answer<E: TypedEvent> {
    shared: HookOutput,
    own: Option<E::Output>,
}

impl<E: TypedEvent> Answer<E> {
    /// No opinion.
    pub fn pass() -> Self {
        Self {
            shared: HookOutput::default(),
            own: None,
        }
    }

    /// The event's own part alone.
    pub fn own(own: E::Output) -> Self {
        Self {
            own: Some(own),
            ..Self::pass()
        }
    }

    /// The work goes on in the background and the CLI does not wait; nothing else in the answer counts. `limit` is how
    /// long the CLI lets it.
    pub fn in_background(limit: Option<Duration>) -> Self {
        let mut answer = Self::pass();
        answer.shared.is_async = Some(true);
        answer.shared.async_timeout = limit.map(milliseconds);
        answer
    }

    /// Blocks, with a reason: the word that events without one of their own take. Seen to work for Stop (the turn goes
    /// on with the reason), UserPromptSubmit (no model call) and PreToolUse (the call is denied).
    pub fn block(mut self, reason: impl Into<String>) -> Self {
        self.shared.decision = Some(LegacyDecision::Block);
        self.shared.reason = Some(reason.into());
        self
    }

    /// Ends the turn, with what the person is told. It does **not** stop the call it is about: that is asked for and
    /// run as usual, and the turn ends after it. Deny the call to stop it.
    pub fn end_turn(mut self, reason: impl Into<String>) -> Self {
        self.shared.go_on = Some(false);
        self.shared.stop_reason = Some(reason.into());
        self
    }

    /// Tells the person something; 2.1.325 passes it on as `system/informational`.
    pub fn tell(mut self, message: impl Into<String>) -> Self {
        self.shared.system_message = Some(message.into());
        self
    }

    /// Does not show the hook's output.
    pub fn quiet(mut self) -> Self {
        self.shared.suppress_output = Some(true);
        self
    }

    /// A terminal title or notification; other sequences are refused.
    pub fn terminal_sequence(mut self, sequence: impl Into<String>) -> Self {
        self.shared.terminal_sequence = Some(sequence.into());
        self
    }

    /// Changes what all events share, field by field. `hook_specific_output` is set by the event's own part.
    pub fn with(mut self, change: impl FnOnce(&mut HookOutput)) -> Self {
        change(&mut self.shared);
        self
    }

    /// Changes the event's own part, which is made if there is none.
    pub fn with_own(mut self, change: impl FnOnce(&mut E::Output)) -> Self
    where
        E::Output: Default,
    {
        change(self.own.get_or_insert_default());
        self
    }

    /// As it goes to the CLI.
    pub fn into_output(self) -> HookOutput {
        let mut output = self.shared;
        if let Some(own) = self.own {
            output.hook_specific_output = Some(E::output(own));
        }
        output
    }
}

impl<E: TypedEvent> Default for Answer<E> {
    fn default() -> Self {
        Self::pass()
    }
}

fn milliseconds(time: Duration) -> Num {
    Num::from(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

/// What a callback may give back for the event `E`.
pub trait IntoAnswer<E: TypedEvent> {
    /// The answer, or why there is none.
    ///
    /// # Errors
    /// When the callback failed.
    fn into_answer(self) -> Result<Answer<E>, HookError>;
}

impl<E: TypedEvent> IntoAnswer<E> for Answer<E> {
    fn into_answer(self) -> Result<Answer<E>, HookError> {
        Ok(self)
    }
}

impl<E: TypedEvent> IntoAnswer<E> for () {
    fn into_answer(self) -> Result<Answer<E>, HookError> {
        Ok(Answer::pass())
    }
}

impl<E: TypedEvent, T: IntoAnswer<E>, X: Display> IntoAnswer<E> for Result<T, X> {
    fn into_answer(self) -> Result<Answer<E>, HookError> {
        match self {
            Ok(answer) => answer.into_answer(),
            Err(error) => Err(HookError(error.to_string())),
        }
    }
}

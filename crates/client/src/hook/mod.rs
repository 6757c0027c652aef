//! Hooks over the wire: callbacks that the CLI calls at the points of a turn.
//!
//! Owns [`Hook`] (which event, for which tools, how long) and [`HookHandler`] (what is called); the events stand in
//! `event`, what they can be answered in `answer` and `answers`. Invariant: a callback that fails or panics refuses
//! where the event lets it (a call that was about to run does not), and is an error elsewhere. Do not let safety rest on
//! callbacks alone: up to 2.1.197 a host that goes away turns its denials into permissions for the rest of the turn; a
//! permission handler in default mode fails closed on every version.

mod answer;
mod answers;
mod event;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use countersign_wire::control::{HookMatcher, OnFailure};
use countersign_wire::hooks::{
    HookDecision, HookDeny, HookInput, HookOutput, HookSpecificOutput, PermissionRequestDecision,
    PermissionRequestOutput, PreToolUseOutput,
};
use countersign_wire::vocab::PermissionMode;
use countersign_wire::{Extra, Num};

pub use answer::{Answer, IntoAnswer};
pub use event::*;

use crate::peer::responder::Interest;
use crate::permission::BoxFuture;

/// What a callback may want to know beside the event: where it happened, and whether the answer is still wanted.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HookContext {
    /// The tool call it is about. For events without a tool the CLI makes one up.
    pub tool_use_id: Option<String>,
    /// The session.
    pub session_id: Option<String>,
    /// File of the session's transcript.
    pub transcript_path: Option<String>,
    /// The agent's working folder.
    pub cwd: Option<String>,
    /// The prompt that is being worked on (2.1.325).
    pub prompt_id: Option<String>,
    /// The permission mode in force.
    pub permission_mode: Option<PermissionMode>,
    /// The sub-agent it happened in.
    pub agent_id: Option<String>,
    /// The type of that sub-agent.
    pub agent_type: Option<String>,
    /// How much work the model puts in (2.1.325).
    pub effort: Option<String>,
    /// Whether and when the CLI stops waiting for the answer.
    pub interest: Interest,
}

impl HookContext {
    pub(crate) fn new(input: &HookInput, tool_use_id: Option<String>, interest: Interest) -> Self {
        Self {
            tool_use_id,
            session_id: input.session_id.as_ref().map(|id| id.as_str().to_owned()),
            transcript_path: input.transcript_path.clone(),
            cwd: input.cwd.clone(),
            prompt_id: input.prompt_id.clone(),
            permission_mode: input.permission_mode.clone(),
            agent_id: input.agent_id.as_ref().map(|id| id.as_str().to_owned()),
            agent_type: input.agent_type.clone(),
            effort: input.effort.as_ref().map(|effort| effort.level.clone()),
            interest,
        }
    }
}

/// A callback failed. The text reaches the CLI's log, and the model where the event refuses a call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct HookError(pub String);

impl From<String> for HookError {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for HookError {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// What is called. Any `Fn(HookInput, HookContext) -> impl Future<Output = Result<HookOutput, HookError>>` is one.
pub trait HookHandler: Send + Sync + 'static {
    /// Answers one call.
    fn call(
        &self,
        input: HookInput,
        context: HookContext,
    ) -> BoxFuture<'_, Result<HookOutput, HookError>>;
}

impl<F, Fut> HookHandler for F
where
    F: Fn(HookInput, HookContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<HookOutput, HookError>> + Send + 'static,
{
    fn call(
        &self,
        input: HookInput,
        context: HookContext,
    ) -> BoxFuture<'_, Result<HookOutput, HookError>> {
        Box::pin(self(input, context))
    }
}

/// Which event is wanted, for which tools, and who answers.
///
/// ```
/// use std::time::Duration;
/// use countersign_client::hook::PreToolUse;
/// use countersign_client::{Claude, Hook};
///
/// let guard = Hook::of(PreToolUse, |call, cx| async move {
///     match call.tool_input.as_str().contains("rm -rf") {
///         true => PreToolUse::deny(format!("nothing is removed in {}", cx.cwd.as_deref().unwrap_or("this folder"))),
///         false => PreToolUse::pass(),
///     }
/// });
/// let claude = Claude::new().hook(guard.matching("Bash").timeout(Duration::from_secs(30)));
/// ```
#[derive(Clone)]
pub struct Hook {
    event: String,
    matcher: Option<String>,
    timeout: Option<Duration>,
    on_failure: Option<OnFailure>,
    handler: Arc<dyn HookHandler>,
}

impl Hook {
    /// A callback for an event of the inventory: it gets the typed input, and gives the [`Answer`] of this event, a
    /// `Result` of one, or nothing at all (no opinion).
    pub fn of<E, F, Fut>(_event: E, callback: F) -> Self
    where
        E: TypedEvent,
        F: Fn(E::Input, HookContext) -> Fut + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: IntoAnswer<E>,
    {
        Self::on(E::NAME, move |input: HookInput, context: HookContext| {
            let answering = E::input(input.event).map(|input| callback(input, context));
            async move {
                match answering {
                    Some(answering) => Ok(answering.await.into_answer()?.into_output()),
                    None => Err(HookError(format!("the CLI did not tell of a {}", E::NAME))),
                }
            }
        })
    }

    /// A callback for an event by its name, such as `PreToolUse`. Names this build does not know are fine: the CLI
    /// ignores what it does not know either.
    pub fn on(event: impl Into<String>, handler: impl HookHandler) -> Self {
        Self {
            event: event.into(),
            matcher: None,
            timeout: None,
            on_failure: None,
            handler: Arc::new(handler),
        }
    }

    /// For these tools only. A plain name is exact and case-sensitive (`Ba` is not `Bash`), names may be joined by `|`,
    /// anything else is a regular expression (`^(?!Write$).*`). `*`, an empty text and none at all are every tool.
    #[must_use]
    pub fn matching(mut self, matcher: impl Into<String>) -> Self {
        self.matcher = Some(matcher.into());
        self
    }

    /// How long the CLI waits for the answer: by itself 600 seconds on 2.1.325, 60 on 2.0.75. Then it withdraws the
    /// question, which drops the callback's future. A call that was about to run is refused from 2.1.197 on; older
    /// versions go on and ask for permission.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// What the CLI does with the call if the callback's answer is of no use (2.1.325; older ones do not look at it, nor
    /// do Stop, SubagentStop, TaskCompleted and TeammateIdle). Without it the CLI goes on as if there was no hook. A
    /// callback that fails refuses in any case: see the module.
    #[must_use]
    pub fn on_failure(mut self, on_failure: OnFailure) -> Self {
        self.on_failure = Some(on_failure);
        self
    }

    pub(crate) fn blocks_on_failure(&self) -> bool {
        self.on_failure == Some(OnFailure::Block)
    }

    pub(crate) fn event(&self) -> &str {
        &self.event
    }

    pub(crate) fn handler(&self) -> Arc<dyn HookHandler> {
        Arc::clone(&self.handler)
    }

    /// How it is registered, under `callback_id`.
    pub(crate) fn registration(&self, callback_id: String) -> HookMatcher {
        HookMatcher {
            matcher: self.matcher.clone(),
            hook_callback_ids: vec![callback_id],
            timeout: self.timeout.map(seconds),
            on_failure: self.on_failure.clone(),
            extra: Extra::default(),
        }
    }
}

impl std::fmt::Debug for Hook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hook")
            .field("event", &self.event)
            .field("matcher", &self.matcher)
            .field("timeout", &self.timeout)
            .field("on_failure", &self.on_failure)
            .finish_non_exhaustive()
    }
}

fn seconds(time: Duration) -> Num {
    match time.subsec_nanos() {
        0 => Num::from(time.as_secs()),
        _ => Num::from(time.as_secs_f64()),
    }
}

/// The answer of a callback that failed: a refusal, for the events that can refuse a call.
pub(crate) fn refusal(event: &str, reason: &str) -> Option<HookOutput> {
    let specific = match event {
        PreToolUse::NAME => HookSpecificOutput::PreToolUse(PreToolUseOutput {
            permission_decision: Some(HookDecision::Deny),
            permission_decision_reason: Some(reason.to_owned()),
            ..PreToolUseOutput::default()
        }),
        PermissionRequest::NAME => HookSpecificOutput::PermissionRequest(PermissionRequestOutput {
            decision: PermissionRequestDecision::Deny(HookDeny {
                message: Some(reason.to_owned()),
                ..HookDeny::default()
            }),
            extra: Extra::default(),
        }),
        _ => return None,
    };
    Some(HookOutput {
        hook_specific_output: Some(specific),
        ..HookOutput::default()
    })
}

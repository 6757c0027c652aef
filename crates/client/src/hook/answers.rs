//! What each event can be answered, in words: `PreToolUse::deny("…")`, `Stop::block("…")`.
//!
//! Owns the constructors on the markers. What the versions do with an answer is said where it differs.

use std::time::Duration;

use countersign_wire::control::ElicitationAction;
use countersign_wire::hooks::{
    ElicitationOutput, ElicitationResultOutput, HookAllow, HookDecision, HookDeny,
    PermissionRequestDecision, PermissionRequestOutput, PreModelSwitchOutput, PreToolUseOutput,
    WorktreeCreateOutput,
};
use countersign_wire::permission::{PermissionUpdate, RuleBehavior};
use countersign_wire::{Extra, Json};

use super::answer::Answer;
use super::event::*;

/// What every event can be answered.
macro_rules! any_event {
    ($($event:ident)*) => { $(
        impl $event {
            /// No opinion.
            pub fn pass() -> Answer<Self> {
                Answer::pass()
            }

            /// The work goes on in the background; see [`Answer::in_background`].
            pub fn in_background(limit: Option<Duration>) -> Answer<Self> {
                Answer::in_background(limit)
            }
        }
    )* };
}

any_event! {
    PreToolUse PostToolUse PostToolUseFailure PostToolBatch Notification UserPromptSubmit UserPromptExpansion
    SessionStart SessionEnd Stop StopFailure SubagentStart SubagentStop PreCompact PostCompact PreModelSwitch
    PostModelSwitch PermissionRequest PermissionDenied Setup TeammateIdle TaskCreated TaskCompleted Elicitation
    ElicitationResult ConfigChange WorktreeCreate WorktreeRemove InstructionsLoaded CwdChanged FileChanged
    DirectoryAdded MessageDisplay
}

/// The events whose answer may add text for the model.
macro_rules! with_context {
    ($($event:ident)*) => { $(
        impl $event {
            /// Adds text for the model.
            pub fn context(text: impl Into<String>) -> Answer<Self> {
                Self::pass().with_context(text)
            }
        }

        impl Answer<$event> {
            /// Adds text for the model.
            pub fn with_context(self, text: impl Into<String>) -> Self {
                self.with_own(|own| own.additional_context = Some(text.into()))
            }
        }
    )* };
}

with_context! {
    PreToolUse PostToolUse PostToolUseFailure PostToolBatch Notification UserPromptSubmit UserPromptExpansion
    SessionStart Stop SubagentStart SubagentStop PostModelSwitch Setup
}

/// The events that are blocked by the word all events share.
macro_rules! blocked {
    ($($(#[$meta:meta])* $event:ident;)*) => { $(
        impl $event {
            $(#[$meta])*
            pub fn block(reason: impl Into<String>) -> Answer<Self> {
                Self::pass().block(reason)
            }
        }
    )* };
}

blocked! {
    /// The turn goes on: the model reads `reason` as "Stop hook feedback". The next Stop says `stop_hook_active`; look
    /// at it, or the turn never ends.
    Stop;
    /// The sub-agent goes on, with `reason`. Look at `stop_hook_active`.
    SubagentStop;
    /// The prompt does not reach the model: the turn ends without a model call.
    UserPromptSubmit;
    /// The model is told `reason` about the call, which has run. Not measured.
    PostToolUse;
}

fn decided(decision: HookDecision, reason: Option<String>) -> Answer<PreToolUse> {
    Answer::own(PreToolUseOutput {
        permission_decision: Some(decision),
        permission_decision_reason: reason,
        ..PreToolUseOutput::default()
    })
}

impl PreToolUse {
    /// The call runs; the permission handler is not asked.
    pub fn allow() -> Answer<Self> {
        decided(HookDecision::Allow, None)
    }

    /// The call does not run; the model reads `reason` (2.1.325 puts "PreToolUse:… hook error: " before it).
    pub fn deny(reason: impl Into<String>) -> Answer<Self> {
        decided(HookDecision::Deny, Some(reason.into()))
    }

    /// The permission handler is asked, on 2.1.325 even where it would not be; older versions let a free command run. Only
    /// 2.1.325 tells the handler the reason.
    pub fn ask(reason: impl Into<String>) -> Answer<Self> {
        decided(HookDecision::Ask, Some(reason.into()))
    }

    /// The turn ends here without running the call (`terminal_reason` `tool_deferred`). 2.1.325 only: older versions
    /// take it as no answer, and go on.
    pub fn defer() -> Answer<Self> {
        decided(HookDecision::Defer, None)
    }
}

impl Answer<PreToolUse> {
    /// Runs the call with another input, the whole of it. Together with an allow on every version; without a decision
    /// the new input is asked about from 2.1.62 on, and **ignored** on 2.0.75.
    pub fn with_input(self, input: Json) -> Self {
        self.with_own(|own| own.updated_input = Some(input))
    }

    /// Says why.
    pub fn with_reason(self, reason: impl Into<String>) -> Self {
        self.with_own(|own| own.permission_decision_reason = Some(reason.into()))
    }
}

impl PostToolUse {
    /// The model sees `output` instead of what the tool gave back.
    pub fn replace_output(output: Json) -> Answer<Self> {
        Self::pass().with_own(|own| own.updated_tool_output = Some(output))
    }

    /// The same for a tool of an MCP server.
    pub fn replace_mcp_output(output: Json) -> Answer<Self> {
        Self::pass().with_own(|own| own.updated_mcp_tool_output = Some(output))
    }
}

impl Answer<PostToolUse> {
    /// Adds text for the judge of the auto mode.
    pub fn with_classifier_context(self, text: impl Into<String>) -> Self {
        self.with_own(|own| own.classifier_context = Some(text.into()))
    }
}

impl Answer<UserPromptSubmit> {
    /// Gives the session a title.
    pub fn with_title(self, title: impl Into<String>) -> Self {
        self.with_own(|own| own.session_title = Some(title.into()))
    }

    /// Leaves the prompt itself out.
    pub fn without_prompt(self) -> Self {
        self.with_own(|own| own.suppress_original_prompt = Some(true))
    }
}

impl Answer<UserPromptExpansion> {
    /// Leaves the prompt itself out.
    pub fn without_prompt(self) -> Self {
        self.with_own(|own| own.suppress_original_prompt = Some(true))
    }
}

impl Answer<SessionStart> {
    /// The first message of the session.
    pub fn with_first_message(self, text: impl Into<String>) -> Self {
        self.with_own(|own| own.initial_user_message = Some(text.into()))
    }

    /// Gives the session a title.
    pub fn with_title(self, title: impl Into<String>) -> Self {
        self.with_own(|own| own.session_title = Some(title.into()))
    }

    /// Watches these paths.
    pub fn watching<I, S>(self, paths: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        self.with_own(|own| own.watch_paths = Some(list(paths)))
    }

    /// Reads the skills again.
    pub fn reloading_skills(self) -> Self {
        self.with_own(|own| own.reload_skills = Some(true))
    }
}

fn list<I: IntoIterator<Item = S>, S: Into<String>>(items: I) -> Vec<String> {
    items.into_iter().map(Into::into).collect()
}

fn switched(decision: RuleBehavior, reason: Option<String>) -> Answer<PreModelSwitch> {
    Answer::own(PreModelSwitchOutput {
        permission_decision: Some(decision),
        permission_decision_reason: reason,
        extra: Extra::default(),
    })
}

impl PreModelSwitch {
    /// The model changes.
    pub fn allow() -> Answer<Self> {
        switched(RuleBehavior::Allow, None)
    }

    /// The model does not change.
    pub fn deny(reason: impl Into<String>) -> Answer<Self> {
        switched(RuleBehavior::Deny, Some(reason.into()))
    }

    /// The person is asked.
    pub fn ask(reason: impl Into<String>) -> Answer<Self> {
        switched(RuleBehavior::Ask, Some(reason.into()))
    }
}

impl PermissionRequest {
    /// The call runs, with the input that was asked about.
    pub fn allow() -> Answer<Self> {
        Self::allow_with(None, Vec::new())
    }

    /// The call runs, with another input (the whole of it) and changes to apply.
    pub fn allow_with(input: Option<Json>, updates: Vec<PermissionUpdate>) -> Answer<Self> {
        Self::decided(PermissionRequestDecision::Allow(HookAllow {
            updated_input: input,
            updated_permissions: (!updates.is_empty()).then_some(updates),
            extra: Extra::default(),
        }))
    }

    /// The call does not run; the model reads `message`.
    pub fn deny(message: impl Into<String>) -> Answer<Self> {
        Self::decided(PermissionRequestDecision::Deny(HookDeny {
            message: Some(message.into()),
            ..HookDeny::default()
        }))
    }

    /// The call does not run and the turn ends.
    pub fn deny_and_stop(message: impl Into<String>) -> Answer<Self> {
        Self::decided(PermissionRequestDecision::Deny(HookDeny {
            message: Some(message.into()),
            interrupt: Some(true),
            extra: Extra::default(),
        }))
    }

    fn decided(decision: PermissionRequestDecision) -> Answer<Self> {
        let extra = Extra::default();
        Answer::own(PermissionRequestOutput { decision, extra })
    }
}

impl PermissionDenied {
    /// The model may try the call again.
    pub fn retry() -> Answer<Self> {
        Self::pass().with_own(|own| own.retry = Some(true))
    }
}

/// The events about what an MCP server asks.
macro_rules! elicited {
    ($($event:ident => $output:ident;)*) => { $(
        impl $event {
            /// The answer, with the values of the form.
            pub fn accept(content: Json) -> Answer<Self> {
                Self::acted(ElicitationAction::Accept, Some(content))
            }

            /// The person says no.
            pub fn decline() -> Answer<Self> {
                Self::acted(ElicitationAction::Decline, None)
            }

            /// The person closed the form.
            pub fn cancel() -> Answer<Self> {
                Self::acted(ElicitationAction::Cancel, None)
            }

            fn acted(action: ElicitationAction, content: Option<Json>) -> Answer<Self> {
                Answer::own($output {
                    action: Some(action),
                    content,
                    extra: Extra::default(),
                })
            }
        }
    )* };
}

elicited! {
    Elicitation => ElicitationOutput;
    ElicitationResult => ElicitationResultOutput;
}

impl WorktreeCreate {
    /// The worktree is at `path`.
    pub fn at(path: impl Into<String>) -> Answer<Self> {
        Answer::own(WorktreeCreateOutput {
            worktree_path: path.into(),
            extra: Extra::default(),
        })
    }
}

/// The events whose answer says what to watch.
macro_rules! watched {
    ($($event:ident)*) => { $(
        impl $event {
            /// Watches these paths from now on.
            pub fn watch<I, S>(paths: I) -> Answer<Self>
            where
                I: IntoIterator<Item = S>,
                S: Into<String>,
            {
                Self::pass().with_own(|own| own.watch_paths = Some(list(paths)))
            }
        }
    )* };
}

watched! { CwdChanged FileChanged }

impl MessageDisplay {
    /// Shows another text.
    pub fn show(text: impl Into<String>) -> Answer<Self> {
        Self::pass().with_own(|own| own.display_content = Some(text.into()))
    }
}

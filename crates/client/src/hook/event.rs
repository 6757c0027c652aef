//! The events: one marker for each, with the types of its input and of its answer.
//!
//! Owns [`TypedEvent`] and its markers. Invariant: there is one for every event of the wire (a test walks them); events
//! of later CLIs come by [`crate::Hook::on`].

use std::convert::Infallible;

use countersign_wire::hooks::{self as wire, HookEvent, HookSpecificOutput};

mod sealed {
    /// Keeps the set of events in this crate, so that it can grow with the wire.
    pub trait Sealed {}
}

/// An event of the inventory.
pub trait TypedEvent: sealed::Sealed + Copy + Send + Sync + 'static {
    /// Its name on the wire.
    const NAME: &'static str;
    /// What the callback is told.
    type Input: Send + 'static;
    /// The part of the answer that is this event's own; [`Infallible`] where it has none.
    type Output: Send + 'static;

    #[doc(hidden)]
    fn input(event: HookEvent) -> Option<Self::Input>;
    #[doc(hidden)]
    fn output(output: Self::Output) -> HookSpecificOutput;
}

/// The names of all events that have a marker.
pub const EVENTS: &[&str] = MARKED;

macro_rules! events {
    ($( $(#[$meta:meta])* $event:ident($input:ident $(=> $output:ident)?); )*) => {
        const MARKED: &[&str] = &[$(stringify!($event)),*];
        $(
            $(#[$meta])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq)]
            pub struct $event;

            impl sealed::Sealed for $event {}

            impl TypedEvent for $event {
                const NAME: &'static str = stringify!($event);
                type Input = wire::$input;
                type Output = events!(@output $($output)?);

                fn input(event: HookEvent) -> Option<Self::Input> {
                    match event {
                        HookEvent::$event(input) => Some(input),
                        _ => None,
                    }
                }

                fn output(output: Self::Output) -> HookSpecificOutput {
                    events!(@wrap $event output $($output)?)
                }
            }
        )*
    };
    (@output) => { Infallible };
    (@output $output:ident) => { wire::$output };
    (@wrap $event:ident $value:ident) => { match $value {} };
    (@wrap $event:ident $value:ident $output:ident) => { HookSpecificOutput::$event($value) };
}

events! {
    /// A tool is about to be called, before the CLI asks for permission.
    ///
    /// Several callbacks are called at once; a denial wins over an allow. Answers without a decision leave the call to
    /// the usual rules.
    PreToolUse(PreToolUseInput => PreToolUseOutput);
    /// A tool was called and succeeded.
    PostToolUse(PostToolUseInput => PostToolUseOutput);
    /// A tool was called and failed.
    PostToolUseFailure(PostToolUseFailureInput => PostToolUseFailureOutput);
    /// All calls of one message of the model are done (2.1.325).
    PostToolBatch(PostToolBatchInput => PostToolBatchOutput);
    /// The CLI shows a notification.
    Notification(NotificationInput => NotificationOutput);
    /// A prompt was submitted; comes before `init` of its turn.
    UserPromptSubmit(UserPromptSubmitInput => UserPromptSubmitOutput);
    /// A slash command became a prompt.
    UserPromptExpansion(UserPromptExpansionInput => UserPromptExpansionOutput);
    /// A session began. Callbacks for it never fired on any version that was measured: use a command hook in the
    /// settings.
    SessionStart(SessionStartInput => SessionStartOutput);
    /// A session ended. Callbacks for it never fired on any version that was measured: use a command hook in the
    /// settings, or [`crate::Event::Closed`].
    SessionEnd(SessionEndInput);
    /// The model is about to end its turn.
    Stop(StopInput => StopOutput);
    /// A turn ended in an error.
    StopFailure(StopFailureInput);
    /// A sub-agent began. Which one stands in the context: `agent_id`, `agent_type`.
    SubagentStart(SubagentStartInput => SubagentStartOutput);
    /// A sub-agent is about to end. Which one stands in the context: `agent_id`, `agent_type`.
    SubagentStop(SubagentStopInput => SubagentStopOutput);
    /// The context is about to be compacted.
    PreCompact(PreCompactInput);
    /// The context was compacted.
    PostCompact(PostCompactInput);
    /// The model is about to change.
    PreModelSwitch(PreModelSwitchInput => PreModelSwitchOutput);
    /// The model changed.
    PostModelSwitch(PostModelSwitchInput => PostModelSwitchOutput);
    /// A call needs permission (not on 2.0.75). Sent at the same moment as the question to the permission handler: the
    /// first answer wins, and if this one does the other question is withdrawn.
    PermissionRequest(PermissionRequestInput => PermissionRequestOutput);
    /// A call was denied.
    PermissionDenied(PermissionDeniedInput => PermissionDeniedOutput);
    /// A setup run began.
    Setup(SetupInput => SetupOutput);
    /// A teammate has nothing to do.
    TeammateIdle(TeammateIdleInput);
    /// A task was put on the list.
    TaskCreated(TaskCreatedInput);
    /// A task of the list is done.
    TaskCompleted(TaskCompletedInput);
    /// An MCP server asks the person something.
    Elicitation(ElicitationInput => ElicitationOutput);
    /// A question of an MCP server was answered.
    ElicitationResult(ElicitationResultInput => ElicitationResultOutput);
    /// A configuration file changed.
    ConfigChange(ConfigChangeInput);
    /// A worktree is wanted.
    WorktreeCreate(WorktreeCreateInput => WorktreeCreateOutput);
    /// A worktree is to be removed.
    WorktreeRemove(WorktreeRemoveInput);
    /// An instructions file was loaded.
    InstructionsLoaded(InstructionsLoadedInput);
    /// The working folder changed.
    CwdChanged(CwdChangedInput => CwdChangedOutput);
    /// A watched file changed.
    FileChanged(FileChangedInput => FileChangedOutput);
    /// A folder was added.
    DirectoryAdded(DirectoryAddedInput);
    /// Text is about to be shown.
    MessageDisplay(MessageDisplayInput => MessageDisplayOutput);
}

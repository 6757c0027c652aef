//! What entries hold, by subject.
//!
//! Owns plain values only; how they come about is [`crate::Fold`]'s. Fields that a record did not have are absent, never
//! guessed.

mod approval;
mod happened;
mod run;
mod said;
mod tool;

pub use approval::{Answer, Approval, Ask, AskKind, Outcome, Standing, Verdict, Withdrawn};
pub use happened::{
    Compaction, Hook, HookState, Level, Limit, Mode, Model, Notice, NoticeKind, Reset, Retry,
    Tokens, TurnEnd,
};
pub use run::{Away, Ended, Lost, Paused, Process, Started, Stderr, Unread};
pub use said::{Origin, Prompt, PromptState, Said, Thought};
pub use tool::{Denial, Returned, Role, Signed, Task, TaskState, Tool, ToolState};

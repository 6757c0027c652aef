//! Inputs of the tools that ask, plan and keep lists.

use std::collections::BTreeMap;

use countersign_wire_derive::Wire;

use crate::open::open_enum;
use crate::{Extra, Json};

/// One way to answer.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct QuestionOption {
    /// Short text.
    pub label: String,
    /// What it is, in words.
    pub description: String,
    /// What choosing it would look like.
    pub preview: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// One question to the person.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct Question {
    /// The question.
    pub question: String,
    /// A word or two for a tab.
    pub header: String,
    /// The ways to answer.
    pub options: Vec<QuestionOption>,
    /// More than one answer is possible.
    #[wire(rename = "multiSelect")]
    pub multi_select: bool,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What the person added to an answer.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct AnswerNote {
    /// What choosing it would look like.
    pub preview: Option<String>,
    /// What the person added.
    pub notes: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Where questions came from.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct QuestionMetadata {
    /// Where it comes from.
    pub source: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Asks the person. The answer goes back as `answers` in the updated input.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct AskUserQuestionInput {
    /// The questions.
    pub questions: Vec<Question>,
    /// Answers by question text.
    pub answers: Option<BTreeMap<String, String>>,
    /// Hints about it.
    pub annotations: Option<BTreeMap<String, AnswerNote>>,
    /// Free-form metadata.
    pub metadata: Option<QuestionMetadata>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A kind of command the plan wants permission for.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct AllowedPrompt {
    /// Name of the tool.
    pub tool: String,
    /// The prompt.
    pub prompt: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Presents the plan. On 2.1.325 `plan` comes from the plan file and is missing without one.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct ExitPlanModeInput {
    /// Permissions the plan asks for.
    #[wire(rename = "allowedPrompts")]
    pub allowed_prompts: Option<Vec<AllowedPrompt>>,
    /// The plan; from the plan file on 2.1.325, from the model on older CLIs without one.
    pub plan: Option<String>,
    /// The plan file (2.1.325).
    #[wire(rename = "planFilePath")]
    pub plan_file_path: Option<String>,
    /// Send the work to a remote session (older CLIs).
    #[wire(rename = "pushToRemote")]
    pub push_to_remote: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// Where a to-do stands.
    pub enum TodoStatus {
        Pending = "pending",
        InProgress = "in_progress",
        Completed = "completed",
    }
}

/// One to-do.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct Todo {
    /// Its content.
    pub content: String,
    /// Where it stands.
    pub status: TodoStatus,
    /// What it is called while it runs.
    #[wire(rename = "activeForm")]
    pub active_form: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Replaces the to-do list.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct TodoWriteInput {
    /// The whole list.
    pub todos: Vec<Todo>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Puts a task on the list.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct TaskCreateInput {
    /// What it is.
    pub subject: String,
    /// What it is, in words.
    pub description: String,
    /// What it is called while it runs.
    #[wire(rename = "activeForm")]
    pub active_form: Option<String>,
    /// Free-form metadata.
    pub metadata: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Reads a task of the list.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct TaskGetInput {
    /// The task.
    #[wire(rename = "taskId")]
    pub task_id: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// Where a task of the list stands.
    pub enum TaskListStatus {
        Pending = "pending",
        InProgress = "in_progress",
        Completed = "completed",
        Deleted = "deleted",
    }
}

/// Changes a task of the list.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct TaskUpdateInput {
    /// The task.
    #[wire(rename = "taskId")]
    pub task_id: String,
    /// What it is.
    pub subject: Option<String>,
    /// What it is, in words.
    pub description: Option<String>,
    /// What it is called while it runs.
    #[wire(rename = "activeForm")]
    pub active_form: Option<String>,
    /// Where it stands.
    pub status: Option<TaskListStatus>,
    /// Tasks that wait for it.
    #[wire(rename = "addBlocks")]
    pub add_blocks: Option<Vec<String>>,
    /// Tasks it waits for.
    #[wire(rename = "addBlockedBy")]
    pub add_blocked_by: Option<Vec<String>>,
    /// Who does it.
    pub owner: Option<String>,
    /// Free-form metadata.
    pub metadata: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A goal for the session; the tool was called `ProposeGoal` up to 2.1.325.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct SetGoalInput {
    /// The condition that must hold.
    pub condition: String,
    /// Ask the person first.
    pub ask_user: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Moves into a worktree.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct EnterWorktreeInput {
    /// Its name.
    pub name: Option<String>,
    /// Path of the file or folder.
    pub path: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// What becomes of a worktree.
    pub enum WorktreeAction {
        Keep = "keep",
        Remove = "remove",
    }
}

/// Leaves a worktree.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ExitWorktreeInput {
    /// What is done.
    pub action: WorktreeAction,
    /// Throw changes away.
    pub discard_changes: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

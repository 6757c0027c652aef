//! Inputs of the tools that start and schedule other agents.

use countersign_wire_derive::Wire;

use crate::ids::SessionId;
use crate::open::open_enum;
use crate::vocab::{Effort, PermissionMode};
use crate::{Extra, Json, Num};

open_enum! {
    /// Which model a sub-agent uses.
    pub enum AgentModel {
        Sonnet = "sonnet",
        Opus = "opus",
        Haiku = "haiku",
        Fable = "fable",
    }
}

open_enum! {
    /// Where a sub-agent works.
    pub enum AgentIsolation {
        Worktree = "worktree",
        Remote = "remote",
    }
}

/// Starts a sub-agent; named `Task` in the stream.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct AgentInput {
    /// Sub-agent to go on with (older CLIs).
    pub resume: Option<String>,
    /// What it is, in words.
    pub description: String,
    /// The prompt.
    pub prompt: String,
    /// Type of the sub-agent.
    pub subagent_type: Option<String>,
    /// The model.
    pub model: Option<AgentModel>,
    /// How much work to put in.
    pub effort: Option<Effort>,
    /// Run it in the background.
    pub run_in_background: Option<bool>,
    /// Its name.
    pub name: Option<String>,
    /// Name of the team.
    pub team_name: Option<String>,
    /// The mode.
    pub mode: Option<PermissionMode>,
    /// Where it works.
    pub isolation: Option<AgentIsolation>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Runs a workflow.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct WorkflowInput {
    /// Source of the workflow.
    pub script: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// What it is, in words.
    pub description: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// Its arguments.
    pub args: Option<Json>,
    /// File of the workflow.
    #[wire(rename = "scriptPath")]
    pub script_path: Option<String>,
    /// Run to go on from.
    #[wire(rename = "resumeFromRunId")]
    pub resume_from_run_id: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Schedules a prompt.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct CronCreateInput {
    /// When, as a cron expression.
    pub cron: String,
    /// The prompt.
    pub prompt: String,
    /// Whether it repeats.
    pub recurring: Option<bool>,
    /// Keep it over restarts.
    pub durable: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Removes a scheduled prompt.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct CronDeleteInput {
    /// Its id.
    pub id: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Uses a skill.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct SkillInput {
    /// Name of the skill.
    pub skill: Option<String>,
    /// Name of the skill (older CLIs).
    pub command: Option<String>,
    /// What it is given.
    pub args: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

impl SkillInput {
    /// The name of the skill, whichever version asks.
    pub fn name(&self) -> Option<&str> {
        self.skill.as_deref().or(self.command.as_deref())
    }
}

/// Asks to be woken later.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct ScheduleWakeupInput {
    /// Seconds to wait.
    #[wire(rename = "delaySeconds")]
    pub delay_seconds: Option<Num>,
    /// Why.
    pub reason: Option<String>,
    /// The prompt.
    pub prompt: Option<String>,
    /// Cancel instead.
    pub stop: Option<bool>,
    /// Do nothing.
    pub noop: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// What to do with remote triggers.
    pub enum RemoteTriggerAction {
        List = "list",
        Get = "get",
        Create = "create",
        Update = "update",
        Run = "run",
        CreateWebhookTrigger = "create_webhook_trigger",
        ListRuns = "list_runs",
        GetRunLog = "get_run_log",
    }
}

/// Works with remote triggers.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct RemoteTriggerInput {
    /// What is done.
    pub action: RemoteTriggerAction,
    /// The trigger.
    pub trigger_id: Option<String>,
    /// Session the frame belongs to.
    pub session_id: Option<SessionId>,
    /// Where the next page begins.
    pub cursor: Option<String>,
    /// Body of the request.
    pub body: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Sends the person a notification.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct PushNotificationInput {
    /// The message.
    pub message: String,
    /// Where it stands.
    pub status: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

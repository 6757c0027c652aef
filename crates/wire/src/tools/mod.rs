//! Typed views of tool inputs.
//!
//! An input stays raw JSON on the wire ([`crate::Json`]); [`ToolInput::view`] reads it by the tool's name where a
//! reader wants fields. Tolerant like the rest: unknown fields are kept, and an input that does not fit its tool's
//! type is an error of the view, never of the message it came in.

mod agents;
mod files;
mod mcp;
mod old;
mod plan;
mod product;
mod shell;
mod web;

pub use agents::*;
pub use files::*;
pub use mcp::*;
pub use old::*;
pub use plan::*;
pub use product::*;
pub use shell::*;
pub use web::*;

use crate::inspect::{At, Inspect, Novelty};
use crate::{Bare, Json};

/// Declares the views: each tool name with its type.
macro_rules! tool_inputs {
    ($( $(#[$meta:meta])* $variant:ident($type:ty) = $($name:literal)|+ ),* $(,)?) => {
        /// The input of a known tool.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum ToolInput {
            $( $(#[$meta])* $variant(Box<$type>), )*
            /// A tool of an MCP server (`mcp__server__tool`), or one this build does not know.
            Other(Json),
        }

        impl ToolInput {
            /// Names that have a view, former names included.
            pub const NAMES: &'static [&'static str] = &[$($($name),+),*];

            /// Reads `input` as the input of the tool `name`.
            ///
            /// # Errors
            /// When the tool is known and the input does not fit it.
            pub fn view(name: &str, input: &Json) -> Result<Self, serde_json::Error> {
                match name {
                    $( $($name)|+ => input.to().map(Self::$variant), )*
                    _ => Ok(Self::Other(input.clone())),
                }
            }
        }

        impl serde::Serialize for ToolInput {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $( Self::$variant(input) => input.serialize(serializer), )*
                    Self::Other(input) => input.serialize(serializer),
                }
            }
        }

        impl Inspect for ToolInput {
            fn inspect(&self, at: &At<'_>, sink: &mut dyn FnMut(&At<'_>, Novelty<'_>)) {
                match self {
                    $( Self::$variant(input) => input.inspect(at, sink), )*
                    Self::Other(_) => {}
                }
            }
        }
    };
}

tool_inputs! {
    /// Starts a sub-agent. The stream says `Task`; `Agent` is the newer name.
    Agent(AgentInput) = "Task" | "Agent",
    /// Runs a shell command.
    Bash(BashInput) = "Bash",
    /// Presents the plan.
    ExitPlanMode(ExitPlanModeInput) = "ExitPlanMode" | "exit_plan_mode",
    /// Replaces text in a file.
    Edit(EditInput) = "Edit",
    /// Several replacements in one file (older CLIs).
    MultiEdit(MultiEditInput) = "MultiEdit",
    /// Reads a file.
    Read(ReadInput) = "Read",
    /// Writes a whole file.
    Write(WriteInput) = "Write",
    /// Finds files by name.
    Glob(GlobInput) = "Glob",
    /// Searches file contents.
    Grep(GrepInput) = "Grep",
    /// Lists a folder (older CLIs).
    Ls(LsInput) = "LS",
    /// Ends a background task.
    TaskStop(TaskStopInput) = "TaskStop" | "KillShell" | "KillBash",
    /// Reads the output of a background task (older CLIs).
    TaskOutput(TaskOutputInput) = "TaskOutput" | "BashOutput" | "AgentOutputTool",
    /// Changes a cell of a notebook.
    NotebookEdit(NotebookEditInput) = "NotebookEdit",
    /// Reads a notebook (older CLIs).
    NotebookRead(NotebookReadInput) = "NotebookRead",
    /// Replaces the to-do list.
    TodoWrite(TodoWriteInput) = "TodoWrite",
    /// Fetches a page and asks about it.
    WebFetch(WebFetchInput) = "WebFetch",
    /// Searches the web.
    WebSearch(WebSearchInput) = "WebSearch",
    /// Asks the person.
    AskUserQuestion(AskUserQuestionInput) = "AskUserQuestion",
    /// Enters plan mode.
    EnterPlanMode(Bare) = "EnterPlanMode",
    /// Puts a task on the list.
    TaskCreate(TaskCreateInput) = "TaskCreate",
    /// Reads a task of the list.
    TaskGet(TaskGetInput) = "TaskGet",
    /// Changes a task of the list.
    TaskUpdate(TaskUpdateInput) = "TaskUpdate",
    /// Reads the list of tasks.
    TaskList(Bare) = "TaskList",
    /// Watches a command or socket.
    Monitor(MonitorInput) = "Monitor",
    /// Moves into a worktree.
    EnterWorktree(EnterWorktreeInput) = "EnterWorktree",
    /// Leaves a worktree.
    ExitWorktree(ExitWorktreeInput) = "ExitWorktree",
    /// Uses a skill.
    Skill(SkillInput) = "Skill",
    /// Sets a goal for the session.
    SetGoal(SetGoalInput) = "SetGoal" | "ProposeGoal",
    /// Runs a workflow.
    Workflow(WorkflowInput) = "Workflow",
    /// Schedules a prompt.
    CronCreate(CronCreateInput) = "CronCreate",
    /// Removes a scheduled prompt.
    CronDelete(CronDeleteInput) = "CronDelete",
    /// Reads the scheduled prompts.
    CronList(Bare) = "CronList",
    /// Asks to be woken later.
    ScheduleWakeup(ScheduleWakeupInput) = "ScheduleWakeup",
    /// Works with remote triggers.
    RemoteTrigger(RemoteTriggerInput) = "RemoteTrigger",
    /// Sends the person a notification.
    PushNotification(PushNotificationInput) = "PushNotification",
    /// Reads notifications.
    ReadNotifications(Bare) = "ReadNotifications",
    /// Lists resources of MCP servers.
    ListMcpResources(ListMcpResourcesInput) = "ListMcpResourcesTool" | "ListMcpResources",
    /// Reads the tools of MCP servers again.
    RefreshMcpTools(RefreshMcpToolsInput) = "RefreshMcpTools",
    /// Lists a folder of an MCP server.
    ReadMcpResourceDir(ReadMcpResourceDirInput) = "ReadMcpResourceDirTool" | "ReadMcpResourceDir",
    /// Reads a resource of an MCP server.
    ReadMcpResource(ReadMcpResourceInput) = "ReadMcpResourceTool" | "ReadMcpResource",
    /// Reports the findings of a review.
    ReportFindings(ReportFindingsInput) = "ReportFindings",
    /// Drafts feedback to the vendor.
    SendFeedback(SendFeedbackInput) = "SendFeedback",
    /// Works with a design service.
    ClaudeDesign(ClaudeDesignInput) = "ClaudeDesign",
    /// Works with a project's documents.
    Projects(ProjectsInput) = "Projects",
    /// Lets the person pick a role.
    ShowOnboardingRolePicker(Bare) = "ShowOnboardingRolePicker",
    /// Offers to set up the browser extension.
    OfferChromeSetup(OfferChromeSetupInput) = "OfferChromeSetup",
    /// Proposes skills.
    ProposeSkills(ProposeSkillsInput) = "propose_skills",
    /// Publishes or reads artifacts.
    Artifact(ArtifactInput) = "Artifact",
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// The view of an input, after checking that it loses nothing.
    fn view(name: &str, input: Value) -> ToolInput {
        let view = ToolInput::view(name, &Json::from(input.clone())).unwrap();
        assert_eq!(serde_json::to_value(&view).unwrap(), input, "{name}");
        view
    }

    #[test]
    fn a_skill_is_named_by_whichever_field_its_version_has() {
        for input in [
            json!({"skill": "review", "args": "#12"}),
            json!({"command": "review"}),
        ] {
            let ToolInput::Skill(skill) = view("Skill", input) else {
                panic!("no skill");
            };
            assert_eq!(skill.name(), Some("review"));
        }
    }

    #[test]
    fn tools_of_older_clis_have_views_too() {
        let todo = json!({"content": "a", "status": "pending", "activeForm": "doing a"});
        assert!(matches!(
            view("TodoWrite", json!({"todos": [todo]})),
            ToolInput::TodoWrite(_)
        ));
        let output = json!({"task_id": "b1", "block": true, "timeout": 1000});
        assert!(matches!(
            view("TaskOutput", output),
            ToolInput::TaskOutput(_)
        ));
        assert!(matches!(
            view("BashOutput", json!({"bash_id": "b1"})),
            ToolInput::TaskOutput(_)
        ));
        assert!(matches!(
            view("KillShell", json!({"shell_id": "b1"})),
            ToolInput::TaskStop(_)
        ));
        let read = json!({"notebook_path": "/n.ipynb", "cell_id": "c"});
        assert!(matches!(
            view("NotebookRead", read),
            ToolInput::NotebookRead(_)
        ));
        let edits = json!([{"old_string": "a", "new_string": "b", "replace_all": true}]);
        let edit = view("MultiEdit", json!({"file_path": "/f", "edits": edits}));
        assert!(matches!(edit, ToolInput::MultiEdit(edit) if edit.edits.len() == 1));
        assert!(matches!(
            view("LS", json!({"path": "/", "ignore": ["x"]})),
            ToolInput::Ls(_)
        ));
    }

    #[test]
    fn former_fields_and_names_are_read() {
        let task =
            json!({"description": "d", "prompt": "p", "subagent_type": "Explore", "resume": "a1"});
        let ToolInput::Agent(agent) = view("Task", task) else {
            panic!("Task is the older name of Agent");
        };
        assert_eq!(agent.resume.as_deref(), Some("a1"));

        let plan = json!({
            "plan": "# Plan", "planFilePath": "/home/user/.claude/plans/a.md", "pushToRemote": true,
            "allowedPrompts": [{"tool": "Bash", "prompt": "run tests"}],
        });
        let ToolInput::ExitPlanMode(plan) = view("ExitPlanMode", plan) else {
            panic!("ExitPlanMode has a view");
        };
        assert_eq!(
            (plan.plan.as_deref(), plan.push_to_remote),
            (Some("# Plan"), Some(true))
        );
        assert!(matches!(
            view("ExitPlanMode", json!({})),
            ToolInput::ExitPlanMode(_)
        ));
    }

    #[test]
    fn what_is_new_is_kept_and_what_does_not_fit_is_an_error_of_the_view() {
        view("Bash", json!({"command": "ls", "of_tomorrow": {"a": null}}));
        assert!(matches!(
            view("mcp__server__tool", json!({"x": 1})),
            ToolInput::Other(_)
        ));
        assert!(matches!(view("Levitate", json!([1])), ToolInput::Other(_)));
        assert!(ToolInput::view("Bash", &Json::from(json!({"command": 7}))).is_err());
        assert!(ToolInput::view("Bash", &Json::from(json!("ls"))).is_err());
    }
}

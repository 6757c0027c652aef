//! What holds where no rule speaks.
//!
//! Owns [`Profile`]. A profile is ours alone: the CLI stays in its default mode, so a profile ends when whoever answers
//! does.

use std::str::FromStr;

use jiff::Timestamp;

/// What holds where no rule speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// Reading inside of the folder is allowed, everything else is asked.
    #[default]
    Careful,
    /// Editing files inside of the folder is allowed, too.
    Edits,
    /// Everything is allowed but what a rule denies or asks about, protected paths and questions; until a moment.
    HandsOff {
        /// When it ends. From then on it is `Careful`.
        until: Timestamp,
    },
}

impl Profile {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Profile::Careful => "careful",
            Profile::Edits => "edits",
            Profile::HandsOff { .. } => "hands-off",
        }
    }

    /// What it is at this moment.
    #[must_use]
    pub fn at(self, now: Timestamp) -> Self {
        match self {
            Profile::HandsOff { until } if now >= until => Profile::Careful,
            profile => profile,
        }
    }
}

/// A word that names no profile that could be a default.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no profile: write `careful` or `edits`; hands-off is chosen for a time, never by a file"
)]
pub struct ProfileError(String);

impl FromStr for Profile {
    type Err = ProfileError;

    fn from_str(text: &str) -> Result<Self, ProfileError> {
        match text {
            "careful" => Ok(Profile::Careful),
            "edits" => Ok(Profile::Edits),
            other => Err(ProfileError(other.to_owned())),
        }
    }
}

/// Tools by which an agent keeps its own list of tasks or looks up a tool. They touch nothing outside of the agent.
/// `TodoWrite` has had other names since, which are here as well.
const BOOKKEEPING: [&str; 8] = [
    "TodoWrite",
    "TodoRead",
    "TaskCreate",
    "TaskUpdate",
    "TaskList",
    "TaskGet",
    "ToolSearch",
    "StructuredOutput",
];

/// Whether a tool keeps the agent's own books.
pub(crate) fn is_bookkeeping(tool: &str) -> bool {
    BOOKKEEPING.contains(&tool)
}

/// Tools that change nothing, beside those that read files: for plan mode.
const READING: [&str; 17] = [
    "Agent",
    "Skill",
    "WebFetch",
    "WebSearch",
    "TaskOutput",
    "TaskStop",
    "ListMcpResources",
    "ListMcpResourcesTool",
    "ReadMcpResource",
    "ReadMcpResourceTool",
    "ReadMcpResourceDir",
    "ReadMcpResourceDirTool",
    "RefreshMcpTools",
    "ReadNotifications",
    "CronList",
    "AskUserQuestion",
    "ExitPlanMode",
];

/// Whether a tool that is no shell and no file tool changes something outside of the agent. Unknown ones do.
pub(crate) fn changes_something(tool: &str) -> bool {
    !is_bookkeeping(tool) && !READING.contains(&tool) && tool != "EnterPlanMode"
}

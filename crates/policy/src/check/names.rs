//! Which names tools have, so that a misspelt one is found.
//!
//! Owns nothing but the tools that have no typed input in `wire`; those that have are listed there.

use countersign_wire::tools::ToolInput;
use strsim::osa_distance;

use crate::rule::{Matcher, RuleError};
use crate::watch::is_known_tool;

/// Tools of the CLI whose input `wire` has no view of.
const OTHERS: [&str; 10] = [
    "Skill",
    "SlashCommand",
    "ToolSearch",
    "SendMessage",
    "SendUserMessage",
    "Brief",
    "ListAgents",
    "StructuredOutput",
    "TodoRead",
    "PowerShell",
];

fn all() -> impl Iterator<Item = &'static str> {
    ToolInput::NAMES.iter().copied().chain(OTHERS)
}

/// Whether a tool of the CLI, or one of an MCP server, may have this name.
pub fn is_tool(name: &str) -> bool {
    is_known_tool(name) || all().any(|known| known == name)
}

/// What to write instead of a rule that names no tool.
pub const START_WITH_A_TOOL: &str = "Start with a tool name, for example `Bash(npm test:*)`";

/// Checks that a rule can ever mean a call.
///
/// # Errors
/// When it names no existing tool.
pub fn must_name_a_tool(matcher: &Matcher) -> Result<(), RuleError> {
    if is_tool(&matcher.tool) {
        return Ok(());
    }
    Err(RuleError {
        text: matcher.text.clone(),
        reason: format!("there is no tool `{}`. {START_WITH_A_TOOL}", matcher.tool),
    })
}

/// The tool whose name is most like this one, where one is like it.
pub fn nearest_tool(name: &str) -> Option<&'static str> {
    let wanted = name.to_lowercase();
    let near = all().map(|known| (osa_distance(&wanted, &known.to_lowercase()), known));
    let near = near.filter(|(distance, known)| *distance * 3 <= known.len().max(3));
    near.min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_is_near_the_right_one() {
        assert_eq!(nearest_tool("Bsh"), Some("Bash"));
        assert_eq!(nearest_tool("WebFecth"), Some("WebFetch"));
        assert_eq!(nearest_tool("BASH"), Some("Bash"));
        assert_eq!(nearest_tool("Bahs"), Some("Bash"));
        assert_eq!(nearest_tool("Unheard"), None);
    }

    #[test]
    fn former_names_and_mcp_tools_are_names() {
        for name in [
            "Bash",
            "Task",
            "Agent",
            "KillShell",
            "Skill",
            "mcp__srv__tool",
        ] {
            assert!(is_tool(name), "{name}");
        }
        assert!(!is_tool("bash") && !is_tool(""));
    }
}

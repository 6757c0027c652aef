//! Which names tools have, so that a misspelt one is found.
//!
//! Owns nothing but the tools that have no typed input in `wire`; those that have are listed there.

use countersign_wire::tools::ToolInput;

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
    name.starts_with("mcp__") || all().any(|known| known == name)
}

/// The tool whose name is most like this one, where one is like it.
pub fn nearest_tool(name: &str) -> Option<&'static str> {
    let wanted = name.to_lowercase();
    let near = all().map(|known| (distance(&wanted, &known.to_lowercase()), known));
    let near = near.filter(|(distance, known)| *distance * 3 <= known.len().max(3));
    near.min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// How many letters must be added, taken away, changed or swapped with their neighbour to make one of the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let changed = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = changed.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
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

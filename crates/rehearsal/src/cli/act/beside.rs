//! Which calls may run beside others of the same message: those that only look. Pure.

use serde_json::Value;

use super::bash;

/// Whether the call changes nothing, so that others need not wait for it.
pub(in crate::cli) fn runs_beside_others(tool: &str, input: &Value) -> bool {
    match tool {
        "Read"
        | "Glob"
        | "Grep"
        | "WebFetch"
        | "WebSearch"
        | "Task"
        | "Agent"
        | "ListMcpResourcesTool"
        | "ReadMcpResourceTool" => true,
        "Bash" => bash::only_looks(input["command"].as_str().unwrap_or_default()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn commands_that_only_look_run_beside_others() {
        let bash = |command: &str| runs_beside_others("Bash", &json!({"command": command}));
        assert!(bash("ls -la | head -3"));
        assert!(bash("cat a.txt && git status"));
        assert!(!bash("echo x > a.txt"));
        assert!(!bash("rm a.txt"));
        assert!(!bash("cat $(touch x)"));
        assert!(!bash("git commit -m x"));
        assert!(!bash(""));
        assert!(!runs_beside_others("Write", &json!({})));
        assert!(runs_beside_others("Read", &json!({})));
    }
}

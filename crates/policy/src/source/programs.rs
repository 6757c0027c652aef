//! What a repository would have the CLI start or change, beside its rules.
//!
//! Owns the reading of hooks, helpers, variables and servers as texts that a person can look at and trust; one that
//! is added later is not among them. Measured: a CLI
//! that is started headless runs them all, whether anybody trusted the folder or not. Invariant: a setting that is not
//! known to be harmless counts as one that starts something.

use serde_json::Value;

/// Settings that start nothing and change nothing outside of the conversation.
const HARMLESS: [&str; 14] = [
    "$schema",
    "permissions",
    "model",
    "outputStyle",
    "language",
    "includeCoAuthoredBy",
    "attribution",
    "cleanupPeriodDays",
    "alwaysThinkingEnabled",
    "effortLevel",
    "respectGitignore",
    "spinnerTipsEnabled",
    "showTurnDuration",
    "prefersReducedMotion",
];

/// What the members of a settings file start, by name and value.
pub(super) fn of_settings<'a>(members: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let starting = members.filter(|(name, value)| !HARMLESS.contains(name) && !is_nothing(value));
    starting
        .map(|(name, value)| format!("{name} {}", compact(value)))
        .collect()
}

/// What a file of MCP servers starts. One that cannot be read may start anything.
pub(super) fn of_servers(text: &str) -> Vec<String> {
    let Ok(Value::Object(file)) = serde_json::from_str(text) else {
        return match text.trim().is_empty() {
            true => Vec::new(),
            false => vec![format!(".mcp.json {}", text.trim())],
        };
    };
    let servers = file.get("mcpServers").and_then(Value::as_object);
    let servers = servers.into_iter().flatten();
    servers
        .map(|(name, server)| format!("mcp server {name} {server}"))
        .collect()
}

/// An empty value says nothing.
fn is_nothing(value: &str) -> bool {
    matches!(value.trim(), "null" | "{}" | "[]" | "\"\"" | "false")
}

/// The value however it is laid out.
fn compact(value: &str) -> String {
    let read: Result<Value, _> = serde_json::from_str(value);
    read.map_or_else(|_| value.to_owned(), |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_not_known_to_be_harmless_starts_something() {
        let members = [
            ("permissions", "{\"allow\":[]}"),
            ("model", "\"opus\""),
            ("hooks", "{ \"SessionStart\": [1] }"),
            ("env", "{\"PATH\":\"/x\"}"),
            ("enableAllProjectMcpServers", "true"),
            ("disableAllHooks", "false"),
            ("madeUpNextYear", "1"),
        ];
        assert_eq!(
            of_settings(members.into_iter()),
            [
                "hooks {\"SessionStart\":[1]}",
                "env {\"PATH\":\"/x\"}",
                "enableAllProjectMcpServers true",
                "madeUpNextYear 1"
            ]
        );
    }

    #[test]
    fn servers_are_told_one_by_one() {
        assert_eq!(
            of_servers("{\"mcpServers\":{\"a\":{\"command\":\"x\"}}}"),
            ["mcp server a {\"command\":\"x\"}"]
        );
        assert_eq!(of_servers("{ not json"), [".mcp.json { not json"]);
        assert!(of_servers("{}").is_empty() && of_servers(" ").is_empty());
    }
}

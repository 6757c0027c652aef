//! A tool call as it asks for permission.
//!
//! Owns the call's form and the input the CLI makes of what the model sent: full paths, defaults filled in, a leading
//! `cd` to where the shell is left out. What the host is asked about is that input.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::paths::{Places, tidy};

/// A call of a tool.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct Wish<'a> {
    /// The tool's name.
    pub(in crate::cli) tool: &'a str,
    /// Its input, settled ([`Permit::settle`](super::Permit::settle)).
    pub(in crate::cli) input: &'a Value,
    /// Where the shell is now, if it has left the session's folder.
    pub(in crate::cli) shell_cwd: Option<&'a Path>,
    /// The server, for a tool of an MCP server.
    pub(in crate::cli) mcp: Option<Mcp<'a>>,
}

/// What is known of an MCP tool.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct Mcp<'a> {
    /// The server's name.
    pub(in crate::cli) server: &'a str,
    /// Where the server comes from: `sdk`, `user`, `project`, `dynamic` …
    pub(in crate::cli) source: &'a str,
    /// The tool says that it only reads (`annotations.readOnlyHint`).
    pub(in crate::cli) read_only: bool,
}

impl<'a> Wish<'a> {
    /// A call of a built-in tool from the session's folder.
    pub(in crate::cli) fn new(tool: &'a str, input: &'a Value) -> Self {
        Wish {
            tool,
            input,
            shell_cwd: None,
            mcp: None,
        }
    }

    pub(super) fn text(&self, key: &str) -> &'a str {
        self.input.get(key).and_then(Value::as_str).unwrap_or("")
    }
}

/// The key that holds the path, for tools that work on one.
pub(super) fn path_key(tool: &str) -> Option<&'static str> {
    match tool {
        "Read" | "Write" | "Edit" => Some("file_path"),
        "NotebookEdit" => Some("notebook_path"),
        _ => None,
    }
}

/// The input as the CLI settles it before anybody sees it.
pub(super) fn settle(places: &Places, shell: &Path, tool: &str, mut input: Value) -> Value {
    if let Some(key) = path_key(tool)
        && let Some(Value::String(path)) = input.get_mut(key)
    {
        let full = places.absolute(&places.root, path);
        *path = full.to_string_lossy().into_owned();
    }
    match tool {
        "Edit" => {
            if let Value::Object(fields) = &mut input {
                fields.entry("replace_all").or_insert(Value::Bool(false));
            }
        }
        "Bash" => {
            if let Some(Value::String(command)) = input.get_mut("command")
                && let Some(rest) = without_idle_cd(places, shell, command)
            {
                *command = rest;
            }
        }
        _ => {}
    }
    input
}

/// `cd HERE && rest` is `rest`.
fn without_idle_cd(places: &Places, shell: &Path, command: &str) -> Option<String> {
    let (head, rest) = command.split_once("&&")?;
    let target = head.trim().strip_prefix("cd ")?.trim();
    if target.is_empty()
        || target.contains(|c: char| c.is_whitespace() || "\"'`$\\;|&()<>*?".contains(c))
    {
        return None;
    }
    let target: PathBuf = tidy(&places.expanded(shell, target));
    (target == tidy(shell)).then(|| rest.trim_start().to_owned())
}

//! What a tool reported. Knows the forms in which the CLI wraps what went wrong, and nothing of any tool.

use serde_json::Value;

/// The outcome of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::cli) struct Ran {
    /// `content` of the `tool_result` block: a text, or a list of blocks.
    pub(in crate::cli) content: Value,
    /// `tool_use_result` of the line: the tool's own structure, or what went wrong.
    pub(in crate::cli) structured: Value,
    /// `is_error` of the block; most tools leave it out when all went well.
    pub(in crate::cli) is_error: Option<bool>,
    /// How a command ended.
    pub(in crate::cli) exit: Option<i32>,
}

impl Ran {
    /// All went well, and the tool says nothing of errors.
    pub(super) fn well(content: impl Into<Value>, structured: Value) -> Self {
        Self {
            content: content.into(),
            structured,
            ..Self::default()
        }
    }

    /// The tool ran and failed.
    pub(super) fn failed(text: impl AsRef<str>) -> Self {
        let text = text.as_ref();
        Self::wrong(text.to_owned(), format!("Error: {text}"))
    }

    /// The call was refused before it ran.
    pub(super) fn refused(text: impl AsRef<str>) -> Self {
        let text = text.as_ref();
        Self::wrong(wrapped(text), format!("Error: {text}"))
    }

    /// The input is none that the tool takes: what the model reads, and the list of issues.
    pub(super) fn invalid(told: &str, issues: &str) -> Self {
        let told = wrapped(&format!("InputValidationError: {told}"));
        Self::wrong(told, format!("InputValidationError: {issues}"))
    }

    /// There is no such tool.
    pub(in crate::cli) fn no_such_tool(tool: &str) -> Self {
        let text = format!("Error: No such tool available: {tool}");
        Self::wrong(wrapped(&text), text)
    }

    fn wrong(content: String, structured: String) -> Self {
        Self {
            content: content.into(),
            structured: structured.into(),
            is_error: Some(true),
            ..Self::default()
        }
    }
}

fn wrapped(text: &str) -> String {
    format!("<tool_use_error>{text}</tool_use_error>")
}

//! Examples of a rule: calls that it must mean, and calls that it must not mean.
//!
//! Owns what a plain text stands for as an example of each tool. Whether an example holds is found by
//! [`check`](crate::check).

use serde_json::{Map, Value};

use super::At;
use crate::call::Call;
use crate::rule::Rule;

/// The examples of one `[[rule]]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Examples {
    /// The rules of this entry: one, or several that were written as a list.
    pub rules: Vec<Rule>,
    /// Where the entry stands.
    pub at: At,
    /// The examples.
    pub examples: Vec<Example>,
}

/// One call that a rule must or must not mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// As it is written: the tool's main field, or an object with the whole input.
    pub input: Value,
    /// Whether the rule must mean it.
    pub is_match: bool,
    /// Where it stands.
    pub at: At,
}

impl Example {
    /// The call, for a rule about this tool.
    ///
    /// # Errors
    /// When a text cannot be an input of the tool; the message says what to write.
    pub fn call(&self, tool: &str) -> Result<Call, String> {
        let text = match &self.input {
            Value::Object(_) => return Ok(Call::new(tool, self.input.clone())),
            Value::String(text) => text,
            _ => return Err("an example is a text or a table with the tool's input".to_owned()),
        };
        if tool.starts_with("mcp__") {
            return match text.starts_with("mcp__") {
                true => Ok(Call::new(text, Value::Object(Map::new()))),
                false => Err(
                    "a text is the full name of an MCP tool here, such as \"mcp__server__tool\""
                        .to_owned(),
                ),
            };
        }
        let field = main_field(tool).ok_or_else(|| {
            format!("{tool} has no main field: write the whole input as a table, such as {{ name = \"…\" }}")
        })?;
        let input = Map::from_iter([(field.to_owned(), Value::String(text.clone()))]);
        Ok(Call::new(tool, Value::Object(input)))
    }

    /// As it is written, for messages.
    pub fn text(&self) -> String {
        match &self.input {
            Value::String(text) => format!("`{text}`"),
            other => format!("`{other}`"),
        }
    }
}

/// The field that says what a call of the tool is about.
fn main_field(tool: &str) -> Option<&'static str> {
    Some(match tool {
        "Bash" | "Monitor" => "command",
        "Read" | "Edit" | "MultiEdit" | "Write" => "file_path",
        "NotebookEdit" | "NotebookRead" => "notebook_path",
        "Glob" | "Grep" | "LS" => "path",
        "WebFetch" => "url",
        "WebSearch" => "query",
        "Agent" | "Task" => "subagent_type",
        "Skill" => "skill",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde_json::json;

    use super::*;

    fn example(input: Value) -> Example {
        Example {
            input,
            is_match: true,
            at: At {
                file: PathBuf::from("countersign.toml"),
                line: None,
                column: None,
            },
        }
    }

    #[test]
    fn a_text_is_the_main_field_of_the_tool() {
        for (tool, text, input) in [
            ("Bash", "ls", json!({"command": "ls"})),
            ("Edit", "a.rs", json!({"file_path": "a.rs"})),
            (
                "NotebookEdit",
                "a.ipynb",
                json!({"notebook_path": "a.ipynb"}),
            ),
            (
                "WebFetch",
                "https://example.com",
                json!({"url": "https://example.com"}),
            ),
            ("Agent", "Explore", json!({"subagent_type": "Explore"})),
        ] {
            assert_eq!(example(json!(text)).call(tool), Ok(Call::new(tool, input)));
        }
    }

    #[test]
    fn of_an_mcp_tool_a_text_is_the_name() {
        let call = example(json!("mcp__files__read")).call("mcp__files__*");
        assert_eq!(call, Ok(Call::new("mcp__files__read", json!({}))));
        assert!(example(json!("read")).call("mcp__files__*").is_err());
    }

    #[test]
    fn a_table_is_the_whole_input() {
        let input = json!({"command": "ls", "run_in_background": true});
        assert_eq!(
            example(input.clone()).call("Bash"),
            Ok(Call::new("Bash", input))
        );
        assert!(example(json!("x")).call("TodoWrite").is_err());
        assert!(example(json!(3)).call("Bash").is_err());
    }
}

//! Whether an input is one that a tool takes, and which calls need not wait for others. Pure.
//!
//! The first field that is missing, unknown or of another type is refused; numbers and flags that were written as texts are
//! read, and defaults filled in.

use serde_json::{Map, Value, json};

use super::ran::Ran;
use crate::cli::permissions::only_looks;
use crate::cli::schema::kind;

/// What each tool takes: `?` marks a field that may be left out, and a type follows unless it is a text.
const TOOLS: [(&str, &str); 11] = [
    (
        "Agent",
        "description prompt subagent_type? model? effort? run_in_background?boolean name? team_name? mode? isolation?",
    ),
    (
        "AskUserQuestion",
        "questions!array answers?any annotations?any metadata?any",
    ),
    (
        "Bash",
        "command timeout?number description? run_in_background?boolean dangerouslyDisableSandbox?boolean",
    ),
    (
        "Edit",
        "file_path old_string new_string replace_all?boolean",
    ),
    ("EnterPlanMode", ""),
    (
        "ExitPlanMode",
        "allowedPrompts?array plan? planFilePath? isAgent?boolean",
    ),
    (
        "Read",
        "file_path offset?number limit?number pages? allow_large?boolean",
    ),
    ("TaskStop", "task_id? shell_id?"),
    ("WebFetch", "url prompt offset?number"),
    (
        "WebSearch",
        "query allowed_domains?array blocked_domains?array",
    ),
    ("Write", "file_path content"),
];

/// A field of a tool, as [`TOOLS`] writes it.
struct Field<'a> {
    name: &'a str,
    is_needed: bool,
    kind: &'a str,
}

impl<'a> Field<'a> {
    fn read(word: &'a str) -> Self {
        let (name, kind) = word.split_once(['?', '!']).unwrap_or((word, ""));
        Self {
            name,
            is_needed: !word.contains('?'),
            kind: if kind.is_empty() { "string" } else { kind },
        }
    }

    /// The value as the tool takes it.
    fn take(&self, value: &Value) -> Option<Value> {
        let text = value.as_str().unwrap_or_default();
        let read = match self.kind {
            // Models write numbers and flags as texts now and then.
            "number" | "boolean" => serde_json::from_str(text).ok(),
            _ => None,
        };
        let value = read.unwrap_or_else(|| value.clone());
        (self.kind == "any" || kind(&value) == self.kind).then_some(value)
    }
}

/// A field that cannot be taken: what is wrong with it, and what was there.
struct Wrong<'a> {
    text: String,
    field: &'a Field<'a>,
    received: &'static str,
}

/// The input as the tool takes it, and as the model's line shows it; or what the model hears instead.
pub(in crate::cli) fn accept(tool: &str, input: &Value) -> Result<Value, Ran> {
    let tool = name_today(tool);
    let Some(fields) = fields_of(tool) else {
        return Ok(input.clone());
    };
    let mut taken = take_fields(&fields, input)
        .map_err(|wrong| refused(tool, &wrong.text, wrong.field, wrong.received))?;
    let others = input.as_object().into_iter().flatten();
    let mut others = others.filter(|(name, _)| !fields.iter().any(|field| field.name == *name));
    match tool {
        "Agent" => {}
        "ExitPlanMode" => taken.extend(others.map(|(name, value)| (name.clone(), value.clone()))),
        _ => {
            if let Some((name, _)) = others.next() {
                let text = format!("An unexpected parameter `{name}` was provided");
                let field = Field {
                    name,
                    is_needed: false,
                    kind: "nothing",
                };
                return Err(refused(tool, &text, &field, "something"));
            }
        }
    }
    complete(tool, &mut taken);
    Ok(Value::Object(taken))
}

/// What is wrong with an input that the host gave in place of the model's. Unlike a model it may name more fields than a
/// tool has.
pub(in crate::cli) fn fault_of_given(tool: &str, input: &Value) -> Option<String> {
    let fields = fields_of(name_today(tool))?;
    take_fields(&fields, input).err().map(|wrong| wrong.text)
}

fn name_today(tool: &str) -> &str {
    match tool {
        "Task" => "Agent",
        "KillShell" | "KillBash" => "TaskStop",
        other => other,
    }
}

fn fields_of(tool: &str) -> Option<Vec<Field<'static>>> {
    let (_, fields) = TOOLS.iter().find(|(known, _)| *known == tool)?;
    Some(fields.split_whitespace().map(Field::read).collect())
}

/// The fields that the tool knows, read as it reads them.
fn take_fields<'a>(
    fields: &'a [Field<'a>],
    input: &Value,
) -> Result<Map<String, Value>, Wrong<'a>> {
    let mut taken = Map::new();
    for field in fields {
        let (name, expected) = (field.name, field.kind);
        let wrong = |text: String, received| Wrong {
            text,
            field,
            received,
        };
        match input.get(name) {
            Some(value) => {
                let received = kind(value);
                let text = || {
                    format!(
                        "The parameter `{name}` type is expected as `{expected}` but provided as `{received}`"
                    )
                };
                let found = field.take(value).ok_or_else(|| wrong(text(), received))?;
                taken.insert(name.to_owned(), found);
            }
            None if field.is_needed => {
                let text = format!("The required parameter `{name}` is missing");
                return Err(wrong(text, "undefined"));
            }
            None => {}
        }
    }
    Ok(taken)
}

/// Fills in what the model left out, and takes blanks away from the ends of new lines, except in Markdown.
fn complete(tool: &str, fields: &mut Map<String, Value>) {
    match tool {
        "AskUserQuestion" => {
            let questions = fields.get_mut("questions").and_then(Value::as_array_mut);
            for question in questions.into_iter().flatten() {
                if let Some(question) = question.as_object_mut() {
                    question.entry("multiSelect").or_insert(json!(false));
                }
            }
        }
        "Edit" => {
            fields.entry("replace_all").or_insert(json!(false));
            let path = fields["file_path"].as_str().unwrap_or_default();
            if let Some(text) = fields["new_string"].as_str()
                && !path.to_ascii_lowercase().ends_with(".md")
            {
                let lines: Vec<&str> = text.split('\n').map(str::trim_end).collect();
                fields["new_string"] = lines.join("\n").into();
            }
        }
        _ => {}
    }
}

fn refused(tool: &str, text: &str, field: &Field<'_>, received: &str) -> Ran {
    let (field, expected) = (field.name, field.kind);
    let told = format!("{tool} failed due to the following issue:\n{text}");
    let issue = format!(
        "[\n  {{\n    \"expected\": \"{expected}\",\n    \"code\": \"invalid_type\",\n    \"path\": [\n      \"{field}\"\n    ],\n    \
         \"message\": \"Invalid input: expected {expected}, received {received}\"\n  }}\n]"
    );
    Ran::invalid(&told, &issue)
}

/// Whether the call changes nothing, so that others of the same message need not wait for it.
pub(in crate::cli) fn runs_beside_others(tool: &str, input: &Value) -> bool {
    match tool {
        "Read"
        | "WebFetch"
        | "WebSearch"
        | "Task"
        | "Agent"
        | "ListMcpResourcesTool"
        | "ReadMcpResourceTool" => true,
        "Bash" => only_looks(input["command"].as_str().unwrap_or_default()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_completed_and_read_from_texts() {
        let read = json!({"file_path": "/a", "offset": "2", "limit": 3});
        let edit =
            |path: &str| json!({"file_path": path, "old_string": "a", "new_string": "1  \n  x  "});
        let table = [
            (
                "Read",
                read,
                json!({"file_path": "/a", "offset": 2, "limit": 3}),
            ),
            (
                "Edit",
                edit("/a.txt"),
                json!({"file_path": "/a.txt", "old_string": "a", "new_string": "1\n  x", "replace_all": false}),
            ),
            ("mcp__a__b", json!({"x": null}), json!({"x": null})),
        ];
        for (tool, input, taken) in table {
            assert_eq!(accept(tool, &input).unwrap(), taken);
        }
        let kept = accept("Edit", &edit("/a.MD")).unwrap();
        assert_eq!(kept["new_string"], "1  \n  x  ");
    }

    #[test]
    fn what_is_unknown_or_of_another_type_is_refused() {
        for (input, part) in [
            (
                json!({"command": 5}),
                "expected as `string` but provided as `number`",
            ),
            (
                json!({"command": "ls", "x": 1}),
                "unexpected parameter `x` was provided",
            ),
        ] {
            let refused = accept("Bash", &input).unwrap_err();
            let told = refused.content.as_str().unwrap();
            assert!(told.contains(part), "{told}");
        }
    }

    #[test]
    fn commands_that_only_look_run_beside_others() {
        let bash = |command: &str| runs_beside_others("Bash", &json!({"command": command}));
        assert!(bash("ls -la | head -3") && bash("cat a.txt && git status"));
        for changing in ["echo x > a.txt", "rm a.txt", "cat $(touch x)", ""] {
            assert!(!bash(changing), "{changing}");
        }
        assert!(!runs_beside_others("Write", &json!({})));
    }
}

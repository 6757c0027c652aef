//! Whether an input is one that a tool takes: coerced and completed as the CLI does, or refused in its words.
//!
//! `shapes` says what each tool takes, `walk` compares, `issue` puts what is wrong into words. Pure.

mod issue;
mod shapes;
mod walk;

use serde_json::{Map, Value};

use super::ran::Ran;
use issue::Issue;

/// The input as the tool takes it, and as the model's line shows it; or what the model hears instead.
pub(in crate::cli) fn accept(tool: &str, input: &Value) -> Result<Value, Ran> {
    let Some((name, shape)) = shapes::of(tool) else {
        return Ok(input.clone());
    };
    let empty = Map::new();
    let fields = input.as_object().unwrap_or(&empty);
    let mut issues = Vec::new();
    let mut taken = walk::object(shape, fields, &mut Vec::new(), &mut issues);
    if name == "AskUserQuestion" && repeats_itself(fields) {
        let text =
            "Question texts must be unique, option labels must be unique within each question";
        issues.push(Issue::custom(text));
    }
    if !issues.is_empty() {
        let listed = issue::listed(&issues);
        return Err(Ran::invalid(&issue::told(name, &issues, &listed), &listed));
    }
    if name == "Edit" {
        without_trailing_blanks(&mut taken);
    }
    Ok(Value::Object(taken))
}

/// Whether two questions, or two options of one, read the same.
fn repeats_itself(fields: &Map<String, Value>) -> bool {
    let list = |value: &Value, key: &str, label: &str| -> Option<bool> {
        let texts: Option<Vec<&str>> = value[key]
            .as_array()?
            .iter()
            .map(|entry| entry[label].as_str())
            .collect();
        let mut texts = texts?;
        let all = texts.len();
        texts.sort_unstable();
        texts.dedup();
        Some(texts.len() < all)
    };
    let whole = Value::Object(fields.clone());
    if list(&whole, "questions", "question") == Some(true) {
        return true;
    }
    let questions = whole["questions"].as_array();
    questions
        .into_iter()
        .flatten()
        .any(|question| list(question, "options", "label") == Some(true))
}

/// Blanks at the ends of new lines go, except in Markdown, where they mean something.
fn without_trailing_blanks(fields: &mut Map<String, Value>) {
    let path = fields.get("file_path").and_then(Value::as_str);
    let path = path.unwrap_or_default().to_ascii_lowercase();
    if path.ends_with(".md") || path.ends_with(".mdx") {
        return;
    }
    if let Some(Value::String(text)) = fields.get_mut("new_string") {
        let lines: Vec<&str> = text
            .split('\n')
            .map(|line| match line.strip_suffix('\r') {
                // The end of a line is not a blank of it.
                Some(_) => line,
                None => line.trim_end(),
            })
            .collect();
        *text = lines.join("\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_that_mean_a_number_or_a_flag_are_taken_as_such() {
        let input = json!({"file_path": "/a", "offset": "2", "limit": "3"});
        let taken = accept("Read", &input).unwrap();
        assert_eq!(taken, json!({"file_path": "/a", "offset": 2, "limit": 3}));
        let input =
            json!({"file_path": "/a", "old_string": "a", "new_string": "b", "replace_all": "true"});
        assert_eq!(accept("Edit", &input).unwrap()["replace_all"], json!(true));
    }

    #[test]
    fn an_edit_gets_its_default_and_loses_blanks_at_the_ends_of_lines_but_not_in_markdown() {
        let edit =
            |path: &str| json!({"file_path": path, "old_string": "a", "new_string": "1  \n  x  "});
        let taken = accept("Edit", &edit("/a.txt")).unwrap();
        assert_eq!(taken["new_string"], "1\n  x");
        assert_eq!(taken["replace_all"], false);
        assert_eq!(
            accept("Edit", &edit("/a.MD")).unwrap()["new_string"],
            "1  \n  x  "
        );
    }

    #[test]
    fn a_tool_nobody_knows_takes_anything() {
        let input = json!({"any": [1, {"x": null}]});
        assert_eq!(accept("mcp__a__b", &input).unwrap(), input);
    }

    #[test]
    fn a_refusal_can_say_that_the_schema_was_never_sent() {
        let refused = accept("WebSearch", &json!({}))
            .unwrap_err()
            .schema_not_sent();
        let text = refused.content.as_str().unwrap();
        assert!(
            text.contains("`query` is missing\n\nThis tool's schema was not sent"),
            "{text}"
        );
        assert!(text.ends_with("</tool_use_error>"));
    }
}

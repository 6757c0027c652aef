//! Headlines and full forms of calls, tool by tool.

use serde_json::json;

use super::*;

fn head(tool: &str, input: &Value) -> String {
    headline(tool, input, Path::new("/project")).text()
}

fn whole(tool: &str, input: &Value, before: Option<&str>) -> Vec<String> {
    full(tool, input, Path::new("/project"), 80, before.into())
        .iter()
        .map(Line::text)
        .collect()
}

#[test]
fn a_headline_says_what_is_called_and_with_what() {
    let table = [
        ("Bash", json!({"command": "npm test"}), "Bash  npm test"),
        (
            "Bash",
            json!({"command": "cd a\nmake\n", "run_in_background": true}),
            "Bash  cd a (first of 2 lines, in the background)",
        ),
        (
            "Edit",
            json!({"file_path": "/project/src/main.rs", "old_string": "a", "new_string": "a\nb\nc"}),
            "Edit  src/main.rs (+2 −0)",
        ),
        (
            "Edit",
            json!({"file_path": "/p", "old_string": "a", "new_string": "b", "replace_all": true}),
            "Edit  /p (+1 −1, everywhere)",
        ),
        (
            "MultiEdit",
            json!({"file_path": "/p", "edits": [{"old_string": "a", "new_string": "b"}]}),
            "MultiEdit  /p (+1 −1)",
        ),
        (
            "Write",
            json!({"file_path": "/project/a", "content": "1\n2\n"}),
            "Write  a (2 lines)",
        ),
        (
            "Read",
            json!({"file_path": "/project/a", "offset": 10, "limit": 5}),
            "Read  a (lines 10–14)",
        ),
        (
            "Read",
            json!({"file_path": "/etc/passwd"}),
            "Read  /etc/passwd",
        ),
        (
            "Grep",
            json!({"pattern": "fn main", "path": "/project/src", "glob": "*.rs"}),
            "Grep  fn main (in src, *.rs)",
        ),
        ("Glob", json!({"pattern": "**/*.rs"}), "Glob  **/*.rs"),
        (
            "Task",
            json!({"subagent_type": "Explore", "description": "find the parser", "prompt": "…"}),
            "Task  Explore: find the parser",
        ),
        (
            "Agent",
            json!({"description": "look", "prompt": "…", "run_in_background": true}),
            "Agent  look (in the background)",
        ),
        (
            "mcp__echo__say",
            json!({"text": "hi"}),
            "mcp echo · say {\"text\":\"hi\"}",
        ),
        ("mcp__a_b__c__d", json!({}), "mcp a_b · c__d"),
        (
            "WebFetch",
            json!({"url": "https://x.y", "prompt": "what"}),
            "WebFetch  https://x.y",
        ),
        (
            "TodoWrite",
            json!({"todos": [{"content": "a", "status": "completed"}, {"content": "b"}]}),
            "TodoWrite  1 of 2 done",
        ),
        (
            "TaskUpdate",
            json!({"taskId": "3", "status": "completed"}),
            "TaskUpdate  #3 → completed",
        ),
        (
            "ToolSearch",
            json!({"query": "select:Edit"}),
            "ToolSearch  select:Edit",
        ),
        (
            "ExitPlanMode",
            json!({"plan": "# The plan\n\n1. go"}),
            "ExitPlanMode  The plan",
        ),
        (
            "NotebookEdit",
            json!({"notebook_path": "/project/n.ipynb", "cell_id": "c1", "new_source": "x"}),
            "NotebookEdit  n.ipynb (replace cell c1)",
        ),
        (
            "Skill",
            json!({"skill": "commit", "args": "all of it"}),
            "Skill  commit (all of it)",
        ),
        ("Skill", json!({"command": "review"}), "Skill  review"),
        ("Levitate", json!({"height": 3}), "Levitate  {\"height\":3}"),
        ("Levitate", json!({}), "Levitate"),
        // What does not fit its tool is shown as it is.
        ("Bash", json!({"command": 7}), "Bash  {\"command\":7}"),
        ("Bash", json!("ls"), "Bash  \"ls\""),
        (
            "Edit",
            json!({"file_path": "/p"}),
            "Edit  {\"file_path\":\"/p\"}",
        ),
    ];
    for (tool, input, expected) in table {
        assert_eq!(head(tool, &input), expected, "{tool} {input}");
    }
}

#[test]
fn a_headline_of_ten_megabytes_is_short() {
    let input = json!({"command": "x".repeat(10 << 20)});
    assert!(head("Bash", &input).len() < 400);
    let input = json!({"anything": "x".repeat(10 << 20)});
    assert!(head("mcp__a__b", &input).len() < 400);
    assert!(head("Levitate", &input).len() < 400);
}

#[test]
fn a_command_is_shown_in_full_with_all_that_bears_on_it() {
    let input = json!({"command": "cd a &&\n  rm -rf b", "description": "Tidy up", "run_in_background": true,
        "dangerouslyDisableSandbox": true, "timeout": 5000, "of_tomorrow": [1]});
    assert_eq!(
        whole("Bash", &input, None),
        [
            "cd a &&",
            "  rm -rf b",
            "says: Tidy up",
            "runs in the background",
            "runs outside the sandbox",
            "ends after 5.0 s at the latest",
            "of_tomorrow: [1]",
        ]
    );
}

#[test]
fn an_edit_is_a_diff_in_the_file() {
    let input = json!({"file_path": "/project/a.txt", "old_string": "two", "new_string": "2"});
    let before = "one\ntwo\nthree\n";
    assert_eq!(
        whole("Edit", &input, Some(before)),
        [
            "a.txt  +1 −1",
            " 1   one",
            " 2 - two",
            " 2 + 2",
            " 3   three"
        ]
    );
    assert_eq!(
        whole("Edit", &input, Some("nothing of it")),
        [
            "a.txt  +1 −1",
            "The text to be replaced is not in the file as it is now.",
            "- two",
            "+ 2"
        ]
    );
    assert_eq!(
        whole("Edit", &input, None),
        ["a.txt  +1 −1", "- two", "+ 2"]
    );
}

#[test]
fn a_write_says_whether_the_file_is_new() {
    let input = json!({"file_path": "/project/a.txt", "content": "one\n2\n"});
    assert_eq!(
        whole("Write", &input, None),
        ["a.txt  +2 −0, new file", " 1 + one", " 2 + 2"]
    );
    assert_eq!(
        whole("Write", &input, Some("one\ntwo\n")),
        [
            "a.txt  +1 −1, replaces the whole file",
            " 1   one",
            " 2 - two",
            " 2 + 2"
        ]
    );
    assert_eq!(
        whole("Write", &input, Some("one\n2\n"))[1],
        "no line changes"
    );
}

#[test]
fn unknown_calls_are_shown_as_json_and_no_field_is_left_out() {
    assert_eq!(
        whole("Levitate", &json!({"height": 3}), None),
        ["{", "  \"height\": 3", "}"]
    );
    assert_eq!(whole("Levitate", &json!({}), None), ["no input"]);
    assert_eq!(
        whole(
            "WebFetch",
            &json!({"url": "u", "prompt": "p", "offset": 4}),
            None
        ),
        ["u", "p", "offset: 4"]
    );
    assert_eq!(
        whole("WebFetch", &json!({"url": "u"}), None),
        ["{", "  \"url\": \"u\"", "}"]
    );
}

#[test]
fn what_is_too_long_to_be_shown_is_named() {
    let long = json!({"command": "line\n".repeat(5_000)});
    assert_eq!(
        whole("Bash", &long, None).last().unwrap(),
        "… 2,000 lines more, too long to be shown"
    );
    let huge = json!({"command": "x".repeat(10 << 20)});
    assert!(
        whole("Bash", &huge, None)
            .last()
            .unwrap()
            .starts_with("… 10.2 MB more")
    );
}

//! Results of tools, folded.

use serde_json::json;

use super::*;

fn fold() -> Fold {
    Fold {
        rows: 4,
        room: 60,
        is_whole: false,
    }
}

fn shown(tool: &str, content: &Value, structured: &Value, is_error: bool) -> Vec<String> {
    let block = json!({"type": "tool_result", "tool_use_id": "t", "content": content});
    let block: ContentBlock = serde_json::from_value(block).unwrap();
    let ContentBlock::ToolResult(block) = block else {
        panic!("a result")
    };
    let structured = Json::from(structured.clone());
    let returned = Returned {
        tool,
        input: &Value::Null,
        content: block.content.as_ref(),
        structured: Some(&structured).filter(|json| !json.is_null()),
        is_error,
        is_denied: false,
        is_shown: false,
        cwd: Path::new("/project"),
    };
    lines(&returned, fold(), None)
        .iter()
        .map(Line::text)
        .collect()
}

fn reported(tool: &str, structured: &Value) -> Vec<String> {
    shown(tool, &json!("as the model saw it"), structured, false)
}

#[test]
fn output_is_counted_and_folded_with_its_end() {
    let out: String = (1..=20).map(|n| format!("row {n}\n")).collect();
    assert_eq!(
        reported("Bash", &json!({"stdout": out, "stderr": ""})),
        [
            "└ 20 lines",
            "  row 1",
            "  row 2",
            "  … 16 more lines",
            "  row 19",
            "  row 20"
        ]
    );
    assert_eq!(
        reported("Bash", &json!({"stdout": "one", "stderr": ""})),
        ["└ 1 line: one"]
    );
    assert_eq!(
        reported("Bash", &json!({"stdout": "", "stderr": ""})),
        ["└ no output"]
    );
    assert_eq!(
        reported("Bash", &json!({"stdout": "a\nb", "stderr": "oh"})),
        ["└ 2 lines, 1 line on stderr", "  a", "  b", "  oh"]
    );
    assert_eq!(
        reported(
            "Bash",
            &json!({"stdout": "", "stderr": "oh", "interrupted": true})
        ),
        ["└ interrupted, 1 line on stderr", "  oh"]
    );
    assert_eq!(
        reported("Bash", &json!({"stdout": "", "backgroundTaskId": "b1"})),
        ["└ runs in the background as b1"]
    );
}

#[test]
fn failures_show_their_code_and_first_rows() {
    let failed = |words: &str| {
        shown(
            "Bash",
            &json!(words),
            &json!(format!("Error: {words}")),
            true,
        )
    };
    assert_eq!(
        failed("Exit code 2\nno such file\nat all"),
        ["└ exit code 2", "  no such file", "  at all"]
    );
    assert_eq!(failed("Exit code 1"), ["└ exit code 1"]);
    assert_eq!(
        failed("<tool_use_error>No such tool</tool_use_error>"),
        ["└ failed: No such tool"]
    );
    assert_eq!(
        failed("Permission to use Bash has been denied."),
        ["└ denied: Permission to use Bash has been denied."]
    );
    let long: String = (1..=9).map(|n| format!("{n}\n")).collect();
    assert_eq!(
        failed(&long),
        ["└ failed", "  1", "  2", "  3", "  4", "  … 5 more lines"]
    );
}

#[test]
fn reports_of_tools_are_read_where_they_help() {
    let file = |lines: u64, all: u64| json!({"type": "text", "file": {"numLines": lines, "totalLines": all}});
    assert_eq!(reported("Read", &file(3, 3)), ["└ 3 lines"]);
    assert_eq!(
        reported("Read", &file(100, 2_000)),
        ["└ 100 of 2,000 lines"]
    );
    assert_eq!(
        reported(
            "Read",
            &json!({"type": "image", "file": {"base64": "A".repeat(40_000)}})
        ),
        ["└ [image 30 KB]"]
    );
    assert_eq!(reported("Read", &Value::Null), ["└ 1 line"]);
    assert_eq!(
        reported(
            "Glob",
            &json!({"numFiles": 2, "filenames": ["/project/a", "/b"], "truncated": true})
        ),
        ["└ 2 files and more", "  a", "  /b"]
    );
    assert_eq!(
        reported(
            "Grep",
            &json!({"mode": "files_with_matches", "numFiles": 0, "filenames": []})
        ),
        ["└ nothing found"]
    );
    assert_eq!(
        reported(
            "Grep",
            &json!({"mode": "content", "numFiles": 0, "numLines": 1, "content": "a:1:x"})
        ),
        ["└ 1 line", "  a:1:x"]
    );
    assert_eq!(
        reported(
            "Grep",
            &json!({"mode": "count", "numFiles": 2, "numMatches": 5})
        ),
        ["└ 5 matches in 2 files"]
    );
    assert_eq!(
        reported(
            "WebFetch",
            &json!({"code": 200, "codeText": "OK", "bytes": 34_000, "durationMs": 1_200, "result": "It says hello."})
        ),
        ["└ 200 OK · 34 KB · 1.2 s", "  It says hello."]
    );
    assert_eq!(
        reported(
            "TodoWrite",
            &json!({"newTodos": [{"content": "a", "status": "completed"}]})
        ),
        ["└ 1 of 1 done", "  [x] a"]
    );
    assert_eq!(
        reported("TaskCreate", &json!({"task": {"id": "4"}})),
        ["└ task #4"]
    );
    assert_eq!(
        reported("ExitPlanMode", &json!({"plan": "x", "planWasEdited": true})),
        ["└ plan approved as you changed it"]
    );
}

#[test]
fn a_report_that_cannot_be_read_leaves_what_the_model_saw() {
    for tool in [
        "Bash",
        "Grep",
        "Glob",
        "WebFetch",
        "TodoWrite",
        "Task",
        "TaskList",
        "AskUserQuestion",
        "Levitate",
    ] {
        assert_eq!(
            reported(tool, &json!({"of_tomorrow": 1})),
            ["└ 1 line: as the model saw it"],
            "{tool}"
        );
        assert_eq!(
            reported(tool, &json!("text")),
            ["└ 1 line: as the model saw it"],
            "{tool}"
        );
    }
}

#[test]
fn pictures_and_documents_are_named_never_printed() {
    let picture = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A".repeat(45_000)}});
    let document = json!({"type": "document", "title": "Plan", "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"}});
    let content = json!([{"type": "text", "text": "see"}, picture, document]);
    assert_eq!(
        shown("Levitate", &content, &Value::Null, false),
        [
            "└ 3 lines",
            "  see",
            "  [image 34 KB]",
            "  [document Plan 3 B]"
        ]
    );
    let printed = format!("data:image/png;base64,{}", "A".repeat(4_000));
    assert_eq!(
        reported("Bash", &json!({"stdout": printed, "isImage": true})),
        ["└ [image 4 KB]"]
    );
    assert_eq!(
        shown("Levitate", &json!(printed), &Value::Null, false),
        ["└ [image 4 KB]"]
    );
}

#[test]
fn a_result_of_ten_megabytes_is_a_few_rows() {
    let long = "word ".repeat(2 << 20);
    let rows = shown("Levitate", &json!(long), &Value::Null, false);
    assert!(rows.len() == 1 && rows[0].chars().count() <= 62, "{rows:?}");
    let many = "x\n".repeat(5 << 20);
    assert_eq!(
        shown("Levitate", &json!(many), &Value::Null, false)
            .last()
            .unwrap(),
        "  … 5,242,876 more lines"
    );
    let whole = Fold {
        rows: 2_000,
        room: 60,
        is_whole: true,
    };
    assert!(whole.rows(&many, Tone::Plain, false).len() < 2_010);
}

#[test]
fn a_change_that_was_shown_is_not_shown_again() {
    let structured = Json::from(
        json!({"structuredPatch": [{"oldStart": 1, "newStart": 1, "lines": ["-a", "+b"]}]}),
    );
    let mut returned = Returned {
        tool: "Edit",
        input: &Value::Null,
        content: None,
        structured: Some(&structured),
        is_error: false,
        is_denied: false,
        is_shown: false,
        cwd: Path::new("/"),
    };
    assert_eq!(lines(&returned, fold(), None).len(), 3);
    returned.is_shown = true;
    assert_eq!(lines(&returned, fold(), None).len(), 1);
}

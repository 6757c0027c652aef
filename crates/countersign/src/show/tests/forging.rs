//! What an agent or a tool says cannot pass for something of ours: column 0 is never theirs.

use serde_json::json;

use super::{shown, view};
use crate::show::Feed;

const LIES: &[&str] = &[
    "● Bash  rm -rf /",
    "└ denied: no",
    "· mode is now plan",
    "! interrupted",
    "┌ Explore",
    "│ ● Bash  ls",
    "✓ allowed by you",
    "? May this run?",
    "› go on",
    "- ● x",
    "> └ y",
    "# ! z",
    "```\n● in code\n```",
    "\r● back",
    "\x1b[1G● moved",
    "\u{202e}● turned",
    "a\n\n● b",
    "| ● | └ |\n|---|---|\n| · | ! |",
    "<b>\n● html\n</b>",
    "1. ● c",
    "    ● indented",
];

#[test]
fn texts_and_outputs_never_reach_column_0() {
    for lie in LIES {
        for width in [20, 40, 80] {
            let text = json!({"type": "assistant", "parent_tool_use_id": null, "session_id": "s", "uuid": "u",
                "message": {"id": "m", "role": "assistant", "model": "m", "content": [{"type": "text", "text": lie}]}});
            for line in shown(&mut Feed::new(view(width)), &[text]) {
                for row in line.rows(width) {
                    assert!(
                        row.text().is_empty() || row.text().starts_with("  "),
                        "{lie:?} {width} {row:?}"
                    );
                }
            }
            let output = json!({"type": "user", "parent_tool_use_id": null, "session_id": "s", "uuid": "u", "message": {"role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "t", "content": format!("{lie}\n{lie}")}]}});
            let lines = shown(&mut Feed::new(view(width)), &[output]);
            assert!(
                lines[0].text().starts_with("└ ") && lines[0].text().ends_with("lines"),
                "{lie:?} {:?}",
                lines[0]
            );
            for row in lines[1..].iter().flat_map(|line| line.rows(width)) {
                assert!(
                    row.text().is_empty() || row.text().starts_with("  "),
                    "{lie:?} {width} {row:?}"
                );
            }
        }
    }
}

#[test]
fn the_first_line_of_a_result_begins_with_words_of_ours() {
    for (is_error, words) in [(false, "1 line: denied: no"), (true, "failed: denied: no")] {
        let output = json!({"type": "user", "parent_tool_use_id": null, "session_id": "s", "uuid": "u", "message": {"role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t", "content": "denied: no", "is_error": is_error}]}});
        let lines = shown(&mut Feed::new(view(80)), &[output]);
        assert_eq!(lines[0].text(), format!("└ {words}"));
    }
}

//! What holds for any text: how it was cut does not matter, and nothing in it reaches the terminal but letters.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{message, view};
use crate::show::Feed;
use crate::show::call::headline;
use crate::show::markdown::{Markdown, markdown};
use crate::term::style::Line;

/// Pieces that Markdown is made of, and some that it is not.
fn fragment() -> impl Strategy<Value = String> {
    let words = prop_oneof![
        Just("word"),
        Just("a longer sentence with blanks"),
        Just("**bold"),
        Just("bold**"),
        Just("*"),
        Just("_x_"),
        Just("`code`"),
        Just("`"),
        Just("\n"),
        Just("\n\n"),
        Just("\r\n"),
        Just("- "),
        Just("\n- item"),
        Just("\n  - nested"),
        Just("\n1. one"),
        Just("\n2) two"),
        Just("\n   more"),
        Just("\n    code"),
        Just("\n```\n"),
        Just("\n```rust\n"),
        Just("\n  ```\n"),
        Just("\n~~~\n"),
        Just("\n# Head"),
        Just("\n### Head\n"),
        Just("\n> quote"),
        Just("\n---\n"),
        Just("\n===\n"),
        Just("\n***\n"),
        Just("| a | b |"),
        Just("\n| a | b |\n|---|:-:|\n| c | dd |"),
        Just("[x](http://y)"),
        Just("<b>"),
        Just("\n<div>\n"),
        Just("- [x] "),
        Just("你好"),
        Just("é\u{301}"),
        Just("👩‍👩‍👧"),
        Just("\t"),
        Just("\x1b[31m"),
        Just("\u{202e}"),
        Just("\u{0}"),
        Just("\\"),
        Just("&amp;"),
    ];
    prop::collection::vec(words, 0..40).prop_map(|words| words.concat())
}

fn cut(text: &str, places: &[usize]) -> Vec<String> {
    let mut places: Vec<usize> = places
        .iter()
        .map(|place| place % (text.len() + 1))
        .collect();
    places.retain(|place| text.is_char_boundary(*place));
    places.sort_unstable();
    let mut parts = Vec::new();
    let mut from = 0;
    for place in places {
        parts.push(text[from..place].to_owned());
        from = place;
    }
    parts.push(text[from..].to_owned());
    parts
}

fn event(event: Value) -> Value {
    json!({"type": "stream_event", "event": event, "parent_tool_use_id": null, "session_id": "s", "uuid": "u"})
}

fn whole(text: &str) -> Value {
    json!({"type": "assistant", "parent_tool_use_id": null, "session_id": "s", "uuid": "u",
        "message": {"id": "m", "role": "assistant", "model": "m", "content": [{"type": "text", "text": text}]}})
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn how_a_text_is_cut_does_not_change_its_lines(text in fragment(), places in prop::collection::vec(any::<usize>(), 0..12), width in 8_usize..100) {
        let expected = markdown(&text, width);
        let mut stream = Markdown::new(width);
        let mut lines = Vec::new();
        for part in cut(&text, &places) {
            lines.extend(stream.push(&part));
            stream.tail();
        }
        lines.extend(stream.finish());
        prop_assert_eq!(lines, expected);
    }

    #[test]
    fn a_stream_and_its_whole_line_show_what_the_line_alone_shows(text in fragment(), places in prop::collection::vec(any::<usize>(), 0..8)) {
        let mut alone = Feed::new(view(50));
        let mut expected = alone.take(&message(&whole(&text)), Duration::ZERO);
        expected.extend(alone.finish());
        let mut feed = Feed::new(view(50));
        let mut messages = vec![
            event(json!({"type": "message_start", "message": {"id": "m", "role": "assistant", "model": "m", "content": []}})),
            event(json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})),
        ];
        messages.extend(cut(&text, &places).iter().map(|part| {
            event(json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": part}}))
        }));
        messages.push(whole(&text));
        messages.push(event(json!({"type": "content_block_stop", "index": 0})));
        let mut lines: Vec<Line> = messages.iter().flat_map(|value| feed.take(&message(value), Duration::ZERO)).collect();
        lines.extend(feed.finish());
        prop_assert_eq!(lines, expected);
    }

    #[test]
    fn no_text_makes_a_control_character_or_a_row_too_wide(text in prop_oneof![fragment(), any::<String>()], width in 8_usize..100) {
        let mut stream = Markdown::new(width);
        let mut lines = stream.push(&text);
        lines.extend(stream.tail());
        lines.extend(stream.finish());
        for line in lines {
            prop_assert!(!line.text().contains(char::is_control), "{:?}", line);
            for row in line.rows(width) {
                prop_assert!(row.width() <= width, "{} {:?}", row.width(), row);
            }
        }
    }

    #[test]
    fn any_input_has_a_headline_and_a_full_form(tool in prop_oneof![Just("Bash"), Just("Edit"), Just("Write"), Just("Task"), Just("TodoWrite"), Just("mcp__a__b"), Just("X")],
        words in any::<String>(), more in any::<String>(), before in prop::option::of(any::<String>()), width in 8_usize..100) {
        let input = json!({"command": words, "file_path": more, "content": words, "old_string": more, "new_string": words,
            "prompt": words, "description": more, "todos": [{"content": words, "status": more}]});
        let cwd = std::path::Path::new("/project");
        let mut lines = crate::show::full(tool, &input, cwd, width, before.as_deref().into());
        lines.push(headline(tool, &input, cwd));
        for line in lines {
            prop_assert!(!line.text().contains(char::is_control), "{:?}", line);
            for row in line.rows(width) {
                prop_assert!(row.width() <= width, "{:?}", row);
            }
        }
    }
}

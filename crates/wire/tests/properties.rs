//! What holds for every input: framing whatever the chunks, routing and decoding whatever the JSON.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use countersign_wire::decode::{Message as _, decode};
use countersign_wire::frame::{FrameReader, Line};
use countersign_wire::route::Route;
use countersign_wire::write::to_line;
use countersign_wire::{CliMessage, HostMessage};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value};
use support::entries;

/// Bytes in which line ends, blanks and long lines are frequent.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\xef\xbb\xbf".to_vec()),
        Just(b" ".to_vec()),
        vec(any::<u8>(), 0..12),
        vec(Just(b'x'), 0..40),
    ];
    vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

#[derive(Debug, PartialEq, Clone)]
enum Seen {
    Text(Vec<u8>),
    TooLong(u64),
}

fn seen(line: Line<'_>) -> Seen {
    match line {
        Line::Text(text) => Seen::Text(text.to_vec()),
        Line::TooLong { bytes } => Seen::TooLong(bytes),
    }
}

/// The rules of framing in their plainest form, with the whole stream at hand.
fn reference(stream: &[u8], max_line: usize) -> Vec<Seen> {
    let mut lines = Vec::new();
    for (index, line) in stream.split(|byte| *byte == b'\n').enumerate() {
        // A byte-order mark and the `\r` do not count; beyond them nothing can save a long line.
        let overlong = line.len() > max_line + 4;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = match line.strip_prefix(b"\xef\xbb\xbf") {
            Some(rest) if index == 0 && !overlong => rest,
            _ => line,
        };
        if overlong || (line.len() > max_line && !line.trim_ascii().is_empty()) {
            lines.push(Seen::TooLong(line.len() as u64));
        } else if !line.trim_ascii().is_empty() {
            lines.push(Seen::Text(line.to_vec()));
        }
    }
    lines
}

fn json(depth: u32) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        prop::num::f64::NORMAL.prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        select(vec!["allow", "text", "init", "\u{2028}", "\\\"", "🦀"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(depth, 40, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::from),
            btree_map("[a-zé\\\\\"]{0,6}", inner, 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// A real message of the inventory, with some of its fields replaced, removed or added.
fn message() -> impl Strategy<Value = Value> {
    let samples: Vec<Value> = entries::stdout()
        .into_iter()
        .map(|(_, message)| message)
        .collect();
    let edits = vec(
        (
            any::<prop::sample::Index>(),
            prop_oneof![Just(None), json(3).prop_map(Some)],
        ),
        0..3,
    );
    (
        select(samples),
        edits,
        btree_map("[a-z_]{1,8}", json(3), 0..3),
    )
        .prop_map(|(mut message, edits, added)| {
            let fields = message.as_object_mut().unwrap();
            for (index, value) in edits {
                let key = fields
                    .keys()
                    .nth(index.index(fields.len()))
                    .unwrap()
                    .clone();
                match value {
                    _ if key == "type" || key == "subtype" => {}
                    Some(value) => drop(fields.insert(key, value)),
                    None => drop(fields.remove(&key)),
                }
            }
            for (key, value) in added {
                fields.entry(key).or_insert(value);
            }
            message
        })
}

/// Bytes that change the structure of JSON, or break it.
const BYTES: &[u8] = b"\"\\{}[]:,0-1.eE+ntu \t\x01\x7f/";

fn agree(line: &[u8]) -> Result<(), TestCaseError> {
    let Ok(text) = std::str::from_utf8(line) else {
        return Ok(());
    };
    let (quick, slow) = (decode::<CliMessage>(line), CliMessage::decode_slowly(text));
    prop_assert_eq!(quick.as_ref().ok(), slow.as_ref().ok(), "{}", text);
    Ok(())
}

/// What is almost JSON, in the place of a field that is typed, carried or unknown.
#[test]
fn what_is_almost_json_is_refused_by_both_readers() {
    let bad = [
        "01",
        "00",
        "-",
        "+1",
        "-01",
        "1.",
        ".5",
        "1e",
        "1e+",
        "0x1",
        "NaN",
        "Infinity",
        "tru",
        "True",
        "nul",
        "'a'",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[",
        "{\"a\":1,}",
        "{,}",
        "{\"a\"}",
        "{\"a\":}",
        "{a:1}",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"\\u+123\"",
        "\"a\u{1}\"",
        "\"\t\"",
        "\"a",
        "1 2",
        "\u{feff}1",
        "/*c*/1",
        "",
    ];
    for value in bad {
        for line in [
            format!("{{\"type\":\"keep_alive\",\"new\":{value}}}"),
            format!("{{\"type\":\"tomorrow\",\"new\":[0,{value}]}}"),
            format!(
                "{{\"type\":\"tool_progress\",\"elapsed_time_seconds\":{value},\"tool_use_id\":\"t\",\"tool_name\":\"n\"}}"
            ),
            format!("{{\"new\":{value},\"type\":\"keep_alive\"}}"),
            format!("{{\"type\":\"keep_alive\"}}{value} x"),
        ] {
            assert!(decode::<CliMessage>(line.as_bytes()).is_err(), "{line}");
            assert!(CliMessage::decode_slowly(&line).is_err(), "{line}");
        }
    }
}

/// What is unusual and JSON all the same.
#[test]
fn what_is_unusual_json_is_read_the_same_by_both_readers() {
    let good = [
        "0",
        "-0",
        "-0.0",
        "1e400",
        "1E+2",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775809",
        "1.7976931348623157e308",
        "\"\\/\\b\\f\\n\\r\\t\\u0000\"",
        "\"\\ud83e\\udd80\"",
        "\"\\ud83e\"",
        "\"\\udd80\\ud83e\"",
        "\"\u{7f}\u{2028}\"",
        " [ ] ",
        "{ }",
        "[[[[]]]]",
        "{\"\":{\"\":null}}",
        "\"\\ud83e\\ud83e\\udd80\"",
    ];
    for value in good {
        for line in [
            format!("{{\"type\":\"keep_alive\",\"new\":{value}}}"),
            format!("{{\"new\":{value} , \"type\" : \"tomorrow\" }}"),
            format!("{{\"type\":\"prompt_suggestion\",\"suggestion\":{value}}}"),
            format!(
                "{{\"type\":\"tool_progress\",\"elapsed_time_seconds\":{value},\"tool_use_id\":\"t\",\"tool_name\":\"n\"}}"
            ),
        ] {
            agree(line.as_bytes()).unwrap();
        }
    }
    let read: CliMessage =
        decode(br#"{"type":"prompt_suggestion","suggestion":"\ud83e\ud83e\udd80"}"#).unwrap();
    assert!(matches!(read, CliMessage::PromptSuggestion(s) if s.suggestion == "\u{fffd}🦀"));
}

/// The same object with its keys in another order and other white space.
fn rewritten(object: &Map<String, Value>, rotate: usize) -> String {
    let mut members: Vec<String> = object
        .iter()
        .map(|(key, value)| format!("{} :\t{value}", Value::from(key.as_str())))
        .collect();
    let middle = rotate % members.len().max(1);
    members.rotate_left(middle);
    format!(" {{ {} }} ", members.join(" , "))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn chunking_never_changes_the_lines(
        stream in stream(),
        cuts in vec(1usize..9, 1..40),
        max_line in 1usize..30,
    ) {
        let mut reader = FrameReader::with_max_line(max_line);
        let mut lines = Vec::new();
        let (mut rest, mut cuts) = (&stream[..], cuts.iter().cycle());
        while !rest.is_empty() {
            let (chunk, tail) = rest.split_at((*cuts.next().unwrap()).min(rest.len()));
            rest = tail;
            // Both ways in: pushing, and reading into the spare room.
            if chunk.len() % 2 == 0 {
                reader.push(chunk);
            } else {
                reader.spare()[..chunk.len()].copy_from_slice(chunk);
                reader.filled(chunk.len());
            }
            while let Some(line) = reader.next_line() {
                lines.push(seen(line));
            }
            prop_assert!(reader.pending() <= max_line + 4);
        }
        lines.extend(reader.finish().map(seen));
        prop_assert_eq!(lines, reference(&stream, max_line));
    }

    #[test]
    fn any_bytes_decode_to_a_value_or_an_error(bytes in vec(any::<u8>(), 0..200)) {
        let _ = decode::<CliMessage>(&bytes);
        let _ = decode::<HostMessage>(&bytes);
        let _ = Route::of(&bytes);
    }

    #[test]
    fn the_quick_reader_agrees_with_serde_json(
        message in message(),
        edits in vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..4),
    ) {
        let mut line = message.to_string().into_bytes();
        for (place, byte) in edits {
            let place = place.index(line.len());
            line[place] = *byte.get(BYTES);
        }
        agree(&line)?;
    }

    #[test]
    fn what_decodes_comes_back_equal(message in message(), rotate in 0usize..20) {
        let line = rewritten(message.as_object().unwrap(), rotate);
        if let Ok(decoded) = decode::<CliMessage>(line.as_bytes()) {
            let written = to_line(&decoded).unwrap();
            prop_assert!(written.is_ascii());
            prop_assert_eq!(written.iter().filter(|byte| **byte == b'\n').count(), 1);
            prop_assert_eq!(serde_json::from_slice::<Value>(&written).unwrap(), message);
        }
    }

    #[test]
    fn routing_sees_what_a_full_parse_sees(message in message(), rotate in 0usize..20) {
        let line = rewritten(message.as_object().unwrap(), rotate);
        let route = Route::of(line.as_bytes()).unwrap();
        let text = |key: &str| message[key].as_str().map(str::to_owned);
        prop_assert_eq!(Some(route.kind.to_string()), text("type"));
        prop_assert_eq!(route.uuid.map(|id| id.to_string()), text("uuid"));
        prop_assert_eq!(route.session_id.map(|id| id.to_string()), text("session_id"));
    }

    #[test]
    fn a_broken_known_message_is_an_error_that_names_it(message in message()) {
        if let Err(error) = decode::<CliMessage>(message.to_string().as_bytes()) {
            let kind = message["type"].as_str().unwrap();
            prop_assert!(error.to_string().starts_with(&format!("broken `{kind}")), "{}", error);
        }
    }

    #[test]
    fn any_object_is_kept_whole_under_an_unknown_type(fields in btree_map(".{0,8}", json(4), 0..8)) {
        let mut object: Map<String, Value> = fields.into_iter().collect();
        object.insert("type".to_owned(), Value::from("of tomorrow"));
        let message = Value::Object(object);
        let decoded: CliMessage = decode(message.to_string().as_bytes()).unwrap();
        prop_assert!(matches!(&decoded, CliMessage::Unknown(_)));
        prop_assert_eq!(serde_json::to_value(&decoded).unwrap(), message);
    }
}

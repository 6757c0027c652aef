//! Replies as the events and the message a client gets of them.

use super::*;
use crate::model::{Script, Vars};

fn rendered(script: &str, form: Form) -> Rendered {
    let script = Script::parse(script).unwrap();
    let vars = Vars::from([("cwd".to_owned(), "/w".to_owned())]);
    render(
        &script.replies[0],
        Context {
            model: "m",
            digest: 7,
            vars: &vars,
        },
        form,
    )
}

/// The stream in few words: event names, with deltas as what they add.
fn outline(script: &str) -> Vec<String> {
    let Rendition::Stream(emits) = rendered(script, Form::Stream).body else {
        panic!("no stream for {script:?}")
    };
    emits.iter().map(line).collect()
}

fn line(emit: &Emit) -> String {
    match emit {
        Emit::Pause(time) => format!("pause {}ms", time.as_millis()),
        Emit::Cut(how) => format!("cut {how:?}"),
        Emit::Raw(bytes) => format!("raw {}", bytes.len()),
        Emit::Event { name, data } => {
            let data: Value = serde_json::from_str(data).unwrap();
            let short = name.strip_prefix("content_block_").unwrap_or(name);
            match name.as_str() {
                "content_block_start" => format!(
                    "{short} {} {}",
                    data["index"], data["content_block"]["type"]
                ),
                "content_block_delta" => {
                    let added = ["text", "thinking", "partial_json", "signature"]
                        .map(|field| &data["delta"][field]);
                    let added = added.iter().find(|added| !added.is_null()).unwrap();
                    format!("{short} {} {added}", data["index"])
                }
                "content_block_stop" => format!("{short} {}", data["index"]),
                "message_delta" => format!("{short} {}", data["delta"]["stop_reason"]),
                "error" => format!("error {}", data["error"]["type"]),
                _ => name.clone(),
            }
        }
    }
}

fn events(script: &str) -> Vec<Value> {
    let Rendition::Stream(emits) = rendered(script, Form::Stream).body else {
        panic!("no stream for {script:?}")
    };
    let data = |emit: &Emit| {
        if let Emit::Event { data, .. } = emit {
            serde_json::from_str(data).ok()
        } else {
            None
        }
    };
    emits.iter().filter_map(data).collect()
}

#[test]
fn a_stream_opens_fills_and_closes_every_block() {
    let outline = outline("reply\nthink \"abc\"\nsay \"in ${cwd}\"\ntool T {\"a\":1}");
    let want = [
        "message_start",
        "ping",
        "start 0 \"thinking\"",
        "delta 0 \"a\"",
        "delta 0 \"b\"",
        "delta 0 \"c\"",
        "delta 0 \"cmVoZWFyc2Fs00000000000000070001\"",
        "stop 0",
        "start 1 \"text\"",
        "delta 1 \"in\"",
        "delta 1 \" /\"",
        "delta 1 \"w\"",
        "stop 1",
        "start 2 \"tool_use\"",
        "delta 2 \"\"",
        "delta 2 \"{\\\"a\"",
        "delta 2 \"\\\":1\"",
        "delta 2 \"}\"",
        "stop 2",
        "message_delta \"tool_use\"",
        "message_stop",
    ];
    assert_eq!(outline, want);
}

#[test]
fn pauses_stand_where_the_script_has_them() {
    let outline = outline("reply\nwait 1s\nsay \"ab\"\nwait 5ms\npace 2ms\nchunk 2\nsay \"abc\"");
    let want = [
        "message_start",
        "ping",
        "start 0 \"text\"",
        "delta 0 \"a\"",
        "delta 0 \"b\"",
        "stop 0",
        "pause 5ms",
        "start 1 \"text\"",
        "pause 2ms",
        "delta 1 \"ab\"",
        "pause 2ms",
        "delta 1 \"c\"",
        "stop 1",
        "message_delta \"end_turn\"",
        "message_stop",
    ];
    assert_eq!(outline, want);
    assert_eq!(
        rendered("reply\nwait 1s\nwait 1s\nsay \"ab\"", Form::Stream).delay,
        Duration::from_secs(2)
    );
}

#[test]
fn a_cut_leaves_the_block_before_it_open_and_ends_the_stream() {
    assert_eq!(
        outline("reply\nsay \"a\"\ncut"),
        [
            "message_start",
            "ping",
            "start 0 \"text\"",
            "delta 0 \"a\"",
            "cut Close"
        ]
    );
    assert_eq!(
        outline("reply\nsay \"a\"\nwait 1ms\ncut reset")[4..],
        ["stop 0", "pause 1ms", "cut Reset"]
    );
    assert_eq!(
        outline("reply\ncut"),
        ["message_start", "ping", "cut Close"]
    );
}

#[test]
fn an_error_is_a_status_first_and_an_event_later() {
    let script = "reply\nwait 1s\nerror 429 \"Slow down in ${cwd}\" retry-after=3";
    let Rendered { delay, body } = rendered(script, Form::Stream);
    let want = Rendition::Error {
        status: 429,
        headers: vec![("retry-after".to_owned(), "3".to_owned())],
        body: json!({
            "type": "error",
            "error": {"type": "rate_limit_error", "message": "Slow down in /w"},
            "request_id": "req_0000000000000007",
        }),
    };
    assert_eq!((delay, body), (Duration::from_secs(1), want));
    let later = outline("reply\nsay \"a\"\nerror 529 \"Over\"");
    assert_eq!(later[4..], ["stop 0", "error \"overloaded_error\""]);
}

#[test]
fn every_documented_status_has_its_error_type() {
    let table = [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (413, "request_too_large"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (529, "overloaded_error"),
    ];
    for (status, kind) in table {
        let Rendition::Error { body, .. } =
            rendered(&format!("reply\nerror {status} \"x\""), Form::Stream).body
        else {
            panic!("{status} is no error")
        };
        assert_eq!(body["error"]["type"], kind);
    }
}

#[test]
fn without_a_stream_the_same_reply_is_one_message() {
    let script = "reply\nsay \"a\"\nwait 2s\ntool T {\"a\":1}\nusage input=1 output=2 cache_read=3 cache_write=4";
    let Rendered { delay, body } = rendered(script, Form::Whole);
    let message = json!({
        "id": "msg_0000000000000007", "type": "message", "role": "assistant", "model": "m",
        "content": [
            {"type": "text", "text": "a"},
            {"type": "tool_use", "id": "toolu_00000000000000070002", "name": "T", "input": {"a": 1}},
        ],
        "stop_reason": "tool_use", "stop_sequence": null,
        "usage": {
            "input_tokens": 1, "output_tokens": 2, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 4,
            "cache_creation": {"ephemeral_5m_input_tokens": 4, "ephemeral_1h_input_tokens": 0},
            "service_tier": "standard",
        },
    });
    assert_eq!(
        (delay, body),
        (
            Duration::from_secs(2),
            Rendition::Whole { message, cut: None }
        )
    );
    let cut = rendered("reply\nsay \"a\"\ncut reset", Form::Whole).body;
    assert!(
        matches!(
            cut,
            Rendition::Whole {
                cut: Some(Cut::Reset),
                ..
            }
        ),
        "{cut:?}"
    );
    let error = rendered("reply\nsay \"a\"\nerror 500 \"x\"", Form::Whole).body;
    assert!(
        matches!(error, Rendition::Error { status: 500, .. }),
        "{error:?}"
    );
}

#[test]
fn a_refusal_carries_its_details() {
    let events = events("reply\nstop refusal category=cyber explanation=\"no and no\"");
    let delta = &events
        .iter()
        .find(|event| event["type"] == "message_delta")
        .unwrap()["delta"];
    let details = json!({"type": "refusal", "category": "cyber", "explanation": "no and no"});
    assert_eq!(
        *delta,
        json!({"stop_reason": "refusal", "stop_sequence": null, "stop_details": details})
    );
}

#[test]
fn blocks_and_events_the_script_has_no_word_for_go_out_as_they_are() {
    let events = events(
        "reply\nblock {\"type\":\"redacted_thinking\",\"data\":\"${cwd}\"}\nevent future {\"n\":1}",
    );
    assert_eq!(
        events[2]["content_block"],
        json!({"type": "redacted_thinking", "data": "/w"})
    );
    assert_eq!(events[3], json!({"type": "content_block_stop", "index": 0}));
    assert_eq!(events[4], json!({"type": "future", "n": 1}));
}

#[test]
fn unsaid_usage_is_small_whatever_the_size_of_the_text() {
    let output = |script: &str| {
        let Rendition::Whole { message, .. } = rendered(script, Form::Whole).body else {
            panic!("{script}")
        };
        message["usage"]["output_tokens"].as_u64().unwrap()
    };
    assert_eq!(output("reply\nsay \"12345678\""), 2);
    assert_eq!(output("reply\nstop end_turn"), 1);
    assert_eq!(output("reply\nsay repeat 1000000 \"12345678\""), 1000);
}

#[test]
fn pieces_are_several_but_bounded_and_lose_nothing() {
    let sizes = |text: &str, chunk, at_most| {
        let all: Vec<&str> = pieces(text, chunk, at_most).collect();
        assert_eq!(all.concat(), text);
        (
            all.len(),
            all.first().map_or(0, |piece| piece.chars().count()),
        )
    };
    assert_eq!(sizes("", None, 256), (0, 0));
    assert_eq!(sizes("ä", None, 256), (1, 1));
    assert_eq!(sizes("äöüß", None, 256), (2, 2));
    assert_eq!(sizes(&"x".repeat(100), None, 256), (7, 16));
    assert_eq!(sizes(&"x".repeat(1_000_000), None, 256), (256, 3907));
    assert_eq!(sizes(&"x".repeat(1_000_000), None, 8), (8, 125_000));
    assert_eq!(sizes("abcdef", Some(4), 256), (2, 4));
}
